/* cp.async with its groups and mbarriers, and st.async. */
#include "emu_group.h"

#define VARIABLES ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b8 bar[8];"
#define BEGIN                                                                                                          \
    ".reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p0];\n"            \
    "ld.param.u64 %rd2, [p1]; mul.wide.u32 %rd3, %r1, 16; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"       \
    "mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; mov.u32 %r12, bar;\n"
#define OUT "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2]; st.global.v4.b32 [%rd2], {%r4, %r5, %r6, %r7};\n"
#define COPY "cp.async.cg.shared.global [%r2], [%rd1], 16"
#define INIT(count) "setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r12], " #count "; bar.sync 0;\n"
#define WAIT "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r12], 0; @!%p2 bra W;\n"

/* What the first 64 threads of a kernel copy; `kept`: bytes of each 16 that are the source's, the others are 0. */
struct good {
    const char *body;
    uint32_t kept;
};

static const struct good good_cases[] = {
    {BEGIN COPY "; cp.async.commit_group; cp.async.wait_group 0;\n" OUT, 16},
    {BEGIN COPY "; cp.async.wait_all;\n" OUT, 16},
    {BEGIN COPY ", 4; cp.async.wait_all;\n" OUT, 4},
    {BEGIN "mov.u32 %r8, 0; " COPY ", %r8; cp.async.wait_all;\n" OUT, 0},
    {BEGIN "setp.eq.u32 %p3, 0, 0; " COPY ", %p3; cp.async.wait_all;\n" OUT, 0},
    {BEGIN "cp.async.ca.shared.global [%r2], [%rd1], 8; cp.async.ca.shared.global [%r2+8], [%rd1+8], 4;\n"
           "cp.async.ca.shared.global [%r2+12], [%rd1+12], 4, 0; cp.async.commit_group; cp.async.wait_group 0;\n" OUT,
     12},
    {BEGIN COPY "; cp.async.commit_group; " COPY ", 0; cp.async.commit_group; cp.async.wait_group 0;\n" OUT, 0},
    {BEGIN INIT(64) COPY "; cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];\n" WAIT OUT, 16},
    {BEGIN INIT(64) COPY
     "; cp.async.mbarrier.arrive.shared.b64 [%r12]; mbarrier.arrive.shared.b64 _, [%r12];\n" WAIT OUT,
     16},
};

static void copies_arrive(void **state)
{
    uint8_t *from = run_memory(emulator, 1024), *to = run_memory(emulator, 1024);

    (void)state;
    for (int i = 0; i < 1024; i++)
        from[i] = (uint8_t)(i * 7 + 1);
    for (size_t c = 0; c < sizeof good_cases / sizeof good_cases[0]; c++) {
        for (int s = 0; s < RUN_SCHEDULES; s++) {
            struct run run = {.variables = VARIABLES,
                              .block = 64,
                              .schedule = run_schedules[s],
                              .parameters = {RUN_ADDRESS(from), RUN_ADDRESS(to)},
                              .body = good_cases[c].body};
            memset(to, 0x55, 1024);
            run_snippet(emulator, &run);
            run_check_clean(&run);
            for (uint32_t i = 0; i < 1024; i++)
                if (to[i] != (i % 16 < good_cases[c].kept ? from[i] : 0))
                    fail_msg("case %zu, schedule %d: byte %u is 0x%02x", c, s, i, to[i]);
        }
    }
}

/* A group that may still be pending has not landed under the late schedule. */
static void pending_groups_are_late(void **state)
{
    uint32_t *from = run_memory(emulator, 1024), *to = run_memory(emulator, 1024);

    (void)state;
    from[0] = 7;
    for (uint32_t completion = 0; completion < 2; completion++) {
        struct run run = {.variables = VARIABLES,
                          .schedule = {.completion = completion},
                          .parameters = {RUN_ADDRESS(from), RUN_ADDRESS(to)},
                          .body = BEGIN "mov.u32 %r8, 1; st.shared.v4.b32 [%r2], {%r8, %r8, %r8, %r8};\n" COPY
                                        "; cp.async.commit_group; cp.async.wait_group 1;\n" OUT};
        run_snippet(emulator, &run);
        run_check_finding(&run, EMULATOR_COMPLETED, "copy_not_awaited: this reads shared+0x");
        assert_int_equal(to[0], completion ? 1 : 7);
    }
}

static void explains_misuse(void **state)
{
    uint32_t *small = run_memory(emulator, 8);

    (void)state;
    static const struct {
        const char *body, *text;
    } cases[] = {
        {BEGIN COPY "; cp.async.wait_all;\n", "global_out_of_bounds"},
        {BEGIN "mov.u32 %r8, 17; " COPY ", %r8;\n", "cp.async reads 17 bytes but writes only 16"},
        {BEGIN "add.u32 %r2, %r2, 8; " COPY ";\n", "misaligned_access"},
        {BEGIN "cp.async.mbarrier.arrive.noinc.shared.b64 [%r12];\n", "which is not initialised"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = {.variables = VARIABLES, .parameters = {RUN_ADDRESS(small)}, .body = cases[i].body};
        run_snippet(emulator, &run);
        run_check_finding(&run, EMULATOR_FAULTED, cases[i].text);
    }
}

/* st.async from CTA 1 into CTA 0. */
static void stores_are_counted(void **state)
{
    uint32_t *to = run_memory(emulator, 64);

    (void)state;
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {
            .variables = VARIABLES,
            .grid = 2,
            .cluster = 2,
            .schedule = run_schedules[s],
            .parameters = {RUN_ADDRESS(to), RUN_ADDRESS(to)},
            .body = BEGIN INIT(1) "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r8, %cluster_ctarank;\n"
                                  "setp.eq.u32 %p3, %r8, 0; @%p3 bra RECEIVES;\n"
                                  "mapa.shared::cluster.u32 %r9, %r2, 0; mapa.shared::cluster.u32 %r10, %r12, 0; "
                                  "mov.u32 %r4, 41; mov.u32 %r5, 42;\n"
                                  "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r9], {%r4, %r5, %r4, "
                                  "%r5}, [%r10]; bra END;\n"
                                  "RECEIVES: mbarrier.arrive.expect_tx.shared.b64 _, [%r12], 16;\n" WAIT OUT
                                  "END: barrier.cluster.arrive; barrier.cluster.wait;"};
        memset(to, 0, 64);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        assert_int_equal(to[0], 41);
        assert_int_equal(to[3], 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_arrive),
        cmocka_unit_test(pending_groups_are_late),
        cmocka_unit_test(explains_misuse),
        cmocka_unit_test(stores_are_counted),
    };

    return cmocka_run_group_tests(tests, run_setup, run_teardown);
}
