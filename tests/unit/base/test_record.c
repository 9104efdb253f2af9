#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/record.h"

enum shade { SHADE_NONE, SHADE_DARK, SHADE_LIGHT };

static const char *const shade_texts[] = {NULL, "dark", "light"};

struct part {
    const char *name;
    struct count size;
};

struct whole {
    const char *text;
    bool flag;
    enum tristate fact;
    int64_t integer;
    int line;
    struct count count;
    struct number number;
    struct interval interval;
    enum shade shade;
    struct number_list numbers;
    RECORD_LIST(int64_t) integers;
    struct text_map texts;
    struct count_map counts;
    struct part part;
    struct part maybe;
    RECORD_LIST(struct part) parts;
    RECORD_LIST(struct part) keyed;
};

static const struct record_field part_fields[] = {RECORD_TEXT(struct part, name), RECORD_COUNT(struct part, size)};
static const struct record_type part_record = RECORD_TYPE(struct part, part_fields);
static const struct record_field keyed_fields[] = {RECORD_COUNT(struct part, size)};
static const struct record_type keyed_record = RECORD_TYPE(struct part, keyed_fields);

static const struct record_field whole_fields[] = {
    RECORD_TEXT(struct whole, text),
    RECORD_BOOL(struct whole, flag),
    RECORD_TRISTATE(struct whole, fact),
    RECORD_INTEGER(struct whole, integer),
    RECORD_LINE(struct whole, line),
    RECORD_COUNT(struct whole, count),
    RECORD_NUMBER(struct whole, number),
    RECORD_INTERVAL(struct whole, interval),
    RECORD_ENUM(struct whole, shade, shade_texts),
    RECORD_NUMBERS(struct whole, numbers),
    RECORD_INTEGERS(struct whole, integers),
    RECORD_TEXT_MAP(struct whole, texts),
    RECORD_COUNT_MAP(struct whole, counts),
    RECORD_NESTED(struct whole, part, &part_record),
    RECORD_OPTIONAL(struct whole, maybe, &part_record),
    RECORD_ITEMS(struct whole, parts, &part_record),
    RECORD_KEYED(struct whole, keyed, &keyed_record),
};
static const struct record_type whole_record = RECORD_TYPE(struct whole, whole_fields);

static char *to_text(const struct whole *whole)
{
    struct error error;
    char *text = NULL;
    json_object *object = record_to_json(whole, &whole_record);

    assert_true(json_to_text(object, false, &text, &error));
    json_object_put(object);
    return text;
}

static bool from_text(const char *text, struct whole *out, struct arena *arena, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;

    *out = (struct whole){0};
    assert_true(json_parse(text, strlen(text), "t.json", 1, &document, error));
    return record_from_json(json_root(document), &whole_record, out, arena, error);
}

static void remove_spaces(char *text)
{
    char *to = text;

    for (; *text; text++)
        if (*text != ' ' && *text != '\n')
            *to++ = *text;
    *to = 0;
}

static void test_unknown_is_null(void **state)
{
    struct whole whole = {0};
    AUTO_FREE char *text = to_text(&whole);

    (void)state;
    remove_spaces(text);
    assert_string_equal(text, "{\"text\":null,\"flag\":false,\"fact\":null,\"integer\":0,\"line\":null,\"count\":null,"
                              "\"number\":null,\"interval\":null,\"shade\":null,\"numbers\":[],\"integers\":[],"
                              "\"texts\":null,\"counts\":null,\"part\":{\"name\":null,\"size\":null},\"maybe\":null,"
                              "\"parts\":[],\"keyed\":null}");
}

static void test_round_trip(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct error error;
    struct whole whole = {
        .text = "a \"b\"\n",
        .flag = true,
        .fact = TRISTATE_NO,
        .integer = INT64_MIN,
        .line = 12,
        .count = count_of(0),
        .number = number_of(0.1),
        .interval = {true, -INFINITY, NAN},
        .shade = SHADE_LIGHT,
        .part = {"p", count_of(-3)},
        .maybe = {"m", {0}},
    };
    struct whole back;
    AUTO_FREE char *first = NULL;
    AUTO_FREE char *second = NULL;

    (void)state;
    for (int i = 0; i < 9; i++) {
        *LIST_APPEND(arena, &whole.numbers) = i ? 1.0 / i : INFINITY;
        *LIST_APPEND(arena, &whole.integers) = i * 1000000000000;
        *LIST_APPEND(arena, &whole.parts) = (struct part){arena_printf(arena, "part %d", i), count_of(i)};
        *LIST_APPEND(arena, &whole.keyed) = (struct part){arena_printf(arena, "key %d", i), count_of(i)};
        count_map_set(&whole.counts, arena, arena_printf(arena, "c%d", i), i);
    }
    text_map_set(&whole.texts, arena, "nvcc", "13.0");
    text_map_set(&whole.texts, arena, "nvcc", "13.1");
    text_map_set(&whole.texts, arena, "none", NULL);
    first = to_text(&whole);
    if (!from_text(first, &back, arena, &error))
        fail_msg("%s", error.message);
    second = to_text(&back);
    assert_string_equal(first, second);
    assert_int_equal(back.parts.count, 9);
    assert_string_equal(back.keyed.items[8].name, "key 8");
    assert_int_equal(back.fact, TRISTATE_NO);
    assert_true(isnan(back.interval.high));
    assert_true(back.count.known && back.count.value == 0);
    assert_int_equal(back.texts.count, 2);
    assert_string_equal(text_map_get(&back.texts, "nvcc"), "13.1");
    assert_null(text_map_get(&back.texts, "none"));
    assert_int_equal(*count_map_get(&back.counts, "c7"), 7);
    assert_null(count_map_get(&back.counts, "c9"));
}

static void test_refuses_wrong_types(void **state)
{
    static const char *const cases[][2] = {
        {"{\"text\": 1}", "$.text"},
        {"{\"fact\": \"yes\"}", "$.fact"},
        {"{\"line\": -1}", "$.line"},
        {"{\"count\": 1.5}", "$.count"},
        {"{\"number\": \"nan\"}", "$.number"},
        {"{\"interval\": [1]}", "$.interval"},
        {"{\"shade\": \"grey\"}", "$.shade"},
        {"{\"numbers\": [1, null]}", "$.numbers[1]"},
        {"{\"integers\": {}}", "$.integers"},
        {"{\"texts\": {\"a\": 1}}", "$.texts.a"},
        {"{\"counts\": {\"a\": null}}", "$.counts.a"},
        {"{\"part\": []}", "$.part"},
        {"{\"parts\": [{}, 1]}", "$.parts[1]"},
        {"{\"keyed\": {\"k\": {\"size\": true}}}", "$.keyed.k.size"},
        {"[]", "$"},
    };
    AUTO_ARENA *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct whole whole;
        struct error error = {0};
        if (from_text(cases[i][0], &whole, arena, &error))
            fail_msg("accepted %s", cases[i][0]);
        assert_int_equal(error.code, ERROR_INPUT);
        if (!strstr(error.message, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], error.message);
    }
}

/* What was read can grow without running into its neighbours. */
static void test_append_after_reading(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct whole whole;
    struct error error;

    (void)state;
    assert_true(from_text("{\"numbers\": [1, 2, 3, 4, 5], \"integers\": [7, 8, 9], \"parts\": [{}, {}, {}], \"keyed\": "
                          "{\"k\": {\"size\": 4}}}",
                          &whole, arena, &error));
    for (int i = 0; i < 20; i++) {
        *LIST_APPEND(arena, &whole.numbers) = i;
        LIST_APPEND(arena, &whole.parts)->size = count_of(i);
    }
    assert_int_equal(whole.integers.items[0], 7);
    assert_int_equal(whole.integers.items[2], 9);
    assert_true(whole.numbers.items[4] == 5 && whole.numbers.items[24] == 19);
    assert_string_equal(whole.keyed.items[0].name, "k");
    assert_int_equal(whole.keyed.items[0].size.value, 4);
}

static void test_ignores_unknown_members(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct whole whole;
    struct error error;

    (void)state;
    assert_true(from_text("{\"new\": {\"x\": 1}, \"line\": 3, \"text\": null}", &whole, arena, &error));
    assert_int_equal(whole.line, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_is_null),         cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_refuses_wrong_types),     cmocka_unit_test(test_append_after_reading),
        cmocka_unit_test(test_ignores_unknown_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
