/* agent/pack.h: compositions, their mistakes, sections of code, variants; agent/pack_names.h on small texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/pack.h"
#include "agent/pack_names.h"
#include "base/file.h"

static char *folder;
static struct arena *arena;

static int setup(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    if (!file_make_temporary_folder(arena, file_temporary_root(), "pack", &folder, &error))
        fail_msg("%s", error.message);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)file_remove_tree(folder);
    arena_free(arena);
    return 0;
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = file_join(arena, folder, name);
    struct error error;

    if (!file_write(path, text, strlen(text), 0600, &error))
        fail_msg("%s", error.message);
    return path;
}

static const char *text_of(const char *path)
{
    struct pack *pack;
    const char *text;
    struct error error;

    if (!pack_open(arena, path, &pack, &error) || !pack_text(arena, pack, &text, &error))
        fail_msg("%s", error.message);
    return text;
}

static void a_composition_becomes_one_text(void **state)
{
    (void)state;
    (void)write_file("intro.md", "## Intro\nwords\n\n\n");
    (void)write_file("code.cuh",
                     "#pragma once\n#include \"other.cuh\"\n#include <cstdint>\n\n\nint a;\n// [section b]\n"
                     "int b;\n\n\nint bb;\n// [end]\nint c;\n");
    (void)write_file("inner.yaml", "title: inner\narch: sm_90a\nparts:\n  - text: intro.md\n");
    const char *path = write_file("outer.yaml", "title: outer\narch: sm_90a\nmax_tokens: 100\nparts:\n"
                                                "  - pack: inner\n  - code: code.cuh\n    title: All\n"
                                                "  - code: code.cuh\n    section: b\nkernels: [code.cuh]\n");
    assert_string_equal(text_of(path), "## Intro\nwords\n\n### All\n\n```cuda\n#include <cstdint>\n\nint a;\nint b;\n\n"
                                       "int bb;\nint c;\n```\n\n```cuda\nint b;\n\nint bb;\n```\n");
    struct pack *pack;
    struct error error;
    assert_true(pack_open(arena, path, &pack, &error));
    assert_string_equal(pack->name, "outer");
    assert_string_equal(pack->arch, "sm_90a");
    assert_int_equal(pack->max_tokens, 100);
    assert_int_equal(pack->kernel_count, 1);
}

static void mistakes_are_named(void **state)
{
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"title: x\narch: sm_90a\nparts:\n  - text: nothing.md\n", "parts[0]: no file \"nothing.md\""},
        {"title: x\narch: sm_90a\nparts:\n  - pack: nothing\n", "parts[0]: no pack \"nothing\""},
        {"title: x\narch: sm_90a\nparts:\n  - pack: case\n", "contains itself"},
        {"title: x\narch: sm_80\nparts:\n  - text: intro.md\n", "arch: expected sm_90a or sm_100a"},
        {"title: x\narch: sm_100a\nparts:\n  - pack: inner\n", "is for sm_90a, this one for sm_100a"},
        {"title: x\narch: sm_90a\nparts:\n  - text: intro.md\n    code: code.cuh\n",
         "expected one of pack, text and code"},
        {"title: x\narch: sm_90a\nparts:\n  - text: intro.md\n    section: b\n", "a section belongs to code"},
        {"title: x\narch: sm_90a\nparts:\n  - text: intro.md\n    colour: red\n", "colour"},
        {"title: x\narch: sm_90a\nparts:\n  - &a {text: intro.md}\n  - *a\n", "lias"},
        {"title: x\nparts:\n  - text: intro.md\n", "arch"},
        {"title: x\narch: sm_90a\nparts: []\n", ""},
        {"title: x\narch: sm_90a\nparts:\n  - text: intro.md\nkernels: [no.cu]\n", "kernels[0]: no file \"no.cu\""},
        {": [", ""},
        {"", ""},
    };
    struct pack *pack;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error error = {.code = ERROR_NONE};
        const char *path = write_file("case.yaml", cases[i].yaml);
        if (pack_open(arena, path, &pack, &error))
            fail_msg("case %zu is accepted", i);
        if (!strstr(error.message, cases[i].message) || !strstr(error.message, "case.yaml"))
            fail_msg("case %zu: %s", i, error.message);
        if (error.code != ERROR_INPUT && error.code != ERROR_NOT_FOUND)
            fail_msg("case %zu: code %d", i, (int)error.code);
    }
}

static void sections_must_be_there(void **state)
{
    struct pack *pack;
    const char *text;
    struct error error;

    (void)state;
    (void)write_file("open.cuh", "// [section x]\nint a;\n");
    const char *path = write_file("s.yaml", "title: x\narch: sm_90a\nparts:\n  - code: open.cuh\n    section: x\n");
    assert_true(pack_open(arena, path, &pack, &error));
    assert_false(pack_text(arena, pack, &text, &error));
    assert_non_null(strstr(error.message, "section \"x\" has no end"));
    path = write_file("s.yaml", "title: x\narch: sm_90a\nparts:\n  - code: open.cuh\n    section: xy\n");
    assert_true(pack_open(arena, path, &pack, &error));
    assert_false(pack_text(arena, pack, &text, &error));
    assert_non_null(strstr(error.message, "no section \"xy\""));
}

static void unknown_packs_get_a_hint(void **state)
{
    struct pack *pack;
    struct error error;

    (void)state;
    assert_false(pack_open(arena, "no-such-pack", &pack, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.hint, "pack list"));
}

static void every_variant_and_level_opens(void **state)
{
    static const char *const archs[] = {"sm_90a", "sm_100a"};
    struct pack *pack;
    struct error error;

    (void)state;
    for (size_t a = 0; a < ARRAY_LEN(archs); a++) {
        for (int i = 0; i < PACK_FAMILIES * PACK_VARIANTS; i++) {
            const char *name = pack_variant_for((enum pack_family)(i / PACK_VARIANTS), archs[a], i % PACK_VARIANTS);
            assert_non_null(name);
            if (!pack_open(arena, name, &pack, &error))
                fail_msg("%s", error.message);
            assert_string_equal(pack->arch, archs[a]);
        }
        for (int level = 0; level < PACK_LEVELS; level++)
            if (!pack_open(arena, pack_level_for(archs[a], level), &pack, &error))
                fail_msg("%s", error.message);
        assert_string_equal(pack_level_for(archs[a], 2), pack_variant_for(PACK_GEMM, archs[a], 0));
    }
    assert_null(pack_variant_for(PACK_GEMM, "sm_80", 0));
    assert_null(pack_variant_for(PACK_GEMM, "sm_90a", PACK_VARIANTS));
    assert_null(pack_level_for("sm_90a", -1));
}

static void families_of_definitions(void **state)
{
    static const struct {
        const char *op_type, *name;
        int family; /* -1: none */
    } cases[] = {
        {"gemm", "anything", PACK_GEMM},
        {NULL, "gemm_n7168_k5120", PACK_GEMM},
        {"gemm", "fp8_gemm_nt_1d2d", PACK_GEMM},
        {"mha", "mha_with_lse_d128_causal", PACK_MHA_FORWARD},
        {"mha", "fp8_mha_with_lse_d64", PACK_MHA_FORWARD},
        {"mha", "mha_bwd_d128", PACK_MHA_BACKWARD},
        {"gdn", "gdn_decode", -1},
        {NULL, NULL, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum pack_family family = PACK_FAMILIES;
        bool known = pack_family_of(cases[i].op_type, cases[i].name, &family);
        assert_int_equal(known ? (int)family : -1, cases[i].family);
    }
}

static const char sample[] = "Use `used_one` and `mbarrier.try_wait` and `cudaMalloc_x`, not `ghost_fn()`.\n"
                             "```text\nused_two(); phantom_call(x); some_word\n```\n"
                             "```cuda\n#define DEVICE __device__\n"
                             "DEVICE void used_one() {}\n// DEVICE void commented_out() {}\n"
                             "template <int N>\nDEVICE void used_two() { inner_one(); }\n"
                             "inline int inner_one() { return 0; }\n"
                             "DEVICE void never_called() { never_called_either(); }\n"
                             "DEVICE void never_called_either() {}\n```\n";

static void unused_functions_are_found(void **state)
{
    struct pack_names *names = pack_names_new(arena, sample);
    const char **list;

    (void)state;
    assert_int_equal(pack_names_count(names), 5);
    pack_names_add_kernel(names, "void k() { used_one(); used_two<3>(); } // never_called();\nconst char *s = \"x"
                                 " never_called_either()\";");
    assert_int_equal(pack_names_unused(names, &list), 2);
    assert_string_equal(list[0], "never_called");
    assert_string_equal(list[1], "never_called_either");
}

static void undeclared_names_are_found(void **state)
{
    struct pack_names *names = pack_names_new(arena, sample);
    const char **list;

    (void)state;
    assert_int_equal(pack_names_undeclared(names, sample, &list), 2);
    assert_string_equal(list[0], "ghost_fn");
    assert_string_equal(list[1], "phantom_call");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_composition_becomes_one_text), cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(sections_must_be_there),         cmocka_unit_test(unknown_packs_get_a_hint),
        cmocka_unit_test(every_variant_and_level_opens),  cmocka_unit_test(families_of_definitions),
        cmocka_unit_test(unused_functions_are_found),     cmocka_unit_test(undeclared_names_are_found),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
