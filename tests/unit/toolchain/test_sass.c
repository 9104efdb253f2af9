/* Opcode tables, and the parser on listings that nvdisasm 13.2 printed (tests/data/sass). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "toolchain/sass_internal.h"

struct family_case {
    const char *opcode;
    const char *arch;
    enum sass_family family;
};

static const struct family_case family_cases[] = {
    {"HGMMA.64x256x16.F32.BF16", "sm_90a", SASS_GMMA},
    {"HGMMA.SP.64x8x32.F32.BF16", "sm_90a", SASS_GMMA},
    {"QGMMA.64x128x32.F32.E4M3.E5M2", "sm_90a", SASS_GMMA},
    {"IGMMA.64x128x32.S8.S8", "sm_90a", SASS_GMMA},
    {"BGMMA.64x128x256.AND.POPC", "sm_90a", SASS_GMMA},
    {"HGMMA.64x256x16.F32.BF16", "sm_100a", SASS_OTHER},
    {"UTMALDG.2D", "sm_90a", SASS_TMA},
    {"UTMALDG.2D.MULTICAST", "sm_90a", SASS_TMA},
    {"UTMASTG.2D", "sm_90a", SASS_TMA},
    {"UTMAREDG.2D.ADD", "sm_90a", SASS_TMA},
    {"UTMALDG.2D", "sm_100a", SASS_OTHER}, /* TMA alone is no tcgen05 */
    {"UTMAPF.L2.2D", "sm_90a", SASS_OTHER},
    {"UTMACCTL.PF", "sm_90a", SASS_OTHER},
    {"UTMACMDFLUSH", "sm_90a", SASS_OTHER},
    {"UBLKCP.S.G", "sm_90a", SASS_OTHER},
    {"UTCHMMA.2CTA", "sm_100a", SASS_TCGEN},
    {"UTCBAR", "sm_100a", SASS_TCGEN},
    {"UTCATOMSWS.FIND_AND_SET.ALIGN", "sm_100a", SASS_TCGEN},
    {"LDTM.x4", "sm_100a", SASS_TCGEN},
    {"STTM.16dp64bit", "sm_100a", SASS_TCGEN},
    {"UTCHMMA", "sm_90a", SASS_OTHER},
    {"HMMA.16816.F32.BF16", "sm_90a", SASS_LEGACY_MMA},
    {"DMMA.8x8x4", "sm_100a", SASS_LEGACY_MMA},
    {"HFMA2.MMA", "sm_90a", SASS_OTHER}, /* an ordinary multiply-add with a misleading suffix */
    {"IMAD.WIDE", "sm_90a", SASS_OTHER},
    {"", "sm_90a", SASS_OTHER},
};

static void test_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(family_cases); i++) {
        print_message("%s on %s\n", family_cases[i].opcode, family_cases[i].arch);
        assert_int_equal(sass_family(family_cases[i].opcode, family_cases[i].arch), family_cases[i].family);
    }
}

struct work_case {
    const char *opcode;
    uint64_t work;
    bool is_unknown;
};

static const struct work_case work_cases[] = {
    {"HGMMA.64x256x16.F32.BF16", 2ull * 64 * 256 * 16 / 4, false},
    {"HGMMA.64x128x8.F32.TF32", 2ull * 64 * 128 * 8 / 4, false},
    {"HGMMA.SP.64x8x32.F32.BF16", 2ull * 64 * 8 * 32 / 4, false},
    {"QGMMA.64x128x32.F32.E4M3.E5M2", 2ull * 64 * 128 * 32 / 4, false},
    {"IGMMA.64x128x32.S8.S8", 2ull * 64 * 128 * 32 / 4, false},
    {"HMMA.16816.F32.BF16", 2ull * 16 * 8 * 16, false},
    {"HMMA.1688.F32.TF32", 2ull * 16 * 8 * 8, false},
    {"IMMA.16832.S8.S8", 2ull * 16 * 8 * 32, false},
    {"DMMA.8x8x4", 2ull * 8 * 8 * 4, false},
    {"DMMA.16x8x16", 2ull * 16 * 8 * 16, false},
    {"UTCHMMA.2CTA", 0, true},
    {"UTCQMMA", 0, true},
    {"HMMA.F32", 0, true},
    {"HGMMA.64x0x16", 0, true},
    {"HGMMA.64x256", 0, true},
    {"UTCBAR", 0, false},
    {"UTMALDG.2D", 0, false},
    {"HFMA2.MMA", 0, false},
    {"FFMA", 0, false},
};

static void test_work(void **state)
{
    const char *unknown;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(work_cases); i++) {
        print_message("%s\n", work_cases[i].opcode);
        assert_int_equal(sass_mma_work(work_cases[i].opcode, &unknown), work_cases[i].work);
        assert_int_equal(unknown != NULL, work_cases[i].is_unknown);
    }
}

static struct sass_report parse(struct arena *arena, const char *name, const char *arch)
{
    AUTO_FREE char *text = NULL;
    struct sass_report report = {.arch = arch, .nvdisasm_version = "13.2.86"};
    struct error error;
    size_t length;

    if (!file_read(arena_printf(arena, TEST_DATA "/sass/%s", name), 1 << 20, &text, &length, &error) ||
        !sass_parse_listing(arena, text, length, 1, &report, &error))
        fail_msg("%s", error.message);
    sass_count_families(&report);
    return report;
}

static void check_hopper(const struct sass_report *report)
{
    const struct sass_function *bf16 = sass_find_function(report, "_Z4bf16Pfyy");
    const struct sass_function *tma = sass_find_function(report, "_Z3tma14CUtensorMap_stPf");

    assert_non_null(bf16);
    assert_int_equal(bf16->family_count[SASS_GMMA], 1);
    assert_non_null(tma);
    assert_int_equal(tma->family_count[SASS_TMA], 3);
    assert_int_equal(report->family_count[SASS_GMMA], 6);
    assert_int_equal(report->family_count[SASS_LEGACY_MMA], 2);
    assert_string_equal(sass_opcode_at(report, "_Z5l_f64PdS_", 0x10), "LDC.64");
    assert_null(sass_opcode_at(report, "_Z5l_f64PdS_", 0x18));
    assert_null(sass_opcode_at(report, "_Z5l_f64PdS_", 0x100000));
    assert_null(sass_opcode_at(report, "unknown", 0));
}

static void test_hopper_listing(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_report report = parse(arena, "hopper.txt", "sm_90a");

    (void)state;
    check_hopper(&report);
    /* A predicate is no part of the opcode, and a function inside a kernel has its own offsets. */
    const struct sass_function *kernel = sass_find_function(&report, "_Z9usehelperPfi");
    assert_non_null(kernel);
    assert_string_equal(sass_opcode_at(&report, "_Z9usehelperPfi", 0xa0), "CALL.REL.NOINC");
    uint32_t start = 0;
    for (size_t i = 0; i < report.symbol_count; i++)
        if (strcmp(report.symbols[i].name, "_Z6helperfi") == 0)
            start = report.symbols[i].offset;
    assert_int_equal(start, 0x230);
    assert_ptr_equal(sass_opcode_at(&report, "_Z6helperfi", 0x10), sass_opcode_at(&report, "_Z9usehelperPfi", 0x240));
    for (size_t i = 0; i < kernel->count; i++) {
        assert_int_equal(kernel->instructions[i].offset, 16 * i);
        assert_null(strchr(kernel->instructions[i].opcode, '@'));
    }
}

static void test_blackwell_listing(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_report report = parse(arena, "blackwell.txt", "sm_100a");

    (void)state;
    assert_int_equal(report.family_count[SASS_GMMA], 0);
    assert_int_equal(report.family_count[SASS_TMA], 0);
    assert_int_equal(report.family_count[SASS_TCGEN], 16);
    assert_int_equal(report.family_count[SASS_LEGACY_MMA], 3);
}

static void test_cache_round_trip(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_report report = parse(arena, "hopper.txt", "sm_90a");
    struct sass_report again = {.arch = "sm_90a", .nvdisasm_version = "13.2.86"};
    struct sass_report other = {.arch = "sm_90a", .nvdisasm_version = "99.0"};
    char *folder;
    struct error error;

    (void)state;
    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "test-sass", &folder, &error));
    assert_false(sass_cache_read(arena, folder, "abc", &again));
    sass_cache_write(folder, "abc", &report);
    assert_true(sass_cache_read(arena, folder, "abc", &again));
    sass_count_families(&again);
    check_hopper(&again);
    assert_int_equal(again.count, report.count);
    assert_int_equal(again.symbol_count, report.symbol_count);
    assert_false(sass_cache_read(arena, folder, "abd", &other));
    assert_false(sass_cache_read(arena, folder, "abc", &other));
    assert_true(file_write(file_join(arena, folder, "sass.json"), "{\"schema\": 1", 12, 0644, &error));
    assert_false(sass_cache_read(arena, folder, "abc", &again));
    assert_true(file_remove_tree(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_families),         cmocka_unit_test(test_work),
        cmocka_unit_test(test_hopper_listing),   cmocka_unit_test(test_blackwell_listing),
        cmocka_unit_test(test_cache_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
