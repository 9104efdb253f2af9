#include "agent/prompt_template.h"

#include <string.h>

#include "base/buffer.h"

struct filling {
    const char *file;
    const char *text; /* whole template */
    const struct template_value *values;
    size_t count;
    const char *sections[TEMPLATE_DEPTH_MAX]; /* names of the open ones, in the arena */
    int depth;
    int hidden; /* open sections from the first that is left out */
    struct arena *arena;
    struct buffer out;
};

static int line_of(const struct filling *filling, const char *at)
{
    int line = 1;

    for (const char *c = filling->text; c < at; c++)
        line += *c == '\n';
    return line;
}

static const struct template_value *find_value(const struct filling *filling, const char *name)
{
    for (size_t i = 0; i < filling->count; i++)
        if (!strcmp(filling->values[i].name, name))
            return &filling->values[i];
    return NULL;
}

static bool unknown_name(const struct filling *filling, const char *at, const char *name, struct error *error)
{
    AUTO_BUFFER known = buffer_new(400);

    (void)error_set(error, ERROR_INPUT, "%s:%d: no value for the placeholder \"%s\"", filling->file,
                    line_of(filling, at), name);
    for (size_t i = 0; i < filling->count; i++)
        (void)buffer_printf(&known, "%s%s", i ? ", " : "", filling->values[i].name);
    return error_hint(error, "values here: %s", known.data);
}

static bool open_section(struct filling *filling, const char *at, const char *name, const struct template_value *value,
                         struct error *error)
{
    if (filling->depth == TEMPLATE_DEPTH_MAX)
        return error_set(error, ERROR_INPUT, "%s:%d: more than %d sections inside each other", filling->file,
                         line_of(filling, at), TEMPLATE_DEPTH_MAX);
    filling->sections[filling->depth++] = name;
    if (filling->hidden || !value->text || !*value->text)
        filling->hidden++;
    return true;
}

static bool close_section(struct filling *filling, const char *at, const char *name, struct error *error)
{
    if (!filling->depth || strcmp(filling->sections[filling->depth - 1], name) != 0)
        return error_set(error, ERROR_INPUT, "%s:%d: {{/%s}} closes %s%s", filling->file, line_of(filling, at), name,
                         filling->depth ? "the section of " : "no section",
                         filling->depth ? filling->sections[filling->depth - 1] : "");
    filling->depth--;
    if (filling->hidden)
        filling->hidden--;
    return true;
}

/* Handles "{{...}}" at `at`. `*end` is where the text goes on. */
static bool fill_mark(struct filling *filling, const char *at, const char **end, struct error *error)
{
    const char *close = strstr(at, "}}");
    const char *newline = strchr(at, '\n');

    if (!close || (newline && newline < close))
        return error_set(error, ERROR_INPUT, "%s:%d: \"{{\" without \"}}\"", filling->file, line_of(filling, at));
    bool section = at[2] == '#' || at[2] == '/';
    const char *name = arena_strndup(filling->arena, at + 2 + section, (size_t)(close - at) - 2 - section);
    const struct template_value *value = find_value(filling, name);

    *end = close + 2;
    if (!value)
        return unknown_name(filling, at, name, error);
    if (!section) {
        if (!filling->hidden)
            (void)buffer_append_text(&filling->out, value->text ? value->text : "");
        return true;
    }
    /* a mark alone on its line takes the line with it */
    if ((at == filling->text || at[-1] == '\n') && **end == '\n')
        ++*end;
    return at[2] == '#' ? open_section(filling, at, name, value, error) : close_section(filling, at, name, error);
}

static bool fill(struct filling *filling, struct error *error)
{
    const char *at = filling->text;

    while (*at) {
        const char *mark = strstr(at, "{{");
        size_t length = mark ? (size_t)(mark - at) : strlen(at);
        if (!filling->hidden)
            (void)buffer_append(&filling->out, at, length);
        at += length;
        if (mark && !fill_mark(filling, mark, &at, error))
            return false;
    }
    if (filling->depth)
        return error_set(error, ERROR_INPUT, "%s: the section of %s is not closed", filling->file,
                         filling->sections[filling->depth - 1]);
    if (filling->out.dropped)
        return error_set(error, ERROR_LIMIT, "%s: the text has more than %d bytes", filling->file, TEMPLATE_BYTES_MAX);
    return true;
}

bool template_fill(struct arena *arena, const char *file, const char *text, const struct template_value *values,
                   size_t count, const char **out, struct error *error)
{
    struct filling filling = {.file = file,
                              .text = text,
                              .values = values,
                              .count = count,
                              .arena = arena,
                              .out = buffer_new(TEMPLATE_BYTES_MAX)};
    bool ok = fill(&filling, error);

    if (ok)
        *out = arena_strndup(arena, filling.out.data, filling.out.length);
    buffer_free(&filling.out);
    return ok;
}
