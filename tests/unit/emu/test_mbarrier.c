#include "emu_test.h"

#include "emu/mbarrier.h"

static void phases_complete_and_repeat(void **state)
{
    struct mbarrier b;

    (void)state;
    assert_int_equal(mbarrier_init(&b, 2), MBARRIER_OK);
    assert_true(mbarrier_parity_is_complete(&b, 1)); /* the phase before the first one */
    assert_false(mbarrier_parity_is_complete(&b, 0));
    for (uint32_t phase = 0; phase < 5; phase++) {
        uint64_t token = mbarrier_token(&b);
        assert_int_equal(mbarrier_token_pending(token), 2);
        assert_int_equal(mbarrier_arrive(&b, 1, false), MBARRIER_OK);
        assert_int_equal(mbarrier_token_pending(mbarrier_token(&b)), 1);
        assert_false(mbarrier_token_is_complete(&b, token));
        assert_false(mbarrier_parity_is_complete(&b, phase & 1));
        assert_int_equal(mbarrier_arrive(&b, 1, false), MBARRIER_OK);
        assert_true(mbarrier_token_is_complete(&b, token));
        assert_true(mbarrier_parity_is_complete(&b, phase & 1));
        assert_false(mbarrier_parity_is_complete(&b, ~phase & 1));
    }
    assert_int_equal(b.phase, 5);
}

static void bytes_hold_the_phase(void **state)
{
    struct mbarrier b;

    (void)state;
    assert_int_equal(mbarrier_init(&b, 1), MBARRIER_OK);
    assert_int_equal(mbarrier_expect_tx(&b, 256), MBARRIER_OK);
    assert_int_equal(mbarrier_arrive(&b, 1, false), MBARRIER_OK);
    assert_int_equal(b.phase, 0);
    assert_int_equal(mbarrier_complete_tx(&b, 128), MBARRIER_OK);
    assert_int_equal(b.phase, 0);
    assert_int_equal(mbarrier_complete_tx(&b, 128), MBARRIER_OK);
    assert_int_equal(b.phase, 1);
    assert_int_equal(b.pending, 1);
}

static void bytes_may_land_before_they_are_expected(void **state)
{
    struct mbarrier b;

    (void)state;
    assert_int_equal(mbarrier_init(&b, 1), MBARRIER_OK);
    assert_int_equal(mbarrier_complete_tx(&b, 64), MBARRIER_OK);
    assert_int_equal(b.tx, -64);
    assert_int_equal(mbarrier_expect_tx(&b, 64), MBARRIER_OK);
    assert_int_equal(b.phase, 0);
    assert_int_equal(mbarrier_arrive(&b, 1, false), MBARRIER_OK);
    assert_int_equal(b.phase, 1);
}

static void drops_lower_the_count_of_later_phases(void **state)
{
    struct mbarrier b;

    (void)state;
    assert_int_equal(mbarrier_init(&b, 3), MBARRIER_OK);
    assert_int_equal(mbarrier_arrive(&b, 1, true), MBARRIER_OK);
    assert_int_equal(b.pending, 2);
    assert_int_equal(mbarrier_arrive(&b, 2, false), MBARRIER_OK);
    assert_int_equal(b.phase, 1);
    assert_int_equal(b.pending, 2);
}

static void refuses_what_the_ranges_forbid(void **state)
{
    struct mbarrier b = {0}, before;

    (void)state;
    assert_int_equal(mbarrier_init(&b, 0), MBARRIER_BAD_COUNT);
    assert_int_equal(mbarrier_init(&b, MBARRIER_COUNT_MAX + 1), MBARRIER_BAD_COUNT);
    assert_int_equal(mbarrier_init(&b, MBARRIER_COUNT_MAX), MBARRIER_OK);
    assert_int_equal(mbarrier_add_pending(&b), MBARRIER_BAD_COUNT);
    assert_int_equal(mbarrier_init(&b, 2), MBARRIER_OK);
    before = b;
    assert_int_equal(mbarrier_arrive(&b, 3, false), MBARRIER_OVER_ARRIVED);
    assert_int_equal(mbarrier_arrive(&b, 0, false), MBARRIER_BAD_COUNT);
    assert_int_equal(mbarrier_expect_tx(&b, MBARRIER_TX_MAX + 1), MBARRIER_TX_RANGE);
    assert_int_equal(mbarrier_complete_tx(&b, MBARRIER_TX_MAX + 1), MBARRIER_TX_RANGE);
    assert_memory_equal(&b, &before, sizeof b);
    assert_int_equal(mbarrier_expect_tx(&b, MBARRIER_TX_MAX), MBARRIER_OK);
    assert_int_equal(mbarrier_expect_tx(&b, 1), MBARRIER_TX_RANGE);
}

static void every_state_has_its_own_bits(void **state)
{
    struct mbarrier b, c;

    (void)state;
    assert_int_equal(mbarrier_init(&b, 2), MBARRIER_OK);
    c = b;
    assert_int_equal(mbarrier_arrive(&c, 1, false), MBARRIER_OK);
    assert_true(mbarrier_encode(&b) != mbarrier_encode(&c));
    c = b;
    assert_int_equal(mbarrier_expect_tx(&c, 1), MBARRIER_OK);
    assert_true(mbarrier_encode(&b) != mbarrier_encode(&c));
    c = b;
    assert_int_equal(mbarrier_arrive(&c, 2, false), MBARRIER_OK);
    assert_true(mbarrier_encode(&b) != mbarrier_encode(&c));
    assert_true(mbarrier_encode(&b) != 0 && mbarrier_encode(&b) != UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_complete_and_repeat),
        cmocka_unit_test(bytes_hold_the_phase),
        cmocka_unit_test(bytes_may_land_before_they_are_expected),
        cmocka_unit_test(drops_lower_the_count_of_later_phases),
        cmocka_unit_test(refuses_what_the_ranges_forbid),
        cmocka_unit_test(every_state_has_its_own_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
