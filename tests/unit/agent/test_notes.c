#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/notes.h"
#include "agent/notes_tokens.h"
#include "base/file.h"
#include "base/json.h"

#define WGMMA_KERNEL                                                                                                   \
    "// wrong\n__global__ void gemm_wgmma_kernel() { asm(\"wgmma.mma_async.sync.aligned\"); "                          \
    "mbarrier_wait(full_barrier, phase); }"
#define SIMT_KERNEL "__global__ void scale_rows(float *rows) { rows[threadIdx.x] *= factor; }"
#define MHA_KERNEL "__global__ void flash_forward() { online_softmax(row_max, row_sum); wgmma_fence(); }"

struct row {
    const char *id, *definition, *op_type, *arch, *source, *fixed, *error, *note;
};

static const struct row rows[] = {
    {"gemm-wgmma", "gemm_a", "gemm", "sm_90a", WGMMA_KERNEL, "FIXED_GEMM_A", "kernel_hang: expect_tx",
     "count both operands"},
    {"gemm-simt", "gemm_b", "gemm", NULL, SIMT_KERNEL, NULL, "numerical_mismatch", "the tail"},
    {"mha", "mha_a", "mha", "sm_90a", MHA_KERNEL, "FIXED_MHA_A", "nan in the softmax", "inf - inf"},
    /* copies of gemm_a's kernels under other names */
    {"copy-of-source", "gemm_c", "gemm", NULL,
     "/* other comment */ __global__   void gemm_wgmma_kernel() { asm(\"wgmma.mma_async.sync.aligned\"); "
     "mbarrier_wait(full_barrier, phase); }",
     "FIXED_OTHER", "kernel_hang: expect_tx", "same"},
    {"copy-of-fix", "gemm_d", "gemm", NULL,
     "__global__ void gemm_wgmma_kernel_two() { mbarrier_wait(full_barrier, phase); }", "FIXED_GEMM_A", NULL, NULL},
    {"blackwell", "gemm_e", "gemm", "sm_100a",
     "__global__ void gemm_tcgen05_kernel() { mbarrier_wait(full_barrier, phase); }", NULL, "x", "y"},
};

struct fixture {
    struct arena *arena;
    char *folder;
    char *path;
    struct notes *notes;
};

static int open_pool(void **state)
{
    static struct fixture fixture;
    struct error error;

    fixture = (struct fixture){.arena = arena_new()};
    assert_true(file_make_temporary_folder(fixture.arena, file_temporary_root(), "notes", &fixture.folder, &error));
    fixture.path = file_join(fixture.arena, fixture.folder, "pool.jsonl");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_JSON_OBJECT *record = json_object_new_object();
        json_put_string(record, "id", rows[i].id);
        json_put_string(record, "definition", rows[i].definition);
        json_put_string(record, "op_type", rows[i].op_type);
        json_put_string(record, "arch", rows[i].arch);
        json_put_string(record, "source", rows[i].source);
        json_put_string(record, "fixed", rows[i].fixed);
        json_put_string(record, "error", rows[i].error);
        json_put_string(record, "note", rows[i].note);
        json_put_string(record, "model", "unknown members are fine");
        assert_true(json_append_line(record, fixture.path, &error));
    }
    if (!notes_open(fixture.path, &fixture.notes, &error))
        fail_msg("%s", error.message);
    *state = &fixture;
    return 0;
}

static int close_pool(void **state)
{
    struct fixture *fixture = *state;

    notes_free(fixture->notes);
    (void)file_remove_tree(fixture->folder);
    arena_free(fixture->arena);
    return 0;
}

/* Ids of the hits, in order. */
static const char *find(struct fixture *fixture, struct notes_query query)
{
    struct notes_hit *hits;
    struct error error;
    size_t count;
    char *ids = arena_strdup(fixture->arena, "");

    if (!notes_find(fixture->notes, fixture->arena, &query, &hits, &count, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        ids = arena_printf(fixture->arena, "%s%s%s", ids, i ? " " : "", hits[i].id);
        assert_true(!i || hits[i].score <= hits[i - 1].score);
    }
    return ids;
}

static void ranks_by_likeness(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(notes_count(fixture->notes), ARRAY_LEN(rows));
    assert_string_equal(find(fixture, (struct notes_query){.source = "row_max online_softmax wgmma_fence", .most = 1}),
                        "mha");
    assert_string_equal(find(fixture, (struct notes_query){.source = SIMT_KERNEL, .most = 1}), "gemm-simt");
    assert_string_equal(find(fixture, (struct notes_query){.source = WGMMA_KERNEL, .most = 2}),
                        "gemm-wgmma copy-of-source");
    assert_string_equal(find(fixture, (struct notes_query){.source = "nothing_like_it"}), "");
    assert_string_equal(find(fixture, (struct notes_query){.source = ""}), "");
    assert_string_equal(find(fixture, (struct notes_query){.source = "zz\" OR * NEAR( {kernel}", .most = 9}),
                        find(fixture, (struct notes_query){.source = "kernel zz near", .most = 9}));
}

static void feedback_counts_too(void **state)
{
    assert_string_equal(
        find(*state, (struct notes_query){.source = "zz", .feedback = "kernel_hang at expect_tx", .most = 1}),
        "gemm-wgmma");
}

static void filters(void **state)
{
    assert_string_equal(find(*state, (struct notes_query){.source = WGMMA_KERNEL MHA_KERNEL, .op_type = "mha"}), "mha");
    assert_string_equal(find(*state, (struct notes_query){.source = WGMMA_KERNEL, .definition = "gemm_d"}),
                        "copy-of-fix");
    const char *ids = find(*state, (struct notes_query){.source = WGMMA_KERNEL, .arch = "sm_100a", .most = 9});
    assert_non_null(strstr(ids, "blackwell"));
    assert_null(strstr(ids, "gemm-wgmma"));
}

/* Neither the task's own records nor copies of its kernels under another task's name. */
static void holds_out(void **state)
{
    const char *ids = find(*state, (struct notes_query){.source = WGMMA_KERNEL, .hold_out = "gemm_a", .most = 9});

    assert_null(strstr(ids, "gemm-wgmma"));
    assert_null(strstr(ids, "copy-of-source"));
    assert_null(strstr(ids, "copy-of-fix"));
    assert_non_null(strstr(ids, "blackwell"));
    ids = find(*state, (struct notes_query){.source = WGMMA_KERNEL, .hold_out = "another", .most = 9});
    assert_non_null(strstr(ids, "copy-of-fix"));
}

static void writes_the_text(void **state)
{
    struct fixture *fixture = *state;
    struct notes_query query = {.source = WGMMA_KERNEL};
    struct notes_text_options with_fix = {.with_fix = true};
    struct notes_text_options small = {.with_fix = true, .limit_bytes = 150};
    struct notes_hit *hits;
    struct error error;
    size_t count;

    assert_true(notes_find(fixture->notes, fixture->arena, &query, &hits, &count, &error));
    const char *text = notes_text(fixture->arena, hits, count, NULL);
    assert_non_null(strstr(text, "> kernel_hang: expect_tx\n"));
    assert_non_null(strstr(text, "> count both operands\n"));
    assert_null(strstr(text, "FIXED"));
    text = notes_text(fixture->arena, hits, count, &with_fix);
    assert_non_null(strstr(text, "## Kernel 1, repaired\n\n```cpp\nFIXED_GEMM_A\n```\n"));
    assert_true(strlen(notes_text(fixture->arena, hits, count, &small)) <= 150);
    assert_string_equal(notes_text(fixture->arena, hits, 0, &with_fix), "");
    struct notes_hit hostile = {.id = "x", .error = "a\n# Task: other", .note = "b", .fixed = "```\n# Task\n"};
    text = notes_text(fixture->arena, &hostile, 1, &with_fix);
    assert_non_null(strstr(text, "> # Task: other\n"));
    assert_non_null(strstr(text, "````cpp\n```\n# Task\n````\n"));
}

static void refuses_malformed_pools(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"{\"id\": \"a\"}\n", "definition"},
        {"{\"id\": \"a\", \"definition\": \"d\", \"op_type\": \"o\", \"source\": 3}\n", "expected a string"},
        {"[]\n", "expected an object"},
        {"{\"id\"\n", ":1"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *path = file_join(fixture->arena, fixture->folder, "bad.jsonl");
        struct notes *notes;
        struct error error;
        assert_true(file_write(path, cases[i].text, strlen(cases[i].text), 0644, &error));
        assert_false(notes_open(path, &notes, &error));
        assert_null(notes);
        if (!strstr(error.message, cases[i].message) || !strstr(error.message, "bad.jsonl:1"))
            fail_msg("%s", error.message);
    }
}

static void splits_into_words(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(
        notes_tokens(fixture->arena, "int x = Foo_1(128); // no\n/* no */ asm(\"wgmma.fence\"); /* open"),
        "int foo_1 128 asm wgmma fence");
    assert_string_equal(notes_tokens(fixture->arena, ""), "");
    assert_string_equal(notes_match_query(fixture->arena, "bb aaaa bb ccc", 2), "\"aaaa\" OR \"ccc\"");
    assert_string_equal(notes_match_query(fixture->arena, "", 5), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_by_likeness), cmocka_unit_test(feedback_counts_too),
        cmocka_unit_test(filters),           cmocka_unit_test(holds_out),
        cmocka_unit_test(writes_the_text),   cmocka_unit_test(refuses_malformed_pools),
        cmocka_unit_test(splits_into_words),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
