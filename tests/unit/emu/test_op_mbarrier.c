#include "emu_group.h"

#define SHARED ".shared .align 16 .b8 bar[64];"
#define INIT(count)                                                                                                    \
    ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n"                                                         \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, bar; setp.ne.u32 %p1, %r1, 0; @%p1 bra INITED;\n"                               \
    "mbarrier.init.shared::cta.b64 [%r2], " #count ";\nINITED: bar.sync 0;\n"
#define WAIT(parity)                                                                                                   \
    "W" #parity ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], " #parity "; @!%p2 bra W" #parity ";\n"

/* Every thread of four warps arrives; everyone sees what thread 127 wrote before it did. */
static void arrivals_of_all_threads(void **state)
{
    uint32_t *out = run_memory(emulator, 128 * 4);

    (void)state;
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {
            .variables = SHARED ".shared .b32 word;",
            .block = 128,
            .schedule = run_schedules[s],
            .parameters = {RUN_ADDRESS(out)},
            .body = INIT(128) "setp.ne.u32 %p3, %r1, 127; mov.u32 %r3, 42; @!%p3 st.shared.u32 [word], %r3;\n"
                              "mbarrier.arrive.shared::cta.b64 %rd1, [bar];\n"
                              "L: mbarrier.try_wait.shared::cta.b64 %p2, [bar], %rd1; @!%p2 bra L;\n"
                              "ld.shared.u32 %r4, [word]; ld.param.u64 %rd2, [p0]; mul.wide.u32 %rd3, %r1, 4;\n"
                              "add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r4;"};
        memset(out, 0, 128 * 4);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        for (int i = 0; i < 128; i++)
            assert_int_equal(out[i], 42);
    }
}

/* Tokens, pending counts, drops, and the parity of a fresh barrier. */
static void tokens_and_counts(void **state)
{
    uint32_t *out = run_memory(emulator, 64);

    (void)state;
    struct run run = {
        .variables = SHARED,
        .parameters = {RUN_ADDRESS(out)},
        .body = INIT(3) "ld.param.u64 %rd9, [p0];\n"
                        "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1; selp.u32 %r3, 1, 0, %p2; st.global.u32 "
                        "[%rd9], %r3;\n"
                        "mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.pending_count.b64 %r4, %rd1;\n"
                        "st.global.u32 [%rd9+4], %r4;\n"
                        "mbarrier.arrive_drop.shared.b64 %rd2, [bar]; mbarrier.pending_count.b64 %r4, %rd2;\n"
                        "st.global.u32 [%rd9+8], %r4;\n"
                        "mbarrier.test_wait.shared.b64 %p3, [bar], %rd2; selp.u32 %r3, 1, 0, %p3; st.global.u32 "
                        "[%rd9+12], %r3;\n"
                        "mbarrier.arrive.noComplete.shared.b64 %rd3, [bar+8-8], 0+1;\n",
    };
    run_snippet(emulator, &run); /* the last arrival would complete the phase */
    run_check_finding(&run, EMULATOR_FAULTED, "mbarrier_misuse: arrival with .noComplete and count 1 would complete");
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 3);
    assert_int_equal(out[2], 2);
    assert_int_equal(out[3], 0);
}

/* CTA 0 waits for one arrival of each thread of CTA 1. */
static void arrivals_from_another_cta(void **state)
{
    (void)state;
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {
            .variables = SHARED,
            .grid = 2,
            .cluster = 2,
            .block = 32,
            .schedule = run_schedules[s],
            .body = INIT(32) "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r5, %cluster_ctarank;\n"
                             "setp.eq.u32 %p4, %r5, 0; @%p4 bra WAITS; mapa.shared::cluster.u32 %r6, %r2, 0;\n"
                             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6]; bra DONE;\n"
                             "WAITS: " WAIT(0) "DONE: barrier.cluster.arrive; barrier.cluster.wait;"};
        run_snippet(emulator, &run);
        run_check_clean(&run);
    }
}

/* Addresses without a state space are generic. */
static void generic_addresses(void **state)
{
    (void)state;
    struct run run = {
        .variables = SHARED,
        .block = 32,
        .body = INIT(32) "cvt.u64.u32 %rd1, %r2; cvta.shared.u64 %rd1, %rd1; mbarrier.arrive.b64 %rd2, [%rd1];\n"
                         "L: mbarrier.try_wait.b64 %p2, [%rd1], %rd2; @!%p2 bra L;\n"
                         "mov.u64 %rd1, 64; mbarrier.arrive.b64 %rd2, [%rd1];"};
    run_snippet(emulator, &run);
    run_check_finding(&run, EMULATOR_FAULTED, "mbarrier address 0x40 is not in shared memory");
}

struct bad {
    const char *body;
    uint32_t block;
    enum emulator_outcome outcome;
    const char *text;
};

static const struct bad bad_cases[] = {
    {".reg .b32 %r<4>; mbarrier.arrive.shared.b64 _, [bar];", 1, EMULATOR_FAULTED,
     "mbarrier_misuse: arrival on the mbarrier at shared+0x400 of CTA 0, which is not initialised"},
    {INIT(1) "mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];", 1, EMULATOR_FAULTED,
     "which is not initialised any more (mbarrier.inval)"},
    {INIT(2) "mbarrier.arrive.shared.b64 _, [bar], 3;", 1, EMULATOR_FAULTED,
     "arrival with count 3 is more than the running phase still waits for: mbarrier at shared+0x400 of CTA 0: phase 0, "
     "pending arrivals 2 of 2"},
    {".reg .b32 %r<4>; mbarrier.init.shared.b64 [bar], 0;", 1, EMULATOR_FAULTED, "mbarrier.init with count 0"},
    {INIT(1) "st.shared.u32 [bar], 0; mbarrier.arrive.shared.b64 _, [bar];", 1, EMULATOR_FAULTED,
     "whose 8 bytes have been overwritten"},
    {INIT(1) "mbarrier.arrive.shared.b64 _, [bar+4];", 1, EMULATOR_FAULTED, "misaligned_access: mbarrier address"},
    {INIT(1) "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 1048576;", 1, EMULATOR_FAULTED,
     "takes the tx-count out of its range"},
    /* Deadlocks say what is missing. */
    {INIT(2) "mbarrier.arrive.shared.b64 _, [bar];\n" WAIT(0), 1, EMULATOR_DEADLOCKED, "pending arrivals 1 of 2"},
    {INIT(1) "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n" WAIT(0), 1, EMULATOR_DEADLOCKED,
     "tx-count 128 bytes outstanding"},
    {INIT(1) "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;\n"
             "mbarrier.arrive.shared.b64 _, [bar];\n" WAIT(0),
     1, EMULATOR_DEADLOCKED, "tx-count -16: 16 bytes landed that no expect_tx announced"},
    {INIT(1) "mbarrier.arrive.shared.b64 _, [bar];\n" WAIT(1), 1, EMULATOR_DEADLOCKED,
     "waits for the phase of parity 1 of mbarrier at shared+0x400 of CTA 0: phase 1, pending arrivals 1 of 1"},
};

static void explains_misuse(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
        struct run run = {.variables = SHARED, .block = bad_cases[i].block, .body = bad_cases[i].body};
        run_snippet(emulator, &run);
        run_check_finding(&run, bad_cases[i].outcome, bad_cases[i].text);
    }
}

/* A bounded number of try_waits is no deadlock. */
static void try_wait_may_give_up(void **state)
{
    (void)state;
    struct run run = {.variables = SHARED,
                      .body = INIT(1) "mov.u32 %r3, 0;\n"
                                      "AGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @%p2 bra END;\n"
                                      "add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 3; @%p3 bra AGAIN; END:"};
    run_snippet(emulator, &run);
    run_check_clean(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_of_all_threads),   cmocka_unit_test(tokens_and_counts),
        cmocka_unit_test(arrivals_from_another_cta), cmocka_unit_test(explains_misuse),
        cmocka_unit_test(try_wait_may_give_up),      cmocka_unit_test(generic_addresses),
    };

    return cmocka_run_group_tests(tests, run_setup, run_teardown);
}
