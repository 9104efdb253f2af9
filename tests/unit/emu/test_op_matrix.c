/* ldmatrix, stmatrix, movmatrix and mma.sync. */
#include "emu_group.h"

#include "emu/fragment.h"
#include "emu/number_format.h"

#define MOVE_BEGIN                                                                                                     \
    ".reg .b32 %r<16>; .reg .b64 %rd<8>; mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];\n"     \
    "mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; mov.u32 %r2, tile;\n"             \
    "shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd1];\n"
#define MOVE_END "st.global.v4.b32 [%rd2], {%r8, %r9, %r10, %r11};"
#define TO_SHARED "st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};\n"
#define FROM_SHARED "bar.warp.sync -1; ld.shared.v4.b32 {%r8, %r9, %r10, %r11}, [%r2];\n"

struct move {
    const char *body;
    int count;
    bool transposed, stores;
};

static const struct move moves[] = {
    {MOVE_BEGIN TO_SHARED "mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r2];\n" MOVE_END,
     1, false, false},
    {MOVE_BEGIN TO_SHARED "mov.b32 %r10, 0; mov.b32 %r11, 0;\n"
                          "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r8, %r9}, [%r2];\n" MOVE_END,
     2, true, false},
    {MOVE_BEGIN TO_SHARED "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r2];\n" MOVE_END, 4,
     false, false},
    {MOVE_BEGIN TO_SHARED "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r8, %r9, %r10, %r11}, [%r2];\n" MOVE_END, 4,
     true, false},
    {MOVE_BEGIN "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r2], {%r4, %r5, %r6, %r7};\n" FROM_SHARED MOVE_END, 4,
     false, true},
    {MOVE_BEGIN "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r2], {%r4, %r5, %r6, %r7};\n" FROM_SHARED MOVE_END, 4,
     true, true},
};

/* Memory and registers as arrays of 16-bit elements: row of 8 at lane * 8, and (lane * 4 + register) * 2 + part. */
static void moves_matrices(void **state)
{
    uint16_t *in = run_memory(emulator, 512), *out = run_memory(emulator, 512);

    (void)state;
    for (int i = 0; i < 256; i++)
        in[i] = (uint16_t)(i + 1);
    for (size_t m = 0; m < sizeof moves / sizeof moves[0]; m++) {
        struct run run = {.variables = ".shared .align 16 .b8 tile[512];",
                          .block = 32,
                          .parameters = {RUN_ADDRESS(in), RUN_ADDRESS(out)},
                          .body = moves[m].body};
        struct fragment fragment = fragment_ldmatrix(moves[m].count, moves[m].transposed);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < 8; i++) {
                bool used = i / 2 < moves[m].count;
                struct fragment_element at = fragment_at(&fragment, lane, used ? i / 2 : 0, i % 2);
                int in_memory = at.row * 8 + at.column, in_registers = lane * 8 + i;
                uint16_t got = out[moves[m].stores ? in_memory : in_registers];
                uint16_t expected = used ? in[moves[m].stores ? in_registers : in_memory] : 0;
                if (got != expected)
                    fail_msg("case %zu, lane %d, element %d: %d, expected %d", m, lane, i, got, expected);
            }
        }
    }
}

static void transposes_registers(void **state)
{
    uint16_t *in = run_memory(emulator, 512), *out = run_memory(emulator, 512);
    struct fragment fragment = fragment_ldmatrix(1, false);

    (void)state;
    for (int i = 0; i < 256; i++)
        in[i] = (uint16_t)(i + 1);
    struct run run = {.variables = ".shared .align 16 .b8 tile[512];",
                      .block = 32,
                      .parameters = {RUN_ADDRESS(in), RUN_ADDRESS(out)},
                      .body = MOVE_BEGIN "mov.b32 %r9, 0; mov.b32 %r10, 0; mov.b32 %r11, 0;\n"
                                         "movmatrix.sync.aligned.m8n8.trans.b16 %r8, %r4;\n" MOVE_END};
    run_snippet(emulator, &run);
    run_check_clean(&run);
    for (int lane = 0; lane < 32; lane++) {
        for (int part = 0; part < 2; part++) {
            struct fragment_element at = fragment_at(&fragment, lane, 0, part);
            struct fragment_slot source = fragment_find(&fragment, at.column, at.row);
            assert_int_equal(out[lane * 8 + part], in[source.thread * 8 + source.part]);
        }
    }
}

struct product {
    const char *shape_types;
    int m, k;
    enum number_format a, b;
    enum { F32, F16, S32, F64 } result;
};

static const struct product products[] = {
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, NUMBER_BF16, NUMBER_BF16, F32},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, NUMBER_BF16, NUMBER_BF16, F32},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, NUMBER_F16, NUMBER_F16, F16},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 16, NUMBER_F16, NUMBER_F16, F32},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 16, NUMBER_F16, NUMBER_F16, F16},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, NUMBER_TF32, NUMBER_TF32, F32},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, NUMBER_TF32, NUMBER_TF32, F32},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 32, NUMBER_E4M3, NUMBER_E5M2, F32},
    {"m16n8k16.row.col.f32.e5m2.e4m3.f32", 16, 16, NUMBER_E5M2, NUMBER_E4M3, F32},
    {"m8n8k16.row.col.s32.u8.s8.s32", 8, 16, NUMBER_U8, NUMBER_S8, S32},
    {"m16n8k16.row.col.s32.s8.s8.s32", 16, 16, NUMBER_S8, NUMBER_S8, S32},
    {"m16n8k32.row.col.satfinite.s32.s8.u8.s32", 16, 32, NUMBER_S8, NUMBER_U8, S32},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 4, NUMBER_F32, NUMBER_F32, F64},
    {"m16n8k8.row.col.f64.f64.f64.f64", 16, 8, NUMBER_F32, NUMBER_F32, F64},
};

enum { LANE_BYTES = 64 };

/* Puts an element into, or reads one from, the registers of the lanes: LANE_BYTES for each. */
static uint8_t *element_place(uint8_t *lanes, const struct fragment *fragment, int row, int column, int bytes,
                              int register_bytes)
{
    struct fragment_slot slot = fragment_find(fragment, row, column);

    return lanes + slot.thread * LANE_BYTES + slot.register_index * register_bytes + slot.part * bytes;
}

static double to_number(const struct product *p, const uint8_t *bytes)
{
    double f64;
    float f32;
    uint16_t f16;
    int32_t s32;

    switch (p->result) {
    case F64:
        memcpy(&f64, bytes, 8);
        return f64;
    case F16:
        memcpy(&f16, bytes, 2);
        return (double)number_decode(NUMBER_F16, f16);
    case S32:
        memcpy(&s32, bytes, 4);
        return s32;
    default:
        memcpy(&f32, bytes, 4);
        return (double)f32;
    }
}

static void put_number(enum number_format format, bool f64, uint8_t *to, double value)
{
    uint32_t bits = number_encode(format, value, NUMBER_RN, 0);

    if (f64)
        memcpy(to, &value, 8);
    else
        memcpy(to, &bits, (size_t)number_bytes(format));
}

static void append_registers(struct buffer *out, char name, int count)
{
    (void)buffer_append_text(out, "{");
    for (int i = 0; i < count; i++)
        (void)buffer_printf(out, "%s%%%c%d", i ? ", " : "", name, i);
    (void)buffer_append_text(out, "}");
}

static void append_product(struct buffer *out, const struct product *p, int a, int b, int d)
{
    const char *type = p->result == F64 ? "b64" : "b32";
    int counts[3] = {a, b, d}, bytes = p->result == F64 ? 8 : 4;

    (void)buffer_printf(out,
                        ".reg .b32 %%r<4>; .reg .b64 %%rd<8>; .reg .%s %%a<8>; .reg .%s %%b<8>; .reg .%s %%d<8>;\n"
                        "mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd5, %%r1, %d;\n",
                        type, type, type, LANE_BYTES);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < counts[i]; k++)
            (void)buffer_printf(
                out, "ld.param.u64 %%rd1, [p%d]; add.u64 %%rd1, %%rd1, %%rd5; ld.global.%s %%%c%d, [%%rd1+%d];\n", i,
                type, "abd"[i], k, k * bytes);
    (void)buffer_printf(out, "mma.sync.aligned.%s ", p->shape_types);
    append_registers(out, 'd', d);
    (void)buffer_append_text(out, ", ");
    append_registers(out, 'a', a);
    (void)buffer_append_text(out, ", ");
    append_registers(out, 'b', b);
    (void)buffer_append_text(out, ", ");
    append_registers(out, 'd', d);
    (void)buffer_append_text(out, ";\n");
    for (int k = 0; k < d; k++)
        (void)buffer_printf(out, "st.global.%s [%%rd1+%d], %%d%d;\n", type, k * bytes, k);
}

static void check_product(const struct product *p, uint64_t seed)
{
    bool f64 = p->result == F64;
    int bytes = f64 ? 8 : number_bytes(p->a), parts = f64 ? 1 : 4 / bytes, width = f64 ? 8 : 4;
    int d_bytes = f64 ? 8 : p->result == F16 ? 2 : 4;
    enum number_format d_format = p->result == F16 ? NUMBER_F16 : NUMBER_F32;
    struct fragment fa = fragment_mma_a(p->m, p->k, parts), fb = fragment_mma_b(p->k, parts);
    struct fragment fd = fragment_mma_d(p->m, p->result == F16 ? 2 : 1);
    uint8_t *a = run_memory(emulator, 32 * LANE_BYTES), *b = run_memory(emulator, 32 * LANE_BYTES);
    uint8_t *d = run_memory(emulator, 32 * LANE_BYTES);
    double a_values[16][32], b_values[32][8], c_values[16][8];
    struct buffer body = buffer_new(1 << 16);

    for (int row = 0; row < p->m; row++)
        for (int k = 0; k < p->k; k++) {
            a_values[row][k] = (double)random_below(&seed, 9) - (p->a == NUMBER_U8 ? 0 : 4);
            put_number(p->a, f64, element_place(a, &fa, row, k, bytes, width), a_values[row][k]);
        }
    for (int k = 0; k < p->k; k++)
        for (int n = 0; n < 8; n++) {
            b_values[k][n] = (double)random_below(&seed, 9) - (p->b == NUMBER_U8 ? 0 : 4);
            put_number(p->b, f64, element_place(b, &fb, k, n, bytes, width), b_values[k][n]);
        }
    for (int row = 0; row < p->m; row++)
        for (int n = 0; n < 8; n++) {
            uint8_t *place = element_place(d, &fd, row, n, d_bytes, width);
            int32_t integer = (int32_t)random_below(&seed, 9) - 4;
            c_values[row][n] = integer;
            if (p->result == S32)
                memcpy(place, &integer, 4);
            else
                put_number(d_format, f64, place, c_values[row][n]);
        }
    append_product(&body, p, fa.registers, fb.registers, fd.registers);
    struct run run = {.block = 32, .parameters = {RUN_ADDRESS(a), RUN_ADDRESS(b), RUN_ADDRESS(d)}, .body = body.data};
    run_snippet(emulator, &run);
    run_check_clean(&run);
    for (int row = 0; row < p->m; row++)
        for (int n = 0; n < 8; n++) {
            double sum = c_values[row][n], got = to_number(p, element_place(d, &fd, row, n, d_bytes, width));
            for (int k = 0; k < p->k; k++)
                sum += a_values[row][k] * b_values[k][n];
            if (got != sum)
                fail_msg("%s: D(%d, %d) is %g, expected %g", p->shape_types, row, n, got, sum);
        }
    buffer_free(&body);
}

static void multiplies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        check_product(&products[i], i + 1);
}

static void needs_the_whole_warp(void **state)
{
    (void)state;
    struct run run = {.variables = ".shared .align 16 .b8 tile[512];",
                      .block = 32,
                      .body =
                          ".reg .pred %p1; .reg .b32 %r<4>; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 3;\n"
                          "@%p1 bra AWAY; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [tile]; AWAY: bar.sync 0;"};
    run_snippet(emulator, &run);
    run_check_finding(&run, EMULATOR_FAULTED, "divergent_aligned");
}

/* wmma: D = A * B + C out of and into memory; A by rows, B by columns, C and D as the case says. */
struct fragments {
    const char *shape, *ab_type, *types; /* of wmma.mma */
    int m, n, k, a_count, b_count, d_count;
    enum number_format format;
    bool d_by_columns;
};

static const struct fragments fragment_cases[] = {
    {"m16n16k16", "f16", "f32.f32", 16, 16, 16, 8, 8, 8, NUMBER_F16, false},
    {"m16n16k16", "bf16", "f32.bf16.bf16.f32", 16, 16, 16, 4, 4, 8, NUMBER_BF16, true},
    {"m32n8k16", "f16", "f32.f32", 32, 8, 16, 8, 8, 8, NUMBER_F16, true},
    {"m8n32k16", "bf16", "f32.bf16.bf16.f32", 8, 32, 16, 2, 8, 8, NUMBER_BF16, false},
};

static void check_fragments(const struct fragments *f)
{
    uint16_t *a = run_memory(emulator, 1024), *b = run_memory(emulator, 1024);
    float *d = run_memory(emulator, 1024);
    char body[2048];
    AUTO_BUFFER ra = buffer_new(256);
    AUTO_BUFFER rb = buffer_new(256);
    AUTO_BUFFER rd = buffer_new(256);
    const char *layout = f->d_by_columns ? "col" : "row";

    for (int i = 0; i < f->m * f->k; i++)
        a[i] = (uint16_t)number_encode(f->format, i % 13 - 6, NUMBER_RN, 0);
    for (int i = 0; i < f->n * f->k; i++)
        b[i] = (uint16_t)number_encode(f->format, i % 7 - 3, NUMBER_RN, 0);
    for (int i = 0; i < f->m * f->n; i++)
        d[i] = (float)i;
    append_registers(&ra, 'a', f->a_count);
    append_registers(&rb, 'b', f->b_count);
    append_registers(&rd, 'f', f->d_count);
    (void)snprintf(body, sizeof body,
                   ".reg .b32 %%a<8>; .reg .b32 %%b<8>; .reg .f32 %%f<8>; .reg .b64 %%rd<4>; .reg .b32 %%r<4>;\n"
                   "ld.param.u64 %%rd1, [p0]; ld.param.u64 %%rd2, [p1]; ld.param.u64 %%rd3, [p2]; mov.u32 %%r1, %d;\n"
                   "wmma.load.a.sync.aligned.row.%s.global.%s %s, [%%rd1], %%r1;\n"
                   "wmma.load.b.sync.aligned.col.%s.%s %s, [%%rd2], %d;\n"
                   "wmma.load.c.sync.aligned.%s.%s.global.f32 %s, [%%rd3];\n"
                   "wmma.mma.sync.aligned.row.col.%s.%s %s, %s, %s, %s;\n"
                   "wmma.store.d.sync.aligned.%s.%s.global.f32 [%%rd3], %s;\n",
                   f->k, f->shape, f->ab_type, ra.data, f->shape, f->ab_type, rb.data, f->k, layout, f->shape, rd.data,
                   f->shape, f->types, rd.data, ra.data, rb.data, rd.data, layout, f->shape, rd.data);
    struct run run = {.body = body, .block = 32, .parameters = {(uintptr_t)a, (uintptr_t)b, (uintptr_t)d}};

    run_snippet(emulator, &run);
    run_check_clean(&run);
    for (int row = 0; row < f->m; row++) {
        for (int column = 0; column < f->n; column++) {
            int at = f->d_by_columns ? column * f->m + row : row * f->n + column;
            float expected = (float)at;
            for (int k = 0; k < f->k; k++)
                expected += (float)((row * f->k + k) % 13 - 6) * (float)((column * f->k + k) % 7 - 3);
            assert_float_equal(d[at], expected, 0);
        }
    }
}

static void multiplies_fragments(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fragment_cases); i++)
        check_fragments(&fragment_cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_matrices),       cmocka_unit_test(transposes_registers), cmocka_unit_test(multiplies),
        cmocka_unit_test(multiplies_fragments), cmocka_unit_test(needs_the_whole_warp),
    };

    return cmocka_run_group_tests(tests, run_setup, run_teardown);
}
