/*
 * Register fragments: which element of a matrix a thread holds in which register, for mma.sync, wgmma, ldmatrix and
 * stmatrix. Pure; thread-safe.
 *
 * A fragment maps (thread, register, part) to (row, column) one to one. `thread` counts within the warp, or within
 * the warpgroup for wgmma (0..127). `part` counts within a register from its low bits: 32-bit elements have part 0
 * only, 16-bit elements parts 0-1, 8-bit elements parts 0-3. f64 fragments count 64-bit registers.
 *
 * Sources: PTX ISA, "Matrix Fragments" of mma.sync and of wgmma.mma_async; ldmatrix, stmatrix.
 */
#ifndef PTXBENCH_EMU_FRAGMENT_H
#define PTXBENCH_EMU_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

enum fragment_kind { FRAGMENT_A, FRAGMENT_B, FRAGMENT_D, FRAGMENT_LDMATRIX, FRAGMENT_LDMATRIX_TRANS };

struct fragment {
    enum fragment_kind kind;
    int rows;
    int columns;
    int parts;     /* elements of a register: 1, 2 or 4 */
    int registers; /* of each thread */
    int threads;   /* 32, or 128 for wgmma */
};

struct fragment_element {
    int row, column;
};
struct fragment_slot {
    int thread, register_index, part;
};

/* mma.sync m16n8kK (m = 16) and m8n8kK (m = 8). `parts` of the operand type: 4 for 8-bit, 2 for 16-bit, 1 for tf32
 * and f64. A: m x k. B: k x 8, rows are k. D (and C): m x 8, parts 2 for f16, 1 for f32, s32, f64. */
struct fragment fragment_mma_a(int m, int k, int parts);
struct fragment fragment_mma_b(int k, int parts);
struct fragment fragment_mma_d(int m, int parts);

/* wgmma: A from registers 64 x k, k = 32 bytes; D 64 x n, parts 2 for f16, 1 for f32 and s32. */
struct fragment fragment_wgmma_a(int parts);
struct fragment fragment_wgmma_d(int n, int parts);

/* ldmatrix and stmatrix .m8n8.xCOUNT.b16, count 1, 2, 4. Row r of the fragment (0..8*count-1) is the 16-byte row whose
 * address lane r supplies; columns are its eight 16-bit elements. `transposed`: .trans. */
struct fragment fragment_ldmatrix(int count, bool transposed);

/* The element in a slot, and the slot of an element. Arguments must be in range. */
struct fragment_element fragment_at(const struct fragment *fragment, int thread, int register_index, int part);
struct fragment_slot fragment_find(const struct fragment *fragment, int row, int column);

/* The accumulator of one warp of a warpgroup, between registers and memory: registers[r][lane] against 16 rows of n,
 * row-major. f32 and s32: n / 2 registers; f16: n / 4 registers with two elements each. */
void fragment_gather_d32(const uint32_t *const *registers, int n, uint32_t *rows);
void fragment_scatter_d32(uint32_t *const *registers, int n, const uint32_t *rows);
void fragment_gather_d16(const uint32_t *const *registers, int n, uint16_t *rows);
void fragment_scatter_d16(uint32_t *const *registers, int n, const uint16_t *rows);

#endif
