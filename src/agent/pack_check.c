#include "agent/pack_check.h"

#include <string.h>

#include "agent/pack_names.h"
#include "base/file.h"
#include "base/resource.h"
#include "toolchain/compile.h"

enum { PROBLEMS_MAX = 64, SOURCE_BYTES_MAX = 1 << 20 };

struct checking {
    struct arena *arena;
    const struct pack *pack;
    const struct pack_check_options *options;
    struct pack_report *report;
    struct pack_problem *problems;
};

static void problem(struct checking *c, const char *check, const char *subject, const char *message)
{
    if (c->report->problem_count < PROBLEMS_MAX)
        c->problems[c->report->problem_count++] =
            (struct pack_problem){check, arena_strdup(c->arena, subject), arena_strdup(c->arena, message)};
}

static bool check_size(struct checking *c, const char *text, struct error *error)
{
    struct pack_report *report = c->report;
    size_t length = strlen(text);

    report->bytes = (int64_t)length;
    report->tokens_estimated = !c->options->tokenizer;
    if (c->options->tokenizer) {
        if (!tokenizer_encode(c->options->tokenizer, text, length, NULL, NULL, &report->tokens, error))
            return false;
    } else {
        report->tokens = tokens_estimate(text, length);
    }
    if (c->pack->max_tokens && report->tokens > c->pack->max_tokens)
        problem(c, "size", c->pack->name,
                arena_printf(c->arena, "%lld tokens, at most %lld are allowed", (long long)report->tokens,
                             (long long)c->pack->max_tokens));
    return true;
}

/* First message of a compilation that is more than a note, with its place; NULL when there is none worth telling. */
static const char *complaint(struct arena *arena, const struct compile_result *result)
{
    if (result->status != COMPILE_OK)
        return result->summary;
    for (size_t i = 0; i < result->diagnostics.count; i++) {
        const struct diagnostic *at = &result->diagnostics.items[i];
        if (at->severity != DIAGNOSTIC_NOTE)
            return arena_printf(arena, "%s:%d: %s", at->file ? at->file : "?", at->line, at->message);
    }
    return NULL;
}

static bool compile(struct checking *c, const char *check, const char *subject, const struct compile_source *sources,
                    size_t count, const char *entry, struct error *error)
{
    struct compile_request request = {
        .sources = sources,
        .source_count = count,
        .entry = entry,
        .binding = COMPILE_BINDING_C,
        .arch = c->pack->arch,
        .cache_root = c->options->cache_root,
    };
    struct compile_result result;

    if (!compile_run(c->options->toolchain, &request, c->arena, &result, error))
        return false;
    const char *said = complaint(c->arena, &result);
    if (said)
        problem(c, check, subject, said);
    return true;
}

static bool has_source(const struct compile_source *sources, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(sources[i].path, path))
            return true;
    return false;
}

/* Headers that a kernel may include: all of a tree that are not there yet. */
static bool add_headers(struct checking *c, const char *root, struct compile_source *sources, size_t *count,
                        struct error *error)
{
    char **paths;
    size_t found;

    if (!root)
        return true;
    if (!file_list(c->arena, root, ".cuh", &paths, &found, error))
        return false;
    for (size_t i = 0; i < found && *count + 1 < COMPILE_SOURCES_MAX; i++) {
        AUTO_FREE char *text = NULL;
        size_t length;
        if (has_source(sources, *count, paths[i]))
            continue;
        if (!file_read(file_join(c->arena, root, paths[i]), SOURCE_BYTES_MAX, &text, &length, error))
            return false;
        sources[(*count)++] = (struct compile_source){paths[i], arena_strndup(c->arena, text, length), length};
    }
    return true;
}

/* `path` below the folder `root`, or NULL. */
static const char *path_below(const char *root, const char *path)
{
    size_t length = root ? strlen(root) : 0;

    return root && !strncmp(path, root, length) && path[length] == '/' ? path + length + 1 : NULL;
}

static bool check_kernel(struct checking *c, const char *path, struct pack_names *names, struct error *error)
{
    const char *own = c->pack->folder, *shipped = resource_find(c->arena, "packs");
    AUTO_FREE char *text = NULL;
    size_t length, count = 0;

    if (!file_read(path, SOURCE_BYTES_MAX, &text, &length, error))
        return false;
    pack_names_add_kernel(names, text);
    c->report->kernels++;
    if (c->options->skip_compile)
        return true;
    const char *entry = path_below(own, path);
    if (!entry)
        entry = path_below(shipped, path);
    if (!entry)
        entry = file_basename(path);
    struct compile_source *sources = arena_calloc(c->arena, COMPILE_SOURCES_MAX, sizeof *sources);
    if (!add_headers(c, own, sources, &count, error) || !add_headers(c, shipped, sources, &count, error))
        return false;
    sources[count++] = (struct compile_source){entry, text, length};
    return compile(c, "kernels", entry, sources, count, entry, error);
}

static bool check_blocks(struct checking *c, const char *text, struct error *error)
{
    AUTO_BUFFER code = buffer_new(PACK_BYTES_MAX);

    c->report->blocks = pack_blocks_collect(text, &code);
    if (!c->report->blocks || c->options->skip_compile)
        return true;
    const struct compile_source source = {"pack.cu", code.data, code.length};
    return compile(c, "compile", c->pack->name, &source, 1, "pack.cu", error);
}

static void check_names(struct checking *c, struct pack_names *names, const char *text)
{
    const char **list;
    size_t count = pack_names_unused(names, &list);

    c->report->functions = pack_names_count(names);
    for (size_t i = 0; c->pack->kernel_count && i < count; i++)
        problem(c, "used", list[i], "no kernel of the pack calls it");
    count = pack_names_undeclared(names, text, &list);
    for (size_t i = 0; i < count; i++)
        problem(c, "names", list[i], "the text names it, and nothing in the pack defines it");
}

bool pack_check(struct arena *arena, const struct pack *pack, const struct pack_check_options *options,
                struct pack_report *report, struct error *error)
{
    struct checking c = {arena, pack, options, report, arena_calloc(arena, PROBLEMS_MAX, sizeof *c.problems)};
    const char *text;

    *report = (struct pack_report){.problems = c.problems};
    if (!pack_text(arena, pack, &text, error)) {
        if (error->code != ERROR_INPUT && error->code != ERROR_LIMIT)
            return false;
        problem(&c, "resolve", pack->name, error->message);
        return true;
    }
    struct pack_names *names = pack_names_new(arena, text);
    if (!check_size(&c, text, error) || !check_blocks(&c, text, error))
        return false;
    for (size_t i = 0; i < pack->kernel_count; i++)
        if (!check_kernel(&c, pack->kernels[i], names, error))
            return false;
    check_names(&c, names, text);
    return true;
}
