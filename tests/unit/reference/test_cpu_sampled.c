/* Expected outputs of a part against those of the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/splitmix.h"
#include "reference/cpu_reference.h"
#include "reference/cpu_sampled.h"
#include "trace/convert.h"
#include "trace/trace_set.h"

enum { POISON = 0xff };

/* A few elements of each output are "written". */
static void mark(void *got, int64_t bytes, int64_t width, int64_t every)
{
    memset(got, POISON, (size_t)bytes);
    for (int64_t i = 0; i < bytes / width; i += every)
        memset((char *)got + i * width, 0, (size_t)width);
}

static double value_at(const struct tensor_shape *shape, const void *data, int64_t i)
{
    return tensor_load(shape->dtype, data, (size_t)i);
}

static void compare(const struct workload *workload, int output, const void *got, const void *whole, const void *part)
{
    struct tensor_shape shape;
    struct error error;
    int64_t written = 0;

    assert_true(workload_tensor_shape(workload, &workload->definition->outputs[output], &shape, &error));
    int64_t width = dtype_bits(shape.dtype) / 8;
    for (int64_t i = 0; i < tensor_elements(&shape); i++) {
        uint8_t poison[8];
        memset(poison, POISON, sizeof poison);
        if (!memcmp((const char *)got + i * width, poison, (size_t)width))
            continue;
        written++;
        double wanted = value_at(&shape, whole, i), found = value_at(&shape, part, i);
        if (!(found - wanted <= 0.01 + 0.01 * (wanted < 0 ? -wanted : wanted) &&
              wanted - found <= 0.01 + 0.01 * (wanted < 0 ? -wanted : wanted)))
            fail_msg("%s, output %d, element %lld: %g, expected %g", workload->definition->name, output, (long long)i,
                     found, wanted);
    }
    assert_true(written > 0);
}

static void check_task(const char *name, const char *sizes, int64_t every)
{
    AUTO_TRACE_SET *set = NULL;
    AUTO_ARENA *arena = arena_new();
    const char *root = SOURCE_ROOT "/tasks";
    const struct workload *task = NULL;
    struct workload *workload = NULL;
    void **inputs = NULL, **whole = NULL, *got[3] = {0}, *part[3] = {0};
    struct error error;

    assert_true(trace_set_open(&root, 1, &set, &error));
    assert_true(trace_set_find_workload(set, name, NULL, &task, &error));
    if (!workload_resize(task, sizes, arena, &workload, &error) ||
        !cpu_reference_inputs(workload, 3, &inputs, &error) || !cpu_reference_outputs(workload, inputs, &whole, &error))
        fail_msg("%s", error.message);
    size_t outputs = workload->definition->output_count;
    for (size_t i = 0; i < outputs; i++) {
        struct tensor_shape shape;
        assert_true(workload_tensor_shape(workload, &workload->definition->outputs[i], &shape, &error));
        got[i] = malloc((size_t)tensor_bytes(&shape));
        part[i] = malloc((size_t)tensor_bytes(&shape));
        memset(part[i], POISON, (size_t)tensor_bytes(&shape));
        mark(got[i], tensor_bytes(&shape), dtype_bits(shape.dtype) / 8, every);
    }
    if (!cpu_sampled_outputs(workload, (const void *const *)inputs, (const void *const *)got, POISON, part, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < outputs; i++) {
        compare(workload, (int)i, got[i], whole[i], part[i]);
        free(got[i]);
        free(part[i]);
    }
    cpu_reference_free(inputs, workload->definition->input_count);
    cpu_reference_free(whole, outputs);
}

static void gemm(void **state)
{
    (void)state;
    check_task("gemm_n128_k2048", "M=37", 11);
    check_task("gemm_n128_k2048", "M=3", 1);
}

static void attention(void **state)
{
    (void)state;
    check_task("mha_with_lse_d64", "S=33", 64 * 7);
    check_task("mha_with_lse_d96_causal", "S=20", 96 * 3);
    check_task("mha_bwd_d64_causal", "S=12", 64 * 12 * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm),
        cmocka_unit_test(attention),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
