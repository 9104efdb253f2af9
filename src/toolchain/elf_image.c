#include "toolchain/elf_image.h"

#include <string.h>

const char *elf_string(const struct elf_section *table, uint64_t offset)
{
    if (!table || offset >= table->size)
        return "";
    const char *text = (const char *)table->bytes + offset;
    return memchr(text, 0, table->size - (size_t)offset) ? text : "";
}

static bool read_header(const uint8_t *bytes, size_t length, Elf64_Ehdr *header, struct error *error)
{
    if (length < sizeof *header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return error_set(error, ERROR_INPUT, "no ELF file");
    memcpy(header, bytes, sizeof *header);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(error, ERROR_INPUT, "no 64-bit little-endian ELF file");
    if (header->e_shoff == 0 || header->e_shnum == 0)
        return error_set(error, ERROR_INPUT, "ELF file without section headers");
    if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > length ||
        header->e_shnum > (length - header->e_shoff) / sizeof(Elf64_Shdr))
        return error_set(error, ERROR_INPUT, "ELF section headers lie outside the file");
    return true;
}

bool elf_image_open(struct arena *arena, const void *bytes, size_t length, struct elf_image *out, struct error *error)
{
    Elf64_Ehdr header;

    *out = (struct elf_image){.bytes = bytes, .length = length};
    if (!read_header(bytes, length, &header, error))
        return false;
    out->type = header.e_type;
    out->machine = header.e_machine;
    out->section_count = header.e_shnum;
    out->sections = arena_calloc(arena, out->section_count, sizeof *out->sections);
    AUTO_ARENA *scratch = arena_new();
    uint32_t *names = arena_calloc(scratch, out->section_count, sizeof *names);
    for (size_t i = 0; i < out->section_count; i++) {
        struct elf_section *section = &out->sections[i];
        Elf64_Shdr stored;
        memcpy(&stored, out->bytes + header.e_shoff + i * sizeof stored, sizeof stored);
        names[i] = stored.sh_name;
        section->type = stored.sh_type;
        section->link = stored.sh_link;
        section->flags = stored.sh_flags;
        section->address = stored.sh_addr;
        section->bytes = out->bytes;
        if (stored.sh_type == SHT_NULL || stored.sh_type == SHT_NOBITS || !stored.sh_size)
            continue;
        if (stored.sh_offset > length || stored.sh_size > length - stored.sh_offset)
            return error_set(error, ERROR_INPUT, "ELF section %zu lies outside the file", i);
        section->offset = (size_t)stored.sh_offset;
        section->bytes = out->bytes + stored.sh_offset;
        section->size = (size_t)stored.sh_size;
    }
    const struct elf_section *table = header.e_shstrndx < out->section_count ? &out->sections[header.e_shstrndx] : NULL;
    for (size_t i = 0; i < out->section_count; i++)
        out->sections[i].name = elf_string(table, names[i]);
    return true;
}

const struct elf_section *elf_section_named(const struct elf_image *image, const char *name)
{
    for (size_t i = 0; i < image->section_count; i++)
        if (strcmp(image->sections[i].name, name) == 0)
            return &image->sections[i];
    return NULL;
}

const struct elf_section *elf_section_typed(const struct elf_image *image, uint32_t type,
                                            const struct elf_section *previous)
{
    size_t first = previous ? (size_t)(previous - image->sections) + 1 : 0;

    for (size_t i = first; i < image->section_count; i++)
        if (image->sections[i].type == type)
            return &image->sections[i];
    return NULL;
}

const struct elf_section *elf_linked_strings(const struct elf_image *image, const struct elf_section *section)
{
    if (section->link >= image->section_count || image->sections[section->link].type != SHT_STRTAB)
        return NULL;
    return &image->sections[section->link];
}

bool elf_symbol(const struct elf_section *section, size_t index, Elf64_Sym *out)
{
    if (index >= section->size / sizeof *out)
        return false;
    memcpy(out, section->bytes + index * sizeof *out, sizeof *out);
    return true;
}
