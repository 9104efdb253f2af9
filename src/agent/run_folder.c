#include "agent/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"

enum { PLAN_BYTES_MAX = 256 << 20, PROMPT_BYTES_MAX = 16 << 20 };

bool run_folder_is_run(const char *path)
{
    AUTO_ARENA *arena = arena_new();

    return file_exists(file_join(arena, path, "run.json"));
}

bool run_folder_open(struct arena *arena, const char *path, bool create, struct run_folder *out, struct error *error)
{
    bool exists = run_folder_is_run(path);

    *out = (struct run_folder){.arena = arena, .path = arena_strdup(arena, path), .lock = -1};
    if (create && exists) {
        (void)error_set(error, ERROR_USAGE, "%s: holds a run already", path);
        return error_hint(error, "'ptxbench run --resume %s' goes on with it", path);
    }
    if (!create && !exists)
        return error_set(error, ERROR_NOT_FOUND, "%s: is no run: it holds no run.json", path);
    if (!file_make_folder(file_join(arena, path, "prompts"), error) ||
        !file_make_folder(file_join(arena, path, "trajectories"), error))
        return false;
    out->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->lock < 0)
        return error_system(error, errno, "%s: cannot open", path);
    if (flock(out->lock, LOCK_EX | LOCK_NB)) {
        run_folder_close(out);
        return error_set(error, ERROR_SYSTEM, "%s: another process works on this run", path);
    }
    const char *scratch = file_join(arena, path, "scratch");
    (void)file_remove_tree(scratch);
    return file_make_folder(scratch, error);
}

void run_folder_close(struct run_folder *folder)
{
    if (folder->lock >= 0)
        (void)close(folder->lock);
    folder->lock = -1;
}

bool run_folder_write_plan(const struct run_folder *folder, const struct run_config *config, const struct plan *plan,
                           const char *version, struct error *error)
{
    AUTO_JSON_OBJECT *run = json_object_new_object();
    char now[32];

    clock_utc_text(now);
    json_put_string(run, "schema", RUN_SCHEMA);
    json_put_string(run, "name", config->name);
    json_put_string(run, "version", version);
    json_put_string(run, "time", now);
    json_put(run, "config", run_config_to_json(config));
    json_put(run, "trajectories", plan_to_json(plan));
    return json_write_file(run, file_join(folder->arena, folder->path, "run.json"), error);
}

bool run_folder_read_plan(struct arena *arena, const char *path, struct run_config *config, const char ***names,
                          struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct json at;
    const char *text;

    if (!json_read_file(file_join(arena, path, "run.json"), PLAN_BYTES_MAX, &document, error) ||
        !json_member_string(json_root(document), "schema", &text, error))
        return false;
    if (strcmp(text, RUN_SCHEMA) != 0)
        return json_error(json_root(document), error, "schema \"%.40s\" is not " RUN_SCHEMA, text);
    if (!json_member(json_root(document), "config", &at, error) || !run_config_from_json(at, arena, config, error) ||
        !json_member(json_root(document), "trajectories", &at, error) || !json_expect(at, JSON_ARRAY, error))
        return false;
    size_t count = json_length(at);
    *names = arena_calloc(arena, count + 1, sizeof **names);
    for (size_t i = 0; i < count; i++) {
        if (!json_member_string(json_at(at, i), "name", &text, error))
            return false;
        if (strchr(text, '/') || *text == '.' || !*text)
            return json_error(json_at(at, i), error, "\"%.40s\" is no name of a trajectory", text);
        (*names)[i] = arena_strdup(arena, text);
    }
    return true;
}

bool run_folder_put_prompt(const struct run_folder *folder, const char *text, char sha256[65], struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    size_t length = strlen(text);

    hash_bytes(text, length, sha256);
    const char *path = arena_printf(arena, "%s/prompts/%s.txt", folder->path, sha256);
    return file_exists(path) || file_write(path, text, length, 0644, error);
}

bool run_folder_get_prompt(struct arena *arena, const char *folder, const char *sha256, const char **text,
                           struct error *error)
{
    const char *path = arena_printf(arena, "%s/prompts/%s.txt", folder, sha256 ? sha256 : "");
    AUTO_FREE char *bytes = NULL;
    char found[HASH_TEXT_BYTES];
    size_t length;

    if (!file_read(path, PROMPT_BYTES_MAX, &bytes, &length, error))
        return false;
    hash_bytes(bytes, length, found);
    if (!sha256 || strcmp(found, sha256) != 0)
        return error_set(error, ERROR_INPUT, "%s: its content is not what its name says", path);
    *text = arena_strndup(arena, bytes, length);
    return true;
}

char *run_folder_log(struct arena *arena, const char *folder, const char *name)
{
    return arena_printf(arena, "%s/trajectories/%s/events.jsonl", folder, name);
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

bool run_folder_put_file(const struct run_folder *folder, const char *name, const char *file, const char *bytes,
                         size_t length, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    char *path = arena_printf(arena, "%s/trajectories/%s/%s", folder->path, name, file);
    char *temporary = arena_printf(arena, "%s.new", path);
    char *below = arena_strdup(arena, path);

    *strrchr(below, '/') = '\0';
    if (mkdir(below, 0777) && errno != EEXIST)
        return error_system(error, errno, "%s: cannot be made", below);
    AUTO_CLOSE int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || !write_all(fd, bytes, length) || rename(temporary, path))
        return error_system(error, errno, "%s: cannot be written", path);
    return true;
}
