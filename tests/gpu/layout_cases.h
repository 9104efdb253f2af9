/*
 * The layout probes: what each of them sets up, and the fingerprint that src/emu predicts for it. Shared by the
 * program that runs them on a GPU (layout_fingerprints.c) and the unit test that compares its golden file.
 */
#ifndef PTXBENCH_TESTS_GPU_LAYOUT_CASES_H
#define PTXBENCH_TESTS_GPU_LAYOUT_CASES_H

#include <stdio.h>

#include "emu/fragment.h"
#include "emu/number_format.h"
#include "emu/smem_layout.h"
#include "emu/tensor_map.h"

enum layout_kind {
    LAYOUT_TMA_LOAD,  /* fingerprint: 32-bit words of shared memory after the load; 0xcccccccc where none was written */
    LAYOUT_TMA_STORE, /* words of global memory after the store of a counted shared image */
    LAYOUT_WGMMA_B,   /* per (n, k): index of the element of the shared image that B's element was read from */
    LAYOUT_WGMMA_A,   /* per (m, k), A in shared memory */
    LAYOUT_LDMATRIX,  /* per (lane, register): two element indices */
    LAYOUT_STMATRIX,  /* words of shared memory */
    LAYOUT_MMA,       /* accumulator of small random integers, per (lane, register) */
};

enum {
    LAYOUT_IMAGE_BYTES = 32768, /* the probed shared memory, aligned to 1024 */
    LAYOUT_SHARED_BYTES = LAYOUT_IMAGE_BYTES + 2048,
    LAYOUT_THREADS = 128,
    LAYOUT_REGISTERS = 8,        /* input registers of a thread */
    LAYOUT_GLOBAL_BYTES = 16384, /* the tensor of the TMA probes */
    LAYOUT_MAX_WORDS = 256 * 32, /* of a fingerprint */
    LAYOUT_HEAD_WORDS = 16       /* recorded in clear beside the digest */
};

struct layout_case {
    enum layout_kind kind;
    char name[96];  /* unique and stable: the key of the golden file */
    uint32_t words; /* of the fingerprint; 0: there is no such instruction, skip the case */

    enum number_format format; /* matrix kinds */
    int rows, k;               /* extent of the probed operand */
    bool mn_major;
    bool half_accumulator;
    struct wgmma_descriptor descriptor; /* start is relative to the image */
    int count;                          /* ldmatrix, stmatrix: matrices */
    bool transposed;
    struct tensor_map map; /* TMA kinds; address is set when it runs */
    int32_t coordinate[TENSOR_MAP_MAX_RANK];
};

int layout_case_count(void);
struct layout_case layout_case_at(int index);

/* What the functions of src/emu say. `out` has c->words words. */
void layout_case_expect(const struct layout_case *c, uint32_t *out);

/* FNV-1a over the words, little-endian. */
uint64_t layout_digest(const uint32_t *words, uint32_t count);

/* Inputs that both sides agree on. */
uint8_t layout_global_byte(uint32_t index);            /* TMA: the tensor's bytes, and the image of the stores */
int layout_mma_value(int matrix, int row, int column); /* MMA: elements of A (0) and B (1), -4..3 */
uint32_t layout_matrix_row(int row);                   /* ldmatrix: byte offset that lane `row` supplies */

/* PTX of the kernel `probe` for one case: parameters are pointers to the shared image (LAYOUT_IMAGE_BYTES and an
 * identity matrix behind it, LAYOUT_SHARED_BYTES), to eight 32-bit registers for each of 128 threads, to the output, and a tensor map. */
void layout_case_write_ptx(const struct layout_case *c, FILE *out);

/* mma.sync shape of an element type: A is 16 x k. */
struct fragment layout_mma_a(const struct layout_case *c);
struct fragment layout_mma_b(const struct layout_case *c);

#endif
