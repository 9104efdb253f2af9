#include "base/json.h"

#include <math.h>
#include <string.h>

#include "base/json_internal.h"

struct json json_root(const struct json_document *document)
{
    return (struct json){document, document->root, "$"};
}

const char *json_document_name(const struct json_document *document)
{
    return document->name;
}

enum json_kind json_kind_of(struct json at)
{
    switch (json_object_get_type(at.value)) {
    case json_type_boolean:
        return JSON_BOOL;
    case json_type_int:
        return JSON_INTEGER;
    case json_type_double:
        return JSON_REAL;
    case json_type_string:
        return JSON_STRING;
    case json_type_array:
        return JSON_ARRAY;
    case json_type_object:
        return JSON_OBJECT;
    case json_type_null:
        break;
    }
    return JSON_NULL;
}

const char *json_kind_text(enum json_kind kind)
{
    static const char *const texts[] = {
        [JSON_NULL] = "null",        [JSON_BOOL] = "true or false", [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a number",    [JSON_STRING] = "a string",    [JSON_ARRAY] = "an array",
        [JSON_OBJECT] = "an object",
    };

    return texts[kind];
}

bool json_error(struct json at, struct error *error, const char *format, ...)
{
    char message[sizeof error->message];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(error, ERROR_INPUT, "%s:%d: %s: %s", at.document->name, json_line(at), at.path, message);
}

static bool is_plain_key(const char *key)
{
    if (!*key || (*key >= '0' && *key <= '9'))
        return false;
    for (const char *at = key; *at; at++)
        if (!(*at == '_' || *at == '-' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
              (*at >= 'A' && *at <= 'Z')))
            return false;
    return true;
}

const char *json_path_member(struct arena *arena, const char *parent, const char *key)
{
    enum { SHOWN_BYTES = 80 };
    char shown[2 * SHOWN_BYTES + 4];
    size_t length = 0;
    size_t used = 0;

    for (; key[used] && (used < SHOWN_BYTES || (key[used] & 0xc0) == 0x80); used++) {
        if (length >= sizeof shown - 3)
            break;
        char byte = key[used];
        if (byte == '"' || byte == '\\')
            shown[length++] = '\\';
        shown[length++] = (unsigned char)byte < 0x20 || byte == 0x7f ? '?' : byte;
    }
    shown[length] = '\0';
    const char *cut = key[used] ? "..." : "";
    return is_plain_key(shown) ? arena_printf(arena, "%s.%s%s", parent, shown, cut)
                               : arena_printf(arena, "%s[\"%s%s\"]", parent, shown, cut);
}

const char *json_path_element(struct arena *arena, const char *parent, size_t index)
{
    return arena_printf(arena, "%s[%zu]", parent, index);
}

static struct json member_of(struct json object, const char *key, json_object *value)
{
    return (struct json){object.document, value, json_path_member(object.document->arena, object.path, key)};
}

bool json_member(struct json object, const char *key, struct json *out, struct error *error)
{
    json_object *value;

    if (!json_expect(object, JSON_OBJECT, error))
        return false;
    if (!json_object_object_get_ex(object.value, key, &value))
        return json_error(object, error, "missing member \"%s\"", key);
    *out = member_of(object, key, value);
    return true;
}

bool json_optional(struct json object, const char *key, struct json *out)
{
    json_object *value;

    if (json_kind_of(object) != JSON_OBJECT || !json_object_object_get_ex(object.value, key, &value) || !value)
        return false;
    *out = member_of(object, key, value);
    return true;
}

bool json_has(struct json object, const char *key)
{
    return json_kind_of(object) == JSON_OBJECT && json_object_object_get_ex(object.value, key, NULL);
}

size_t json_length(struct json array_or_object)
{
    enum json_kind kind = json_kind_of(array_or_object);

    if (kind == JSON_ARRAY)
        return json_object_array_length(array_or_object.value);
    return kind == JSON_OBJECT ? (size_t)json_object_object_length(array_or_object.value) : 0;
}

struct json json_at(struct json array, size_t index)
{
    return (struct json){array.document, json_object_array_get_idx(array.value, index),
                         json_path_element(array.document->arena, array.path, index)};
}

struct json json_entry(struct json object, size_t index, const char **key)
{
    struct json_walk *walk = object.document->walk;

    if (walk->object != object.value || index < walk->index)
        *walk = (struct json_walk){object.value, 0, lh_table_head(json_object_get_object(object.value))};
    while (walk->index < index) {
        walk->entry = lh_entry_next(walk->entry);
        walk->index++;
    }
    *key = lh_entry_k(walk->entry);
    return member_of(object, *key, lh_entry_v(walk->entry));
}

bool json_expect(struct json at, enum json_kind kind, struct error *error)
{
    enum json_kind found = json_kind_of(at);

    if (found == kind || (kind == JSON_REAL && found == JSON_INTEGER))
        return true;
    return json_error(at, error, "expected %s, found %s", json_kind_text(kind), json_kind_text(found));
}

bool json_string(struct json at, const char **out, struct error *error)
{
    if (!json_expect(at, JSON_STRING, error))
        return false;
    *out = json_object_get_string(at.value);
    if (strlen(*out) != (size_t)json_object_get_string_len(at.value))
        return json_error(at, error, "string contains a NUL character");
    return true;
}

bool json_u64(struct json at, uint64_t *out, struct error *error)
{
    if (json_kind_of(at) != JSON_INTEGER)
        return json_error(at, error, "expected a non-negative integer, found %s", json_kind_text(json_kind_of(at)));
    /* json-c clamps: a negative value reads as 0 here, so the sign is asked for separately */
    if (json_object_get_int64(at.value) < 0)
        return json_error(at, error, "expected a non-negative integer, found %s", json_number_text(at));
    *out = json_object_get_uint64(at.value);
    return true;
}

bool json_i64(struct json at, int64_t *out, struct error *error)
{
    if (!json_expect(at, JSON_INTEGER, error))
        return false;
    if (json_object_get_int64(at.value) == INT64_MAX && json_object_get_uint64(at.value) > INT64_MAX)
        return json_error(at, error, "integer %s is too large", json_number_text(at));
    *out = json_object_get_int64(at.value);
    return true;
}

bool json_double(struct json at, double *out, struct error *error)
{
    if (!json_expect(at, JSON_REAL, error))
        return false;
    *out = json_object_get_double(at.value);
    return isfinite(*out) ? true : json_error(at, error, "number %s is too large", json_number_text(at));
}

const char *json_number_text(struct json at)
{
    enum json_kind kind = json_kind_of(at);

    return kind == JSON_INTEGER || kind == JSON_REAL ? json_object_to_json_string(at.value) : NULL;
}

bool json_boolean(struct json at, bool *out, struct error *error)
{
    if (!json_expect(at, JSON_BOOL, error))
        return false;
    *out = json_object_get_boolean(at.value);
    return true;
}

bool json_member_string(struct json object, const char *key, const char **out, struct error *error)
{
    struct json member;

    return json_member(object, key, &member, error) && json_string(member, out, error);
}

bool json_member_u64(struct json object, const char *key, uint64_t *out, struct error *error)
{
    struct json member;

    return json_member(object, key, &member, error) && json_u64(member, out, error);
}
