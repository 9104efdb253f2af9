/* The blocks of an answer: thinking parts, fences, and stretches of code without fences. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "agent/extract_internal.h"

enum { INTRO_BYTES = 240, NESTING_MAX = 3, ABSENT_MAX = 64 };

struct fence {
    char character;
    size_t length;
    size_t indent;
    struct text_span info;
    const char *tag; /* "" for none */
};

enum tag_class extract_tag_class(const char *tag)
{
    static const struct {
        const char *tag;
        enum tag_class class;
    } table[] = {
        {"cpp", TAG_CUDA},       {"c++", TAG_CUDA},         {"cuda", TAG_CUDA},      {"cu", TAG_CUDA},
        {"c", TAG_CUDA},         {"cuh", TAG_CUDA},         {"cxx", TAG_CUDA},       {"cc", TAG_CUDA},
        {"h", TAG_CUDA},         {"hpp", TAG_CUDA},         {"c/c++", TAG_CUDA},     {"cudac++", TAG_CUDA},
        {"cuda-cpp", TAG_CUDA},  {"cuda-c++", TAG_CUDA},    {"cudacpp", TAG_CUDA},   {"cuda_cpp", TAG_CUDA},
        {"cplusplus", TAG_CUDA}, {"cuda-c", TAG_CUDA},      {"nvcc", TAG_CUDA},      {"c++17", TAG_CUDA},
        {"cpp17", TAG_CUDA},     {"cuda-ptx", TAG_CUDA},    {"code", TAG_NONE},      {"python", TAG_PYTHON},
        {"py", TAG_PYTHON},      {"python3", TAG_PYTHON},   {"triton", TAG_PYTHON},  {"markdown", TAG_PROSE},
        {"md", TAG_PROSE},       {"text", TAG_PROSE},       {"txt", TAG_PROSE},      {"plaintext", TAG_PROSE},
        {"bash", TAG_OTHER},     {"sh", TAG_OTHER},         {"shell", TAG_OTHER},    {"console", TAG_OTHER},
        {"zsh", TAG_OTHER},      {"json", TAG_OTHER},       {"yaml", TAG_OTHER},     {"diff", TAG_OTHER},
        {"patch", TAG_OTHER},    {"ptx", TAG_OTHER},        {"asm", TAG_OTHER},      {"sass", TAG_OTHER},
        {"cmake", TAG_OTHER},    {"make", TAG_OTHER},       {"makefile", TAG_OTHER}, {"output", TAG_OTHER},
        {"log", TAG_OTHER},      {"latex", TAG_OTHER},      {"math", TAG_OTHER},     {"mermaid", TAG_OTHER},
        {"rust", TAG_OTHER},     {"javascript", TAG_OTHER}, {"html", TAG_OTHER},     {"xml", TAG_OTHER},
        {"csv", TAG_OTHER},
    };

    if (!*tag)
        return TAG_NONE;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (!strcmp(tag, table[i].tag))
            return table[i].class;
    return TAG_UNKNOWN;
}

/* "{.cpp}", "language-cpp", "C++ kernel.cu", "kernel.cu": the word, lower case; a file name gives its suffix. */
static const char *tag_of(struct arena *arena, struct text_span info)
{
    size_t i = 0;
    size_t length = 0;
    char *tag;

    while (i < info.length && strchr("{. [", info.text[i]))
        i++;
    info.text += i;
    info.length -= i;
    if (span_starts(info, "language-")) {
        info.text += strlen("language-");
        info.length -= strlen("language-");
    }
    while (length < info.length && (isalnum((unsigned char)info.text[length]) || strchr("+/#_-.", info.text[length])))
        length++;
    if (span_starts(info, "//") || span_starts(info, "/*") || span_starts(info, "#"))
        length = 0; /* code on the line of the fence */
    tag = arena_strndup(arena, info.text, length);
    for (char *at = tag; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    const char *dot = strrchr(tag, '.');
    return dot ? dot + 1 : tag;
}

/* Blanks, block quote marks and a list mark in front of a fence. */
static size_t skip_margin(struct text_span line)
{
    size_t i = 0;

    while (i < line.length && (line.text[i] == ' ' || line.text[i] == '\t' || line.text[i] == '>'))
        i++;
    size_t mark = i;
    while (mark < line.length && isdigit((unsigned char)line.text[mark]))
        mark++;
    if (mark < line.length && (mark > i ? strchr(".)", line.text[mark]) : strchr("-*+", line.text[mark])) &&
        mark + 1 < line.length && line.text[mark + 1] == ' ') {
        i = mark + 1;
        while (i < line.length && line.text[i] == ' ')
            i++;
    }
    return i;
}

static bool fence_of(struct arena *arena, struct text_span line, struct fence *out)
{
    size_t i = skip_margin(line);

    *out = (struct fence){.indent = i};
    if (i >= line.length || (line.text[i] != '`' && line.text[i] != '~'))
        return false;
    out->character = line.text[i];
    while (i < line.length && line.text[i] == out->character) {
        out->length++;
        i++;
    }
    out->info = span_trim((struct text_span){line.text + i, line.length - i});
    if (out->length < 3 || (out->character == '`' && out->info.length && memchr(out->info.text, '`', out->info.length)))
        return false;
    out->tag = tag_of(arena, out->info);
    return true;
}

/* "Here it is: ```cpp": a fence with a known tag at the end of a line of prose. */
static bool trailing_fence(struct arena *arena, struct text_span line, struct fence *out)
{
    const char *at = span_find(line, "```");
    enum tag_class class;

    if (!at || at == line.text)
        return false;
    size_t offset = (size_t)(at - line.text);
    if (!fence_of(arena, (struct text_span){at, line.length - offset}, out) || !*out->tag)
        return false;
    out->indent = 0;
    class = extract_tag_class(out->tag);
    return class != TAG_UNKNOWN && out->info.length <= strlen(out->tag) + 1;
}

/* "}```": where the closing fence begins that stands behind code; 0: there is none. */
static size_t glued_fence(struct text_span line)
{
    struct text_span text = {line.text, line.length};
    const char *at;

    while (text.length && isspace((unsigned char)text.text[text.length - 1]))
        text.length--;
    at = span_find(text, "```");
    if (!at || at == text.text || at + 3 != text.text + text.length || span_starts(span_trim(text), "//"))
        return 0;
    return (size_t)(at - text.text);
}

/* A word with a suffix of source files in `text`: "`helpers.cuh`:". */
static const char *file_name_in(struct arena *arena, struct text_span text)
{
    static const char *const suffixes[] = {".cuh", ".cu", ".hpp", ".h", ".cpp"};
    const char *found = NULL;

    for (size_t i = 0; i < text.length;) {
        size_t length = 0;
        while (i + length < text.length &&
               (isalnum((unsigned char)text.text[i + length]) || strchr("_-./", text.text[i + length])))
            length++;
        while (length && text.text[i + length - 1] == '.')
            length--;
        for (size_t k = 0; k < ARRAY_LEN(suffixes); k++) {
            size_t suffix = strlen(suffixes[k]);
            if (length > suffix && length < 100 && !memcmp(text.text + i + length - suffix, suffixes[k], suffix))
                found = arena_strndup(arena, text.text + i, length);
        }
        i += length + 1;
    }
    return found;
}

static struct text_span last_line(struct text_span text)
{
    text = span_trim(text);
    const char *newline = text.length ? memrchr(text.text, '\n', text.length) : NULL;

    return newline ? (struct text_span){newline + 1, (size_t)(text.text + text.length - newline) - 1} : text;
}

static const char *file_of(struct arena *arena, struct text_span info, struct text_span intro, struct text_span code)
{
    struct text_span first = {0};
    size_t offset = 0;
    const char *file = file_name_in(arena, info);

    if (!file && span_next_line(code, &offset, &first) && span_starts(span_trim(first), "//"))
        file = file_name_in(arena, first);
    return file ? file : file_name_in(arena, last_line(intro));
}

/* The lines of a block without the indentation or quote marks that its fence has, too. */
static struct text_span dedent(struct arena *arena, struct text_span raw, size_t indent, struct text_span first)
{
    char *out = arena_alloc(arena, raw.length + first.length + 3);
    struct text_span line;
    size_t length = 0;

    if (first.length) {
        memcpy(out, first.text, first.length);
        length = first.length;
        out[length++] = '\n';
    }
    for (size_t offset = 0; span_next_line(raw, &offset, &line);) {
        size_t skip = 0;
        if (!length && !span_trim(line).length)
            continue;
        while (skip < indent && skip < line.length && strchr(" \t>", line.text[skip]))
            skip++;
        memcpy(out + length, line.text + skip, line.length - skip);
        length += line.length - skip;
        out[length++] = '\n';
    }
    while (length >= 2 && out[length - 1] == '\n' && (out[length - 2] == '\n' || out[length - 2] == ' '))
        out[--length] = 0;
    if (length && out[length - 1] != '\n')
        out[length++] = '\n';
    out[length] = 0;
    return (struct text_span){out, length};
}

/* A fence's block while its lines are read. */
struct open_block {
    struct fence fence;
    size_t begin;     /* of its first line */
    size_t protected; /* fences before this offset are inside a comment or raw string */
    struct lexer lexer;
    enum tag_class class;
};

struct walk {
    struct scan *scan;
    struct text_span text;
    bool thinking;
    int depth;
    size_t plain; /* where the text outside of fences began */
    bool inside;
    int searches;    /* for ends that were not there */
    char absent[20]; /* an end of a raw string or comment that the rest of the answer does not hold */
    struct open_block open;
};

static struct text_span intro_of(const struct walk *walk, size_t end)
{
    size_t begin = end > INTRO_BYTES ? end - INTRO_BYTES : 0;

    if (begin < walk->plain)
        begin = walk->plain <= end ? walk->plain : end;
    return (struct text_span){walk->text.text + begin, end - begin};
}

static void add_plain(struct walk *walk, size_t end)
{
    struct text_span region = {walk->text.text + walk->plain, end - walk->plain};

    if (end <= walk->plain || walk->scan->language != EXTRACT_CUDA ||
        (!span_find(region, "__global__") && !span_find(region, "PTXBENCH_ENTRY") &&
         !span_find(region, "TVM_FFI_DLL_EXPORT")))
        return;
    region = extract_without_entities(walk->scan->arena, region);
    region = extract_without_numbers(walk->scan->arena, region);
    size_t begin = extract_code_begin(region.text, region.length);
    struct text_span code = {region.text + begin, region.length - begin};
    struct scan_block *block;

    code.length = extract_code_extent(code.text, code.length);
    if (!code.length)
        return;
    block = LIST_APPEND(walk->scan->arena, &walk->scan->blocks);
    *block = (struct scan_block){
        .code =
            dedent(walk->scan->arena, code, code.text[0] == ' ' || code.text[0] == '\t' ? 4 : 0, (struct text_span){0}),
        .tag = "",
        .thinking = walk->thinking,
    };
}

static void walk_text(struct scan *scan, struct text_span text, bool thinking, int depth);

/* A wrapper holds whole blocks of its own: those count. */
static bool is_wrapper(const struct walk *walk, struct text_span code)
{
    const struct open_block *open = &walk->open;

    struct lexer lexer = {0};
    struct text_span line;
    struct fence fence;
    size_t at = 0;

    if (walk->depth >= NESTING_MAX || (open->class != TAG_PROSE && open->class != TAG_NONE))
        return false;
    for (size_t offset = 0; span_next_line(code, &offset, &line); at = offset) {
        if (fence_of(walk->scan->arena, line, &fence) &&
            (open->class == TAG_PROSE || (lexer.state != LEX_BLOCK_COMMENT && lexer.state != LEX_RAW_STRING)))
            return true;
        lexer_read(&lexer, code.text + at, offset - at);
    }
    return false;
}

static void close_block(struct walk *walk, size_t end, bool closed)
{
    struct scan *scan = walk->scan;
    const struct open_block *open = &walk->open;
    struct text_span raw = {walk->text.text + open->begin, end - open->begin};
    struct text_span first = {0};
    size_t tag = strlen(open->fence.tag);
    struct text_span info = open->fence.info;
    struct scan_block *block;

    walk->inside = false;
    if (!closed && scan->language == EXTRACT_CUDA)
        raw.length = extract_code_extent(raw.text, raw.length);
    /* code on the line of the fence: "```cpp #include <cuda.h>" */
    if (info.length > tag && (info.text[0] == '#' || info.text[0] == '/'))
        first = info;
    else if (info.length > tag)
        first = span_trim((struct text_span){info.text + tag, info.length - tag});
    if (first.length && first.text[0] != '#' && first.text[0] != '/')
        first.length = 0;
    struct text_span code = dedent(scan->arena, raw, open->fence.indent, first);
    if (is_wrapper(walk, code)) {
        walk_text(scan, code, walk->thinking, walk->depth + 1);
        return;
    }
    size_t fence_begin = open->begin;
    while (fence_begin && (fence_begin == open->begin || walk->text.text[fence_begin - 1] != '\n'))
        fence_begin--;
    block = LIST_APPEND(scan->arena, &scan->blocks);
    *block = (struct scan_block){.code = code,
                                 .tag = open->fence.tag,
                                 .intro = intro_of(walk, fence_begin),
                                 .fenced = true,
                                 .closed = closed,
                                 .thinking = walk->thinking};
    block->file = file_of(scan->arena, info, block->intro, code);
    scan->fenced++;
}

/* Whether a line with this fence's closing length comes later. */
static bool has_closing(const struct walk *walk, size_t offset, const struct fence *fence)
{
    char needle[64];
    size_t length = fence->length < sizeof needle - 1 ? fence->length : sizeof needle - 1;
    struct text_span rest = {walk->text.text + offset, walk->text.length - offset};

    memset(needle, fence->character, length);
    needle[length] = 0;
    return span_find(rest, needle) != NULL;
}

/* "```" and then "cpp" on a line of its own. Returns where the block's text begins. */
static size_t take_tag_line(struct walk *walk, struct fence *fence, size_t begin)
{
    size_t offset = begin;
    struct text_span line;

    if (fence->info.length || !span_next_line(walk->text, &offset, &line))
        return begin;
    line = span_trim(line);
    const char *tag = tag_of(walk->scan->arena, line);
    if (strlen(tag) != line.length || extract_tag_class(tag) != TAG_CUDA)
        return begin;
    fence->tag = tag;
    return offset;
}

static void open_block(struct walk *walk, const struct fence *fence, size_t begin)
{
    struct fence tagged = *fence;

    begin = take_tag_line(walk, &tagged, begin);
    walk->inside = true;
    walk->open = (struct open_block){.fence = tagged, .begin = begin, .class = extract_tag_class(tagged.tag)};
    /* four backticks that only three close */
    if (fence->length > 3 && !has_closing(walk, begin, fence))
        walk->open.fence.length = 3;
}

/* The next "*" "/" or "/" "*"; NULL for neither. */
static const char *next_comment_mark(struct text_span text)
{
    for (size_t i = 0; i + 1 < text.length; i++)
        if ((text.text[i] == '*' && text.text[i + 1] == '/') || (text.text[i] == '/' && text.text[i + 1] == '*'))
            return text.text + i;
    return NULL;
}

/* Fences in a comment or raw string that ends later belong to the code. */
static bool is_protected(struct walk *walk, size_t at)
{
    struct open_block *open = &walk->open;
    struct text_span rest = {walk->text.text + at, walk->text.length - at};
    const char *end;

    if (at < open->protected)
        return true;
    if (open->class != TAG_CUDA && open->class != TAG_NONE)
        return false;
    if (open->lexer.state != LEX_BLOCK_COMMENT && open->lexer.state != LEX_RAW_STRING)
        return false;
    const char *wanted = open->lexer.state == LEX_RAW_STRING ? open->lexer.raw_end : "*/";
    if (!strcmp(wanted, walk->absent) || walk->searches == ABSENT_MAX)
        return false;
    end = open->lexer.state == LEX_RAW_STRING ? span_find(rest, wanted) : next_comment_mark(rest);
    walk->searches += !end;
    if (!end)
        (void)snprintf(walk->absent, sizeof walk->absent, "%s", wanted);
    if (!end || *end == '/')
        return false; /* none, or another comment begins first */
    open->protected = (size_t)(end - walk->text.text);
    return true;
}

static void line_inside(struct walk *walk, struct text_span line, size_t at, size_t next)
{
    struct open_block *open = &walk->open;
    struct fence fence;
    size_t glued = 0;

    if (fence_of(walk->scan->arena, line, &fence) && fence.character == open->fence.character &&
        fence.length >= open->fence.length && !is_protected(walk, at)) {
        enum tag_class class = extract_tag_class(fence.tag);
        bool opens = class != TAG_NONE && class != TAG_UNKNOWN;
        if (opens && (open->class == TAG_PROSE || open->class == TAG_NONE) &&
            !extract_syntax((struct text_span){walk->text.text + open->begin, at - open->begin}, walk->scan->language)
                 .codelike)
            walk->inside = false; /* the wrapper of this block, with a fence of the same length */
        else
            close_block(walk, at, !opens);
        walk->plain = opens ? at : next;
        if (opens)
            open_block(walk, &fence, next);
        return;
    }
    if (open->class == TAG_CUDA && open->fence.character == '`' && (glued = glued_fence(line)) != 0 &&
        open->lexer.state != LEX_BLOCK_COMMENT && open->lexer.state != LEX_RAW_STRING) {
        close_block(walk, at + glued, true);
        walk->plain = next;
        return;
    }
    lexer_read(&open->lexer, walk->text.text + at, next - at);
}

static void walk_text(struct scan *scan, struct text_span text, bool thinking, int depth)
{
    struct walk walk = {.scan = scan, .text = text, .thinking = thinking, .depth = depth};
    struct text_span line;
    struct fence fence;
    size_t at = 0;

    for (size_t offset = 0; span_next_line(text, &offset, &line); at = offset) {
        if (walk.inside && at < walk.open.begin) {
            continue; /* its tag */
        } else if (walk.inside) {
            line_inside(&walk, line, at, offset);
        } else if (fence_of(scan->arena, line, &fence) || trailing_fence(scan->arena, line, &fence)) {
            add_plain(&walk, at);
            open_block(&walk, &fence, offset);
        }
    }
    if (walk.inside)
        close_block(&walk, text.length, false);
    else
        add_plain(&walk, text.length);
}

/* "<think>", "</reasoning>": bytes of the mark, 0 for none. */
static size_t thought_mark(struct text_span at, bool closing)
{
    static const char *const names[] = {"think", "thinking", "thought", "reasoning", "reflection"};
    size_t begin = closing ? 2 : 1;

    if (at.length < begin || at.text[0] != '<' || (closing && at.text[1] != '/'))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t length = strlen(names[i]);
        if (at.length > begin + length && !memcmp(at.text + begin, names[i], length) && at.text[begin + length] == '>')
            return begin + length + 1;
    }
    return 0;
}

/* Next mark from `offset` on: an opening one only at the start of a line. Sets its length; returns text.length for none. */
static size_t find_mark(struct text_span text, size_t offset, bool closing, size_t *length)
{
    while (offset < text.length) {
        const char *at = memchr(text.text + offset, '<', text.length - offset);
        if (!at)
            break;
        offset = (size_t)(at - text.text);
        *length = thought_mark((struct text_span){at, text.length - offset}, closing);
        if (*length && (closing || !offset || at[-1] == '\n'))
            return offset;
        offset++;
    }
    *length = 0;
    return text.length;
}

void extract_scan_answer(struct scan *scan, struct text_span answer)
{
    size_t length;
    size_t opening;
    size_t at = 0;
    size_t closing = find_mark(answer, 0, true, &length);

    opening = find_mark(answer, 0, false, &(size_t){0});
    if (closing < opening && closing < answer.length) { /* the opening mark was in the prompt */
        walk_text(scan, (struct text_span){answer.text, closing}, true, 0);
        at = closing + length;
    }
    while (at < answer.length) {
        opening = find_mark(answer, at, false, &length);
        walk_text(scan, (struct text_span){answer.text + at, opening - at}, false, 0);
        if (opening == answer.length)
            return;
        size_t begin = opening + length;
        closing = find_mark(answer, begin, true, &length);
        walk_text(scan, (struct text_span){answer.text + begin, closing - begin}, true, 0);
        scan->ends_in_thought = !length;
        at = closing + length;
    }
}
