/* Streams and the events that they are, in pieces of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "llm/sse.h"

enum { LIMIT = 64 };

static const struct {
    const char *stream;
    const char *events; /* "name|data;" each */
} cases[] = {
    {"data: a\n\n", "|a;"},
    {"data:a\n\ndata:  b\n\n", "|a;| b;"},
    {"event: ping\ndata: 1\n\ndata: 2\n\n", "ping|1;|2;"},
    {"data: a\ndata: b\n\n", "|a\nb;"},
    {"data: a\r\ndata: b\r\n\r\n", "|a\nb;"},
    {"data\n\n", "|;"},
    {"data:\ndata:\n\n", "|\n;"},
    {": comment\n\n:\n\ndata: a\n\n", "|a;"},
    {"id: 7\nretry: 10\ndata: a\n\n", "|a;"},
    {"event: only\n\ndata: a\n\n", "|a;"}, /* no data, no event, and its name is forgotten */
    {"data: a\r\n\r\ndata: b\r\rdata: c\n\n", "|a;|b;|c;"},
    {"\xef\xbb\xbf"
     "data: a\n\n",
     "|a;"},
    {"\xef\xbb\xbf\n\ndata: a\n\n", "|a;"},
    {"data: a\n", ""}, /* cut off */
    {"data: a", ""},
    {"", ""},
    {"\n\n\n", ""},
    {"datax: a\n\nDATA: b\n\n", ""},
    {"data: {\"a\":1}\n\n", "|{\"a\":1};"},
};

static bool collect(void *context, const char *event, const char *data, size_t length)
{
    struct buffer *events = context;

    assert_int_equal(strlen(data), length);
    (void)buffer_printf(events, "%s|%s;", event, data);
    return true;
}

static void test_streams_become_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t piece = 1; piece <= strlen(cases[i].stream) + 1; piece++) {
            AUTO_BUFFER events = buffer_new(1024);
            struct sse_parser parser;
            size_t length = strlen(cases[i].stream);
            sse_init(&parser, LIMIT);
            for (size_t at = 0; at < length; at += piece)
                assert_true(sse_feed(&parser, cases[i].stream + at, length - at < piece ? length - at : piece, collect,
                                     &events));
            assert_string_equal(events.data, cases[i].events);
            assert_false(sse_overflowed(&parser));
            sse_free(&parser);
        }
}

/* One line, several lines of one event, in one piece and in many. */
static void test_a_too_long_event_stops_the_parser(void **state)
{
    static const char *const streams[] = {
        "data: 0123456789012345678901234567890123456789012345678901234567890123456789\n\n",
        "data: 01234567890123456789012345678901234567\ndata: 01234567890123456789012345678901234567\n\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        for (size_t piece = 1; piece < 200; piece += 13) {
            AUTO_BUFFER events = buffer_new(1024);
            struct sse_parser parser;
            size_t length = strlen(streams[i]);
            bool ok = true;
            sse_init(&parser, LIMIT);
            for (size_t at = 0; at < length && ok; at += piece)
                ok = sse_feed(&parser, streams[i] + at, length - at < piece ? length - at : piece, collect, &events);
            assert_false(ok);
            assert_true(sse_overflowed(&parser));
            assert_string_equal(events.data, "");
            sse_free(&parser);
        }
}

static bool refuse(void *context, const char *event, const char *data, size_t length)
{
    int *count = context;

    (void)event;
    (void)data;
    (void)length;
    return ++*count < 2;
}

static void test_a_visitor_stops_the_parser(void **state)
{
    struct sse_parser parser;
    int count = 0;

    (void)state;
    sse_init(&parser, LIMIT);
    assert_false(sse_feed(&parser, "data: 1\n\ndata: 2\n\ndata: 3\n\n", 27, refuse, &count));
    assert_int_equal(count, 2);
    assert_false(sse_overflowed(&parser));
    sse_free(&parser);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_become_events),
        cmocka_unit_test(test_a_too_long_event_stops_the_parser),
        cmocka_unit_test(test_a_visitor_stops_the_parser),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
