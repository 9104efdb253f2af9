#include "llm/stream.h"

#include <string.h>

static const struct chat_usage unknown_usage = {-1, -1, -1, -1, -1};

void stream_init(struct chat_stream *stream, size_t text_limit)
{
    *stream = (struct chat_stream){.text = buffer_new(text_limit), .reasoning = buffer_new(text_limit)};
    stream_reset(stream);
}

void stream_free(struct chat_stream *stream)
{
    buffer_free(&stream->text);
    buffer_free(&stream->reasoning);
}

void stream_reset(struct chat_stream *stream)
{
    struct buffer text = stream->text, reasoning = stream->reasoning;

    buffer_reset(&text);
    buffer_reset(&reasoning);
    *stream = (struct chat_stream){
        .text = text, .reasoning = reasoning, .usage = unknown_usage, .cost_usd = -1, .failure = failure_none()};
}

bool stream_is_complete(const struct chat_stream *stream)
{
    return stream->done || stream->finish_reason;
}

void stream_add_text(struct buffer *to, struct json value)
{
    if (json_kind_of(value) == JSON_STRING)
        (void)buffer_append_sanitized(to, json_object_get_string(value.value),
                                      (size_t)json_object_get_string_len(value.value));
}

void stream_copy_name(char to[STREAM_NAME_MAX], struct json object, const char *key)
{
    AUTO_BUFFER name = buffer_new(STREAM_NAME_MAX - 1);
    struct json value;

    if (!json_optional(object, key, &value) || json_kind_of(value) != JSON_STRING)
        return;
    stream_add_text(&name, value);
    for (size_t i = 0; i < name.length; i++)
        if (name.data[i] == '\n' || name.data[i] == '\t')
            name.data[i] = ' ';
    memcpy(to, name.data, name.length + 1);
}

void stream_set_name(char to[STREAM_NAME_MAX], const char *text)
{
    (void)snprintf(to, STREAM_NAME_MAX, "%s", text);
    for (char *at = to; *at; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at > 0x7e)
            *at = '?';
}

void stream_read_count(int64_t *to, struct json object, const char *key)
{
    struct json value;
    struct error error;
    int64_t count;

    if (json_optional(object, key, &value) && json_kind_of(value) == JSON_INTEGER && json_i64(value, &count, &error) &&
        count >= 0)
        *to = count;
}

bool stream_parse(struct chat_stream *stream, const char *data, size_t length, struct json_document **document)
{
    struct error error;

    if (!json_parse(data, length, "event", 1, document, &error)) {
        failure_set(&stream->failure, FAILURE_PROTOCOL, "malformed event: %s", error.message);
        return false;
    }
    if (failure_from_json(json_root(*document), 200, &stream->failure))
        return false;
    if (json_kind_of(json_root(*document)) != JSON_OBJECT) {
        failure_set(&stream->failure, FAILURE_PROTOCOL, "malformed event: expected an object");
        return false;
    }
    return true;
}

void stream_set_finish(struct chat_stream *stream, const char *word, const struct finish_word *table, size_t count)
{
    stream->finish_reason = "other";
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, table[i].word))
            stream->finish_reason = table[i].reason;
    stream_set_name(stream->raw_finish_reason, word);
    if (!strcmp(stream->finish_reason, "refusal"))
        failure_set(&stream->failure, FAILURE_REFUSED, "the answer ended with \"%s\"", stream->raw_finish_reason);
    else if (!strcmp(stream->finish_reason, "overflow"))
        failure_set(&stream->failure, FAILURE_CONTEXT_OVERFLOW, "the answer ended with \"%s\"",
                    stream->raw_finish_reason);
}
