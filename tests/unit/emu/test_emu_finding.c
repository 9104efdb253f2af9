#include "emu_test.h"

#include "emu/emu_finding.h"

static const struct ptx_source source = {.file = "a.cu", .line = 3, .caller_file = "a.cu", .caller_line = 9};

static void add(struct emu_findings *findings, enum emu_code code, uint32_t ptx_line, const struct ptx_source *at)
{
    const struct emu_finding where = {.code = code,
                                      .ptx_line = ptx_line,
                                      .kernel = "k",
                                      .warp = -1,
                                      .lane = -1,
                                      .source = at ? *at : (struct ptx_source){0}};

    emu_findings_add(findings, &where, "line %u", ptx_line);
}

/* An unrolled loop says a thing once; other callers of an inlined line, and lines of PTX without a source, each once. */
static void equal_ones_are_counted(void **state)
{
    struct emu_findings *findings = emu_findings_new();
    struct ptx_source elsewhere = source;

    (void)state;
    elsewhere.caller_line = 10;
    for (uint32_t line = 1; line <= 4; line++)
        add(findings, EMU_OVERWRITTEN, line, &source);
    assert_int_equal(emu_findings_count(findings), 1);
    assert_int_equal(emu_findings_at(findings, 0)->count, 3);
    add(findings, EMU_OVERWRITTEN, 5, &elsewhere);
    add(findings, EMU_PROXY_FENCE, 5, &source);
    add(findings, EMU_OVERWRITTEN, 6, NULL);
    add(findings, EMU_OVERWRITTEN, 7, NULL);
    add(findings, EMU_OVERWRITTEN, 7, NULL);
    assert_int_equal(emu_findings_count(findings), 5);
    emu_findings_free(findings);
}

static void the_first_defect_is_the_root(void **state)
{
    struct emu_findings *findings = emu_findings_new();

    (void)state;
    assert_null(emu_findings_root(findings));
    add(findings, EMU_OPERAND_K, 1, NULL);
    assert_int_equal(emu_findings_root(findings)->code, EMU_OPERAND_K);
    add(findings, EMU_COPY_NOT_AWAITED, 2, NULL);
    add(findings, EMU_DEADLOCK, 3, NULL);
    assert_int_equal(emu_findings_root(findings)->code, EMU_COPY_NOT_AWAITED);
    emu_findings_free(findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ones_are_counted),
        cmocka_unit_test(the_first_defect_is_the_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
