#include "emu_group.h"

#include <math.h>

#include "emu/fragment.h"
#include "emu/number_format.h"
#include "emu/smem_layout.h"

struct shape {
    int n;
    enum number_format a, b;
    const char *types; /* of the instruction: result, A, B */
    enum { F32, F16, S32 } result;
    bool a_registers, a_trans, b_trans, negate_a, negate_b;
    int scale_d; /* of the first of two products */
    enum smem_swizzle swizzle;
};

static const struct shape shapes[] = {
    {256, NUMBER_BF16, NUMBER_BF16, "f32.bf16.bf16", F32, .scale_d = 1, .swizzle = SMEM_SWIZZLE_128B},
    {8, NUMBER_BF16, NUMBER_BF16, "f32.bf16.bf16", F32, .scale_d = 0, .swizzle = SMEM_SWIZZLE_NONE},
    {64, NUMBER_BF16, NUMBER_BF16, "f32.bf16.bf16", F32, .scale_d = 1, .b_trans = true, .swizzle = SMEM_SWIZZLE_128B},
    {72, NUMBER_F16, NUMBER_F16, "f32.f16.f16", F32, .scale_d = 1, .a_trans = true, .swizzle = SMEM_SWIZZLE_NONE},
    {160, NUMBER_F16, NUMBER_F16, "f16.f16.f16", F16, .scale_d = 1, .negate_a = true, .swizzle = SMEM_SWIZZLE_64B},
    {128, NUMBER_BF16, NUMBER_BF16, "f32.bf16.bf16", F32, .a_registers = true, .scale_d = 1, .b_trans = true,
     .negate_b = true, .swizzle = SMEM_SWIZZLE_128B},
    {24, NUMBER_TF32, NUMBER_TF32, "f32.tf32.tf32", F32, .scale_d = 1, .swizzle = SMEM_SWIZZLE_32B},
    {32, NUMBER_TF32, NUMBER_TF32, "f32.tf32.tf32", F32, .a_registers = true, .scale_d = 0,
     .swizzle = SMEM_SWIZZLE_32B},
    {96, NUMBER_E4M3, NUMBER_E5M2, "f32.e4m3.e5m2", F32, .scale_d = 1, .swizzle = SMEM_SWIZZLE_128B},
    {16, NUMBER_E5M2, NUMBER_E4M3, "f16.e5m2.e4m3", F16, .a_registers = true, .scale_d = 1,
     .swizzle = SMEM_SWIZZLE_64B},
    {64, NUMBER_S8, NUMBER_U8, "s32.s8.u8", S32, .scale_d = 1, .swizzle = SMEM_SWIZZLE_128B},
    {32, NUMBER_U8, NUMBER_S8, "s32.u8.s8", S32, .a_registers = true, .scale_d = 0, .swizzle = SMEM_SWIZZLE_32B},
};

enum { B_OFFSET = 16384, IMAGE_BYTES = 49152, BASE = 2048 /* of dynamic shared memory that is aligned to 1024 */ };

static int registers_of(const struct shape *s)
{
    return s->n / (s->result == F16 ? 4 : 2);
}

/* A descriptor under which an operand of `rows` fits below 16 (A) or 32 KiB (B). */
static uint64_t descriptor_of(const struct shape *s, uint32_t start, int bytes, int rows, bool trans)
{
    struct wgmma_descriptor d = {.start = start, .swizzle = s->swizzle};
    uint32_t span = smem_swizzle_span(s->swizzle);

    (void)bytes;
    if (s->swizzle == SMEM_SWIZZLE_NONE && trans) {
        d.leading_offset = (uint32_t)rows * 16; /* next 8 k */
        d.stride_offset = 128;                  /* next 8 rows */
    } else if (s->swizzle == SMEM_SWIZZLE_NONE) {
        d.leading_offset = 128; /* next 16 bytes of k */
        d.stride_offset = 256;  /* next 8 rows */
    } else if (trans) {
        d.leading_offset = 16 * span; /* next span of rows: 16 k lie before it */
        d.stride_offset = 8 * span;   /* next 8 k */
    } else {
        d.leading_offset = 16;
        d.stride_offset = 8 * span;
    }
    return wgmma_descriptor_encode(&d);
}

/* Random elements of an operand: values by row and k, and the bits where the descriptor says. */
static void fill_operand(uint64_t descriptor, enum number_format format, int rows, bool trans, uint64_t *seed,
                         float *values, uint8_t *image)
{
    struct smem_operand operand;
    struct error error;
    int bytes = number_bytes(format), k = 32 / bytes;

    if (!smem_operand_init(&operand, descriptor, bytes, rows, trans, &error))
        fail_msg("%s", error.message);
    for (int row = 0; row < rows; row++) {
        for (int kk = 0; kk < k; kk++) {
            int value = (int)random_below(seed, 9) - (format == NUMBER_U8 ? 0 : 4);
            uint32_t bits = number_encode(format, value, NUMBER_RN, 0);
            values[row * k + kk] = (float)value;
            if (image)
                memcpy(image + smem_operand_address(&operand, row, kk) - BASE, &bits, (size_t)bytes);
        }
    }
}

static void append_list(struct buffer *out, const char *prefix, int count)
{
    (void)buffer_append_text(out, "{");
    for (int i = 0; i < count; i++)
        (void)buffer_printf(out, "%s%s%d", i ? ", " : "", prefix, i);
    (void)buffer_append_text(out, "}");
}

static void append_mma(struct buffer *out, const struct shape *s, const char *predicate)
{
    int k = 32 / number_bytes(s->a);

    (void)buffer_printf(out, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s ", s->n, k, s->types);
    append_list(out, "%d", registers_of(s));
    (void)buffer_append_text(out, ", ");
    if (s->a_registers)
        append_list(out, "%a", 4);
    else
        (void)buffer_append_text(out, "%rd10");
    (void)buffer_printf(out, ", %%rd11, %s", predicate);
    if (s->result != S32)
        (void)buffer_printf(out, ", %d, %d", s->negate_a ? -1 : 1, s->negate_b ? -1 : 1);
    if (s->result != S32 && number_bytes(s->a) == 2)
        (void)buffer_printf(out, s->a_registers ? ", %d" : ", %d, %d", s->a_registers ? s->b_trans : s->a_trans,
                            s->b_trans);
    (void)buffer_append_text(out, ";\n");
}

/* Image into shared memory, D = 3 in every register, two products, D to memory. p0: image, p1: A registers, p2: D. */
static void append_kernel(struct buffer *out, const struct shape *s, uint64_t a, uint64_t b)
{
    int count = registers_of(s);
    const char *three = s->result == F32 ? "0x40400000" : s->result == F16 ? "0x42004200" : "3";

    (void)buffer_printf(
        out,
        ".reg .pred %%p<8>; .reg .b32 %%r<8>; .reg .b32 %%d<128>; .reg .b32 %%a<4>; .reg .b64 %%rd<16>;\n"
        "mov.u32 %%r1, %%tid.x; ld.param.u64 %%rd1, [p0]; ld.param.u64 %%rd2, [p1]; ld.param.u64 %%rd3, [p2];\n"
        "setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra READY;\n"
        "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], %d;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [dynamic], [%%rd1], %d, [bar];\n"
        "READY: bar.sync 0;\n"
        "W: mbarrier.try_wait.parity.shared.b64 %%p2, [bar], 0; @!%%p2 bra W;\n"
        "mul.wide.u32 %%rd4, %%r1, 16; add.u64 %%rd2, %%rd2, %%rd4;\n"
        "ld.global.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%rd2];\n"
        "mov.b64 %%rd10, 0x%llx; mov.b64 %%rd11, 0x%llx;\n",
        IMAGE_BYTES, IMAGE_BYTES, (unsigned long long)a, (unsigned long long)b);
    for (int i = 0; i < count; i++)
        (void)buffer_printf(out, "mov.b32 %%d%d, %s;\n", i, three);
    (void)buffer_printf(out, "setp.ne.u32 %%p3, %d, 0; wgmma.fence.sync.aligned;\n", s->scale_d);
    append_mma(out, s, "%p3");
    append_mma(out, s, "1");
    (void)buffer_printf(out,
                        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
                        "mul.wide.u32 %%rd4, %%r1, %d; add.u64 %%rd3, %%rd3, %%rd4;\n",
                        count * 4);
    for (int i = 0; i < count; i++)
        (void)buffer_printf(out, "st.global.b32 [%%rd3+%d], %%d%d;\n", i * 4, i);
}

static float result_at(const struct shape *s, const uint32_t *d, int row, int column)
{
    int parts = s->result == F16 ? 2 : 1;
    struct fragment fragment = fragment_wgmma_d(s->n, parts);
    struct fragment_slot slot = fragment_find(&fragment, row, column);
    uint32_t bits = d[slot.thread * registers_of(s) + slot.register_index];
    float value;

    if (s->result == S32)
        return (float)(int32_t)bits;
    if (s->result == F16)
        return number_decode(NUMBER_F16, slot.part ? bits >> 16 : bits & 0xffff);
    memcpy(&value, &bits, 4);
    return value;
}

#define WGMMA_VARIABLES ".extern .shared .align 1024 .b8 dynamic[]; .shared .align 8 .b8 bar[8];"

static void check_shape(const struct shape *s, size_t index)
{
    int bytes = number_bytes(s->a), k = 32 / bytes;
    uint64_t a_bits = descriptor_of(s, BASE, bytes, 64, s->a_trans);
    uint64_t b_bits = descriptor_of(s, BASE + B_OFFSET, bytes, s->n, s->b_trans), seed = index + 1;
    uint8_t *image = run_memory(emulator, IMAGE_BYTES);
    uint32_t *a_registers = run_memory(emulator, 128 * 16), *d = run_memory(emulator, 128 * 128 * 4);
    float a[64 * 32], b[256 * 32];
    struct fragment fragment = fragment_wgmma_a(4 / bytes);
    struct buffer body = buffer_new(1 << 20);

    fill_operand(a_bits, s->a, 64, s->a_trans, &seed, a, s->a_registers ? NULL : image);
    fill_operand(b_bits, s->b, s->n, s->b_trans, &seed, b, image);
    for (int row = 0; row < 64; row++) {
        for (int kk = 0; kk < k; kk++) {
            struct fragment_slot slot = fragment_find(&fragment, row, kk);
            uint32_t bits = number_encode(s->a, (double)a[row * k + kk], NUMBER_RN, 0);
            a_registers[slot.thread * 4 + slot.register_index] |= bits << (8 * bytes * slot.part) % 32;
        }
    }
    append_kernel(&body, s, a_bits, b_bits);
    for (int schedule = 0; schedule < RUN_SCHEDULES; schedule++) {
        struct run run = {.variables = WGMMA_VARIABLES,
                          .block = 128,
                          .shared_bytes = IMAGE_BYTES,
                          .schedule = run_schedules[schedule],
                          .parameters = {RUN_ADDRESS(image), RUN_ADDRESS(a_registers), RUN_ADDRESS(d)},
                          .body = body.data};
        run_snippet(emulator, &run);
        run_check_clean(&run);
        assert_int_equal(run.opcode_warps[PTX_OP_WGMMA], 4 * 5); /* fence, two products, commit, wait */
        for (int row = 0; row < 64; row++) {
            for (int column = 0; column < s->n; column++) {
                float sum = 0, sign = s->negate_a != s->negate_b ? -1.0f : 1.0f;
                for (int kk = 0; kk < k; kk++)
                    sum += a[row * k + kk] * b[column * k + kk];
                float expected = 2 * sign * sum + (s->scale_d ? 3.0f : 0.0f), got = result_at(s, d, row, column);
                if (got != expected)
                    fail_msg("shape %zu, schedule %d: D(%d, %d) is %g, expected %g", index, schedule, row, column,
                             (double)got, (double)expected);
            }
        }
    }
    buffer_free(&body);
}

static void computes_every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        check_shape(&shapes[i], i);
}

#define PRODUCT(d) "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 " d ", %rd10, %rd11, 1, 1, 1, 0, 0;\n"
#define ZERO_SHARED                                                                                                    \
    ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b32 %d<8>; .reg .b64 %rd<16>;\n"                                         \
    "mov.u32 %r1, %tid.x; ld.param.u64 %rd3, [p0]; mov.u32 %r2, 0; shl.b32 %r3, %r1, 5; mov.u32 %r4, tile;\n"          \
    "add.u32 %r4, %r4, %r3; st.shared.v4.u32 [%r4], {%r2, %r2, %r2, %r2};\n"                                           \
    "st.shared.v4.u32 [%r4+16], {%r2, %r2, %r2, %r2};\n"                                                               \
    "fence.proxy.async; bar.sync 0; mov.b64 %rd10, 0x1000080040; mov.b64 %rd11, %rd10;\n"                              \
    "mov.b32 %d0, 0x3f800000; mov.b32 %d1, %d0; mov.b32 %d2, %d0; mov.b32 %d3, %d0; wgmma.fence.sync.aligned;\n"
#define TILE ".shared .align 1024 .b8 tile[4096];"

/* Registers that are read before the wait hold NaN unless products land at once. */
static void early_reads_show(void **state)
{
    float *out = run_memory(emulator, 128 * 4);

    (void)state;
    for (uint32_t completion = 0; completion < 2; completion++) {
        struct run run = {.variables = TILE,
                          .block = 128,
                          .schedule = {.completion = completion},
                          .parameters = {RUN_ADDRESS(out)},
                          .body = ZERO_SHARED PRODUCT(
                              "{%d0, %d1, %d2, %d3}") "wgmma.commit_group.sync.aligned; bar.sync 0; mul.wide.u32 %rd4, "
                                                      "%r1, 4; add.u64 %rd3, %rd3, %rd4;\n"
                                                      "st.global.b32 [%rd3], %d1; wgmma.wait_group.sync.aligned 0;"};
        run_snippet(emulator, &run);
        run_check_finding(&run, EMULATOR_COMPLETED, "register_in_flight: this reads a register that a wgmma in flight");
        for (int i = 0; i < 128; i++)
            assert_true(completion ? isnan(out[i]) != 0 : out[i] == 1.0f);
    }
}

/* Registers that go on as the accumulators of another shape: it waits for the product before it. */
static void shapes_may_share_registers(void **state)
{
    float *out = run_memory(emulator, 128 * 4);

    (void)state;
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {
            .variables = TILE,
            .block = 128,
            .schedule = run_schedules[s],
            .parameters = {RUN_ADDRESS(out)},
            .body = ZERO_SHARED
            "mov.b32 %d4, %d0; mov.b32 %d5, %d0; mov.b32 %d6, %d0; mov.b32 %d7, %d0; "
            "wgmma.fence.sync.aligned;\n" PRODUCT(
                "{%d0, %d1, %d2, %d3}") "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3, "
                                        "%d4, "
                                        "%d5, %d6, %d7}, %rd10, %rd11, 1, 1, 1, 0, 0;\n"
                                        "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
                                        "mul.wide.u32 %rd4, %r1, 4; add.u64 %rd3, %rd3, %rd4; add.f32 %d1, %d1, %d7;\n"
                                        "st.global.b32 [%rd3], %d1;"};
        memset(out, 0, 128 * 4);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        for (int i = 0; i < 128; i++)
            assert_true(out[i] == 2.0f);
    }
}

struct bad {
    const char *body;
    uint32_t block;
    enum emulator_outcome outcome;
    const char *text;
};

static const struct bad bad_cases[] = {
    {ZERO_SHARED PRODUCT("{%d0, %d1, %d2, %d3}"), 96, EMULATOR_FAULTED,
     "incomplete_warpgroup: wgmma needs warps 0-3, but the CTA has 96 threads"},
    {ZERO_SHARED "setp.ge.u32 %p1, %r1, 96; @%p1 exit; bar.sync 1, 96;\n" PRODUCT("{%d0, %d1, %d2, %d3}"), 128,
     EMULATOR_FAULTED, "incomplete_warpgroup: the warpgroup is incomplete: all threads of warp 3 have exited"},
    {ZERO_SHARED "setp.ge.u32 %p1, %r1, 96; @%p1 bra AWAY;\n" PRODUCT(
         "{%d0, %d1, %d2, %d3}") "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; AWAY: bar.sync 0;",
     128, EMULATOR_DEADLOCKED, "0 of 1 products are complete, warp 3 has not issued its part"},
    {ZERO_SHARED "setp.lt.u32 %p1, %r1, 32; @%p1 add.u64 %rd10, %rd10, 2;\n" PRODUCT("{%d0, %d1, %d2, %d3}"), 128,
     EMULATOR_FAULTED, "the warps of the warpgroup have different operands"},
    {ZERO_SHARED "mov.b64 %rd10, 0x100008ffff;\n" PRODUCT("{%d0, %d1, %d2, %d3}"), 128, EMULATOR_FAULTED,
     "matrix_layout: matrix A"},
    {ZERO_SHARED "setp.eq.u32 %p1, %r1, 5; @%p1 bra AWAY;\n" PRODUCT("{%d0, %d1, %d2, %d3}") "AWAY: bar.sync 0;", 128,
     EMULATOR_FAULTED, "divergent_aligned"},
};

static void explains_misuse(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
        struct run run = {.variables = TILE, .block = bad_cases[i].block, .body = bad_cases[i].body};
        run_snippet(emulator, &run);
        run_check_finding(&run, bad_cases[i].outcome, bad_cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computes_every_kind),
        cmocka_unit_test(early_reads_show),
        cmocka_unit_test(shapes_may_share_registers),
        cmocka_unit_test(explains_misuse),
    };

    return cmocka_run_group_tests(tests, run_setup, run_teardown);
}
