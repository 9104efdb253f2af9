/* Code that an answer holds in another wrapping than a fence. */
#include <ctype.h>
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
    return true;
}
