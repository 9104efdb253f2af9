/* Readers: what is read, and that bad input is told with file and line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "report/read.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

#define HEADER                                                                                                         \
    "model,arch,definition,workload,run,trajectory_id,turn,reasoning_tokens,correctness,speedup,correct_with_arch\n"
#define ROW(trajectory, turn, label, speedup, flag)                                                                    \
    "m,hopper,gemm,w,r," trajectory "," turn ",10," label "," speedup "," flag "\n"

static bool read_csv(struct turn_set *set, const char *text, struct error *error)
{
    return read_csv_text(set, text, strlen(text), "t.csv", error) && turn_set_close(set, error);
}

/* The text is refused, and the message starts with `message`. */
static void refuse(const char *text, const char *message)
{
    AUTO_TURN_SET *set = turn_set_new();
    struct error error;

    if (read_csv(set, text, &error))
        fail_msg("accepted: %s", text);
    if (strncmp(error.message, message, strlen(message)) != 0)
        fail_msg("expected \"%s\", got \"%s\"", message, error.message);
}

/* The text is read with exactly one warning, which starts with `warning`. */
static struct turn_set *warn(const char *text, const char *warning)
{
    struct turn_set *set = turn_set_new();
    struct error error;

    if (!read_csv(set, text, &error))
        fail_msg("refused: %s", error.message);
    assert_int_equal(set->warning_count, 1);
    if (strncmp(set->warnings[0], warning, strlen(warning)) != 0)
        fail_msg("expected \"%s\", got \"%s\"", warning, set->warnings[0]);
    return set;
}

static void test_turns(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = turn_set_new();
    struct error error;

    assert_true(read_csv(set,
                         HEADER ROW("exp_10", "0", "Correct", "0.5", "1") ROW("exp_2", "1", "Correct", "0.25", "0")
                             ROW("exp_2", "0", "Runtime error", "0.0", "0") ROW("exp_2", "2", "Correct", "1.5", ""),
                         &error));
    assert_int_equal(set->series_count, 1);
    assert_int_equal(set->series[0].planned_turns, 3);
    assert_string_equal(set->series[0].workload, "w");
    assert_int_equal(set->trajectory_count, 2);
    assert_string_equal(set->trajectories[0].name, "exp_2"); /* numbers in names count as numbers */
    assert_int_equal(set->trajectories[0].turn_count, 3);
    assert_int_equal(set->turns[0].outcome, OUTCOME_RUNTIME);
    assert_int_equal(set->turns[1].outcome, OUTCOME_CORRECT_PLAIN);
    assert_int_equal(set->turns[2].outcome, OUTCOME_CORRECT_UNKNOWN);
    assert_int_equal(set->turns[3].outcome, OUTCOME_CORRECT_TARGET);
    assert_int_equal(set->turns[3].reasoning_tokens, 10);
    assert_true(set->turns[2].speedup[SPEEDUP_GEOMEAN] > 1.49);
}

static void test_refused(void **state)
{
    (void)state;
    refuse("", "t.csv: the file is empty");
    refuse("a,b\n1,2\n", "t.csv:1: not a table of turns");
    refuse("model,run,turn\n", "t.csv:1: the header has no column correctness");
    refuse(HEADER "m,hopper,gemm\n" ROW("e", "0", "Correct", "1", "1"), "t.csv:2: 3 cells where the header has 11");
    refuse(HEADER ROW("e", "0", "Correct", "1", "1") ROW("e", "1", "Solved", "1", "1"),
           "t.csv:3: correctness: expected a known label, found \"Solved\"");
    refuse(HEADER ROW("e", "0", "Correct", "nan", "1"), "t.csv:2: speed-up nan is not a number");
    refuse(HEADER ROW("e", "0", "Correct", "inf", "1"), "t.csv:2: speed-up inf is not a number");
    refuse(HEADER ROW("e", "0", "Correct", "-0.5", "1"), "t.csv:2: speed-up -0.5 is not a number");
    refuse(HEADER ROW("e", "0", "Correct", "0.5x", "1"), "t.csv:2: speedup: expected a number, found \"0.5x\"");
    refuse(HEADER ROW("e", "0", "Runtime error", "0.5", "0"),
           "t.csv:2: a speed-up (0.5) although the turn is not correct");
    refuse(HEADER ROW("e", "0", "Runtime error", "0", "1"), "t.csv:2: correct_with_arch is 1 although the turn is");
    refuse(HEADER ROW("e", "0", "Correct", "0.5", "2"), "t.csv:2: correct_with_arch: expected 0, 1 or nothing");
    refuse(HEADER ROW("e", "-1", "Correct", "0.5", "1"), "t.csv:2: turn: expected a whole number");
    refuse(HEADER ROW("e", "10000", "Correct", "0.5", "1"), "t.csv:2: turn 10000 is not between 0 and 9999");
    refuse(HEADER ROW("e", "", "Correct", "0.5", "1"), "t.csv:2: turn: expected a whole number");
    refuse(HEADER ROW("", "0", "Correct", "0.5", "1"), "t.csv:2: trajectory_id: expected a name");
    refuse(HEADER ROW("\"e", "0", "Correct", "0.5", "1") ROW("e\"", "0", "Correct", "0.5", "1"),
           "t.csv:2: a quoted cell runs over several lines");
}

static void test_duplicates(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = warn(HEADER ROW("e", "0", "Correct", "0.5", "1") ROW("e", "0", "Correct", "0.5", "1"),
                              "t.csv:3: turn 0 of trajectory \"e\" repeats t.csv:2; counted once");

    assert_int_equal(set->turn_count, 1);
    refuse(HEADER ROW("e", "0", "Correct", "0.5", "1") ROW("e", "0", "Correct", "0.6", "1"),
           "t.csv:3: turn 0 of trajectory \"e\" of run \"r\" was already read from t.csv:2, with other content");
}

static void test_torn(void **state)
{
    (void)state;
    AUTO_TURN_SET *cut =
        warn(HEADER ROW("e", "0", "Correct", "0.5", "1") "m,hopper,ge", "t.csv:3: the last line is cut; left out");
    AUTO_TURN_SET *whole =
        warn(HEADER "m,hopper,gemm,w,r,e,0,10,Correct,0.5,1", "t.csv:2: the last line has no newline; it may be cut");

    assert_int_equal(cut->turn_count, 1);
    assert_int_equal(whole->turn_count, 1);
}

#define SASS                                                                                                           \
    "model,arch,definition,run,date,turn_limit,n_trajectories,correct_with_arch,n_correct_turns,n_unknown_correct_"    \
    "turns\n"

static void add_sass(struct turn_set *set, const char *rows, bool accepted, const char *message)
{
    static const char turns[] = HEADER ROW("e", "0", "Correct", "0.5", "1");
    AUTO_ARENA *arena = arena_new();
    const char *text = arena_printf(arena, SASS "%s", rows);
    struct error error;

    turn_set_begin(set, "folder");
    assert_true(read_csv_text(set, turns, sizeof turns - 1, "t.csv", &error));
    bool read = read_csv_text(set, text, strlen(text), "s.csv", &error) && turn_set_close(set, &error);
    if (read != accepted || (!read && strncmp(error.message, message, strlen(message)) != 0))
        fail_msg("%s", read ? "accepted" : error.message);
    if (read && message)
        assert_string_equal(set->warnings[0], message);
    if (read)
        assert_int_equal(set->warning_count, message != NULL);
}

static void test_aggregates_and_dates(void **state)
{
    (void)state;
    AUTO_TURN_SET *good = turn_set_new();
    AUTO_TURN_SET *mixed = turn_set_new();
    AUTO_TURN_SET *impossible = turn_set_new();
    AUTO_TURN_SET *unknown = turn_set_new();
    AUTO_TURN_SET *larger = turn_set_new();

    add_sass(good, "m,hopper,gemm,r,2026-0131,4,1,1,1,1\n", true, NULL);
    assert_string_equal(good->series[0].date, "2026-01-31");
    assert_int_equal(good->series[0].sass[0].unknown_turns, 1);
    add_sass(mixed, "m,hopper,gemm,r,2026-0131,4,1,1,1,1\nm,hopper,gemm,r,2026-01-31,8,1,1,1,1\n", true,
             "s.csv:3: dates are written in two ways from here on: YYYY-MM-DD, YYYY-MMDD");
    assert_string_equal(mixed->series[0].date, "2026-01-31");
    add_sass(impossible, "m,hopper,gemm,r,2025-0631,4,1,1,1,1\n", true,
             "s.csv:2: date \"2025-0631\" does not exist; left out");
    assert_null(impossible->series[0].date);
    add_sass(unknown, "m,hopper,gemm,other,2026-0131,4,1,1,1,1\n", true,
             "s.csv:2: no turns of run \"other\" (m, gemm)");
    add_sass(larger, "m,hopper,gemm,r,2026-0131,4,1,1,1,2\n", false, "s.csv:2: a part is larger than its whole");
}

static bool read_json(struct turn_set *set, struct leaderboard *board, const char *text, struct error *error)
{
    return read_json_text(set, board, text, strlen(text), "t.jsonl", error) && turn_set_close(set, error);
}

#define TURN(fields) "{\"schema\":\"ptxbench.turn.v1\",\"model\":\"m\",\"run\":\"r\",\"trajectory\":\"a\"," fields "}\n"

static void test_turn_lines(void **state)
{
    (void)state;
    static const char verdict[] =
        "{\"schema\":\"ptxbench.verdict.v1\",\"status\":\"PASSED\",\"blame\":\"none\",\"correct\":true,"
        "\"task\":{\"definition\":\"gemm\",\"workload\":\"w\",\"arch\":\"sm_90a\",\"solution\":\"k\"},"
        "\"performance\":{\"speedup\":0.75},\"target\":{\"executed\":\"yes\"}}";
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = turn_set_new();
    struct error error;

    if (!read_json(
            set, NULL,
            arena_printf(
                arena, "%s%s%s\n",
                TURN("\"turn\":0,\"definition\":\"gemm\",\"arch\":\"sm_90a\",\"outcome\":\"extraction\","
                     "\"planned_turns\":8,\"tokens\":100,\"cost_usd\":0.5,\"variant\":2"),
                arena_printf(arena, "%.*s,\"turn\":1,\"verdict\":%s}\n", (int)strlen(TURN("")) - 3, TURN(""), verdict),
                verdict),
            &error))
        fail_msg("%s", error.message);
    assert_int_equal(set->series_count, 2); /* the bare verdict's model is its solution */
    assert_string_equal(set->series[0].model, "k");
    assert_int_equal(set->series[1].planned_turns, 8);
    assert_int_equal(set->trajectories[1].variant, 2);
    assert_int_equal(set->turns[1].outcome, OUTCOME_EXTRACTION);
    assert_int_equal(set->turns[2].outcome, OUTCOME_CORRECT_TARGET);
    assert_near(set->turns[2].speedup[SPEEDUP_MIN], 0.75, 1e-12);
    assert_int_equal(set->turns[1].tokens, 100);
}

static void refuse_json(const char *text, const char *message)
{
    AUTO_TURN_SET *set = turn_set_new();
    struct error error;

    if (read_json(set, NULL, text, &error))
        fail_msg("accepted: %s", text);
    if (!strstr(error.message, message))
        fail_msg("expected \"%s\", got \"%s\"", message, error.message);
}

static void test_json_refused(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = turn_set_new();
    struct error error;

    refuse_json("{\"schema\":\"x\"}\n", "t.jsonl:1: $: neither a verdict nor a turn nor a trace: schema x");
    refuse_json(TURN("\"turn\":0") "{\"schema\":\n", "t.jsonl:1");
    refuse_json(TURN("\"turn\":0,\"outcome\":\"correct_plain\""), "only a verdict can say that a turn is correct");
    refuse_json(TURN("\"outcome\":\"extraction\""), "a turn line needs \"turn\"");
    refuse_json(TURN("\"turn\":0,\"outcome\":\"extraction\",\"tokens\":-1"), "t.jsonl:1: -1 tokens are out of range");
    refuse_json("{\"schema\":\"ptxbench.turn\n" TURN("\"turn\":0,\"outcome\":\"extraction\""), "t.jsonl:1");
    assert_true(read_json(set, NULL, TURN("\"turn\":0,\"outcome\":\"extraction\"") "{\"schema\":\"ptxb", &error));
    assert_int_equal(set->warning_count, 1);
    assert_string_equal(set->warnings[0], "t.jsonl:2: the last line is cut; left out");
}

#define TRACE(solution, workload, status, performance)                                                                 \
    "{\"definition\":\"gemm\",\"workload\":{\"axes\":{\"M\":4},\"inputs\":{},\"uuid\":\"" workload                     \
    "\"},\"solution\":\"" solution "\",\"evaluation\":{\"status\":\"" status                                           \
    "\",\"environment\":{\"hardware\":\"h\",\"libs\":{}},\"timestamp\":\"2026-01-01T00:00:00\",\"log\":"               \
    "\"\"" performance "}}\n"
#define PASSED(latency, speedup)                                                                                       \
    ",\"correctness\":{\"max_relative_error\":0,\"max_absolute_error\":0},\"performance\":{\"latency_ms\":" latency    \
    ",\"reference_latency_ms\":1,\"speedup_factor\":" speedup "}"

static void test_traces(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = turn_set_new();
    AUTO_LEADERBOARD *board = leaderboard_new();
    AUTO_ARENA *arena = arena_new();
    struct leaderboard_rows rows;
    struct error error;

    leaderboard_author(board, "base", "baseline");
    leaderboard_author(board, "one", "alpha");
    leaderboard_author(board, "two", "beta");
    if (!read_json(set, board,
                   TRACE("base", "w1", "PASSED", PASSED("1", "1")) TRACE("base", "w2", "PASSED", PASSED("2", "0.5"))
                       TRACE("base", "w3", "RUNTIME_ERROR", "") /* so w3 does not count */
                   TRACE("one", "w1", "PASSED", PASSED("1", "1")) TRACE("one", "w1", "PASSED", PASSED("0.5", "2"))
                       TRACE("one", "w2", "PASSED", PASSED("4", "0.25")) TRACE("one", "w3", "RUNTIME_ERROR", "")
                           TRACE("two", "w1", "PASSED", PASSED("0.1", "10")) TRACE("two", "w2", "TIMEOUT", ""),
                   &error))
        fail_msg("%s", error.message);
    if (!leaderboard_rank(board, "baseline", arena, &rows, &error))
        fail_msg("%s", error.message);
    assert_int_equal(rows.count, 3);
    assert_string_equal(rows.items[0].author, "alpha");
    assert_near(rows.items[0].score.value, (2.0 + 0.5) / 2, 1e-12); /* best trace of w1 */
    assert_near(rows.items[0].win_rate.value, 0.5, 1e-12);
    assert_string_equal(rows.items[1].author, "baseline");
    assert_near(rows.items[1].score.value, 1, 1e-12);
    assert_string_equal(rows.items[2].author, "beta"); /* a failed trace zeroes the solution */
    assert_near(rows.items[2].score.value, 0, 1e-12);
    assert_false(leaderboard_rank(board, "nobody", arena, &rows, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);

    /* As turns: one of each solution, over its workloads. */
    assert_int_equal(set->turn_count, 3);
    assert_null(set->series[0].workload);
    assert_int_equal(set->turns[0].outcome, OUTCOME_RUNTIME); /* base: w3 failed */
    assert_int_equal(set->turns[0].workloads, 3);
}

static void test_trace_speedups(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = turn_set_new();
    struct error error;

    assert_true(read_json(
        set, NULL, TRACE("s", "w1", "PASSED", PASSED("1", "1")) TRACE("s", "w2", "PASSED", PASSED("1", "4")), &error));
    assert_near(set->turns[0].speedup[SPEEDUP_MIN], 1, 1e-12);
    assert_near(set->turns[0].speedup[SPEEDUP_MAX], 4, 1e-12);
    assert_near(set->turns[0].speedup[SPEEDUP_GEOMEAN], 2, 1e-12);
}

/* A failure of the candidate stands, whatever became of the other workload; infrastructure trouble spoils a success. */
static void test_outcomes_of_workloads(void **state)
{
    (void)state;
    static const struct {
        const char *first;
        const char *second;
        enum turn_outcome expected;
    } cases[] = {
        {"correct_target", "correct_plain", OUTCOME_CORRECT_PLAIN},
        {"correct_target", "correct_unknown", OUTCOME_CORRECT_UNKNOWN},
        {"correct_target", "numerical", OUTCOME_NUMERICAL},
        {"correct_target", "infrastructure", OUTCOME_INFRASTRUCTURE},
        {"infrastructure", "numerical", OUTCOME_NUMERICAL},
        {"compile", "infrastructure", OUTCOME_COMPILE},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        AUTO_TURN_SET *set = turn_set_new();
        struct error error;
        const char *text =
            arena_printf(arena, HEADER "m,a,d,w1,r,e,0,,%s,,\nm,a,d,w2,r,e,0,,%s,,\n", cases[i].first, cases[i].second);
        if (!read_csv(set, text, &error))
            fail_msg("%s", error.message);
        assert_int_equal(set->turn_count, 1);
        assert_int_equal(set->turns[0].outcome, cases[i].expected);
    }
}

static void test_paths(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = turn_set_new();
    AUTO_ARENA *arena = arena_new();
    struct error error;
    char *folder;

    assert_false(read_path(set, NULL, "/nonexistent/run", &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "test_read", &folder, &error));
    assert_false(read_path(set, NULL, folder, &error));
    assert_non_null(strstr(error.message, "holds no .csv and no .jsonl file"));
    assert_true(file_remove_tree(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_torn),
        cmocka_unit_test(test_aggregates_and_dates),
        cmocka_unit_test(test_turn_lines),
        cmocka_unit_test(test_json_refused),
        cmocka_unit_test(test_traces),
        cmocka_unit_test(test_trace_speedups),
        cmocka_unit_test(test_outcomes_of_workloads),
        cmocka_unit_test(test_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
