/* Where a run folder keeps what belongs to a turn: trajectories/NAME/turn_N/kernel.cu and verdict.json. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/html.h"

struct html_links {
    struct arena *arena;
    const char *page; /* absolute folder of the page; NULL: unknown, no links */
    /* of the trajectory that was asked for last */
    const struct trajectory *trajectory;
    const char *folder; /* NULL: it has none */
};

static char *absolute(struct arena *arena, const char *path)
{
    char resolved[PATH_MAX];

    return realpath(path, resolved) ? arena_strdup(arena, resolved) : NULL;
}

struct html_links *html_links_new(struct arena *arena, const char *folder)
{
    struct html_links *links = arena_alloc(arena, sizeof *links);

    links->arena = arena;
    links->page = absolute(arena, folder && *folder ? folder : ".");
    return links;
}

/* A name that is one part of a path. */
static bool is_plain(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

/* The run folder itself, the folder of the file that was named, or the run's folder in a folder of runs. */
static const char *find_folder(struct arena *arena, const struct series *series, const struct trajectory *trajectory)
{
    const char *slash = strrchr(series->source, '/');
    const char *beside =
        slash ? arena_strndup(arena, series->source, (size_t)(slash - series->source) + 1) : arena_strdup(arena, ".");
    const char *below = is_plain(series->run) ? file_join(arena, series->source, series->run) : series->source;
    const char *roots[] = {file_is_folder(series->source) ? series->source : beside, below};

    if (!is_plain(trajectory->name))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
        const char *folder = arena_printf(arena, "%s/trajectories/%s", roots[i], trajectory->name);
        if (file_is_folder(folder))
            return absolute(arena, folder);
    }
    return NULL;
}

static void write_encoded(struct buffer *out, const char *path)
{
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (isalnum(c) || strchr("/-._~", c))
            (void)buffer_append(out, path, 1);
        else
            (void)buffer_printf(out, "%%%02X", c);
    }
}

/* `to` as seen from the folder `from`, both absolute. */
static const char *relative(struct arena *arena, const char *from, const char *to)
{
    AUTO_BUFFER out = buffer_new(1 << 16);
    size_t common = 0;
    size_t at = 0;

    for (; from[at] && from[at] == to[at]; at++)
        if (from[at] == '/')
            common = at;
    if (!from[at] && to[at] == '/')
        common = at;
    (void)buffer_append_text(&out, "./");
    if (from[common])
        for (const char *c = from + common; *c; c++)
            if (*c == '/' && c[1])
                (void)buffer_append_text(&out, "../");
    write_encoded(&out, to + common + 1);
    return arena_strdup(arena, out.data);
}

const char *html_link(struct html_links *links, const struct series *series, const struct trajectory *trajectory,
                      int turn, const char *name)
{
    const char *path;

    if (!links->page)
        return NULL;
    if (links->trajectory != trajectory) {
        links->trajectory = trajectory;
        links->folder = find_folder(links->arena, series, trajectory);
    }
    if (!links->folder)
        return NULL;
    path = arena_printf(links->arena, "%s/turn_%d/%s", links->folder, turn, name);
    return file_exists(path) ? relative(links->arena, links->page, path) : NULL;
}
