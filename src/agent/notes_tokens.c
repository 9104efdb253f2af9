#include "agent/notes_tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/extract.h"

enum { WORD_BYTES_MAX = 64 };

static size_t skip_comment(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? (size_t)(end - at) + 2 : strlen(at);
    }
    return 0;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *notes_tokens(struct arena *arena, const char *source)
{
    char *out = arena_alloc(arena, 2 * strlen(source) + 2);
    size_t length = 0;
    size_t step;

    for (const char *at = source; *at; at += step) {
        step = skip_comment(at);
        if (step)
            continue;
        while (is_word(at[step]))
            step++;
        if (step > 1 && step <= WORD_BYTES_MAX) {
            for (size_t i = 0; i < step; i++)
                out[length++] = (char)tolower((unsigned char)at[i]);
            out[length++] = ' ';
        }
        step += !step;
    }
    out[length ? length - 1 : 0] = 0;
    return out;
}

/* Longer first, then by text: equal words lie side by side. */
static int compare_words(const void *left, const void *right)
{
    const struct text_span *a = left;
    const struct text_span *b = right;

    if (a->length != b->length)
        return a->length > b->length ? -1 : 1;
    return memcmp(a->text, b->text, a->length);
}

const char *notes_match_query(struct arena *arena, const char *tokens, size_t most)
{
    size_t length = strlen(tokens);
    struct text_span *words = arena_calloc(arena, length / 2 + 1, sizeof *words);
    char *out = arena_alloc(arena, 3 * length + 8 * most + 16);
    size_t count = 0;
    size_t used = 0;
    char *at = out;

    for (const char *word = tokens; *word;) {
        size_t bytes = strcspn(word, " ");
        if (bytes > 1)
            words[count++] = (struct text_span){word, bytes};
        word += bytes + (word[bytes] == ' ');
    }
    if (count)
        qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count && used < most; i++) {
        if (i && !compare_words(&words[i], &words[i - 1]))
            continue;
        if (used++) {
            memcpy(at, " OR ", 4);
            at += 4;
        }
        *at++ = '"';
        memcpy(at, words[i].text, words[i].length);
        at += words[i].length;
        *at++ = '"';
    }
    *at = 0;
    return out;
}
