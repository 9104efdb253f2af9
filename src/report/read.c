#include "report/read.h"

#include <string.h>

#include "base/file.h"
#include "trace/trace_set.h"

static bool has_suffix(const char *text, const char *suffix)
{
    size_t length = strlen(text);
    size_t tail = strlen(suffix);

    return length >= tail && !strcmp(text + length - tail, suffix);
}

static bool read_file(struct turn_set *set, struct leaderboard *board, const char *path, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;

    if (!file_read(path, READ_FILE_MAX, &text, &length, error))
        return false;
    size_t first = strspn(text, " \t\r\n");
    if (has_suffix(path, ".csv") || (first < length && text[first] != '{' && !has_suffix(path, ".jsonl")))
        return read_csv_text(set, text, length, path, error);
    return read_json_text(set, board, text, length, path, error);
}

/* A trajectory's log, from which a run's turns.jsonl derives. */
static bool is_event_log(const char *path)
{
    return strstr(path, "trajectories/") && has_suffix(path, "/events.jsonl");
}

static bool read_files_below(struct turn_set *set, struct leaderboard *board, const char *folder, const char *suffix,
                             size_t *total, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    char **paths;
    size_t count;

    if (!file_list(arena, folder, suffix, &paths, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_event_log(paths[i]))
            continue;
        if (!read_file(set, board, file_join(arena, folder, paths[i]), error))
            return false;
        ++*total;
    }
    return true;
}

/* Authors come from solutions/; a solution that a trace names but the set lacks is its own author. */
static bool read_trace_set(struct turn_set *set, struct leaderboard *board, const char *folder, struct error *error)
{
    AUTO_TRACE_SET *traces = NULL;
    AUTO_ARENA *arena = arena_new();
    size_t count = 0;

    if (!trace_set_open(&folder, 1, &traces, error))
        return false;
    for (size_t i = 0; board && i < trace_set_solution_count(traces); i++) {
        const struct solution *solution = trace_set_solution(traces, i);
        leaderboard_author(board, solution->name, solution->author);
        leaderboard_author(board, solution_unique_name(solution, arena), solution->author);
    }
    return read_files_below(set, board, file_join(arena, folder, "traces"), ".jsonl", &count, error);
}

/* A run that `ptxbench run` wrote: its turns are in one file, whatever else it holds. */
static bool read_run(struct turn_set *set, struct leaderboard *board, const char *folder, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const char *turns = file_join(arena, folder, "turns.jsonl");

    if (file_exists(turns))
        return read_file(set, board, turns, error);
    (void)error_set(error, ERROR_INPUT, "%s: a run without turns.jsonl", folder);
    return error_hint(error, "no turn of it is finished, or it was cut off: resume the run, which writes the file");
}

bool read_path(struct turn_set *set, struct leaderboard *board, const char *path, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    size_t count = 0;

    turn_set_begin(set, path);
    if (!file_exists(path))
        return error_set(error, ERROR_NOT_FOUND, "%s: no such file or folder", path);
    if (!file_is_folder(path))
        return read_file(set, board, path, error);
    if (file_is_folder(file_join(arena, path, "definitions")))
        return read_trace_set(set, board, path, error);
    if (file_exists(file_join(arena, path, "run.json")))
        return read_run(set, board, path, error);
    if (!read_files_below(set, board, path, ".csv", &count, error) ||
        !read_files_below(set, board, path, ".jsonl", &count, error))
        return false;
    return count > 0 || error_set(error, ERROR_INPUT, "%s: holds no .csv and no .jsonl file", path);
}
