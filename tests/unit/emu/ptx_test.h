/* What the tests of the PTX front end share: texts around a body, and parsing that must succeed or fail. */
#ifndef PTXBENCH_TESTS_PTX_TEST_H
#define PTXBENCH_TESTS_PTX_TEST_H

#include "emu/ptx_parser.h"
#include "emu_test.h"

#define PTX_HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
/* The body begins on line 7. */
#define PTX_KERNEL(body) PTX_HEAD ".extern .shared .b8 dynamic[];\n.visible .entry k(.param .u64 p)\n{\n" body "\n}\n"
#define PTX_REGISTERS ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"

static inline const struct ptx_module *parse_text(struct arena *arena, const char *text)
{
    const struct ptx_module *module = NULL;
    struct error error = {0};

    if (!ptx_parse(arena, "t", text, strlen(text), &module, &error))
        fail_msg("%s\n%s", error.message, text);
    return module;
}

/* An entry with PTX_REGISTERS; the body begins on line 7. A function "stop" does not return. */
static inline const struct ptx_module *parse_kernel(struct arena *arena, const char *body)
{
    return parse_text(arena, arena_printf(arena, "%s.func stop() .noreturn;\n.entry k()\n{ %s%s\n}\n", PTX_HEAD,
                                          PTX_REGISTERS, body));
}

static inline void expect_error(const char *text, const char *message)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_module *module;
    struct error error = {0};

    if (ptx_parse(arena, "t", text, strlen(text), &module, &error))
        fail_msg("parsed, though '%s' was expected:\n%s", message, text);
    assert_string_equal(error.message, message);
    assert_int_equal(error.code, ERROR_INPUT);
}

/* The last function of the module. */
static inline const struct ptx_function *last_function(const struct ptx_module *module)
{
    assert_true(module->function_count > 0);
    return &module->functions[module->function_count - 1];
}

#endif
