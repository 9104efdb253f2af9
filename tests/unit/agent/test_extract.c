/* The extractor on a corpus of odd answers (tests/data/extract), and its second question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/extract.h"
#include "base/jsonl.h"

#define CORPUS TEST_DATA "/extract/"
#define BLOCK "__global__ void k() {}\nPTXBENCH_ENTRY(a, c, s) { k<<<1, 1>>>(); return 0; }\n"

struct tally {
    int cases;
    int lost;  /* another code than expected, or a wrong claim that there is or is not one */
    int asked; /* the right code, but the model would be asked */
};

static struct text_span trimmed(struct text_span text)
{
    while (text.length && strchr(" \t\n", text.text[text.length - 1]))
        text.length--;
    return text;
}

static bool is_code(struct text_span code, const char *expected)
{
    struct text_span want = trimmed((struct text_span){expected, strlen(expected)});

    code = trimmed(code);
    return code.length == want.length && !memcmp(code.text, want.text, want.length);
}

static bool judge_case(struct json_document *line, void *context, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = line;
    AUTO_ARENA *arena = arena_new();
    struct tally *tally = context;
    struct json at = json_root(document);
    struct extract_result result;
    const char *name;
    const char *answer;
    const char *status;
    const char *code = NULL;
    struct json member;

    if (!json_member_string(at, "name", &name, error) || !json_member_string(at, "answer", &answer, error) ||
        !json_member_string(at, "status", &status, error))
        return false;
    if (json_optional(at, "code", &member) && !json_string(member, &code, error))
        return false;
    extract_code_of(answer, strlen(answer), json_has(at, "language") ? EXTRACT_PYTHON : EXTRACT_CUDA, arena, &result);
    const char *got = extract_status_text(result.status);
    bool wants_code = code != NULL;
    bool lost = wants_code
                    ? !is_code(result.code, code) || (result.status != EXTRACT_FOUND && result.status != EXTRACT_UNSURE)
                    : strcmp(got, status) != 0;
    tally->cases++;
    tally->lost += lost;
    tally->asked += !lost && result.status == EXTRACT_UNSURE && strcmp(status, "unsure") != 0;
    if (lost)
        print_message("lost: %s: expected %s, got %s (%s), %d blocks\n", name, status, got, result.reason,
                      result.blocks);
    return true;
}

static struct tally judge_corpus(const char *file)
{
    struct tally tally = {0};
    struct error error;

    if (!jsonl_each(file, 1 << 20, JSONL_REFUSE, judge_case, &tally, &error))
        fail_msg("%s", error.message);
    print_message("%s: %d answers, %d lost (%.2f %%), %d asked without need (%.2f %%)\n", strrchr(file, '/') + 1,
                  tally.cases, tally.lost, 100.0 * tally.lost / tally.cases, tally.asked,
                  100.0 * tally.asked / tally.cases);
    return tally;
}

static void loses_less_than_half_a_percent_of_the_corpus(void **state)
{
    struct tally tally = judge_corpus(CORPUS "corpus.jsonl");

    (void)state;
    assert_true(tally.cases >= 200);
    assert_true(200 * tally.lost < tally.cases);
    assert_true(20 * tally.asked < tally.cases);
}

static void loses_less_than_half_a_percent_of_the_held_out_answers(void **state)
{
    static const char *const files[] = {CORPUS "held_out.jsonl", CORPUS "held_out_2.jsonl", CORPUS "held_out_3.jsonl"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct tally tally = judge_corpus(files[i]);
        assert_true(tally.cases >= 60);
        assert_true(200 * tally.lost < tally.cases);
        assert_true(20 * tally.asked < tally.cases);
    }
}

static void loses_no_answer_in_python(void **state)
{
    (void)state;
    assert_int_equal(judge_corpus(CORPUS "python.jsonl").lost, 0);
}

static struct extract_result extract(struct arena *arena, const char *answer)
{
    struct extract_result result;

    extract_code(answer, strlen(answer), arena, &result);
    return result;
}

static void asks_and_reads_the_reply(void **state)
{
    static const char answer[] =
        "```cpp\n// one\n" BLOCK "```\nThe naive baseline, for comparison:\n```cpp\n// two\n" BLOCK "```\n";
    static const struct {
        const char *reply;
        const char *begins; /* of the code; "": none; NULL: not understood */
    } cases[] = {
        {"block 2", "// two"},
        {"Block 1.", "// one"},
        {"**Block 2**", "// two"},
        {"2", "// two"},
        {"The one to judge is block #1 (not block 7? no) ... block 1", "// one"},
        {"<think>block 2 is naive</think>\nblock 1", "// one"},
        {"none", ""},
        {"None of them.", ""},
        {"block 9", NULL},
        {"I do not know", NULL},
        {"", NULL},
        {"1 or 2", NULL},
        {"```cpp\n// three\n" BLOCK "```\n", "// three"},
    };
    AUTO_ARENA *arena = arena_new();
    struct extract_result result = extract(arena, answer);

    (void)state;
    assert_int_equal(result.status, EXTRACT_UNSURE);
    const char *question = extract_question(arena, &result);
    assert_non_null(strstr(question, "Block 1:\n    // one\n"));
    assert_non_null(strstr(question, "Block 2:\n    // two\n"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct text_span code = {NULL, 0};
        bool read = extract_read_choice(arena, &result, cases[i].reply, strlen(cases[i].reply), &code);
        if (read != (cases[i].begins != NULL) ||
            (read && (code.length < strlen(cases[i].begins) || (!*cases[i].begins && code.length) ||
                      memcmp(code.text, cases[i].begins, strlen(cases[i].begins)) != 0)))
            fail_msg("reply \"%s\"", cases[i].reply);
    }
}

static void accepts_bytes_without_terminator_and_nul(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct extract_result result;
    static const char answer[] =
        "```cpp\n__glo\0bal__ void k() {}\nPTXBENCH_ENTRY(a, c, s) { k<<<1, 1>>>(); return 0; }\n```";

    (void)state;
    extract_code(answer, sizeof answer - 1, arena, &result);
    assert_int_equal(result.status, EXTRACT_FOUND);
    assert_true(is_code(result.code, BLOCK));
    extract_code(answer, 4, arena, &result);
    assert_int_equal(result.status, EXTRACT_NONE);
}

static void reads_python_kernels(void **state)
{
    static const char kernel[] =
        "import triton\n\n@triton.jit\ndef k(x):\n    pass\n\ndef run(x, y):\n    k[(1,)](x)\n";
    AUTO_ARENA *arena = arena_new();
    char *answer = arena_printf(arena, "Use:\n```python\n%s```\nand\n```bash\npython k.py\n```\n", kernel);
    struct extract_result result;

    (void)state;
    extract_code_of(answer, strlen(answer), EXTRACT_PYTHON, arena, &result);
    assert_int_equal(result.status, EXTRACT_FOUND);
    assert_true(is_code(result.code, kernel));
    struct text_span code = {NULL, 0};
    assert_true(extract_read_choice(arena, &result, answer, strlen(answer), &code)); /* the kernel once more */
    assert_true(is_code(code, kernel));
    answer = arena_printf(arena, "```py\n%s", kernel);
    extract_code_of(answer, strlen(answer) - 6, EXTRACT_PYTHON, arena, &result);
    assert_int_equal(result.status, EXTRACT_TRUNCATED);
}

/* Each would take hours if any step looked at the rest of the answer once a line; the test's time limit would tell. */
static void huge_answers_cost_their_length(void **state)
{
    static const char *const pieces[] = {
        "```cpp\n",
        "```\n",
        "````\n",
        "~~~\n",
        "/**/",
        "/*\n```\n",
        "\"\"\"",
        "<think>\n",
        "</think>\n",
        "cat <<EOF\n",
        "R\"(\n```\n",
        "(",
        "#if 0\n",
        "'",
        "__global__ \n",
        "```cpp\n__global__ void k() {}\n```\n",
        "&lt;&lt;&lt;__global__\n",
        "> ```\n",
        "#include \"a.cuh\"\n",
        "```bash\nx <<E\n__global__\n```\n",
        "```md\n```cpp\n",
        "1 __global__\n",
        "\\n__global__",
    };
    enum { BYTES = 1 << 20 };
    char *answer = malloc(BYTES);

    (void)state;
    assert_non_null(answer);
    for (size_t i = 0; i < 2 * ARRAY_LEN(pieces); i++) {
        AUTO_ARENA *arena = arena_new();
        const char *piece = pieces[i / 2];
        const char *start = i % 2 ? "```cpp\nR\"(/*\n" : "```cpp\n/*\n__global__ PTXBENCH_ENTRY\n";
        size_t length = strlen(start);
        struct extract_result result;
        memcpy(answer, start, length);
        for (size_t at = length; at < BYTES; at++)
            answer[at] = piece[(at - length) % strlen(piece)];
        extract_code(answer, BYTES, arena, &result);
        extract_code(answer + length, BYTES - length, arena, &result);
        assert_non_null(result.reason);
    }
    free(answer);
}

static void names_the_reason(void **state)
{
    AUTO_ARENA *arena = arena_new();

    (void)state;
    assert_string_equal(extract(arena, "Hello").reason, "no code");
    assert_string_equal(extract(arena, "```cpp\n__global__ void k() {\n").reason,
                        "the answer ends inside its last block of code");
    assert_int_equal(extract(arena, "```cpp\n" BLOCK "/* the second kernel").status, EXTRACT_TRUNCATED);
    assert_int_equal(extract(arena, "```cpp\n" BLOCK "const char *s = R\"(").status, EXTRACT_TRUNCATED);
    assert_string_equal(extract(arena, "<think>\nwell").reason, "the answer ends while the model is thinking");
    assert_string_equal(extract(arena, "```cpp\n" BLOCK "```\n").reason, "a whole kernel file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loses_less_than_half_a_percent_of_the_corpus),
        cmocka_unit_test(loses_less_than_half_a_percent_of_the_held_out_answers),
        cmocka_unit_test(loses_no_answer_in_python),
        cmocka_unit_test(asks_and_reads_the_reply),
        cmocka_unit_test(accepts_bytes_without_terminator_and_nul),
        cmocka_unit_test(reads_python_kernels),
        cmocka_unit_test(huge_answers_cost_their_length),
        cmocka_unit_test(names_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
