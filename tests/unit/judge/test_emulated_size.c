#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/emulated_size.h"
#include "trace/trace_set.h"

static const struct workload *find(const struct trace_set *set, const char *name)
{
    const struct workload *workload = NULL;
    struct error error;

    if (!trace_set_find_workload(set, name, NULL, &workload, &error))
        fail_msg("%s", error.message);
    return workload;
}

static void sizes(void **state)
{
    AUTO_TRACE_SET *set = NULL;
    AUTO_ARENA *arena = arena_new();
    const char *root = SOURCE_ROOT "/tasks";
    struct workload *large;
    struct error error;

    (void)state;
    assert_true(trace_set_open(&root, 1, &set, &error));
    const struct workload *gemm = find(set, "gemm_n7168_k5120"), *mha = find(set, "mha_with_lse_d256");
    assert_string_equal(emulated_small_sizes(gemm), "M=128");
    assert_string_equal(emulated_small_sizes(mha), "S=256");
    assert_null(emulated_fitting_sizes(arena, gemm, EMULATED_MEMORY_MAX));
    /* 192 heads of 16384 x 256: 4.8 GB of inputs, 1.6 GB of outputs */
    assert_true(workload_resize(mha, "S=16384", arena, &large, &error));
    assert_string_equal(emulated_fitting_sizes(arena, large, EMULATED_MEMORY_MAX), "S=4096");
    assert_string_equal(emulated_fitting_sizes(arena, large, 6 * EMULATED_MEMORY_MAX / 4), "S=8192");
    assert_null(emulated_fitting_sizes(arena, large, 3 * EMULATED_MEMORY_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
