/* tokenizer.json: what is understood becomes a tokenizer, what is not is named. */
#include <string.h>

#include "agent/tokens_internal.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"

static bool unsupported(struct json at, struct error *error, const char *what)
{
    (void)json_error(at, error, "%s is not supported", what);
    error->code = ERROR_UNSUPPORTED;
    return error_hint(error,
                      "byte-level BPE is (GPT-2, Llama 3, Qwen, SmolLM); without --tokenizer the count is estimated");
}

static bool member_is(struct json object, const char *key, const char *wanted)
{
    struct json member;
    struct error ignored;
    const char *text;

    return json_optional(object, key, &member) && json_kind_of(member) == JSON_STRING &&
           json_string(member, &text, &ignored) && !strcmp(text, wanted);
}

/* A boolean member, or `otherwise` when it is not there. */
static bool read_flag(struct json object, const char *key, bool otherwise, bool *out, struct error *error)
{
    struct json member;

    *out = otherwise;
    return !json_optional(object, key, &member) || json_boolean(member, out, error);
}

/* A member that must be absent, null or false, since it would change the tokens. */
static bool refuse_flag(struct json object, const char *key, struct error *error)
{
    struct json member;
    bool set;

    if (!read_flag(object, key, false, &set, error))
        return false;
    return !set || (json_optional(object, key, &member) && unsupported(member, error, key));
}

static bool read_vocabulary(struct tokenizer *t, struct json model, struct error *error)
{
    struct json vocabulary;

    if (!json_member(model, "vocab", &vocabulary, error) || !json_expect(vocabulary, JSON_OBJECT, error))
        return false;
    size_t count = json_length(vocabulary);
    if (count > TOKENIZER_VOCABULARY_MAX)
        return json_error(vocabulary, error, "more than %d tokens", TOKENIZER_VOCABULARY_MAX);
    vocabulary_new(t->arena, &t->vocabulary, count);
    json_object_object_foreach(vocabulary.value, key, value) /* json_entry would make a path for each */
    {
        int64_t id = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
        if (id < 0 || id >= NO_TOKEN)
            return json_error(vocabulary, error, "\"%.40s\": expected an id, a non-negative integer", key);
        (void)vocabulary_add(&t->vocabulary, arena_strdup(t->arena, key), (uint32_t)id);
    }
    for (unsigned byte = 0; byte < 256; byte++) {
        char character[3];
        byte_character(byte, character);
        t->bytes[byte] = vocabulary_find(&t->vocabulary, character, strlen(character));
    }
    return true;
}

/* "left right", or ["left", "right"] as newer files have it. */
static bool read_pair(json_object *merge, const char **left, size_t *left_length, const char **right)
{
    if (json_object_is_type(merge, json_type_string)) {
        *left = json_object_get_string(merge);
        const char *space = strchr(*left, ' ');
        if (!space)
            return false;
        *left_length = (size_t)(space - *left);
        *right = space + 1;
        return true;
    }
    if (!json_object_is_type(merge, json_type_array) || json_object_array_length(merge) != 2)
        return false;
    json_object *first = json_object_array_get_idx(merge, 0), *second = json_object_array_get_idx(merge, 1);
    if (!json_object_is_type(first, json_type_string) || !json_object_is_type(second, json_type_string))
        return false;
    *left = json_object_get_string(first);
    *left_length = strlen(*left);
    *right = json_object_get_string(second);
    return true;
}

static bool read_merges(struct tokenizer *t, struct json model, struct error *error)
{
    struct json merges;

    if (!json_member(model, "merges", &merges, error) || !json_expect(merges, JSON_ARRAY, error))
        return false;
    size_t count = json_length(merges);
    if (count > TOKENIZER_VOCABULARY_MAX)
        return json_error(merges, error, "more than %d merges", TOKENIZER_VOCABULARY_MAX);
    merges_new(t->arena, &t->merges, count);
    for (size_t i = 0; i < count; i++) {
        const char *left, *right;
        size_t left_length;
        if (!read_pair(json_object_array_get_idx(merges.value, i), &left, &left_length, &right))
            return json_error(json_at(merges, i), error, "expected two tokens");
        size_t right_length = strlen(right);
        AUTO_FREE char *both = malloc(left_length + right_length + 1);
        if (!both)
            return error_set(error, ERROR_MEMORY, "out of memory");
        memcpy(both, left, left_length);
        memcpy(both + left_length, right, right_length + 1);
        uint32_t a = vocabulary_find(&t->vocabulary, left, left_length);
        uint32_t b = vocabulary_find(&t->vocabulary, right, right_length);
        uint32_t result = vocabulary_find(&t->vocabulary, both, left_length + right_length);
        if (a == NO_TOKEN || b == NO_TOKEN || result == NO_TOKEN)
            return json_error(json_at(merges, i), error, "a token that the vocabulary does not have");
        merges_add(&t->merges, a, b, (uint32_t)i, result);
    }
    return true;
}

static bool read_model(struct tokenizer *t, struct json root, struct error *error)
{
    static const char *const texts[] = {"continuing_subword_prefix", "end_of_word_suffix", "dropout"};
    struct json model, member;

    if (!json_member(root, "model", &model, error) || !json_expect(model, JSON_OBJECT, error))
        return false;
    if (json_optional(model, "type", &member) ? !member_is(model, "type", "BPE") : !json_has(model, "merges"))
        return unsupported(json_optional(model, "type", &member) ? member : model, error, "a model other than BPE");
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (json_optional(model, texts[i], &member) && !member_is(model, texts[i], ""))
            return unsupported(member, error, texts[i]);
    return refuse_flag(model, "byte_fallback", error) &&
           read_flag(model, "ignore_merges", false, &t->ignore_merges, error) && read_vocabulary(t, model, error) &&
           read_merges(t, model, error);
}

static bool read_normalizer(struct tokenizer *t, struct json root, struct error *error)
{
    struct json normalizer, list;

    if (!json_optional(root, "normalizer", &normalizer))
        return true;
    if (member_is(normalizer, "type", "NFC")) {
        t->needs_nfc = true;
        return true;
    }
    if (member_is(normalizer, "type", "Sequence") && json_optional(normalizer, "normalizers", &list) &&
        json_kind_of(list) == JSON_ARRAY && !json_length(list))
        return true;
    return unsupported(normalizer, error, "this normalizer");
}

/* Escapes a literal text for use as a pattern. */
static char *quote_pattern(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, 2 * strlen(text) + 1), *at = out;

    for (; *text; text++) {
        if (strchr("\\^$.[|()?*+{}#-]", *text))
            *at++ = '\\';
        *at++ = *text;
    }
    return out;
}

static bool read_split(struct tokenizer *t, struct json step, struct error *error)
{
    struct json pattern, text;
    const char *source;
    bool removed = member_is(step, "behavior", "Removed");

    if (!refuse_flag(step, "invert", error) || !json_member(step, "pattern", &pattern, error) ||
        !json_expect(pattern, JSON_OBJECT, error))
        return false;
    if (!removed && !member_is(step, "behavior", "Isolated"))
        return unsupported(step, error, "a Split that neither isolates nor removes");
    if (json_optional(pattern, "Regex", &text)) {
        if (!json_string(text, &source, error))
            return false;
    } else {
        if (!json_member(pattern, "String", &text, error) || !json_string(text, &source, error))
            return false;
        if (!*source)
            return json_error(text, error, "an empty pattern");
        source = quote_pattern(t->arena, source);
    }
    struct error reason;
    if (split_add(t, source, removed, &reason))
        return true;
    (void)json_error(text, error, "%s", reason.message);
    error->code = reason.code;
    return false;
}

static bool read_byte_level(struct tokenizer *t, struct json step, bool first, struct error *error)
{
    bool prefix, regex;

    if (!read_flag(step, "add_prefix_space", true, &prefix, error) ||
        !read_flag(step, "use_regex", true, &regex, error))
        return false;
    if (prefix && !first)
        return unsupported(step, error, "add_prefix_space behind another pre-tokenizer");
    t->prefix_space = prefix;
    return !regex || split_add(t, split_gpt2, false, error);
}

static bool read_step(struct tokenizer *t, struct json step, bool first, bool last, struct error *error)
{
    bool single;

    if (!json_expect(step, JSON_OBJECT, error))
        return false;
    if (last)
        return member_is(step, "type", "ByteLevel")
                   ? read_byte_level(t, step, first, error)
                   : unsupported(step, error, "a pre-tokenizer that is not byte-level");
    if (member_is(step, "type", "Split"))
        return read_split(t, step, error);
    if (member_is(step, "type", "Digits"))
        return read_flag(step, "individual_digits", false, &single, error) &&
               split_add(t, single ? "\\p{N}" : "\\p{N}+", false, error);
    return unsupported(step, error, "this pre-tokenizer");
}

static bool read_pre_tokenizer(struct tokenizer *t, struct json root, struct error *error)
{
    struct json top, list;

    if (!json_optional(root, "pre_tokenizer", &top))
        return unsupported(root, error, "a tokenizer without pre_tokenizer");
    if (!member_is(top, "type", "Sequence"))
        return read_step(t, top, true, true, error);
    if (!json_member(top, "pretokenizers", &list, error) || !json_expect(list, JSON_ARRAY, error))
        return false;
    size_t count = json_length(list);
    if (!count)
        return unsupported(list, error, "an empty sequence");
    for (size_t i = 0; i < count; i++)
        if (!read_step(t, json_at(list, i), i == 0, i + 1 == count, error))
            return false;
    return true;
}

static int longer_first(const void *left, const void *right)
{
    const struct added_token *a = left, *b = right;

    return a->length != b->length ? (a->length < b->length ? 1 : -1) : strcmp(a->text, b->text);
}

static bool read_added(struct tokenizer *t, struct json root, struct error *error)
{
    struct json list;

    if (!json_optional(root, "added_tokens", &list))
        return true;
    if (!json_expect(list, JSON_ARRAY, error))
        return false;
    size_t count = json_length(list);
    t->added = arena_calloc(t->arena, count, sizeof *t->added);
    for (size_t i = 0; i < count; i++) {
        struct json entry = json_at(list, i);
        struct added_token *token = &t->added[t->added_count];
        const char *text;
        uint64_t id;
        if (!json_expect(entry, JSON_OBJECT, error) || !refuse_flag(entry, "single_word", error) ||
            !refuse_flag(entry, "lstrip", error) || !refuse_flag(entry, "rstrip", error) ||
            !json_member_string(entry, "content", &text, error) || !json_member_u64(entry, "id", &id, error))
            return false;
        if (id >= NO_TOKEN)
            return json_error(entry, error, "the id is too large");
        *token = (struct added_token){arena_strdup(t->arena, text), strlen(text), (uint32_t)id};
        t->added_count += token->length != 0;
    }
    qsort(t->added, t->added_count, sizeof *t->added, longer_first);
    return true;
}

bool tokenizer_parse(const char *text, size_t length, const char *name, struct tokenizer **tokenizer,
                     struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    AUTO_TOKENIZER *t = NULL;

    if (!json_parse(text, length, name, 1, &document, error))
        return false;
    struct json root = json_root(document);
    t = calloc(1, sizeof *t);
    if (!t)
        return error_set(error, ERROR_MEMORY, "out of memory");
    t->arena = arena_new();
    if (!json_expect(root, JSON_OBJECT, error) || !read_normalizer(t, root, error) ||
        !read_pre_tokenizer(t, root, error) || !read_added(t, root, error) || !read_model(t, root, error))
        return false;
    *tokenizer = steal(&t);
    return true;
}

bool tokenizer_read(const char *path, struct tokenizer **tokenizer, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;

    return file_read(path, TOKENIZER_BYTES_MAX, &text, &length, error) &&
           tokenizer_parse(text, length, path, tokenizer, error);
}
