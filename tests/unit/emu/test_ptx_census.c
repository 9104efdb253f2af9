/* Counts, target instructions, shared memory, and what is not supported. */
#include "base/buffer.h"
#include "base/json.h"
#include "emu/ptx_census.h"
#include "ptx_test.h"

static const char text[] =
    PTX_HEAD ".file 1 \"k.cu\"\n.shared .align 16 .b8 outer[20];\n.extern .shared .b8 dyn[];\n.shared .b8 unused[64];\n"
             ".func h() { ret; }\n"
             ".entry k() .reqntid 128\n{\n" PTX_REGISTERS ".shared .align 8 .b64 bar[2];\n.loc 1 5 1\n"
             "mov.b32 %r1, outer; mov.b32 %r2, outer; mov.b32 %r3, dyn; mov.b32 %r1, bar;\n"
             "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1;\n"
             "cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r1}];\n"
             "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1}], [%r2];\n"
             "tcgen05.wait::ld.sync.aligned; .loc 1 9 1\n tcgen05.shift.cta_group::1.down [%r1];\n"
             "tcgen05.shift.cta_group::1.down [%r2];\nret;\n}\n";

static void test_counts(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_census *census = ptx_census_new(arena, parse_text(arena, text));
    const struct ptx_census_function *kernel = &census->functions[1];

    (void)state;
    assert_int_equal(census->function_count, 2);
    assert_int_equal(kernel->target[PTX_TARGET_WGMMA], 1);
    assert_int_equal(kernel->target[PTX_TARGET_TMA], 1);
    assert_int_equal(kernel->target[PTX_TARGET_TCGEN05], 2);
    assert_int_equal(kernel->shared_bytes, 24 + 16); /* 20, to the 8 of the next, 16 */
    assert_true(kernel->dynamic_shared);
    assert_string_equal(kernel->opcodes[0].text, "mov.b32");
    assert_int_equal(kernel->opcodes[0].count, 4);
    assert_string_equal(kernel->opcodes[1].text, "tcgen05.shift.cta_group::1.down");
    assert_int_equal(kernel->opcode_count, 8);
    assert_int_equal(kernel->problem_count, 2);
    assert_int_equal(census->problem_count, 2);
    assert_int_equal(kernel->problems[1].count, 2);
    assert_int_equal(kernel->problems[1].source.line, 9);
    assert_string_equal(kernel->problems[1].source.file, "k.cu");
    assert_int_equal(census->functions[0].problem_count, 0);
}

/* Functions that only the emulator has a body for are no problem; others are. */
static void test_externals(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_census *census = ptx_census_new(
        arena, parse_text(arena, PTX_HEAD ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c);\n"
                                          ".extern .func elsewhere();\n.entry k()\n{\n"
                                          ".param .b64 a; .param .b64 b; .param .b32 c;\n"
                                          "call.uni __assertfail, (a, b, c);\ncall.uni elsewhere;\nret;\n}\n"));

    (void)state;
    assert_int_equal(census->problem_count, 1);
    assert_non_null(strstr(census->functions[0].problems[0].reason, "elsewhere"));
}

static void test_json(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *object = ptx_census_to_json(ptx_census_new(arena, parse_text(arena, text)));
    AUTO_FREE char *json = NULL;
    struct error error;

    (void)state;
    assert_true(json_to_text(object, false, &json, &error));
    assert_non_null(strstr(json, "\"target_instructions\":{\"wgmma\":1,\"cp.async.bulk.tensor\":1,\"tcgen05\":2}"));
    assert_non_null(strstr(json, "\"required_threads\":[128,1,1]"));
    assert_non_null(strstr(json, "\"reason\":\"Blackwell comes in a later stage\""));
    assert_non_null(strstr(json, "\"supported\":false"));
}

static void test_print(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_FREE char *out = NULL;
    size_t length;
    FILE *stream = open_memstream(&out, &length);

    (void)state;
    ptx_census_print(ptx_census_new(arena, parse_text(arena, text)), stream);
    (void)fclose(stream);
    assert_non_null(strstr(out, "target instructions in the text: wgmma 1, cp.async.bulk.tensor 1, tcgen05 2\n"));
    assert_non_null(strstr(out, "    tcgen05.shift.cta_group::1.down (2x): Blackwell comes in a later stage\n"
                                "      k.cu:9; line 19 of the PTX\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_externals),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_print),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
