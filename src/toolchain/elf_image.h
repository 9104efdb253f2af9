/*
 * A 64-bit little-endian ELF file as checked sections. Reads untrusted bytes: every section lies inside the file, every
 * string is terminated. Borrows the bytes.
 */
#ifndef PTXBENCH_TOOLCHAIN_ELF_IMAGE_H
#define PTXBENCH_TOOLCHAIN_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { ELF_SECTIONS_MAX = 65536 };

struct elf_section {
    const char *name;
    uint32_t type;
    uint32_t link;
    uint64_t flags;
    uint64_t address;
    size_t offset;        /* in the file */
    const uint8_t *bytes; /* `size` bytes; size is 0 for sections without file content */
    size_t size;
};

struct elf_image {
    const uint8_t *bytes;
    size_t length;
    uint16_t type;    /* ET_DYN, ... */
    uint16_t machine; /* EM_X86_64, EM_CUDA, ... */
    struct elf_section *sections;
    size_t section_count;
};

/* ERROR_INPUT when the bytes are no such file or a section lies outside it. */
MUST_CHECK bool elf_image_open(struct arena *arena, const void *bytes, size_t length, struct elf_image *out,
                               struct error *error);

/* First section of that name, or NULL. */
const struct elf_section *elf_section_named(const struct elf_image *image, const char *name);

/* First section of that type behind `previous` (NULL: from the start), or NULL. */
const struct elf_section *elf_section_typed(const struct elf_image *image, uint32_t type,
                                            const struct elf_section *previous);

/* Terminated string at `offset` of a string table; "" when it is out of bounds or unterminated. */
const char *elf_string(const struct elf_section *table, uint64_t offset);

/* String table that belongs to a symbol or dynamic section; NULL when the link is wrong. */
const struct elf_section *elf_linked_strings(const struct elf_image *image, const struct elf_section *section);

/* Copies symbol `index`; false behind the end. */
bool elf_symbol(const struct elf_section *section, size_t index, Elf64_Sym *out);

#endif
