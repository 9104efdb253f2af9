/* trace/dtype.h */
#include "trace_test.h"

#include "trace/dtype.h"

static void test_names(void **state)
{
    enum dtype parsed = DTYPE_COUNT;

    (void)state;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        assert_true(dtype_parse(dtype_text((enum dtype)i), &parsed));
        assert_int_equal(parsed, i);
        assert_true(dtype_parse_safetensors(dtype_safetensors_text((enum dtype)i), &parsed));
        assert_int_equal(parsed, i);
        assert_int_equal(dtype_is_float((enum dtype)i),
                         !strncmp(dtype_text((enum dtype)i), "float", 5) || i == DTYPE_BFLOAT16);
    }
    assert_false(dtype_parse("BF16", &parsed));
    assert_false(dtype_parse("", &parsed));
    assert_false(dtype_parse_safetensors("float32", &parsed));
}

static void test_sizes(void **state)
{
    static const struct {
        struct tensor_shape shape;
        int64_t elements, bytes;
        const char *text;
    } cases[] = {
        {{DTYPE_BFLOAT16, 2, {8192, 5120}}, 41943040, 83886080, "bfloat16[8192, 5120]"},
        {{DTYPE_FLOAT32, 0, {0}}, 1, 4, "float32[]"},
        {{DTYPE_FLOAT4_E2M1, 1, {5}}, 5, 3, "float4_e2m1[5]"},
        {{DTYPE_INT64, 3, {2, 0, 7}}, 0, 0, "int64[2, 0, 7]"},
        {{DTYPE_BOOL, 1, {9}}, 9, 9, "bool[9]"},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(tensor_shape_valid(&cases[i].shape));
        assert_int_equal(tensor_elements(&cases[i].shape), cases[i].elements);
        assert_int_equal(tensor_bytes(&cases[i].shape), cases[i].bytes);
        tensor_shape_text(&cases[i].shape, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    tensor_shape_text(&cases[0].shape, text, 12);
    assert_string_equal(text, "bfloat16[81");
}

static void test_overflow(void **state)
{
    struct tensor_shape shape = {DTYPE_FLOAT32, 3, {INT64_MAX, 2, 0}};

    (void)state;
    assert_false(tensor_shape_valid(&shape));
    shape = (struct tensor_shape){DTYPE_FLOAT32, 1, {INT64_MAX / 16}};
    assert_false(tensor_shape_valid(&shape));
    shape.dims[0] = INT64_MAX / 32;
    assert_true(tensor_shape_valid(&shape));
    shape.dims[0] = -1;
    assert_false(tensor_shape_valid(&shape));
    shape = (struct tensor_shape){DTYPE_FLOAT32, 9, {1}};
    assert_false(tensor_shape_valid(&shape));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
