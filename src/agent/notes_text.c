/* Hits as the block of a prompt. */
#include <string.h>

#include "agent/notes.h"
#include "base/buffer.h"

enum { TEXT_BYTES = 16000, NOTE_BYTES = 3000, ERROR_BYTES = 1200 };

/* "> " before each line: a note is data, not a heading of ours. */
static void append_quoted(struct buffer *out, const char *text, size_t most)
{
    size_t left = strnlen(text, most + 1);
    bool cut = left > most;

    left = cut ? most : left;
    while (left) {
        size_t line = strcspn(text, "\n");
        line = line < left ? line : left;
        (void)buffer_append_text(out, "> ");
        (void)buffer_append_sanitized(out, text, line);
        (void)buffer_append_text(out, "\n");
        text += line;
        left -= line;
        if (left) {
            text++;
            left--;
        }
    }
    if (cut)
        (void)buffer_append_text(out, "> ...\n");
}

/* Longer than any run of backticks in the text. */
static void append_fence(struct buffer *out, const char *text, const char *tag)
{
    size_t longest = 2;

    for (const char *at = text; *at;) {
        size_t run = strspn(at, "`");
        longest = run > longest ? run : longest;
        at += run ? run : 1;
    }
    for (size_t i = 0; i <= longest; i++)
        (void)buffer_append_text(out, "`");
    (void)buffer_printf(out, "%s\n", tag);
}

static void append_hit(struct buffer *out, const struct notes_hit *hit, size_t number)
{
    (void)buffer_printf(out, "\n## Kernel %zu\n\n", number);
    if (hit->error) {
        (void)buffer_append_text(out, "It failed with:\n");
        append_quoted(out, hit->error, ERROR_BYTES);
    }
    if (hit->note) {
        (void)buffer_append_text(out, hit->error ? "\nWhat repaired it:\n" : "What repaired it:\n");
        append_quoted(out, hit->note, NOTE_BYTES);
    }
}

static void append_fix(struct buffer *out, const struct notes_hit *hit, size_t number)
{
    (void)buffer_printf(out, "\n## Kernel %zu, repaired\n\n", number);
    append_fence(out, hit->fixed, "cpp");
    (void)buffer_append_sanitized(out, hit->fixed, strlen(hit->fixed));
    if (out->length && out->data[out->length - 1] != '\n')
        (void)buffer_append_text(out, "\n");
    append_fence(out, hit->fixed, "");
}

const char *notes_text(struct arena *arena, const struct notes_hit *hits, size_t count,
                       const struct notes_text_options *options)
{
    size_t limit = options && options->limit_bytes ? options->limit_bytes : TEXT_BYTES;
    AUTO_BUFFER out = buffer_new(limit);
    size_t shown = 0;

    (void)buffer_append_text(
        &out, "# Notes from earlier kernels\n\nKernels like yours failed and were repaired. Their causes may "
              "be yours, or not.\n");
    for (size_t i = 0; i < count; i++) {
        AUTO_BUFFER part = buffer_new(1 << 20);
        if (!hits[i].error && !hits[i].note)
            continue;
        append_hit(&part, &hits[i], i + 1);
        if (part.length > limit - out.length)
            break;
        (void)buffer_append(&out, part.data, part.length);
        shown++;
    }
    for (size_t i = 0; options && options->with_fix && i < count; i++) {
        AUTO_BUFFER part = buffer_new(NOTES_LINE_BYTES);
        if (!hits[i].fixed)
            continue;
        append_fix(&part, &hits[i], i + 1);
        if (part.dropped || part.length > limit - out.length)
            continue;
        (void)buffer_append(&out, part.data, part.length);
        shown++;
        break;
    }
    return shown ? arena_strndup(arena, out.data, out.length) : "";
}
