/* agent/tokens.h against the ids that the Python package `tokenizers` 0.23 gives (tests/data/tokens/README.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/tokens.h"
#include "base/jsonl.h"

enum { IDS_MAX = 512 };

struct ids {
    uint32_t id[IDS_MAX];
    size_t count;
};

static void keep(void *context, uint32_t id)
{
    struct ids *ids = context;

    assert_in_range(ids->count, 0, IDS_MAX - 1);
    ids->id[ids->count++] = id;
}

static struct tokenizer *read_ok(const char *name)
{
    struct tokenizer *tokenizer;
    struct error error;
    char path[512];

    (void)snprintf(path, sizeof path, TEST_DATA "/tokens/%s.json", name);
    if (!tokenizer_read(path, &tokenizer, &error))
        fail_msg("%s", error.message);
    return tokenizer;
}

static int refused;

static bool check_case(struct json_document *line, void *context, struct error *error)
{
    AUTO_JSON_DOCUMENT *owned = line;
    struct json root = json_root(line), list;
    const char *name, *text;
    struct ids ids = {.count = 0};
    int64_t count;
    struct error problem;

    assert_true(json_member_string(root, "tokenizer", &name, error));
    assert_true(json_member_string(root, "text", &text, error));
    assert_true(json_member(root, "ids", &list, error));
    AUTO_TOKENIZER *tokenizer = read_ok(name);
    if (!tokenizer_encode(tokenizer, text, strlen(text), keep, &ids, &count, &problem)) {
        assert_int_equal(problem.code, ERROR_UNSUPPORTED);
        assert_non_null(strstr(problem.message, "NFC"));
        refused++;
        return true;
    }
    if (ids.count != json_length(list))
        fail_msg("%s: \"%s\": %zu tokens, expected %zu", name, text, ids.count, json_length(list));
    assert_int_equal(count, ids.count);
    for (size_t i = 0; i < ids.count; i++) {
        uint64_t expected;
        assert_true(json_u64(json_at(list, i), &expected, error));
        if (ids.id[i] != expected)
            fail_msg("%s: \"%s\": token %zu is %u, expected %llu", name, text, i, ids.id[i],
                     (unsigned long long)expected);
    }
    ++*(int *)context;
    return true;
}

static void ids_are_those_of_the_python_package(void **state)
{
    struct error error;
    int checked = 0;

    (void)state;
    refused = 0;
    if (!jsonl_each(TEST_DATA "/tokens/cases.jsonl", 1 << 16, JSONL_REFUSE, check_case, &checked, &error))
        fail_msg("%s", error.message);
    assert_in_range(checked, 95, 105);
    assert_in_range(refused, 1, 3); /* Qwen's NFC on combining marks and wide blanks */
}

/* Tokenizer of one pre-tokenizer and a tiny vocabulary, with `from` replaced by `to`. */
static bool parse_changed(const char *from, const char *to, struct error *error)
{
    static const char base[] =
        "{\"added_tokens\":[{\"id\":9,\"content\":\"<x>\",\"special\":true,\"lstrip\":false}],\"normalizer\":null,"
        "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true},"
        "\"model\":{\"type\":\"BPE\",\"byte_fallback\":false,\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"
        "\"merges\":[\"a b\"]}}";
    AUTO_TOKENIZER *tokenizer = NULL;
    char text[1024];
    const char *at = strstr(base, from);

    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from));
    return tokenizer_parse(text, strlen(text), "t.json", &tokenizer, error);
}

static void what_is_not_understood_is_named(void **state)
{
    static const struct {
        const char *from, *to;
        enum error_code code;
        const char *message;
    } cases[] = {
        {"\"type\":\"BPE\"", "\"type\":\"Unigram\"", ERROR_UNSUPPORTED, "$.model.type: a model other than BPE"},
        {"\"byte_fallback\":false", "\"byte_fallback\":true", ERROR_UNSUPPORTED, "byte_fallback is not supported"},
        {"\"normalizer\":null", "\"normalizer\":{\"type\":\"Lowercase\"}", ERROR_UNSUPPORTED, "this normalizer"},
        {"\"type\":\"ByteLevel\"", "\"type\":\"Metaspace\"", ERROR_UNSUPPORTED, "not byte-level"},
        {"\"lstrip\":false", "\"lstrip\":true", ERROR_UNSUPPORTED, "lstrip is not supported"},
        {"\"a b\"", "\"a c\"", ERROR_INPUT, "$.model.merges[0]: a token that the vocabulary does not have"},
        {"\"a b\"", "\"ab\"", ERROR_INPUT, "expected two tokens"},
        {"\"ab\":2", "\"ab\":-2", ERROR_INPUT, "expected an id"},
        {"\"merges\":[\"a b\"]", "\"merges\":3", ERROR_INPUT, "expected an array"},
        {"\"model\"", "\"models\"", ERROR_INPUT, "model"},
        {"{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}",
         "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":"
         "\"Isolated\"},{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}",
         ERROR_UNSUPPORTED, "pattern is not understood"},
        {"{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}",
         "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"String\":\"-\"},\"behavior\":"
         "\"MergedWithNext\"},{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}",
         ERROR_UNSUPPORTED, "neither isolates nor removes"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error error = {.code = ERROR_NONE};
        if (parse_changed(cases[i].from, cases[i].to, &error))
            fail_msg("case %zu is accepted", i);
        if (error.code != cases[i].code || !strstr(error.message, cases[i].message))
            fail_msg("case %zu: code %d, %s", i, (int)error.code, error.message);
    }
}

static void texts_that_cannot_be_encoded(void **state)
{
    AUTO_TOKENIZER *tokenizer = read_ok("gpt2");
    int64_t count;
    struct error error;

    (void)state;
    assert_false(tokenizer_encode(tokenizer, "a\xff", 2, NULL, NULL, &count, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_non_null(strstr(error.message, "not UTF-8 at byte 1"));
    assert_int_equal(tokenizer_vocabulary(tokenizer), 600);
}

static void a_megabyte_of_blanks_takes_no_time(void **state)
{
    enum { LENGTH = 1 << 20 };
    AUTO_TOKENIZER *tokenizer = read_ok("llama3");
    AUTO_FREE char *text = malloc(LENGTH);
    int64_t count;
    struct error error;

    (void)state;
    memset(text, ' ', LENGTH);
    if (!tokenizer_encode(tokenizer, text, LENGTH, NULL, NULL, &count, &error))
        fail_msg("%s", error.message);
    assert_in_range(count, LENGTH / 64, LENGTH);
}

static void the_estimate_grows_with_the_text(void **state)
{
    (void)state;
    assert_int_equal(tokens_estimate("", 0), 0);
    assert_in_range(tokens_estimate("hello world", 11), 2, 4);
    assert_true(tokens_estimate("a+b*c", 5) > tokens_estimate("abcde", 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_those_of_the_python_package), cmocka_unit_test(what_is_not_understood_is_named),
        cmocka_unit_test(texts_that_cannot_be_encoded),        cmocka_unit_test(a_megabyte_of_blanks_takes_no_time),
        cmocka_unit_test(the_estimate_grows_with_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
