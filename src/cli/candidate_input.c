#include "cli/candidate_input.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "trace/solution.h"

enum { MAX_FILES = 64, MAX_FILE_BYTES = 4 << 20 };

static bool has_suffix(const char *text, const char *suffix)
{
    size_t length = strlen(text), suffix_length = strlen(suffix);

    return length >= suffix_length && !strcmp(text + length - suffix_length, suffix);
}

static bool is_known(const struct candidate_input *input, const char *path)
{
    for (size_t i = 0; i < input->source_count; i++)
        if (!strcmp(input->sources[i].path, path))
            return true;
    return false;
}

static bool add_file(struct arena *arena, const char *root, const char *path, struct candidate_input *input,
                     struct error *error);

/* The name in `#include "name"` of a line, or NULL. A commented-out include costs at most a file that nobody reads. */
static char *quoted_include(struct arena *arena, const char *line, const char *end)
{
    while (line < end && isspace((unsigned char)*line))
        line++;
    if (line == end || *line++ != '#')
        return NULL;
    while (line < end && isspace((unsigned char)*line))
        line++;
    if (end - line < 7 || strncmp(line, "include", 7) != 0)
        return NULL;
    const char *open = memchr(line, '"', (size_t)(end - line));
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    return close ? arena_strndup(arena, open + 1, (size_t)(close - open - 1)) : NULL;
}

static bool add_includes(struct arena *arena, const char *root, const struct compile_source *source,
                         struct candidate_input *input, struct error *error)
{
    const char *end = source->content + source->length;
    char *folder = arena_strdup(arena, source->path);

    *(char *)file_basename(folder) = '\0';
    for (const char *line = source->content; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *line_end = newline ? newline : end;
        char *name = quoted_include(arena, line, line_end);
        char *path = name ? file_join(arena, folder, name) : NULL;
        if (path && !solution_path_problem(path) && !is_known(input, path) &&
            file_exists(file_join(arena, root, path)) && !add_file(arena, root, path, input, error))
            return false;
        line = newline ? newline + 1 : end;
    }
    return true;
}

static bool add_file(struct arena *arena, const char *root, const char *path, struct candidate_input *input,
                     struct error *error)
{
    AUTO_FREE char *content = NULL;
    size_t length;

    if (input->source_count == MAX_FILES)
        return error_set(error, ERROR_LIMIT, "%s: includes more than %d files", input->entry_file, MAX_FILES);
    if (!file_read(file_join(arena, root, path), MAX_FILE_BYTES, &content, &length, error)) {
        if (error->code == ERROR_LIMIT) /* of the file that the user named, not of this machine */
            error->code = ERROR_INPUT;
        return false;
    }
    struct compile_source *source = &input->sources[input->source_count++];
    *source = (struct compile_source){arena_strdup(arena, path), arena_strndup(arena, content, length), length};
    return add_includes(arena, root, source, input, error);
}

static bool read_cuda(struct arena *arena, const char *path, struct candidate_input *out, struct error *error)
{
    const char *base = file_basename(path);
    const char *root = arena_strndup(arena, path, (size_t)(base - path));

    out->name = arena_strndup(arena, base, strcspn(base, "."));
    out->entry_file = arena_strdup(arena, base);
    out->entry_symbol = "run";
    if (!add_file(arena, root, base, out, error))
        return false;
    if (out->sources[0].content[strspn(out->sources[0].content, " \t\r\n")])
        return true;
    (void)error_set(error, ERROR_INPUT, "%s: the file is empty", path);
    return error_hint(error, "write a CUDA kernel with an entry point; kernels/hopper/gemm_simt.cu is an example");
}

static bool take_solution(struct arena *arena, const struct solution *solution, struct candidate_input *out)
{
    for (size_t i = 0; i < solution->source_count; i++)
        out->sources[out->source_count++] = (struct compile_source){arena_strdup(arena, solution->sources[i].path),
                                                                    arena_strdup(arena, solution->sources[i].content),
                                                                    strlen(solution->sources[i].content)};
    out->name = arena_strdup(arena, solution->name);
    out->definition = arena_strdup(arena, solution->definition);
    out->entry_file = arena_strdup(arena, solution->entry_file);
    out->entry_symbol = arena_strdup(arena, solution->entry_symbol);
    out->binding = solution->binding == BINDING_TVM_FFI ? COMPILE_BINDING_TVM_FFI
                   : solution->binding == BINDING_C     ? COMPILE_BINDING_C
                                                        : COMPILE_BINDING_AUTO;
    return true;
}

static bool read_solution(struct arena *arena, const char *path, struct candidate_input *out, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct solution *solution;

    if (!json_read_file(path, (size_t)MAX_FILES * MAX_FILE_BYTES, &document, error) ||
        !solution_parse(json_root(document), arena, &solution, error))
        return false;
    if (solution->source_count > MAX_FILES)
        return error_set(error, ERROR_LIMIT, "%s: more than %d sources", path, MAX_FILES);
    if (solution->language != LANGUAGE_CUDA && solution->language != LANGUAGE_CPP) {
        (void)error_set(error, ERROR_UNSUPPORTED, "%s: solutions in %s are not judged", path,
                        solution_language_text(solution->language));
        return error_hint(error, "submit a CUDA solution with binding tvm-ffi or c");
    }
    if (solution->binding == BINDING_TORCH)
        return error_set(error, ERROR_UNSUPPORTED, "%s: binding torch is not judged; use tvm-ffi or c", path);
    return take_solution(arena, solution, out);
}

bool candidate_input_read(struct arena *arena, const char *path, struct candidate_input *out, struct error *error)
{
    *out = (struct candidate_input){.sources = arena_calloc(arena, MAX_FILES, sizeof *out->sources)};
    if (file_is_folder(path)) {
        (void)error_set(error, ERROR_INPUT, "%s: is a folder", path);
        return error_hint(error, "name one .cu file or a solution .json");
    }
    return has_suffix(path, ".json") ? read_solution(arena, path, out, error) : read_cuda(arena, path, out, error);
}
