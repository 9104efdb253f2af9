/*
 * The device code inside an object: every PTX text and cubin of the fat binaries in an ELF file's .nv_fatbin and
 * __nv_relfatbin sections. Reads untrusted bytes; every offset is checked.
 *
 * Layout (as nvcc 13 writes it; little endian). Container: u32 0xBA55ED50, u16 version 1, u16 header bytes 16, u64
 * bytes that follow. Entry: u16 kind (1 PTX, 2 cubin), u16 version, u32 header bytes, u64 payload bytes (padded), u32
 * compressed bytes, ..., u32 at 28: arch number, u64 at 40: flags, u64 at 56: uncompressed bytes.
 */
#ifndef PTXBENCH_TOOLCHAIN_FATBIN_H
#define PTXBENCH_TOOLCHAIN_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { FATBIN_ENTRIES_MAX = 4096 };
#define FATBIN_PAYLOAD_MAX (256u << 20)

enum fatbin_kind { FATBIN_PTX, FATBIN_CUBIN, FATBIN_OTHER };

struct fatbin_entry {
    enum fatbin_kind kind;
    uint32_t arch;    /* 90, 100 */
    uint64_t flags;   /* as stored */
    size_t container; /* 0-based index of the container it lies in */
    size_t offset;    /* of the entry in the object file */
    bool compressed;
    const uint8_t *bytes; /* uncompressed payload in the arena; NULL when `problem` is set */
    size_t length;        /* PTX: without trailing NULs */
    const char *problem;  /* why the payload is not available, static; NULL when it is */
};

struct fatbin {
    struct fatbin_entry *entries;
    size_t count;
    size_t container_count;
};

/* Reads the fat binaries of an ELF object. An object without device code yields count 0. ERROR_INPUT when it is no
 * 64-bit little-endian ELF file or a container is malformed. `out` is self-contained (does not borrow `bytes`). */
MUST_CHECK bool fatbin_read_object(struct arena *arena, const void *bytes, size_t length, struct fatbin *out,
                                   struct error *error);

/* The same for a bare fat binary (.fatbin file). */
MUST_CHECK bool fatbin_read_image(struct arena *arena, const void *bytes, size_t length, struct fatbin *out,
                                  struct error *error);

/* Convenience: reads a file of either sort. */
MUST_CHECK bool fatbin_read_file(struct arena *arena, const char *path, struct fatbin *out, struct error *error);

/* First PTX entry for that arch number, or for any when arch is 0; NULL when there is none. */
const struct fatbin_entry *fatbin_find_ptx(const struct fatbin *fatbin, uint32_t arch);

#endif
