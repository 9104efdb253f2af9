/* reference/cpu_reference.h against definitions in double: triple loops, and finite differences for the gradients. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "reference/cpu_reference.h"
#include "trace/convert.h"
#include "trace/random.h"
#include "trace/trace_set.h"

static float table[RANDOM_TABLE_SIZE];

static int set_up(void **state)
{
    (void)state;
    random_normal_table(table);
    return 0;
}

static uint16_t *random_tensor(uint64_t index, size_t count)
{
    uint16_t *tensor = malloc(count * sizeof *tensor);

    assert_non_null(tensor);
    random_fill(table, DTYPE_BFLOAT16, 5, index, 0, count, tensor);
    return tensor;
}

static double at(const uint16_t *tensor, int64_t index)
{
    return (double)bfloat16_to_float(tensor[index]);
}

/* `got` is `expected` rounded to bfloat16, up to a unit in the last place. */
static void expect_close(double got, double expected, double tolerance, const char *what, int64_t index)
{
    if (!(fabs(got - expected) <= tolerance * fmax(fabs(expected), 0.05)))
        fail_msg("%s[%lld]: %g, expected %g", what, (long long)index, got, expected);
}

static void test_gemm(void **state)
{
    static const int64_t shapes[][3] = {{1, 1, 1}, {3, 70, 5}, {2, 64, 64}, {5, 129, 200}, {2, 3, 0}};

    (void)state;
    for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
        int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        AUTO_FREE uint16_t *a = random_tensor(0, (size_t)(m * k + 1));
        AUTO_FREE uint16_t *b = random_tensor(1, (size_t)(n * k + 1));
        AUTO_FREE uint16_t *c = random_tensor(2, (size_t)(m * n));
        cpu_gemm(a, b, c, m, n, k);
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t p = 0; p < k; p++)
                    sum += at(a, i * k + p) * at(b, j * k + p);
                expect_close(at(c, i * n + j), sum, 0.004, "C", i * n + j);
            }
    }
}

/* Attention of one head in double; inputs as doubles so that they can be nudged. */
static void naive_head(const struct cpu_attention *shape, const double *q, const double *k, const double *v, double *o,
                       double *lse)
{
    int64_t dim = shape->dim;

    for (int64_t i = 0; i < shape->length; i++) {
        int64_t columns = shape->causal ? i + 1 : shape->length;
        double weights[64];
        double total = 0;
        for (int64_t j = 0; j < columns; j++) {
            double dot = 0;
            for (int64_t d = 0; d < dim; d++)
                dot += q[i * dim + d] * k[j * dim + d];
            weights[j] = exp(dot / sqrt((double)dim));
            total += weights[j];
        }
        lse[i] = log(total);
        for (int64_t d = 0; d < dim; d++) {
            o[i * dim + d] = 0;
            for (int64_t j = 0; j < columns; j++)
                o[i * dim + d] += weights[j] / total * v[j * dim + d];
        }
    }
}

enum { MAX_HEAD = 64 * 24 };

static void load_head(double *to, const uint16_t *from, int64_t base, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = at(from, base + i);
}

static void test_forward(void **state)
{
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        struct cpu_attention shape = {2, 3, 64, 24, causal};
        int64_t head = shape.length * shape.dim;
        size_t count = (size_t)(6 * head);
        AUTO_FREE uint16_t *q = random_tensor(0, count);
        AUTO_FREE uint16_t *k = random_tensor(1, count);
        AUTO_FREE uint16_t *v = random_tensor(2, count);
        AUTO_FREE uint16_t *o = random_tensor(3, count);
        float lse[6 * 64];
        double in[3][MAX_HEAD], out[MAX_HEAD], logs[64];
        cpu_mha_forward(&shape, q, k, v, o, lse);
        for (int64_t h = 0; h < 6; h++) {
            load_head(in[0], q, h * head, head);
            load_head(in[1], k, h * head, head);
            load_head(in[2], v, h * head, head);
            naive_head(&shape, in[0], in[1], in[2], out, logs);
            for (int64_t i = 0; i < head; i++)
                expect_close(at(o, h * head + i), out[i], 0.004, "O", h * head + i);
            for (int64_t i = 0; i < 64; i++)
                assert_true(fabs((double)lse[h * 64 + i] - logs[i]) < 1e-5);
        }
    }
}

/* Gradient of sum(O * dO) of one head with respect to in[which][index], by central differences. */
static double difference(const struct cpu_attention *shape, double in[3][MAX_HEAD], const double *upstream, int which,
                         int64_t index)
{
    double out[MAX_HEAD], logs[64], sums[2] = {0, 0};
    double kept = in[which][index];

    for (int side = 0; side < 2; side++) {
        in[which][index] = kept + (side ? 1e-4 : -1e-4);
        naive_head(shape, in[0], in[1], in[2], out, logs);
        for (int64_t i = 0; i < shape->length * shape->dim; i++)
            sums[side] += out[i] * upstream[i];
    }
    in[which][index] = kept;
    return (sums[1] - sums[0]) / 2e-4;
}

static void test_backward(void **state)
{
    static const char *const names[] = {"dQ", "dK", "dV"};

    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        struct cpu_attention shape = {1, 2, 19, 12, causal};
        int64_t head = shape.length * shape.dim;
        size_t count = (size_t)(2 * head);
        AUTO_FREE uint16_t *q = random_tensor(0, count);
        AUTO_FREE uint16_t *k = random_tensor(1, count);
        AUTO_FREE uint16_t *v = random_tensor(2, count);
        AUTO_FREE uint16_t *d_o = random_tensor(4, count);
        AUTO_FREE uint16_t *o = random_tensor(3, count);
        AUTO_FREE uint16_t *dq = random_tensor(5, count);
        AUTO_FREE uint16_t *dk = random_tensor(6, count);
        AUTO_FREE uint16_t *dv = random_tensor(7, count);
        uint16_t *gradients[] = {dq, dk, dv};
        float lse[2 * 19];
        double in[3][MAX_HEAD], upstream[MAX_HEAD];
        cpu_mha_forward(&shape, q, k, v, o, lse);
        cpu_mha_backward(&shape, q, k, v, o, d_o, lse, dq, dk, dv);
        for (int64_t h = 0; h < 2; h++) {
            load_head(in[0], q, h * head, head);
            load_head(in[1], k, h * head, head);
            load_head(in[2], v, h * head, head);
            load_head(upstream, d_o, h * head, head);
            for (int which = 0; which < 3; which++)
                for (int64_t i = 0; i < head; i++)
                    /* O arrives rounded to bfloat16, which moves dQ and dK by up to a percent of their scale */
                    if (fabs(at(gradients[which], h * head + i) - difference(&shape, in, upstream, which, i)) > 0.02)
                        fail_msg("%s[%lld] causal %d: %g, expected %g", names[which], (long long)i, causal,
                                 at(gradients[which], h * head + i), difference(&shape, in, upstream, which, i));
        }
    }
}

static void test_many_blocks(void **state)
{
    /* two heads, longer than a block of rows and no multiple of it: with V = dO = 1 every O is 1, dQ and dK vanish and
     * dV sums to the sum of dO */
    struct cpu_attention shape = {1, 2, 150, 8, true};
    size_t count = 2 * 150 * 8;
    AUTO_FREE uint16_t *q = random_tensor(0, count);
    AUTO_FREE uint16_t *k = random_tensor(1, count);
    AUTO_FREE uint16_t *v = random_tensor(2, count);
    AUTO_FREE uint16_t *o = random_tensor(3, count);
    AUTO_FREE uint16_t *out = random_tensor(4, 3 * count);
    float lse[2 * 150];
    double sums = 0;

    (void)state;
    for (size_t i = 0; i < count; i++)
        v[i] = float_to_bfloat16(1);
    cpu_mha_forward(&shape, q, k, v, o, lse);
    for (size_t i = 0; i < count; i++)
        assert_true(at(o, (int64_t)i) == 1);
    cpu_mha_backward(&shape, q, k, v, o, v, lse, out, out + count, out + 2 * count);
    for (size_t i = 0; i < count; i++) {
        sums += at(out + 2 * count, (int64_t)i);
        assert_true(fabs(at(out, (int64_t)i)) < 1e-4 && fabs(at(out + count, (int64_t)i)) < 1e-4);
    }
    assert_true(fabs(sums / (double)count - 1) < 1e-3);
}

static void test_tasks(void **state)
{
    AUTO_TRACE_SET *set = NULL;
    AUTO_ARENA *arena = arena_new();
    const char *root = SOURCE_ROOT "/tasks";
    static const struct {
        const char *name;
        enum cpu_operation operation;
        bool causal;
    } cases[] = {{"gemm_n7168_k5120", CPU_GEMM, false},
                 {"mha_with_lse_d256_causal", CPU_MHA_FORWARD, true},
                 {"mha_bwd_d96", CPU_MHA_BACKWARD, false}};
    struct error error;

    (void)state;
    assert_true(trace_set_open(&root, 1, &set, &error));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct definition *definition = NULL;
        assert_true(trace_set_find_definition(set, cases[i].name, &definition, &error));
        assert_int_equal(cpu_reference_classify(definition), cases[i].operation);
        assert_int_equal(cpu_reference_is_causal(definition), cases[i].causal);
    }
    const struct workload *workload = NULL;
    struct workload *small = NULL;
    assert_true(trace_set_find_workload(set, "mha_bwd_d64", NULL, &workload, &error));
    assert_true(workload_resize(workload, "S=4", arena, &small, &error));
    void **inputs = NULL;
    void **outputs = NULL;
    if (!cpu_reference_inputs(small, 1, &inputs, &error))
        fail_msg("%s", error.message);
    struct cpu_attention shape = {4, 48, 4, 64, false};
    size_t count = 4 * 48 * 4 * 64;
    AUTO_FREE uint16_t *o = random_tensor(0, count);
    AUTO_FREE float *lse = calloc(count, sizeof *lse);
    cpu_mha_forward(&shape, inputs[0], inputs[1], inputs[2], o, lse);
    assert_memory_equal(inputs[3], o, count * 2);
    assert_memory_equal(inputs[5], lse, 4 * 48 * 4 * sizeof *lse);
    assert_true(cpu_reference_outputs(small, inputs, &outputs, &error));
    cpu_reference_free(inputs, 6);
    cpu_reference_free(outputs, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),        cmocka_unit_test(test_forward), cmocka_unit_test(test_backward),
        cmocka_unit_test(test_many_blocks), cmocka_unit_test(test_tasks),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
