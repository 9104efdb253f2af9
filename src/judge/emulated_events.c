#include "judge/emulated_events.h"

#include <string.h>

#include "base/json.h"

static const char *text_of(struct arena *arena, struct json row, const char *key)
{
    struct json member;
    const char *text;
    struct error error;

    if (!json_optional(row, key, &member) || !json_string(member, &text, &error))
        return NULL;
    return arena_strdup(arena, text);
}

static uint64_t number_in(struct json row, const char *key)
{
    uint64_t value;
    struct error error;

    return json_member_u64(row, key, &value, &error) ? value : 0;
}

/* The last part of a path: a compilation works in a folder of its own. */
static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool same_place(const struct finding *a, const struct finding *b)
{
    return a->file && a->line == b->line && same_text(a->code, b->code) && same_text(a->file, b->file) &&
           same_text(a->kernel, b->kernel);
}

static void read_finding(struct arena *arena, struct json row, enum finding_class class, struct emulated_events *out)
{
    const char *message = text_of(arena, row, "message"), *caller = base_name(text_of(arena, row, "caller_file"));
    struct finding finding = {
        .class = class,
        .stage = STAGE_EMULATOR,
        .blame = BLAME_CANDIDATE,
        .code = text_of(arena, row, "code"),
        .message = message,
        .file = base_name(text_of(arena, row, "file")),
        .line = (int)number_in(row, "line"),
        .kernel = text_of(arena, row, "kernel"),
        .hint = text_of(arena, row, "hint"),
        .count = (int64_t)number_in(row, "count"),
    };

    if (!finding.code || !message)
        return;
    if (caller)
        finding.message =
            arena_printf(arena, "%s (called at %s:%d)", message, caller, (int)number_in(row, "caller_line"));
    if (finding.count < 1)
        finding.count = 1;
    for (size_t i = 0; i < out->findings.count; i++) /* an unrolled loop says the same for every copy */
        if (same_place(&out->findings.items[i], &finding)) {
            out->findings.items[i].count += finding.count;
            return;
        }
    finding_merge(&out->findings, arena, &finding);
}

static void read_launch(struct json row, const char *outcome, struct emulated_events *out)
{
    uint64_t clusters = number_in(row, "clusters"), grid = number_in(row, "grid_clusters");
    double scale = clusters ? (double)grid / (double)clusters : 0;
    struct json families, depends;
    bool depends_on_missing;
    struct error error;

    out->running = NULL;
    out->launches++;
    out->clusters += clusters;
    out->grid_clusters += grid;
    out->sums.scaled |= clusters < grid;
    out->failed |= !outcome || strcmp(outcome, "completed") != 0;
    if (json_optional(row, "depends_on_missing", &depends) && json_boolean(depends, &depends_on_missing, &error))
        out->depends_on_missing |= depends_on_missing;
    out->sums.target_flops += scale * (double)number_in(row, "matrix_work");
    out->sums.legacy_flops += scale * (double)number_in(row, "legacy_work");
    if (!json_optional(row, "families", &families) || json_kind_of(families) != JSON_OBJECT)
        return;
    for (int family = SASS_OTHER + 1; family < SASS_FAMILY_COUNT; family++)
        out->sums.warps[family] += scale * (double)number_in(families, sass_family_text((enum sass_family)family));
}

/* Takes the folder in which the candidate was compiled off the file's name in a text. */
static const char *drop_folder(struct arena *arena, const char *text)
{
    static const char source[] = "/source/";
    const char *end = text ? strstr(text, source) : NULL, *start = end;

    while (start && start > text && start[-1] != ' ')
        start--;
    return end ? arena_printf(arena, "%.*s%s", (int)(start - text), text, end + sizeof source - 1) : text;
}

static void read_row(struct arena *arena, struct json row, struct emulated_events *out)
{
    const char *class = json_kind_of(row) == JSON_OBJECT ? text_of(arena, row, "class") : NULL;

    if (!class)
        return;
    if (!strcmp(class, "start"))
        out->running = text_of(arena, row, "kernel");
    else if (!strcmp(class, "launch"))
        read_launch(row, text_of(arena, row, "outcome"), out);
    else if (!strcmp(class, "unsupported") && !out->unsupported)
        out->unsupported = drop_folder(arena, text_of(arena, row, "message"));
    else if (!strcmp(class, "error"))
        read_finding(arena, row, FINDING_CLASS_ERROR, out);
    else if (!strcmp(class, "hazard"))
        read_finding(arena, row, FINDING_CLASS_HAZARD, out);
    else if (!strcmp(class, "note"))
        read_finding(arena, row, FINDING_CLASS_NOTE, out);
}

void emulated_events_read(struct arena *arena, const char *text, size_t length, struct emulated_events *out)
{
    const char *end = text + length, *line_end;

    *out = (struct emulated_events){0};
    for (const char *line = text; (line_end = memchr(line, '\n', (size_t)(end - line))) != NULL; line = line_end + 1) {
        AUTO_JSON_DOCUMENT *document = NULL;
        struct error error;
        if (json_parse(line, (size_t)(line_end - line), "the emulator's events", 1, &document, &error))
            read_row(arena, json_root(document), out);
    }
}
