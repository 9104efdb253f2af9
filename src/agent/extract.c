/* Which block is the kernel. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agent/extract.h"
#include "agent/extract_internal.h"
#include "base/buffer.h"

/* What the prose before a block says of it. */
enum cue { CUE_REJECTED = -1, CUE_NONE, CUE_FINAL };

struct choice {
    struct scan *scan;
    struct scan_block *blocks; /* of scan, as candidates */
    struct syntax *syntax;     /* one for each */
    struct extract_block *candidates;
    size_t count;
    size_t kernels; /* candidates that define one */
};

static bool contains_word(struct text_span text, const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; i + length <= text.length; i++)
        if (!strncasecmp(text.text + i, word, length) && (!i || !isalpha((unsigned char)text.text[i - 1])) &&
            (i + length == text.length || !isalpha((unsigned char)text.text[i + length])))
            return true;
    return false;
}

/* Of the last two lines before the block. */
static enum cue cue_of(const struct scan_block *block)
{
    static const char *const rejected[] = {
        "naive",   "baseline", "original",      "previous",    "old",       "incorrect",    "wrong",
        "broken",  "buggy",    "alternative",   "do not use",  "don't use", "comparison",   "alternatively",
        "simpler", "slower",   "for reference", "unoptimized", "fallback",  "first attempt"};
    static const char *const final[] = {"final", "complete", "full", "corrected", "fixed", "submission", "solution"};
    struct text_span text = span_trim(block->intro);
    size_t begin = text.length;

    for (int lines = 0; begin && lines < 2; begin--)
        lines += text.text[begin - 1] == '\n' && begin < text.length && text.text[begin] != '\n';
    text = (struct text_span){text.text + begin, text.length - begin};
    for (size_t i = 0; i < ARRAY_LEN(final); i++)
        if (contains_word(text, final[i]))
            return CUE_FINAL;
    for (size_t i = 0; i < ARRAY_LEN(rejected); i++)
        if (contains_word(text, rejected[i]))
            return CUE_REJECTED;
    return CUE_NONE;
}

/* Entry and kernel; a launch stands for the kernel (a macro defines it) when no other block has one. */
static bool is_whole(const struct choice *choice, size_t i)
{
    const struct syntax *syntax = &choice->syntax[i];

    if (!syntax->entry || (!choice->blocks[i].closed && !syntax->whole))
        return false;
    return syntax->kernel || (syntax->launch && !choice->kernels);
}

/* The code tag of the language counts; other tags only when the content leaves no doubt. */
static bool is_candidate(const struct scan *scan, const struct scan_block *block, const struct syntax *syntax)
{
    enum tag_class class = extract_tag_class(block->tag);
    enum tag_class wanted = scan->language == EXTRACT_PYTHON ? TAG_PYTHON : TAG_CUDA;

    if (!span_trim(block->code).length)
        return false;
    if (!block->fenced || class == wanted)
        return true;
    if (class == TAG_OTHER || class == TAG_CUDA || class == TAG_PYTHON)
        return syntax->entry && syntax->kernel && syntax->whole && !span_find(block->code, "\"\"\"");
    return syntax->codelike;
}

static void unwrap(struct arena *arena, struct scan_block *block)
{
    enum tag_class class = extract_tag_class(block->tag);

    if ((class != TAG_CUDA && extract_heredoc(arena, block->code, &block->code)) ||
        extract_json_string(arena, block->code, &block->code) ||
        (class == TAG_PYTHON && extract_python_string(arena, block->code, &block->code)))
        block->tag = "cu";
    block->code = extract_without_entities(arena, block->code);
    if (block->fenced)
        block->code = extract_without_numbers(arena, block->code);
}

/* Candidates among the blocks of the answer proper, or of its thinking parts. */
static void collect(struct choice *choice, struct scan *scan, bool thinking)
{
    size_t total = scan->blocks.count;
    size_t first = total > EXTRACT_BLOCKS ? total - EXTRACT_BLOCKS : 0;

    *choice = (struct choice){.scan = scan};
    choice->blocks = arena_calloc(scan->arena, total - first, sizeof *choice->blocks);
    choice->syntax = arena_calloc(scan->arena, total - first, sizeof *choice->syntax);
    choice->candidates = arena_calloc(scan->arena, total - first, sizeof *choice->candidates);
    for (size_t i = first; i < total; i++) {
        struct scan_block block = scan->blocks.items[i];
        if (block.thinking != thinking)
            continue;
        if (scan->language == EXTRACT_CUDA)
            unwrap(scan->arena, &block);
        struct syntax syntax = extract_syntax(block.code, scan->language);
        if (!is_candidate(scan, &block, &syntax))
            continue;
        choice->blocks[choice->count] = block;
        choice->syntax[choice->count] = syntax;
        choice->kernels += syntax.kernel;
        choice->candidates[choice->count++] = (struct extract_block){.number = (int)(i + 1),
                                                                     .code = block.code,
                                                                     .tag = block.tag,
                                                                     .closed = block.closed,
                                                                     .thinking = thinking,
                                                                     .entry = syntax.entry,
                                                                     .kernel = syntax.kernel,
                                                                     .launch = syntax.launch,
                                                                     .whole_syntax = syntax.whole};
    }
}

static bool same_text(struct text_span a, struct text_span b)
{
    a = span_trim(a);
    b = span_trim(b);
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

/* The candidate whose file is included by this line; NULL for any other line. */
static const struct scan_block *included(const struct choice *choice, size_t self, struct text_span line)
{
    struct text_span text = span_trim(line);
    const char *quote;

    if (!span_starts(text, "#include") || !(quote = memchr(text.text, '"', text.length)))
        return NULL;
    const char *name = quote + 1;
    const char *end = memchr(name, '"', (size_t)(text.text + text.length - name));
    if (!end)
        return NULL;
    for (const char *at = name; at < end; at++)
        if (*at == '/')
            name = at + 1;
    for (size_t i = 0; i < choice->count; i++) {
        const char *file = choice->blocks[i].file;
        const char *base = file ? strrchr(file, '/') : NULL;
        base = base ? base + 1 : file;
        if (i != self && base && strlen(base) == (size_t)(end - name) && !memcmp(base, name, strlen(base)))
            return &choice->blocks[i];
    }
    return NULL;
}

/* A candidate is one file: blocks that it includes by name are put in place. */
static struct text_span with_includes(const struct choice *choice, size_t index, bool *changed)
{
    struct text_span code = choice->blocks[index].code;
    AUTO_BUFFER out = buffer_new(EXTRACT_ANSWER_BYTES);
    struct text_span line;

    *changed = false;
    for (size_t offset = 0; span_next_line(code, &offset, &line);) {
        const struct scan_block *other = included(choice, index, line);
        *changed |= other != NULL;
        if (other) {
            (void)buffer_append(&out, other->code.text, other->code.length);
        } else {
            (void)buffer_append(&out, line.text, line.length);
            (void)buffer_append_text(&out, "\n");
        }
    }
    if (!*changed || out.dropped)
        return code;
    return (struct text_span){arena_strndup(choice->scan->arena, out.data, out.length), out.length};
}

static void decide(struct extract_result *out, enum extract_status status, struct text_span code, const char *reason)
{
    out->status = status;
    out->code = code;
    out->reason = reason;
}

/* A file without any include, when an earlier block has some: it goes on from that block. */
static struct text_span with_beginning(const struct choice *choice, size_t index, struct text_span code, bool *changed)
{
    AUTO_BUFFER out = buffer_new(EXTRACT_ANSWER_BYTES);
    size_t first = index;

    if (choice->scan->language != EXTRACT_CUDA || span_find(code, "#include"))
        return code;
    while (first && !span_find(choice->blocks[first].code, "#include"))
        first--;
    if (first == index || choice->syntax[first].entry || !span_find(choice->blocks[first].code, "#include"))
        return code;
    for (size_t i = first; i < index; i++)
        (void)buffer_append(&out, choice->blocks[i].code.text, choice->blocks[i].code.length);
    (void)buffer_append(&out, code.text, code.length);
    *changed = true;
    return (struct text_span){arena_strndup(choice->scan->arena, out.data, out.length), out.length};
}

/* Several whole files: the last one, unless something speaks against it. */
static void choose_whole(const struct choice *choice, size_t last, size_t wholes, struct extract_result *out)
{
    bool joined;
    size_t pick = last;
    const char *doubt = NULL;

    if (wholes > 1 && choice->syntax[last].elided)
        doubt = "the last whole block leaves parts out";
    else if (wholes > 1 && cue_of(&choice->blocks[last]) == CUE_REJECTED)
        doubt = "the text before the last whole block speaks against it";
    for (size_t i = last; doubt && i-- > 0;)
        if (is_whole(choice, i) && !choice->syntax[i].elided && cue_of(&choice->blocks[i]) != CUE_REJECTED) {
            pick = i;
            break;
        }
    struct text_span code = with_includes(choice, pick, &joined);
    code = with_beginning(choice, pick, code, &joined);
    if (doubt && pick != last && !same_text(choice->blocks[pick].code, choice->blocks[last].code))
        decide(out, EXTRACT_UNSURE, code, doubt);
    else if (joined)
        decide(out, EXTRACT_FOUND, code, "a whole kernel file, with the blocks that it needs");
    else
        decide(out, EXTRACT_FOUND, code, wholes > 1 ? "the last of several whole kernel files" : "a whole kernel file");
}

/* Entry in one block, kernel or helpers in others: all of them, in order. */
static bool join(const struct choice *choice, struct extract_result *out)
{
    AUTO_BUFFER all = buffer_new(EXTRACT_ANSWER_BYTES);
    size_t entries = 0;
    size_t kernels = 0;
    struct text_span line;

    for (size_t i = 0; i < choice->count; i++) {
        entries += choice->syntax[i].entry;
        kernels += choice->syntax[i].kernel;
    }
    if (choice->count < 2 || !entries || !kernels || choice->scan->language != EXTRACT_CUDA)
        return false;
    for (size_t i = 0; i < choice->count; i++)
        for (size_t offset = 0; span_next_line(choice->blocks[i].code, &offset, &line);)
            if (!included(choice, i, line)) {
                (void)buffer_append(&all, line.text, line.length);
                (void)buffer_append_text(&all, "\n");
            }
    struct text_span code = {arena_strndup(choice->scan->arena, all.data, all.length), all.length};
    struct syntax syntax = extract_syntax(code, EXTRACT_CUDA);
    if (!syntax.whole || !syntax.entry)
        return false;
    decide(out, entries == 1 && !syntax.elided ? EXTRACT_FOUND : EXTRACT_UNSURE, code,
           "blocks that are a whole kernel file only together");
    return true;
}

/* No whole file. */
static void choose_partial(const struct choice *choice, struct extract_result *out)
{
    size_t last = choice->count - 1;
    size_t pick = last;
    size_t kernels = 0;

    if (!choice->blocks[last].closed &&
        (!choice->syntax[last].whole || (choice->blocks[last].fenced && !choice->syntax[last].entry))) {
        decide(out, EXTRACT_TRUNCATED, choice->blocks[last].code, "the answer ends inside its last block of code");
        return;
    }
    if (join(choice, out))
        return;
    for (size_t i = 0; i < choice->count; i++) {
        kernels += choice->syntax[i].kernel;
        if (choice->syntax[i].kernel &&
            (!choice->syntax[pick].kernel || choice->syntax[i].launch >= choice->syntax[pick].launch))
            pick = i;
    }
    if (choice->syntax[pick].kernel)
        decide(out, kernels == 1 ? EXTRACT_FOUND : EXTRACT_UNSURE, choice->blocks[pick].code,
               "a kernel, but no block exports an entry point");
    else
        decide(out, choice->count == 1 ? EXTRACT_FOUND : EXTRACT_UNSURE, choice->blocks[pick].code,
               "no block holds a kernel; this is the last block of code");
}

static void choose(const struct choice *choice, struct extract_result *out)
{
    size_t last = 0;
    size_t wholes = 0;

    for (size_t i = 0; i < choice->count; i++)
        if (is_whole(choice, i)) {
            last = i;
            wholes++;
        }
    if (wholes)
        choose_whole(choice, last, wholes, out);
    else if (choice->count)
        choose_partial(choice, out);
    else
        decide(out, EXTRACT_NONE, (struct text_span){"", 0}, out->blocks ? "no block holds code" : "no code");
    out->candidates = choice->candidates;
    out->candidate_count = choice->count;
}

/* Without byte order mark and NUL bytes; line ends are "\n". */
static struct text_span normalise(struct arena *arena, const char *answer, size_t bytes)
{
    char *text = arena_alloc(arena, bytes + 1);
    size_t length = 0;
    size_t i = bytes >= 3 && !memcmp(answer, "\xef\xbb\xbf", 3) ? 3 : 0;

    for (; i < bytes; i++) {
        if (answer[i] == '\r' && (i + 1 == bytes || answer[i + 1] != '\n'))
            text[length++] = '\n';
        else if (answer[i] && answer[i] != '\r')
            text[length++] = answer[i];
    }
    return (struct text_span){text, length};
}

void extract_code_of(const char *answer, size_t bytes, enum extract_language language, struct arena *arena,
                     struct extract_result *out)
{
    struct scan scan = {.arena = arena, .language = language};
    struct text_span text = normalise(arena, answer, bytes < EXTRACT_ANSWER_BYTES ? bytes : EXTRACT_ANSWER_BYTES);
    struct choice choice;

    *out = (struct extract_result){.language = language, .reason = ""};
    if (language == EXTRACT_CUDA && extract_json_string(arena, text, &text))
        text = normalise(arena, text.text, text.length);
    else if (span_find(text, "__global__") && !span_find(text, "\n") && span_find(text, "\\n"))
        text = extract_unescape(arena, text); /* line ends that were escaped once too often */
    extract_scan_answer(&scan, text);
    out->blocks = scan.fenced;
    collect(&choice, &scan, false);
    if (!choice.count) {
        collect(&choice, &scan, true);
        choose(&choice, out);
        if (scan.ends_in_thought && out->status != EXTRACT_FOUND)
            decide(out, EXTRACT_TRUNCATED, out->code, "the answer ends while the model is thinking");
        else if (out->status == EXTRACT_FOUND)
            decide(out, EXTRACT_UNSURE, out->code, "code stands only in the thinking part");
        return;
    }
    choose(&choice, out);
}

void extract_code(const char *answer, size_t bytes, struct arena *arena, struct extract_result *out)
{
    extract_code_of(answer, bytes, EXTRACT_CUDA, arena, out);
}

const char *extract_status_text(enum extract_status status)
{
    static const char *const texts[] = {"found", "unsure", "none", "truncated"};

    return texts[status];
}
