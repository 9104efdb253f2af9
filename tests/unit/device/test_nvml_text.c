#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "device/nvml.h"

static void test_throttle_text(void **state)
{
    static const struct {
        int64_t mask;
        const char *text;
    } cases[] = {
        {0, ""},
        {-1, ""},    /* unknown */
        {0x1, ""},   /* idle */
        {0x2, ""},   /* application clocks */
        {0x100, ""}, /* display clocks */
        {0x4, "sw_power_cap"},
        {0x44, "sw_power_cap, hw_thermal_slowdown"},
        {0xfd, "sw_power_cap, hw_slowdown, sync_boost, sw_thermal_slowdown, hw_thermal_slowdown, hw_power_brake"},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        nvml_throttle_text(cases[i].mask, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Every size yields a terminated prefix, and nothing is written behind it. */
static void test_small_buffers(void **state)
{
    static const char whole[] = "sw_power_cap, hw_slowdown, sync_boost";
    char text[sizeof whole + 1];

    (void)state;
    for (size_t size = 1; size <= sizeof whole; size++) {
        memset(text, '#', sizeof text);
        nvml_throttle_text(0x1c, text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, whole, size - 1);
        for (size_t i = size; i < sizeof text; i++)
            assert_int_equal(text[i], '#');
    }
}

static void test_absent(void **state)
{
    struct nvml_sample sample = nvml_read(NULL);
    char version[16] = "old";

    (void)state;
    assert_int_equal(sample.sm_clock_mhz, -1);
    assert_int_equal(sample.temperature_c, -1);
    assert_true(sample.power_w < 0);
    assert_int_equal(sample.throttle_mask, -1);
    assert_int_equal(sample.utilization, -1);
    nvml_driver_version(NULL, version, sizeof version);
    assert_string_equal(version, "");
    nvml_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throttle_text),
        cmocka_unit_test(test_small_buffers),
        cmocka_unit_test(test_absent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
