#include "agent/tokens.h"

#include <string.h>

#include "agent/tokens_internal.h"
#include "base/utf8.h"

enum { TEXT_BYTES_MAX = 64 << 20 };

void tokenizer_free(struct tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    for (size_t i = 0; i < tokenizer->split_count; i++)
        pcre2_code_free(tokenizer->splits[i].pattern);
    arena_free(tokenizer->arena);
    free(tokenizer);
}

size_t tokenizer_vocabulary(const struct tokenizer *tokenizer)
{
    return tokenizer->vocabulary.count;
}

/* Code point of a valid sequence. */
static uint32_t decode(const unsigned char *at, size_t length)
{
    uint32_t code = length == 1 ? at[0] : at[0] & (0x7fu >> length);

    for (size_t i = 1; i < length; i++)
        code = code << 6 | (at[i] & 0x3f);
    return code;
}

/* A text of such characters alone is its own NFC: below U+0300 nothing combines, and these blocks have neither
 * combining marks nor characters that NFC replaces. */
static bool is_normal(uint32_t code)
{
    return code < 0x300 || (code >= 0x400 && code <= 0x482) || (code >= 0x2010 && code <= 0x2064) ||
           (code >= 0x2190 && code <= 0x2328) || (code >= 0x232b && code <= 0x2adb) ||
           (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x1f300 && code <= 0x1faff);
}

static bool check_text(const struct tokenizer *tokenizer, const char *text, size_t length, struct error *error)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (length > TEXT_BYTES_MAX)
        return error_set(error, ERROR_LIMIT, "the text is longer than %d bytes", TEXT_BYTES_MAX);
    for (size_t at = 0, step; at < length; at += step) {
        step = utf8_sequence_length(bytes + at, length - at);
        if (!step)
            return error_set(error, ERROR_INPUT, "the text is not UTF-8 at byte %zu", at);
        uint32_t code = decode(bytes + at, step);
        if (tokenizer->needs_nfc && !is_normal(code))
            return error_set(
                error, ERROR_UNSUPPORTED,
                "byte %zu: U+%04X may change under NFC, which this tokenizer wants and ptxbench does not do", at, code);
    }
    return true;
}

struct encoding {
    const struct tokenizer *tokenizer;
    struct merge_scratch scratch;
    token_take *take;
    void *context;
    int64_t count;
};

static bool take_piece(void *context, const char *text, size_t length, struct error *error)
{
    struct encoding *e = context;

    return merge_piece(e->tokenizer, &e->scratch, text, length, e->take, e->context, &e->count, error);
}

/* Text between special tokens. */
static bool encode_plain(struct encoding *e, const char *text, size_t length, struct error *error)
{
    if (!length)
        return true;
    if (!e->tokenizer->prefix_space || text[0] == ' ')
        return split_apply(e->tokenizer, text, length, take_piece, e, error);
    char *spaced = malloc(length + 1);
    if (!spaced)
        return error_set(error, ERROR_MEMORY, "out of memory");
    spaced[0] = ' ';
    memcpy(spaced + 1, text, length);
    bool ok = split_apply(e->tokenizer, spaced, length + 1, take_piece, e, error);
    free(spaced);
    return ok;
}

/* The longest special token that stands here, or NULL. */
static const struct added_token *added_at(const struct tokenizer *tokenizer, const char *text, size_t left)
{
    for (size_t i = 0; i < tokenizer->added_count; i++) {
        const struct added_token *token = &tokenizer->added[i];
        if (token->length <= left && token->text[0] == *text && !memcmp(token->text, text, token->length))
            return token;
    }
    return NULL;
}

static bool encode(struct encoding *e, const char *text, size_t length, struct error *error)
{
    size_t done = 0;

    for (size_t at = 0; at < length;) {
        const struct added_token *token = added_at(e->tokenizer, text + at, length - at);
        if (!token) {
            at++;
            continue;
        }
        if (!encode_plain(e, text + done, at - done, error))
            return false;
        if (e->take)
            e->take(e->context, token->id);
        e->count++;
        at += token->length;
        done = at;
    }
    return encode_plain(e, text + done, length - done, error);
}

bool tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length, token_take *take,
                      void *context, int64_t *count, struct error *error)
{
    struct encoding e = {.tokenizer = tokenizer, .take = take, .context = context};

    if (!check_text(tokenizer, text, length, error))
        return false;
    bool ok = encode(&e, text, length, error);
    merge_scratch_free(&e.scratch);
    if (ok)
        *count = e.count;
    return ok;
}

/* Letters come in long tokens, other characters mostly one by one. The weights were fitted to the files of the shipped
 * packs (docs/formats/pack.md). */
int64_t tokens_estimate(const char *text, size_t length)
{
    static const double first_letter = 0.9, letter = 0.1, blank_in_run = 0.12, digit = 1.6, other = 0.6,
                        not_ascii = 0.5;
    double tokens = 0;
    bool was_letter = false, was_blank = false;

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_blank = c == ' ' || c == '\n' || c == '\t';
        if (is_letter)
            tokens += was_letter ? letter : first_letter;
        else if (is_blank)
            tokens += was_blank ? blank_in_run : 0; /* a single blank belongs to the word behind it */
        else if (c >= '0' && c <= '9')
            tokens += digit;
        else
            tokens += c < 0x80 ? other : not_ascii;
        was_letter = is_letter;
        was_blank = is_blank;
    }
    return (int64_t)(tokens + 0.999);
}
