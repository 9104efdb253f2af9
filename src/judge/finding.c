#include "judge/finding.h"

#include <stdarg.h>
#include <string.h>

enum { MESSAGE_MAX_BYTES = 4096 };

static const struct {
    const char *text;
    const char *hint;
    enum finding_class class;
    enum blame blame;
    enum finding_stage stage;
} codes[FINDING_CODE_COUNT] = {
#define X(name, text, finding_class, blame, stage, hint)                                                               \
    [name] = {text, hint, FINDING_CLASS_##finding_class, BLAME_##blame, STAGE_##stage},
    FINDING_CODES(X)
#undef X
};

static const char *const class_texts[] = {"error", "hazard", "note"};
static const char *const stage_texts[] = {
#define X(name, text) text,
    FINDING_STAGES(X)
#undef X
};
static const char *const blame_texts[] = {
#define X(name, text) text,
    BLAMES(X)
#undef X
};

static const struct record_field finding_fields[] = {
    RECORD_ENUM(struct finding, class, class_texts),
    RECORD_TEXT(struct finding, code),
    RECORD_TEXT(struct finding, message),
    RECORD_TEXT(struct finding, file),
    RECORD_LINE(struct finding, line),
    RECORD_TEXT(struct finding, kernel),
    RECORD_TEXT(struct finding, hint),
    RECORD_ENUM(struct finding, stage, stage_texts),
    RECORD_ENUM(struct finding, blame, blame_texts),
    RECORD_INTEGER(struct finding, count),
};

const struct record_type finding_record = RECORD_TYPE(struct finding, finding_fields);

static struct finding *append(struct finding_list *list, struct arena *arena)
{
    struct finding *last;

    if (list->count < FINDING_LIST_MAX)
        return LIST_APPEND(arena, list);
    last = &list->items[list->count - 1];
    *last = (struct finding){0};
    return last;
}

/* One printable line. */
static const char *clean_line(struct arena *arena, const char *text, size_t length)
{
    AUTO_BUFFER line = buffer_new(MESSAGE_MAX_BYTES);

    (void)buffer_append_sanitized(&line, text, length);
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] == '\n' || line.data[i] == '\t')
            line.data[i] = ' ';
    return arena_strndup(arena, line.data, line.length);
}

struct finding *finding_add(struct finding_list *list, struct arena *arena, enum finding_code code, const char *format,
                            ...)
{
    AUTO_BUFFER message = buffer_new(MESSAGE_MAX_BYTES);
    struct finding *finding = append(list, arena);
    va_list args;

    va_start(args, format);
    (void)buffer_vprintf(&message, format, args);
    va_end(args);
    *finding = (struct finding){
        .class = codes[code].class,
        .stage = codes[code].stage,
        .blame = codes[code].blame,
        .code = codes[code].text,
        .message = clean_line(arena, message.data, message.length),
        .hint = codes[code].hint,
        .count = 1,
    };
    return finding;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_finding(const struct finding *a, const struct finding *b)
{
    return a->line == b->line && same_text(a->code, b->code) && same_text(a->file, b->file) &&
           same_text(a->kernel, b->kernel) && same_text(a->message, b->message);
}

void finding_merge(struct finding_list *list, struct arena *arena, const struct finding *finding)
{
    struct finding *copy;
    int64_t count = finding->count > 0 ? finding->count : 1;

    for (size_t i = 0; i < list->count; i++) {
        if (same_finding(&list->items[i], finding)) {
            list->items[i].count += count;
            return;
        }
    }
    copy = append(list, arena);
    *copy = *finding;
    copy->code = arena_strdup(arena, finding->code);
    copy->message = arena_strdup(arena, finding->message);
    copy->file = arena_strdup(arena, finding->file);
    copy->kernel = arena_strdup(arena, finding->kernel);
    copy->hint = arena_strdup(arena, finding->hint);
    copy->count = count;
}

const struct finding *finding_find(const struct finding_list *list, enum finding_code code)
{
    for (size_t i = 0; i < list->count; i++)
        if (same_text(list->items[i].code, codes[code].text))
            return &list->items[i];
    return NULL;
}

static int rank(const struct finding *finding)
{
    return 2 * (int)finding->class + (finding->blame != BLAME_CANDIDATE);
}

void finding_sort(struct finding_list *list)
{
    for (size_t i = 1; i < list->count; i++) { /* insertion: stable, and the list is short */
        struct finding finding = list->items[i];
        size_t place = i;
        for (; place > 0 && rank(&list->items[place - 1]) > rank(&finding); place--)
            list->items[place] = list->items[place - 1];
        list->items[place] = finding;
    }
}

bool finding_blames_candidate(const struct finding_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].class == FINDING_CLASS_ERROR && list->items[i].blame == BLAME_CANDIDATE)
            return true;
    return false;
}

void finding_append_text(struct buffer *out, const struct finding *finding)
{
    (void)buffer_printf(out, "%s %s", finding_class_text(finding->class), finding->code ? finding->code : "unknown");
    if (finding->file)
        (void)buffer_printf(out, " %s", finding->file);
    if (finding->file && finding->line)
        (void)buffer_printf(out, ":%d", finding->line);
    (void)buffer_printf(out, ": %s", finding->message ? finding->message : "");
    if (finding->count > 1)
        (void)buffer_printf(out, " (%lld times)", (long long)finding->count);
    (void)buffer_append_text(out, "\n");
    if (finding->hint)
        (void)buffer_printf(out, "  hint: %s\n", finding->hint);
}

const char *finding_class_text(enum finding_class class)
{
    return (size_t) class < ARRAY_LEN(class_texts) ? class_texts[class] : "unknown";
}

const char *finding_stage_text(enum finding_stage stage)
{
    return (size_t)stage < ARRAY_LEN(stage_texts) ? stage_texts[stage] : "unknown";
}

const char *blame_text(enum blame blame)
{
    return (size_t)blame < ARRAY_LEN(blame_texts) ? blame_texts[blame] : "unknown";
}

const char *finding_code_text(enum finding_code code)
{
    return (size_t)code < ARRAY_LEN(codes) ? codes[code].text : "unknown";
}

const char *finding_code_hint(enum finding_code code)
{
    return (size_t)code < ARRAY_LEN(codes) ? codes[code].hint : NULL;
}
