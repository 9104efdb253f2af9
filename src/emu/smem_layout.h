/*
 * What shared-memory layouts of Hopper mean: the swizzle that TMA and the tensor core share, and where the matrix
 * descriptor of wgmma places each element. Pure; thread-safe.
 *
 * Addresses are byte offsets into the shared window of a CTA. The swizzle is an XOR of the *absolute* address: bits
 * 4.. take bits 7..; so a tile whose base is not aligned to the period of the pattern is permuted differently from
 * one that is, and advancing a descriptor by 32 bytes along K stays correct.
 *
 * Sources: PTX ISA, wgmma.mma_async: "Shared Memory Matrix Layout", "Strides", "Matrix Descriptor Format"; Tensors:
 * "Swizzling modes". What the ISA leaves open and nobody has measured yet: how a non-zero base offset acts (taken as
 * "the pattern starts there").
 */
#ifndef PTXBENCH_EMU_SMEM_LAYOUT_H
#define PTXBENCH_EMU_SMEM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The values of CUtensorMapSwizzle. The last three exist from sm_100a on and are documented only, not measured. */
enum smem_swizzle {
    SMEM_SWIZZLE_NONE,
    SMEM_SWIZZLE_32B,
    SMEM_SWIZZLE_64B,
    SMEM_SWIZZLE_128B,
    SMEM_SWIZZLE_128B_ATOM_32B,
    SMEM_SWIZZLE_128B_ATOM_32B_FLIP_8B,
    SMEM_SWIZZLE_128B_ATOM_64B,
    SMEM_SWIZZLE_COUNT
};

const char *smem_swizzle_text(enum smem_swizzle swizzle); /* "128B", "none", ... */

/* Width of a row of the pattern in bytes: 32, 64, 128; 16 without a swizzle. */
uint32_t smem_swizzle_span(enum smem_swizzle swizzle);

/* Bytes after which the pattern repeats, hence the natural alignment of a tile: 256, 512, 1024; 16 without. */
uint32_t smem_swizzle_period(enum smem_swizzle swizzle);

/* Where the byte that an unswizzled layout puts at `address` lies. An involution: it also maps back. */
uint32_t smem_swizzle_address(enum smem_swizzle swizzle, uint32_t address);

/* The 64-bit matrix descriptor of wgmma. Offsets and start are bytes, multiples of 16 below 2^18. */
struct wgmma_descriptor {
    uint32_t start;
    uint32_t leading_offset;
    uint32_t stride_offset;
    uint32_t base_offset;      /* 0..7: (start of the pattern >> 7) & 7 */
    enum smem_swizzle swizzle; /* none, 32B, 64B or 128B */
    uint64_t reserved;         /* the bits that have no meaning for wgmma, in place; 0 in a correct descriptor */
};

struct wgmma_descriptor wgmma_descriptor_decode(uint64_t bits);

/* Low four bits and bits above the 18th of start and offsets are dropped, as matrix-descriptor-encode does. The
 * sm_100a swizzles have no encoding here and yield none. */
uint64_t wgmma_descriptor_encode(const struct wgmma_descriptor *descriptor);

/* One operand of one wgmma: A is `rows` = 64 by k, B is `rows` = N by k. A `k` of one instruction always takes
 * 32 bytes (16 x 16 bit, 8 x tf32, 32 x 8 bit). */
struct smem_operand {
    struct wgmma_descriptor descriptor;
    int element_bytes; /* 1, 2 or 4 */
    int rows;          /* extent along M or N, a multiple of 8, at most 256 */
    int k;             /* 32 / element_bytes */
    bool mn_major;     /* the imm-trans argument: consecutive rows are contiguous, not consecutive k */
};

/* Refuses (ERROR_INPUT) element sizes other than 1, 2 and 4, and rows that no wgmma has. */
MUST_CHECK bool smem_operand_init(struct smem_operand *operand, uint64_t descriptor, int element_bytes, int rows,
                                  bool mn_major, struct error *error);

/* Address of the first byte of element (row, k). May lie outside of shared memory when the descriptor is wrong. */
uint32_t smem_operand_address(const struct smem_operand *operand, int row, int k);

/* Addresses of the 16-byte chunks of one line: of row `line` (K-major, 2 chunks) or of k `line` (MN-major, rows *
 * element_bytes / 16 chunks, rounded up). Chunk c starts at element c * 16 / element_bytes of the line. */
int smem_operand_line_count(const struct smem_operand *operand);  /* rows or k */
int smem_operand_chunk_count(const struct smem_operand *operand); /* chunks of a line */
uint32_t smem_operand_chunk(const struct smem_operand *operand, int line, int chunk);

/* All of them, line by line; at most SMEM_OPERAND_CHUNKS_MAX. Returns how many. */
enum { SMEM_OPERAND_CHUNKS_MAX = 512 };
int smem_operand_chunks(const struct smem_operand *operand, uint32_t addresses[SMEM_OPERAND_CHUNKS_MAX]);

/* For diagnosis: which element the tensor core reads from `address`. False when it reads none there; the lowest
 * (row, k) when it reads several. */
bool smem_operand_locate(const struct smem_operand *operand, uint32_t address, int *row, int *k);

/* One past the highest byte that the operand touches. */
uint32_t smem_operand_end(const struct smem_operand *operand);

enum layout_severity {
    LAYOUT_NOTE,   /* unusual but tolerated */
    LAYOUT_HAZARD, /* reads something that the author hardly meant */
    LAYOUT_ERROR   /* has no meaning in the ISA, or leaves shared memory */
};

struct layout_finding {
    enum layout_severity severity;
    char text[256]; /* what is wrong, with values */
    char hint[160]; /* what to do */
};

enum { LAYOUT_MAX_FINDINGS = 8 };

/* Checks an operand against the rules of the ISA and against `shared_bytes` of shared memory. Returns how many
 * findings it wrote (at most LAYOUT_MAX_FINDINGS). */
int smem_operand_check(const struct smem_operand *operand, uint32_t shared_bytes,
                       struct layout_finding findings[LAYOUT_MAX_FINDINGS]);

#endif
