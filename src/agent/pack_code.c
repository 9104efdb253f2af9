#include <string.h>

#include "agent/pack_internal.h"

static const char section_mark[] = "// [section ";
static const char end_mark[] = "// [end]";

static bool begins(const char *line, const char *word)
{
    return !strncmp(line, word, strlen(word));
}

/* The name in "// [section NAME]" is `name`. */
static bool opens(const char *line, const char *name)
{
    size_t length = strlen(name);

    line += strlen(section_mark);
    return !strncmp(line, name, length) && line[length] == ']';
}

/* Lines that only a file needs: the pack is one text. */
static bool belongs_to_file(const char *line)
{
    return begins(line, "#pragma once") || begins(line, "#include \"") || begins(line, section_mark) ||
           begins(line, end_mark);
}

bool pack_code_extract(const char *source, const struct pack_part *part, struct buffer *out, struct error *error)
{
    bool inside = !part->section, found = inside;
    bool after_blank = true; /* no blank line in front, and never two */

    for (const char *line = source, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        if (part->section && begins(line, section_mark)) {
            inside = opens(line, part->section);
            found = found || inside;
        } else if (part->section && inside && begins(line, end_mark)) {
            inside = false;
        } else if (inside && !belongs_to_file(line) && (length || !after_blank)) {
            if (!buffer_append(out, line, length) || !buffer_append_text(out, "\n"))
                return error_set(error, ERROR_LIMIT, "%s: too long", part->name);
            after_blank = !length;
        }
    }
    if (!found)
        return error_set(error, ERROR_INPUT, "%s: no section \"%s\"", part->name, part->section);
    if (part->section && inside)
        return error_set(error, ERROR_INPUT, "%s: section \"%s\" has no end", part->name, part->section);
    return true;
}
