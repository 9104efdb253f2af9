/* The second question when the extractor is unsure, and its answer. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agent/extract.h"
#include "agent/extract_internal.h"
#include "base/buffer.h"

enum { SHOWN_LINES = 3, SHOWN_BYTES = 120, QUESTION_BYTES = 6000, SHOWN_CANDIDATES = 12 };

static void append_lines(struct buffer *out, struct text_span code)
{
    struct text_span line;
    size_t total = 0;
    size_t number = 0;

    for (size_t offset = 0; span_next_line(code, &offset, &line);)
        total++;
    for (size_t offset = 0; span_next_line(code, &offset, &line); number++) {
        if (number == SHOWN_LINES && total > 2 * SHOWN_LINES)
            (void)buffer_append_text(out, "    ...\n");
        if (number >= SHOWN_LINES && number + SHOWN_LINES < total)
            continue;
        (void)buffer_append_text(out, "    ");
        (void)buffer_append_sanitized(out, line.text, line.length < SHOWN_BYTES ? line.length : SHOWN_BYTES);
        (void)buffer_append_text(out, "\n");
    }
}

const char *extract_question(struct arena *arena, const struct extract_result *result)
{
    AUTO_BUFFER out = buffer_new(QUESTION_BYTES);
    size_t first = result->candidate_count > SHOWN_CANDIDATES ? result->candidate_count - SHOWN_CANDIDATES : 0;

    (void)buffer_append_text(&out, "Your last answer holds more than one block of code. Which one is the kernel to be "
                                   "judged?\n");
    for (size_t i = first; i < result->candidate_count; i++) {
        (void)buffer_printf(&out, "\nBlock %d:\n", result->candidates[i].number);
        append_lines(&out, result->candidates[i].code);
    }
    (void)buffer_append_text(&out, "\nAnswer with one line and no code: \"block N\", or \"none\".\n");
    return arena_strndup(arena, out.data, out.length);
}

/* Decimal digits at `at`; 0 for more than four of them. */
static int digits_at(struct text_span text, size_t at)
{
    int value = 0;

    for (size_t i = at; i < text.length && isdigit((unsigned char)text.text[i]); i++) {
        if (i - at == 4)
            return 0;
        value = 10 * value + (text.text[i] - '0');
    }
    return value;
}

/* The number behind the last "block", or the only number of the reply; 0: none. */
static int number_in(struct text_span text)
{
    int found = 0;
    int numbers = 0;
    int behind_block = 0;

    for (size_t i = 0; i < text.length; i++) {
        if (text.length - i >= 5 && !strncasecmp(text.text + i, "block", 5)) {
            size_t k = i + 5;
            while (k < text.length && strchr(" #*:`\"", text.text[k]))
                k++;
            if (k < text.length && isdigit((unsigned char)text.text[k]))
                behind_block = digits_at(text, k);
        }
        if (isdigit((unsigned char)text.text[i]) && (!i || !isdigit((unsigned char)text.text[i - 1]))) {
            found = digits_at(text, i);
            numbers++;
        }
    }
    return behind_block ? behind_block : numbers == 1 ? found : 0;
}

/* Without what stands before the last closing mark of a thinking part. */
static struct text_span behind_thoughts(struct text_span text)
{
    for (size_t i = text.length; i-- > 0;)
        if (text.length - i >= 8 && !memcmp(text.text + i, "</think>", 8))
            return (struct text_span){text.text + i + 8, text.length - i - 8};
    return text;
}

bool extract_read_choice(struct arena *arena, const struct extract_result *result, const char *reply, size_t bytes,
                         struct text_span *code)
{
    struct extract_result again;
    struct text_span text;
    int number;

    extract_code_of(reply, bytes, result->language, arena, &again);
    if (again.status == EXTRACT_FOUND && again.candidate_count && again.candidates[0].kernel) {
        *code = again.code; /* it sent the kernel once more */
        return true;
    }
    if (bytes > EXTRACT_ANSWER_BYTES)
        bytes = EXTRACT_ANSWER_BYTES;
    text = span_trim(behind_thoughts((struct text_span){arena_strndup(arena, reply, bytes), bytes}));
    number = number_in(text);
    for (size_t i = 0; number && i < result->candidate_count; i++)
        if (result->candidates[i].number == number) {
            *code = result->candidates[i].code;
            return true;
        }
    while (text.length && !isalpha((unsigned char)text.text[0])) {
        text.text++;
        text.length--;
    }
    if (number || text.length < 4 || strncasecmp(text.text, "none", 4) != 0)
        return false;
    *code = (struct text_span){"", 0};
    return true;
}
