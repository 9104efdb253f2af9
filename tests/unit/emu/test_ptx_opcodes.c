/* The tables: order, completeness, and that words and opcodes agree. */
#include "base/attributes.h"
#include "emu/lower.h"
#include "emu/ptx_opcodes.h"
#include "emu/ptx_support.h"
#include "emu/ptx_words.h"
#include "ptx_test.h"

static void test_opcodes_sorted(void **state)
{
    (void)state;
    for (int i = 0; i < PTX_OP_COUNT; i++) {
        const char *name = ptx_opcode_text((enum ptx_opcode)i);
        if (i)
            assert_true(strcmp(ptx_opcode_text((enum ptx_opcode)(i - 1)), name) < 0);
        assert_int_equal(ptx_opcode_find(name, strlen(name)), i);
    }
    assert_int_equal(ptx_opcode_find("ld.", 3), PTX_OP_UNKNOWN);
    assert_int_equal(ptx_opcode_find("l", 1), PTX_OP_UNKNOWN);
    assert_int_equal(ptx_opcode_find("ldx", 3), PTX_OP_UNKNOWN);
}

static void test_words_sorted(void **state)
{
    (void)state;
    for (uint16_t i = PTX_WORD_SHAPE + 1; i < PTX_WORD_FIRST_UNKNOWN; i++) {
        const char *text = ptx_word_text(i);
        if (i > PTX_WORD_SHAPE + 1)
            assert_true(strcmp(ptx_word_text((uint16_t)(i - 1)), text) < 0);
        assert_int_equal(ptx_word_find(text, strlen(text)), i);
    }
    assert_int_equal(ptx_word_find("f32", 3), PTX_F32);
    assert_int_equal(ptx_word_find("f3", 2), PTX_WORD_FIRST_UNKNOWN);
}

/* Every modifier belongs to an opcode, and every modifier of an opcode is a word. */
static void test_words_are_used(void **state)
{
    static const char *const rows[] = {
#define X(id, name, category, support, modifiers) modifiers,
        PTX_OPCODES(X)
#undef X
    };

    (void)state;
    for (uint16_t i = PTX_WORD_SHAPE + 1; i < PTX_WORD_FIRST_UNKNOWN; i++) {
        bool used = false;
        for (int j = 0; j < PTX_OP_COUNT && !used; j++)
            used = ptx_opcode_allows((enum ptx_opcode)j, ptx_word_text(i));
        if (!used)
            fail_msg("no opcode takes .%s", ptx_word_text(i));
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (const char *word = rows[i]; *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");
            if (ptx_word_find(word, length) == PTX_WORD_FIRST_UNKNOWN)
                fail_msg(".%.*s is no word", (int)length, word);
            word += length;
        }
}

static void test_shapes(void **state)
{
    uint16_t size[3];

    (void)state;
    assert_true(ptx_shape_parse("m64n256k16", 10, size));
    assert_int_equal(size[1], 256);
    assert_true(ptx_shape_parse("m8n8", 4, size));
    assert_int_equal(size[2], 0);
    assert_false(ptx_shape_parse("m64n256k", 8, size));
    assert_false(ptx_shape_parse("m64", 3, size));
    assert_false(ptx_shape_parse("m99999n8", 8, size));
    assert_false(ptx_shape_parse("m0n8", 4, size));
    assert_false(ptx_shape_parse("m8n8x", 5, size));
}

static void test_specials(void **state)
{
    (void)state;
    assert_int_equal(ptx_special_find("%cluster_ctaid", 14), PTX_SPECIAL_CLUSTER_CTAID);
    assert_int_equal(ptx_special_elements(PTX_SPECIAL_TID), 3);
    assert_int_equal(ptx_special_type(PTX_SPECIAL_GLOBALTIMER), PTX_U64);
    assert_int_equal(ptx_special_find("%tidx", 5), PTX_SPECIAL_COUNT);
}

/* The census and the interpreter agree on every opcode. */
static void test_lowerings(void **state)
{
    (void)state;
    for (int opcode = 0; opcode < PTX_OP_COUNT; opcode++)
        if ((ptx_opcode_support(opcode) == PTX_SUPPORT_EMULATED) != (emu_lowering_of(opcode) != NULL))
            fail_msg("%s: %s", ptx_opcode_text(opcode), ptx_support_text(ptx_opcode_support(opcode)));
}

static void test_support(void **state)
{
    static const struct {
        const char *text;
        enum ptx_support support;
        const char *reason;
    } cases[] = {
        {"ld.global.nc.L1::no_allocate.b32 %r1, [%rd1];", PTX_SUPPORT_EMULATED, NULL},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1;", PTX_SUPPORT_EMULATED, NULL},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1;", PTX_SUPPORT_NONE,
         "sparse matrices"},
        {"tcgen05.wait::ld.sync.aligned;", PTX_SUPPORT_LATER, "Blackwell comes in a later stage"},
        {"cvt.rp.satfinite.ue8m0x2.bf16x2 %r1, %r2;", PTX_SUPPORT_LATER, "block scales of Blackwell"},
        {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", PTX_SUPPORT_EMULATED, NULL},
        {"brkpt;", PTX_SUPPORT_NONE, "not emulated"},
        {"add.shiny.s32 %r1, %r2, %r3;", PTX_SUPPORT_NONE, "unknown modifier .shiny"},
        {"add.sync.s32 %r1, %r2, %r3;", PTX_SUPPORT_NONE, "modifier .sync does not belong to add"},
        {"frob;", PTX_SUPPORT_NONE, "unknown opcode"},
        {"call %rd1;", PTX_SUPPORT_NONE, "an indirect call"},
        {"cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r1}], [%r2];",
         PTX_SUPPORT_NONE, "im2col copies"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        const struct ptx_module *module = parse_kernel(arena, cases[i].text);
        const struct ptx_function *function = last_function(module);
        const char *reason;
        assert_int_equal(ptx_support_of(arena, module, function, function->instructions, &reason), cases[i].support);
        if (cases[i].reason)
            assert_string_equal(reason, cases[i].reason);
        else
            assert_null(reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opcodes_sorted), cmocka_unit_test(test_words_sorted),
        cmocka_unit_test(test_words_are_used), cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_specials),       cmocka_unit_test(test_lowerings),
        cmocka_unit_test(test_support),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
