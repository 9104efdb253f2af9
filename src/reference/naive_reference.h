/* Arguments and results of the naive kernels, shared by the host and kernels/naive_reference.cu. Addresses are device
 * addresses; every kernel writes one `struct naive_sums` per output and sampled row (GEMM: and column slice). */
#ifndef PTXBENCH_REFERENCE_NAIVE_REFERENCE_H
#define PTXBENCH_REFERENCE_NAIVE_REFERENCE_H

#include <stdint.h>

enum { NAIVE_THREADS = 256, NAIVE_GEMM_SLICES = 16, NAIVE_MAX_HEAD_DIM = 256 };

struct naive_sums {
    double squared_error; /* sum of (output - naive)^2 */
    double squared_naive; /* sum of naive^2 */
};

/* Which rows of a tensor a launch looks at: sample i of `samples` is a random row of the i-th of `samples` equal
 * stretches of the `rows`; the very first and last row are always among them. */
struct naive_sampling {
    uint64_t seed;
    int64_t rows;
    int64_t samples; /* at most `rows` */
};

struct naive_gemm {
    uint64_t a, b, c;
    uint64_t sums; /* [samples][NAIVE_GEMM_SLICES] */
    int64_t n, k;
    struct naive_sampling sampling; /* of the M rows */
};

struct naive_attention {
    uint64_t q, k, v, o, lse, d_o;
    uint64_t dq, dk, dv;
    uint64_t sums[2]; /* [samples] each; forward: O, LSE (0: none); dQ: dQ; dK and dV: dK, dV */
    int64_t sequence;
    int32_t head_dim; /* at most NAIVE_MAX_HEAD_DIM */
    int32_t causal;
    float scale;
    struct naive_sampling sampling; /* of the B*H*S rows */
};

#endif
