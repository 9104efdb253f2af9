/* Streams of events: the first byte picks the API, the second the size of the pieces that the rest arrives in. What comes
 * of them must not depend on the pieces, and stays printable and within its limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "llm/provider.h"
#include "llm/sse.h"

enum { TEXT_LIMIT = 1 << 12, EVENT_LIMIT = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    struct chat_stream stream;
    bool (*read)(struct chat_stream *, const char *, const char *, size_t);
    size_t events;
    bool fed, overflowed;
};

static bool take_event(void *context, const char *event, const char *data, size_t length)
{
    struct outcome *outcome = context;

    if (data[length])
        abort();
    outcome->events++;
    return outcome->read(&outcome->stream, event, data, length) && !outcome->stream.text.dropped;
}

static void read_stream(struct outcome *outcome, unsigned api, const char *bytes, size_t size, size_t piece)
{
    static bool (*const readers[])(struct chat_stream *, const char *, const char *,
                                   size_t) = {openai_read_event, anthropic_read_event, gemini_read_event};
    struct sse_parser parser;

    *outcome = (struct outcome){.read = readers[api % ARRAY_LEN(readers)], .fed = true};
    stream_init(&outcome->stream, TEXT_LIMIT);
    sse_init(&parser, EVENT_LIMIT);
    for (size_t at = 0; at < size && outcome->fed; at += piece) {
        size_t length = size - at < piece ? size - at : piece;
        outcome->fed = sse_feed(&parser, bytes + at, length, take_event, outcome);
    }
    outcome->overflowed = sse_overflowed(&parser);
    sse_free(&parser);
}

static void check_text(const struct buffer *text)
{
    if (text->length > TEXT_LIMIT || text->data[text->length] || strlen(text->data) != text->length)
        abort();
    for (size_t i = 0; i < text->length;) {
        unsigned char byte = (unsigned char)text->data[i];
        size_t length = utf8_sequence_length((const unsigned char *)text->data + i, text->length - i);
        if (!length || (byte < 0x20 && byte != '\n' && byte != '\t'))
            abort();
        i += length;
    }
}

static void check_outcome(const struct outcome *outcome)
{
    static const char *const reasons[] = {"stop", "length", "refusal", "overflow", "other"};
    const struct chat_stream *stream = &outcome->stream;
    bool known = !stream->finish_reason;

    check_text(&stream->text);
    check_text(&stream->reasoning);
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        known |= stream->finish_reason && !strcmp(stream->finish_reason, reasons[i]);
    if (!known || strchr(stream->failure.message, '\n') || strchr(stream->request_id, '\n'))
        abort();
    if (stream->usage.input_tokens < -1 || stream->usage.output_tokens < -1 || stream->usage.cached_tokens < -1)
        abort();
    if (!outcome->fed && !outcome->overflowed && stream->failure.kind == FAILURE_NONE && !stream->text.dropped)
        abort(); /* stopped without a reason */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole, parts;

    if (size < 2)
        return 0;
    const char *bytes = (const char *)data + 2;
    read_stream(&whole, data[0], bytes, size - 2, size);
    read_stream(&parts, data[0], bytes, size - 2, (size_t)data[1] + 1);
    check_outcome(&whole);
    check_outcome(&parts);
    if (!whole.overflowed && !parts.overflowed &&
        (whole.events != parts.events || strcmp(whole.stream.text.data, parts.stream.text.data) != 0 ||
         strcmp(whole.stream.reasoning.data, parts.stream.reasoning.data) != 0 ||
         whole.stream.failure.kind != parts.stream.failure.kind))
        abort();
    stream_free(&whole.stream);
    stream_free(&parts.stream);
    return 0;
}
