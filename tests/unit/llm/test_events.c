/* Single events that are odd but in use, for each API: they cost neither the answer nor memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "llm/provider.h"

typedef bool read_event(struct chat_stream *, const char *, const char *, size_t);

static void read_all(struct chat_stream *stream, read_event *read, const char *const *events)
{
    stream_init(stream, 4096);
    for (; *events; events++) {
        AUTO_ARENA *arena = arena_new();
        char *text = arena_strdup(arena, *events);
        for (char *at = text; (at = strchr(at, '\''));)
            *at = '"';
        if (!read(stream, "", text, strlen(text)))
            break;
    }
}

#define EVENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_openai(void **state)
{
    struct chat_stream stream;

    (void)state;
    read_all(&stream, openai_read_event,
             EVENTS("{'choices':[{'delta':{'content':null,'reasoning':'r1'}}]}", "{'choices':[]}", "{'choices':null}",
                    "{'choices':[{'delta':null,'finish_reason':null}]}", "{'choices':[{}]}", "{'choices':[7]}",
                    "{'choices':[{'delta':{'content':'a\\u0000b\\u001b[31m\\r\\n'}}]}",
                    "{'choices':[{'delta':{'reasoning_content':'r2','reasoning':'r2'}}]}",
                    "{'choices':[{'delta':{},'finish_reason':'stop'}],'usage':null}",
                    "{'usage':{'prompt_tokens':10,'completion_tokens':-5,'cost':0.25,'prompt_tokens_details':null,"
                    "'completion_tokens_details':{'reasoning_tokens':'many'}}}"));
    assert_int_equal(stream.failure.kind, FAILURE_NONE);
    assert_string_equal(stream.text.data, "a\xef\xbf\xbd"
                                          "b\xef\xbf\xbd[31m\n");
    assert_string_equal(stream.reasoning.data, "r1r2");
    assert_string_equal(stream.finish_reason, "stop");
    assert_int_equal(stream.usage.input_tokens, 10);
    assert_int_equal(stream.usage.output_tokens, -1);
    assert_int_equal(stream.usage.reasoning_tokens, -1);
    assert_true(stream.cost_usd == 0.25);
    assert_false(stream.done);
    stream_free(&stream);
}

static void test_openai_refusals(void **state)
{
    struct chat_stream stream;

    (void)state;
    read_all(&stream, openai_read_event,
             EVENTS("{'choices':[{'delta':{'refusal':''}}]}", "{'choices':[{'delta':{'refusal':'No.'}}]}",
                    "{'choices':[{'delta':{},'finish_reason':'stop'}]}", "[DONE]"));
    assert_int_equal(stream.failure.kind, FAILURE_REFUSED);
    assert_string_equal(stream.finish_reason, "refusal");
    assert_string_equal(stream.text.data, "No.");
    assert_true(stream.done);
    stream_free(&stream);
}

static void test_an_error_in_the_stream_stops_it(void **state)
{
    struct chat_stream stream;

    (void)state;
    read_all(&stream, openai_read_event,
             EVENTS("{'choices':[{'delta':{'content':'a'}}]}",
                    "{'error':{'code':502,'message':'upstream'},'choices':[{'delta':{'content':''},'finish_reason':"
                    "'error'}]}",
                    "{'choices':[{'delta':{'content':'b'}}]}"));
    assert_int_equal(stream.failure.kind, FAILURE_RETRYABLE);
    assert_string_equal(stream.failure.message, "upstream");
    assert_string_equal(stream.text.data, "a");
    assert_false(stream_is_complete(&stream));
    stream_free(&stream);
}

static void test_anthropic(void **state)
{
    struct chat_stream stream;

    (void)state;
    read_all(&stream, anthropic_read_event,
             EVENTS("{'type':'message_start','message':{'id':'i','usage':{'input_tokens':5,'output_tokens':1}}}",
                    "{'type':'content_block_start','index':0,'content_block':{'type':'redacted_thinking','data':'x'}}",
                    "{'type':'content_block_start','index':1,'content_block':{'type':'text','text':'a'}}",
                    "{'type':'content_block_delta','index':1,'delta':{'type':'text_delta','text':'b'}}",
                    "{'type':'new_event_of_next_year','data':[]}", "{'no':'type'}", "{'type':7}",
                    "{'type':'content_block_delta','delta':null}",
                    "{'type':'message_delta','delta':{'stop_reason':null},'usage':{'output_tokens':3}}",
                    "{'type':'message_delta','delta':{'stop_reason':'end_turn'},'usage':{'output_tokens':9,"
                    "'output_tokens_details':{'thinking_tokens':4}}}",
                    "{'type':'message_stop'}"));
    assert_int_equal(stream.failure.kind, FAILURE_NONE);
    assert_string_equal(stream.text.data, "ab");
    assert_string_equal(stream.finish_reason, "stop");
    assert_int_equal(stream.usage.input_tokens, 5);
    assert_int_equal(stream.usage.cached_tokens, -1);
    assert_int_equal(stream.usage.output_tokens, 9);
    assert_int_equal(stream.usage.reasoning_tokens, 4);
    assert_true(stream.done);
    stream_free(&stream);
}

static void test_gemini(void **state)
{
    struct chat_stream stream;

    (void)state;
    read_all(
        &stream, gemini_read_event,
        EVENTS("{'candidates':[{'content':{'parts':[{'text':'t','thought':true},{'text':'a'},{'inlineData':{}},7]}}]}",
               "{'candidates':[{'content':{}}]}", "{'candidates':[]}", "{}",
               "{'candidates':[{'content':{'parts':[{'text':'b','thought':false}]},'finishReason':"
               "'MALFORMED_FUNCTION_CALL'}],'usageMetadata':{'promptTokenCount':3,'thoughtsTokenCount':4}}"));
    assert_int_equal(stream.failure.kind, FAILURE_NONE);
    assert_string_equal(stream.text.data, "ab");
    assert_string_equal(stream.reasoning.data, "t");
    assert_string_equal(stream.finish_reason, "other");
    assert_string_equal(stream.raw_finish_reason, "MALFORMED_FUNCTION_CALL");
    assert_int_equal(stream.usage.output_tokens, 4);
    stream_free(&stream);
}

static void test_names_are_one_line(void **state)
{
    struct chat_stream stream;

    (void)state;
    read_all(&stream, openai_read_event,
             EVENTS("{'id':'a\\nb','model':['x'],'system_fingerprint':null,"
                    "'choices':[{'finish_reason':'we\\nird\\u0007'}]}"));
    assert_string_equal(stream.request_id, "a b");
    assert_string_equal(stream.served_model, "");
    assert_string_equal(stream.finish_reason, "other");
    assert_string_equal(stream.raw_finish_reason, "we?ird?");
    stream_free(&stream);
}

static void test_what_is_no_object_is_malformed(void **state)
{
    static read_event *const readers[] = {openai_read_event, anthropic_read_event, gemini_read_event};
    static const char *const events[] = {"", "7", "null", "[]", "\"text\"", "{\"a\":", "{} {}", "NaN"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        for (size_t j = 0; j < ARRAY_LEN(events); j++) {
            struct chat_stream stream;
            stream_init(&stream, 4096);
            assert_false(readers[i](&stream, "", events[j], strlen(events[j])));
            assert_int_equal(stream.failure.kind, FAILURE_PROTOCOL);
            stream_free(&stream);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openai),
        cmocka_unit_test(test_openai_refusals),
        cmocka_unit_test(test_an_error_in_the_stream_stops_it),
        cmocka_unit_test(test_anthropic),
        cmocka_unit_test(test_gemini),
        cmocka_unit_test(test_names_are_one_line),
        cmocka_unit_test(test_what_is_no_object_is_malformed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
