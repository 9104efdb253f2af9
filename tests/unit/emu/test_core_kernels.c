/* Plain CUDA kernels, compiled by nvcc when the test runs, on the emulator, against the same computation in C. */
#include "emu_test.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../emu/nvcc_ptx.h"
#include "emu/emulator.h"

enum { PTX_MAX = 4 << 20 };

static struct emulator *emulator;
static struct emulator_module *module;
static struct arena *arena;
static struct emulator_report report;

static int setup(void **state)
{
    struct error error = {0};
    AUTO_BUFFER ptx = buffer_new(PTX_MAX);

    (void)state;
    arena = arena_new();
    if (!emulator_new("sm_90a", &emulator, &error) ||
        !nvcc_ptx(SOURCE_ROOT "/tests/emu/core_kernels.cu", &ptx, &error) ||
        !emulator_load(emulator, "core_kernels.ptx", ptx.data, ptx.length, &module, &error))
        fail_msg("%s", error.message);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    emulator_unload(emulator, module);
    emulator_free(emulator);
    arena_free(arena);
    return 0;
}

struct shape {
    uint32_t grid[2], block[2];
    uint32_t cluster, shared;
};

/* Parameters: every value is given as 8 bytes and laid out by `sizes`, a digit each. */
static enum emulator_outcome launch(const char *kernel, struct shape shape, const char *sizes, const uint64_t *values)
{
    uint8_t parameters[256] = {0};
    size_t end = 0;
    struct error error = {0};

    for (size_t i = 0; sizes[i]; i++) {
        size_t size = (size_t)(sizes[i] - '0');

        end = (end + size - 1) / size * size;
        memcpy(parameters + end, &values[i], size);
        end += size;
    }

    struct emulator_launch launch = {.module = module,
                                     .entry = emulator_find_entry(module, kernel),
                                     .grid = {shape.grid[0], shape.grid[1] ? shape.grid[1] : 1, 1},
                                     .block = {shape.block[0], shape.block[1] ? shape.block[1] : 1, 1},
                                     .cluster = {shape.cluster ? shape.cluster : 1, 1, 1},
                                     .shared_bytes = shape.shared,
                                     .parameters = parameters,
                                     .parameter_bytes = end};

    emu_findings_clear(emulator_findings(emulator));
    if (!emulator_launch(emulator, &launch, UINT64_C(200) << 20, arena, &report, &error))
        fail_msg("%s", error.message);
    if (report.unsupported)
        fail_msg("%s", report.unsupported);
    return report.outcome;
}

static void expect_clean(enum emulator_outcome outcome)
{
    const struct emu_findings *findings = emulator_findings(emulator);

    for (size_t i = 0; i < emu_findings_count(findings); i++)
        print_message("%s: %s (%s:%u)\n", emu_code_text(emu_findings_at(findings, i)->code),
                      emu_findings_at(findings, i)->message, emu_findings_at(findings, i)->source.file,
                      emu_findings_at(findings, i)->source.line);
    assert_int_equal(outcome, EMULATOR_COMPLETED);
    assert_int_equal(emu_findings_count(findings), 0);
}

static void *device(size_t bytes)
{
    void *memory = emu_memory_allocate(emulator_memory(emulator), bytes);

    assert_non_null(memory);
    memset(memory, 0, bytes);
    return memory;
}

static uint64_t bits(float value)
{
    uint32_t raw;

    memcpy(&raw, &value, sizeof raw);
    return raw;
}

#define POINTER(p) ((uint64_t)(uintptr_t)(p))

static float noise(int i)
{
    return (float)((i * 7919 + 13) % 1000) / 250.0f - 2.0f;
}

static void test_saxpy(void **state)
{
    enum { COUNT = 1000 };
    float *x = device(COUNT * 4), *y = device(COUNT * 4);

    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = noise(i), y[i] = noise(i + 7);
    expect_clean(launch("saxpy", (struct shape){{8}, {128}, 0, 0}, "4488",
                        (uint64_t[]){COUNT, bits(3), POINTER(x), POINTER(y)}));
    for (int i = 0; i < COUNT; i++)
        assert_true(y[i] == fmaf(3, noise(i), noise(i + 7)));
    assert_int_equal(report.opcode_warps[PTX_OP_FMA], 32);
}

static void test_out_of_bounds(void **state)
{
    float *x = device(400), *y = device(400);

    (void)state;
    assert_int_equal(
        launch("saxpy", (struct shape){{1}, {128}, 0, 0}, "4488", (uint64_t[]){101, bits(3), POINTER(x), POINTER(y)}),
        EMULATOR_FAULTED);

    const struct emu_finding *finding = emu_findings_at(emulator_findings(emulator), 0);

    assert_int_equal(finding->code, EMU_GLOBAL_OUT_OF_BOUNDS);
    assert_non_null(strstr(finding->source.file, "core_kernels.cu"));
    assert_int_equal(finding->source.line, 12);
    assert_int_equal(finding->lane, 4);
    assert_int_equal(finding->warp, 3);
    assert_non_null(strstr(finding->message, "read of 4 bytes"));
    assert_non_null(strstr(finding->message, "4 bytes behind the end of allocation"));
}

static void test_reduce(void **state)
{
    enum { COUNT = 5000 };
    float *x = device(COUNT * 4), *sum = device(4);
    double expected = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = noise(i), expected += (double)x[i];
    expect_clean(
        launch("reduce", (struct shape){{3}, {256}, 0, 0}, "488", (uint64_t[]){COUNT, POINTER(x), POINTER(sum)}));
    assert_true(fabs((double)*sum - expected) < 1e-2);
}

static void test_gemm(void **state)
{
    enum { M = 35, N = 50, K = 29 };
    float *a = device(M * K * 4), *b = device(K * N * 4), *c = device(M * N * 4);

    (void)state;
    for (int i = 0; i < M * K; i++)
        a[i] = noise(i);
    for (int i = 0; i < K * N; i++)
        b[i] = noise(i + 3);
    expect_clean(launch("gemm", (struct shape){{4, 3}, {16, 16}, 0, 0}, "444888",
                        (uint64_t[]){M, N, K, POINTER(a), POINTER(b), POINTER(c)}));
    for (int row = 0; row < M; row++) {
        for (int column = 0; column < N; column++) {
            float sum = 0;

            for (int i = 0; i < K; i++)
                sum = fmaf(a[row * K + i], b[i * N + column], sum);
            assert_true(c[row * N + column] == sum);
        }
    }
}

static void test_histogram(void **state)
{
    enum { COUNT = 3000 };
    uint8_t *x = device(COUNT);
    uint32_t *bins = device(1024), expected[256] = {0};

    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = (uint8_t)(i * i % 251), expected[x[i]]++;
    expect_clean(
        launch("histogram", (struct shape){{4}, {96}, 0, 1024}, "488", (uint64_t[]){COUNT, POINTER(x), POINTER(bins)}));
    assert_memory_equal(bins, expected, sizeof expected);
}

static void test_histogram_without_shared_memory(void **state)
{
    uint8_t *x = device(100);
    uint32_t *bins = device(1024);

    (void)state;
    assert_int_equal(
        launch("histogram", (struct shape){{1}, {64}, 0, 512}, "488", (uint64_t[]){100, POINTER(x), POINTER(bins)}),
        EMULATOR_FAULTED);
    assert_int_equal(emu_findings_at(emulator_findings(emulator), 0)->code, EMU_SHARED_OUT_OF_BOUNDS);
}

static void test_print(void **state)
{
    char *word = device(16);

    (void)state;
    strcpy(word, "lane");
    expect_clean(launch("print", (struct shape){{1}, {32}, 0, 0}, "48", (uint64_t[]){2, POINTER(word)}));
    assert_string_equal(emulator_printed(emulator),
                        "lane 0 of  0.00% 123456789abc z\nlane 1 of 12.50% 123456789abc z\n");
}

static int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void test_recurse(void **state)
{
    int *out = device(64 * 4);

    (void)state;
    expect_clean(launch("recurse", (struct shape){{1}, {64}, 0, 0}, "8", (uint64_t[]){POINTER(out)}));
    for (int i = 0; i < 64; i++)
        assert_int_equal(out[i], fibonacci(i % 12));
}

static void test_structures(void **state)
{
    enum { COUNT = 64 };
    double *x = device((COUNT + 1) * 8), *out = device(COUNT * 8);

    (void)state;
    for (int i = 0; i <= COUNT; i++)
        x[i] = (double)noise(i);
    expect_clean(
        launch("structures", (struct shape){{1}, {COUNT}, 0, 0}, "88", (uint64_t[]){POINTER(x), POINTER(out)}));
    for (int lane = 0; lane < COUNT; lane++) {
        bool first = x[lane] < x[lane + 1];
        int sum = 0, table[5];

        for (int i = 0; i < 5; i++)
            table[i] = (i + 1) * (first ? 1 : 10);
        table[lane % 5] += lane;
        for (int i = 0; i < 5; i++)
            sum += table[(i + lane) % 5] * (i + 1);
        assert_true(out[lane] == (first ? x[lane] : x[lane + 1]) + sum + (first ? 1 : 2));
    }
}

static void test_grid_barrier(void **state)
{
    enum { CTAS = 24 };
    uint32_t *flags = device(CTAS * 4), *out = device(CTAS * 4), *arrived = NULL;
    void *address;
    size_t bytes;

    (void)state;
    if (module && emulator_find_variable(module, "arrived", &address, &bytes)) {
        arrived = address;
        *arrived = 0;
    }
    expect_clean(
        launch("grid_barrier", (struct shape){{CTAS}, {64}, 0, 0}, "88", (uint64_t[]){POINTER(flags), POINTER(out)}));
    for (int i = 0; i < CTAS; i++)
        assert_int_equal(out[i], CTAS * (CTAS + 1) / 2);
    /* A grid that does not fit on the device cannot pass such a barrier. */
    assert_non_null(arrived);
    *arrived = 0;
    assert_int_equal(launch("grid_barrier", (struct shape){{132 * 32 + 1}, {64}, 0, 0}, "88",
                            (uint64_t[]){POINTER(device((132 * 32 + 1) * 4)), POINTER(device((132 * 32 + 1) * 4))}),
                     EMULATOR_DEADLOCKED);
}

static void test_spin_lock(void **state)
{
    uint32_t *lock = device(4), *counter = device(4);

    (void)state;
    expect_clean(
        launch("spin_lock", (struct shape){{3}, {64}, 0, 0}, "88", (uint64_t[]){POINTER(lock), POINTER(counter)}));
    assert_int_equal(*counter, 192);
}

static void test_cluster_sum(void **state)
{
    uint32_t *out = device(8 * 64 * 4);

    (void)state;
    expect_clean(launch("cluster_sum", (struct shape){{8}, {64}, 4, 0}, "8", (uint64_t[]){POINTER(out)}));
    for (uint32_t i = 0; i < 8 * 64; i++)
        assert_int_equal(out[i], 600 + 4 * (i % 64));
}

static int find_first_set(uint32_t x)
{
    return x ? __builtin_ctz(x) + 1 : 0;
}

static uint32_t reverse(uint32_t x)
{
    uint32_t result = 0;

    for (int i = 0; i < 32; i++)
        result |= (x >> i & 1) << (31 - i);
    return result;
}

static float round_to(float value, int mantissa_bits)
{
    int exponent;

    frexpf(value, &exponent);
    return ldexpf(rintf(ldexpf(value, mantissa_bits - exponent)), exponent - mantissa_bits);
}

static double arithmetic(float v, int i)
{
    uint32_t u = (uint32_t)i;
    double sum = (double)(round_to(v, 11) + round_to(v, 8));

    sum += (double)(i / 7 + i % 5 + (i >> 3) + __builtin_popcount(u) + (u ? __builtin_clz(u) : 32) + (int)v +
                    (long long)(v * 1000.0f));
    sum += (double)(sqrtf(fabsf(v)) + 1.0f / (v + 100.0f) + fminf(v, 2.0f) + fmaxf(v, -1.0f) + floorf(v) + rintf(v));
    sum += (double)v * 0.5 + sqrt(fabs((double)v)) + (double)(reverse(u) % 1000) + find_first_set(u);
    sum += (int16_t)i + (int8_t)i + (uint16_t)i + (uint8_t)i;
    sum += (double)(expf(v * 0.1f) + logf(fabsf(v) + 1.0f) + sinf(v) + cosf(v) + tanhf(v) + powf(fabsf(v), 0.5f));
    sum += (double)((uint64_t)u * UINT64_C(0x123456789) >> 20) / ((i & 15) + 1);
    return sum;
}

static void test_arithmetic(void **state)
{
    enum { COUNT = 256 };
    float *x = device(COUNT * 4);
    int *n = device(COUNT * 4);
    double *out = device(COUNT * 8);

    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = noise(i) * 7, n[i] = (i - 100) * 12345;
    expect_clean(launch("arithmetic", (struct shape){{1}, {COUNT}, 0, 0}, "888",
                        (uint64_t[]){POINTER(x), POINTER(n), POINTER(out)}));
    for (int i = 0; i < COUNT; i++) {
        double expected = arithmetic(x[i], n[i]);

        if (fabs(out[i] - expected) > 1e-4 + 1e-7 * fabs(expected))
            fail_msg("%d: %.9g, expected %.9g", i, out[i], expected);
    }
}

static int switches(int value)
{
    for (int step = 0; step < 6; step++) {
        switch ((value + step) & 7) {
        case 0:
            value = value * 3 + 1;
            break;
        case 1:
            value ^= 0x55;
            break;
        case 2:
            value -= step * 11;
            break;
        case 3:
            break; /* a lane reads itself */
        case 4:
            value = -value;
            break;
        case 5:
            if (value > 1000)
                return value;
            value += 997;
            break;
        default:
            value = value / 3 + 7;
            break;
        }
    }
    return value;
}

static void test_switches(void **state)
{
    enum { COUNT = 128 };
    int *n = device(COUNT * 4), *out = device(COUNT * 4);

    (void)state;
    for (int i = 0; i < COUNT; i++)
        n[i] = (i * 37) % 200 - 60;
    expect_clean(launch("switches", (struct shape){{1}, {COUNT}, 0, 0}, "88", (uint64_t[]){POINTER(n), POINTER(out)}));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], switches(n[i]));
}

static void test_missing_arrival(void **state)
{
    (void)state;
    assert_int_equal(launch("missing_arrival", (struct shape){{1}, {96}, 0, 0}, "", NULL), EMULATOR_DEADLOCKED);

    const struct emu_finding *finding = emu_findings_at(emulator_findings(emulator), 0);

    assert_int_equal(finding->code, EMU_DEADLOCK);
    assert_non_null(strstr(finding->message, "CTA (0,0,0) warps 0-1 at core_kernels.cu:"));
    assert_non_null(strstr(finding->message, "barrier 1: 64 of 96 threads arrived"));
    assert_true(finding->source.line > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saxpy),           cmocka_unit_test(test_out_of_bounds),
        cmocka_unit_test(test_reduce),          cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_histogram),       cmocka_unit_test(test_histogram_without_shared_memory),
        cmocka_unit_test(test_print),           cmocka_unit_test(test_recurse),
        cmocka_unit_test(test_structures),      cmocka_unit_test(test_grid_barrier),
        cmocka_unit_test(test_spin_lock),       cmocka_unit_test(test_cluster_sum),
        cmocka_unit_test(test_arithmetic),      cmocka_unit_test(test_switches),
        cmocka_unit_test(test_missing_arrival),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
