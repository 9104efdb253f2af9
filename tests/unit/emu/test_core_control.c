/* Divergence, lanes, barriers, calls, atomics, and the findings of faults: PTX snippets of one warp or a few. */
#include "emu_run.h"

enum { WORDS = 256 };

#define DECLARE ".reg .b64 %rd<16>; .reg .b32 %r<24>; .reg .pred %p<8>; .reg .b32 %t, %v; .reg .b64 %out, %at;\n"
#define START DECLARE "mov.u32 %t, %tid.x; ld.param.u64 %out, [p0]; mov.u32 %v, 0; mad.wide.u32 %at, %t, 4, %out;\n"
#define END "\nst.global.u32 [%at], %v;\n"

/* Snippets set %v of each thread; `expect` is what thread t must have. */
struct lanes_case {
    const char *name, *code;
    uint32_t block;
    uint32_t (*expect)(uint32_t t);
};

#define CASES(X)                                                                                                       \
    X(diverge, 32,                                                                                                     \
      "setp.lt.u32 %p1, %t, 10; @%p1 bra A; add.u32 %v, %v, 100; bra B; A: add.u32 %v, %v, 5; B: "                     \
      "add.u32 %v, %v, %t;",                                                                                           \
      (t < 10 ? 5 : 100) + t)                                                                                          \
    X(trip_count, 32,                                                                                                  \
      "mov.u32 %r1, 0; L: add.u32 %v, %v, %r1; add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %t; @%p1 "                   \
      "bra L; activemask.b32 %r2; and.b32 %r2, %r2, 0; add.u32 %v, %v, %r2;",                                          \
      t *(t + 1) / 2)                                                                                                  \
    X(reconverge, 32,                                                                                                  \
      "and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; setp.eq.u32 %p2, %r1, 1; @%p2 bra B; "                 \
      "mov.u32 %v, 1; bra C; A: mov.u32 %v, 2; bra C; B: mov.u32 %v, 3; C: activemask.b32 %r2; "                       \
      "popc.b32 %r2, %r2; mad.lo.u32 %v, %r2, 10, %v;",                                                                \
      320 + (t % 4 == 0   ? 2                                                                                          \
             : t % 4 == 1 ? 3                                                                                          \
                          : 1))                                                                                        \
    X(exit_some, 32,                                                                                                   \
      "setp.ge.u32 %p1, %t, 20; mov.u32 %v, 9; st.global.u32 [%at], %v; @%p1 exit; "                                   \
      "vote.sync.ballot.b32 %v, 1, 0xffffffff; popc.b32 %v, %v;",                                                      \
      t < 20 ? 20 : 9)                                                                                                 \
    X(indexed, 32,                                                                                                     \
      "and.b32 %r1, %t, 3; T: .branchtargets A, B, C, A; brx.idx %r1, T; A: add.u32 %v, %v, 1; bra D; "                \
      "B: add.u32 %v, %v, 2; C: add.u32 %v, %v, 4; D: add.u32 %v, %v, 8;",                                             \
      t % 4 == 1   ? 14                                                                                                \
      : t % 4 == 2 ? 12                                                                                                \
                   : 9)                                                                                                \
    X(shfl_up, 32, "shfl.sync.up.b32 %v|%p1, %t, 3, 0, 0xffffffff; selp.b32 %r1, 100, 0, %p1; add.u32 %v, %v, %r1;",   \
      t >= 3 ? t - 3 + 100 : t)                                                                                        \
    X(shfl_down, 32,                                                                                                   \
      "shfl.sync.down.b32 %v|%p1, %t, 2, 0x1f, 0xffffffff; selp.b32 %r1, 100, 0, %p1; add.u32 %v, %v, "                \
      "%r1;",                                                                                                          \
      t + 2 < 32 ? t + 102 : t)                                                                                        \
    X(shfl_segment, 32, "shfl.sync.idx.b32 %v, %t, 5, 0x181f, 0xffffffff;", t / 8 * 8 + 5)                             \
    X(shfl_down_segment, 32, "shfl.sync.down.b32 %v, %t, 2, 0x181f, 0xffffffff;", t % 8 < 6 ? t + 2 : t)               \
    X(shfl_bfly, 32, "shfl.sync.bfly.b32 %v, %t, 9, 0x1f, 0xffffffff;", t ^ 9)                                         \
    X(ballot, 32, "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; vote.sync.ballot.b32 %v, !%p1, 0xffffffff;",           \
      0x55555555 + 0 * t)                                                                                              \
    X(vote_any, 32,                                                                                                    \
      "setp.eq.u32 %p1, %t, 7; vote.sync.any.pred %p2, %p1, 0xffffffff; vote.sync.all.pred %p3, %p1, "                 \
      "0xffffffff; selp.b32 %v, 1, 0, %p2; selp.b32 %r1, 2, 0, %p3; or.b32 %v, %v, %r1;",                              \
      1 + 0 * t)                                                                                                       \
    X(match, 32, "and.b32 %r1, %t, 7; match.any.sync.b32 %v, %r1, 0xffffffff;", 0x01010101u << (t % 8))                \
    X(match_all, 32, "match.all.sync.b32 %v|%p1, 5, 0xffffffff; selp.b32 %v, %v, 0, %p1;", UINT32_MAX + 0 * t)         \
    X(redux, 32,                                                                                                       \
      "redux.sync.max.s32 %r1, %t, 0xffffffff; redux.sync.add.u32 %r2, %t, 0xffffffff; add.u32 %v, %r1, "              \
      "%r2;",                                                                                                          \
      31 + 496 + 0 * t)                                                                                                \
    X(elect, 32, "elect.sync %r1|%p1, 0xffffffff; selp.b32 %v, 50, %r1, %p1;", t == 0 ? 50 : 0)                        \
    X(tiles, 32,                                                                                                       \
      "and.b32 %r1, %t, 24; mov.u32 %r2, 0xff; shl.b32 %r2, %r2, %r1; shfl.sync.bfly.b32 %v, %t, 3, 0x181f, %r2; "     \
      "redux.sync.add.u32 %r3, %t, %r2; mad.lo.u32 %v, %r3, 100, %v; setp.eq.u32 %p1, %t, 9; "                         \
      "vote.sync.any.pred %p2, %p1, %r2; selp.b32 %r3, 100000, 0, %p2; add.u32 %v, %v, %r3; "                          \
      "vote.sync.ballot.b32 %r3, 1, %r2; setp.eq.u32 %p1, %r3, %r2; selp.b32 %r3, 0, 7, %p1; add.u32 %v, %v, %r3; "    \
      "elect.sync %r3|%p1, %r2; setp.eq.u32 %p2, %r3, %r1; selp.b32 %r3, 0, 9, %p2; add.u32 %v, %v, %r3;",             \
      (t ^ 3) + 100 * (t / 8 * 64 + 28) + (t / 8 == 1 ? 100000 : 0))                                                   \
    X(barrier_reduce, 96,                                                                                              \
      "setp.lt.u32 %p1, %t, 40; bar.red.popc.u32 %v, 2, 96, %p1; bar.red.and.pred %p2, 3, %p1; "                       \
      "bar.red.or.pred %p3, 3, %p1; selp.b32 %r1, 100, 0, %p2; selp.b32 %r2, 1000, 0, %p3; "                           \
      "add.u32 %v, %v, %r1; add.u32 %v, %v, %r2;",                                                                     \
      1040 + 0 * t)                                                                                                    \
    X(producer, 64,                                                                                                    \
      "mov.u32 %r1, room; setp.ge.u32 %p1, %t, 32; @%p1 bra CONSUME; mad.lo.u32 %r2, %t, 4, %r1; "                     \
      "add.u32 %r3, %t, 7; st.shared.u32 [%r2], %r3; bar.arrive 4, 64; bra DONE; CONSUME: bar.sync 4, "                \
      "64; sub.u32 %r3, %t, 32; mad.lo.u32 %r2, %r3, 4, %r1; ld.shared.u32 %v, [%r2]; DONE:",                          \
      t < 32 ? 0 : t - 32 + 7)                                                                                         \
    X(early_exit, 96,                                                                                                  \
      "setp.ge.u32 %p1, %t, 64; @%p1 bra OUT; bar.sync 0; mov.u32 %v, 6; OUT: st.global.u32 [%at], "                   \
      "%v; exit;",                                                                                                     \
      t < 64 ? 6 : 0)                                                                                                  \
    X(one_waits, 32,                                                                                                   \
      "setp.ne.u32 %p1, %t, 0; @%p1 bra JOIN; mov.u32 %v, 3; JOIN: bar.sync 0; shfl.sync.idx.b32 %v, "                 \
      "%v, 0, 0x1f, 0xffffffff;",                                                                                      \
      3 + 0 * t)                                                                                                       \
    X(call, 32,                                                                                                        \
      "{ .param .b32 in; .param .b32 back; st.param.b32 [in], %t; call (back), twice, (in); ld.param.b32 "             \
      "%v, [back]; }",                                                                                                 \
      2 * t + 1)                                                                                                       \
    X(guarded_call, 32,                                                                                                \
      "setp.lt.u32 %p1, %t, 9; { .param .b32 in; .param .b32 back; st.param.b32 [in], %t; @%p1 call "                  \
      "(back), twice, (in); @%p1 ld.param.b32 %v, [back]; }",                                                          \
      t < 9 ? 2 * t + 1 : 0)                                                                                           \
    X(cas_loop, 64,                                                                                                    \
      "RETRY: ld.volatile.global.u32 %r1, [%out+1000]; add.u32 %r2, %r1, 2; atom.global.cas.b32 %r3, "                 \
      "[%out+1000], %r1, %r2; setp.ne.u32 %p1, %r3, %r1; @%p1 bra RETRY; bar.sync 0; ld.global.u32 %v, "               \
      "[%out+1000];",                                                                                                  \
      128 + 0 * t)                                                                                                     \
    X(warp_lock, 32,                                                                                                   \
      "TRY: atom.global.exch.b32 %r1, [%out+1000], 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY; "                         \
      "ld.volatile.global.u32 %r2, [%out+1004]; add.u32 %r2, %r2, 1; st.volatile.global.u32 "                          \
      "[%out+1004], %r2; atom.global.exch.b32 %r1, [%out+1000], 0; bar.warp.sync 0xffffffff; "                         \
      "ld.global.u32 %v, [%out+1004];",                                                                                \
      32 + 0 * t)                                                                                                      \
    X(sync_both_ways, 32,                                                                                              \
      "st.shared.u32 [room], 0; setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.warp.sync 0xffffffff; "                        \
      "ld.shared.u32 %v, [room]; bra B; A: st.shared.u32 [room], 7; bar.warp.sync 0xffffffff; mov.u32 %v, 3; B:",      \
      t < 5 ? 3 : 7)                                                                                                   \
    X(sync_three_ways, 32,                                                                                             \
      "and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; setp.eq.u32 %p2, %r1, 1; @%p2 bra B; "                 \
      "bar.warp.sync 0xffffffff; bra C; A: bar.warp.sync 0xffffffff; bra C; B: bar.warp.sync 0xffffffff; C: "          \
      "activemask.b32 %v;",                                                                                            \
      UINT32_MAX + 0 * t)                                                                                              \
    X(atom_inc, 32,                                                                                                    \
      "atom.global.inc.u32 %r1, [%out+1000], 9; bar.warp.sync 0xffffffff; ld.global.u32 %v, "                          \
      "[%out+1000];",                                                                                                  \
      2 + 0 * t)                                                                                                       \
    X(red_min, 32,                                                                                                     \
      "sub.u32 %r1, 40, %t; red.shared.max.u32 [room], 0; st.shared.u32 [room], 99; "                                  \
      "red.shared.min.u32 [room], %r1; bar.warp.sync 0xffffffff; ld.shared.u32 %v, [room];",                           \
      9 + 0 * t)                                                                                                       \
    X(atom_f16x2, 32,                                                                                                  \
      "st.global.u32 [%out+1000], 0; bar.warp.sync 0xffffffff; red.global.add.noftz.f16x2 "                            \
      "[%out+1000], 0x3C004000; bar.warp.sync 0xffffffff; ld.global.u32 %v, [%out+1000];",                             \
      0x50005400 + 0 * t)                                                                                              \
    X(copy_async, 32,                                                                                                  \
      "mov.u32 %r1, room; mad.lo.u32 %r1, %t, 16, %r1; mad.wide.u32 %rd1, %t, 16, %out; add.u64 %rd1, "                \
      "%rd1, 1024; st.global.u32 [%rd1+4], %t; cp.async.cg.shared.global [%r1], [%rd1], 16; "                          \
      "cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %v, [%r1+4];",                                      \
      t)                                                                                                               \
    X(generic, 32,                                                                                                     \
      "mov.u64 %rd1, room; cvta.shared.u64 %rd1, %rd1; mad.wide.u32 %rd2, %t, 4, %rd1; st.u32 [%rd2], "                \
      "%t; cvta.to.shared.u64 %rd3, %rd2; cvt.u32.u64 %r1, %rd3; ld.shared.u32 %v, [%r1]; "                            \
      "isspacep.shared %p1, %rd2; selp.b32 %r2, 1000, 0, %p1; add.u32 %v, %v, %r2;",                                   \
      t + 1000)

#define X(name, block, code, expression)                                                                               \
    static uint32_t expect_##name(uint32_t t)                                                                          \
    {                                                                                                                  \
        return expression;                                                                                             \
    }
CASES(X)
#undef X

static const struct lanes_case cases[] = {
#define X(name, block, code, expression) {#name, code, block, expect_##name},
    CASES(X)
#undef X
};

static const char variables[] =
    ".shared .align 16 .b8 room[1024];\n"
    ".func (.param .b32 back) twice(.param .b32 in) { .reg .b32 %r<4>; ld.param.b32 %r1, [in]; mad.lo.u32 %r2, %r1, 2, "
    "1; st.param.b32 [back], %r2; ret; }\n";

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t s = 0; s < ARRAY_LEN(run_schedules); s++) {
            struct emulator *emulator = run_emulator();
            uint32_t *out = run_memory(emulator, 4096);
            char body[4096];
            struct run run = {.body = body,
                              .variables = variables,
                              .block = cases[i].block,
                              .schedule = run_schedules[s],
                              .parameters[0] = (uintptr_t)out};

            snprintf(body, sizeof body, "%s%s%s", START, cases[i].code, END);
            run_snippet(emulator, &run);
            if (run.outcome != EMULATOR_COMPLETED)
                fail_msg("%s: outcome %d: %s", cases[i].name, run.outcome, run.findings);
            for (uint32_t t = 0; t < cases[i].block; t++) {
                if (out[t] != cases[i].expect(t))
                    fail_msg("%s: thread %u: %u, expected %u", cases[i].name, t, out[t], cases[i].expect(t));
            }
            emulator_free(emulator);
        }
    }
}

/* What must be found. The memory at p0 has 1024 bytes. */
static const struct fault_case {
    const char *code;
    uint32_t block;
    enum emulator_outcome outcome;
    const char *finding; /* a part of "code: message" */
} faults[] = {
    {"st.global.u32 [%out+1024], %v;", 32, EMULATOR_FAULTED, "global_out_of_bounds: write of 4 bytes"},
    {"ld.global.u32 %v, [%out-4];", 32, EMULATOR_FAULTED, "4 bytes before allocation"},
    {"ld.global.u32 %v, [64];", 32, EMULATOR_FAULTED, "no allocation near"},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%out+8];", 32, EMULATOR_FAULTED, "misaligned_access: global address"},
    {"ld.shared.u32 %v, [0];", 32, EMULATOR_FAULTED, "shared_out_of_bounds: shared offset 0x0 is below"},
    {"ld.shared.u32 %v, [5000];", 32, EMULATOR_FAULTED, "shared_out_of_bounds: shared offset 0x1388"},
    {"mov.u32 %r1, room; st.shared.u32 [%r1+1024], %v;", 32, EMULATOR_FAULTED, "4 bytes end 4 bytes behind"},
    {"st.shared.u32 [0x01000400], %v;", 32, EMULATOR_FAULTED, "is outside of the cluster of 1 CTAs"},
    {"ld.shared.u32 %v, [room];", 32, EMULATOR_COMPLETED, "uninitialised_shared: 4 bytes at shared offset 0x400"},
    {".local .b32 buffer[4]; st.local.u32 [buffer+16], %v;", 32, EMULATOR_FAULTED, "local_out_of_bounds"},
    {"mov.u64 %rd1, map; st.u32 [%rd1], %v;", 32, EMULATOR_FAULTED, "read_only_write"},
    {"trap;", 32, EMULATOR_FAULTED, "trap: the kernel executed trap"},
    {"bar.sync 1, 40;", 32, EMULATOR_FAULTED, "barrier_count: barrier 1 with 40 threads"},
    {"setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 1, 96; bra B; A: bar.sync 1, 64; B:", 64, EMULATOR_FAULTED,
     "barrier_count: barrier 1 is used with"},
    {"setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B:", 32, EMULATOR_FAULTED,
     "divergent_aligned: lanes"},
    {"setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.warp.sync 0xffffffff; bra B; A: bar.warp.sync 0xffff; B:", 32,
     EMULATOR_FAULTED, "divergent_aligned: lanes"},
    {"setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.warp.sync 0xffffffff; bra B; A: bar.sync 1, 32; B:", 32, EMULATOR_FAULTED,
     "divergent_aligned: lanes"},
    {"setp.lt.u32 %p1, %t, 5; @%p1 shfl.sync.idx.b32 %v, %t, 0, 0x1f, 0x7;", 32, EMULATOR_FAULTED,
     "whose member mask 0x00000007 leaves it out"},
    {"bar.sync 3, 64;", 32, EMULATOR_DEADLOCKED, "barrier 3: 32 of 64 threads arrived"},
    {"barrier.cluster.arrive.aligned; setp.lt.u32 %p1, %t, 32; @%p1 bra OUT; OUT: bar.sync 2, 96;", 64,
     EMULATOR_DEADLOCKED, "barrier 2: 64 of 96"},
    {"L: ld.acquire.gpu.global.u32 %r1, [%out]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;", 32, EMULATOR_DEADLOCKED,
     "deadlock: no thread makes progress"},
    {"L: add.u32 %v, %v, 1; bra L;", 32, EMULATOR_OUT_OF_BUDGET, "endless_loop"},
    {"call endless;", 32, EMULATOR_FAULTED, "stack overflow"},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct emulator *emulator = run_emulator();
        void *out = run_memory(emulator, 1024);
        char body[2048];
        struct run run = {.body = body,
                          .variables = ".shared .align 16 .b8 room[1024];\n.func endless() { call endless; ret; }\n",
                          .block = faults[i].block,
                          .parameters[0] = (uintptr_t)out};

        snprintf(body, sizeof body, "%s%s%s", START, faults[i].code, END);
        run_snippet(emulator, &run);
        if (run.outcome != faults[i].outcome || !strstr(run.findings, faults[i].finding))
            fail_msg("%s: outcome %d: %s", faults[i].code, run.outcome, run.findings);
        emulator_free(emulator);
    }
}

/* The shift of dynamic shared memory keeps the alignment that the kernel declares. */
static void test_shared_shift(void **state)
{
    static const struct {
        const char *variables;
        uint32_t shift, wanted;
    } rows[] = {
        {".extern .shared .align 16 .b8 room[];", 0, 1024},
        {".extern .shared .align 16 .b8 room[];", 40, 1024 + 48},
        {".extern .shared .align 1024 .b8 room[];", 0, 1024},
        {".extern .shared .align 1024 .b8 room[];", 128, 2048},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct emulator *emulator = run_emulator();
        uint32_t *out = run_memory(emulator, 4096);
        struct run run = {
            .body = ".reg .b32 %a; .reg .b64 %o; mov.u32 %a, room; ld.param.u64 %o, [p0]; st.global.u32 [%o], %a;",
            .variables = rows[i].variables,
            .shared_bytes = 64,
            .schedule.shared_shift = rows[i].shift,
            .parameters[0] = (uintptr_t)out};

        run_snippet(emulator, &run);
        run_check_clean(&run);
        assert_int_equal(*out, rows[i].wanted);
        emulator_free(emulator);
    }
}

static void test_use_after_free(void **state)
{
    struct emulator *emulator = run_emulator();
    void *out = run_memory(emulator, 1 << 20);
    struct error error;
    struct run run = {.body = START END, .block = 32, .parameters[0] = (uintptr_t)out};

    (void)state;
    assert_true(emu_memory_release(emulator_memory(emulator), out, true, &error));
    run_snippet(emulator, &run);
    assert_int_equal(run.outcome, EMULATOR_FAULTED);
    assert_non_null(strstr(run.findings, "use_after_free"));
    assert_non_null(strstr(run.findings, "freed in stream order"));
    assert_false(emu_memory_release(emulator_memory(emulator), out, false, &error));
    assert_non_null(strstr(error.message, "freed already"));
    emulator_free(emulator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_use_after_free),
        cmocka_unit_test(test_shared_shift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
