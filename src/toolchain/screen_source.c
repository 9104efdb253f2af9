/*
 * The source text: includes, names of banned functions, and assembly outside device functions. Knows just enough of C++
 * to tell where assembly stands: a stack of braces, each with what its head said.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "toolchain/screen_internal.h"
#include "toolchain/screen_lexer.h"
#include "toolchain/screen_names.h"

enum { NESTING_MAX = 4096, STRING_BYTES_MAX = 1 << 20, NAME_BYTES_MAX = 256 };

struct brace {
    bool transparent; /* namespace, extern "C", class body: what is inside stands at file scope */
    bool device;      /* inside a __device__ or __global__ function */
};

/* What was seen since the last ; { or }. */
struct head {
    bool is_namespace;
    bool is_linkage;
    bool is_class;
    bool has_parenthesis;
    bool device;
};

struct scan {
    struct arena *arena;
    struct lexer *lexer;
    const char *file;
    bool has_markers;
    const struct screen_policy *policy;
    struct screen_report *report;
    struct head head;
    struct brace braces[NESTING_MAX];
    size_t depth;      /* of braces, also beyond NESTING_MAX */
    struct token last; /* the token before the current one */
    struct token before_last;
};

static char *copy_token(struct scan *scan, const struct token *token)
{
    size_t length = token->length < NAME_BYTES_MAX ? token->length : NAME_BYTES_MAX;

    return arena_strndup(scan->arena, token->text, length);
}

static void check_include(struct scan *scan, int line)
{
    struct token header = lexer_next_header(scan->lexer);

    if (header.kind != TOKEN_HEADER && header.kind != TOKEN_STRING)
        return; /* a macro: the list of files that the preprocessor read tells */
    const char *path = copy_token(scan, &header);
    const char *vendor = screen_vendor_header(path);
    const char *library = screen_template_header(path);
    if (vendor)
        screen_add(scan->arena, scan->report, SCREEN_VENDOR_INCLUDE, SCREEN_OFFENCE, scan->file, line,
                   "includes %s of %s", path, vendor);
    else if (library && !scan->policy->allow_libraries)
        screen_add(scan->arena, scan->report, SCREEN_TEMPLATE_LIBRARY, SCREEN_OFFENCE, scan->file, line,
                   "includes %s of %s", path, library);
    else if (path[0] == '/')
        screen_add(scan->arena, scan->report, SCREEN_FOREIGN_INCLUDE, SCREEN_OFFENCE, scan->file, line,
                   "includes %s by absolute path", path);
}

/* Skips to the #else, #elif or #endif that ends a group that is never compiled. */
static void skip_group(struct scan *scan)
{
    size_t nested = 0;

    for (;;) {
        struct token token = lexer_next(scan->lexer);
        if (token.kind == TOKEN_END)
            return;
        if (!token.starts_line || !token_is(&token, "#"))
            continue;
        token = lexer_next(scan->lexer);
        if (token_is(&token, "if") || token_is(&token, "ifdef") || token_is(&token, "ifndef")) {
            nested++;
        } else if (token_is(&token, "endif")) {
            if (!nested)
                return;
            nested--;
        } else if (!nested && (token_is(&token, "else") || token_is(&token, "elif"))) {
            lexer_skip_line(scan->lexer);
            return;
        }
    }
}

/* `# 12 "file" 1` in preprocessed text. */
static void take_marker(struct scan *scan, const struct token *number)
{
    long line = strtol(number->text, NULL, 10);
    struct token name = lexer_next(scan->lexer);

    if (name.kind == TOKEN_STRING && !name.starts_line)
        scan->file = copy_token(scan, &name);
    lexer_skip_line(scan->lexer);
    if (line >= 0 && line < INT_MAX)
        lexer_set_next_line(scan->lexer, (int)line);
}

static void take_directive(struct scan *scan)
{
    struct token word = lexer_next(scan->lexer);

    if (word.starts_line) /* a lone # */
        return;
    if (scan->has_markers) {
        if (word.kind == TOKEN_NUMBER)
            take_marker(scan, &word);
        else
            lexer_skip_line(scan->lexer);
        return;
    }
    if (token_is(&word, "include") || token_is(&word, "include_next") || token_is(&word, "import")) {
        check_include(scan, word.line);
        lexer_skip_line(scan->lexer);
    } else if (token_is(&word, "embed")) {
        screen_add(scan->arena, scan->report, SCREEN_INCBIN, SCREEN_OFFENCE, scan->file, word.line,
                   "embeds a file with #embed");
        lexer_skip_line(scan->lexer);
    } else if (token_is(&word, "if")) {
        struct token condition = lexer_next(scan->lexer);
        if (!condition.starts_line && token_is(&condition, "0"))
            skip_group(scan);
        else
            lexer_skip_line(scan->lexer);
    } else if (!token_is(&word, "define")) {
        lexer_skip_line(scan->lexer);
    }
    /* The body of a #define is scanned like code. */
}

/* Adjacent literals are one string. Returns the token behind them. */
static struct token take_strings(struct scan *scan, const struct token *first, struct buffer *text)
{
    struct token token = *first;

    for (; token.kind == TOKEN_STRING; token = lexer_next(scan->lexer))
        (void)buffer_append(text, token.text, token.length);
    return token;
}

static void check_string(struct scan *scan, const struct buffer *text, int line)
{
    const char *why = text->length <= NAME_BYTES_MAX ? screen_denied_string(text->data, text->length) : NULL;

    if (why)
        screen_add(scan->arena, scan->report, SCREEN_DENIED_STRING, SCREEN_OFFENCE, scan->file, line,
                   "holds the string \"%s\" (%s)", text->data, why);
}

static bool in_device_code(const struct scan *scan)
{
    for (size_t i = 0; i < scan->depth && i < NESTING_MAX; i++)
        if (scan->braces[i].device)
            return true;
    return false;
}

static bool at_file_scope(const struct scan *scan)
{
    for (size_t i = 0; i < scan->depth && i < NESTING_MAX; i++)
        if (!scan->braces[i].transparent)
            return false;
    return true;
}

/* Host assembly that cannot do harm: fences, pauses, clock reads and nothing at all. */
static bool is_harmless_host_assembly(const char *text)
{
    static const char *const harmless[] = {"", "pause", "mfence", "lfence", "sfence", "rdtsc", "rdtscp", "nop"};
    const char *start = text + strspn(text, " \t");
    size_t length = strcspn(start, ";\\\n");

    while (length && (start[length - 1] == ' ' || start[length - 1] == '\t'))
        length--;
    if (strpbrk(start + strcspn(start, ";\\\n"), "abcdefghijklmnopqrstuvwxyz."))
        return false;
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strlen(harmless[i]) == length && memcmp(start, harmless[i], length) == 0)
            return true;
    return false;
}

static void check_assembly(struct scan *scan, const char *text, int line)
{
    static const char *const file_directives[] = {".incbin", ".include"};

    for (size_t i = 0; i < sizeof file_directives / sizeof file_directives[0]; i++)
        if (strstr(text, file_directives[i])) {
            screen_add(scan->arena, scan->report, SCREEN_INCBIN, SCREEN_OFFENCE, scan->file, line,
                       "assembly includes a file with %s", file_directives[i]);
            return;
        }
    /* Without expansion a macro may stand for __device__: only preprocessed text tells for sure. */
    if (!scan->has_markers || in_device_code(scan) || scan->head.device)
        return;
    if (at_file_scope(scan))
        screen_add(scan->arena, scan->report, SCREEN_HOST_ASSEMBLY, SCREEN_OFFENCE, scan->file, line,
                   "assembly or a renamed symbol outside any function");
    else
        screen_add(scan->arena, scan->report, SCREEN_HOST_ASSEMBLY,
                   is_harmless_host_assembly(text) ? SCREEN_NOTE : SCREEN_OFFENCE, scan->file, line,
                   "assembly in a host function");
}

/* Behind `asm`: qualifiers, then ( and the text. */
static struct token take_assembly(struct scan *scan, int line)
{
    AUTO_BUFFER text = buffer_new(STRING_BYTES_MAX);
    struct token token = lexer_next(scan->lexer);

    while (token.kind == TOKEN_IDENTIFIER)
        token = lexer_next(scan->lexer);
    if (!token_is(&token, "("))
        return token;
    token = lexer_next(scan->lexer);
    if (token.kind != TOKEN_STRING)
        return token; /* a macro's body: the preprocessed text shows what it becomes */
    token = take_strings(scan, &token, &text);
    check_assembly(scan, text.data, line);
    return token;
}

static void note_head(struct scan *scan, const struct token *token)
{
    if (token_is(token, "namespace"))
        scan->head.is_namespace = true;
    else if (token_is(token, "class") || token_is(token, "struct") || token_is(token, "union") ||
             token_is(token, "enum"))
        scan->head.is_class = true;
    else if (token_is(token, "__device__") || token_is(token, "__global__"))
        scan->head.device = true;
    /* __attribute__((device)), as the toolkit's headers define them */
    else if ((token_is(token, "device") || token_is(token, "global")) && token_is(&scan->last, "(") &&
             token_is(&scan->before_last, "("))
        scan->head.device = true;
}

static void check_identifier(struct scan *scan, const struct token *token, const struct token *next)
{
    bool is_member = token_is(&scan->last, ".") || token_is(&scan->last, ">");
    const char *vendor = screen_vendor_function(token->text, token->length);
    const char *why = screen_loader_function(token->text, token->length);

    note_head(scan, token);
    if (is_member)
        return;
    bool is_type = token->length > 2 && memcmp(token->text + token->length - 2, "_t", 2) == 0;
    if (vendor && (token_is(next, "(") || is_type))
        screen_add(scan->arena, scan->report, SCREEN_VENDOR_CALL, SCREEN_OFFENCE, scan->file, token->line,
                   "uses %s of %s", copy_token(scan, token), vendor);
    else if (why)
        screen_add(scan->arena, scan->report, SCREEN_LOADER_CALL, SCREEN_OFFENCE, scan->file, token->line,
                   "names %s, which %s", copy_token(scan, token), why);
}

static void take_mark(struct scan *scan, const struct token *token)
{
    static const struct head nothing;

    switch (*token->text) {
    case '{':
        if (scan->depth < NESTING_MAX)
            scan->braces[scan->depth] = (struct brace){
                .transparent = !scan->head.has_parenthesis &&
                               (scan->head.is_namespace || scan->head.is_linkage || scan->head.is_class),
                .device = scan->head.device,
            };
        scan->depth++;
        scan->head = nothing;
        break;
    case '}':
        scan->depth -= scan->depth > 0;
        scan->head = nothing;
        break;
    case ';':
        scan->head = nothing;
        break;
    case '(':
        /* The parentheses of __attribute__ and alignas say nothing about what kind of head it is. */
        if (!token_is(&scan->last, "(") && !token_is(&scan->last, "__attribute__") &&
            !token_is(&scan->last, "alignas") && !token_is(&scan->last, "__align__"))
            scan->head.has_parenthesis = true;
        break;
    default:
        break;
    }
}

static bool is_assembly_word(const struct token *token)
{
    return token_is(token, "asm") || token_is(token, "__asm__") || token_is(token, "__asm");
}

/* Handles one token; returns the next one to handle. */
static struct token take_token(struct scan *scan, const struct token *token)
{
    struct token next;

    if (token->kind == TOKEN_MARK && token->starts_line && *token->text == '#') {
        take_directive(scan);
        return lexer_next(scan->lexer);
    }
    if (token->kind == TOKEN_STRING) {
        AUTO_BUFFER text = buffer_new(STRING_BYTES_MAX);
        if (token_is(&scan->last, "extern"))
            scan->head.is_linkage = true;
        next = take_strings(scan, token, &text);
        check_string(scan, &text, token->line);
        return next;
    }
    if (token->kind == TOKEN_IDENTIFIER && is_assembly_word(token))
        return take_assembly(scan, token->line);
    next = lexer_next(scan->lexer);
    if (token->kind == TOKEN_IDENTIFIER)
        check_identifier(scan, token, &next);
    else if (token->kind == TOKEN_MARK)
        take_mark(scan, token);
    return next;
}

void screen_text(struct arena *arena, const char *file, const char *text, size_t length, bool has_markers,
                 const struct screen_policy *policy, struct screen_report *report)
{
    AUTO_ARENA *scratch = arena_new();
    struct scan *scan = arena_alloc(scratch, sizeof *scan);

    scan->arena = arena;
    scan->lexer = lexer_new(scratch, text, length);
    scan->file = file;
    scan->has_markers = has_markers;
    scan->policy = policy;
    scan->report = report;
    for (struct token token = lexer_next(scan->lexer); token.kind != TOKEN_END;) {
        struct token next = take_token(scan, &token);
        scan->before_last = scan->last;
        scan->last = token;
        token = next;
    }
}
