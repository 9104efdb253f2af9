/* emu/fragment.h: every fragment is a bijection, and follows the formulas of the PTX ISA, copied down per shape. */
#include "emu_test.h"

#include <stdlib.h>

#include "emu/fragment.h"

static void check_bijection(struct fragment f)
{
    static bool seen[64 * 256];

    memset(seen, 0, sizeof seen);
    assert_int_equal(f.threads * f.registers * f.parts, f.rows * f.columns);
    for (int thread = 0; thread < f.threads; thread++) {
        for (int reg = 0; reg < f.registers; reg++) {
            for (int part = 0; part < f.parts; part++) {
                struct fragment_element e = fragment_at(&f, thread, reg, part);
                assert_in_range(e.row, 0, f.rows - 1);
                assert_in_range(e.column, 0, f.columns - 1);
                assert_false(seen[e.row * f.columns + e.column]);
                seen[e.row * f.columns + e.column] = true;
                struct fragment_slot slot = fragment_find(&f, e.row, e.column);
                assert_int_equal(slot.thread, thread);
                assert_int_equal(slot.register_index, reg);
                assert_int_equal(slot.part, part);
            }
        }
    }
}

static void all_are_bijections(void **state)
{
    (void)state;
    static const int A_SHAPES[][3] = {{16, 4, 1},  {16, 8, 1},  {16, 16, 1}, {16, 8, 2}, {16, 16, 2},
                                      {16, 16, 4}, {16, 32, 4}, {8, 4, 1},   {8, 16, 4}};
    for (size_t i = 0; i < sizeof A_SHAPES / sizeof A_SHAPES[0]; i++) {
        check_bijection(fragment_mma_a(A_SHAPES[i][0], A_SHAPES[i][1], A_SHAPES[i][2]));
        check_bijection(fragment_mma_b(A_SHAPES[i][1], A_SHAPES[i][2]));
    }
    for (int parts = 1; parts <= 2; parts++) {
        check_bijection(fragment_mma_d(16, parts));
        for (int n = 8; n <= 256; n += 8)
            check_bijection(fragment_wgmma_d(n, parts));
    }
    check_bijection(fragment_mma_d(8, 1));
    for (int parts = 1; parts <= 4; parts *= 2)
        check_bijection(fragment_wgmma_a(parts));
    for (int count = 1; count <= 4; count *= 2) {
        check_bijection(fragment_ldmatrix(count, false));
        check_bijection(fragment_ldmatrix(count, true));
    }
}

static void expect(struct fragment f, int lane, int flat, int row, int column)
{
    struct fragment_element e = fragment_at(&f, lane, flat / f.parts, flat % f.parts);

    if (e.row != row || e.column != column)
        fail_msg("%dx%d, %d parts, lane %d, element %d: (%d, %d), the ISA says (%d, %d)", f.rows, f.columns, f.parts,
                 lane, flat, e.row, e.column, row, column);
}

/* ai of .m16n8k16 with 16-bit types. */
static void m16n8k16_half(void **state)
{
    (void)state;
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        for (int i = 0; i < 8; i++)
            expect(fragment_mma_a(16, 16, 2), lane, i, i < 2 || (i >= 4 && i < 6) ? group : group + 8,
                   i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8);
        for (int i = 0; i < 4; i++)
            expect(fragment_mma_b(16, 2), lane, i, i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8, group);
        for (int i = 0; i < 4; i++) {
            expect(fragment_mma_d(16, 1), lane, i, i < 2 ? group : group + 8, in_group * 2 + (i & 1));
            expect(fragment_mma_d(16, 2), lane, i, i < 2 ? group : group + 8, in_group * 2 + (i & 1));
        }
    }
}

/* tf32 .m16n8k4 and .m16n8k8, 16-bit .m16n8k8. */
static void m16n8k4_and_k8(void **state)
{
    (void)state;
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        expect(fragment_mma_a(16, 4, 1), lane, 0, group, in_group);
        expect(fragment_mma_a(16, 4, 1), lane, 1, group + 8, in_group);
        expect(fragment_mma_b(4, 1), lane, 0, in_group, group);
        for (int i = 0; i < 4; i++)
            expect(fragment_mma_a(16, 8, 1), lane, i, i == 0 || i == 2 ? group : group + 8,
                   i < 2 ? in_group : in_group + 4);
        expect(fragment_mma_b(8, 1), lane, 0, in_group, group);
        expect(fragment_mma_b(8, 1), lane, 1, in_group + 4, group);
        for (int i = 0; i < 4; i++)
            expect(fragment_mma_a(16, 8, 2), lane, i, i < 2 ? group : group + 8, in_group * 2 + (i & 1));
        for (int i = 0; i < 2; i++)
            expect(fragment_mma_b(8, 2), lane, i, in_group * 2 + i, group);
    }
}

/* 8-bit .m16n8k16 and .m16n8k32. */
static void m16n8_bytes(void **state)
{
    (void)state;
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        for (int i = 0; i < 16; i++)
            expect(fragment_mma_a(16, 32, 4), lane, i, i < 4 || (i >= 8 && i < 12) ? group : group + 8,
                   i < 8 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16);
        for (int i = 0; i < 8; i++) {
            expect(fragment_mma_b(32, 4), lane, i, i < 4 ? in_group * 4 + (i & 3) : in_group * 4 + (i & 3) + 16, group);
            expect(fragment_mma_a(16, 16, 4), lane, i, i < 4 ? group : group + 8, in_group * 4 + (i & 3));
        }
        for (int i = 0; i < 4; i++)
            expect(fragment_mma_b(16, 4), lane, i, in_group * 4 + i, group);
    }
}

/* f64 .m8n8k4 and .m16n8k16. */
static void doubles(void **state)
{
    (void)state;
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        expect(fragment_mma_a(8, 4, 1), lane, 0, group, in_group);
        expect(fragment_mma_b(4, 1), lane, 0, in_group, group);
        expect(fragment_mma_d(8, 1), lane, 0, group, in_group * 2);
        expect(fragment_mma_d(8, 1), lane, 1, group, in_group * 2 + 1);
        for (int i = 0; i < 8; i++)
            expect(fragment_mma_a(16, 16, 1), lane, i, i % 2 == 0 ? group : group + 8, i / 2 * 4 + in_group);
        for (int i = 0; i < 4; i++)
            expect(fragment_mma_b(16, 1), lane, i, in_group + i * 4, group);
    }
}

static void wgmma_accumulator(void **state)
{
    (void)state;
    for (int thread = 0; thread < 128; thread++) {
        int warp = thread / 32, lane = thread % 32;
        for (int r = 0; r < 128; r++) {
            int row = 16 * warp + lane / 4 + 8 * ((r >> 1) & 1), column = 8 * (r / 4) + 2 * (lane % 4) + (r & 1);
            expect(fragment_wgmma_d(256, 1), thread, r, row, column);
            expect(fragment_wgmma_d(256, 2), thread, r, row, column);
        }
        for (int i = 0; i < 8; i++)
            expect(fragment_wgmma_a(2), thread, i, 16 * warp + lane / 4 + (i / 2 % 2 ? 8 : 0),
                   lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8));
    }
}

static void ldmatrix_rows(void **state)
{
    (void)state;
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < 8; i++) {
            int matrix = i / 2;
            expect(fragment_ldmatrix(4, false), lane, i, 8 * matrix + lane / 4, 2 * (lane % 4) + i % 2);
            expect(fragment_ldmatrix(4, true), lane, i, 8 * matrix + 2 * (lane % 4) + i % 2, lane / 4);
        }
    }
}

/* The fast gather and scatter do what fragment_at says, for every N. */
static void gather_and_scatter(void **state)
{
    (void)state;
    static uint32_t storage[128][32], back[128][32];
    static uint32_t rows32[16 * 256];
    static uint16_t rows16[16 * 256];
    const uint32_t *registers[128];
    uint32_t *outputs[128];
    uint64_t random = 3;

    for (int r = 0; r < 128; r++) {
        registers[r] = storage[r];
        outputs[r] = back[r];
        for (int lane = 0; lane < 32; lane++)
            storage[r][lane] = (uint32_t)next_random(&random);
    }
    for (int n = 8; n <= 256; n += 8) {
        struct fragment wide = fragment_wgmma_d(n, 1), narrow = fragment_wgmma_d(n, 2);
        fragment_gather_d32(registers, n, rows32);
        fragment_gather_d16(registers, n, rows16);
        for (int row = 0; row < 16; row++) {
            for (int column = 0; column < n; column++) {
                struct fragment_slot w = fragment_find(&wide, row, column), h = fragment_find(&narrow, row, column);
                assert_int_equal(rows32[row * n + column], storage[w.register_index][w.thread]);
                assert_int_equal(rows16[row * n + column], storage[h.register_index][h.thread] >> 16 * h.part & 0xffff);
            }
        }
        memset(back, 0, sizeof back);
        fragment_scatter_d32(outputs, n, rows32);
        assert_memory_equal(back, storage, (size_t)(n / 2) * sizeof back[0]);
        memset(back, 0, sizeof back);
        fragment_scatter_d16(outputs, n, rows16);
        assert_memory_equal(back, storage, (size_t)(n / 4) * sizeof back[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_bijections),
        cmocka_unit_test(m16n8k16_half),
        cmocka_unit_test(m16n8k4_and_k8),
        cmocka_unit_test(m16n8_bytes),
        cmocka_unit_test(doubles),
        cmocka_unit_test(wgmma_accumulator),
        cmocka_unit_test(ldmatrix_rows),
        cmocka_unit_test(gather_and_scatter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
