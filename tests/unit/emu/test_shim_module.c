#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>

#include "emu/shim/shim.h"

/* store: *out = (u8 a) + (u64 b); its parameters need padding. wild: writes to an address that is none. */
static const char ptx[] = ".version 8.0\n"
                          ".target sm_90a\n"
                          ".address_size 64\n"
                          ".visible .global .align 8 .u64 answer = 42;\n"
                          ".visible .entry store(.param .u64 out, .param .u8 a, .param .u64 b)\n"
                          ".maxntid 64, 1, 1\n"
                          "{\n"
                          "    .reg .b64 %rd<5>;\n"
                          "    .reg .b32 %r<2>;\n"
                          "    .shared .align 4 .b8 scratch[100];\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    ld.param.u8 %r1, [a];\n"
                          "    ld.param.u64 %rd2, [b];\n"
                          "    cvt.u64.u32 %rd3, %r1;\n"
                          "    add.u64 %rd4, %rd3, %rd2;\n"
                          "    st.global.u64 [%rd1], %rd4;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry wild()\n"
                          "{\n"
                          "    .reg .b64 %rd<2>;\n"
                          "    mov.u64 %rd1, 4096;\n"
                          "    st.global.u64 [%rd1], %rd1;\n"
                          "    ret;\n"
                          "}\n";

static struct shim_module *module;

static struct shim_function *function(const char *name)
{
    struct shim_function *found = NULL;

    assert_int_equal(shim_module_function(module, name, &found), 0);
    return found;
}

static void test_facts(void **state)
{
    struct shim_function_facts facts;
    struct shim_function *store = function("store"), *none;
    size_t offset, bytes;

    (void)state;
    assert_ptr_equal(store, function("store")); /* one handle a kernel */
    assert_int_equal(shim_module_function(module, "nothing", &none), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(shim_function_facts(store, &facts), 0);
    assert_string_equal(facts.name, "store");
    assert_int_equal(facts.max_threads, 64);
    assert_int_equal(facts.shared_bytes, 100);
    assert_int_equal(facts.shared_optin_bytes, 49152 - 100);
    assert_int_equal(facts.parameter_count, 3);
    assert_int_equal(facts.ptx_version, 80);
    assert_int_equal(shim_function_parameter(store, 1, &offset, &bytes), 0);
    assert_true(offset == 8 && bytes == 1);
    assert_int_equal(shim_function_parameter(store, 2, &offset, &bytes), 0);
    assert_true(offset == 16 && bytes == 8);
    assert_int_equal(shim_function_parameter(store, 3, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_function_facts((struct shim_function *)&facts, &facts), CUDA_ERROR_INVALID_HANDLE);
}

static void test_attributes(void **state)
{
    struct shim_function_facts facts;
    struct shim_function *store = function("store");

    (void)state;
    assert_int_equal(shim_function_set(store, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 100), 0);
    assert_int_equal(shim_function_facts(store, &facts), 0);
    assert_int_equal(facts.shared_optin_bytes, 232448 - 100);
    assert_int_equal(shim_function_set(store, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 99),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_function_set(store, CU_FUNC_ATTRIBUTE_NUM_REGS, 1), CUDA_ERROR_INVALID_VALUE);
}

static void test_occupancy(void **state)
{
    struct shim_function *wild = function("wild");
    int blocks;

    (void)state;
    assert_int_equal(shim_occupancy(wild, 1024, 0, &blocks), 0);
    assert_int_equal(blocks, 2);
    assert_int_equal(shim_occupancy(wild, 32, 0, &blocks), 0);
    assert_int_equal(blocks, 32);
    assert_int_equal(shim_occupancy(wild, 32, 40000, &blocks), 0); /* 233472 / (40000 + 1024, rounded up) */
    assert_int_equal(blocks, 5);
    assert_int_equal(shim_occupancy(function("store"), 65, 0, &blocks), 0);
    assert_int_equal(blocks, 0);
}

static void test_variable(void **state)
{
    uint64_t value;
    void *address;
    size_t bytes;

    (void)state;
    assert_int_equal(shim_module_variable(module, "answer", &address, &bytes), 0);
    assert_int_equal(bytes, 8);
    memcpy(&value, address, sizeof value);
    assert_int_equal(value, 42);
    assert_int_equal(shim_module_variable(module, "question", &address, &bytes), CUDA_ERROR_NOT_FOUND);
}

static void test_launch(void **state)
{
    uint8_t a = 200;
    uint64_t b = 1ull << 40, *out;
    void *address;
    assert_int_equal(shim_allocate(sizeof *out, SHIM_DEVICE_MEMORY, &address), 0);
    void *const parameters[] = {&address, &a, &b};
    struct shim_launch launch = {
        .function = function("store"), .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters};

    (void)state;
    out = address;
    assert_int_equal(shim_launch(&launch), 0);
    assert_int_equal(shim_status(true), 0);
    assert_true(*out == b + a);
    launch.block[0] = 65;
    assert_int_equal(shim_launch(&launch), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    launch.block[0] = 1;
    launch.parameters = NULL;
    assert_int_equal(shim_launch(&launch), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_free(address, SHIM_DEVICE_MEMORY, false), 0);
}

static void test_bad_images(void **state)
{
    static const char cubin[64] = "\177ELF";
    struct shim_module *other;

    (void)state;
    assert_int_equal(shim_module_load("this is no PTX at all", &other), CUDA_ERROR_INVALID_PTX);
    assert_int_equal(shim_module_load(cubin, &other), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(shim_module_load(NULL, &other), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_module_unload((struct shim_module *)&other), CUDA_ERROR_INVALID_HANDLE);
}

/* The last test: the device stays lost. */
static void test_fault(void **state)
{
    struct shim_launch launch = {.function = function("wild"), .grid = {1, 1, 1}, .block = {1, 1, 1}};

    (void)state;
    assert_int_equal(shim_launch(&launch), 0);
    assert_int_equal(shim_status(false), 0); /* nobody has waited yet */
    assert_int_equal(shim_status(true), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(shim_status(false), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(shim_launch(&launch), 0); /* enqueued, never run */
}

static int start_device(void **state)
{
    (void)state;
    return setenv("PTXBENCH_EMU_QUIET", "1", 1) || setenv("PTXBENCH_EMU_MEMORY", "64M", 1) || shim_start() ||
           shim_module_load(ptx, &module);
}

static int unload(void **state)
{
    (void)state;
    return shim_module_unload(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),    cmocka_unit_test(test_attributes), cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_variable), cmocka_unit_test(test_launch),     cmocka_unit_test(test_bad_images),
        cmocka_unit_test(test_fault),
    };

    return cmocka_run_group_tests(tests, start_device, unload);
}
