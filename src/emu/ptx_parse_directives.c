/* Directives of the module that hold neither code nor data, and .loc and .pragma, which may stand in functions too. */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "emu/ptx_parser_internal.h"

bool ptx_parse_version(struct ptx_parser *parser)
{
    char text[16];
    int used = 0;

    ptx_advance(parser);
    const struct ptx_token *token = &parser->token;
    if (token->kind != PTX_TOKEN_NUMBER || token->length >= sizeof text)
        return ptx_unexpected(parser, "a version such as 9.0");
    memcpy(text, token->text, token->length);
    text[token->length] = 0;
    if (sscanf(text, "%4u.%4u%n", &parser->module.version_major, &parser->module.version_minor, &used) != 2 ||
        text[used] || !parser->module.version_major)
        return ptx_unexpected(parser, "a version such as 9.0");
    ptx_advance(parser);
    return true;
}

bool ptx_parse_target(struct ptx_parser *parser)
{
    struct ptx_token word;

    ptx_advance(parser);
    do {
        if (!ptx_expect_name(parser, &word))
            return false;
        if (!parser->module.target && word.length > 3 && !memcmp(word.text, "sm_", 3))
            parser->module.target = arena_strndup(parser->arena, word.text, word.length);
    } while (ptx_take_mark(parser, ","));
    return true;
}

/* File names are shown to people and written to JSON. */
static const char *printable(struct arena *arena, const struct ptx_token *token)
{
    AUTO_BUFFER text = buffer_new(token->length * 3 + 1);

    (void)buffer_append_sanitized(&text, token->text, token->length);
    return arena_strndup(arena, text.data, text.length);
}

/* .file 1 "kernel.cu" [, time stamp, bytes] */
bool ptx_parse_file(struct ptx_parser *parser)
{
    struct ptx_file file;

    ptx_advance(parser);
    if (!ptx_expect_u32(parser, &file.number))
        return false;
    if (parser->token.kind != PTX_TOKEN_STRING)
        return ptx_unexpected(parser, "the name of a file");
    file.name = printable(parser->arena, &parser->token);
    ptx_advance(parser);
    while (ptx_take_mark(parser, ",")) {
        struct ptx_constant ignored;
        if (!ptx_parse_constant(parser, &ignored))
            return false;
    }
    *PTX_PUSH(parser->arena, &parser->files) = file;
    return true;
}

static bool parse_position(struct ptx_parser *parser, struct ptx_location *out)
{
    return ptx_expect_u32(parser, &out->file) && ptx_expect_u32(parser, &out->line) &&
           ptx_expect_u32(parser, &out->column);
}

/* The latest location at that position (it tells where that one was inlined in turn), or a new one. */
static uint32_t find_caller(struct ptx_parser *parser, const struct ptx_location *at)
{
    char key[48];
    int length = snprintf(key, sizeof key, "%u:%u:%u", at->file, at->line, at->column);
    struct ptx_symbol *known = ptx_scope_find_here(parser->locations, key, (size_t)length);

    if (known)
        return known->value;
    uint32_t index = parser->location_list.count;
    *PTX_PUSH(parser->arena, &parser->location_list) = *at;
    (void)ptx_scope_define(parser->locations, key, (size_t)length, PTX_SYMBOL_LABEL, index);
    return index;
}

static void remember(struct ptx_parser *parser, const struct ptx_location *at)
{
    char key[48];
    int length = snprintf(key, sizeof key, "%u:%u:%u", at->file, at->line, at->column);
    struct ptx_symbol *known = ptx_scope_find_here(parser->locations, key, (size_t)length);

    parser->location = parser->location_list.count;
    *PTX_PUSH(parser->arena, &parser->location_list) = *at;
    if (known)
        known->value = parser->location;
    else
        (void)ptx_scope_define(parser->locations, key, (size_t)length, PTX_SYMBOL_LABEL, parser->location);
}

static bool take_word(struct ptx_parser *parser, const char *word)
{
    if (!ptx_token_is(&parser->token, PTX_TOKEN_NAME, word))
        return false;
    ptx_advance(parser);
    return true;
}

/* .loc FILE LINE COLUMN [, function_name LABEL [+ N]] [, inlined_at FILE LINE COLUMN] */
bool ptx_parse_loc(struct ptx_parser *parser)
{
    struct ptx_location at = {.caller = PTX_NONE}, caller = {.caller = PTX_NONE};
    struct ptx_token label;
    uint64_t ignored = 0;

    ptx_advance(parser);
    if (!parse_position(parser, &at))
        return false;
    while (ptx_take_mark(parser, ",")) {
        if (take_word(parser, "function_name")) {
            if (!ptx_expect_name(parser, &label) || !ptx_parse_offset(parser, &ignored))
                return false;
        } else if (take_word(parser, "inlined_at")) {
            if (!parse_position(parser, &caller))
                return false;
            at.caller = find_caller(parser, &caller);
        } else {
            return ptx_unexpected(parser, "function_name or inlined_at");
        }
    }
    remember(parser, &at);
    return true;
}

/* Debug information: skipped up to the brace that closes it. */
bool ptx_skip_section(struct ptx_parser *parser)
{
    struct ptx_token start = parser->token;
    size_t depth = 0;

    do {
        ptx_advance(parser);
        if (parser->token.kind == PTX_TOKEN_END)
            return ptx_fail(parser, &start, ERROR_INPUT, "a .section that does not end");
        if (parser->token.kind == PTX_TOKEN_BAD)
            return ptx_unexpected(parser, "'}'");
        if (ptx_at_mark(parser, "{"))
            depth++;
        else if (ptx_at_mark(parser, "}") && depth)
            depth--;
        else
            continue;
        if (!depth)
            break;
    } while (true);
    ptx_advance(parser);
    return true;
}

/* .pragma "nounroll" [, ...]; */
bool ptx_parse_pragma(struct ptx_parser *parser)
{
    ptx_advance(parser);
    do {
        if (parser->token.kind != PTX_TOKEN_STRING)
            return ptx_unexpected(parser, "a string");
        *PTX_PUSH(parser->arena, &parser->body.pragmas) =
            arena_strndup(parser->arena, parser->token.text, parser->token.length);
        ptx_advance(parser);
    } while (ptx_take_mark(parser, ","));
    return ptx_expect_mark(parser, ";");
}

/* .alias NEW, KNOWN; */
bool ptx_parse_alias(struct ptx_parser *parser)
{
    struct ptx_token alias, known;

    ptx_advance(parser);
    if (!ptx_expect_name(parser, &alias) || !ptx_expect_mark(parser, ",") || !ptx_expect_name(parser, &known))
        return false;
    struct ptx_symbol *from = ptx_scope_find(parser->names, alias.text, alias.length);
    const struct ptx_symbol *to = ptx_scope_find(parser->names, known.text, known.length);
    if (!from || from->kind != PTX_SYMBOL_FUNCTION || !to || to->kind != PTX_SYMBOL_FUNCTION)
        return ptx_fail(parser, &alias, ERROR_INPUT, ".alias: both names must be functions declared before");
    from->value = to->value;
    return ptx_expect_mark(parser, ";");
}
