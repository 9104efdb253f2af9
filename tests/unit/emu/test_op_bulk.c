#include "emu_group.h"

#include "emu/tensor_map.h"

#define VARIABLES ".shared .align 8 .b8 bar[8]; .shared .align 1024 .b8 tile[8192];"
#define BEGIN                                                                                                          \
    ".reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n"                                        \
    "mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r9, tile; mov.u32 %r8, %cluster_ctarank;\n"                       \
    "ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; setp.ne.u32 %p1, %r1, 0;\n"                                     \
    "@!%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\n"                                                                  \
    "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra END;\n"
#define EXPECT(bytes) "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], " #bytes ";\n"
#define WAIT "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra W;\n"
#define END "END: barrier.cluster.arrive; barrier.cluster.wait;\n"
#define COMMIT_WAIT(read, count) "cp.async.bulk.commit_group; cp.async.bulk.wait_group" read " " #count ";\n"

static void fill(uint32_t *words, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        words[i] = seed + (uint32_t)i * 2654435761u;
}

static void copies_in_and_out(void **state)
{
    uint32_t *from = run_memory(emulator, 4096), *to = run_memory(emulator, 4096);

    (void)state;
    fill(from, 1024, 1);
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {.variables = VARIABLES,
                          .block = 64,
                          .schedule = run_schedules[s],
                          .parameters = {RUN_ADDRESS(from), RUN_ADDRESS(to)},
                          .body = BEGIN EXPECT(
                              4096) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], "
                                    "4096, [%r2];\n" WAIT
                                    "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], 4096;\n" COMMIT_WAIT(
                                        ".read", 0) END};
        memset(to, 0, 4096);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        assert_memory_equal(from, to, 4096); /* also without a wait for the write: it happens in the end */
    }
}

/* Both CTAs of a cluster get the bytes, and each barrier its count. */
static void multicasts(void **state)
{
    uint32_t *from = run_memory(emulator, 512), *to = run_memory(emulator, 1024);

    (void)state;
    fill(from, 128, 9);
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {
            .variables = VARIABLES,
            .grid = 2,
            .cluster = 2,
            .block = 32,
            .schedule = run_schedules[s],
            .parameters = {RUN_ADDRESS(from), RUN_ADDRESS(to)},
            .body = BEGIN EXPECT(
                512) "setp.ne.u32 %p3, %r8, 1; mov.u16 %h1, 3;\n"
                     "@!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%r9], [%rd1], 512, [%r2], %h1;\n" WAIT "mul.wide.u32 %rd3, %r8, 512; add.u64 %rd2, %rd2, %rd3;\n"
                     "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 512;\n" COMMIT_WAIT("", 0) END};
        memset(to, 0, 1024);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        assert_memory_equal(from, to, 512);
        assert_memory_equal(from, to + 128, 512);
    }
}

/* CTA 0 sends its tile to CTA 1, adding to what is there. */
static void copies_between_ctas(void **state)
{
    uint32_t *to = run_memory(emulator, 64);

    (void)state;
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {
            .variables = VARIABLES,
            .grid = 2,
            .cluster = 2,
            .block = 32,
            .schedule = run_schedules[s],
            .parameters = {RUN_ADDRESS(to), RUN_ADDRESS(to)},
            .body = ".reg .b32 %q<2>; mov.u32 %q0, 5; mov.u32 %q1, 6; st.shared.v4.u32 [tile], {%q0, "
                    "%q1, %q0, %q1}; fence.proxy.async;\n" BEGIN "setp.eq.u32 %p3, %r8, 1; @%p3 bra RECEIVES;\n"
                    "mapa.shared::cluster.u32 %r5, %r9, 1; mapa.shared::cluster.u32 %r6, %r2, 1;\n"
                    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add."
                    "u32 [%r5], [%r9], 16, [%r6];\n"
                    "bra END;\nRECEIVES: " EXPECT(16) WAIT "ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [tile];\n"
                                                           "st.global.v4.u32 [%rd1], {%r3, %r4, %r5, %r6};" END};
        memset(to, 0, 64);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        assert_int_equal(to[0], 10);
        assert_int_equal(to[3], 12);
    }
}

/* A map over rows x columns floats. */
static void make_map(uint8_t map[TENSOR_MAP_BYTES], const float *data, uint64_t rows, uint64_t columns,
                     uint32_t box_rows, uint32_t box_columns, enum smem_swizzle swizzle)
{
    uint64_t dims[2] = {columns, rows}, strides[1] = {columns * 4};
    uint32_t box[2] = {box_columns, box_rows}, steps[2] = {1, 1};
    struct tensor_map_arguments arguments = {.type = TENSOR_MAP_FLOAT32,
                                             .rank = 2,
                                             .address = RUN_ADDRESS(data),
                                             .global_dim = dims,
                                             .global_strides = strides,
                                             .box_dim = box,
                                             .element_strides = steps,
                                             .swizzle = swizzle};
    struct error error;

    if (!tensor_map_encode_tiled(map, &arguments, &error))
        fail_msg("%s", error.message);
}

#define MAP "mov.b64 %rd5, map; cvta.param.u64 %rd5, %rd5;\n"
#define LOAD                                                                                                           \
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r9], [%rd5, {%r5, %r6}], "     \
    "[%r2];\n"
#define COORDINATES(x, y) "mov.u32 %r5, " #x "; mov.u32 %r6, " #y ";\n"

/* A box that hangs over the edge: filled with zeros on load, clipped on store; swizzled in between. */
static void tiles_are_filled_and_clipped(void **state)
{
    enum { ROWS = 20, COLUMNS = 40, BOX_ROWS = 16, BOX_COLUMNS = 32, X = 24, Y = 8 };
    float *tensor = run_memory(emulator, ROWS * COLUMNS * 4), *image = run_memory(emulator, BOX_ROWS * BOX_COLUMNS * 4);
    float before[ROWS * COLUMNS];
    uint8_t map[TENSOR_MAP_BYTES];

    (void)state;
    make_map(map, tensor, ROWS, COLUMNS, BOX_ROWS, BOX_COLUMNS, SMEM_SWIZZLE_128B);
    for (int s = 0; s < RUN_SCHEDULES; s++) {
        struct run run = {.variables = VARIABLES,
                          .block = 32,
                          .schedule = run_schedules[s],
                          .map = map,
                          .parameters = {RUN_ADDRESS(image)},
                          .body = BEGIN EXPECT(2048) MAP COORDINATES(24, 8) LOAD WAIT
                          "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 2048;\n"
                          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd5, {%r5, %r6}], "
                          "[%r9];\n" COMMIT_WAIT("", 0) END};
        for (int i = 0; i < ROWS * COLUMNS; i++)
            before[i] = tensor[i] = (float)(i + 1);
        run_snippet(emulator, &run);
        run_check_clean(&run);
        for (int r = 0; r < BOX_ROWS; r++) {
            for (int c = 0; c < BOX_COLUMNS; c++) {
                bool inside = Y + r < ROWS && X + c < COLUMNS;
                uint32_t at = smem_swizzle_address(SMEM_SWIZZLE_128B, (uint32_t)(r * BOX_COLUMNS + c) * 4);
                float expected = inside ? before[(Y + r) * COLUMNS + X + c] : 0.0f;
                assert_true(image[at / 4] == expected);
            }
        }
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            bool touched = i / COLUMNS >= Y && i % COLUMNS >= X;
            assert_true(tensor[i] == before[i] * (touched ? 2.0f : 1.0f));
        }
    }
}

/* Tiles of 1 to 5 dimensions, in and out again: the box at the origin, 16 bytes wide and two elements in the others. */
static void every_rank_moves(void **state)
{
    static const char coordinates[] = "%z, %z, %z, %z, %z";

    (void)state;
    for (uint32_t rank = 1; rank <= 5; rank++) {
        uint64_t dims[5] = {8, 4, 4, 4, 4}, strides[4] = {32, 128, 512, 2048};
        uint32_t box[5] = {4, 2, 2, 2, 2}, steps[5] = {1, 1, 1, 1, 1}, bytes = 16u << (rank - 1);
        float *tensor = run_memory(emulator, 8192);
        uint8_t map[TENSOR_MAP_BYTES];
        struct tensor_map_arguments arguments = {.type = TENSOR_MAP_FLOAT32,
                                                 .rank = rank,
                                                 .address = RUN_ADDRESS(tensor),
                                                 .global_dim = dims,
                                                 .global_strides = strides,
                                                 .box_dim = box,
                                                 .element_strides = steps};
        struct error error;
        char body[2048];
        uint32_t doubled = 0;

        for (int i = 0; i < 2048; i++)
            tensor[i] = 1.0f;
        if (!tensor_map_encode_tiled(map, &arguments, &error))
            fail_msg("%s", error.message);
        (void)snprintf(
            body, sizeof body,
            "%s.reg .b32 %%z; mov.u32 %%z, 0; mbarrier.arrive.expect_tx.shared.b64 _, [%%r2], %u;\n%s"
            "cp.async.bulk.tensor.%ud.shared::cluster.global.mbarrier::complete_tx::bytes [%%r9], [%%rd5, "
            "{%.*s}], [%%r2];\n%s"
            "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.add.bulk_group [%%rd5, {%.*s}], [%%r9];\n%s%s",
            BEGIN, bytes, MAP, rank, (int)(4 * rank - 2), coordinates, WAIT, rank, (int)(4 * rank - 2), coordinates,
            COMMIT_WAIT("", 0), END);
        struct run run = {.variables = VARIABLES, .map = map, .body = body};
        run_snippet(emulator, &run);
        run_check_clean(&run);
        for (int i = 0; i < 2048; i++)
            doubled += tensor[i] == 2.0f;
        assert_int_equal(doubled, bytes / 4);
    }
}

struct bad {
    const char *body;
    enum emulator_outcome outcome;
    const char *text;
    bool zero_map;
};

static const struct bad bad_cases[] = {
    {BEGIN EXPECT(2048) MAP COORDINATES(0, 0) "add.u32 %r9, %r9, 64;\n" LOAD WAIT END, EMULATOR_FAULTED,
     "misaligned_access: tensor copy: shared address 0x840 is not aligned to 128 bytes", false},
    {BEGIN EXPECT(2048) MAP COORDINATES(0, 0) LOAD WAIT END, EMULATOR_FAULTED, "tensor_map: ", true},
    {BEGIN EXPECT(2048) MAP COORDINATES(0, 0) "add.u32 %r2, %r2, 16;\n" LOAD WAIT END, EMULATOR_FAULTED,
     "the mbarrier at shared+0x410 of CTA 0, which is not initialised", false},
    {BEGIN EXPECT(2048) MAP COORDINATES(0, 0) "mov.u32 %r2, tile;\n" LOAD WAIT END, EMULATOR_FAULTED,
     "mbarrier_misuse: the copy counts on the mbarrier at shared+0x800 of CTA 0, which is not initialised", false},
    {BEGIN EXPECT(
         2048) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 24, [%r2];\n" END,
     EMULATOR_FAULTED, "size 24 of the copy is not a multiple of 16 bytes", false},
    {BEGIN EXPECT(
         2048) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1+4], 32, [%r2];\n" END,
     EMULATOR_FAULTED, "misaligned_access: source address", false},
    {BEGIN EXPECT(
         4096) "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 4096, [%r2];\n" WAIT
         END,
     EMULATOR_FAULTED, "global_out_of_bounds", false},
    /* 128 bytes too many, and too few, are expected. */
    {BEGIN EXPECT(2176) MAP COORDINATES(0, 0) LOAD WAIT END, EMULATOR_DEADLOCKED, "tx-count 128 bytes outstanding",
     false},
    {BEGIN EXPECT(1920) MAP COORDINATES(0, 0) LOAD WAIT END, EMULATOR_DEADLOCKED,
     "tx-count -128: 128 bytes landed that no expect_tx announced", false},
    {BEGIN MAP COORDINATES(
         0, 0) "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd5, {%r5, %r6}], [%r9];\n" COMMIT_WAIT("",
                                                                                                                     0)
         END,
     EMULATOR_COMPLETED, "uninitialised_shared: the copy reads 2048 bytes", false},
    {BEGIN EXPECT(
         2048) "mov.u16 %h1, 2; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%r9], [%rd1], 16, [%r2], %h1;\n" END,
     EMULATOR_FAULTED, "multicast mask 0x2, but the cluster has 1 CTAs", false},
};

static void explains_bad_operands(void **state)
{
    float *tensor = run_memory(emulator, 64 * 64 * 4);
    uint32_t *small = run_memory(emulator, 2048);
    uint8_t map[TENSOR_MAP_BYTES], zero[TENSOR_MAP_BYTES] = {0};

    (void)state;
    make_map(map, tensor, 64, 64, 16, 32, SMEM_SWIZZLE_128B);
    for (size_t i = 0; i < sizeof bad_cases / sizeof bad_cases[0]; i++) {
        struct run run = {.variables = VARIABLES,
                          .block = 32,
                          .map = bad_cases[i].zero_map ? zero : map,
                          .parameters = {RUN_ADDRESS(small)},
                          .body = bad_cases[i].body};
        run_snippet(emulator, &run);
        run_check_finding(&run, bad_cases[i].outcome, bad_cases[i].text);
    }
}

/* Overwriting the source of a store that has not been read: right only when it lands at once. */
static void late_stores_show_early_reuse(void **state)
{
    uint32_t *to = run_memory(emulator, 64);

    (void)state;
    for (uint32_t completion = 0; completion < 2; completion++) {
        for (int waits = 0; waits < 2; waits++) {
            struct run run = {.variables = VARIABLES,
                              .schedule = {.completion = completion},
                              .parameters = {RUN_ADDRESS(to), RUN_ADDRESS(to)}};
            char body[2048];
            (void)snprintf(
                body, sizeof body,
                "%smov.u32 %%r3, 7; st.shared.v4.u32 [tile], {%%r3, %%r3, %%r3, %%r3}; fence.proxy.async;\n"
                "cp.async.bulk.global.shared::cta.bulk_group [%%rd1], [%%r9], 16; cp.async.bulk.commit_group;\n"
                "%smov.u32 %%r3, 8; st.shared.u32 [tile], %%r3; cp.async.bulk.wait_group 0;\n%s",
                BEGIN, waits ? "cp.async.bulk.wait_group.read 0;\n" : "", END);
            run.body = body;
            run_snippet(emulator, &run);
            if (waits)
                run_check_clean(&run);
            else
                run_check_finding(&run, EMULATOR_COMPLETED, "overwritten_in_flight: this write overwrites shared+0x");
            assert_int_equal(to[0], completion == 0 || waits ? 7 : 8);
            assert_int_equal(to[1], 7);
        }
    }
}

/* The last thread exits before its store has read its source: a hazard, and the store still happens. */
static void stores_outlive_the_cta(void **state)
{
    uint32_t *to = run_memory(emulator, 64);
    struct run run = {.variables = VARIABLES,
                      .schedule = {.completion = 1},
                      .parameters = {RUN_ADDRESS(to), RUN_ADDRESS(to)},
                      .body = BEGIN "mov.u32 %r3, 7; st.shared.v4.u32 [tile], {%r3, %r3, %r3, %r3};\n"
                                    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r9], 16;\n" END};

    (void)state;
    run_snippet(emulator, &run);
    run_check_finding(&run, EMULATOR_COMPLETED, "copy_after_exit: the copy of 16 bytes from shared+0x");
    assert_int_equal(to[0], 7);
}

/* Hints about tensor maps have no effect, but they are checked. */
static void prefetches(void **state)
{
    float *tensor = run_memory(emulator, 64 * 64 * 4);
    uint8_t map[TENSOR_MAP_BYTES], zero[TENSOR_MAP_BYTES] = {0};
    struct run run = {
        .variables = VARIABLES,
        .map = map,
        .body = BEGIN MAP COORDINATES(0, 0) "prefetch.tensormap [%rd5];\n"
                                            "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd5, {%r5, %r6}];\n"
                                            "fence.proxy.tensormap::generic.acquire.gpu [%rd5], 128;\n" END};

    (void)state;
    make_map(map, tensor, 64, 64, 16, 32, SMEM_SWIZZLE_128B);
    run_snippet(emulator, &run);
    run_check_clean(&run);
    run.map = zero;
    run_snippet(emulator, &run);
    run_check_finding(&run, EMULATOR_FAULTED, "tensor_map: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_in_and_out),
        cmocka_unit_test(multicasts),
        cmocka_unit_test(copies_between_ctas),
        cmocka_unit_test(tiles_are_filled_and_clipped),
        cmocka_unit_test(every_rank_moves),
        cmocka_unit_test(explains_bad_operands),
        cmocka_unit_test(late_stores_show_early_reuse),
        cmocka_unit_test(stores_outlive_the_cta),
        cmocka_unit_test(prefetches),
    };

    return cmocka_run_group_tests(tests, run_setup, run_teardown);
}
