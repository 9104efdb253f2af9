#include "trace/fields.h"

#include <math.h>
#include <string.h>

static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t\r\n")];
}

static bool read_text(struct json at, const char **out, struct error *error)
{
    if (!json_string(at, out, error))
        return false;
    return is_blank(*out) ? json_error(at, error, "must not be empty") : true;
}

bool field_text(struct json object, const char *key, const char **out, struct error *error)
{
    struct json member;

    return json_member(object, key, &member, error) && read_text(member, out, error);
}

bool field_optional_text(struct json object, const char *key, const char **out, struct error *error)
{
    struct json member;

    *out = NULL;
    return json_optional(object, key, &member) ? json_string(member, out, error) : true;
}

bool field_text_list(struct json object, const char *key, struct arena *arena, const char ***out, size_t *count,
                     struct error *error)
{
    struct json list;

    *out = NULL;
    *count = 0;
    if (!json_optional(object, key, &list))
        return true;
    if (!json_expect(list, JSON_ARRAY, error))
        return false;
    *count = json_length(list);
    *out = arena_calloc(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        if (!read_text(json_at(list, i), &(*out)[i], error))
            return false;
    return true;
}

bool field_extended_number(struct json object, const char *key, double *out, struct error *error)
{
    struct json member;
    const char *text;

    if (!json_member(object, key, &member, error))
        return false;
    if (json_kind_of(member) != JSON_STRING)
        return json_double(member, out, error);
    if (!json_string(member, &text, error))
        return false;
    if (!strcmp(text, "NaN"))
        *out = (double)NAN;
    else if (!strcmp(text, "Infinity"))
        *out = (double)INFINITY;
    else if (!strcmp(text, "-Infinity"))
        *out = (double)-INFINITY;
    else
        return json_error(member, error, "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found \"%s\"",
                          text);
    return true;
}
