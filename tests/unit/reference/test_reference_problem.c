#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reference/naive_check.h"

static const struct reference_problem paper_gemm = {
    .kind = REFERENCE_GEMM,
    .dtype = DTYPE_BFLOAT16,
    .m = 8192,
    .n = 7168,
    .k = 5120,
};

static const struct reference_problem paper_attention = {
    .kind = REFERENCE_MHA_FORWARD,
    .dtype = DTYPE_BFLOAT16,
    .batch = 4,
    .heads = 48,
    .sequence = 4096,
    .head_dim = 128,
    .with_lse = true,
};

static void work_and_traffic_follow_the_definition(void **state)
{
    (void)state;
    struct reference_problem attention = paper_attention;
    const double tensor = 4.0 * 48 * 4096 * 128 * 2, lse = 4.0 * 48 * 4096 * 4;

    assert_true(reference_required_flops(&paper_gemm) == 2.0 * 8192 * 7168 * 5120);
    assert_true(reference_bytes_floor(&paper_gemm) == 2.0 * (8192.0 * 5120 + 7168.0 * 5120 + 8192.0 * 7168));

    assert_true(reference_required_flops(&attention) == 4.0 * 4 * 48 * 4096 * 4096 * 128);
    assert_true(reference_bytes_floor(&attention) == 4 * tensor + lse);
    attention.causal = true;
    assert_true(reference_required_flops(&attention) == 2.0 * 4 * 48 * 4096 * 4096 * 128);
    attention.with_lse = false;
    assert_true(reference_bytes_floor(&attention) == 4 * tensor);

    attention.kind = REFERENCE_MHA_BACKWARD;
    assert_true(reference_required_flops(&attention) == 5.0 * 4 * 48 * 4096 * 4096 * 128);
    assert_true(reference_bytes_floor(&attention) == 8 * tensor + lse);
}

static void tensors_come_in_the_order_of_the_definition(void **state)
{
    (void)state;
    struct reference_problem backward = paper_attention;
    backward.kind = REFERENCE_MHA_BACKWARD;
    static const char *const inputs[] = {"Q", "K", "V", "O", "dO", "LSE"};
    static const char *const outputs[] = {"dQ", "dK", "dV"};

    assert_int_equal(reference_input_count(&backward), 6);
    assert_int_equal(reference_output_count(&backward), 3);
    for (int i = 0; i < 6; i++)
        assert_string_equal(reference_input_name(&backward, i), inputs[i]);
    for (int i = 0; i < 3; i++)
        assert_string_equal(reference_output_name(&backward, i), outputs[i]);

    struct tensor_shape lse = reference_input_shape(&backward, 5);
    assert_int_equal(lse.dtype, DTYPE_FLOAT32);
    assert_int_equal(lse.rank, 3);
    assert_int_equal(lse.dims[2], 4096);
    struct tensor_shape gradient = reference_input_shape(&backward, 4);
    assert_int_equal(gradient.dtype, DTYPE_BFLOAT16);
    assert_int_equal(gradient.rank, 4);

    struct tensor_shape b = reference_input_shape(&paper_gemm, 1), c = reference_output_shape(&paper_gemm, 0);
    assert_int_equal(b.dims[0], 7168);
    assert_int_equal(b.dims[1], 5120);
    assert_int_equal(c.dims[0], 8192);
    assert_int_equal(c.dims[1], 7168);
}

static void a_problem_reads_well(void **state)
{
    (void)state;
    char text[128];
    struct reference_problem causal = paper_attention;
    causal.causal = true;

    reference_problem_text(&paper_gemm, text, sizeof text);
    assert_string_equal(text, "gemm m8192 n7168 k5120 bfloat16");
    reference_problem_text(&causal, text, sizeof text);
    assert_string_equal(text, "mha_forward b4 h48 s4096 d128 causal bfloat16");
}

/* Refused before any library or driver is touched: the driver is NULL here. */
static void impossible_problems_are_refused(void **state)
{
    (void)state;
    struct reference *reference = NULL;
    struct error error;
    struct reference_problem problem = paper_gemm;

    problem.k = 0;
    assert_false(reference_open(NULL, &problem, &reference, &error));
    assert_int_equal(error.code, ERROR_INPUT);

    problem = paper_gemm;
    problem.dtype = DTYPE_FLOAT32;
    assert_false(reference_open(NULL, &problem, &reference, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "float32"));

    problem = paper_attention;
    problem.sequence = (int64_t)1 << 24;
    assert_false(reference_open(NULL, &problem, &reference, &error));
    assert_int_equal(error.code, ERROR_INPUT);

    problem = paper_attention;
    problem.head_dim = 512;
    assert_false(reference_open(NULL, &problem, &reference, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_null(reference);
}

static void the_error_norm_is_relative(void **state)
{
    (void)state;
    const struct naive_sums parts[] = {{3, 100}, {1, 300}};
    const struct naive_sums exact[] = {{0, 0}}, spurious[] = {{1, 0}}, broken[] = {{NAN, 1}, {0, 1}};

    assert_true(fabs(naive_error_norm(parts, 2) - 0.1) < 1e-15);
    assert_true(naive_error_norm(exact, 1) == 0);
    assert_true(naive_error_norm(spurious, 1) > 1e300); /* something where zero was due */
    assert_true(isnan(naive_error_norm(broken, 2)));
}

static void a_reference_that_is_wrong_is_refused(void **state)
{
    (void)state;
    struct reference_agreement agreement = {
        .entries = {{.tensor = "O", .error_norm = 2e-3, .limit = 1e-2},
                    {.tensor = "LSE", .error_norm = 1e-7, .limit = 1e-5}},
        .count = 2,
    };
    struct error error;

    assert_true(naive_judge(&agreement, "attention", &error));
    agreement.entries[1].error_norm = 2e-5;
    assert_false(naive_judge(&agreement, "attention", &error));
    assert_int_equal(error.code, ERROR_DEVICE);
    assert_string_equal(error.message,
                        "attention: LSE disagrees with naive fp32 arithmetic: relative error norm 2e-05, "
                        "limit 1e-05");
    agreement.entries[1].error_norm = 0;
    agreement.entries[0].error_norm = NAN;
    assert_false(naive_judge(&agreement, "attention", &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_and_traffic_follow_the_definition),
        cmocka_unit_test(tensors_come_in_the_order_of_the_definition),
        cmocka_unit_test(a_problem_reads_well),
        cmocka_unit_test(impossible_problems_are_refused),
        cmocka_unit_test(the_error_norm_is_relative),
        cmocka_unit_test(a_reference_that_is_wrong_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
