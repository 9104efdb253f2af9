/* YAML by schema: values arrive, and what is wrong is told by file and line. Models' files test the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/yaml.h"

struct sample {
    char *name;
    char *size;
};

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct sample, name, 1, 16),
    CYAML_FIELD_STRING_PTR("size", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct sample, size, 1, 16),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct sample, fields)};

static bool read_text(const char *text, struct sample **sample, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    char *folder;
    void *data = NULL;

    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "yaml", &folder, error));
    const char *path = file_join(arena, folder, "s.yaml");
    assert_true(file_write(path, text, strlen(text), 0644, error));
    bool ok = yaml_read_file(path, &schema, &data, error);
    assert_true(file_remove_tree(folder));
    assert_true(ok == (data != NULL));
    *sample = data;
    return ok;
}

static void test_values_arrive(void **state)
{
    struct sample *sample;
    struct error error;

    (void)state;
    assert_true(read_text("# comment\nname: \"a b\"\n", &sample, &error));
    assert_string_equal(sample->name, "a b");
    assert_null(sample->size);
    yaml_release(&schema, sample);
    yaml_release(&schema, NULL);
}

static void test_errors_name_file_and_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "s.yaml: the file is empty"},
        {"# only a comment\n", "s.yaml: the file is empty"},
        {"size: 1\n", "Missing required mapping field: name"},
        {"name: a\n\ncolour: red\n", "Unexpected key: colour"},
        {"name: a\nsize: 1\nname: b\n", "s.yaml:2: Mapping field already seen: name"},
        {"name: [a]\n", "s.yaml:1: "},
        {"name: a\n  size: [\n", "s.yaml:1: libyaml: "},
        {"name: 0123456789abcdefg\n", "s.yaml:1: "},
        {"- a\n", "s.yaml:"},
        {"name: a\n---\nname: b\n", "Ignoring documents after first"},
        {"name: &x a\nsize: *x\n", "alias"},
        {"name: \xff\n", "s.yaml: libyaml: "},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct sample *sample;
        struct error error;
        assert_false(read_text(cases[i].text, &sample, &error));
        if (error.code != ERROR_INPUT || !strstr(error.message, cases[i].message))
            fail_msg("%s\n-> %s", cases[i].text, error.message);
        assert_null(strchr(error.message, '\n'));
    }
}

static void test_a_missing_file(void **state)
{
    struct error error;
    void *data;

    (void)state;
    assert_false(yaml_read_file("/nowhere/s.yaml", &schema, &data, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_null(data);
}

static void test_numbers(void **state)
{
    static const char *const not_numbers[] = {"", "x", "1x", "1 ", "nan", "inf", "1e999", "11", "-1"};
    static const char *const not_integers[] = {"", "x", "1.0", "1e1", "0x1", "99999999999999999999", "11", "-1"};
    struct error error;
    double number;
    int64_t integer;

    (void)state;
    assert_true(yaml_number("f", "k", "2.5", 0, 10, &number, &error) && number == 2.5);
    assert_true(yaml_number("f", "k", "1e1", 0, 10, &number, &error) && number == 10);
    assert_true(yaml_integer("f", "k", "10", 0, 10, &integer, &error) && integer == 10);
    for (size_t i = 0; i < ARRAY_LEN(not_numbers); i++) {
        assert_false(yaml_number("f", "k", not_numbers[i], 0, 10, &number, &error));
        assert_non_null(strstr(error.message, "f: k: "));
    }
    for (size_t i = 0; i < ARRAY_LEN(not_integers); i++)
        assert_false(yaml_integer("f", "k", not_integers[i], 0, 10, &integer, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_arrive),
        cmocka_unit_test(test_errors_name_file_and_line),
        cmocka_unit_test(test_a_missing_file),
        cmocka_unit_test(test_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
