/* Every fault of tests/llm/server.py against each of the three APIs, all calls at once through one client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "llm/fault_server.h"

static const char *const providers[] = {"openai", "openrouter", "vllm", "anthropic", "gemini"};

enum { MAX_ATTEMPTS = 3, TEXT_LIMIT = 1 << 20 };

/* What a text has to be: all of the answer, some beginning of it, nothing, or anything. */
enum text_check { TEXT_WHOLE, TEXT_PART, TEXT_EMPTY, TEXT_ANY };

struct fault {
    const char *scenario;
    enum chat_status status;
    int attempts;
    enum text_check text;
    const char *finish; /* NULL: none */
    bool has_usage;     /* that of a whole answer */
    const char *message;
    int64_t idle_ms, stall_ms;
};

static const struct fault faults[] = {
    {"ok", CHAT_OK, 1, TEXT_WHOLE, "stop", true},
    {"length", CHAT_OK, 1, TEXT_WHOLE, "length", true},
    {"empty", CHAT_OK, 1, TEXT_EMPTY, "stop", true},
    {"drip", CHAT_OK, 1, TEXT_WHOLE, "stop", true},
    {"bytewise", CHAT_OK, 1, TEXT_WHOLE, "stop", true},
    {"cut_after_end", CHAT_OK, 1, TEXT_WHOLE, "stop", true},
    {"hold_after_end", CHAT_OK, 1, TEXT_WHOLE, "stop", true},
    {"huge", CHAT_OK, 1, TEXT_ANY, "length", false},
    {"rate_limit", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"rate_limit_ms", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"rate_limit_date", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"server_error", CHAT_OK, 3, TEXT_WHOLE, "stop", true},
    {"bad_gateway", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"cut", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"cut_inside", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"drop", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"malformed", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"stream_error", CHAT_OK, 2, TEXT_WHOLE, "stop", true},
    {"stall", CHAT_OK, 2, TEXT_WHOLE, "stop", true, NULL, 1500},
    {"refusal", CHAT_REFUSED, 1, TEXT_ANY, "refusal", true, "the answer ended with"},
    {"blocked", CHAT_REFUSED, 1, TEXT_EMPTY, NULL, false, "blocked|flagged"},
    {"auth", CHAT_AUTHENTICATION, 1, TEXT_EMPTY, NULL, false, "key"},
    {"quota", CHAT_QUOTA, 1, TEXT_EMPTY, NULL, false, "quota|credit"},
    {"overflow", CHAT_CONTEXT_OVERFLOW, 1, TEXT_EMPTY, NULL, false, "token"},
    {"bad", CHAT_BAD_REQUEST, 1, TEXT_EMPTY, NULL, false, "status 400"},
    {"redirect", CHAT_BAD_REQUEST, 1, TEXT_EMPTY, NULL, false, "redirections are not followed"},
    {"nowhere", CHAT_BAD_REQUEST, 1, TEXT_EMPTY, NULL, false, "status 404: nothing at"},
    {"rate_limit_forever", CHAT_RETRYABLE_EXHAUSTED, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "status 429"},
    {"rate_limit_long", CHAT_RETRYABLE_EXHAUSTED, 1, TEXT_EMPTY, NULL, false, "asks to wait 86400 s"},
    {"server_error_forever", CHAT_RETRYABLE_EXHAUSTED, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "status 5"},
    {"cut_forever", CHAT_RETRYABLE_EXHAUSTED, MAX_ATTEMPTS, TEXT_PART, NULL, false, "(3 attempts)"},
    {"stall_forever", CHAT_RETRYABLE_EXHAUSTED, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "nothing came for", 1500},
    {"signs_of_life", CHAT_RETRYABLE_EXHAUSTED, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "no text came for", 60000, 1000},
    {"malformed_forever", CHAT_PROTOCOL, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "malformed event"},
    {"not_events", CHAT_PROTOCOL, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "neither a stream of events nor an error"},
    {"huge_event", CHAT_PROTOCOL, MAX_ATTEMPTS, TEXT_EMPTY, NULL, false, "an event is longer than"},
    {"echo_key", CHAT_AUTHENTICATION, 1, TEXT_EMPTY, NULL, false, "key [key] may not do this ([key])"},
};

struct job {
    const struct fault *fault;
    const char *provider;
    struct model_config model;
    int replies;
};

static struct fault_server server;

static int start_server(void **state)
{
    (void)state;
    fault_server_start(&server, NULL, NULL);
    return 0;
}

static int stop_server(void **state)
{
    (void)state;
    fault_server_stop(&server);
    return 0;
}

static bool is_among(const char *text, const char *wanted) /* parts separated by | */
{
    AUTO_ARENA *arena = arena_new();

    while (*wanted) {
        size_t length = strcspn(wanted, "|");
        if (strstr(text, arena_strndup(arena, wanted, length)))
            return true;
        wanted += length + (wanted[length] == '|');
    }
    return false;
}

/* The numbers that server.py has for each API. */
static void check_usage(const struct job *job, const struct chat_reply *reply)
{
    bool anthropic = !strcmp(job->provider, "anthropic");

    assert_int_equal(reply->usage.input_tokens, 1000);
    assert_int_equal(reply->usage.cached_tokens, 200);
    assert_int_equal(reply->usage.output_tokens, 50);
    assert_int_equal(reply->usage.reasoning_tokens, anthropic ? -1 : 30);
    assert_int_equal(reply->usage.cache_write_tokens, anthropic ? 100 : -1);
    assert_string_equal(reply->reasoning, FAULT_REASONING);
    assert_string_equal(reply->served_model, "served-model");
    assert_string_equal(reply->request_id, "req-1");
    assert_true(reply->first_token_ns >= 0);
    if (strcmp(job->provider, "anthropic") != 0 && strcmp(job->provider, "gemini") != 0) {
        assert_string_equal(reply->fingerprint, "fp-1");
        assert_true(strstr(reply->provider, "/Upstream"));
    } else {
        assert_string_equal(reply->provider, job->provider);
    }
}

static void check_text(const struct job *job, const struct chat_reply *reply)
{
    switch (job->fault->text) {
    case TEXT_WHOLE:
        assert_string_equal(reply->text, FAULT_TEXT);
        break;
    case TEXT_PART:
        assert_true(*reply->text && !strncmp(reply->text, FAULT_TEXT, strlen(reply->text)));
        break;
    case TEXT_EMPTY:
        assert_string_equal(reply->text, "");
        break;
    case TEXT_ANY:
        break;
    }
    assert_null(strstr(reply->text, FAULT_KEY));
    assert_null(strstr(reply->error.message, FAULT_KEY));
}

static void check_reply(const struct job *job, const struct chat_reply *reply)
{
    const struct fault *fault = job->fault;

    if (reply->status != fault->status || reply->attempts != fault->attempts)
        print_error("%s %s: %s after %d attempts: %s\n", job->provider, fault->scenario,
                    chat_status_text(reply->status), reply->attempts, reply->error.message);
    assert_int_equal(reply->status, fault->status);
    assert_int_equal(reply->attempts, fault->attempts);
    check_text(job, reply);
    if (fault->has_usage)
        check_usage(job, reply);
    if (fault->finish)
        assert_string_equal(reply->finish_reason, fault->finish);
    else if (fault->status != CHAT_REFUSED)
        assert_null(reply->finish_reason);
    if (fault->message && !is_among(reply->error.message, fault->message))
        print_error("%s %s: %s\n", job->provider, fault->scenario, reply->error.message);
    assert_true(!fault->message || is_among(reply->error.message, fault->message));
    assert_true((reply->status == CHAT_OK) == (reply->error.code == ERROR_NONE));
    assert_true(reply->text_cut == !strcmp(fault->scenario, "huge"));
    assert_true(!reply->text_cut || strlen(reply->text) == TEXT_LIMIT);
    assert_true(reply->elapsed_ns >= reply->waited_ns && reply->waited_ns >= 0);
}

static void test_every_fault_on_every_api(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const size_t count = ARRAY_LEN(faults) * ARRAY_LEN(providers);
    struct job *jobs = arena_calloc(arena, count, sizeof *jobs);
    struct chat_client_options options = chat_client_defaults();
    const struct chat_message messages[] = {{CHAT_SYSTEM, "Be brief."}, {CHAT_USER, "Write a kernel."}};
    struct chat_client *client;
    struct error error;

    (void)state;
    options.max_attempts = MAX_ATTEMPTS;
    options.backoff_base_ns = 10000000;
    options.text_limit = TEXT_LIMIT;
    options.end_grace_ns = 1000000000;
    assert_true(chat_client_new(&options, &client, &error));
    for (size_t i = 0; i < count; i++) {
        struct job *job = &jobs[i];
        job->fault = &faults[i / ARRAY_LEN(providers)];
        job->provider = providers[i % ARRAY_LEN(providers)];
        job->model = fault_model(arena, &server, job->provider, job->fault->scenario, "faults");
        job->model.idle_timeout_ns = job->fault->idle_ms * 1000000;
        job->model.stall_timeout_ns = job->fault->stall_ms * 1000000;
        struct chat_request request = {.model = &job->model, .messages = messages, .message_count = 2};
        assert_true(chat_client_start(client, &request, job, &error));
    }
    assert_int_equal(chat_client_pending(client), count);
    while (chat_client_pending(client)) {
        void *context;
        const struct chat_reply *reply = chat_client_next(client, -1, &context);
        struct job *job = context;
        assert_non_null(reply);
        check_reply(job, reply);
        job->replies++;
    }
    for (size_t i = 0; i < count; i++)
        assert_int_equal(jobs[i].replies, 1);
    chat_client_free(client);
}

/* One call with default options; the reply lives as long as the client. */
static const struct chat_reply *ask(struct chat_client *client, const struct model_config *model)
{
    const struct chat_message message = {CHAT_USER, "Write a kernel."};
    struct chat_request request = {.model = model, .messages = &message, .message_count = 1};
    struct error error;
    void *context;

    assert_true(chat_client_start(client, &request, NULL, &error));
    return chat_client_next(client, -1, &context);
}

static struct chat_client *new_client(void)
{
    struct chat_client_options options = chat_client_defaults();
    struct chat_client *client;
    struct error error;

    options.max_attempts = 2;
    options.backoff_base_ns = 10000000;
    assert_true(chat_client_new(&options, &client, &error));
    return client;
}

static void test_the_key_comes_back_in_nothing(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(providers); i++) {
        struct model_config model = fault_model(arena, &server, providers[i], "echo_key_text", "key");
        const struct chat_reply *reply = ask(client, &model);
        assert_int_equal(reply->status, CHAT_OK);
        assert_string_equal(reply->text, "[key] and [key]"); /* also when it came in two pieces */
        assert_string_equal(reply->request_id, "[key]");
        assert_string_equal(reply->served_model, "[key]");
    }
    chat_client_free(client);
}

static void test_ids_from_headers_are_printable(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config model = fault_model(arena, &server, "openai", "odd_header", "header");
    const struct chat_reply *reply = ask(client, &model);

    (void)state;
    assert_int_equal(reply->status, CHAT_OK);
    assert_string_equal(reply->request_id, "a?[31mb?");
    chat_client_free(client);
}

static void test_a_missing_key_is_told_before_anything_is_sent(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config model = fault_model(arena, &server, "openai", "ok", "missing");

    (void)state;
    model.api_key_env = "PTXBENCH_TEST_NO_SUCH_KEY";
    const struct chat_reply *reply = ask(client, &model);
    assert_int_equal(reply->status, CHAT_AUTHENTICATION);
    assert_int_equal(reply->attempts, 0);
    assert_non_null(strstr(reply->error.message, "PTXBENCH_TEST_NO_SUCH_KEY is not set"));

    assert_int_equal(setenv("PTXBENCH_TEST_BROKEN_KEY", "secret-one\r\nX-Injected: 1", 1), 0);
    model.api_key_env = "PTXBENCH_TEST_BROKEN_KEY";
    reply = ask(client, &model);
    assert_int_equal(reply->status, CHAT_AUTHENTICATION);
    assert_null(strstr(reply->error.message, "secret-one"));
    chat_client_free(client);
}

static void test_a_server_that_is_not_there_is_tried_again(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config model = fault_model(arena, &server, "openai", "ok", "away");

    (void)state;
    model.base_url = "http://127.0.0.1:1/v1";
    const struct chat_reply *reply = ask(client, &model);
    assert_int_equal(reply->status, CHAT_RETRYABLE_EXHAUSTED);
    assert_int_equal(reply->attempts, 2);
    assert_int_equal(reply->http_status, 0);
    chat_client_free(client);
}

static void test_a_context_that_fills_up_on_the_way_is_an_overflow(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config model = fault_model(arena, &server, "anthropic", "full_context", "full");
    const struct chat_reply *reply = ask(client, &model);

    (void)state;
    assert_int_equal(reply->status, CHAT_CONTEXT_OVERFLOW);
    assert_string_equal(reply->finish_reason, "overflow");
    assert_string_equal(reply->text, FAULT_TEXT);
    assert_int_equal(reply->usage.output_tokens, 50);
    chat_client_free(client);
}

static void test_calls_can_be_cancelled_at_any_time(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config stalled = fault_model(arena, &server, "openai", "stall_forever", "cancel");
    struct model_config limited = fault_model(arena, &server, "openai", "rate_limit_long", "cancel");
    const struct chat_message message = {CHAT_USER, "Hi"};
    struct chat_request request = {.model = &stalled, .messages = &message, .message_count = 1};
    struct error error;
    int first, second;
    void *context;

    (void)state;
    assert_true(chat_client_start(client, &request, &first, &error));
    assert_true(chat_client_start(client, &request, &second, &error));
    assert_null(chat_client_next(client, 200, &context));
    request.model = &limited; /* not started yet when it is cancelled */
    assert_true(chat_client_start(client, &request, &first, &error));
    chat_client_cancel(client, &first);
    for (int i = 0; i < 2; i++) {
        const struct chat_reply *reply = chat_client_next(client, -1, &context);
        assert_int_equal(reply->status, CHAT_CANCELLED);
        assert_ptr_equal(context, &first);
        assert_int_equal(reply->attempts, i ? 0 : 1);
    }
    assert_int_equal(chat_client_pending(client), 1);
    chat_client_free(client); /* with one under way */
}

static void test_a_model_runs_no_more_calls_at_once_than_it_may(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config model = fault_model(arena, &server, "openai", "drip", "parallel");
    const struct chat_message message = {CHAT_USER, "Hi"};
    struct chat_request request = {.model = &model, .messages = &message, .message_count = 1};
    struct error error;
    void *context;
    int64_t waited = 0;

    (void)state;
    model.max_parallel = 1;
    for (int i = 0; i < 3; i++)
        assert_true(chat_client_start(client, &request, NULL, &error));
    for (int i = 0; i < 3; i++) {
        const struct chat_reply *reply = chat_client_next(client, -1, &context);
        assert_int_equal(reply->status, CHAT_OK);
        assert_true(reply->waited_ns >= waited); /* the ones behind wait for those in front */
        waited = reply->waited_ns + (reply->elapsed_ns - reply->waited_ns) / 2;
    }
    chat_client_free(client);
}

/* Calls of one model that are too many for its server give way to each other, and all are answered: a server that takes
 * four at once, thirty calls, and fewer attempts than it takes to get in by luck. */
static void test_a_crowd_gets_through(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct model_config model = fault_model(arena, &server, "anthropic", "crowd", "crowd");
    struct chat_client_options options = chat_client_defaults();
    const struct chat_message message = {CHAT_USER, "Hi"};
    struct chat_request request = {.model = &model, .messages = &message, .message_count = 1};
    struct chat_client *client;
    struct error error;
    void *context;
    int most = 0;

    (void)state;
    options.max_attempts = 6;
    options.backoff_base_ns = 20000000;
    assert_true(chat_client_new(&options, &client, &error));
    for (int i = 0; i < 30; i++)
        assert_true(chat_client_start(client, &request, NULL, &error));
    for (int i = 0; i < 30; i++) {
        const struct chat_reply *reply = chat_client_next(client, -1, &context);
        assert_int_equal(reply->status, CHAT_OK);
        most = reply->attempts > most ? reply->attempts : most;
    }
    assert_true(most > 1);
    chat_client_free(client);
}

/* Nothing to do, no processor time: a call that stalls for two seconds may cost little of them. */
static void test_waiting_costs_nothing(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct chat_client *client = new_client();
    struct model_config model = fault_model(arena, &server, "openai", "stall_forever", "idle");
    struct timespec before, after;

    (void)state;
    model.idle_timeout_ns = 1000000000;
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before), 0);
    const struct chat_reply *reply = ask(client, &model);
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after), 0);
    assert_int_equal(reply->attempts, 2);
    assert_true(reply->elapsed_ns > 2000000000);
    int64_t used = (after.tv_sec - before.tv_sec) * INT64_C(1000000000) + after.tv_nsec - before.tv_nsec;
    assert_true(used < 200000000);
    chat_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fault_on_every_api),
        cmocka_unit_test(test_the_key_comes_back_in_nothing),
        cmocka_unit_test(test_ids_from_headers_are_printable),
        cmocka_unit_test(test_a_missing_key_is_told_before_anything_is_sent),
        cmocka_unit_test(test_a_server_that_is_not_there_is_tried_again),
        cmocka_unit_test(test_a_context_that_fills_up_on_the_way_is_an_overflow),
        cmocka_unit_test(test_calls_can_be_cancelled_at_any_time),
        cmocka_unit_test(test_a_model_runs_no_more_calls_at_once_than_it_may),
        cmocka_unit_test(test_a_crowd_gets_through),
        cmocka_unit_test(test_waiting_costs_nothing),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
