/* Models by name: the files in models/. */
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/resource.h"
#include "llm/model.h"

bool model_config_names(struct arena *arena, const char **folder, char ***names, size_t *count, struct error *error)
{
    *folder = resource_find(arena, "models");
    *count = 0;
    if (!*folder)
        return error_set(error, ERROR_NOT_FOUND, "models: the folder of model files is nowhere") ||
               error_hint(error, "set PTXBENCH_HOME to a source tree, or name a model's file by its path");
    if (!file_list(arena, *folder, ".yaml", names, count, error))
        return false;
    for (size_t i = 0; i < *count; i++)
        (*names)[i] = arena_strndup(arena, (*names)[i], strlen((*names)[i]) - strlen(".yaml"));
    return true;
}

static bool is_path(const char *text)
{
    size_t length = strlen(text);

    return strchr(text, '/') || (length > 5 && !strcmp(text + length - 5, ".yaml"));
}

bool model_config_open(struct arena *arena, const char *name_or_path, struct model_config *model, struct error *error)
{
    AUTO_BUFFER known = buffer_new(400);
    const char *folder;
    char **names;
    size_t count;

    if (is_path(name_or_path))
        return model_config_read(arena, name_or_path, model, error);
    if (!model_config_names(arena, &folder, &names, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(names[i], name_or_path))
            return model_config_read(arena, file_join(arena, folder, arena_printf(arena, "%s.yaml", names[i])), model,
                                     error);
        (void)buffer_printf(&known, "%s%s", i ? ", " : "", names[i]);
    }
    return error_set(error, ERROR_NOT_FOUND, "%s: no such model", name_or_path) ||
           error_hint(error, "models: %s; or name a file by its path", known.data);
}
