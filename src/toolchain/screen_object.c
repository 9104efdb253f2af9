/* The built object: what it is linked with, what it imports, which names and which device code it holds. */
#define _GNU_SOURCE
#include <string.h>

#include "toolchain/elf_image.h"
#include "toolchain/fatbin.h"
#include "toolchain/screen_internal.h"
#include "toolchain/screen_names.h"

enum {
    STRING_MIN = 4,
    STRING_MAX = 256,
    CUBIN_MACHINE = 190, /* EM_CUDA */
    OWN_CONTAINERS = 2,  /* nvcc -shared: one for the file, one from device linking */
    SYMBOLS_MAX = 1 << 22
};

static const uint32_t container_magic = 0xBA55ED50;
static const uint32_t wrapper_magic = 0x466243B1;

static void check_libraries(struct arena *arena, const struct elf_image *image, struct screen_report *report)
{
    const struct elf_section *dynamic = NULL;

    while ((dynamic = elf_section_typed(image, SHT_DYNAMIC, dynamic))) {
        const struct elf_section *strings = elf_linked_strings(image, dynamic);
        for (size_t i = 0; i < dynamic->size / sizeof(Elf64_Dyn); i++) {
            Elf64_Dyn entry;
            memcpy(&entry, dynamic->bytes + i * sizeof entry, sizeof entry);
            const char *name = elf_string(strings, entry.d_un.d_val);
            if (entry.d_tag == DT_NEEDED && !screen_library_allowed(name))
                screen_add(arena, report, SCREEN_FOREIGN_LIBRARY, SCREEN_OFFENCE, NULL, 0, "is linked with %.200s",
                           name);
        }
    }
}

static void check_imports(struct arena *arena, const struct elf_image *image, struct screen_report *report)
{
    const struct elf_section *symbols = NULL;
    Elf64_Sym symbol;

    while ((symbols = elf_section_typed(image, SHT_DYNSYM, symbols))) {
        const struct elf_section *strings = elf_linked_strings(image, symbols);
        for (size_t i = 1; i < SYMBOLS_MAX && elf_symbol(symbols, i, &symbol); i++) {
            if (symbol.st_shndx != SHN_UNDEF)
                continue;
            const char *name = elf_string(strings, symbol.st_name);
            const char *why = screen_denied_import(name);
            if (why)
                screen_add(arena, report, SCREEN_DENIED_IMPORT, SCREEN_OFFENCE, NULL, 0, "imports %.200s, which %s",
                           name, why);
        }
    }
}

static bool holds_data(const struct elf_section *section)
{
    return section->size && section->type == SHT_PROGBITS && (section->flags & SHF_ALLOC) &&
           !(section->flags & SHF_EXECINSTR);
}

static bool is_device_section(const struct elf_section *section)
{
    return strcmp(section->name, ".nv_fatbin") == 0 || strcmp(section->name, "__nv_relfatbin") == 0;
}

static void check_strings(struct arena *arena, const struct elf_section *section, struct screen_report *report)
{
    const char *at = (const char *)section->bytes, *end = at + section->size;

    while (at < end) {
        const char *stop = memchr(at, 0, (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);
        /* Constants of other types may stand before a string: only what is printable up to its end counts. */
        size_t printable = 0;
        while (printable < length && at[length - printable - 1] >= 0x20 && at[length - printable - 1] < 0x7f)
            printable++;
        const char *text = at + length - printable;
        const char *why =
            printable >= STRING_MIN && printable <= STRING_MAX ? screen_denied_string(text, printable) : NULL;
        if (why)
            screen_add(arena, report, SCREEN_DENIED_STRING, SCREEN_OFFENCE, NULL, 0,
                       "the object holds the string \"%.*s\" (%s)", (int)printable, text, why);
        at += length + 1;
    }
}

static bool is_cubin_at(const uint8_t *bytes, size_t left)
{
    Elf64_Ehdr header;

    if (left < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&header, bytes, sizeof header);
    return header.e_machine == CUBIN_MACHINE;
}

/* Device code where nvcc puts none: cubins, fat binaries, PTX text. */
static void check_hidden_code(struct arena *arena, const struct elf_section *section, struct screen_report *report)
{
    const uint8_t *bytes = section->bytes, *end = bytes + section->size;

    for (const uint8_t *at = bytes; (at = memmem(at, (size_t)(end - at), ELFMAG, SELFMAG)); at++)
        if (is_cubin_at(at, (size_t)(end - at)))
            screen_add(arena, report, SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, NULL, 0, "section %.64s holds a cubin",
                       section->name);
    if (memmem(bytes, section->size, &container_magic, sizeof container_magic))
        screen_add(arena, report, SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, NULL, 0, "section %.64s holds a fat binary",
                   section->name);
    static const char target[] = ".target sm_", version[] = ".version ";
    if (memmem(bytes, section->size, target, sizeof target - 1) &&
        memmem(bytes, section->size, version, sizeof version - 1))
        screen_add(arena, report, SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, NULL, 0, "section %.64s holds PTX text",
                   section->name);
    size_t wrappers = 0;
    for (const uint8_t *at = bytes; (at = memmem(at, (size_t)(end - at), &wrapper_magic, sizeof wrapper_magic)); at++)
        wrappers++;
    /* nvcc registers one fat binary for a file. */
    if (wrappers > (strcmp(section->name, ".nvFatBinSegment") == 0 ? 1 : 0))
        screen_add(arena, report, SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, NULL, 0,
                   "section %.64s registers device code by hand", section->name);
}

static void check_containers(struct arena *arena, const void *bytes, size_t length, struct screen_report *report)
{
    AUTO_ARENA *scratch = arena_new();
    struct fatbin fatbin;
    struct error error;
    size_t cubins = 0;

    if (!fatbin_read_object(scratch, bytes, length, &fatbin, &error)) {
        screen_add(arena, report, SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, NULL, 0, "device code is malformed: %s",
                   error.message);
        return;
    }
    for (size_t i = 0; i < fatbin.count; i++)
        cubins += fatbin.entries[i].kind == FATBIN_CUBIN;
    if (fatbin.container_count > OWN_CONTAINERS || cubins > OWN_CONTAINERS)
        screen_add(arena, report, SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, NULL, 0,
                   "%zu fat binaries with %zu cubins where this compilation makes at most %d", fatbin.container_count,
                   cubins, OWN_CONTAINERS);
}

/* Name of the function at an address, from the symbol table; NULL when the object is stripped. */
static const char *function_at(const struct elf_image *image, uint64_t address)
{
    const struct elf_section *symbols = elf_section_typed(image, SHT_SYMTAB, NULL);
    Elf64_Sym symbol;

    for (size_t i = 0; symbols && i < SYMBOLS_MAX && elf_symbol(symbols, i, &symbol); i++)
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value == address)
            return elf_string(elf_linked_strings(image, symbols), symbol.st_name);
    return NULL;
}

/* What gcc and nvcc put there themselves: C runtime, kernel registration, constructors of global objects. */
static bool is_own_constructor(const char *name)
{
    return strcmp(name, "frame_dummy") == 0 || strstr(name, "__sti____cuda") || strncmp(name, "_GLOBAL__", 9) == 0;
}

static void check_constructors(struct arena *arena, const struct elf_image *image, struct screen_report *report)
{
    const struct elf_section *array = elf_section_typed(image, SHT_INIT_ARRAY, NULL);
    const struct elf_section *relocations = NULL;

    /* The array's words are filled by relocations whose addend is the function. */
    while (array && (relocations = elf_section_typed(image, SHT_RELA, relocations)))
        for (size_t i = 0; i < relocations->size / sizeof(Elf64_Rela); i++) {
            Elf64_Rela entry;
            memcpy(&entry, relocations->bytes + i * sizeof entry, sizeof entry);
            if (entry.r_offset < array->address || entry.r_offset - array->address >= array->size)
                continue;
            const char *name = function_at(image, (uint64_t)entry.r_addend);
            if (!name || !is_own_constructor(name))
                screen_add(arena, report, SCREEN_CONSTRUCTOR, SCREEN_NOTE, NULL, 0, "%.200s runs at load time",
                           name ? name : "an unnamed function");
        }
}

bool screen_object(struct arena *arena, const void *bytes, size_t length, struct screen_report *report,
                   struct error *error)
{
    AUTO_ARENA *scratch = arena_new();
    struct elf_image image;

    if (!elf_image_open(scratch, bytes, length, &image, error))
        return error_prefix(error, "screening the object");
    check_libraries(arena, &image, report);
    check_imports(arena, &image, report);
    for (size_t i = 0; i < image.section_count; i++) {
        const struct elf_section *section = &image.sections[i];
        if (!holds_data(section) || is_device_section(section))
            continue;
        check_strings(arena, section, report);
        check_hidden_code(arena, section, report);
    }
    check_containers(arena, bytes, length, report);
    check_constructors(arena, &image, report);
    return true;
}
