#include <string.h>

#include "agent/tokens_internal.h"

/* A pattern from a file may be hostile: work for each match is bounded, in proportion to the text, since a run of blanks
 * is one match. */
enum {
    STEPS_LEAST = 100000,
    STEPS_PER_BYTE = 32,
    DEPTH_LIMIT = 10000,
    HEAP_KIB_LIMIT = 65536,
    PATTERN_BYTES_MAX = 8192
};

const char split_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

bool split_add(struct tokenizer *tokenizer, const char *pattern, bool remove, struct error *error)
{
    int code;
    PCRE2_SIZE at;

    if (tokenizer->split_count == SPLITS_MAX)
        return error_set(error, ERROR_UNSUPPORTED, "more than %d pre-tokenizers", SPLITS_MAX);
    if (strlen(pattern) > PATTERN_BYTES_MAX)
        return error_set(error, ERROR_UNSUPPORTED, "a pattern of more than %d bytes", PATTERN_BYTES_MAX);
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                         PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
    if (!compiled) {
        PCRE2_UCHAR text[128];
        (void)pcre2_get_error_message(code, text, sizeof text);
        return error_set(error, ERROR_UNSUPPORTED, "pattern is not understood at offset %zu: %s", at,
                         (const char *)text);
    }
    (void)pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* only speed */
    tokenizer->splits[tokenizer->split_count++] = (struct split){compiled, remove};
    return true;
}

/* What one call of split_apply carries down through the steps. */
struct splitting {
    const struct tokenizer *tokenizer;
    pcre2_match_context *limits;
    pcre2_match_data *data[SPLITS_MAX];
    piece_take *take;
    void *context;
};

static bool cut(struct splitting *s, size_t step, const char *text, size_t length, struct error *error);

static bool next_step(struct splitting *s, size_t step, const char *text, size_t length, struct error *error)
{
    if (!length)
        return true;
    if (step == s->tokenizer->split_count)
        return s->take(s->context, text, length, error);
    return cut(s, step, text, length, error);
}

static bool cut(struct splitting *s, size_t step, const char *text, size_t length, struct error *error)
{
    const struct split *split = &s->tokenizer->splits[step];
    size_t done = 0, from = 0;

    while (from < length) {
        int found = pcre2_match(split->pattern, (PCRE2_SPTR)text, length, from, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY,
                                s->data[step], s->limits);
        if (found == PCRE2_ERROR_NOMATCH)
            break;
        if (found < 0)
            return error_set(error, ERROR_LIMIT, "the pre-tokenizer's pattern needs too much work (PCRE2 error %d)",
                             found);
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(s->data[step]);
        size_t begin = ends[0], end = ends[1];
        if (begin < done || end <= begin) /* \K in a pattern can do that */
            return error_set(error, ERROR_UNSUPPORTED, "the pre-tokenizer's pattern matches backwards");
        if (!next_step(s, step + 1, text + done, begin - done, error) ||
            (!split->remove && !next_step(s, step + 1, text + begin, end - begin, error)))
            return false;
        done = from = end;
    }
    return next_step(s, step + 1, text + done, length - done, error);
}

/* Texts are at most 64 MiB (tokens.c), so that the limit of steps fits. */
bool split_apply(const struct tokenizer *tokenizer, const char *text, size_t length, piece_take *take, void *context,
                 struct error *error)
{
    struct splitting s = {.tokenizer = tokenizer, .take = take, .context = context};
    bool ready = (s.limits = pcre2_match_context_create(NULL)) != NULL;
    bool ok = false;

    for (size_t i = 0; ready && i < tokenizer->split_count; i++)
        ready = (s.data[i] = pcre2_match_data_create_from_pattern(tokenizer->splits[i].pattern, NULL)) != NULL;
    if (ready) {
        (void)pcre2_set_match_limit(s.limits, STEPS_LEAST + STEPS_PER_BYTE * (uint32_t)length);
        (void)pcre2_set_depth_limit(s.limits, DEPTH_LIMIT);
        (void)pcre2_set_heap_limit(s.limits, HEAP_KIB_LIMIT);
        ok = next_step(&s, 0, text, length, error);
    } else {
        (void)error_set(error, ERROR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < tokenizer->split_count; i++)
        pcre2_match_data_free(s.data[i]);
    pcre2_match_context_free(s.limits);
    return ok;
}
