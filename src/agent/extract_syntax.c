/* What a piece of CUDA C++ or Python holds, and where code ends and prose begins. */
#define _GNU_SOURCE
#include <ctype.h>
#include <string.h>

#include "agent/extract_internal.h"

enum { ELIDED_BYTES = 200 /* of a comment that are looked at */ };

const char *span_find(struct text_span span, const char *needle)
{
    return span.length ? memmem(span.text, span.length, needle, strlen(needle)) : NULL;
}

bool span_starts(struct text_span span, const char *prefix)
{
    size_t length = strlen(prefix);

    return span.length >= length && !memcmp(span.text, prefix, length);
}

bool span_next_line(struct text_span text, size_t *offset, struct text_span *line)
{
    if (*offset >= text.length)
        return false;
    const char *begin = text.text + *offset;
    const char *end = memchr(begin, '\n', text.length - *offset);
    size_t length = end ? (size_t)(end - begin) : text.length - *offset;

    *line = (struct text_span){begin, length};
    *offset += length + (end != NULL);
    return true;
}

struct text_span span_trim(struct text_span span)
{
    while (span.length && isspace((unsigned char)span.text[0])) {
        span.text++;
        span.length--;
    }
    while (span.length && isspace((unsigned char)span.text[span.length - 1]))
        span.length--;
    return span;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void note_word(struct lexer *lexer, struct text_span word)
{
    static const char *const entries[] = {"TVM_FFI_DLL_EXPORT", "PTXBENCH_ENTRY", "ptxbench_run",
                                          "PYBIND11_MODULE",    "TORCH_LIBRARY",  "TORCH_EXTENSION_NAME",
                                          "__tvm_ffi_"};
    static const char *const launches[] = {"cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchCooperativeKernel"};

    if (word.length == strlen("__global__") && span_starts(word, "__global__"))
        lexer->kernel = true;
    for (size_t i = 0; i < ARRAY_LEN(entries); i++)
        lexer->entry |= span_starts(word, entries[i]);
    for (size_t i = 0; i < ARRAY_LEN(launches); i++)
        lexer->launch |= span_starts(word, launches[i]);
}

/* "// ... rest as before", "/" "* unchanged *" "/": the block is a sketch. `comment` is one line of it. */
static bool says_elided(struct text_span comment)
{
    static const char *const words[] = {"as before",      "unchanged",     "same as above",    "same as previous",
                                        "existing code",  "omitted",       "rest of the code", "rest of the kernel",
                                        "your code here", "remaining code"};
    char text[ELIDED_BYTES];
    size_t length = comment.length < sizeof text - 1 ? comment.length : sizeof text - 1;

    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)comment.text[i]);
    text[length] = 0;
    if (!strstr(text, "...") && !strstr(text, "\xe2\x80\xa6"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

/* R"delimiter( : bytes of it, or 0. */
static size_t raw_string_begin(struct lexer *lexer, const char *at, size_t left)
{
    size_t i = 2;

    if (left < 3 || at[0] != 'R' || at[1] != '"')
        return 0;
    while (i < left && i < 2 + 16 && at[i] != '(' && at[i] != '\n' && at[i] != '"')
        i++;
    if (i >= left || at[i] != '(')
        return 0;
    lexer->raw_end[0] = ')';
    memcpy(lexer->raw_end + 1, at + 2, i - 2);
    lexer->raw_end[i - 1] = '"';
    lexer->raw_end[i] = 0;
    return i + 1;
}

static void note_bracket(struct lexer *lexer, char c)
{
    if (strchr("({[", c))
        lexer->depth++;
    else if (strchr(")}]", c))
        lexer->depth--;
    if (lexer->depth < lexer->lowest)
        lexer->lowest = lexer->depth;
}

/* #if, #else, #endif: brackets count once, not in each branch. */
static void note_directive(struct lexer *lexer, struct text_span line)
{
    size_t most = ARRAY_LEN(lexer->branch_depth);

    line.text++;
    line.length--;
    line = span_trim(line);
    if (span_starts(line, "if 0") && (line.length == 4 || isspace((unsigned char)line.text[4]))) {
        lexer->state = LEX_DISABLED;
        lexer->disabled = 0; /* its own line is read again in that state */
    } else if (span_starts(line, "if")) {
        if ((size_t)lexer->branches < most)
            lexer->branch_depth[lexer->branches] = lexer->depth;
        lexer->branches++;
    } else if (span_starts(line, "el") && lexer->branches > 0) {
        if ((size_t)lexer->branches <= most)
            lexer->depth = lexer->branch_depth[lexer->branches - 1];
    } else if (span_starts(line, "endif") && lexer->branches > 0) {
        lexer->branches--;
    }
}

/* Returns the bytes read in state LEX_CODE. */
static size_t read_code(struct lexer *lexer, const char *at, size_t left)
{
    size_t raw = raw_string_begin(lexer, at, left);
    size_t length = 1;

    if (raw) {
        lexer->state = LEX_RAW_STRING;
        return raw;
    }
    if (left >= 2 && at[0] == '/' && (at[1] == '/' || at[1] == '*')) {
        const char *end = memchr(at, '\n', left < ELIDED_BYTES ? left : ELIDED_BYTES);
        lexer->state = at[1] == '/' ? LEX_LINE_COMMENT : LEX_BLOCK_COMMENT;
        lexer->elided |= says_elided((struct text_span){at, end                   ? (size_t)(end - at)
                                                            : left < ELIDED_BYTES ? left
                                                                                  : ELIDED_BYTES});
        return 2;
    }
    if (is_word(*at)) {
        /* 1'000'000: a quote between digits separates them */
        while (length < left && (is_word(at[length]) || (at[length] == '\'' && isdigit((unsigned char)*at) &&
                                                         length + 1 < left && is_word(at[length + 1]))))
            length++;
        note_word(lexer, (struct text_span){at, length});
    } else if (*at == '"') {
        lexer->state = LEX_STRING;
    } else if (*at == '\'') {
        lexer->state = LEX_CHARACTER;
    } else if (left >= 3 && !memcmp(at, "<<<", 3)) {
        lexer->launch = true;
        length = 3;
    } else if (strchr("(){}[]", *at)) {
        note_bracket(lexer, *at);
    } else if (*at == '#' && (!lexer->previous || lexer->line_begin)) {
        const char *end = memchr(at, '\n', left);
        note_directive(lexer, (struct text_span){at, end ? (size_t)(end - at) : left});
        if (lexer->state == LEX_DISABLED)
            return 0;
    }
    lexer->line_begin = *at == '\n' || (lexer->line_begin && isspace((unsigned char)*at));
    if (!isspace((unsigned char)*at))
        lexer->previous = at[length - 1];
    return length;
}

static size_t read_quoted(struct lexer *lexer, const char *at, size_t left)
{
    char end = lexer->state == LEX_STRING ? '"' : '\'';

    if (*at == '\\')
        return left >= 2 ? 2 : 1;
    if (*at == end || *at == '\n') /* an open quote ends with its line: prose has apostrophes */
        lexer->state = LEX_CODE;
    return 1;
}

/* One line of it, or what is left of it: looks no farther, so that long comments cost their length only. */
static size_t read_block_comment(struct lexer *lexer, const char *at, size_t left)
{
    size_t length = 0;

    while (length < left && at[length] != '\n') {
        if (at[length] == '*' && length + 1 < left && at[length + 1] == '/') {
            lexer->state = LEX_CODE;
            return length + 2;
        }
        length++;
    }
    length += length < left;
    lexer->elided |= says_elided((struct text_span){at, length});
    return length;
}

static size_t read_line_comment(struct lexer *lexer, const char *at, size_t left)
{
    const char *line = memchr(at, '\n', left);

    if (!line)
        return left;
    if (line == at || line[-1] != '\\')
        lexer->state = LEX_CODE;
    return (size_t)(line - at) + 1;
}

static size_t read_raw_string(struct lexer *lexer, const char *at, size_t left)
{
    const char *end = memmem(at, left, lexer->raw_end, strlen(lexer->raw_end));

    if (!end)
        return left;
    lexer->state = LEX_CODE;
    return (size_t)(end - at) + strlen(lexer->raw_end);
}

/* One line behind #if 0; what stands behind its #else or #endif counts again. */
static size_t read_disabled(struct lexer *lexer, const char *at, size_t left)
{
    const char *newline = memchr(at, '\n', left);
    size_t length = newline ? (size_t)(newline - at) + 1 : left;
    struct text_span line = span_trim((struct text_span){at, length});

    if (!line.length || line.text[0] != '#')
        return length;
    line = span_trim((struct text_span){line.text + 1, line.length - 1});
    if (span_starts(line, "if"))
        lexer->disabled++;
    else if (span_starts(line, "endif") && lexer->disabled)
        lexer->disabled--;
    else if (lexer->disabled > 1 || !span_starts(line, "el"))
        return length;
    else
        lexer->disabled = 0;
    if (!lexer->disabled) {
        lexer->state = LEX_CODE;
        lexer->line_begin = true;
    }
    return length;
}

void lexer_read(struct lexer *lexer, const char *text, size_t length)
{
    size_t at = 0;

    while (at < length) {
        size_t left = length - at;
        switch (lexer->state) {
        case LEX_CODE:
            at += read_code(lexer, text + at, left);
            break;
        case LEX_STRING:
        case LEX_CHARACTER:
            at += read_quoted(lexer, text + at, left);
            break;
        case LEX_LINE_COMMENT:
            at += read_line_comment(lexer, text + at, left);
            break;
        case LEX_BLOCK_COMMENT:
            at += read_block_comment(lexer, text + at, left);
            break;
        case LEX_RAW_STRING:
            at += read_raw_string(lexer, text + at, left);
            break;
        case LEX_DISABLED:
            at += read_disabled(lexer, text + at, left);
            break;
        }
    }
}

/* Bytes of a Python string literal at `at` (a quote), its end included. 0: it does not end. */
static size_t python_string(const char *at, size_t left)
{
    bool triple = left >= 3 && at[1] == at[0] && at[2] == at[0];
    size_t i = triple ? 3 : 1;

    for (; i < left; i++) {
        if (at[i] == '\\')
            i++;
        else if (!triple && (at[i] == at[0] || at[i] == '\n'))
            return i + 1;
        else if (triple && left - i >= 3 && at[i] == at[0] && at[i + 1] == at[0] && at[i + 2] == at[0])
            return i + 3;
    }
    return 0;
}

static bool python_is_whole(struct text_span code)
{
    struct lexer brackets = {0};

    for (size_t i = 0; i < code.length;) {
        char c = code.text[i];
        size_t length = 1;
        if (c == '#') {
            const char *line = memchr(code.text + i, '\n', code.length - i);
            length = line ? (size_t)(line - code.text) - i : code.length - i;
        } else if (c == '"' || c == '\'') {
            length = python_string(code.text + i, code.length - i);
            if (!length)
                return false;
        } else if (strchr("(){}[]", c) && c) {
            note_bracket(&brackets, c);
        }
        i += length;
    }
    return !brackets.depth && brackets.lowest >= 0;
}

static struct syntax python_syntax(struct text_span code)
{
    struct syntax syntax = {.whole = python_is_whole(code)};
    struct text_span line;

    for (size_t offset = 0; span_next_line(code, &offset, &line);) {
        struct text_span text = span_trim(line);
        syntax.entry |= span_starts(line, "def run(") || span_starts(line, "def run (");
        syntax.kernel |= span_starts(text, "@triton.") || span_starts(text, "@cute.") || span_starts(text, "@jit");
        syntax.launch |= span_find(text, "](") != NULL || span_find(text, ".launch(") != NULL;
        syntax.codelike |= span_starts(text, "import ") || span_starts(text, "from ") || span_starts(text, "def ");
    }
    syntax.codelike |= syntax.entry || syntax.kernel;
    return syntax;
}

/* Statements or directives: at least one of the lines ends or begins like C. */
static bool looks_like_c(struct text_span code)
{
    struct text_span line;

    for (size_t offset = 0; span_next_line(code, &offset, &line);) {
        struct text_span text = span_trim(line);
        if (span_starts(text, "#include") || span_starts(text, "#define") || span_starts(text, "#pragma"))
            return true;
        if (text.length && strchr(";{}", text.text[text.length - 1]))
            return true;
    }
    return false;
}

struct syntax extract_syntax(struct text_span code, enum extract_language language)
{
    struct lexer lexer = {0};

    if (language == EXTRACT_PYTHON)
        return python_syntax(code);
    lexer_read(&lexer, code.text, code.length);
    return (struct syntax){
        .entry = lexer.entry,
        .kernel = lexer.kernel,
        .launch = lexer.launch,
        .elided = lexer.elided,
        .whole = !lexer.depth && lexer.lowest >= 0 && (lexer.state == LEX_CODE || lexer.state == LEX_LINE_COMMENT),
        .codelike = lexer.kernel || lexer.entry || looks_like_c(code),
    };
}

/* NAME(...) alone on its line: a macro that stands for a declaration. */
static bool is_macro_call(struct text_span line)
{
    size_t i = 0;

    while (i < line.length && is_word(line.text[i]))
        i++;
    return i && i < line.length && line.text[i] == '(' && line.text[line.length - 1] == ')';
}

/* Three words in a row with single blanks in between, outside of a comment or string. */
static bool has_sentence(struct text_span line)
{
    const char *comment = span_find(line, "//");
    int words = 0;

    if (comment)
        line.length = (size_t)(comment - line.text);
    for (size_t i = 0; i < line.length;) {
        size_t length = 0;
        const char *quote = line.text[i] == '"' ? memchr(line.text + i + 1, '"', line.length - i - 1) : NULL;
        if (quote) {
            words = 0;
            i = (size_t)(quote - line.text) + 1;
            continue;
        }
        while (i + length < line.length &&
               (isalpha((unsigned char)line.text[i + length]) || line.text[i + length] == '\''))
            length++;
        if (!length) {
            words = 0;
            i++;
            continue;
        }
        size_t end = i + length;
        bool punctuated = end < line.length && strchr(".,;:!?", line.text[end]);
        bool ends = end + punctuated == line.length || line.text[end + punctuated] == ' ';
        words = ends && length > 1 ? words + 1 : 0; /* not "float x, int n" */
        if (words == 3)
            return true;
        i = end + punctuated + 1;
    }
    return false;
}

static bool is_prose(struct text_span line)
{
    struct text_span text = span_trim(line);

    if (span_starts(text, "//"))
        return false;
    if (strchr("|>-*+", text.text[0]) || span_starts(text, "# ") || span_starts(text, "##") ||
        span_starts(text, "</") || span_starts(text, "[/") || span_starts(text, "]]>") || span_starts(text, "\\end{") ||
        span_starts(text, "<|"))
        return true;
    for (size_t i = 0; i < text.length; i++)
        if ((unsigned char)text.text[i] >= 0x80)
            return true;
    if (has_sentence(text))
        return true;
    for (size_t i = 0; i < text.length; i++)
        if (strchr(";{}()=<>[]_#", text.text[i]))
            return false;
    return line.text[0] != ' ' && line.text[0] != '\t';
}

static bool ends_declaration(const struct lexer *lexer, struct text_span line)
{
    struct text_span text = span_trim(line);

    if (lexer->depth || (lexer->state != LEX_CODE && lexer->state != LEX_LINE_COMMENT) || !text.length)
        return false;
    if (span_starts(text, "#include") || span_starts(text, "#define") || span_starts(text, "#endif") ||
        span_starts(text, "#pragma") || span_starts(text, "#undef") || span_starts(text, "//"))
        return true;
    if (text.length >= 2 && !memcmp(text.text + text.length - 2, "*/", 2))
        return true;
    if (is_prose(line))
        return false;
    return strchr("};", lexer->previous) != NULL ? lexer->previous != 0 : is_macro_call(text);
}

/* Of what follows the last declaration: an unfinished one, or prose? Most of its lines decide. */
static bool reads_like_code(struct text_span rest)
{
    struct text_span line;
    int code = 0;
    int prose = 0;

    if (span_find(rest, "__global__ ") || span_find(rest, "__device__ "))
        return true;
    for (size_t offset = 0; span_next_line(rest, &offset, &line);) {
        if (!span_trim(line).length)
            continue;
        if (is_prose(line))
            prose++;
        else
            code++;
    }
    return code > prose;
}

size_t extract_code_extent(const char *text, size_t length)
{
    struct text_span all = {text, length};
    struct text_span line;
    struct lexer lexer = {0};
    size_t good = 0;
    size_t before = 0;

    for (size_t offset = 0; span_next_line(all, &offset, &line); before = offset) {
        lexer.previous = 0;
        lexer_read(&lexer, text + before, offset - before);
        if (ends_declaration(&lexer, line))
            good = offset;
    }
    if (lexer.state == LEX_BLOCK_COMMENT || lexer.state == LEX_RAW_STRING)
        return length;
    return good && !reads_like_code((struct text_span){text + good, length - good}) ? good : length;
}

size_t extract_code_begin(const char *text, size_t length)
{
    static const char *const begins[] = {
        "#include",   "#pragma",        "#define",         "#if",         "//",
        "/*",         "extern \"C\"",   "template <",      "template<",   "__global__",
        "__device__", "namespace ",     "static ",         "constexpr ",  "using namespace",
        "typedef ",   "PTXBENCH_ENTRY", "__forceinline__", "__constant__"};
    struct text_span all = {text, length};
    struct text_span line;
    size_t before = 0;

    for (size_t offset = 0; span_next_line(all, &offset, &line); before = offset) {
        struct text_span trimmed = span_trim(line);
        for (size_t i = 0; i < ARRAY_LEN(begins); i++)
            if (span_starts(trimmed, begins[i]))
                return before;
        if (span_starts(trimmed, "using ") && span_find(trimmed, "=") && trimmed.text[trimmed.length - 1] == ';')
            return before;
    }
    return length;
}
