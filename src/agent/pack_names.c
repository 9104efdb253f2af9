#include "agent/pack_names.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { NAMES_MAX = 512 };

struct function {
    const char *name;
    size_t begin, end; /* of its text within the code */
    bool used;
};

struct pack_names {
    struct arena *arena;
    const char *code; /* the blocks, comments and literals blanked */
    struct function functions[NAMES_MAX];
    size_t count;
    const char *list[NAMES_MAX];
    size_t list_count;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool line_begins(const char *line, const char *word)
{
    return !strncmp(line, word, strlen(word));
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

size_t pack_blocks_collect(const char *text, struct buffer *code)
{
    size_t blocks = 0;
    bool inside = false;

    for (const char *line = text; *line; line = next_line(line)) {
        bool fence = line_begins(line, "```");
        if (fence && !inside) {
            inside = line_begins(line, "```cuda\n");
            blocks += inside;
        } else if (fence) {
            inside = false;
        } else if (inside && code) {
            (void)buffer_append(code, line, (size_t)(next_line(line) - line));
        }
    }
    return blocks;
}

/* Comments, strings and the DEVICE macro become blanks, so that only code has words. */
static void blank_comments(char *code)
{
    for (char *at = code; *at;) {
        if (at[0] == '/' && at[1] == '/') {
            for (; *at && *at != '\n'; at++)
                *at = ' ';
        } else if (at[0] == '/' && at[1] == '*') {
            for (; *at && !(at[0] == '*' && at[1] == '/'); at++)
                *at = *at == '\n' ? '\n' : ' ';
        } else if (*at == '"') {
            for (at++; *at && *at != '"' && *at != '\n'; at++) {
                if (*at == '\\' && at[1] && at[1] != '\n')
                    *at++ = ' ';
                *at = ' ';
            }
            at += *at == '"';
        } else {
            at++;
        }
    }
    for (char *line = code; *line; line = (char *)(uintptr_t)next_line(line))
        if (line_begins(line, "#define DEVICE"))
            memset(line, ' ', strcspn(line, "\n"));
}

/* The next word from `at` on; false at the end. */
static bool next_word(const char *code, size_t *at, size_t *length)
{
    while (code[*at] && !is_word(code[*at]))
        ++*at;
    *length = 0;
    while (is_word(code[*at + *length]))
        ++*length;
    return *length != 0;
}

static bool word_is(const char *code, size_t at, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(code + at, word, length);
}

static struct function *find_function(struct pack_names *names, const char *word, size_t length)
{
    for (size_t i = 0; i < names->count; i++)
        if (strlen(names->functions[i].name) == length && !strncmp(names->functions[i].name, word, length))
            return &names->functions[i];
    return NULL;
}

/* Behind DEVICE or inline: the word in front of the first parenthesis. */
static void add_definition(struct pack_names *names, size_t at)
{
    const char *code = names->code;
    size_t stop = at + strcspn(code + at, "(;={");

    if (code[stop] != '(' || names->count == NAMES_MAX)
        return;
    size_t end = stop;
    while (end > at && !is_word(code[end - 1]))
        end--;
    size_t begin = end;
    while (begin > at && is_word(code[begin - 1]))
        begin--;
    if (begin == end)
        return;
    if (names->count)
        names->functions[names->count - 1].end = begin;
    names->functions[names->count++] =
        (struct function){arena_strndup(names->arena, code + begin, end - begin), end, strlen(code), false};
}

struct pack_names *pack_names_new(struct arena *arena, const char *text)
{
    struct pack_names *names = arena_alloc(arena, sizeof *names);
    AUTO_BUFFER code = buffer_new(1 << 20);

    (void)pack_blocks_collect(text, &code);
    char *copy = arena_strndup(arena, code.data, code.length);
    blank_comments(copy);
    names->arena = arena;
    names->code = copy;
    for (size_t at = 0, length; next_word(copy, &at, &length); at += length)
        if (word_is(copy, at, length, "DEVICE") || word_is(copy, at, length, "inline"))
            add_definition(names, at + length);
    return names;
}

/* Marks every function whose name is called in code[begin, end); true when one is new. */
static bool mark_calls(struct pack_names *names, const char *code, size_t begin, size_t end)
{
    bool changed = false;

    for (size_t at = begin, length; at < end && next_word(code, &at, &length); at += length) {
        struct function *called = at < end ? find_function(names, code + at, length) : NULL;
        char behind = code[at + length];
        if (called && (behind == '(' || behind == '<' || behind == ',' || behind == ')'))
            for (size_t i = 0; i < names->count; i++)
                if (!strcmp(names->functions[i].name, called->name) && !names->functions[i].used)
                    changed = names->functions[i].used = true;
    }
    return changed;
}

void pack_names_add_kernel(struct pack_names *names, const char *source)
{
    char *copy = arena_strdup(names->arena, source);

    blank_comments(copy);
    (void)mark_calls(names, copy, 0, strlen(copy));
}

size_t pack_names_count(const struct pack_names *names)
{
    return names->count;
}

size_t pack_names_unused(struct pack_names *names, const char ***list)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < names->count; i++)
            if (names->functions[i].used)
                changed |= mark_calls(names, names->code, names->functions[i].begin, names->functions[i].end);
    }
    names->list_count = 0;
    for (size_t i = 0; i < names->count; i++)
        if (!names->functions[i].used)
            names->list[names->list_count++] = names->functions[i].name;
    *list = names->list;
    return names->list_count;
}

/* Words of CUDA, C++ and PTX that prose may name. */
static bool is_foreign(const char *word, size_t length)
{
    static const char *const starts[] = {"cuda", "cuTensorMap", "CU_", "CUDA_", "__", "TVM"};
    static const char *const words[] = {"expect_tx", "complete_tx", "cta_group", "commit_group", "wait_group",
                                        "try_wait",  "test_wait",   "wait_all",  "block_scale",  "scale_vec"};

    for (size_t i = 0; i < ARRAY_LEN(starts); i++)
        if (!strncmp(word, starts[i], strlen(starts[i])))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strlen(words[i]) == length && !strncmp(word, words[i], length))
            return true;
    return false;
}

static bool code_has_word(const char *code, const char *word, size_t length)
{
    for (size_t at = 0, found; next_word(code, &at, &found); at += found)
        if (found == length && !strncmp(code + at, word, length))
            return true;
    return false;
}

static void add_undeclared(struct pack_names *names, const char *word, size_t length)
{
    for (size_t i = 0; i < names->list_count; i++)
        if (strlen(names->list[i]) == length && !strncmp(names->list[i], word, length))
            return;
    if (names->list_count < NAMES_MAX)
        names->list[names->list_count++] = arena_strndup(names->arena, word, length);
}

/* Looks at the words of prose code between `at` and `end`. */
static void look(struct pack_names *names, const char *at, const char *end, bool calls_only)
{
    while (at < end) {
        size_t length = 0;
        if (!is_word(*at)) {
            at++;
            continue;
        }
        while (at + length < end && is_word(at[length]))
            length++;
        bool ptx = at[-1] == '.' || at[-1] == ':' || at[-1] == '%' || at[length] == '.' || at[length] == ':';
        bool name =
            !isdigit((unsigned char)*at) && memchr(at, '_', length) != NULL && (!calls_only || at[length] == '(');
        if (name && !ptx && !is_foreign(at, length) && !code_has_word(names->code, at, length))
            add_undeclared(names, at, length);
        at += length;
    }
}

size_t pack_names_undeclared(struct pack_names *names, const char *text, const char ***list)
{
    bool inside = false, is_text = false;

    names->list_count = 0;
    for (const char *line = text, *next; *line; line = next) {
        next = next_line(line);
        if (line_begins(line, "```")) {
            is_text = !inside && !line_begins(line, "```cuda\n");
            inside = !inside;
        } else if (inside && is_text && line < next) {
            look(names, line, next, true);
        } else if (!inside) {
            for (const char *tick = memchr(line, '`', (size_t)(next - line)); tick;) {
                const char *end = memchr(tick + 1, '`', (size_t)(next - tick - 1));
                if (!end)
                    break;
                look(names, tick + 1, end, false);
                tick = memchr(end + 1, '`', (size_t)(next - end - 1));
            }
        }
    }
    *list = names->list;
    return names->list_count;
}
