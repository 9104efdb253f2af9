#include <stddef.h>
#include <string.h>

#include "agent/pack_internal.h"
#include "base/yaml.h"

/* What libcyaml fills; it is its memory until copied. */
struct yaml_part {
    char *pack, *text, *code, *section, *title;
};

struct yaml_pack {
    char *title, *arch, *max_tokens;
    struct yaml_part *parts;
    unsigned parts_count;
    char **kernels;
    unsigned kernels_count;
};

#define OPTIONAL_TEXT(type, member)                                                                                    \
    CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, CYAML_UNLIMITED)

static const cyaml_schema_field_t part_fields[] = {
    OPTIONAL_TEXT(struct yaml_part, pack),  OPTIONAL_TEXT(struct yaml_part, text),
    OPTIONAL_TEXT(struct yaml_part, code),  OPTIONAL_TEXT(struct yaml_part, section),
    OPTIONAL_TEXT(struct yaml_part, title), CYAML_FIELD_END,
};

static const cyaml_schema_value_t part_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_part, part_fields),
};

static const cyaml_schema_value_t kernel_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED),
};

static const cyaml_schema_field_t pack_fields[] = {
    CYAML_FIELD_STRING_PTR("title", CYAML_FLAG_POINTER, struct yaml_pack, title, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("arch", CYAML_FLAG_POINTER, struct yaml_pack, arch, 1, CYAML_UNLIMITED),
    OPTIONAL_TEXT(struct yaml_pack, max_tokens),
    CYAML_FIELD_SEQUENCE("parts", CYAML_FLAG_POINTER, struct yaml_pack, parts, &part_schema, 1, PACK_PARTS_MAX),
    CYAML_FIELD_SEQUENCE("kernels", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct yaml_pack, kernels, &kernel_schema,
                         0, PACK_PARTS_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t pack_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_pack, pack_fields),
};

static bool check_part(const struct yaml_part *part, const char *path, size_t index, struct error *error)
{
    int kinds = !!part->pack + !!part->text + !!part->code;

    if (kinds != 1)
        return error_set(error, ERROR_INPUT, "%s: parts[%zu]: expected one of pack, text and code, found %d", path,
                         index, kinds);
    if (part->section && !part->code)
        return error_set(error, ERROR_INPUT, "%s: parts[%zu]: a section belongs to code", path, index);
    if (part->title && part->pack)
        return error_set(error, ERROR_INPUT, "%s: parts[%zu]: a pack brings its own titles", path, index);
    return true;
}

static bool copy_pack(struct arena *arena, const struct yaml_pack *from, struct pack_file *file, struct error *error)
{
    int64_t most = 0;

    if (strcmp(from->arch, "sm_90a") != 0 && strcmp(from->arch, "sm_100a") != 0)
        return error_set(error, ERROR_INPUT, "%s: arch: expected sm_90a or sm_100a, found \"%s\"", file->path,
                         from->arch);
    if (from->max_tokens && !yaml_integer(file->path, "max_tokens", from->max_tokens, 0, UINT32_MAX, &most, error))
        return false;
    file->title = arena_strdup(arena, from->title);
    file->arch = arena_strdup(arena, from->arch);
    file->max_tokens = most;
    file->part_count = from->parts_count;
    file->parts = arena_calloc(arena, from->parts_count, sizeof *file->parts);
    for (size_t i = 0; i < from->parts_count; i++) {
        const struct yaml_part *part = &from->parts[i];
        if (!check_part(part, file->path, i, error))
            return false;
        file->parts[i] = (struct pack_file_part){
            .pack = arena_strdup(arena, part->pack),
            .text = arena_strdup(arena, part->text),
            .code = arena_strdup(arena, part->code),
            .section = arena_strdup(arena, part->section),
            .title = arena_strdup(arena, part->title),
        };
    }
    file->kernel_count = from->kernels_count;
    file->kernels = arena_calloc(arena, from->kernels_count, sizeof *file->kernels);
    for (size_t i = 0; i < from->kernels_count; i++)
        file->kernels[i] = arena_strdup(arena, from->kernels[i]);
    return true;
}

bool pack_file_read(struct arena *arena, const char *path, struct pack_file *file, struct error *error)
{
    void *loaded;

    *file = (struct pack_file){.path = path};
    if (!yaml_read_file(path, &pack_schema, &loaded, error))
        return error->code == ERROR_INPUT && error_hint(error, "docs/formats/pack.md has the members of a composition");
    bool ok = copy_pack(arena, loaded, file, error);
    yaml_release(&pack_schema, loaded);
    return ok;
}
