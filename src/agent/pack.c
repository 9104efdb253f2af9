#include "agent/pack.h"

#include <string.h>

#include "agent/pack_internal.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/resource.h"

enum { SOURCE_BYTES_MAX = 256 << 10 };

static const char *shipped_folder(struct arena *arena)
{
    return resource_find(arena, "packs");
}

/* The file NAME of a pack: beside its YAML file, or among the shipped ones. */
static const char *find_file(struct arena *arena, const char *folder, const char *name)
{
    const char *shipped = shipped_folder(arena);
    const char *path = file_join(arena, folder, name);

    if (file_exists(path) || !shipped)
        return file_exists(path) ? path : NULL;
    path = file_join(arena, shipped, name);
    return file_exists(path) ? path : NULL;
}

static const char *find_composition(struct arena *arena, const char *folder, const char *name)
{
    size_t length = strlen(name);
    bool is_path = strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml"));

    if (is_path && file_exists(name))
        return arena_strdup(arena, name);
    return is_path ? NULL : find_file(arena, folder ? folder : "/nowhere", arena_printf(arena, "%s.yaml", name));
}

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
}

static const char *name_of(struct arena *arena, const char *path)
{
    const char *base = file_basename(path), *dot = strrchr(base, '.');

    return arena_strndup(arena, base, dot ? (size_t)(dot - base) : strlen(base));
}

/* Resolution of one composition with those nested in it. */
struct resolving {
    struct arena *arena;
    struct pack_part parts[PACK_PARTS_MAX];
    size_t part_count;
    const char *kernels[PACK_PARTS_MAX];
    size_t kernel_count;
    const char *open[PACK_DEPTH_MAX]; /* paths of the compositions being resolved, for cycles */
};

static bool resolve(struct resolving *state, const char *path, size_t depth, struct pack_file *top,
                    struct error *error);

static bool add_kernels(struct resolving *state, const struct pack_file *file, const char *folder, struct error *error)
{
    for (size_t i = 0; i < file->kernel_count; i++) {
        const char *path = find_file(state->arena, folder, file->kernels[i]);
        bool known = false;
        if (!path)
            return error_set(error, ERROR_NOT_FOUND, "%s: kernels[%zu]: no file \"%s\"", file->path, i,
                             file->kernels[i]);
        for (size_t k = 0; k < state->kernel_count; k++)
            known = known || !strcmp(state->kernels[k], path);
        if (known)
            continue;
        if (state->kernel_count == PACK_PARTS_MAX)
            return error_set(error, ERROR_LIMIT, "%s: more than %d kernels", file->path, PACK_PARTS_MAX);
        state->kernels[state->kernel_count++] = path;
    }
    return true;
}

static bool add_nested(struct resolving *state, const struct pack_file *file, size_t index, const char *folder,
                       size_t depth, struct error *error)
{
    const char *name = file->parts[index].pack;
    const char *path = find_composition(state->arena, folder, name);
    struct pack_file nested;

    if (!path)
        return error_set(error, ERROR_NOT_FOUND, "%s: parts[%zu]: no pack \"%s\"", file->path, index, name);
    if (!resolve(state, path, depth + 1, &nested, error))
        return false;
    if (nested.arch && file->arch && strcmp(nested.arch, file->arch) != 0)
        return error_set(error, ERROR_INPUT, "%s: parts[%zu]: pack \"%s\" is for %s, this one for %s", file->path,
                         index, name, nested.arch, file->arch);
    return true;
}

static bool add_part(struct resolving *state, const struct pack_file *file, size_t index, const char *folder,
                     struct error *error)
{
    const struct pack_file_part *from = &file->parts[index];
    const char *name = from->text ? from->text : from->code;
    const char *path = find_file(state->arena, folder, name);

    if (!path)
        return error_set(error, ERROR_NOT_FOUND, "%s: parts[%zu]: no file \"%s\"", file->path, index, name);
    if (state->part_count == PACK_PARTS_MAX)
        return error_set(error, ERROR_LIMIT, "%s: more than %d parts", file->path, PACK_PARTS_MAX);
    struct pack_part *into = &state->parts[state->part_count++];
    into->kind = from->text ? PACK_TEXT : PACK_CODE;
    into->path = path;
    into->name = name;
    into->section = from->section;
    into->title = from->title;
    return true;
}

static bool resolve(struct resolving *state, const char *path, size_t depth, struct pack_file *top, struct error *error)
{
    const char *folder = folder_of(state->arena, path);

    if (depth == PACK_DEPTH_MAX)
        return error_set(error, ERROR_LIMIT, "%s: packs are nested deeper than %d", path, PACK_DEPTH_MAX);
    for (size_t i = 0; i < depth; i++)
        if (!strcmp(state->open[i], path))
            return error_set(error, ERROR_INPUT, "%s: this pack contains itself", path);
    state->open[depth] = path;
    if (!pack_file_read(state->arena, path, top, error))
        return false;
    for (size_t i = 0; i < top->part_count; i++)
        if (!(top->parts[i].pack ? add_nested(state, top, i, folder, depth, error)
                                 : add_part(state, top, i, folder, error)))
            return false;
    return add_kernels(state, top, folder, error);
}

bool pack_open(struct arena *arena, const char *name_or_path, struct pack **pack, struct error *error)
{
    const char *path = find_composition(arena, shipped_folder(arena), name_or_path);
    struct resolving *state = arena_alloc(arena, sizeof *state);
    struct pack_file top;

    state->arena = arena;
    if (!path) {
        (void)error_set(error, ERROR_NOT_FOUND, "no pack \"%s\"", name_or_path);
        return error_hint(error, "'ptxbench pack list' names those that ship; a file of your own ends in .yaml");
    }
    if (!resolve(state, path, 0, &top, error))
        return false;
    struct pack *made = arena_alloc(arena, sizeof *made);
    made->name = name_of(arena, path);
    made->path = path;
    made->folder = folder_of(arena, path);
    made->title = top.title;
    made->arch = top.arch;
    made->max_tokens = top.max_tokens;
    made->parts = state->parts;
    made->part_count = state->part_count;
    made->kernels = state->kernels;
    made->kernel_count = state->kernel_count;
    *pack = made;
    return true;
}

static bool add_text(struct buffer *out, const struct pack_part *part, const char *text, size_t length,
                     struct error *error)
{
    while (length && text[length - 1] == '\n')
        length--;
    bool ok = !out->length || buffer_append_text(out, "\n\n");
    if (part->title)
        ok = ok && buffer_printf(out, "### %s\n\n", part->title);
    if (part->kind == PACK_CODE)
        ok = ok && buffer_append_text(out, "```cuda\n");
    ok = ok && buffer_append(out, text, length);
    if (part->kind == PACK_CODE)
        ok = ok && buffer_append_text(out, "\n```");
    return ok || error_set(error, ERROR_LIMIT, "%s: the pack is longer than %d bytes", part->name, PACK_BYTES_MAX);
}

bool pack_text(struct arena *arena, const struct pack *pack, const char **text, struct error *error)
{
    AUTO_BUFFER out = buffer_new(PACK_BYTES_MAX);

    for (size_t i = 0; i < pack->part_count; i++) {
        const struct pack_part *part = &pack->parts[i];
        AUTO_FREE char *source = NULL;
        AUTO_BUFFER code = buffer_new(SOURCE_BYTES_MAX);
        size_t length;
        if (!file_read(part->path, SOURCE_BYTES_MAX, &source, &length, error))
            return false;
        if (part->kind == PACK_TEXT) {
            if (!add_text(&out, part, source, length, error))
                return false;
        } else if (!pack_code_extract(source, part, &code, error) ||
                   !add_text(&out, part, code.data, code.length, error)) {
            return false;
        }
    }
    if (!buffer_append_text(&out, "\n"))
        return error_set(error, ERROR_LIMIT, "%s: the pack is longer than %d bytes", pack->path, PACK_BYTES_MAX);
    *text = arena_strndup(arena, out.data, out.length);
    return true;
}

bool pack_list(struct arena *arena, char ***names, size_t *count, struct error *error)
{
    const char *folder = shipped_folder(arena);
    char **paths;
    size_t found, kept = 0;

    if (!folder) {
        (void)error_set(error, ERROR_NOT_FOUND, "the folder \"packs\" is missing");
        return error_hint(error, "set PTXBENCH_HOME to the source tree, or install ptxbench again");
    }
    if (!file_list(arena, folder, ".yaml", &paths, &found, error))
        return false;
    for (size_t i = 0; i < found; i++)
        if (!strchr(paths[i], '/'))
            paths[kept++] = arena_strndup(arena, paths[i], strlen(paths[i]) - 5);
    *names = paths;
    *count = kept;
    return true;
}
