#include "emu_test.h"

#include "emu/bulk_reduce.h"

/* One element each: bits of memory before, of the source, of memory after. */
static const struct {
    enum bulk_operation operation;
    enum bulk_type type;
    uint64_t before, source, after;
} cases[] = {
    {BULK_COPY, BULK_U32, 1, 2, 2},
    {BULK_ADD, BULK_U32, UINT32_MAX, 2, 1},
    {BULK_ADD, BULK_U64, UINT64_MAX, 2, 1},
    {BULK_ADD, BULK_F32, 0x3f800000, 0x40000000, 0x40400000},                         /* 1 + 2 */
    {BULK_ADD, BULK_F64, 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000}, /* 1 + 2 */
    {BULK_ADD, BULK_F16, 0x3c00, 0x1400, 0x3c01},                                     /* 1 + 2^-10 */
    {BULK_ADD, BULK_F16, 0x3c00, 0x1000, 0x3c00},                                     /* 1 + 2^-11: ties to even */
    {BULK_ADD, BULK_BF16, 0x3f80, 0x3f80, 0x4000},                                    /* 1 + 1 */
    {BULK_MIN, BULK_S32, 5, 0xfffffffe, 0xfffffffe},
    {BULK_MIN, BULK_U32, 5, 0xfffffffe, 5},
    {BULK_MAX, BULK_S64, 5, UINT64_MAX, 5},
    {BULK_MAX, BULK_U64, 5, UINT64_MAX, UINT64_MAX},
    {BULK_MIN, BULK_F16, 0x3c00, 0xbc00, 0xbc00},
    {BULK_MAX, BULK_BF16, 0x7fff, 0x3f80, 0x3f80}, /* NaN loses */
    {BULK_INC, BULK_U32, 4, 5, 5},
    {BULK_INC, BULK_U32, 5, 5, 0},
    {BULK_DEC, BULK_U32, 0, 5, 5},
    {BULK_DEC, BULK_U32, 6, 5, 5},
    {BULK_DEC, BULK_U32, 3, 5, 2},
    {BULK_AND, BULK_U32, 12, 10, 8},
    {BULK_OR, BULK_U64, 12, 10, 14},
    {BULK_XOR, BULK_U32, 12, 10, 6},
};

static void reduces_elements(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t memory[24] = {0}, source[24] = {0};
        uint32_t size = bulk_type_bytes(cases[i].type);
        uint64_t got = 0;

        for (int k = 0; k < 2; k++) { /* two of them, from an odd address */
            memcpy(memory + 1 + k * (int)size, &cases[i].before, size);
            memcpy(source + 1 + k * (int)size, &cases[i].source, size);
        }
        bulk_reduce(cases[i].operation, cases[i].type, memory + 1, source + 1, 2 * (size_t)size);
        for (int k = 0; k < 2; k++) {
            memcpy(&got, memory + 1 + k * (int)size, size);
            if (got != cases[i].after)
                fail_msg("case %zu: 0x%llx", i, (unsigned long long)got);
        }
        assert_int_equal(memory[0], 0);
        assert_int_equal(memory[1 + 2 * size], 0);
        assert_true(bulk_reduce_allows(cases[i].operation, cases[i].type));
    }
}

static void knows_what_the_isa_has(void **state)
{
    (void)state;
    assert_false(bulk_reduce_allows(BULK_MIN, BULK_F32));
    assert_false(bulk_reduce_allows(BULK_AND, BULK_F16));
    assert_false(bulk_reduce_allows(BULK_INC, BULK_S32));
    assert_false(bulk_reduce_allows(BULK_ADD, BULK_U8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reduces_elements), cmocka_unit_test(knows_what_the_isa_has)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
