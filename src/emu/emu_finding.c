#include "emu/emu_finding.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FINDINGS_MAX = 200 };

struct emu_findings {
    struct arena *arena;
    struct emu_finding items[FINDINGS_MAX];
    size_t count;
};

struct code_row {
    const char *text;
    enum emu_class class;
    const char *hint;
};

static const struct code_row rows[EMU_CODE_COUNT] = {
#define X(name, text, class, hint) [name] = {text, class, hint},
    EMU_CODES(X)
#undef X
};

struct emu_findings *emu_findings_new(void)
{
    struct emu_findings *findings = calloc(1, sizeof *findings);

    if (findings)
        findings->arena = arena_new();
    return findings;
}

void emu_findings_free(struct emu_findings *findings)
{
    if (!findings)
        return;
    arena_free(findings->arena);
    free(findings);
}

void emu_findings_clear(struct emu_findings *findings)
{
    arena_free(findings->arena);
    findings->arena = arena_new();
    findings->count = 0;
}

size_t emu_findings_count(const struct emu_findings *findings)
{
    return findings->count;
}

const struct emu_finding *emu_findings_at(const struct emu_findings *findings, size_t index)
{
    return &findings->items[index];
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* An unrolled loop has a source line many times in the PTX. */
static bool is_same_place(const struct emu_finding *a, const struct emu_finding *b)
{
    const struct ptx_source *x = &a->source, *y = &b->source;

    return a->ptx_line == b->ptx_line ||
           (x->file && x->line == y->line && x->caller_line == y->caller_line && is_same_text(x->file, y->file) &&
            is_same_text(x->caller_file, y->caller_file));
}

static struct emu_finding *find_equal(struct emu_findings *findings, const struct emu_finding *where)
{
    for (size_t i = 0; i < findings->count; i++) {
        struct emu_finding *finding = &findings->items[i];

        if (finding->code == where->code && is_same_place(finding, where) &&
            is_same_text(finding->kernel, where->kernel))
            return finding;
    }
    return NULL;
}

void emu_findings_add(struct emu_findings *findings, const struct emu_finding *where, const char *format, ...)
{
    struct emu_finding *equal = find_equal(findings, where);

    if (equal) {
        equal->count++;
        return;
    }
    if (findings->count == FINDINGS_MAX)
        return;

    struct emu_finding *finding = &findings->items[findings->count++];
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *finding = *where;
    finding->message = arena_strdup(findings->arena, text);
    finding->kernel = arena_strdup(findings->arena, where->kernel);
    finding->source.file = arena_strdup(findings->arena, where->source.file);
    finding->source.caller_file = arena_strdup(findings->arena, where->source.caller_file);
    finding->count = 0;
}

const struct emu_finding *emu_findings_root(const struct emu_findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        if (emu_code_class(findings->items[i].code) != EMU_NOTE)
            return &findings->items[i];
    return findings->count ? &findings->items[0] : NULL;
}

const char *emu_code_text(enum emu_code code)
{
    return (unsigned)code < EMU_CODE_COUNT ? rows[code].text : "unknown";
}

enum emu_class emu_code_class(enum emu_code code)
{
    return rows[code].class;
}

const char *emu_code_hint(enum emu_code code)
{
    return rows[code].hint;
}

const char *emu_class_text(enum emu_class class)
{
    static const char *const texts[] = {[EMU_ERROR] = "error", [EMU_HAZARD] = "hazard", [EMU_NOTE] = "note"};

    return texts[class];
}
