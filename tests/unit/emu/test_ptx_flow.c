/* Blocks and points of reconvergence. */
#include "emu/ptx_flow.h"
#include "ptx_test.h"

enum { INSTRUCTIONS_MAX = 16 };

/* `expected`: for each instruction where its lanes meet again; E for the function's end. */
static void check(const char *body, const uint32_t *expected, uint32_t count, uint32_t blocks)
{
    AUTO_ARENA *arena = arena_new();
    const struct ptx_module *module = parse_kernel(arena, body);
    const struct ptx_function *function = last_function(module);
    const struct ptx_flow *flow = ptx_flow_new(arena, module, function);

    assert_int_equal(function->instruction_count, count);
    assert_int_equal(flow->block_count, blocks);
    for (uint32_t i = 0; i < count; i++)
        if (ptx_flow_reconvergence(flow, i) != expected[i])
            fail_msg("%s\ninstruction %u: got %u", body, i, ptx_flow_reconvergence(flow, i));
}

#define E PTX_NONE
#define CHECK(blocks, body, ...)                                                                                       \
    do {                                                                                                               \
        static const uint32_t expected[] = {__VA_ARGS__};                                                              \
        check(body, expected, (uint32_t)(sizeof expected / sizeof *expected), blocks);                                 \
    } while (0)

static void test_shapes(void **state)
{
    (void)state;
    CHECK(1, "mov.b32 %r1, 0; ret;", E, E);
    /* if */
    CHECK(3, "@%p1 bra L; mov.b32 %r1, 0; L: ret;", 2, 2, E);
    /* if else */
    CHECK(4, "@%p1 bra A; mov.b32 %r1, 0; bra B; A: mov.b32 %r1, 1; B: ret;", 4, 4, 4, 4, E);
    /* loop */
    CHECK(3, "mov.b32 %r1, 0; L: add.s32 %r1, %r1, 1; @%p1 bra L; ret;", 1, 3, 3, E);
    /* early exit: they meet at the end alone */
    CHECK(3, "@%p1 bra L; ret; L: exit;", E, E, E);
    CHECK(2, "@%p1 exit; ret;", E, E);
    /* a break out of a loop */
    CHECK(4, "L: @%p1 bra OUT; @%p2 bra L; mov.b32 %r1, 0; bra OUT; OUT: ret;", 4, 4, 4, 4, E);
    /* nested ifs */
    CHECK(5, "@%p1 bra A; @%p2 bra B; mov.b32 %r1, 1; B: mov.b32 %r1, 2; A: ret;", 4, 3, 3, 4, E);
    /* switch */
    CHECK(4, "t: .branchtargets A, B, C; brx.idx %r1, t; A: bra C; B: bra C; C: ret;", 3, 3, 3, E);
    /* a call that does not return, and trap */
    CHECK(5, "@%p1 bra A; call stop; A: @%p2 bra B; trap; B: ret;", 2, E, 4, E, E);
}

static void test_endless(void **state)
{
    (void)state;
    CHECK(1, "L: bra L;", E);
    CHECK(2, "@%p1 bra L; L: bra L;", E, E);
    /* lanes that may never come back: those that do meet at L */
    CHECK(3, "@%p1 bra L; M: bra M; L: mov.b32 %r1, 0; ret;", 2, E, E, E);
    CHECK(2, "@%p1 bra END; mov.b32 %r1, 0; END:", E, E);
}

/* Against the definition: a node post-dominates another when it lies on every way to the end. */
static bool reaches_end(const struct ptx_flow *flow, uint32_t from, uint32_t without, bool *seen)
{
    if (from == without || seen[from])
        return false;
    seen[from] = true;
    if (flow->blocks[from].exits)
        return true;
    for (uint32_t i = 0; i < flow->blocks[from].successor_count; i++)
        if (reaches_end(flow, flow->blocks[from].successors[i], without, seen))
            return true;
    return false;
}

static bool dominates(const struct ptx_flow *flow, uint32_t node, uint32_t from)
{
    bool seen[4 * INSTRUCTIONS_MAX] = {false};

    return !reaches_end(flow, from, node, seen);
}

static bool can_end(const struct ptx_flow *flow, uint32_t from)
{
    return !dominates(flow, PTX_NONE, from);
}

static void test_random(void **state)
{
    uint64_t random = 99;

    (void)state;
    for (int round = 0; round < 500; round++) {
        AUTO_ARENA *arena = arena_new();
        const char *body = "";
        uint32_t count = 2 + random_below(&random, INSTRUCTIONS_MAX - 2);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t kind = random_below(&random, 4), target = random_below(&random, count);
            const char *text = kind == 0   ? arena_printf(arena, "bra L%u;", target)
                               : kind == 1 ? "mov.b32 %r1, 0;"
                               : kind == 2 ? arena_printf(arena, "@%%p1 bra L%u;", target)
                                           : (i % 3 ? "@%p1 exit;" : "ret;");
            body = arena_printf(arena, "%sL%u: %s\n", body, i, text);
        }
        const struct ptx_module *module = parse_kernel(arena, body);
        const struct ptx_flow *flow = ptx_flow_new(arena, module, last_function(module));
        for (uint32_t i = 0; i < flow->block_count; i++) {
            uint32_t meet = flow->blocks[i].reconvergence;
            if (!can_end(flow, i)) {
                assert_int_equal(meet, PTX_NONE);
                continue;
            }
            /* every strict post-dominator post-dominates the immediate one as well */
            for (uint32_t j = 0; j < flow->block_count; j++)
                if (j != i && dominates(flow, j, i) && (meet == PTX_NONE || !dominates(flow, j, meet)))
                    fail_msg("%s\nblock %u: %u is nearer than %u", body, i, j, meet);
            if (meet != PTX_NONE)
                assert_true(meet != i && dominates(flow, meet, i));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
