#include "reference/cpu_sampled.h"

#include <stdlib.h>
#include <string.h>

#include "reference/cpu_reference.h"
#include "trace/convert.h"

enum { ROWS = 4, LANES = 8 };

/* Eight floats at any float address; the compiler splits it into what the machine has. */
typedef float packet __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* The products of ROWS rows of A with one row of B, each of k floats (k a multiple of LANES). Sums of k / 8 terms in
 * float: with k = 10^4 their error is far below the last bit of a bfloat16. */
static inline __attribute__((always_inline)) void dot_rows(const float *a, const float *b, int64_t k, float out[ROWS])
{
    packet sums[ROWS] = {0};

    for (int64_t i = 0; i < k; i += LANES) {
        packet right = *(const packet *)(b + i);
        for (int r = 0; r < ROWS; r++)
            sums[r] += *(const packet *)(a + r * k + i) * right;
    }
    for (int r = 0; r < ROWS; r++) {
        out[r] = 0;
        for (int lane = 0; lane < LANES; lane++)
            out[r] += sums[r][lane];
    }
}

typedef void dot_function(const float *a, const float *b, int64_t k, float out[ROWS]);

static void dot_anywhere(const float *a, const float *b, int64_t k, float out[ROWS])
{
    dot_rows(a, b, k, out);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void dot_avx2(const float *a, const float *b, int64_t k, float out[ROWS])
{
    dot_rows(a, b, k, out);
}

static dot_function *choose_dot(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? dot_avx2 : dot_anywhere;
}
#else
static dot_function *choose_dot(void)
{
    return dot_anywhere;
}
#endif

/* C = A B^T; rows are padded with zeros to `pitch` floats. */
struct gemm {
    int64_t m, n, k, pitch;
    const uint16_t *a, *b, *got;
    uint16_t *c;
    uint16_t poison;
    float *rows;     /* [ROWS][pitch]: of A */
    float **columns; /* [n]: rows of B as floats, when they were needed */
    dot_function *dot;
};

static bool unpack(float *to, const uint16_t *from, int64_t count)
{
    for (int64_t i = 0; to && i < count; i++)
        to[i] = bfloat16_to_float(from[i]);
    return to != NULL;
}

static float *column(struct gemm *gemm, int64_t n)
{
    if (!gemm->columns[n]) {
        gemm->columns[n] = calloc((size_t)gemm->pitch, sizeof(float));
        (void)unpack(gemm->columns[n], gemm->b + n * gemm->k, gemm->k);
    }
    return gemm->columns[n];
}

/* The first column of these rows where something was written. Most rows of a sampled output are poison throughout. */
static int64_t first_wanted(const struct gemm *gemm, int64_t first, int64_t rows)
{
    const uint16_t *got = gemm->got + first * gemm->n;
    int64_t count = rows * gemm->n, wanted = gemm->n;

    if (!count || (got[0] == gemm->poison && !memcmp(got, got + 1, (size_t)(count - 1) * sizeof *got)))
        return gemm->n;
    for (int64_t i = 0; i < count; i++)
        if (got[i] != gemm->poison && i % gemm->n < wanted)
            wanted = i % gemm->n;
    return wanted;
}

/* Up to ROWS rows from `first` on, where any of them was written. */
static bool gemm_rows(struct gemm *gemm, int64_t first)
{
    int64_t rows = gemm->m - first < ROWS ? gemm->m - first : ROWS;
    bool unpacked = false;

    for (int64_t n = first_wanted(gemm, first, rows); n < gemm->n; n++) {
        float sums[ROWS];
        bool wanted = false;
        for (int64_t r = 0; r < rows; r++)
            wanted |= gemm->got[(first + r) * gemm->n + n] != gemm->poison;
        if (!wanted)
            continue;
        for (int64_t r = 0; r < rows && !unpacked; r++)
            (void)unpack(gemm->rows + r * gemm->pitch, gemm->a + (first + r) * gemm->k, gemm->k);
        unpacked = true;
        const float *right = column(gemm, n);
        if (!right)
            return false;
        gemm->dot(gemm->rows, right, gemm->pitch, sums);
        for (int64_t r = 0; r < rows; r++)
            gemm->c[(first + r) * gemm->n + n] = float_to_bfloat16(sums[r]);
    }
    return true;
}

static bool sampled_gemm(const struct workload *workload, const void *const *inputs, const uint16_t *got,
                         uint16_t poison, uint16_t *c)
{
    const struct tensor_spec *in = workload->definition->inputs;
    struct gemm gemm = {.m = workload->axes[in[0].axes[0]],
                        .n = workload->axes[in[1].axes[0]],
                        .k = workload->axes[in[0].axes[1]],
                        .a = inputs[0],
                        .b = inputs[1],
                        .got = got,
                        .c = c,
                        .poison = poison,
                        .dot = choose_dot()};

    gemm.pitch = (gemm.k + LANES - 1) / LANES * LANES;
    gemm.rows = calloc((size_t)(ROWS * gemm.pitch), sizeof *gemm.rows);
    gemm.columns = calloc((size_t)gemm.n, sizeof *gemm.columns);
    bool ok = gemm.rows && gemm.columns;
    for (int64_t first = 0; ok && first < gemm.m; first += ROWS)
        ok = gemm_rows(&gemm, first);
    for (int64_t n = 0; gemm.columns && n < gemm.n; n++)
        free(gemm.columns[n]);
    free(gemm.columns);
    free(gemm.rows);
    return ok;
}

/* Whether any byte differs from the poison. */
static bool is_written(const void *bytes, size_t count, uint8_t poison)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < count; i++)
        if (at[i] != poison)
            return true;
    return false;
}

static bool sampled_forward(const struct workload *workload, const void *const *inputs, const void *const *got,
                            uint8_t poison, void *const *expected)
{
    struct cpu_attention shape = cpu_reference_attention(workload);
    int64_t count = shape.batch * shape.heads * shape.length;
    AUTO_FREE uint8_t *wanted = calloc((size_t)count, 1);

    if (!wanted)
        return false;
    for (int64_t row = 0; row < count; row++)
        wanted[row] =
            is_written((const uint16_t *)got[0] + row * shape.dim, (size_t)shape.dim * sizeof(uint16_t), poison) ||
            is_written((const float *)got[1] + row, sizeof(float), poison);
    cpu_mha_forward_rows(&shape, inputs[0], inputs[1], inputs[2], wanted, expected[0], expected[1]);
    return true;
}

static bool sampled_backward(const struct workload *workload, const void *const *inputs, const void *const *got,
                             uint8_t poison, void *const *expected)
{
    struct cpu_attention shape = cpu_reference_attention(workload);
    int64_t heads = shape.batch * shape.heads, size = shape.length * shape.dim;
    AUTO_FREE uint8_t *wanted = calloc((size_t)heads, 1);

    if (!wanted)
        return false;
    for (int64_t h = 0; h < heads; h++)
        for (int i = 0; i < 3; i++)
            wanted[h] |= is_written((const uint16_t *)got[i] + h * size, (size_t)size * sizeof(uint16_t), poison);
    cpu_mha_backward_heads(&shape, inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5], wanted,
                           expected[0], expected[1], expected[2]);
    return true;
}

bool cpu_sampled_outputs(const struct workload *workload, const void *const *inputs, const void *const *got,
                         uint8_t poison, void *const *expected, struct error *error)
{
    const char *name = workload->definition->name;
    bool ok = false;

    switch (cpu_reference_classify(workload->definition)) {
    case CPU_GEMM:
        ok = sampled_gemm(workload, inputs, got[0], (uint16_t)(poison << 8 | poison), expected[0]);
        break;
    case CPU_MHA_FORWARD:
        ok = sampled_forward(workload, inputs, got, poison, expected);
        break;
    case CPU_MHA_BACKWARD:
        ok = sampled_backward(workload, inputs, got, poison, expected);
        break;
    case CPU_OTHER:
        return error_set(error, ERROR_UNSUPPORTED, "%s: no CPU reference for this definition", name);
    }
    return ok || error_set(error, ERROR_MEMORY, "%s: no memory for the expected outputs", name);
}
