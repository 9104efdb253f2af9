#include "toolchain/fatbin.h"

#include <string.h>
#include <zstd.h>

#include "base/file.h"
#include "toolchain/elf_image.h"

enum {
    CONTAINER_MAGIC = 0xBA55ED50,
    CONTAINER_HEADER_BYTES = 16,
    ENTRY_HEADER_BYTES = 64,
    KIND_PTX = 1,
    KIND_CUBIN = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FILE_BYTES_MAX = 1 << 30
};

/* Fields of an entry header that we read, with their offsets. */
enum {
    ENTRY_KIND = 0,
    ENTRY_OWN_HEADER_BYTES = 4,
    ENTRY_PADDED_BYTES = 8,
    ENTRY_COMPRESSED_BYTES = 16,
    ENTRY_ARCH = 28,
    ENTRY_FLAGS = 40,
    ENTRY_PLAIN_BYTES = 56
};

struct reader {
    struct arena *arena;
    const uint8_t *file; /* start of the whole file */
    struct fatbin *out;
    size_t capacity;    /* of out->entries */
    size_t plain_bytes; /* decompressed so far: bounds what a crafted file can make us allocate */
    struct error *error;
};

static uint16_t read_u16(const uint8_t *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t read_u32(const uint8_t *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t read_u64(const uint8_t *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return value;
}

static const char *expand_zstd(struct reader *reader, const uint8_t *stored, size_t stored_bytes, uint64_t plain_bytes,
                               struct fatbin_entry *entry)
{
    if (plain_bytes > FATBIN_PAYLOAD_MAX || reader->plain_bytes + plain_bytes > FATBIN_PAYLOAD_MAX)
        return "larger than 256 MiB uncompressed";
    if (ZSTD_getFrameContentSize(stored, stored_bytes) != plain_bytes)
        return "sizes of the zstd payload disagree";
    uint8_t *plain = arena_alloc(reader->arena, (size_t)plain_bytes + 1);
    size_t got = ZSTD_decompress(plain, (size_t)plain_bytes, stored, stored_bytes);
    if (ZSTD_isError(got) || got != plain_bytes)
        return "damaged zstd payload";
    reader->plain_bytes += (size_t)plain_bytes;
    entry->bytes = plain;
    entry->length = got;
    return NULL;
}

static const char *take_payload(struct reader *reader, const uint8_t *header, const uint8_t *payload,
                                size_t padded_bytes, struct fatbin_entry *entry)
{
    uint32_t compressed_bytes = read_u32(header + ENTRY_COMPRESSED_BYTES);

    entry->compressed = (entry->flags & (FLAG_ZSTD | FLAG_LZ4)) != 0;
    if (!entry->compressed) {
        uint8_t *copy = arena_alloc(reader->arena, padded_bytes + 1);
        memcpy(copy, payload, padded_bytes);
        entry->bytes = copy;
        entry->length = padded_bytes;
        return NULL;
    }
    if (!(entry->flags & FLAG_ZSTD))
        return "compressed in the format of CUDA 12 and earlier; compile with CUDA 13";
    if (compressed_bytes > padded_bytes)
        return "compressed payload reaches behind its entry";
    return expand_zstd(reader, payload, compressed_bytes, read_u64(header + ENTRY_PLAIN_BYTES), entry);
}

static struct fatbin_entry *add_entry(struct reader *reader)
{
    struct fatbin *out = reader->out;

    if (out->count == reader->capacity) {
        reader->capacity = reader->capacity ? 2 * reader->capacity : 8;
        struct fatbin_entry *grown = arena_calloc(reader->arena, reader->capacity, sizeof *grown);
        if (out->count)
            memcpy(grown, out->entries, out->count * sizeof *grown);
        out->entries = grown;
    }
    return &out->entries[out->count++];
}

static bool read_entry(struct reader *reader, const uint8_t *at, size_t left, size_t *used)
{
    if (left < ENTRY_HEADER_BYTES)
        return error_set(reader->error, ERROR_INPUT, "fat binary: truncated entry header");
    uint32_t header_bytes = read_u32(at + ENTRY_OWN_HEADER_BYTES);
    uint64_t padded_bytes = read_u64(at + ENTRY_PADDED_BYTES);
    if (header_bytes < ENTRY_HEADER_BYTES || header_bytes > left || padded_bytes > left - header_bytes)
        return error_set(reader->error, ERROR_INPUT, "fat binary: an entry reaches behind its container");
    if (reader->out->count >= FATBIN_ENTRIES_MAX)
        return error_set(reader->error, ERROR_LIMIT, "fat binary: more than %d entries", FATBIN_ENTRIES_MAX);
    struct fatbin_entry *entry = add_entry(reader);
    uint16_t kind = read_u16(at + ENTRY_KIND);
    *entry = (struct fatbin_entry){
        .kind = kind == KIND_PTX     ? FATBIN_PTX
                : kind == KIND_CUBIN ? FATBIN_CUBIN
                                     : FATBIN_OTHER,
        .arch = read_u32(at + ENTRY_ARCH),
        .flags = read_u64(at + ENTRY_FLAGS),
        .container = reader->out->container_count,
        .offset = (size_t)(at - reader->file),
    };
    entry->problem = take_payload(reader, at, at + header_bytes, (size_t)padded_bytes, entry);
    while (entry->kind == FATBIN_PTX && entry->length && !entry->bytes[entry->length - 1])
        entry->length--;
    *used = header_bytes + (size_t)padded_bytes;
    return true;
}

static bool read_container(struct reader *reader, const uint8_t *at, size_t left, size_t *used)
{
    uint16_t header_bytes = read_u16(at + 6);
    uint64_t content_bytes = read_u64(at + 8);

    if (header_bytes < CONTAINER_HEADER_BYTES || header_bytes > left || content_bytes > left - header_bytes)
        return error_set(reader->error, ERROR_INPUT, "fat binary: a container reaches behind its section");
    const uint8_t *entry = at + header_bytes;
    const uint8_t *end = entry + content_bytes;
    while (entry < end) {
        size_t entry_bytes;
        if (!read_entry(reader, entry, (size_t)(end - entry), &entry_bytes))
            return false;
        entry += entry_bytes;
    }
    reader->out->container_count++;
    *used = header_bytes + (size_t)content_bytes;
    return true;
}

/* Containers are aligned to 8 bytes; the linker fills gaps. */
static bool read_containers(struct reader *reader, const uint8_t *bytes, size_t size)
{
    size_t at = 0;

    while (size - at >= CONTAINER_HEADER_BYTES) {
        size_t used = 8;
        if (read_u32(bytes + at) == CONTAINER_MAGIC && !read_container(reader, bytes + at, size - at, &used))
            return false;
        at += (used + 7) & ~(size_t)7;
        if (at > size)
            break;
    }
    return true;
}

static void start(struct reader *reader, struct arena *arena, const void *bytes, struct fatbin *out,
                  struct error *error)
{
    *out = (struct fatbin){0};
    *reader = (struct reader){.arena = arena, .file = bytes, .out = out, .error = error};
}

bool fatbin_read_object(struct arena *arena, const void *bytes, size_t length, struct fatbin *out, struct error *error)
{
    struct elf_image image;
    struct reader reader;

    start(&reader, arena, bytes, out, error);
    if (!elf_image_open(arena, bytes, length, &image, error))
        return false;
    for (size_t i = 0; i < image.section_count; i++) {
        const struct elf_section *section = &image.sections[i];
        if (strcmp(section->name, ".nv_fatbin") != 0 && strcmp(section->name, "__nv_relfatbin") != 0)
            continue;
        if (!read_containers(&reader, section->bytes, section->size))
            return false;
    }
    return true;
}

bool fatbin_read_image(struct arena *arena, const void *bytes, size_t length, struct fatbin *out, struct error *error)
{
    struct reader reader;

    start(&reader, arena, bytes, out, error);
    if (length < CONTAINER_HEADER_BYTES || read_u32(bytes) != CONTAINER_MAGIC)
        return error_set(error, ERROR_INPUT, "no fat binary");
    return read_containers(&reader, bytes, length);
}

bool fatbin_read_file(struct arena *arena, const char *path, struct fatbin *out, struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    size_t length;

    if (!file_read(path, FILE_BYTES_MAX, &bytes, &length, error))
        return false;
    bool is_elf = length >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
    if (is_elf ? fatbin_read_object(arena, bytes, length, out, error)
               : fatbin_read_image(arena, bytes, length, out, error))
        return true;
    return error_prefix(error, "%s", path);
}

const struct fatbin_entry *fatbin_find_ptx(const struct fatbin *fatbin, uint32_t arch)
{
    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_entry *entry = &fatbin->entries[i];
        if (entry->kind == FATBIN_PTX && entry->bytes && (!arch || entry->arch == arch))
            return entry;
    }
    return NULL;
}
