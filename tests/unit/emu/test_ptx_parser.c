/* The parser, construct by construct. */
#include "ptx_test.h"

enum { PTX_SCOPE_TEST_DEPTH = 1000 }; /* deeper than every limit */

static const struct ptx_function *parse_body(struct arena *arena, const char *body)
{
    const char *text = arena_printf(arena, "%s%s%s",
                                    ".version 9.0\n.target sm_90a\n.shared .b8 tile[64];\n"
                                    ".func helper(.param .b32 a);\n.entry k(.param .u64 p)\n{\n" PTX_REGISTERS,
                                    body, "\n}\n");
    return last_function(parse_text(arena, text));
}

static const struct ptx_operand *operand(const struct ptx_function *function, uint32_t instruction, uint32_t index)
{
    assert_true(instruction < function->instruction_count);
    assert_true(index < function->instructions[instruction].operand_count);
    return &function->operands[function->instructions[instruction].first_operand + index];
}

static void test_accepts(void **state)
{
    static const char *const bodies[] = {
        "mov.u32 %r1, %tid.x; mov.u32 %r1, %cluster_ctaid.y; mov.u64 %rd1, %globaltimer; mov.u32 %r1, %laneid;",
        "mov.u32 %r1, %dynamic_smem_size; mov.u32 %r1, %envreg3; mov.u32 %r1, WARP_SZ; mov.u32 %r1, %clock;",
        "@%p1 bra L; @!%p1 bra.uni L; L: ret;",
        "{ .reg .b32 t; L: mov.b32 t, 1; bra L; } { .reg .b64 t; L: mov.b64 t, 1; bra L; }",
        "$L__BB0_1: bra $L__BB0_1;",
        "setp.lt.s32 %p1|%p2, %r1, -5; setp.eq.and.u32 _|%p2, %r1, 07, !%p1;",
        "mov.b64 {%r1, %r2}, %rd1; mov.b64 {%r1, _}, %rd1; mov.b64 %rd1, {%r1, %r2};",
        "ld.global.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-16]; st.shared.b32 [tile+4], 0b101U; ld.shared.b32 %r1, [16];",
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, 0, 1, "
        "2, %r2}], "
        "[%r3+8];",
        "cp.async.bulk.wait_group.read 0; bar.sync 0; barrier.cluster.arrive.release.aligned; fence.proxy.async;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 4096;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, %rd1, %p1, 1, -1, "
        "1;",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3, %r3, %r3, %r3}, %p1;",
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];",
        "{ .param .b32 x; st.param.b32 [x], %r1; call.uni helper, (x); } { .param .b32 x; call helper, (x); }",
        "proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[12]) .noreturn;\n"
        "call (%r1), %rd1, (%r2, %rd2), proto;",
        "t: .branchtargets L0, L1; brx.idx %r1, t; L0: ret; L1: exit;",
        "c: .calltargets helper; call %rd1, (%r1), c;",
        ".pragma \"nounroll\"; .local .align 8 .b8 depot[16]; .shared .align 1024 .b8 s[2][4]; mov.u32 %r1, s+4;",
        ".reg .v4 .f32 v; mov.f32 %f1, v.x; mov.v4.f32 v, v;",
        "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1; neg.s32 %r1, -%r2; mov.f32 %f1, 1.5e-3; mov.f32 %f1, .5;",
        "mov.f64 %rd1, 0d3FF0000000000000; mov.f32 %f1, 0F3f800000; mov.f32 %f1, -0f00000000; mov.u64 %rd1, "
        "0xFFFFFFFFFFFFFFFF;",
        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}]; suld.b.1d.b32.trap %r1, [%rd1, {%r2}];",
        ";; /* comment */ // line\n# 1 \"x.cu\"\n ret;",
        "and.b32 %r1, %r1, 0xFEFFFFF8; mov.u32 %r1, (1 << 4) | 2; mov.u32 %r1, 3 > 2 ? 8 : 9;",
        "lop3.or.b32 %r1|%p1, %r1, %r2, %r3, 0x3f, !%p2; elect.sync _|%p1, -1;",
        "add .s32 %r1, %r2, 1;",
        ".loc 1 5 0\n ret; .loc 1 6 2, function_name $L__info_string0+4, inlined_at 1 5 0\n ret;",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        AUTO_ARENA *arena = arena_new();
        const struct ptx_function *function = parse_body(arena, bodies[i]);
        assert_string_equal(function->name, "k");
    }
}

static void test_errors(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t:1:1: no .version: this is no PTX"},
        {"hello", "t:1:1: expected a directive of the module, found 'hello'"},
        {".version 9.0\n", "t:1:1: no .target"},
        {".version x", "t:1:10: expected a version such as 9.0, found 'x'"},
        {PTX_HEAD ".global .b32 x", "t:4:15: expected ';', found the end of the text"},
        {PTX_HEAD ".global .b32 x; .global .b32 x;", "t:4:30: 'x' is declared twice"},
        {PTX_HEAD ".global .align 3 .b8 x;", "t:4:16: an alignment must be a power of two"},
        {PTX_HEAD ".global .b8 x[2] = {1, 2, 3};", "t:4:28: more initial values than 'x' has room for"},
        {PTX_HEAD ".global .b8 x[9223372036854775807][4];", "t:4:35: an array that is larger than the address space"},
        {PTX_HEAD ".global .b8 x = 1 / 0;", "t:4:22: division by zero in a constant expression"},
        {PTX_HEAD ".global .b8 x = 18446744073709551616;",
         "t:4:17: expected a number of at most 64 bits, found '18446744073709551616'"},
        {PTX_HEAD ".func f(.reg .b32 r);", "t:4:9: parameters in registers are not handled; use .param"},
        {PTX_HEAD ".entry k() .bogus 1 { ret; }",
         "t:4:12: expected a directive of the function, '{' or ';', found '.bogus'"},
        {PTX_HEAD ".entry k() { ret; } .entry k() { ret; }", "t:4:21: a second body of 'k'"},
        {PTX_HEAD ".entry k() { bra L; }", "t:4:18: no label 'L'"},
        {PTX_HEAD ".entry k() { { L: } bra L; }", "t:4:25: no label 'L'"},
        {PTX_HEAD ".entry k() { L: L: ret; }", "t:4:17: label 'L' is defined twice"},
        {PTX_HEAD ".entry k() { mov.b32 %r1, 0; }", "t:4:22: '%r1' is not declared"},
        {PTX_HEAD ".entry k() { .reg .b32 %r<2>; mov.b32 %r2, 0; }", "t:4:39: '%r2' is not declared"},
        {PTX_HEAD ".entry k() { @k ret; }", "t:4:15: 'k' is no register"},
        {PTX_HEAD ".entry k() {\n ret\n}", "t:6:1: expected a constant, found '}'"},
        {PTX_HEAD ".entry k() { .reg .b32 r; mov.b32 r.q, 0; }", "t:4:36: expected a component such as .x, found '.q'"},
        {PTX_HEAD ".entry k() { ret; ", "t:4:19: expected a statement or '}', found the end of the text"},
        {PTX_HEAD "/* never", "t:4:1: expected a directive of the module, found a comment that does not end"},
        {PTX_HEAD ".file 1 \"k.cu\n", "t:4:9: expected the name of a file, found a string that does not end"},
        {PTX_HEAD "\x01", "t:4:1: expected a directive of the module, found a byte that is no PTX"},
        {PTX_HEAD ".section .debug_abbrev { .b8 1", "t:4:1: a .section that does not end"},
        {PTX_HEAD ".entry k() { call nobody; }", "t:4:19: 'nobody' is not declared"},
        {PTX_HEAD ".entry k() { call; }", "t:4:14: a jump without operands"},
        {PTX_HEAD ".entry k() { .reg .b32 r; brx.idx r, r; }", "t:4:27: brx takes an index and a .branchtargets table"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_error(cases[i].text, cases[i].message);
}

static void test_limits(void **state)
{
    AUTO_ARENA *arena = arena_new();
    char deep[PTX_SCOPE_TEST_DEPTH + 1];
    const struct ptx_module *module;
    struct error error;

    (void)state;
    memset(deep, '{', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    const char *blocks = arena_printf(arena, PTX_HEAD ".entry k() %s", deep);
    assert_false(ptx_parse(arena, "t", blocks, strlen(blocks), &module, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
    memset(deep, '(', sizeof deep - 1);
    const char *constant = arena_printf(arena, PTX_HEAD ".global .b32 x = %s", deep);
    assert_false(ptx_parse(arena, "t", constant, strlen(constant), &module, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
    memset(deep, '[', sizeof deep - 1);
    const char *operands = arena_printf(arena, PTX_HEAD ".entry k() { mov %s", deep);
    assert_false(ptx_parse(arena, "t", operands, strlen(operands), &module, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
}

static void test_registers(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_function *function = parse_body(arena, "mov.b32 %r5, %r3; { .reg .f32 %r3; mov.f32 %r3, %f1; } "
                                                            ".reg .b64 a1<6>; mov.b64 a15, %rd1; mov.b32 %r3, %r5;");

    (void)state;
    /* slots in order of use; the inner %r3 is another one */
    assert_int_equal(function->register_count, 6);
    assert_int_equal(operand(function, 0, 0)->value, 0);
    assert_int_equal(operand(function, 0, 1)->value, 1);
    assert_int_equal(operand(function, 1, 0)->value, 2);
    assert_int_equal(function->registers[2].type, PTX_F32);
    assert_int_equal(operand(function, 2, 0)->value, 4);
    assert_string_equal(function->registers[4].name, "a15");
    assert_int_equal(operand(function, 3, 0)->value, 1);
    assert_int_equal(operand(function, 3, 1)->value, 0);
}

static void test_labels(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_function *function =
        parse_body(arena, "{ bra L; bra M; L: ret; } L: bra M; M: { bra L; bra END; L: } END:");

    (void)state;
    assert_int_equal(operand(function, 0, 0)->value, 2); /* the inner one */
    assert_int_equal(operand(function, 1, 0)->value, 4); /* further out and further down */
    assert_int_equal(operand(function, 3, 0)->value, 4);
    assert_int_equal(operand(function, 4, 0)->value, 6);
    assert_int_equal(operand(function, 5, 0)->value, 6);
    assert_int_equal(function->instruction_count, 6); /* a label at the end */
}

static void test_operands(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_function *function =
        parse_body(arena, "ld.shared.v2.b32 {%r1, _}, [tile+12]; setp.lt.s32 %p1|%p2, %r1, !%p3; mov.u32 %r1, %ctaid.z;"
                          "mov.b32 %r1, -2; mov.b32 %r1, 4294967295U; mov.f32 %f1, 0fBF800000; mov.b32 %r1, WARP_SZ; "
                          "ld.global.b32 %r1, [%rd1-4];");

    (void)state;
    const struct ptx_operand *vector = operand(function, 0, 0), *address = operand(function, 0, 1);
    assert_int_equal(vector->kind, PTX_OPERAND_VECTOR);
    assert_int_equal(vector->count, 2);
    assert_int_equal(function->operands[vector->first + 1].kind, PTX_OPERAND_SINK);
    assert_int_equal(address->kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(address->bits, 12);
    assert_int_equal(function->operands[address->first].kind, PTX_OPERAND_VARIABLE);
    assert_int_equal(operand(function, 1, 0)->kind, PTX_OPERAND_PAIR);
    assert_true(operand(function, 1, 2)->negated);
    assert_int_equal(operand(function, 2, 1)->value, PTX_SPECIAL_CTAID);
    assert_string_equal(operand(function, 2, 1)->component, "z");
    assert_true(operand(function, 3, 1)->bits == (uint64_t)-2);
    assert_int_equal(operand(function, 4, 1)->immediate, PTX_UNSIGNED);
    assert_int_equal(operand(function, 5, 1)->immediate, PTX_FLOAT32);
    assert_int_equal(operand(function, 5, 1)->bits, 0xBF800000);
    assert_int_equal(operand(function, 6, 1)->immediate, PTX_WARP_SIZE);
    assert_true(operand(function, 7, 1)->bits == (uint64_t)-4);
}

static void test_instruction(void **state)
{
    AUTO_ARENA *arena = arena_new();
    char text[128];
    const struct ptx_module *module = parse_text(
        arena,
        PTX_KERNEL(PTX_REGISTERS "@!%p1 wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {%f1}, %rd1, %rd2, 1;\n"
                                 "frob.v2.f32.never %r1;"));
    const struct ptx_function *function = last_function(module);
    const struct ptx_instruction *wgmma = &function->instructions[0], *unknown = &function->instructions[1];

    (void)state;
    assert_int_equal(wgmma->opcode, PTX_OP_WGMMA);
    assert_int_equal(wgmma->size[0], 64);
    assert_int_equal(wgmma->size[1], 128);
    assert_int_equal(wgmma->size[2], 16);
    assert_int_equal(wgmma->type_count, 3);
    assert_int_equal(wgmma->types[0], PTX_F32);
    assert_int_equal(wgmma->types[2], PTX_BF16);
    assert_int_equal(wgmma->line, 8);
    assert_true(wgmma->guard_negated);
    assert_int_equal(function->registers[wgmma->guard].type, PTX_PRED);
    assert_true(ptx_has_word(function, wgmma, PTX_M_MMA_ASYNC));
    assert_string_equal(ptx_instruction_text(module, function, wgmma, text, sizeof text),
                        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16");
    assert_int_equal(unknown->opcode, PTX_OP_UNKNOWN);
    assert_string_equal(ptx_instruction_text(module, function, unknown, text, sizeof text), "frob.v2.f32.never");
    assert_string_equal(ptx_instruction_text(module, function, unknown, text, 6), "frob.");
}

static void test_functions(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_module *module = parse_text(
        arena, PTX_HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                        ".func g(.param .b32 x) .noreturn;\n"
                        ".visible .entry k(.param .align 128 .b8 map[128], .param .u64 .ptr .shared .align 16 q)\n"
                        ".maxntid 128, 2\n.minnctapersm 2 .maxnreg 168 .reqnctapercluster 2,1,1 .explicitcluster\n"
                        "{ .param .b32 x; call g, (x); ret; }\n"
                        ".func g(.param .b32 x) { trap; }\n");
    const struct ptx_function *kernel = &module->functions[2];

    (void)state;
    assert_int_equal(module->function_count, 3);
    assert_false(module->functions[0].is_defined);
    assert_int_equal(module->functions[0].result_count, 1);
    assert_int_equal(module->functions[0].parameter_count, 2);
    assert_true(module->functions[1].is_defined); /* the definition took the declaration's place */
    assert_true(module->functions[1].no_return);
    assert_true(kernel->is_entry);
    assert_int_equal(kernel->linkage, PTX_LINK_VISIBLE);
    assert_int_equal(kernel->launch.max_threads[1], 2);
    assert_int_equal(kernel->launch.max_threads[2], 1);
    assert_int_equal(kernel->launch.min_ctas, 2);
    assert_int_equal(kernel->launch.max_registers, 168);
    assert_int_equal(kernel->launch.cluster[0], 2);
    assert_true(kernel->launch.explicit_cluster);
    const struct ptx_variable *parameters = &module->variables[kernel->first_parameter];
    assert_int_equal(parameters[0].bytes, 128);
    assert_int_equal(parameters[0].align, 128);
    assert_int_equal(parameters[1].pointee_space, PTX_SPACE_SHARED);
    assert_int_equal(parameters[1].pointee_align, 16);
    assert_ptr_equal(ptx_call_target(module, kernel, &kernel->instructions[0]), &module->functions[1]);
    assert_true(ptx_ends_block(module, kernel, &kernel->instructions[0]));
}

static const struct ptx_variable *find_variable(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (!strcmp(module->variables[i].name, name))
            return &module->variables[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static void test_variables(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_module *module = parse_text(
        arena, PTX_HEAD
        ".extern .shared .align 1024 .b8 dyn[];\n.global .align 1 .b8 s[] = \"a\\n\";\n"
        ".const .f32 m[2][3] = {{1.0}, {0, -2, WARP_SZ}};\n.global .v2 .u16 v[2] = {{1, 2}, {3}};\n"
        ".global .u64 a[3] = {m+8, generic(s), 0};\n.global .u8 b[2] = {0xff(s), 0xFF00(s+1)};\n"
        ".global .b8 w[2][3] = {7, {1}};\n.weak .global .attribute(.managed) .f64 d = 1;\n.common .global .b32 c;\n");
    const struct ptx_variable *variable = find_variable(module, "dyn");

    (void)state;
    assert_true(variable->unsized);
    assert_int_equal(variable->align, 1024);
    variable = find_variable(module, "s");
    assert_int_equal(variable->count, 3); /* with its zero */
    assert_false(variable->unsized);
    assert_int_equal(variable->initial[1].bits, '\n');
    variable = find_variable(module, "m");
    assert_int_equal(variable->bytes, 24);
    assert_int_equal(variable->initial_count, 3);
    assert_int_equal(variable->initial[1].element, 4);
    assert_int_equal(variable->initial[1].bits, 0xC0000000);
    assert_int_equal(variable->initial[2].bits, 0x42000000);
    variable = find_variable(module, "v");
    assert_int_equal(variable->initial[2].element, 2);
    assert_int_equal(variable->bytes, 8);
    variable = find_variable(module, "a");
    assert_int_equal(variable->initial[0].bits, 8);
    assert_string_equal(module->variables[variable->initial[0].variable].name, "m");
    assert_true(variable->initial[1].generic);
    variable = find_variable(module, "b");
    assert_int_equal(variable->initial[1].shift, 8);
    assert_int_equal(variable->initial[1].mask, 0xFF);
    assert_int_equal(variable->initial[1].bits, 1);
    variable = find_variable(module, "w"); /* a brace starts a row of its own */
    assert_int_equal(variable->initial[1].element, 3);
    variable = find_variable(module, "d");
    assert_int_equal(variable->linkage, PTX_LINK_WEAK);
    assert_true(variable->initial[0].bits == 0x3FF0000000000000);
}

static void test_constants(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 4 - 3", 3},
        {"7 / 2", 3},
        {"-7 / 2", (uint64_t)-3},
        {"7 % 4", 3},
        {"1 << 4 | 3", 19},
        {"0xF0 & 0x3C", 0x30},
        {"6 ^ 3", 5},
        {"~0", UINT64_MAX},
        {"!5", 0},
        {"-8 >> 1", (uint64_t)-4},
        {"2 > 1", 1},
        {"1 >= 2", 0},
        {"3 == 3", 1},
        {"3 != 3", 0},
        {"1 && 0", 0},
        {"1 || 0", 1},
        {"1 ? 5 : 6", 5},
        {"0 ? 5 : 6", 6},
        {"(.u64)-1 > 0", 1},
        {"010", 8},
        {"0b11", 3},
        {"0x1fU", 31},
        {"1.5 < 2.5", 1},
        {"-9223372036854775807-1", (uint64_t)1 << 63},
        {"1 << 64", 0},
        {"WARP_SZ - 1", 31},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_ARENA *arena = arena_new();
        const struct ptx_module *module =
            parse_text(arena, arena_printf(arena, PTX_HEAD ".global .u64 x = %s;", cases[i].text));
        const struct ptx_variable *variable = &module->variables[0];
        uint64_t got = variable->initial_count ? variable->initial[0].bits : 0;
        if (got != cases[i].value)
            fail_msg("%s: got %llx", cases[i].text, (unsigned long long)got);
    }
}

static void test_source(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct ptx_source source;
    const struct ptx_module *module =
        parse_text(arena, PTX_KERNEL("ret;\n.loc 1 40 1\nret;\n.loc 2 7 5, function_name $L__info_string0, inlined_at "
                                     "1 41 9\nret;") ".file 1 \"k.cu\"\n.file 2 \"lib\xff.h\"\n");
    const struct ptx_function *function = last_function(module);

    (void)state;
    assert_false(ptx_source_of(module, &function->instructions[0], &source));
    assert_null(source.file);
    assert_true(ptx_source_of(module, &function->instructions[1], &source));
    assert_string_equal(source.file, "k.cu");
    assert_int_equal(source.line, 40);
    assert_null(source.caller_file);
    assert_true(ptx_source_of(module, &function->instructions[2], &source));
    assert_string_equal(source.file, "lib\xEF\xBF\xBD.h"); /* printable */
    assert_int_equal(source.line, 7);
    assert_string_equal(source.caller_file, "k.cu");
    assert_int_equal(source.caller_line, 41);
}

static void test_any_bytes(void **state)
{
    static const char text[] = PTX_KERNEL(PTX_REGISTERS "ld.global.b32 %r1, [%rd1+4];\nL: @%p1 bra L;\nret;");
    uint64_t random = 7;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        AUTO_ARENA *arena = arena_new();
        char copy[sizeof text];
        const struct ptx_module *module;
        struct error error;
        memcpy(copy, text, sizeof text);
        for (int j = 0; j < 3; j++)
            copy[random_below(&random, sizeof text - 1)] = (char)random_below(&random, 256);
        size_t length = random_below(&random, sizeof text);
        if (!ptx_parse(arena, "t", copy, length, &module, &error))
            assert_memory_equal(error.message, "t:", 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepts),   cmocka_unit_test(test_errors),      cmocka_unit_test(test_limits),
        cmocka_unit_test(test_registers), cmocka_unit_test(test_labels),      cmocka_unit_test(test_operands),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_instruction), cmocka_unit_test(test_variables),
        cmocka_unit_test(test_constants), cmocka_unit_test(test_source),      cmocka_unit_test(test_any_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
