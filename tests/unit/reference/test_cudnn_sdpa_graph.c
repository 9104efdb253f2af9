/* The attention graphs against the installed cuDNN, without a GPU: for Hopper and Blackwell devices described in JSON,
 * the library's heuristics must find engines. Skipped where libcudnn.so.9 is missing, or a libcuda.so.1, which cuDNN
 * wants to load although nothing here calls it: the toolkit's stub serves. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reference/cudnn_sdpa_graph.h"

/* What cuDNN asks of a device, in its own format; %d is the compute capability times 100. */
static const char device_format[] =
    "{\"deviceVer\":%d,\"driverVer\":13000,\"cudaDeviceId\":0,\"deviceName\":\"GPU\",\"pciDeviceId\":0,"
    "\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],\"multiProcessorCount\":132,"
    "\"warpSize\":32,\"regsPerBlock\":65536,\"maxRegistersPerSM\":65536,\"maxSharedMemoryPerBlock\":49152,"
    "\"maxSharedMemoryPerBlockOptin\":232448,\"reservedSharedMemoryPerBlock\":1024,\"maxCtasPerSM\":32,"
    "\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,\"isTccDriver\":0,\"supportCoopLaunch\":1,"
    "\"totalGlobalMem\":150754820096,\"l2CacheSize\":62914560,\"smClockRateKHz\":1980000,"
    "\"memClockRateKHz\":3201000,\"memoryBusWidth\":6144}";

enum { HOPPER = 900, BLACKWELL = 1000 };

/* cuDNN and the compiler inside it never free their caches. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static const struct cudnn_api *load_or_skip(void)
{
    const struct cudnn_api *api = NULL;
    struct error error;

    /* once loaded, the stub answers to its soname libcuda.so.1 */
    if (!dlopen("libcuda.so.1", RTLD_NOW) && !dlopen("/usr/local/cuda/lib64/stubs/libcuda.so", RTLD_NOW))
        skip();
    if (!cudnn_load(&api, &error))
        skip();
    return api;
}

static const struct reference_problem paper_forward = {
    .kind = REFERENCE_MHA_FORWARD,
    .dtype = DTYPE_BFLOAT16,
    .batch = 4,
    .heads = 48,
    .sequence = 4096,
    .head_dim = 128,
    .with_lse = true,
};

static int count_engines(const struct cudnn_api *api, int capability, const struct reference_problem *problem,
                         struct error *error)
{
    char text[1024];
    struct cudnn_graph graph;
    dnn_descriptor configs[8];
    int count = 0;

    int length = snprintf(text, sizeof text, device_format, capability);
    cudnn_graph_init(&graph, api);
    dnn_descriptor device = cudnn_graph_create(&graph, DNN_DEVICE_PROPERTIES);
    cudnn_graph_set(&graph, device, DNN_ATTR_DEVICEPROP_JSON, DNN_TYPE_CHAR, length + 1, text);
    cudnn_graph_finalize(&graph, device, "device properties");
    cudnn_sdpa_describe(&graph, problem);
    bool ok = cudnn_graph_configs(&graph, NULL, device, configs, 8, &count, error);
    if (ok)
        assert_true(cudnn_graph_engine_index(&graph, configs[0]) >= 0);
    cudnn_graph_free(&graph);
    return ok ? count : -1;
}

static void engines_exist_for_the_papers_attention(void **state)
{
    (void)state;
    const struct cudnn_api *api = load_or_skip();
    static const int64_t dims[] = {64, 96, 128};
    struct error error = {0};

    for (size_t i = 0; i < ARRAY_LEN(dims); i++)
        for (int variant = 0; variant < 8; variant++) {
            struct reference_problem problem = paper_forward;
            problem.kind = variant & 1 ? REFERENCE_MHA_BACKWARD : REFERENCE_MHA_FORWARD;
            problem.causal = variant & 2;
            problem.head_dim = dims[i];
            if (count_engines(api, variant & 4 ? BLACKWELL : HOPPER, &problem, &error) < 1)
                fail_msg("d%d variant %d: %s", (int)dims[i], variant, error.message);
        }
}

static void engines_exist_for_other_forwards(void **state)
{
    (void)state;
    const struct cudnn_api *api = load_or_skip();
    struct error error = {0};
    struct reference_problem wide = paper_forward, half = paper_forward, short_sequence = paper_forward;

    wide.head_dim = 256;
    half.dtype = DTYPE_FLOAT16;
    short_sequence.sequence = 512;
    assert_true(count_engines(api, HOPPER, &wide, &error) >= 1);
    assert_true(count_engines(api, HOPPER, &half, &error) >= 1);
    assert_true(count_engines(api, HOPPER, &short_sequence, &error) >= 1);
}

static void an_odd_head_dim_is_refused_as_unsupported(void **state)
{
    (void)state;
    const struct cudnn_api *api = load_or_skip();
    struct error error = {0};
    struct reference_problem odd = paper_forward;

    odd.head_dim = 127;
    assert_int_equal(count_engines(api, HOPPER, &odd, &error), -1);
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_null(strchr(error.message, '\n'));
    assert_non_null(strstr(error.message, "not a multiple of 8")); /* cuDNN's own reason */
}

static void a_graph_keeps_its_first_error(void **state)
{
    (void)state;
    const struct cudnn_api *api = load_or_skip();
    struct cudnn_graph graph;
    struct error error = {0};
    dnn_descriptor config;
    int count = 0;
    struct cudnn_tensor impossible = {.uid = 1, .dims = {0, -1, 1, 1}, .strides = {1, 1, 1, 1}};
    struct cudnn_tensor fine = {.uid = 2, .dims = {1, 1, 1, 1}, .strides = {1, 1, 1, 1}};

    cudnn_graph_init(&graph, api);
    (void)cudnn_graph_tensor(&graph, &impossible);
    assert_true(graph.failed);
    int owned = graph.owned_count;
    assert_null(cudnn_graph_tensor(&graph, &fine));
    assert_int_equal(graph.owned_count, owned);
    assert_false(cudnn_graph_configs(&graph, NULL, NULL, &config, 1, &count, &error));
    assert_memory_equal(&error, &graph.error, sizeof error);
    cudnn_graph_free(&graph);
}

static bool names(const int64_t *ids, int count, int64_t id)
{
    for (int i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static void the_variant_pack_names_what_the_graph_uses(void **state)
{
    (void)state;
    int64_t ids[SDPA_TENSOR_LIMIT];
    struct reference_problem problem = paper_forward;

    int count = cudnn_sdpa_tensors(&problem, ids);
    assert_int_equal(count, 6); /* Q K V O LSE scale */
    assert_true(names(ids, count, SDPA_LSE));
    assert_false(names(ids, count, SDPA_MASKED));

    problem.causal = true;
    count = cudnn_sdpa_tensors(&problem, ids);
    assert_int_equal(count, 7);
    assert_true(names(ids, count, SDPA_MASKED));

    problem.kind = REFERENCE_MHA_BACKWARD;
    count = cudnn_sdpa_tensors(&problem, ids);
    assert_int_equal(count, SDPA_TENSOR_LIMIT - 1); /* everything */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_exist_for_the_papers_attention),
        cmocka_unit_test(engines_exist_for_other_forwards),
        cmocka_unit_test(an_odd_head_dim_is_refused_as_unsupported),
        cmocka_unit_test(a_graph_keeps_its_first_error),
        cmocka_unit_test(the_variant_pack_names_what_the_graph_uses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
