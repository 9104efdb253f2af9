#include "reference/cpu_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/convert.h"

/* Sums run in float over a block of this many terms and in double over the blocks: more accurate than the bfloat16
 * results can show, and the inner loop is one over contiguous floats. */
enum { BLOCK = 64 };

/* Eight floats at any float address; the compiler splits it into what the machine has. */
typedef float packet __attribute__((vector_size(32), aligned(4), may_alias));

/* Memory for one call; sizes were checked with the workload. */
static void *scratch(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory) {
        (void)fprintf(stderr, "ptxbench: out of memory in a CPU reference\n");
        abort();
    }
    return memory;
}

static void add_scaled(float *restrict to, const float *restrict from, float factor, int64_t count)
{
    int64_t i = 0;

    for (; i + 8 <= count; i += 8)
        *(packet *)(to + i) += factor * *(const packet *)(from + i);
    for (; i < count; i++)
        to[i] += factor * from[i];
}

static void flush(double *restrict to, float *restrict block, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += (double)block[i];
        block[i] = 0;
    }
}

static void unpack(float *to, const uint16_t *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = bfloat16_to_float(from[i]);
}

/* to[column][row] = from[row][column] */
static void unpack_transposed(float *to, const uint16_t *from, int64_t rows, int64_t columns)
{
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++)
            to[column * rows + row] = bfloat16_to_float(from[row * columns + column]);
}

static void pack(uint16_t *to, const double *from, double factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = float_to_bfloat16((float)(from[i] * factor));
}

void cpu_gemm(const uint16_t *a, const uint16_t *b, uint16_t *c, int64_t m, int64_t n, int64_t k)
{
    AUTO_FREE float *tile = scratch((size_t)k * BLOCK, sizeof *tile);
    AUTO_FREE float *row = scratch((size_t)k, sizeof *row);

    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t columns = n - first < BLOCK ? n - first : BLOCK;
        unpack_transposed(tile, b + first * k, columns, k);
        for (int64_t i = 0; i < m; i++) {
            double sums[BLOCK] = {0};
            float block[BLOCK] = {0};
            unpack(row, a + i * k, k);
            for (int64_t p = 0; p < k; p++) {
                add_scaled(block, tile + p * columns, row[p], columns);
                if (p % BLOCK == BLOCK - 1)
                    flush(sums, block, columns);
            }
            flush(sums, block, columns);
            pack(c + i * n + first, sums, 1, columns);
        }
    }
}

/* Number of columns that row i sees. */
static int64_t visible(const struct cpu_attention *shape, int64_t i)
{
    return shape->causal ? i + 1 : shape->length;
}

/* dots[j] = x . y[j] for the visible j, y given transposed as [dim][length]. */
static void row_dots(const struct cpu_attention *shape, int64_t columns, const float *x, const float *y_transposed,
                     float *dots)
{
    memset(dots, 0, (size_t)columns * sizeof *dots);
    for (int64_t d = 0; d < shape->dim; d++)
        add_scaled(dots, y_transposed + d * shape->length, x[d], columns);
}

/* Turns scores into exp(scale * (score - maximum)); returns the sum and, by `lse`, its logarithm with the maximum. */
static double exponentiate(float *scores, int64_t columns, double scale, float *lse)
{
    float maximum = -INFINITY;
    double sum = 0;

    for (int64_t j = 0; j < columns; j++)
        maximum = fmaxf(maximum, scores[j]);
    for (int64_t j = 0; j < columns; j++) {
        scores[j] = expf((float)scale * (scores[j] - maximum));
        sum += (double)scores[j];
    }
    *lse = (float)(scale * (double)maximum + log(sum));
    return sum;
}

/* wanted[length]: rows to compute; NULL: all. */
static void forward_head(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                         const uint8_t *wanted, uint16_t *o, float *lse)
{
    int64_t length = shape->length;
    int64_t dim = shape->dim;
    double scale = 1 / sqrt((double)dim);
    AUTO_FREE float *keys = scratch((size_t)(length * dim), sizeof *keys);
    AUTO_FREE float *values = scratch((size_t)(length * dim), sizeof *values);
    AUTO_FREE float *scores = scratch((size_t)length, sizeof *scores);
    AUTO_FREE float *query = scratch((size_t)dim, sizeof *query);
    AUTO_FREE float *block = scratch((size_t)dim, sizeof *block);
    AUTO_FREE double *sums = scratch((size_t)dim, sizeof *sums);

    unpack_transposed(keys, k, length, dim);
    unpack(values, v, length * dim);
    for (int64_t i = 0; i < length; i++) {
        int64_t columns = visible(shape, i);
        if (wanted && !wanted[i])
            continue;
        unpack(query, q + i * dim, dim);
        row_dots(shape, columns, query, keys, scores);
        double total = exponentiate(scores, columns, scale, &lse[i]);
        memset(sums, 0, (size_t)dim * sizeof *sums);
        for (int64_t j = 0; j < columns; j++) {
            add_scaled(block, values + j * dim, scores[j], dim);
            if (j % BLOCK == BLOCK - 1)
                flush(sums, block, dim);
        }
        flush(sums, block, dim);
        pack(o + i * dim, sums, 1 / total, dim);
    }
}

void cpu_mha_forward_rows(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                          const uint8_t *wanted, uint16_t *o, float *lse)
{
    int64_t length = shape->length, head = length * shape->dim;

    for (int64_t h = 0; h < shape->batch * shape->heads; h++) {
        const uint8_t *rows = wanted ? wanted + h * length : NULL;
        if (!rows || memchr(rows, 1, (size_t)length))
            forward_head(shape, q + h * head, k + h * head, v + h * head, rows, o + h * head, lse + h * length);
    }
}

void cpu_mha_forward(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                     uint16_t *o, float *lse)
{
    cpu_mha_forward_rows(shape, q, k, v, NULL, o, lse);
}

/* What the backward pass of one head keeps. Rows are those of one block of queries. */
struct backward_head {
    float *keys;
    float *keys_transposed;
    float *values_transposed;
    float *queries; /* [BLOCK][dim] */
    float *upstream;
    float *p;  /* [BLOCK][length]: probabilities */
    float *ds; /* [BLOCK][length]: gradients of the scaled scores */
    float *block;
    double *dq; /* [dim] */
    double *dk; /* [length][dim] */
    double *dv;
};

static struct backward_head backward_new(const struct cpu_attention *shape)
{
    size_t length = (size_t)shape->length;
    size_t dim = (size_t)shape->dim;

    return (struct backward_head){
        .keys = scratch(length * dim, sizeof(float)),
        .keys_transposed = scratch(length * dim, sizeof(float)),
        .values_transposed = scratch(length * dim, sizeof(float)),
        .queries = scratch(BLOCK * dim, sizeof(float)),
        .upstream = scratch(BLOCK * dim, sizeof(float)),
        .p = scratch(BLOCK * length, sizeof(float)),
        .ds = scratch(BLOCK * length, sizeof(float)),
        .block = scratch(dim, sizeof(float)),
        .dq = scratch(dim, sizeof(double)),
        .dk = scratch(length * dim, sizeof(double)),
        .dv = scratch(length * dim, sizeof(double)),
    };
}

static void backward_free(struct backward_head *head)
{
    void *all[] = {head->keys,
                   head->keys_transposed,
                   head->values_transposed,
                   head->queries,
                   head->upstream,
                   head->p,
                   head->ds,
                   head->block,
                   head->dq,
                   head->dk,
                   head->dv};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i]);
}

/* Probabilities and score gradients of row i (row r of the block); invisible columns become zero. */
static void backward_row(const struct cpu_attention *shape, struct backward_head *head, int64_t i, int64_t r,
                         const uint16_t *o, float lse)
{
    float *p = head->p + r * shape->length;
    float *ds = head->ds + r * shape->length;
    const float *upstream = head->upstream + r * shape->dim;
    float scale = (float)(1 / sqrt((double)shape->dim));
    int64_t columns = visible(shape, i);
    double delta = 0;

    for (int64_t d = 0; d < shape->dim; d++)
        delta += (double)(upstream[d] * bfloat16_to_float(o[d]));
    row_dots(shape, columns, head->queries + r * shape->dim, head->keys_transposed, p);
    row_dots(shape, columns, upstream, head->values_transposed, ds);
    for (int64_t j = 0; j < columns; j++) {
        p[j] = expf(scale * p[j] - lse);
        ds[j] = p[j] * (ds[j] - (float)delta);
    }
    for (int64_t j = columns; j < shape->length; j++)
        p[j] = ds[j] = 0;
}

/* to[j] += sum over the rows r of the block of factors[r][j] * rows[r]; rows are [dim]. */
static void accumulate_columns(const struct cpu_attention *shape, int64_t rows_count, const float *factors,
                               const float *rows, float *block, double *to)
{
    for (int64_t j = 0; j < shape->length; j++) {
        for (int64_t r = 0; r < rows_count; r++)
            add_scaled(block, rows + r * shape->dim, factors[r * shape->length + j], shape->dim);
        flush(to + j * shape->dim, block, shape->dim);
    }
}

static void backward_query(const struct cpu_attention *shape, struct backward_head *head, const float *ds, uint16_t *dq)
{
    memset(head->dq, 0, (size_t)shape->dim * sizeof *head->dq);
    for (int64_t j = 0; j < shape->length; j++) {
        add_scaled(head->block, head->keys + j * shape->dim, ds[j], shape->dim);
        if (j % BLOCK == BLOCK - 1)
            flush(head->dq, head->block, shape->dim);
    }
    flush(head->dq, head->block, shape->dim);
    pack(dq, head->dq, 1 / sqrt((double)shape->dim), shape->dim);
}

void cpu_mha_backward(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                      const uint16_t *o, const uint16_t *d_o, const float *lse, uint16_t *dq, uint16_t *dk,
                      uint16_t *dv)
{
    cpu_mha_backward_heads(shape, q, k, v, o, d_o, lse, NULL, dq, dk, dv);
}

void cpu_mha_backward_heads(const struct cpu_attention *shape, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                            const uint16_t *o, const uint16_t *d_o, const float *lse, const uint8_t *wanted,
                            uint16_t *dq, uint16_t *dk, uint16_t *dv)
{
    int64_t length = shape->length;
    int64_t dim = shape->dim;
    int64_t size = length * dim;
    struct backward_head head = backward_new(shape);

    for (int64_t h = 0; h < shape->batch * shape->heads; h++) {
        int64_t base = h * size;
        if (wanted && !wanted[h])
            continue;
        unpack(head.keys, k + base, size);
        unpack_transposed(head.keys_transposed, k + base, length, dim);
        unpack_transposed(head.values_transposed, v + base, length, dim);
        memset(head.dk, 0, (size_t)size * sizeof *head.dk);
        memset(head.dv, 0, (size_t)size * sizeof *head.dv);
        for (int64_t first = 0; first < length; first += BLOCK) {
            int64_t rows = length - first < BLOCK ? length - first : BLOCK;
            unpack(head.queries, q + base + first * dim, rows * dim);
            unpack(head.upstream, d_o + base + first * dim, rows * dim);
            for (int64_t r = 0; r < rows; r++) {
                int64_t i = first + r;
                backward_row(shape, &head, i, r, o + base + i * dim, lse[h * length + i]);
                backward_query(shape, &head, head.ds + r * length, dq + base + i * dim);
            }
            accumulate_columns(shape, rows, head.ds, head.queries, head.block, head.dk);
            accumulate_columns(shape, rows, head.p, head.upstream, head.block, head.dv);
        }
        pack(dk + base, head.dk, 1 / sqrt((double)dim), size);
        pack(dv + base, head.dv, 1, size);
    }
    backward_free(&head);
}
