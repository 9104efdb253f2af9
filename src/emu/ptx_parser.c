#include "emu/ptx_parser.h"

#include <string.h>

#include "emu/ptx_parser_internal.h"

enum { SHOWN_BYTES_MAX = 80 };

void *ptx_list_reserve(struct arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 8;
    void *grown = arena_calloc(arena, *capacity, size);
    if (count)
        memcpy(grown, items, count * size);
    return grown;
}

void ptx_advance(struct ptx_parser *parser)
{
    parser->token = parser->ahead;
    parser->ahead = ptx_lexer_next(&parser->lexer);
}

bool ptx_at_mark(const struct ptx_parser *parser, const char *mark)
{
    return ptx_token_is(&parser->token, PTX_TOKEN_MARK, mark);
}

bool ptx_at_dot(const struct ptx_parser *parser, const char *word)
{
    return ptx_token_is(&parser->token, PTX_TOKEN_DOT, word);
}

bool ptx_take_mark(struct ptx_parser *parser, const char *mark)
{
    bool there = ptx_at_mark(parser, mark);

    if (there)
        ptx_advance(parser);
    return there;
}

bool ptx_take_dot(struct ptx_parser *parser, const char *word)
{
    bool there = ptx_at_dot(parser, word);

    if (there)
        ptx_advance(parser);
    return there;
}

bool ptx_fail(struct ptx_parser *parser, const struct ptx_token *at, enum error_code code, const char *format, ...)
{
    va_list args;
    char message[512];

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(parser->error, code, "%s:%u:%u: %s", parser->name, at->line, at->column, message);
}

bool ptx_unexpected(struct ptx_parser *parser, const char *wanted)
{
    const struct ptx_token *token = &parser->token;
    int shown = token->length < SHOWN_BYTES_MAX ? (int)token->length : SHOWN_BYTES_MAX;

    switch (token->kind) {
    case PTX_TOKEN_END:
        return ptx_fail(parser, token, ERROR_INPUT, "expected %s, found the end of the text", wanted);
    case PTX_TOKEN_STRING:
        return ptx_fail(parser, token, ERROR_INPUT, "expected %s, found a string", wanted);
    case PTX_TOKEN_BAD:
        return ptx_fail(parser, token, ERROR_INPUT, "expected %s, found %.*s", wanted, shown, token->text);
    default:
        return ptx_fail(parser, token, ERROR_INPUT, "expected %s, found '%s%.*s'", wanted,
                        token->kind == PTX_TOKEN_DOT ? "." : "", shown, token->text);
    }
}

bool ptx_expect_mark(struct ptx_parser *parser, const char *mark)
{
    char wanted[8];

    if (ptx_take_mark(parser, mark))
        return true;
    (void)snprintf(wanted, sizeof wanted, "'%s'", mark);
    return ptx_unexpected(parser, wanted);
}

bool ptx_expect_name(struct ptx_parser *parser, struct ptx_token *out)
{
    if (parser->token.kind != PTX_TOKEN_NAME)
        return ptx_unexpected(parser, "a name");
    *out = parser->token;
    ptx_advance(parser);
    return true;
}

bool ptx_expect_u32(struct ptx_parser *parser, uint32_t *out)
{
    enum ptx_number_kind kind;
    uint64_t bits;

    if (parser->token.kind != PTX_TOKEN_NUMBER ||
        !ptx_number_parse(parser->token.text, parser->token.length, &kind, &bits) || kind > PTX_NUMBER_UNSIGNED ||
        bits > UINT32_MAX)
        return ptx_unexpected(parser, "a number of at most 32 bits");
    *out = (uint32_t)bits;
    ptx_advance(parser);
    return true;
}

bool ptx_open_scope(struct ptx_parser *parser)
{
    if (!ptx_scope_open(parser->names))
        return ptx_fail(parser, &parser->token, ERROR_LIMIT, "blocks are nested deeper than %d", PTX_SCOPE_DEPTH_MAX);
    return ptx_scope_open(parser->labels);
}

void ptx_close_scope(struct ptx_parser *parser)
{
    ptx_scope_close(parser->names);
    ptx_scope_close(parser->labels);
}

static enum ptx_linkage take_linkage(struct ptx_parser *parser)
{
    static const char *const words[] = {[PTX_LINK_VISIBLE] = "visible",
                                        [PTX_LINK_EXTERN] = "extern",
                                        [PTX_LINK_WEAK] = "weak",
                                        [PTX_LINK_COMMON] = "common"};

    for (size_t i = PTX_LINK_VISIBLE; i < ARRAY_LEN(words); i++)
        if (ptx_take_dot(parser, words[i]))
            return (enum ptx_linkage)i;
    return PTX_LINK_INTERNAL;
}

static bool parse_top_level(struct ptx_parser *parser)
{
    enum ptx_linkage linkage = take_linkage(parser);
    enum ptx_space space;

    if (ptx_at_dot(parser, "entry") || ptx_at_dot(parser, "func"))
        return ptx_parse_function(parser, linkage);
    if (ptx_at_space(parser, &space) && space != PTX_SPACE_PARAM && space != PTX_SPACE_LOCAL)
        return ptx_parse_variables(parser, space, linkage);
    if (linkage != PTX_LINK_INTERNAL)
        return ptx_unexpected(parser, "a function or a variable");
    if (ptx_at_dot(parser, "version"))
        return ptx_parse_version(parser);
    if (ptx_at_dot(parser, "target"))
        return ptx_parse_target(parser);
    if (ptx_take_dot(parser, "address_size"))
        return ptx_expect_u32(parser, &parser->module.address_bits);
    if (ptx_at_dot(parser, "file"))
        return ptx_parse_file(parser);
    if (ptx_at_dot(parser, "loc"))
        return ptx_parse_loc(parser);
    if (ptx_at_dot(parser, "section"))
        return ptx_skip_section(parser);
    if (ptx_at_dot(parser, "alias"))
        return ptx_parse_alias(parser);
    if (ptx_take_mark(parser, ";"))
        return true;
    return ptx_unexpected(parser, "a directive of the module");
}

static bool check_header(struct ptx_parser *parser)
{
    struct ptx_token first = {.line = 1, .column = 1};

    if (!parser->module.version_major)
        return ptx_fail(parser, &first, ERROR_INPUT, "no .version: this is no PTX");
    if (!parser->module.target)
        return ptx_fail(parser, &first, ERROR_INPUT, "no .target");
    return true;
}

static const struct ptx_module *finish(struct ptx_parser *parser)
{
    struct ptx_module *module = arena_alloc(parser->arena, sizeof *module);

    *module = parser->module;
    module->functions = parser->functions.items;
    module->function_count = parser->functions.count;
    module->variables = parser->variables.items;
    module->variable_count = parser->variables.count;
    module->locations = parser->location_list.items;
    module->location_count = parser->location_list.count;
    module->files = parser->files.items;
    module->file_count = parser->files.count;
    module->unknown_words = parser->unknown_words.items;
    module->unknown_word_count = parser->unknown_words.count;
    return module;
}

bool ptx_parse(struct arena *arena, const char *name, const char *text, size_t length, const struct ptx_module **out,
               struct error *error)
{
    struct ptx_parser *parser = arena_alloc(arena, sizeof *parser);

    while (length && !text[length - 1]) /* fat binaries pad with zeros */
        length--;
    if (length > PTX_TEXT_BYTES_MAX)
        return error_set(error, ERROR_LIMIT, "%s: %zu bytes of PTX; at most %zu are read", name, length,
                         PTX_TEXT_BYTES_MAX);
    parser->arena = arena;
    parser->name = parser->module.name = arena_strdup(arena, name);
    parser->error = error;
    parser->names = ptx_scopes_new(arena);
    parser->labels = ptx_scopes_new(arena);
    parser->locations = ptx_scopes_new(arena);
    parser->location = PTX_NONE;
    parser->module.address_bits = 32;
    parser->lexer = ptx_lexer_new(text, length);
    ptx_advance(parser);
    ptx_advance(parser);
    while (parser->token.kind != PTX_TOKEN_END)
        if (!parse_top_level(parser))
            return false;
    if (!check_header(parser))
        return false;
    *out = finish(parser);
    return true;
}
