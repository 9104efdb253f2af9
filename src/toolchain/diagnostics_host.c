/* Lines of the front end (cudafe++), gcc, the linkers, and the nvcc driver. */
#include <stdlib.h>
#include <string.h>

#include "toolchain/diagnostics_internal.h"

struct severity_word {
    const char *word;
    enum diagnostic_severity severity;
};

static const struct severity_word severity_words[] = {
    {"error", DIAGNOSTIC_ERROR},          {"fatal error", DIAGNOSTIC_ERROR}, {"catastrophic error", DIAGNOSTIC_ERROR},
    {"internal error", DIAGNOSTIC_ERROR}, {"Error", DIAGNOSTIC_ERROR},       {"warning", DIAGNOSTIC_WARNING},
    {"Warning", DIAGNOSTIC_WARNING},      {"note", DIAGNOSTIC_NOTE},         {"remark", DIAGNOSTIC_NOTE},
};

/* Splits "error #20-D: text": the word must be followed by ": " or " #CODE: ". NULL when it is no severity. */
static const char *split_severity(struct arena *arena, const char *text, enum diagnostic_severity *severity,
                                  const char **code)
{
    for (size_t i = 0; i < sizeof severity_words / sizeof severity_words[0]; i++) {
        size_t length = strlen(severity_words[i].word);
        const char *rest = text + length;
        if (strncmp(text, severity_words[i].word, length) != 0)
            continue;
        *code = NULL;
        if (rest[0] == ' ' && rest[1] == '#') {
            size_t code_length = strcspn(rest + 1, ": ");
            *code = arena_strndup(arena, rest + 1, code_length);
            rest += 1 + code_length;
        }
        if (*rest != ':')
            continue;
        *severity = severity_words[i].severity;
        return rest + 1 + strspn(rest + 1, " ");
    }
    return NULL;
}

static int to_line(const char *digits)
{
    long number = strtol(digits, NULL, 10);

    return number > 0 && number < 1000000000 ? (int)number : 0;
}

static const char *copy_message(struct diagnostics_parser *parser, const char *message)
{
    size_t length = strnlen(message, DIAGNOSTICS_MESSAGE_MAX);

    while (length && message[length - 1] == ' ')
        length--;
    return arena_strndup(parser->arena, message, length);
}

bool diagnostics_take_frontend(struct diagnostics_parser *parser, const char *line)
{
    struct diagnostic diagnostic = {.tool = DIAGNOSTIC_NVCC};

    for (const char *open = strchr(line, '('); open; open = strchr(open + 1, '(')) {
        size_t digits = strspn(open + 1, "0123456789");
        if (!digits || strncmp(open + 1 + digits, "): ", 3) != 0)
            continue;
        const char *message = split_severity(parser->arena, open + digits + 4, &diagnostic.severity, &diagnostic.code);
        if (!message)
            continue;
        diagnostic.file = diagnostics_source_name(parser, line, (size_t)(open - line));
        diagnostic.line = to_line(open + 1);
        diagnostic.message = copy_message(parser, message);
        (void)diagnostics_add(parser, &diagnostic);
        return true;
    }
    return false;
}

/* Takes a trailing " [-Wname]" off the message as its code. */
static void split_flag(struct diagnostics_parser *parser, struct diagnostic *diagnostic)
{
    const char *open = strstr(diagnostic->message, " [-W");
    size_t length = strlen(diagnostic->message);

    if (!open || diagnostic->message[length - 1] != ']')
        return;
    diagnostic->code = arena_strndup(parser->arena, open + 2, length - 3 - (size_t)(open - diagnostic->message));
    diagnostic->message = arena_strndup(parser->arena, diagnostic->message, (size_t)(open - diagnostic->message));
}

/* "FILE:LINE:COL: error: text", "FILE:LINE: Error: text" (assembler), "cc1plus: fatal error: text". */
bool diagnostics_take_gcc(struct diagnostics_parser *parser, const char *line)
{
    struct diagnostic diagnostic = {.tool = DIAGNOSTIC_GCC};
    const char *message = NULL;

    if (line[0] == ' ')
        return false;
    for (const char *colon = strchr(line, ':'); colon && !message; colon = strchr(colon + 1, ':')) {
        const char *rest = colon + 1;
        size_t digits = strspn(rest, "0123456789");
        int at_line = 0, at_column = 0;
        if (digits && rest[digits] == ':') {
            at_line = to_line(rest);
            rest += digits + 1;
            digits = strspn(rest, "0123456789");
            if (digits && rest[digits] == ':') {
                at_column = to_line(rest);
                rest += digits + 1;
            }
        } else if (strncmp(line, "cc1plus", 7) != 0 && strncmp(line, "g++", 3) != 0 && strncmp(line, "gcc", 3) != 0) {
            continue;
        }
        if (*rest != ' ')
            continue;
        message = split_severity(parser->arena, rest + 1, &diagnostic.severity, &diagnostic.code);
        if (!message)
            continue;
        diagnostic.line = at_line;
        diagnostic.column = at_column;
        if (at_line)
            diagnostic.file = diagnostics_source_name(parser, line, (size_t)(colon - line));
    }
    if (!message)
        return false;
    diagnostic.message = copy_message(parser, message);
    split_flag(parser, &diagnostic);
    (void)diagnostics_add(parser, &diagnostic);
    parser->last = NULL;
    return true;
}

bool diagnostics_take_linker(struct diagnostics_parser *parser, const char *line)
{
    struct diagnostic diagnostic = {.severity = DIAGNOSTIC_ERROR, .tool = DIAGNOSTIC_LD};
    const char *text = strstr(line, "undefined reference to ");

    if (!text && (strstr(line, "/ld: cannot find ") || strstr(line, "multiple definition of")))
        text = strstr(line, "/ld: ") ? strstr(line, "/ld: ") + 5 : line;
    if (!text || line[0] == ' ')
        return false;
    diagnostic.message = copy_message(parser, text);
    (void)diagnostics_add(parser, &diagnostic);
    parser->last = NULL;
    return true;
}

/* "nvcc fatal   : text", "nvlink error   : text", "nvcc error   : 'cicc' died due to signal 11" */
bool diagnostics_take_driver(struct diagnostics_parser *parser, const char *line)
{
    static const char *const tools[] = {"nvcc", "nvlink", "cudafe++", "cicc", "fatbinary"};
    static const struct severity_word words[] = {
        {"fatal", DIAGNOSTIC_ERROR}, {"error", DIAGNOSTIC_ERROR}, {"warning", DIAGNOSTIC_WARNING}};
    struct diagnostic diagnostic = {0};

    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        size_t length = strlen(tools[i]);
        if (strncmp(line, tools[i], length) != 0 || line[length] != ' ')
            continue;
        for (size_t j = 0; j < sizeof words / sizeof words[0]; j++) {
            const char *rest = line + length + 1;
            if (strncmp(rest, words[j].word, strlen(words[j].word)) != 0)
                continue;
            rest += strlen(words[j].word);
            rest += strspn(rest, " ");
            if (*rest != ':')
                continue;
            diagnostic.tool = strcmp(tools[i], "nvlink") == 0 ? DIAGNOSTIC_NVLINK : DIAGNOSTIC_NVCC;
            diagnostic.severity = words[j].severity;
            diagnostic.message = copy_message(parser, rest + 1 + strspn(rest + 1, " "));
            (void)diagnostics_add(parser, &diagnostic);
            parser->last = NULL;
            return true;
        }
    }
    return false;
}

/* Lines below a message of the front end: argument types, and the caret below the source line (indented by two). */
bool diagnostics_take_continuation(struct diagnostics_parser *parser, const char *line)
{
    size_t indent = strspn(line, " ");
    struct diagnostic *last = parser->last;

    if (!last || line[0] != ' ')
        return false;
    if (strncmp(line + indent, "argument types are:", 19) == 0 || strncmp(line + indent, "object type is:", 15) == 0) {
        last->message = copy_message(parser, arena_printf(parser->arena, "%s; %s", last->message, line + indent));
        return true;
    }
    if (line[indent] != '^' || line[indent + 1] || indent < 2)
        return false;
    last->column = (int)indent - 1;
    parser->last = NULL;
    return true;
}
