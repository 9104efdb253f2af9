/* Code that an answer holds in another wrapping than a fence. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "agent/extract_internal.h"
#include "base/json.h"

/* "cat > kernel.cu <<'EOF'": the word; length 0: none. */
static struct text_span heredoc_word(struct text_span line)
{
    const char *at = span_find(line, "<<");
    const char *end = line.text + line.length;
    struct text_span word = {0};

    if (!at || (end - at > 2 && at[2] == '<'))
        return word;
    at += 2;
    while (at < end && strchr("-~ '\"\\", *at))
        at++;
    word.text = at;
    while (at + word.length < end && (isalnum((unsigned char)at[word.length]) || at[word.length] == '_'))
        word.length++;
    return word;
}

bool extract_heredoc(struct arena *arena, struct text_span block, struct text_span *code)
{
    struct text_span line;

    for (size_t offset = 0; span_next_line(block, &offset, &line);) {
        struct text_span word = heredoc_word(line);
        size_t begin = offset;
        if (!word.length || isdigit((unsigned char)word.text[0]))
            continue;
        for (size_t end = offset; span_next_line(block, &offset, &line); end = offset) {
            struct text_span text = span_trim(line);
            if (text.length != word.length || memcmp(text.text, word.text, word.length))
                continue;
            struct text_span inside = {block.text + begin, end - begin};
            if (span_find(inside, "__global__")) {
                *code = (struct text_span){arena_strndup(arena, inside.text, inside.length), inside.length};
                return true;
            }
            break;
        }
    }
    return false;
}

struct text_span extract_without_entities(struct arena *arena, struct text_span code)
{
    static const struct {
        const char *entity;
        char character;
    } table[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}, {"&apos;", '\''}};
    char *out;
    size_t length = 0;

    if (!span_find(code, "#include &lt;") && !span_find(code, "&lt;&lt;&lt;"))
        return code;
    out = arena_alloc(arena, code.length + 1);
    for (size_t i = 0; i < code.length;) {
        size_t k = 0;
        while (k < ARRAY_LEN(table) &&
               !span_starts((struct text_span){code.text + i, code.length - i}, table[k].entity))
            k++;
        out[length++] = k < ARRAY_LEN(table) ? table[k].character : code.text[i];
        i += k < ARRAY_LEN(table) ? strlen(table[k].entity) : 1;
    }
    return (struct text_span){out, length};
}

struct text_span extract_unescape(struct arena *arena, struct text_span text)
{
    static const char from[] = "nt\"'\\";
    static const char to[] = "\n\t\"'\\";
    char *out = arena_alloc(arena, text.length + 1);
    size_t length = 0;

    for (size_t i = 0; i < text.length; i++) {
        const char *at = text.text[i] == '\\' && i + 1 < text.length ? strchr(from, text.text[i + 1]) : NULL;
        out[length++] = at ? to[at - from] : text.text[i];
        i += at != NULL;
    }
    return (struct text_span){out, length};
}

bool extract_python_string(struct arena *arena, struct text_span block, struct text_span *code)
{
    for (size_t i = 0; i + 3 <= block.length; i++) {
        const char *quote = block.text + i;
        if ((*quote != '"' && *quote != '\'') || quote[1] != *quote || quote[2] != *quote)
            continue;
        struct text_span rest = {quote + 3, block.length - i - 3};
        const char *end = memmem(rest.text, rest.length, quote, 3);
        if (!end)
            return false;
        struct text_span inside = {rest.text, (size_t)(end - rest.text)};
        if (span_find(inside, "__global__")) {
            bool raw = i && strchr("rR", quote[-1]);
            while (inside.length && *inside.text == '\n') {
                inside.text++;
                inside.length--;
            }
            *code = raw ? inside : extract_unescape(arena, inside);
            return true;
        }
        i = (size_t)(end - block.text) + 2;
    }
    return false;
}

/* " 12  code", "12| code": bytes of the number and what sets it off; 0 when the line does not begin with `number`. */
static size_t number_width(struct text_span line, long number)
{
    size_t i = 0;
    long value = 0;

    while (i < line.length && line.text[i] == ' ')
        i++;
    size_t digits = i;
    while (i < line.length && isdigit((unsigned char)line.text[i]) && value < 1000000)
        value = 10 * value + (line.text[i++] - '0');
    if (i == digits || value != number || (i < line.length && !strchr(" \t|:", line.text[i])))
        return 0;
    return i;
}

struct text_span extract_without_numbers(struct arena *arena, struct text_span code)
{
    size_t margin = SIZE_MAX; /* least blanks and bars behind the numbers */
    struct text_span line;
    long number = 0;
    char *out;
    size_t length = 0;

    for (size_t offset = 0; span_next_line(code, &offset, &line);) {
        size_t width = number_width(line, ++number);
        size_t end = width;
        if (!width)
            return code;
        while (end < line.length && strchr(" \t|:", line.text[end]))
            end++;
        if (end < line.length && end - width < margin)
            margin = end - width;
    }
    if (number < 5)
        return code;
    out = arena_alloc(arena, code.length + 1);
    number = 0;
    for (size_t offset = 0; span_next_line(code, &offset, &line);) {
        size_t skip = number_width(line, ++number) + margin;
        if (skip < line.length) {
            memcpy(out + length, line.text + skip, line.length - skip);
            length += line.length - skip;
        }
        out[length++] = '\n';
    }
    return (struct text_span){out, length};
}

/* Longest string below `at` that holds a kernel. */
static void longest_kernel(struct json at, int depth, const char **found)
{
    struct error error;
    const char *text;

    switch (json_kind_of(at)) {
    case JSON_STRING:
        if (json_string(at, &text, &error) && strstr(text, "__global__") && (!*found || strlen(text) > strlen(*found)))
            *found = text;
        return;
    case JSON_ARRAY:
        for (size_t i = 0; depth && i < json_length(at); i++)
            longest_kernel(json_at(at, i), depth - 1, found);
        return;
    case JSON_OBJECT:
        for (size_t i = 0; depth && i < json_length(at); i++) {
            const char *key;
            longest_kernel(json_entry(at, i, &key), depth - 1, found);
        }
        return;
    default:
        return;
    }
}

bool extract_json_string(struct arena *arena, struct text_span answer, struct text_span *code)
{
    struct text_span inner;

    AUTO_JSON_DOCUMENT *document = NULL;
    struct text_span text = span_trim(answer);
    const char *found = NULL;
    struct error error;

    if (!text.length || text.text[0] != '{' || !span_find(text, "__global__") ||
        !json_parse(text.text, text.length, "answer", 1, &document, &error))
        return false;
    longest_kernel(json_root(document), 4, &found);
    if (!found)
        return false;
    *code = (struct text_span){arena_strdup(arena, found), strlen(found)};
    /* arguments of a tool call are JSON in a string */
    if (extract_json_string(arena, *code, &inner))
        *code = inner;
    return true;
}
