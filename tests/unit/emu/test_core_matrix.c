/* mma.sync, ldmatrix, stmatrix against plain loops over the layouts of the ISA, written out by hand here. */
#include "emu_run.h"

/* a[16][16] and b[8][16] (n by k) of bf16 small integers in memory; d[16][8] of f32: ldmatrix, mma, and plain stores. */
static const char mma_body[] =
    ".reg .b64 %rd<8>; .reg .b32 %r<16>, %a<4>, %b<2>; .reg .f32 %d<4>;\n"
    "ld.param.u64 %rd1, [p0]; mov.u32 %r1, %tid.x;\n"
    /* 256 words of input to shared memory */
    "mov.u32 %r2, 0; L: mad.lo.u32 %r3, %r2, 32, %r1; mad.wide.u32 %rd2, %r3, 4, %rd1; ld.global.u32 %r4, [%rd2];\n"
    "mov.u32 %r5, room; mad.lo.u32 %r5, %r3, 4, %r5; st.shared.u32 [%r5], %r4; add.u32 %r2, %r2, 1;\n"
    ".reg .pred %p; setp.lt.u32 %p, %r2, 6; @%p bra L; bar.sync 0;\n"
    /* A: lane r supplies row r % 16, half r / 16 */
    "and.b32 %r6, %r1, 15; shr.u32 %r7, %r1, 4; mov.u32 %r8, room; mad.lo.u32 %r8, %r6, 32, %r8; mad.lo.u32 %r8, %r7, "
    "16, %r8;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, [%r8];\n"
    /* B: rows of k for each n: lanes 0-7 the first half, 8-15 the second */
    "and.b32 %r6, %r1, 7; shr.u32 %r7, %r1, 3; and.b32 %r7, %r7, 1; mov.u32 %r8, room; mad.lo.u32 %r8, %r6, 32, %r8; "
    "mad.lo.u32 %r8, %r7, 16, %r8;\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%b0, %b1}, [%r8+512];\n"
    "mov.f32 %d0, 0f3F800000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%d0, "
    "%d1, %d2, %d3};\n"
    "shr.u32 %r6, %r1, 2; and.b32 %r7, %r1, 3; mad.lo.u32 %r6, %r6, 8, 0; mad.lo.u32 %r6, %r7, 2, %r6;\n"
    "mad.wide.u32 %rd3, %r6, 4, %rd1; st.global.v2.f32 [%rd3+1024], {%d0, %d1}; st.global.v2.f32 [%rd3+1280], {%d2, "
    "%d3};\n"
    /* transposed through stmatrix and back */
    "mov.u32 %r9, room; and.b32 %r6, %r1, 7; mad.lo.u32 %r9, %r6, 16, %r9; add.u32 %r9, %r9, 1024;\n"
    "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r9], {%a0}; bar.sync 0;\n"
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9]; movmatrix.sync.aligned.m8n8.trans.b16 %r11, %r10;\n"
    "xor.b32 %r11, %r11, %a0; mad.wide.u32 %rd3, %r1, 4, %rd1; st.global.u32 [%rd3+2048], %r11;\n";

static uint16_t bf16(int value)
{
    float wide = (float)value;
    uint32_t bits;

    memcpy(&bits, &wide, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void test_mma(void **state)
{
    struct emulator *emulator = run_emulator();
    uint8_t *memory = run_memory(emulator, 4096);
    uint16_t *a = (uint16_t *)(void *)memory, *b = a + 256;
    float *d = (float *)(void *)(memory + 1024);
    const uint32_t *difference = (const uint32_t *)(const void *)(memory + 2048);
    struct run run = {.body = mma_body,
                      .variables = ".shared .align 16 .b8 room[2048];",
                      .block = 32,
                      .parameters[0] = (uintptr_t)memory};

    (void)state;
    for (int i = 0; i < 256; i++)
        a[i] = bf16((i * 7 + i / 16) % 11 - 5);
    for (int i = 0; i < 128; i++)
        b[i] = bf16((i * 5 + i / 16) % 13 - 6);
    run_snippet(emulator, &run);
    if (run.outcome != EMULATOR_COMPLETED || run.finding_count)
        fail_msg("%s", run.findings);
    for (int row = 0; row < 16; row++) {
        for (int column = 0; column < 8; column++) {
            int sum = 1;

            for (int k = 0; k < 16; k++) {
                int i = row * 16 + k, j = column * 16 + k;

                sum += ((i * 7 + i / 16) % 11 - 5) * ((j * 5 + j / 16) % 13 - 6);
            }
            assert_true(d[row * 8 + column] == (float)sum);
        }
    }
    for (int lane = 0; lane < 32; lane++)
        assert_int_equal(difference[lane], 0);
    emulator_free(emulator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mma),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
