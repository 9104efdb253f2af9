/* What providers say when they do not answer, and what it means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "llm/failure.h"

static const int64_t second_ns = 1000000000;

static const struct {
    int status;
    const char *body;
    enum failure_kind kind;
    const char *message; /* part of it */
} bodies[] = {
    {401, "{\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\"}}", FAILURE_AUTHENTICATION, "no"},
    {403, "{\"error\":{\"message\":\"not your model\"}}", FAILURE_AUTHENTICATION, "not your model"},
    {403, "{\"error\":{\"message\":\"Your chosen model requires moderation and your input was flagged\"}}",
     FAILURE_REFUSED, "flagged"},
    {402, "{\"error\":{\"message\":\"Insufficient credits\",\"code\":402}}", FAILURE_QUOTA, "credits"},
    {429, "{\"error\":{\"message\":\"m\",\"type\":\"insufficient_quota\"}}", FAILURE_QUOTA, "m"},
    {429, "{\"error\":{\"message\":\"m\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", FAILURE_RETRYABLE,
     "m"},
    {429, "{\"error\":{\"message\":\"m\",\"type\":\"invalid_request_error\"}}", FAILURE_RETRYABLE, "m"},
    {429, "", FAILURE_RETRYABLE, "empty response"},
    {500, "oops\nline", FAILURE_RETRYABLE, "oops line"},
    {529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
     FAILURE_RETRYABLE, "Overloaded"},
    {400, "{\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 tokens\",\"code\":400}",
     FAILURE_CONTEXT_OVERFLOW, "4096"}, /* vLLM */
    {400,
     "{\"object\":\"error\",\"message\":\"The input (9000 tokens) is longer than the model's context length (8192 "
     "tokens).\"}",
     FAILURE_CONTEXT_OVERFLOW, "8192"}, /* SGLang */
    {400, "{\"error\":{\"code\":400,\"type\":\"exceed_context_size_error\",\"message\":\"the request exceeds\"}}",
     FAILURE_CONTEXT_OVERFLOW, "exceeds"}, /* llama.cpp */
    {400,
     "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and "
     "`max_tokens` exceed context limit: 190000 + 20000 > 200000\"}}",
     FAILURE_CONTEXT_OVERFLOW, "exceed context limit"},
    {413, "<html>too large</html>", FAILURE_CONTEXT_OVERFLOW, "too large"},
    {400, "[{\"error\":{\"code\":400,\"message\":\"API key not valid.\",\"status\":\"INVALID_ARGUMENT\"}}]",
     FAILURE_AUTHENTICATION, "not valid"}, /* Gemini without alt=sse */
    {400, "{\"error\":{\"message\":\"Unknown parameter\",\"type\":\"invalid_request_error\"}}", FAILURE_BAD_REQUEST,
     "Unknown parameter"},
    {404, "{\"error\":{\"message\":\"model not found\",\"type\":\"not_found_error\"}}", FAILURE_BAD_REQUEST, "found"},
    {422, "{\"detail\":\"field required\"}", FAILURE_BAD_REQUEST, "field required"},
    {400, "{\"error\":\"plain text about the context window\"}", FAILURE_CONTEXT_OVERFLOW, "plain text"},
    {408, "{}", FAILURE_RETRYABLE, "no message"},
    {200, "{\"choices\":[]}", FAILURE_PROTOCOL, "neither a stream"},
    {200, "{\"error\":{\"message\":\"late\",\"code\":503}}", FAILURE_RETRYABLE, "late"},
    {200, "{\"error\":{\"message\":\"who are you\",\"code\":401}}", FAILURE_AUTHENTICATION, "who"},
    {500, "{\"error\":{\"message\":\"tab\\tline\\nbell\\u0007\"}}", FAILURE_RETRYABLE, "tab line bell\xef\xbf\xbd"},
};

static void test_bodies_have_a_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct failure failure = failure_none();
        failure_from_body(bodies[i].body, strlen(bodies[i].body), bodies[i].status, &failure);
        if (failure.kind != bodies[i].kind)
            print_error("%s: %d\n", bodies[i].body, (int)failure.kind);
        assert_int_equal(failure.kind, bodies[i].kind);
        assert_non_null(strstr(failure.message, bodies[i].message));
    }
}

static void test_geminis_quotas_differ_by_their_ids(void **state)
{
    static const char format[] = "{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota\",\"status\":"
                                 "\"RESOURCE_EXHAUSTED\",\"details\":[{\"violations\":[{\"quotaId\":\"Requests%s\"}]},"
                                 "{\"retryDelay\":\"34.5s\"}]}}";
    AUTO_ARENA *arena = arena_new();
    struct failure failure = failure_none();

    (void)state;
    const char *body = arena_printf(arena, format, "PerMinute");
    failure_from_body(body, strlen(body), 429, &failure);
    assert_int_equal(failure.kind, FAILURE_RETRYABLE);
    assert_int_equal(failure.retry_after_ns, 34 * second_ns + second_ns / 2);
    assert_null(strstr(failure.message, "PerMinute"));
    body = arena_printf(arena, format, "PerDayPerProject");
    failure_from_body(body, strlen(body), 429, &failure);
    assert_int_equal(failure.kind, FAILURE_QUOTA);
}

static void test_retry_after_is_seconds_or_a_date(void **state)
{
    const int64_t now = 784111777; /* Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110 */

    (void)state;
    assert_int_equal(failure_retry_after("120", now), 120 * second_ns);
    assert_int_equal(failure_retry_after(" 0 ", now), 0);
    assert_int_equal(failure_retry_after("1.5", now), second_ns + second_ns / 2);
    assert_int_equal(failure_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), 10 * second_ns);
    assert_int_equal(failure_retry_after("Sun, 06 Nov 1994 08:49:27 GMT", now), 0);
    assert_int_equal(failure_retry_after("99999999999", now), 864000 * second_ns);
    assert_int_equal(failure_retry_after("soon", now), -1);
    assert_int_equal(failure_retry_after("", now), -1);
    assert_int_equal(failure_retry_after("-5", now), -1);
    assert_int_equal(failure_retry_after("nan", now), -1);
    assert_int_equal(failure_retry_after("12 parsecs", now), -1);
}

static void test_backoff_doubles_up_to_its_cap(void **state)
{
    const uint64_t least = 0, most = UINT64_MAX;

    (void)state;
    assert_int_equal(failure_backoff(1, second_ns, 60 * second_ns, least), second_ns);
    assert_int_equal(failure_backoff(4, second_ns, 60 * second_ns, least), 8 * second_ns);
    assert_int_equal(failure_backoff(7, second_ns, 60 * second_ns, least), 60 * second_ns);
    assert_int_equal(failure_backoff(1000, second_ns, 60 * second_ns, least), 60 * second_ns);
    for (int attempt = 1; attempt < 80; attempt++) {
        int64_t whole = failure_backoff(attempt, second_ns, 60 * second_ns, least);
        int64_t half = failure_backoff(attempt, second_ns, 60 * second_ns, most);
        assert_true(half >= whole / 2 && half < whole / 2 + 1000);
    }
    assert_int_equal(failure_backoff(3, INT64_MAX / 3, INT64_MAX, least), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_have_a_class),
        cmocka_unit_test(test_geminis_quotas_differ_by_their_ids),
        cmocka_unit_test(test_retry_after_is_seconds_or_a_date),
        cmocka_unit_test(test_backoff_doubles_up_to_its_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
