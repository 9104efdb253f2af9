/*
 * emu/smem_layout.h against the canonical layouts of the PTX ISA, written as the layout algebra they are given in:
 * nested shapes and strides, in elements, with T = 128 / bits of an element.
 */
#include "emu_test.h"

#include "emu/smem_layout.h"

/* One mode of a layout: up to three factors, first fastest. */
struct mode {
    int shape[3];
    long stride[3];
};

static long evaluate(const struct mode *mode, int index)
{
    long offset = 0;

    for (int i = 0; i < 3; i++) {
        int digit = i < 2 ? index % mode->shape[i] : index;
        index = i < 2 ? index / mode->shape[i] : 0;
        offset += digit * mode->stride[i];
    }
    return offset;
}

/* Swizzle<B, 4, 3> over bytes. */
static uint32_t cute_swizzle(int b, uint32_t address)
{
    uint32_t mask = ((1u << b) - 1) << 7;

    return address ^ (address & mask) >> 3;
}

struct canonical {
    enum smem_swizzle swizzle;
    int bits;      /* B */
    int atom_rows; /* 128-bit units of a row of the atom: 1, 2, 4, 8 */
};

static const struct canonical CANONICAL[] = {
    {SMEM_SWIZZLE_NONE, 0, 1},
    {SMEM_SWIZZLE_32B, 1, 2},
    {SMEM_SWIZZLE_64B, 2, 4},
    {SMEM_SWIZZLE_128B, 3, 8},
};

/* The table "Canonical layouts" of the ISA; lbo and sbo in elements. */
static uint32_t canonical_address(const struct canonical *c, const struct wgmma_descriptor *d, int size, bool mn_major,
                                  int row, int k)
{
    int t = 16 / size, atom = c->atom_rows;
    long lbo = (long)d->leading_offset / size, sbo = (long)d->stride_offset / size;
    struct mode rows, columns;

    if (mn_major && c->bits == 0) {
        rows = (struct mode){{t, 1, 0}, {1, t, sbo}};
        columns = (struct mode){{8, 1, 0}, {t, 0, lbo}};
    } else if (mn_major) {
        rows = (struct mode){{t, atom, 0}, {1, t, lbo}};
        columns = (struct mode){{8, 1, 0}, {(long)atom * t, 0, sbo}};
    } else if (c->bits == 0) {
        rows = (struct mode){{8, 1, 0}, {t, 0, sbo}};
        columns = (struct mode){{t, 1, 0}, {1, 0, lbo}};
    } else {
        rows = (struct mode){{8, 1, 0}, {(long)atom * t, 0, sbo}};
        columns = (struct mode){{t, 1, 0}, {1, 0, t}};
    }
    long offset = evaluate(&rows, row) + evaluate(&columns, k);
    return cute_swizzle(c->bits, d->start + (uint32_t)(offset * size));
}

static void compare_operand(const struct canonical *c, int size, int rows, bool mn_major, uint32_t start, uint32_t lbo,
                            uint32_t sbo)
{
    struct wgmma_descriptor d = {.start = start, .leading_offset = lbo, .stride_offset = sbo, .swizzle = c->swizzle};
    struct smem_operand operand;
    struct error error;

    assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&d), size, rows, mn_major, &error));
    assert_int_equal(operand.k * size, 32);
    for (int row = 0; row < rows; row++) {
        for (int k = 0; k < operand.k; k++) {
            uint32_t expected = canonical_address(c, &d, size, mn_major, row, k);
            if (smem_operand_address(&operand, row, k) != expected)
                fail_msg("swizzle %s, %d bytes, %s-major, rows %d: (%d, %d) at 0x%x, expected 0x%x",
                         smem_swizzle_text(c->swizzle), size, mn_major ? "MN" : "K", rows, row, k,
                         smem_operand_address(&operand, row, k), expected);
        }
    }
}

static void every_canonical_layout(void **state)
{
    (void)state;
    static const int ROWS[] = {8, 64, 96, 128, 256};
    for (size_t c = 0; c < 4; c++) {
        for (int size = 1; size <= 4; size *= 2) {
            for (size_t r = 0; r < 5; r++) {
                uint32_t span = smem_swizzle_span(CANONICAL[c].swizzle);
                compare_operand(&CANONICAL[c], size, ROWS[r], false, 0x400, 16, 8 * span);
                compare_operand(&CANONICAL[c], size, ROWS[r], false, 0x480, 2048, 4096);
                compare_operand(&CANONICAL[c], size, ROWS[r], true, 0x2000, 1024, 8 * span);
                compare_operand(&CANONICAL[c], size, ROWS[r], true, 0x2410, 8 * span, 2048);
            }
        }
    }
    for (uint32_t start = 0; start < 128; start += 32) /* the four k-steps inside of a 128-byte row */
        compare_operand(&CANONICAL[3], 2, 64, false, 0x800 + start, 16, 1024);
}

/* A tile written through the swizzle is read back, and its reverse names the element of every byte. */
static void locate_reverses_address(void **state)
{
    (void)state;
    for (size_t c = 0; c < 4; c++) {
        uint32_t span = smem_swizzle_span(CANONICAL[c].swizzle);
        for (int major = 0; major < 2; major++) {
            struct wgmma_descriptor d = {.start = 0x400, .swizzle = CANONICAL[c].swizzle};
            d.stride_offset = 8 * span; /* groups of eight lines follow each other */
            d.leading_offset = c == 0 && !major ? 64 / 8 * 128 : 2 * 8 * span;
            if (c == 0 && major) {
                d.stride_offset = 256;
                d.leading_offset = 128;
            }
            struct smem_operand operand;
            struct error error;
            assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&d), 2, 64, major, &error));
            struct layout_finding findings[LAYOUT_MAX_FINDINGS];
            assert_int_equal(smem_operand_check(&operand, 65536, findings), 0);
            for (int row = 0; row < 64; row++) {
                for (int k = 0; k < 16; k++) {
                    int found_row = -1, found_k = -1;
                    uint32_t address = smem_operand_address(&operand, row, k) + 1; /* its second byte */
                    assert_true(smem_operand_locate(&operand, address, &found_row, &found_k));
                    assert_int_equal(found_row, row);
                    assert_int_equal(found_k, k);
                    assert_true(address < smem_operand_end(&operand));
                }
            }
            int row, k;
            assert_false(smem_operand_locate(&operand, smem_operand_end(&operand), &row, &k));
        }
    }
}

/* Seen on an H200: with a stride offset of 512 on a 128B tile, row 8 comes from byte 0x240. */
static void wrong_stride_as_on_hardware(void **state)
{
    (void)state;
    struct wgmma_descriptor d = {.leading_offset = 16, .stride_offset = 512, .swizzle = SMEM_SWIZZLE_128B};
    struct smem_operand operand;
    struct error error;
    assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&d), 2, 64, false, &error));
    assert_int_equal(smem_operand_address(&operand, 8, 0), 0x240);
}

static void swizzle_is_an_involution(void **state)
{
    (void)state;
    for (int s = 0; s < SMEM_SWIZZLE_COUNT; s++) {
        enum smem_swizzle swizzle = (enum smem_swizzle)s;
        uint32_t period = smem_swizzle_period(swizzle);
        for (uint32_t address = 0; address < 4096; address++) {
            uint32_t moved = smem_swizzle_address(swizzle, address);
            assert_int_equal(smem_swizzle_address(swizzle, moved), address);
            assert_int_equal(moved / 128, address / 128);
            assert_int_equal(smem_swizzle_address(swizzle, address + period), moved + period);
            assert_int_equal(smem_swizzle_address(swizzle, address | 0x01000000), moved | 0x01000000);
        }
    }
}

static void descriptor_round_trip(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 10000; i++) {
        uint64_t bits = next_random(&random);
        struct wgmma_descriptor d = wgmma_descriptor_decode(bits);
        assert_int_equal(wgmma_descriptor_encode(&d), bits);
    }
    struct wgmma_descriptor d = wgmma_descriptor_decode(0x4000004000010040);
    assert_int_equal(d.start, 0x400);
    assert_int_equal(d.leading_offset, 16);
    assert_int_equal(d.stride_offset, 1024);
    assert_int_equal(d.swizzle, SMEM_SWIZZLE_128B);
    assert_int_equal(wgmma_descriptor_decode(2ull << 62).swizzle, SMEM_SWIZZLE_64B);
    assert_int_equal(wgmma_descriptor_decode(3ull << 62).swizzle, SMEM_SWIZZLE_32B);
    assert_int_equal(wgmma_descriptor_decode(5ull << 49).base_offset, 5);
}

/* A tile whose pattern starts at 0x480, written relative to its own start, is read right with base offset 1. */
static void base_offset_moves_the_pattern(void **state)
{
    (void)state;
    struct wgmma_descriptor d = {
        .start = 0x480, .leading_offset = 16, .stride_offset = 1024, .base_offset = 1, .swizzle = SMEM_SWIZZLE_128B};
    struct smem_operand operand;
    struct error error;
    assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&d), 2, 64, false, &error));
    for (int row = 0; row < 64; row++)
        for (int k = 0; k < 16; k++)
            assert_int_equal(smem_operand_address(&operand, row, k),
                             0x480 + row * 128 + ((k / 8) ^ (row % 8)) * 16 + k % 8 * 2);
}

struct check_case {
    struct wgmma_descriptor descriptor;
    int element_bytes, rows;
    bool mn_major;
    enum layout_severity severity;
    const char *text;
};

static const struct check_case CHECKS[] = {
    {{.start = 0x400, .leading_offset = 16, .stride_offset = 1024, .swizzle = SMEM_SWIZZLE_128B},
     1,
     64,
     true,
     LAYOUT_ERROR,
     "only .f16 and .bf16 can be transposed"},
    {{.start = 0xfc00, .leading_offset = 16, .stride_offset = 1024, .swizzle = SMEM_SWIZZLE_128B},
     2,
     64,
     false,
     LAYOUT_ERROR,
     "ends at shared address"},
    {{.start = 0x480, .leading_offset = 16, .stride_offset = 1024, .swizzle = SMEM_SWIZZLE_128B},
     2,
     64,
     false,
     LAYOUT_HAZARD,
     "row 0 of the operand is read with the permutation of row 1"},
    {{.start = 0x470, .leading_offset = 16, .stride_offset = 1024, .swizzle = SMEM_SWIZZLE_128B},
     2,
     64,
     false,
     LAYOUT_ERROR,
     "run into the next row"},
    {{.start = 0x400, .leading_offset = 16, .stride_offset = 0, .swizzle = SMEM_SWIZZLE_128B},
     2,
     64,
     false,
     LAYOUT_HAZARD,
     "(row 0, k 0) and (row 8, k 0)"},
    {{.start = 0x400, .leading_offset = 0, .stride_offset = 128, .swizzle = SMEM_SWIZZLE_NONE},
     2,
     64,
     false,
     LAYOUT_HAZARD,
     "(row 0, k 0) and (row 0, k 8)"},
    {{.start = 0x400,
      .leading_offset = 16,
      .stride_offset = 1024,
      .swizzle = SMEM_SWIZZLE_128B,
      .reserved = 1ull << 46},
     2,
     64,
     false,
     LAYOUT_HAZARD,
     "tcgen05"},
    {{.start = 0x400,
      .leading_offset = 16,
      .stride_offset = 1024,
      .swizzle = SMEM_SWIZZLE_128B,
      .reserved = 1ull << 14},
     2,
     64,
     false,
     LAYOUT_NOTE,
     "mean nothing"},
};

static void lists_every_chunk(void **state)
{
    uint32_t addresses[SMEM_OPERAND_CHUNKS_MAX];

    (void)state;
    for (uint32_t i = 0; i < 256; i++) { /* every swizzle, base offset, major, and sizes of 1, 2 and 4 bytes */
        struct wgmma_descriptor descriptor = {.start = 0x480 + i * 16,
                                              .leading_offset = 640,
                                              .stride_offset = 1040,
                                              .base_offset = i / 4 % 8,
                                              .swizzle = i % 4};
        struct smem_operand operand;
        struct error error;

        assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&descriptor), 1 << i % 3, 8 + (int)(i % 32) * 8,
                                      i / 32 % 2 != 0, &error));
        int lines = smem_operand_line_count(&operand), chunks = smem_operand_chunk_count(&operand);
        assert_int_equal(smem_operand_chunks(&operand, addresses), lines * chunks);
        for (int k = 0; k < lines * chunks; k++)
            assert_int_equal(addresses[k], smem_operand_chunk(&operand, k / chunks, k % chunks));
    }
}

static void checks_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CHECKS / sizeof CHECKS[0]; i++) {
        const struct check_case *c = &CHECKS[i];
        struct layout_finding findings[LAYOUT_MAX_FINDINGS];
        struct smem_operand operand;
        struct error error;
        bool found = false;
        assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&c->descriptor), c->element_bytes, c->rows,
                                      c->mn_major, &error));
        int count = smem_operand_check(&operand, 65536, findings);
        for (int f = 0; f < count; f++)
            found = found || (findings[f].severity == c->severity && strstr(findings[f].text, c->text));
        if (!found)
            fail_msg("case %zu: \"%s\" is not among %d findings; first: %s", i, c->text, count,
                     count ? findings[0].text : "");
    }
    struct smem_operand operand;
    struct error error;
    assert_false(smem_operand_init(&operand, 0, 3, 64, false, &error));
    assert_false(smem_operand_init(&operand, 0, 2, 12, false, &error));
    assert_non_null(strstr(error.message, "extent 12"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_canonical_layout),      cmocka_unit_test(locate_reverses_address),
        cmocka_unit_test(wrong_stride_as_on_hardware), cmocka_unit_test(swizzle_is_an_involution),
        cmocka_unit_test(descriptor_round_trip),       cmocka_unit_test(base_offset_moves_the_pattern),
        cmocka_unit_test(lists_every_chunk),           cmocka_unit_test(checks_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
