/* The providers without a network: scripts and recordings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "llm/chat.h"

static struct arena *arena;
static char *folder;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "chat", &folder, &error));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(file_remove_tree(folder));
    arena_free(arena);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left, not even a zombie */
    return 0;
}

static struct chat_client *new_client(void)
{
    struct chat_client_options options = chat_client_defaults();
    struct chat_client *client;
    struct error error;

    options.max_attempts = 3;
    options.backoff_base_ns = 1000000;
    options.text_limit = 1 << 16;
    assert_true(chat_client_new(&options, &client, &error));
    return client;
}

static const struct chat_reply *ask(struct chat_client *client, const struct model_config *model,
                                    const char *trajectory, int turn)
{
    const struct chat_message message = {CHAT_USER, "Write a kernel."};
    struct chat_request request = {
        .model = model, .messages = &message, .message_count = 1, .trajectory = trajectory, .turn = turn};
    struct error error;
    void *context;

    assert_true(chat_client_start(client, &request, NULL, &error));
    return chat_client_next(client, -1, &context);
}

static struct model_config script(const char *text)
{
    const char **command = arena_calloc(arena, 4, sizeof *command);

    command[0] = "/bin/sh";
    command[1] = "-c";
    command[2] = text;
    return (struct model_config){.name = "s", .provider = "script", .command = command};
}

static const struct {
    const char *script;
    enum chat_status status;
    int attempts;
    const char *text, *message;
} scripts[] = {
    {"printf answer", CHAT_OK, 1, "answer", NULL},
    {"cat", CHAT_OK, 1,
     "{\"model\":\"s\",\"trajectory\":\"t\",\"turn\":4,\"messages\":[{\"role\":\"user\",\"text\":\"Write a "
     "kernel.\"}]}",
     NULL},
    {"printf 'a\\000b\\033\\303'; sleep 0.1; printf '\\244'", CHAT_OK, 1,
     "a\xef\xbf\xbd"
     "b\xef\xbf\xbd\xc3\xa4",
     NULL},
    {"sleep 30 & printf x", CHAT_OK, 1, "x", NULL}, /* a grandchild that keeps the pipe open */
    {":", CHAT_OK, 1, "", NULL},
    {"echo too long >&2; exit 65", CHAT_CONTEXT_OVERFLOW, 1, "", "too long"},
    {"exit 69", CHAT_QUOTA, 1, "", "exited with status 69"},
    {"exit 75", CHAT_RETRYABLE_EXHAUSTED, 3, "", "(3 attempts)"},
    {"exit 77", CHAT_AUTHENTICATION, 1, "", NULL},
    {"printf no; exit 78", CHAT_REFUSED, 1, "no", NULL},
    {"exit 3", CHAT_BAD_REQUEST, 1, "", "exited with status 3"},
    {"kill -9 $$", CHAT_RETRYABLE_EXHAUSTED, 3, "", "killed by signal 9"},
};

static void test_scripts(void **state)
{
    struct chat_client *client = new_client();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        struct model_config model = script(scripts[i].script);
        const struct chat_reply *reply = ask(client, &model, "t", 4);
        if (reply->status != scripts[i].status)
            print_error("%s: %s\n", scripts[i].script, reply->error.message);
        assert_int_equal(reply->status, scripts[i].status);
        assert_int_equal(reply->attempts, scripts[i].attempts);
        assert_string_equal(reply->text, scripts[i].text);
        assert_true(!scripts[i].message || strstr(reply->error.message, scripts[i].message));
        assert_int_equal(reply->usage.output_tokens, -1);
        assert_true(reply->cost_usd < 0);
    }
    chat_client_free(client);
}

static void test_an_endless_script_is_cut(void **state)
{
    struct chat_client *client = new_client();
    struct model_config model = script("exec yes");
    const struct chat_reply *reply = ask(client, &model, "t", 0);

    (void)state;
    assert_int_equal(reply->status, CHAT_OK);
    assert_true(reply->text_cut);
    assert_string_equal(reply->finish_reason, "length");
    assert_int_equal(strlen(reply->text), 1 << 16);
    chat_client_free(client);
}

static void test_a_silent_script_is_ended(void **state)
{
    struct chat_client *client = new_client();
    struct model_config model = script("printf 'a\\303'; sleep 100");

    (void)state;
    model.stall_timeout_ns = 1000000000;
    const struct chat_reply *reply = ask(client, &model, "t", 0);
    assert_int_equal(reply->status, CHAT_RETRYABLE_EXHAUSTED);
    assert_non_null(strstr(reply->error.message, "no text came for"));
    assert_string_equal(reply->text, "a\xef\xbf\xbd"); /* printable, although it was cut inside a character */
    chat_client_free(client);
}

static void test_a_script_that_is_not_there(void **state)
{
    const char *const command[] = {"/nowhere/program", NULL};
    struct chat_client *client = new_client();
    struct model_config model = {.name = "s", .provider = "script", .command = command};
    const struct chat_reply *reply = ask(client, &model, "t", 0);

    (void)state;
    assert_int_equal(reply->status, CHAT_BAD_REQUEST);
    assert_non_null(strstr(reply->error.message, "no such program"));
    chat_client_free(client);
}

/* Many at once, and the client is freed with some under way. */
static void test_many_scripts_at_once(void **state)
{
    struct chat_client *client = new_client();
    struct model_config model = script("read line; printf '%s' \"$line\" | head -c 5"), slow = script("sleep 100");
    const struct chat_message message = {CHAT_USER, "Hi"};
    struct chat_request request = {.model = &model, .messages = &message, .message_count = 1};
    struct error error;
    void *context;

    (void)state;
    model.max_parallel = 16;
    for (int i = 0; i < 100; i++)
        assert_true(chat_client_start(client, &request, NULL, &error));
    for (int i = 0; i < 100; i++)
        assert_int_equal(chat_client_next(client, -1, &context)->status, CHAT_OK);
    request.model = &slow;
    for (int i = 0; i < 5; i++)
        assert_true(chat_client_start(client, &request, NULL, &error));
    assert_null(chat_client_next(client, 20, &context));
    chat_client_free(client);
}

static struct model_config recording(const char *text)
{
    const char *path = file_join(arena, folder, "answers.jsonl");
    struct error error;

    assert_true(file_write(path, text, strlen(text), 0644, &error));
    return (struct model_config){.name = "r", .provider = "replay", .replay = path};
}

static void test_recordings_are_found_by_trajectory_and_turn(void **state)
{
    struct chat_client *client = new_client();
    struct model_config model = recording(
        "{\"trajectory\":\"a\",\"turn\":0,\"text\":\"a0\"}\n{\"trajectory\":\"a\",\"turn\":1,\"text\":\"a1\"}\n"
        "{\"trajectory\":\"b\",\"turn\":0,\"text\":\"b0\",\"reasoning\":\"r\",\"finish_reason\":\"length\",\"usage\":"
        "{\"input_tokens\":5,\"output_tokens\":7},\"cost_usd\":0.5,\"served_model\":\"m\",\"delay_ms\":20}\n\n"
        "{\"turn\":0,\"text\":\"any0\"}\n{\"trajectory\":\"a\",\"turn\":1,\"text\":\"a1 again\"}\n"
        "{\"turn\":7,\"text\":\"part\",\"status\":\"context_overflow\",\"message\":\"full\"}\n");

    (void)state;
    assert_string_equal(ask(client, &model, "a", 0)->text, "a0");
    assert_string_equal(ask(client, &model, "a", 1)->text, "a1 again");
    assert_string_equal(ask(client, &model, "c", 0)->text, "any0");
    const struct chat_reply *reply = ask(client, &model, "b", 0);
    assert_string_equal(reply->text, "b0");
    assert_string_equal(reply->reasoning, "r");
    assert_string_equal(reply->finish_reason, "length");
    assert_int_equal(reply->usage.input_tokens, 5);
    assert_int_equal(reply->usage.cached_tokens, -1);
    assert_true(reply->cost_usd == 0.5);
    assert_string_equal(reply->served_model, "m");
    reply = ask(client, &model, "b", 1);
    assert_int_equal(reply->status, CHAT_BAD_REQUEST);
    assert_non_null(strstr(reply->error.message, "no answer for trajectory \"b\", turn 1"));
    reply = ask(client, &model, "x", 7);
    assert_int_equal(reply->status, CHAT_CONTEXT_OVERFLOW);
    assert_string_equal(reply->text, "part");
    assert_string_equal(reply->error.message, "r: full");
    chat_client_free(client);
}

static void test_broken_recordings_are_told_by_line(void **state)
{
    static const struct {
        const char *text, *message;
    } broken[] = {
        {"{\"turn\":0}\n{\"turn\"", ":2: "},
        {"{\"text\":\"x\"}\n", "turn"},
        {"{\"turn\":-1}\n", "non-negative"},
        {"{\"turn\":0,\"text\":7}\n", "$.text: expected a string"},
        {"{\"turn\":0,\"status\":\"fine\"}\n", "unknown status \"fine\""},
        {"[]\n", "expected an object"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        struct chat_client *client = new_client();
        struct model_config model = recording(broken[i].text);
        const struct chat_reply *reply = ask(client, &model, "a", 0);
        assert_int_equal(reply->status, CHAT_BAD_REQUEST);
        if (!strstr(reply->error.message, broken[i].message))
            fail_msg("%s", reply->error.message);
        assert_non_null(strstr(reply->error.message, "answers.jsonl:"));
        chat_client_free(client);
    }
}

static void test_status_names(void **state)
{
    enum chat_status status;

    (void)state;
    for (int i = CHAT_OK; i <= CHAT_CANCELLED; i++) {
        assert_true(chat_status_from_text(chat_status_text((enum chat_status)i), &status));
        assert_int_equal(status, i);
        assert_true(chat_status_is_answer(status) == (status == CHAT_OK || status == CHAT_REFUSED));
    }
    assert_false(chat_status_from_text("fine", &status));
}

/* A descriptor of the caller's ends the wait, and time does; nothing pending is no wait at all. */
static void test_waits_end(void **state)
{
    struct chat_client_options options = chat_client_defaults();
    struct model_config model = script("sleep 100");
    const struct chat_message message = {CHAT_USER, "Hi"};
    struct chat_request request = {.model = &model, .messages = &message, .message_count = 1};
    struct chat_client *client;
    struct error error;
    void *context;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    options.wake_fd = ends[0];
    assert_true(chat_client_new(&options, &client, &error));
    assert_null(chat_client_next(client, -1, &context));
    assert_true(chat_client_start(client, &request, NULL, &error));
    assert_null(chat_client_next(client, 10, &context));
    assert_null(chat_client_next(client, 0, &context));
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_null(chat_client_next(client, -1, &context));
    chat_client_free(client);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_an_endless_script_is_cut),
        cmocka_unit_test(test_a_silent_script_is_ended),
        cmocka_unit_test(test_a_script_that_is_not_there),
        cmocka_unit_test(test_many_scripts_at_once),
        cmocka_unit_test(test_recordings_are_found_by_trajectory_and_turn),
        cmocka_unit_test(test_broken_recordings_are_told_by_line),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_waits_end),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
