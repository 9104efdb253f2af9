/* `ptxbench prompt show`, `extract`, `feedback`, `notes`. */
#include <stdio.h>
#include <string.h>

#include "agent/extract.h"
#include "agent/feedback.h"
#include "agent/notes.h"
#include "agent/pack.h"
#include "agent/prompt.h"
#include "base/buffer.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/prompt_internal.h"
#include "cli/task_roots.h"

enum { TEXT_BYTES = 8 << 20 };

static bool read_standard_input(struct arena *arena, const char **out, size_t *length, struct error *error)
{
    AUTO_BUFFER text = buffer_new(TEXT_BYTES);
    char piece[16384];
    size_t got;

    while ((got = fread(piece, 1, sizeof piece, stdin)) > 0)
        if (!buffer_append(&text, piece, got))
            return error_set(error, ERROR_LIMIT, "standard input: more than %d bytes", TEXT_BYTES);
    *out = arena_strndup(arena, text.data, text.length);
    *length = text.length;
    return true;
}

/* A file in the arena; "-" is standard input, NULL gives NULL. */
static bool read_text(struct arena *arena, const char *path, const char **out, size_t *length, struct error *error)
{
    AUTO_FREE char *text = NULL;

    *out = NULL;
    *length = 0;
    if (!path)
        return true;
    if (!strcmp(path, "-"))
        return read_standard_input(arena, out, length, error);
    if (!file_read(path, TEXT_BYTES, &text, length, error))
        return false;
    *out = arena_strndup(arena, text, *length);
    return true;
}

static bool has_suffix(const char *text, const char *suffix)
{
    size_t length = strlen(text);

    return length >= strlen(suffix) && !strcmp(text + length - strlen(suffix), suffix);
}

/* The pack that --pack or --variant names; NULL for neither. */
static bool read_pack(struct arena *arena, const struct prompt_options *options, const struct prompt_task *task,
                      const char **out, struct error *error)
{
    const struct definition *definition = task->workload->definition;
    const char *name = options->pack;
    enum pack_family family;
    struct pack *pack;
    size_t length;

    *out = NULL;
    if (name && options->variant)
        return error_set(error, ERROR_USAGE, "--pack and --variant both name a pack");
    if (name && (has_suffix(name, ".md") || has_suffix(name, ".txt")))
        return read_text(arena, name, out, &length, error);
    if (options->variant) {
        int index = (int)options->variant - 1;
        name = pack_family_of(definition->op_type, definition->name, &family)
                   ? pack_variant_for(family, task->arch, index)
                   : NULL;
        if (!name) {
            (void)error_set(error, ERROR_NOT_FOUND, "%s has no prompt variant %d on %s", definition->name, index,
                            task->arch);
            return error_hint(error, "ptxbench pack list shows which there are; --pack names one");
        }
    }
    return !name || (pack_open(arena, name, &pack, error) && pack_text(arena, pack, out, error));
}

/* The messages of one call. */
struct messages {
    json_object *list;
    bool json;
};

static void put_message(struct messages *messages, const char *role, const char *text)
{
    json_object *message;

    if (!messages->json) {
        size_t length = strlen(text);
        (void)printf("%s%s", text, length && text[length - 1] == '\n' ? "" : "\n");
        return;
    }
    message = json_object_new_object();
    json_put_string(message, "role", role);
    json_put_string(message, "content", text);
    (void)json_object_array_add(messages->list, message);
}

static bool print_messages(struct messages *messages, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!messages->json)
        return true;
    if (!json_to_text(messages->list, true, &text, error))
        return false;
    (void)puts(text);
    return true;
}

static bool show_parts(struct arena *arena, const struct prompt_options *options, const struct prompt_task *task,
                       struct messages *messages, struct error *error)
{
    const char *part = options->part ? options->part : "all";
    bool all = !strcmp(part, "all");
    struct prompt_turn turn = {.turn = 2, .turn_limit = 8};
    const char *source;
    const char *text;
    size_t length;

    if (!read_text(arena, options->feedback, &turn.feedback, &length, error) ||
        !read_text(arena, options->source, &source, &length, error))
        return false;
    if (all || !strcmp(part, "system")) {
        if (!prompt_system(arena, task, &text, error))
            return false;
        put_message(messages, "system", text);
    }
    if (all || !strcmp(part, "task")) {
        if (!prompt_first_turn(arena, task, &text, error))
            return false;
        put_message(messages, "user", text);
    } else if (!strcmp(part, "turn")) {
        if (!prompt_next_turn(arena, task, &turn, &text, error))
            return false;
        put_message(messages, "user", text);
    } else if (!strcmp(part, "repair")) {
        if (!source)
            return error_set(error, ERROR_USAGE, "--part repair needs --source, the wrong kernel");
        if (!prompt_repair(arena, task, source, turn.feedback ? turn.feedback : "", NULL, &text, error))
            return false;
        put_message(messages, "user", text);
    } else if (strcmp(part, "system") != 0) {
        return error_set(error, ERROR_USAGE, "--part: \"%s\" is not system, task, turn, repair or all", part);
    }
    return true;
}

bool prompt_show(const struct prompt_options *options, int *status, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_TRACE_SET *set = NULL;
    AUTO_JSON_OBJECT *list = json_object_new_array();
    struct messages messages = {list, options->json};
    struct prompt_task task = {.arch = options->arch ? options->arch : "sm_90a",
                               .language = options->language ? options->language : "cuda-ptx",
                               .binding = options->binding,
                               .target_speedup = options->goal};
    struct workload *resized;
    size_t length;

    *status = CLI_PASSED;
    if (!options->task)
        return error_set(error, ERROR_USAGE, "show needs --task");
    if (!task_roots_open(options->roots, options->root_count, &set, error) ||
        !trace_set_find_workload(set, options->task, options->workload, &task.workload, error) ||
        !read_pack(arena, options, &task, &task.pack_text, error) ||
        !read_text(arena, options->guidance, &task.guidance, &length, error))
        return false;
    if (options->axes) {
        if (!workload_resize(task.workload, options->axes, arena, &resized, error))
            return false;
        task.workload = resized;
    }
    return show_parts(arena, options, &task, &messages, error) && print_messages(&messages, error);
}

static bool print_extract_json(const struct extract_result *result, struct error *error)
{
    AUTO_JSON_OBJECT *root = json_object_new_object();
    AUTO_FREE char *text = NULL;

    json_put_string(root, "status", extract_status_text(result->status));
    json_put_string(root, "reason", result->reason);
    json_put_i64(root, "blocks", result->blocks);
    json_put_string(root, "code", result->code.length ? result->code.text : NULL);
    if (!json_to_text(root, true, &text, error))
        return error_hint(error, "the answer holds bytes that are not UTF-8; leave out --json");
    (void)puts(text);
    return true;
}

bool prompt_extract(const struct prompt_options *options, int *status, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct extract_result result;
    const char *answer;
    size_t length;

    if (!read_text(arena, options->arguments[0], &answer, &length, error))
        return false;
    extract_code_of(answer, length, prompt_extract_language(options->language), arena, &result);
    *status = result.status == EXTRACT_FOUND || result.status == EXTRACT_UNSURE ? CLI_PASSED : CLI_FAILED;
    if (options->json)
        return print_extract_json(&result, error);
    if (options->question)
        (void)fputs(result.status == EXTRACT_UNSURE ? extract_question(arena, &result) : "", stdout);
    else
        (void)fwrite(result.code.text, 1, result.code.length, stdout);
    (void)fprintf(stderr, "%s: %s\n", extract_status_text(result.status), result.reason);
    return true;
}

/* The name by which the verdict speaks of the file `path`; NULL when it never does. */
static const char *name_in_verdict(const struct verdict *verdict, const char *path)
{
    const char *name = path ? file_basename(path) : NULL;

    for (size_t i = 0; name && i < verdict->compile.diagnostics.count; i++)
        if (verdict->compile.diagnostics.items[i].file && !strcmp(verdict->compile.diagnostics.items[i].file, name))
            return name;
    for (size_t i = 0; name && i < verdict->findings.count; i++)
        if (verdict->findings.items[i].file && !strcmp(verdict->findings.items[i].file, name))
            return name;
    return NULL;
}

bool prompt_feedback(const struct prompt_options *options, int *status, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_DOCUMENT *document = NULL;
    struct feedback_options how = {.limit_bytes = (size_t)options->limit,
                                   .secret = options->secret,
                                   .file = options->file,
                                   .target_speedup = options->goal};
    const char *path = options->argument_count > 1 ? options->arguments[1] : NULL;
    struct verdict *verdict;
    const char *source;
    const char *text;
    size_t length;

    *status = CLI_PASSED;
    if (!json_read_file(options->arguments[0], TEXT_BYTES, &document, error) ||
        !verdict_from_json(json_root(document), arena, &verdict, error) ||
        !read_text(arena, path, &source, &length, error))
        return false;
    if (!how.file)
        how.file = name_in_verdict(verdict, path);
    if (!feedback_write(arena, verdict, source, &how, &text, error))
        return false;
    (void)fputs(text, stdout);
    return true;
}

bool prompt_notes(const struct prompt_options *options, int *status, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_NOTES *notes = NULL;
    struct notes_query query = {.op_type = options->op_type,
                                .arch = options->arch,
                                .hold_out = options->hold_out,
                                .most = (size_t)options->most};
    struct notes_text_options how = {options->with_fix, (size_t)options->limit};
    struct notes_hit *hits;
    size_t count;
    size_t length;

    if (!read_text(arena, options->arguments[1], &query.source, &length, error) ||
        !notes_open(options->arguments[0], &notes, error) || !notes_find(notes, arena, &query, &hits, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        (void)fprintf(stderr, "%8.3f  %s  %s%s\n", hits[i].score, hits[i].id, hits[i].definition,
                      hits[i].fixed ? "  (has a repaired kernel)" : "");
    (void)fputs(notes_text(arena, hits, count, &how), stdout);
    *status = count ? CLI_PASSED : CLI_FAILED;
    return true;
}
