/* trace/safetensors.h: round trip, and every way in which a file can lie. */
#include "trace_test.h"

#include "base/file.h"
#include "trace/safetensors.h"

static struct arena *arena;
static char *folder;

static int make_folder(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    return file_make_temporary_folder(arena, file_temporary_root(), "tensors", &folder, &error) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)file_remove_tree(folder);
    arena_free(arena);
    return 0;
}

/* Writes a file with this header and `data_bytes` of data; the header length is `claimed` when not 0. */
static const char *write_file(const char *header, size_t data_bytes, uint64_t claimed)
{
    const char *path = file_join(arena, folder, "case.safetensors");
    size_t length = strlen(header);
    uint64_t size = claimed ? claimed : length;
    char *bytes = calloc(1, 8 + length + data_bytes);
    struct error error;

    assert_non_null(bytes);
    memcpy(bytes, &size, 8);
    memcpy(bytes + 8, header, length);
    assert_true(file_write(path, bytes, 8 + length + data_bytes, 0644, &error));
    free(bytes);
    return path;
}

static bool produce_ramp(void *context, struct safetensors_sink *sink, struct error *error)
{
    for (uint8_t i = 0; i < *(uint8_t *)context; i++)
        if (!safetensors_put(sink, &i, 1, error))
            return false;
    return true;
}

static void test_round_trip(void **state)
{
    static const uint16_t pairs[6] = {1, 2, 3, 4, 5, 6};
    uint8_t ramp = 5;
    struct safetensors_entry entries[] = {
        {"A", {DTYPE_BFLOAT16, 2, {2, 3}}, pairs, NULL, NULL},
        {"bytes", {DTYPE_INT8, 1, {5}}, NULL, produce_ramp, &ramp},
        {"empty", {DTYPE_FLOAT32, 2, {0, 4}}, pairs, NULL, NULL},
        {"scalar", {DTYPE_BFLOAT16, 0, {0}}, pairs, NULL, NULL},
    };
    const char *path = file_join(arena, folder, "a.safetensors");
    AUTO_JSON_OBJECT *metadata = json_object_new_object();
    AUTO_SAFETENSORS *file = NULL;
    const struct safetensors_tensor *tensor = NULL;
    struct error error;

    (void)state;
    json_put_string(metadata, "seed", "7");
    assert_int_equal(safetensors_data_bytes(entries, 4), 12 + 5 + 0 + 2);
    assert_true(safetensors_write(path, entries, 4, metadata, &error));
    assert_true(safetensors_open(path, &file, &error));
    assert_int_equal(safetensors_count(file), 4);
    assert_string_equal(safetensors_at(file, 1)->name, "bytes");
    assert_true(safetensors_get(file, "A", &entries[0].shape, &tensor, &error));
    assert_int_equal(tensor->bytes, 12);
    assert_memory_equal(tensor->data, pairs, 12);
    assert_int_equal((uintptr_t)tensor->data % 8, 0);
    assert_true(safetensors_get(file, "bytes", &entries[1].shape, &tensor, &error));
    assert_memory_equal(tensor->data, "\0\1\2\3\4", 5);
    assert_true(safetensors_get(file, "scalar", &entries[3].shape, &tensor, &error));

    struct tensor_shape other = {DTYPE_BFLOAT16, 2, {3, 2}};
    assert_false(safetensors_get(file, "A", &other, &tensor, &error));
    assert_non_null(strstr(error.message, "tensor \"A\" is bfloat16[2, 3], the workload needs bfloat16[3, 2]"));
    assert_false(safetensors_get(file, "B", &other, &tensor, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_string_equal(error.hint, "it holds: A, bytes, empty, scalar");
}

static void test_producer_must_deliver(void **state)
{
    uint8_t few = 3;
    uint8_t many = 6;
    struct safetensors_entry entry = {"x", {DTYPE_INT8, 1, {5}}, NULL, produce_ramp, &few};
    const char *path = file_join(arena, folder, "short.safetensors");
    struct error error;

    (void)state;
    assert_false(safetensors_write(path, &entry, 1, NULL, &error));
    assert_non_null(strstr(error.message, "tensor \"x\" lacks 2 bytes"));
    entry.context = &many;
    assert_false(safetensors_write(path, &entry, 1, NULL, &error));
    assert_int_equal(error.code, ERROR_INTERNAL);
    assert_false(file_exists(path));
}

static void test_refused(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        uint64_t claimed;
        const char *message;
    } cases[] = {
        {"{}", 0, 3, "truncated: header of 3 bytes in a file of 10"},
        {"{}", 0, 100000001, "header of 100000001 bytes is larger than 100000000"},
        {"{}", 0, UINT64_MAX, "is larger than 100000000"},
        {"[]", 0, 0, "$: expected an object, found an array"},
        {"{\"a\":", 0, 0, "text ends before a value"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, 0,
         "$.a.data_offsets: [0, 4] is outside the data of 3 bytes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 8, 0, "is outside the data"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 8, 0,
         "4 bytes, but dtype and shape need 8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,18446744073709551615]}}", 8, 0, "is outside"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, 0,
         "$.a.shape: shape is too large"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, 0, "expected a non-negative integer"},
        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, 0, "unknown safetensors dtype \"F33\""},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, 0, "expected [begin, end]"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"I8\",\"shape\":[4],\"data_offsets\":[3,7]}}",
         8, 0, "\"a\" and \"b\" overlap"},
        {"{\"b\":{\"dtype\":\"I8\",\"shape\":[8],\"data_offsets\":[0,8]},"
         "\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[3,4]}}",
         8, 0, "overlap"},
        {"{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
         8, 0, "duplicate key"},
    };
    struct safetensors *file;
    struct error error;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *path = write_file(cases[i].header, cases[i].data, cases[i].claimed);
        if (safetensors_open(path, &file, &error))
            fail_msg("accepted: %s", cases[i].header);
        if (!strstr(error.message, cases[i].message) || !strstr(error.message, "case.safetensors"))
            fail_msg("%s: %s", cases[i].header, error.message);
    }
}

static void test_tolerated(void **state)
{
    AUTO_SAFETENSORS *file = NULL;
    const struct safetensors_tensor *tensor;
    struct tensor_shape shape = {DTYPE_FLOAT32, 1, {1}};
    struct error error;
    /* unaligned data, a gap, trailing bytes, a dtype that only others use */
    const char *path = write_file("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]},"
                                  "\"d\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[6,14]}}",
                                  20, 0);

    (void)state;
    assert_true(safetensors_open(path, &file, &error));
    assert_true(safetensors_get(file, "a", &shape, &tensor, &error));
    assert_false(safetensors_get(file, "d", &shape, &tensor, &error));
    assert_non_null(strstr(error.message, "has dtype F64"));
}

static void test_pointer_and_small_files(void **state)
{
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    const char *path = file_join(arena, folder, "pointer.safetensors");
    struct safetensors *file;
    struct error error;

    (void)state;
    assert_true(file_write(path, pointer, strlen(pointer), 0644, &error));
    assert_false(safetensors_open(path, &file, &error));
    assert_non_null(strstr(error.message, "is a Git LFS pointer"));
    assert_non_null(strstr(error.hint, "git lfs pull"));
    assert_true(file_write(path, "", 0, 0644, &error));
    assert_false(safetensors_open(path, &file, &error));
    assert_non_null(strstr(error.message, "is empty"));
    assert_true(file_write(path, "1234567", 7, 0644, &error));
    assert_false(safetensors_open(path, &file, &error));
    assert_non_null(strstr(error.message, "7 bytes are too few"));
    assert_false(safetensors_open(folder, &file, &error));
    assert_non_null(strstr(error.message, "is not a regular file"));
    assert_false(safetensors_open(file_join(arena, folder, "absent"), &file, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_producer_must_deliver),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_tolerated),
        cmocka_unit_test(test_pointer_and_small_files),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
