/* The hazard layer, rule by rule: what each order of events must have between two operations, and what is said without. */
#include "emu_group.h"

#include "emu/tensor_map.h"

#define VARIABLES ".shared .align 1024 .b8 tile[8192]; .shared .align 8 .b8 bar[16];"
#define BEGIN                                                                                                          \
    ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b32 %d<8>; .reg .b64 %rd<16>;\n"                                        \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r9, tile; ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1];\n"    \
    "setp.eq.u32 %p1, %r1, 0; shl.b32 %r3, %r1, 4; add.u32 %r3, %r3, %r9; mov.u32 %r4, 0;\n"
#define BARRIER "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1; bar.sync 0;\n"
#define WRITE "st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4};\n"
#define FENCE "fence.proxy.async.shared::cta;\n"
#define SYNC "bar.sync 0;\n"
#define STORE                                                                                                          \
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 2048;\n@%p1 cp.async.bulk.commit_group;\n"
#define STORE_WAIT "@%p1 cp.async.bulk.wait_group.read 0;\n"
#define STORE_END "@%p1 cp.async.bulk.wait_group 0;\n"
#define LOAD                                                                                                           \
    "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;\n"                                                 \
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 2048, [%r2];\n"
#define WAIT(label, parity)                                                                                            \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], " #parity "; @!%p2 bra " label ";\n"
#define COPY "cp.async.ca.shared.global [%r3], [%rd1], 16;\n"
/* of a thread of another warp */
#define READ_OTHER "shl.b32 %r6, %r1, 4; xor.b32 %r6, %r6, 1024; add.u32 %r6, %r6, %r9; ld.shared.u32 %r5, [%r6];\n"
#define READ "ld.shared.u32 %r5, [%r3];\n"
/* m64n8k16 without a swizzle on zeros at the start of the tile; 128 threads. */
#define ACCUMULATORS "mov.b32 %d0, 0; mov.b32 %d1, %d0; mov.b32 %d2, %d0; mov.b32 %d3, %d0;\n"
#define WGMMA_FENCE "wgmma.fence.sync.aligned;\n"
#define DESCRIPTORS                                                                                                    \
    "cvt.u64.u32 %rd10, %r9; shr.u64 %rd10, %rd10, 4; or.b64 %rd10, %rd10, 0x1000080000; mov.b64 %rd11, %rd10;\n"
#define PRODUCT                                                                                                        \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd10, %rd11, 1, 1, 1, 0, 0;\n"
#define WGMMA_COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WGMMA_WAIT "wgmma.wait_group.sync.aligned 0;\n"
#define USE "add.f32 %d5, %d0, %d1;\n"

struct rule {
    const char *body;
    const char *finding; /* NULL: clean */
    const char *other;   /* what else may be said, when the two operations come in the other order; or NULL */
};

static const struct rule rules[] = {
    /* Generic writes, then a copy out: a fence at either end, and a barrier. */
    {BEGIN WRITE FENCE SYNC STORE STORE_END, NULL},
    {BEGIN WRITE SYNC FENCE STORE STORE_END, NULL},
    {BEGIN WRITE SYNC STORE STORE_END, "missing_proxy_fence: the copy reads shared+0x"},
    {BEGIN WRITE FENCE STORE STORE_END, "missing_barrier: the copy reads shared+0x", "overwritten_in_flight"},
    {BEGIN FENCE WRITE SYNC STORE STORE_END, "missing_proxy_fence"},
    {BEGIN WRITE FENCE WRITE SYNC STORE STORE_END, "missing_proxy_fence"},
    /* The source is reused. */
    {BEGIN WRITE FENCE SYNC STORE STORE_WAIT SYNC WRITE STORE_END, NULL},
    {BEGIN WRITE FENCE SYNC STORE SYNC WRITE STORE_END, "overwritten_in_flight: this write overwrites shared+0x"},
    {BEGIN WRITE FENCE SYNC STORE STORE_WAIT WRITE STORE_END, "overwritten_in_flight"},
    /* A copy in: its readers wait, or hear from one who did. */
    {BEGIN BARRIER LOAD WAIT("W", 0) READ, NULL},
    {BEGIN BARRIER LOAD "@!%p1 bra S;\n" WAIT("W", 0) "S:" SYNC READ, NULL},
    {BEGIN BARRIER LOAD "@!%p1 bra S;\n" WAIT("W", 0) "S:" READ, "copy_not_awaited: this reads shared+0x"},
    {BEGIN BARRIER LOAD READ WAIT("W", 0), "copy_not_awaited"},
    {BEGIN BARRIER LOAD WRITE WAIT("W", 0), "copy_not_awaited: this write to shared+0x"},
    {BEGIN BARRIER LOAD WAIT("W", 0) SYNC LOAD WAIT("V", 1), NULL},
    {BEGIN BARRIER "@%p1 mbarrier.init.shared::cta.b64 [%r2+8], 1;\n" LOAD "add.u32 %r2, %r2, 8;\n" LOAD,
     "overwritten_in_flight: the copy overwrites shared+0x"},
    {BEGIN BARRIER WRITE LOAD WAIT("W", 0), "missing_barrier: the copy writes shared+0x",
     "copy_not_awaited: this write"},
    {BEGIN BARRIER LOAD WAIT("W", 0) READ SYNC LOAD WAIT("V", 1), NULL},
    {BEGIN BARRIER LOAD WAIT("W", 0) SYNC READ LOAD WAIT("V", 1),
     "overwritten_in_flight: the copy overwrites shared+0x", "copy_not_awaited: this reads"},
    /* cp.async: the own group, and a barrier for those of other threads. */
    {BEGIN COPY "cp.async.commit_group; cp.async.wait_group 0;\n" READ, NULL},
    {BEGIN COPY "cp.async.wait_all;\n" SYNC READ_OTHER SYNC COPY "cp.async.wait_all;\n", NULL},
    {BEGIN COPY "cp.async.commit_group;\n" READ "cp.async.wait_group 0;\n", "copy_not_awaited: this reads shared+0x"},
    {BEGIN COPY "cp.async.wait_group 0;\n" READ, "copy_not_awaited"},
    {BEGIN COPY "cp.async.wait_all;\n" READ_OTHER, "copy_not_awaited", "uninitialised_shared"},
    {BEGIN COPY "cp.async.wait_all;\n" SYNC READ_OTHER COPY "cp.async.wait_all;\n",
     "overwritten_in_flight: the copy overwrites shared+0x", "copy_not_awaited"},
    /* mbarriers. */
    {BEGIN "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n" LOAD WAIT("W", 0),
     "mbarrier_unordered: wait on the mbarrier at shared+0x", "which is not initialised"},
    /* wgmma: its operands, */
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT WGMMA_WAIT USE, NULL},
    {BEGIN BARRIER WRITE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT WGMMA_WAIT USE,
     "missing_proxy_fence: matrix A of the wgmma reads shared+0x"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT WRITE WGMMA_WAIT,
     "overwritten_in_flight: this write overwrites shared+0x"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT WGMMA_WAIT WRITE, NULL},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT LOAD WGMMA_WAIT WAIT("W",
                                                                                                                   0),
     "overwritten_in_flight: the copy overwrites shared+0x", "copy_not_awaited: matrix A"},
    /* and its registers. */
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS PRODUCT WGMMA_COMMIT WGMMA_WAIT,
     "missing_wgmma_fence: no wgmma.fence stands before the first wgmma"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS WGMMA_FENCE ACCUMULATORS PRODUCT WGMMA_COMMIT WGMMA_WAIT,
     "missing_wgmma_fence: registers of this wgmma were written since the last wgmma.fence"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS WGMMA_FENCE PRODUCT WGMMA_COMMIT WGMMA_WAIT,
     "uninitialised_accumulator: scale-d is 1"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT USE WGMMA_WAIT,
     "register_in_flight: this reads a register that a wgmma in flight accumulates into"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_COMMIT
     "mov.b32 %d2, 0;" WGMMA_WAIT,
     "register_in_flight: this overwrites a register"},
    {BEGIN BARRIER WRITE FENCE SYNC DESCRIPTORS ACCUMULATORS WGMMA_FENCE PRODUCT WGMMA_WAIT,
     "wgmma_not_committed: this wait does not cover the last 1 wgmma of the warp"},
};

/* In every schedule: the rules do not depend on what happens to come first. */
static void every_rule_holds(void **state)
{
    uint32_t *from = run_memory(emulator, 2048), *to = run_memory(emulator, 2048);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        for (int s = 0; s < RUN_SCHEDULES; s++) {
            struct run run = {.variables = VARIABLES,
                              .block = 128,
                              .schedule = run_schedules[s],
                              .parameters = {RUN_ADDRESS(from), RUN_ADDRESS(to)},
                              .body = rules[i].body};
            run_snippet(emulator, &run);
            bool found = rules[i].finding && strstr(run.findings, rules[i].finding);
            found = found || (rules[i].other && strstr(run.findings, rules[i].other));
            if (rules[i].finding ? !found : run.finding_count > 0)
                fail_msg("rule %zu, schedule %d, expected %s: outcome %d: %s", i, s,
                         rules[i].finding ? rules[i].finding : "nothing", (int)run.outcome, run.findings);
        }
}

/* Nothing is looked for when the schedule says so. */
static void unchecked_runs_are_quiet(void **state)
{
    uint32_t *to = run_memory(emulator, 2048);
    struct run run = {.variables = VARIABLES,
                      .block = 128,
                      .schedule = {.unchecked = true},
                      .parameters = {RUN_ADDRESS(to), RUN_ADDRESS(to)},
                      .body = BEGIN WRITE SYNC STORE STORE_END};

    (void)state;
    run_snippet(emulator, &run);
    run_check_clean(&run);
}

/* An arrival at a peer that does not wait for it. */
static void peers_wait_before_they_exit(void **state)
{
    static const char *const ends[] = {"", "barrier.cluster.arrive; barrier.cluster.wait;\n"};

    (void)state;
    for (int waits = 0; waits < 2; waits++)
        for (int s = 0; s < RUN_SCHEDULES; s++) {
            struct run run = {
                .variables = VARIABLES, .grid = 2, .cluster = 2, .block = 32, .schedule = run_schedules[s]};
            char body[2048];
            (void)snprintf(body, sizeof body,
                           "%s@%%p1 mbarrier.init.shared::cta.b64 [%%r2], 1;\n"
                           "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n"
                           "mov.u32 %%r8, %%cluster_ctarank; xor.b32 %%r8, %%r8, 1;\n"
                           "mapa.shared::cluster.u32 %%r6, %%r2, %%r8;\n"
                           "@%%p1 mbarrier.arrive.shared::cluster.b64 _, [%%r6];\n%s",
                           BEGIN, ends[waits]);
            run.body = body;
            run_snippet(emulator, &run);
            if (waits)
                run_check_clean(&run);
            else
                run_check_finding(&run, EMULATOR_COMPLETED, "copy_after_exit");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_holds),
        cmocka_unit_test(unchecked_runs_are_quiet),
        cmocka_unit_test(peers_wait_before_they_exit),
    };

    return cmocka_run_group_tests(tests, run_setup, run_teardown);
}
