/* Event logs: what is written is read back, torn ends are cut, broken middles are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "agent/event_log.h"
#include "base/file.h"

static struct arena *arena;
static char *folder;
static const char *path;

struct seen {
    int count;
    struct event last;
    char text[256];
};

static bool see(const struct event *event, void *context, struct error *error)
{
    struct seen *seen = context;

    (void)error;
    seen->count++;
    seen->last = *event;
    if (event->kind == EVENT_REPLY)
        (void)snprintf(seen->text, sizeof seen->text, "%s", event->reply.text);
    return true;
}

static struct seen read_log(void)
{
    struct seen seen = {0};
    struct error error;

    assert_true(event_log_read(path, see, &seen, &error));
    return seen;
}

static void append_text(const char *text)
{
    FILE *file = fopen(path, "a");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void append_reply(int64_t turn, const char *text)
{
    struct error error;
    struct event event = {.kind = EVENT_REPLY,
                          .turn = turn,
                          .purpose = CALL_CHOOSE,
                          .reply = {.status = "ok", .text = text, .input_tokens = count_of(7)}};

    assert_true(event_log_append(path, &event, &error));
}

static void test_round_trip(void **state)
{
    (void)state;
    assert_int_equal(read_log().count, 0); /* no file */
    append_reply(3, "line\nbreak \"quote\" \xc3\xa4");
    struct seen seen = read_log();
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.turn, 3);
    assert_int_equal(seen.last.purpose, CALL_CHOOSE);
    assert_string_equal(seen.text, "line\nbreak \"quote\" \xc3\xa4");
    assert_true(seen.last.reply.input_tokens.known);
    assert_int_equal(seen.last.reply.input_tokens.value, 7);
    assert_false(seen.last.reply.output_tokens.known);
    assert_false(seen.last.reply.cost_usd.known);
}

static void test_started_round_trip(void **state)
{
    struct error error;
    struct event event = {.kind = EVENT_STARTED,
                          .started = {.name = "n", .variant = 2, .planned_turns = 8, .target_speedup = 1.2}};

    (void)state;
    assert_true(event_log_append(path, &event, &error));
    struct seen seen = read_log();
    assert_int_equal(seen.last.started.planned_turns, 8);
    assert_int_equal(seen.last.started.variant, 2);
    assert_true(seen.last.started.target_speedup == 1.2);
}

/* Every way to cut a log: what is left is a beginning of it, and it can be written on. */
static void test_every_cut(void **state)
{
    struct error error;
    struct stat info;
    bool repaired;

    (void)state;
    append_reply(0, "first");
    assert_int_equal(stat(path, &info), 0);
    off_t first = info.st_size;
    append_reply(0, "second");
    assert_int_equal(stat(path, &info), 0);
    AUTO_FREE char *whole = NULL;
    size_t length;
    assert_true(file_read(path, 1 << 20, &whole, &length, &error));
    for (size_t cut = 0; cut <= length; cut++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(whole, 1, cut, file), cut);
        assert_int_equal(fclose(file), 0);
        int wanted = cut == length ? 2 : cut >= (size_t)first ? 1 : 0;
        assert_int_equal(read_log().count, wanted); /* reading needs no repair */
        assert_true(event_log_repair(path, &repaired, &error));
        assert_int_equal(repaired, cut != length && cut != (size_t)first && cut != 0);
        append_reply(0, "third");
        struct seen seen = read_log();
        assert_int_equal(seen.count, wanted + 1);
        assert_string_equal(seen.text, "third");
    }
}

static void test_broken_middle(void **state)
{
    struct seen seen = {0};
    struct error error;

    (void)state;
    append_reply(0, "first");
    append_text("{\"event\":\"reply\"\n");
    append_reply(0, "second");
    assert_false(event_log_read(path, see, &seen, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_non_null(strstr(error.message, "events.jsonl:2"));
}

static void test_unknown_kind(void **state)
{
    struct seen seen = {0};
    struct error error;

    (void)state;
    append_text("{\"event\":\"dance\",\"time\":\"2026-01-01T00:00:00Z\",\"turn\":0}\n");
    assert_false(event_log_read(path, see, &seen, &error));
    assert_non_null(strstr(error.message, "dance"));
}

static void test_missing_is_fine(void **state)
{
    struct error error;
    bool repaired;

    (void)state;
    assert_true(event_log_repair(path, &repaired, &error));
    assert_false(repaired);
}

static int set_up(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    if (!file_make_temporary_folder(arena, file_temporary_root(), "event_log", &folder, &error))
        return -1;
    path = file_join(arena, folder, "events.jsonl");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)file_remove_tree(folder);
    arena_free(arena);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_round_trip),   TEST(test_started_round_trip),
                                       TEST(test_every_cut),    TEST(test_broken_middle),
                                       TEST(test_unknown_kind), TEST(test_missing_is_fine)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
