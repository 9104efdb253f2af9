#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "toolchain/compile_internal.h"

enum { RESULT_BYTES_MAX = 1 << 16, OBJECT_BYTES_MAX = 1 << 30, TEXT_BYTES_MAX = 512 << 20 };

static const char entry_schema[] = "ptxbench.compile-cache.v2";

static bool write_text(const struct compile_job *job, const char *name, const char *text, size_t length,
                       struct error *error)
{
    return file_write(file_join(job->arena, job->entry, name), text, length, 0644, error);
}

/* Folders of the tools, which differ between the installations that share a cache. The list of files that the
 * preprocessor read names them by a token, so that an entry means the same to all of them. */
enum { ROOTS = 4 };
struct tool_root {
    const char *token;
    const char *path; /* NULL: not found here */
};

static void tool_roots(const struct compile_job *job, struct tool_root roots[ROOTS])
{
    const struct toolchain *tools = job->toolchain;

    roots[0] = (struct tool_root){"@tvm-ffi@", tools->tvm_ffi_root};
    roots[1] = (struct tool_root){"@candidate-include@", tools->candidate_include};
    roots[2] = (struct tool_root){"@cuda-include@", tools->cuda_include};
    roots[3] = (struct tool_root){"@cuda@", tools->cuda_root};
}

static void write_dependency(const struct compile_job *job, const char *path, struct buffer *text)
{
    struct tool_root roots[ROOTS];
    char resolved[PATH_MAX];

    tool_roots(job, roots);
    if (path[0] == '/' && realpath(path, resolved))
        path = resolved;
    for (int i = 0; i < ROOTS; i++) {
        char root[PATH_MAX];
        size_t length = roots[i].path && realpath(roots[i].path, root) ? strlen(root) : 0;
        if (length && !strncmp(path, root, length) && path[length] == '/') {
            (void)buffer_printf(text, "%s%s\n", roots[i].token, path + length);
            return;
        }
    }
    (void)buffer_printf(text, "%s\n", path);
}

/* The path of a stored dependency here. A token of a tool that is not installed here stays: such a file is foreign. */
static const char *read_dependency(const struct compile_job *job, const char *stored, size_t length)
{
    struct tool_root roots[ROOTS];

    tool_roots(job, roots);
    for (int i = 0; i < ROOTS; i++) {
        size_t token = strlen(roots[i].token);
        if (roots[i].path && length > token && !strncmp(stored, roots[i].token, token))
            return arena_printf(job->arena, "%s%.*s", roots[i].path, (int)(length - token), stored + token);
    }
    return arena_strndup(job->arena, stored, length);
}

static bool write_dependencies(const struct compile_job *job, struct error *error)
{
    AUTO_BUFFER text = buffer_new(64 << 20);

    for (size_t i = 0; i < job->output.dependency_count; i++)
        write_dependency(job, job->output.dependencies[i], &text);
    return write_text(job, ENTRY_DEPENDENCIES, text.data, text.length, error);
}

bool compile_entry_write(const struct compile_job *job, struct error *error)
{
    const struct compile_output *output = &job->output;
    AUTO_JSON_OBJECT *object = json_object_new_object();

    json_put_string(object, "schema", entry_schema);
    json_put_string(object, "key", job->key);
    json_put_string(object, "status", compile_status_text(output->status));
    json_put_string(object, "object_sha256", output->object_hash[0] ? output->object_hash : NULL);
    json_put_i64(object, "wall_ns", output->wall_ns);
    json_put_u64(object, "log_dropped_bytes", output->log_dropped_bytes);
    json_put_bool(object, "ptx", output->ptx != NULL);
    json_put_bool(object, "expanded", output->expanded != NULL);
    return write_text(job, ENTRY_LOG, output->log, strlen(output->log), error) && write_dependencies(job, error) &&
           (!output->ptx || write_text(job, ENTRY_PTX, output->ptx, output->ptx_length, error)) &&
           (!output->expanded || write_text(job, ENTRY_EXPANDED, output->expanded, output->expanded_length, error)) &&
           json_write_file(object, file_join(job->arena, job->entry, ENTRY_RESULT), error);
}

static const char *read_text(struct compile_job *job, const char *folder, const char *name, size_t *length)
{
    AUTO_FREE char *text = NULL;
    struct error ignored;

    if (!file_read(file_join(job->arena, folder, name), TEXT_BYTES_MAX, &text, length, &ignored))
        return NULL;
    return arena_strndup(job->arena, text, *length);
}

static bool read_dependencies(struct compile_job *job, const char *folder)
{
    struct compile_output *output = &job->output;
    size_t length, count = 0;
    const char *text = read_text(job, folder, ENTRY_DEPENDENCIES, &length);

    if (!text)
        return false;
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n';
    const char **files = arena_calloc(job->arena, count, sizeof *files);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strcspn(text, "\n");
        files[i] = read_dependency(job, text, bytes);
        text += bytes + 1;
    }
    output->dependencies = files;
    output->dependency_count = count;
    return true;
}

/* The object must be what was stored: a torn or edited file means "compile again", never a wrong verdict. */
static bool check_object(struct compile_job *job, const char *folder, const char *expected)
{
    AUTO_FREE char *bytes = NULL;
    size_t length;
    struct error ignored;

    if (strlen(expected) != HASH_TEXT_BYTES - 1 ||
        !file_read(file_join(job->arena, folder, ENTRY_OBJECT), OBJECT_BYTES_MAX, &bytes, &length, &ignored))
        return false;
    hash_bytes(bytes, length, job->output.object_hash);
    return strcmp(job->output.object_hash, expected) == 0;
}

static bool read_result(struct compile_job *job, struct json root, const char **object_hash, bool *ptx, bool *expanded)
{
    struct compile_output *output = &job->output;
    struct json value;
    const char *schema, *key, *status;
    struct error ignored;
    uint64_t dropped;
    bool ok = json_member_string(root, "schema", &schema, &ignored) && strcmp(schema, entry_schema) == 0 &&
              json_member_string(root, "key", &key, &ignored) && strcmp(key, job->key) == 0 &&
              json_member_string(root, "status", &status, &ignored) && json_member(root, "wall_ns", &value, &ignored) &&
              json_i64(value, &output->wall_ns, &ignored) &&
              json_member_u64(root, "log_dropped_bytes", &dropped, &ignored) &&
              json_member(root, "ptx", &value, &ignored) && json_boolean(value, ptx, &ignored) &&
              json_member(root, "expanded", &value, &ignored) && json_boolean(value, expanded, &ignored);

    if (!ok)
        return false;
    output->log_dropped_bytes = (size_t)dropped;
    output->status = strcmp(status, "ok") == 0 ? COMPILE_OK : COMPILE_FAILED;
    *object_hash = NULL;
    return !json_optional(root, "object_sha256", &value) || json_string(value, object_hash, &ignored);
}

bool compile_entry_read(struct compile_job *job, const char *folder)
{
    struct compile_output *output = &job->output;
    AUTO_JSON_DOCUMENT *document = NULL;
    const char *object_hash;
    bool has_ptx, has_expanded;
    size_t length;
    struct error ignored;

    *output = (struct compile_output){.cacheable = true};
    if (!json_read_file(file_join(job->arena, folder, ENTRY_RESULT), RESULT_BYTES_MAX, &document, &ignored) ||
        !read_result(job, json_root(document), &object_hash, &has_ptx, &has_expanded))
        return false;
    if (output->status == COMPILE_OK && (!object_hash || !check_object(job, folder, object_hash)))
        return false;
    output->log = read_text(job, folder, ENTRY_LOG, &length);
    if (has_ptx)
        output->ptx = read_text(job, folder, ENTRY_PTX, &output->ptx_length);
    if (has_expanded)
        output->expanded = read_text(job, folder, ENTRY_EXPANDED, &output->expanded_length);
    return output->log && read_dependencies(job, folder) && (output->ptx || !has_ptx) &&
           (output->expanded || !has_expanded);
}
