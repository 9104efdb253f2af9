/* Printing a module and reading it back gives the same module. */
#include "base/buffer.h"
#include "base/file.h"
#include "emu/ptx_print.h"
#include "ptx_test.h"

static void same_operand(const struct ptx_operand *a, const struct ptx_operand *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->immediate, b->immediate);
    assert_int_equal(a->negated, b->negated);
    assert_memory_equal(a->component, b->component, sizeof a->component);
    if (a->kind != PTX_OPERAND_VARIABLE) /* prototypes come first, so variables are numbered anew */
        assert_int_equal(a->value, b->value);
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->count, b->count);
    assert_true(a->bits == b->bits);
}

static void same_instruction(const struct ptx_module *module, const struct ptx_function *function,
                             const struct ptx_module *other_module, const struct ptx_function *other, uint32_t index)
{
    const struct ptx_instruction *a = &function->instructions[index], *b = &other->instructions[index];
    char text[256], other_text[256];

    assert_int_equal(a->opcode, b->opcode);
    assert_string_equal(ptx_instruction_text(module, function, a, text, sizeof text),
                        ptx_instruction_text(other_module, other, b, other_text, sizeof other_text));
    assert_int_equal(a->guard, b->guard);
    assert_int_equal(a->guard_negated, b->guard_negated);
    assert_int_equal(a->first_operand, b->first_operand);
    assert_int_equal(a->operand_count, b->operand_count);
    struct ptx_source source, other_source;
    assert_int_equal(ptx_source_of(module, a, &source), ptx_source_of(other_module, b, &other_source));
    assert_int_equal(source.line, other_source.line);
    assert_int_equal(source.caller_line, other_source.caller_line);
}

static void same_function(const struct ptx_module *module, const struct ptx_module *other_module, uint32_t index)
{
    const struct ptx_function *a = &module->functions[index], *b = &other_module->functions[index];

    assert_string_equal(a->name, b->name);
    assert_int_equal(a->is_entry, b->is_entry);
    assert_int_equal(a->is_defined, b->is_defined);
    assert_int_equal(a->no_return, b->no_return);
    assert_memory_equal(&a->launch, &b->launch, sizeof a->launch);
    assert_int_equal(a->instruction_count, b->instruction_count);
    assert_int_equal(a->operand_count, b->operand_count);
    assert_int_equal(a->register_count, b->register_count);
    assert_int_equal(a->parameter_count, b->parameter_count);
    for (uint32_t i = 0; i < a->instruction_count; i++)
        same_instruction(module, a, other_module, b, i);
    for (uint32_t i = 0; i < a->operand_count; i++)
        same_operand(&a->operands[i], &b->operands[i]);
    for (uint32_t i = 0; i < a->register_count; i++) {
        assert_int_equal(a->registers[i].type, b->registers[i].type);
        assert_int_equal(a->registers[i].elements, b->registers[i].elements);
    }
}

static void check_file(struct arena *arena, const char *path)
{
    AUTO_FREE char *text = NULL;
    AUTO_BUFFER printed = buffer_new(16 << 20);
    AUTO_BUFFER again = buffer_new(16 << 20);
    struct error error;
    size_t length;

    if (!file_read(path, 16 << 20, &text, &length, &error))
        fail_msg("%s", error.message);
    const struct ptx_module *module = parse_text(arena, text);
    ptx_print_module(arena, module, &printed);
    const struct ptx_module *other = parse_text(arena, printed.data);
    assert_int_equal(module->function_count, other->function_count);
    for (uint32_t i = 0; i < module->function_count; i++)
        same_function(module, other, i);
    ptx_print_module(arena, other, &again);
    assert_string_equal(printed.data, again.data);
}

static void test_round_trip(void **state)
{
    static const char folder[] = SOURCE_ROOT "/tests/fuzz/seeds/ptx";
    AUTO_ARENA *arena = arena_new();
    struct error error;
    char **paths;
    size_t count;

    (void)state;
    assert_true(file_list(arena, folder, ".ptx", &paths, &count, &error));
    assert_true(count >= 3);
    for (size_t i = 0; i < count; i++)
        check_file(arena, file_join(arena, folder, paths[i]));
}

static void test_canonical_names(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER printed = buffer_new(1 << 16);
    const struct ptx_module *module = parse_text(
        arena, PTX_HEAD
        ".global .b32 $v0;\n.entry k()\n{\n.shared .b32 s;\n.reg .b32 %r<4>;\nL: mov.b32 %r3, s+4;\nbra L;\n}\n");

    (void)state;
    /* a global that looks like a canonical name makes those longer */
    ptx_print_module(arena, module, &printed);
    assert_non_null(strstr(printed.data, "\n{\n.reg .b32 %vv0;\n.shared .align 4 .b32 $vvV0;\n$vvL0:\n"
                                         "    mov.b32 %vv0, $vvV0+4;\n    bra $vvL0;\n}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_canonical_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
