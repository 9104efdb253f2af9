#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/prompt_template.h"

static const struct template_value values[] = {
    {"name", "gemm"}, {"pack", "{{name}} {% raw"}, {"none", ""}, {"null", NULL}};

static void fills(void **state)
{
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"", ""},
        {"plain { } text", "plain { } text"},
        {"a {{name}} b", "a gemm b"},
        {"{{name}}{{name}}", "gemmgemm"},
        {"{{pack}}", "{{name}} {% raw"}, /* values are not read again */
        {"[{{none}}{{null}}]", "[]"},
        {"x\n{{#name}}\nin {{name}}\n{{/name}}\ny\n", "x\nin gemm\ny\n"},
        {"x\n{{#none}}\nin {{name}}\n{{/none}}\ny\n", "x\ny\n"},
        {"x {{#name}}in{{/name}} y", "x in y"},
        {"x {{#null}}in{{/null}} y", "x  y"},
        {"{{#name}}{{#none}}a{{/none}}b{{/name}}", "b"},
        {"{{#none}}{{#name}}a{{/name}}b{{/none}}c", "c"},
        {"{{#none}}{{name}}{{/none}}{{#name}}d{{/name}}", "d"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_ARENA *arena = arena_new();
        struct error error;
        const char *out;
        if (!template_fill(arena, "t.md", cases[i].text, values, 4, &out, &error))
            fail_msg("%s: %s", cases[i].text, error.message);
        assert_string_equal(out, cases[i].wanted);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"a\nb {{nmae}}", "t.md:2: no value for the placeholder \"nmae\""},
        {"{{ name }}", "t.md:1: no value for the placeholder \" name \""},
        {"{{#none}}{{nmae}}{{/none}}", "t.md:1: no value for the placeholder \"nmae\""}, /* hidden ones, too */
        {"{{#other}}{{/other}}", "t.md:1: no value for the placeholder \"other\""},
        {"\n\n{{name", "t.md:3: \"{{\" without \"}}\""},
        {"{{name\n}}", "t.md:1: \"{{\" without \"}}\""},
        {"{{#name}}", "t.md: the section of name is not closed"},
        {"{{/name}}", "t.md:1: {{/name}} closes no section"},
        {"{{#name}}{{#none}}{{/name}}{{/none}}", "t.md:1: {{/name}} closes the section of none"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_ARENA *arena = arena_new();
        struct error error;
        const char *out;
        assert_false(template_fill(arena, "t.md", cases[i].text, values, 4, &out, &error));
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.code, ERROR_INPUT);
    }
}

static void limits_depth(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct error error;
    const char *out;

    (void)state;
    assert_false(template_fill(arena, "t.md",
                               "{{#name}}{{#name}}{{#name}}{{#name}}{{#name}}{{#name}}{{#name}}{{#name}}{{#name}}",
                               values, 4, &out, &error));
    assert_non_null(strstr(error.message, "more than 8 sections"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fills), cmocka_unit_test(refuses),
                                       cmocka_unit_test(limits_depth)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
