#include <string.h>

#include "base/file.h"
#include "base/json_internal.h"
#include "base/json_scan.h"

static json_object *require(json_object *value)
{
    if (!value) {
        (void)fprintf(stderr, "ptxbench: out of memory while reading JSON\n");
        abort();
    }
    return value;
}

static bool build_value(struct json_scan *scan, int depth, json_object **out);

static char *decode(const char *begin, size_t length, size_t *decoded_length)
{
    char *text = malloc(length + 1);

    if (text) {
        *decoded_length = json_scan_decode(begin, length, text);
        text[*decoded_length] = '\0';
    }
    return text;
}

static bool build_string(struct json_scan *scan, json_object **out)
{
    const char *begin;
    size_t length;

    if (!json_scan_string(scan, &begin, &length))
        return false;
    size_t decoded_length = 0;
    AUTO_FREE char *text = decode(begin, length, &decoded_length);
    if (!text || decoded_length > INT32_MAX - 16)
        return json_scan_refuse(scan, "string is too long");
    *out = require(json_object_new_string_len(text, (int)decoded_length));
    return true;
}

static bool build_number(struct json_scan *scan, json_object **out)
{
    const char *begin;
    size_t length;
    bool integer;

    if (!json_scan_number(scan, &begin, &length, &integer))
        return false;
    AUTO_FREE char *text = strndup(begin, length);
    if (!text)
        return json_scan_refuse(scan, "out of memory");
    if (!integer) {
        *out = require(json_object_new_double_s(strtod(text, NULL), text));
    } else if (text[0] == '-') {
        *out = require(json_object_new_int64(strtoll(text, NULL, 10)));
        if (!strcmp(text, "-0"))
            json_object_set_serializer(*out, json_object_userdata_to_json_string, steal(&text),
                                       json_object_free_userdata);
    } else {
        uint64_t value = strtoull(text, NULL, 10);
        *out = require(value <= INT64_MAX ? json_object_new_int64((int64_t)value) : json_object_new_uint64(value));
    }
    return true;
}

static bool build_member(struct json_scan *scan, int depth, json_object *object)
{
    const char *begin;
    size_t length;
    size_t start = scan->offset;

    if (!json_scan_string(scan, &begin, &length))
        return false;
    size_t decoded_length = 0;
    AUTO_FREE char *key = decode(begin, length, &decoded_length);
    if (!key)
        return json_scan_refuse(scan, "out of memory");
    bool known = json_object_object_get_ex(object, key, NULL);
    if (known || memchr(key, '\0', decoded_length)) {
        scan->offset = start;
        return json_scan_refuse(scan, known ? "duplicate key" : "key contains a NUL character");
    }
    json_object *value = NULL;
    if (!json_scan_byte(scan, ':', "expected ':' after a key") || !build_value(scan, depth, &value))
        return false;
    json_put(object, key, value);
    return true;
}

static bool build_object(struct json_scan *scan, int depth, json_object **out)
{
    AUTO_JSON_OBJECT *object = require(json_object_new_object());

    scan->offset++;
    if (json_scan_peek(scan) != '}') {
        for (;;) {
            if (json_scan_peek(scan) != '"')
                return json_scan_refuse(scan, "expected a key in double quotes");
            if (!build_member(scan, depth, object))
                return false;
            if (json_scan_peek(scan) != ',')
                break;
            scan->offset++;
        }
    }
    if (!json_scan_byte(scan, '}', "expected ',' or '}' in an object"))
        return false;
    *out = steal(&object);
    return true;
}

static bool build_array(struct json_scan *scan, int depth, json_object **out)
{
    AUTO_JSON_OBJECT *array = require(json_object_new_array());

    scan->offset++;
    if (json_scan_peek(scan) != ']') {
        for (;;) {
            json_object *value = NULL;
            if (!build_value(scan, depth, &value))
                return false;
            if (json_object_array_add(array, value)) {
                json_object_put(value);
                return json_scan_refuse(scan, "out of memory");
            }
            if (json_scan_peek(scan) != ',')
                break;
            scan->offset++;
        }
    }
    if (!json_scan_byte(scan, ']', "expected ',' or ']' in an array"))
        return false;
    *out = steal(&array);
    return true;
}

static bool build_value(struct json_scan *scan, int depth, json_object **out)
{
    char first = json_scan_peek(scan);

    *out = NULL;
    if ((first == '{' || first == '[') && depth == JSON_MAX_DEPTH)
        return json_scan_refuse(scan, "nested deeper than 64");
    switch (first) {
    case '{':
        return build_object(scan, depth + 1, out);
    case '[':
        return build_array(scan, depth + 1, out);
    case '"':
        return build_string(scan, out);
    case 't':
    case 'f':
        if (!json_scan_word(scan, first == 't' ? "true" : "false"))
            return false;
        *out = require(json_object_new_boolean(first == 't'));
        return true;
    case 'n':
        return json_scan_word(scan, "null");
    default:
        if (scan->offset == scan->length)
            return json_scan_refuse(scan, "text ends before a value");
        return build_number(scan, out);
    }
}

static bool build_document(struct json_scan *scan, json_object **out)
{
    AUTO_JSON_OBJECT *root = NULL;

    if (!build_value(scan, 0, &root))
        return false;
    (void)json_scan_peek(scan);
    if (scan->offset != scan->length)
        return json_scan_refuse(scan, "trailing text after the value");
    *out = steal(&root);
    return true;
}

const char *json_check_text(const char *text, size_t length)
{
    struct json_scan scan = {.text = text, .length = length};
    AUTO_JSON_OBJECT *root = NULL;

    return build_document(&scan, &root) ? NULL : scan.problem;
}

static int count_lines(const char *text, size_t length)
{
    int lines = 0;

    for (const char *at = text; (at = memchr(at, '\n', length - (size_t)(at - text))); at++)
        lines++;
    return lines;
}

static bool parse(char *text, size_t length, const char *name, int first_line, struct json_document **document,
                  struct error *error)
{
    struct arena *arena = arena_new();
    struct json_document *parsed = arena_alloc(arena, sizeof *parsed);
    struct json_scan scan = {.text = text, .length = length};

    *parsed = (struct json_document){.arena = arena,
                                     .name = arena_strdup(arena, name),
                                     .text = text,
                                     .length = length,
                                     .first_line = first_line,
                                     .walk = arena_alloc(arena, sizeof(struct json_walk))};
    if (!build_document(&scan, &parsed->root)) {
        bool near_end = scan.offset >= length;
        (void)error_set(error, ERROR_INPUT, "%s:%d: %s%s", name, first_line + count_lines(text, scan.offset),
                        scan.problem, near_end ? " (end of text)" : "");
        json_document_free(parsed);
        return false;
    }
    *document = parsed;
    return true;
}

bool json_parse(const char *text, size_t length, const char *name, int first_line, struct json_document **document,
                struct error *error)
{
    char *copy = malloc(length + 1);

    if (!copy)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", name);
    if (length)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return parse(copy, length, name, first_line, document, error);
}

bool json_read_file(const char *path, size_t limit, struct json_document **document, struct error *error)
{
    char *text;
    size_t length;

    return file_read(path, limit, &text, &length, error) && parse(text, length, path, 1, document, error);
}

void json_document_free(struct json_document *document)
{
    if (!document)
        return;
    free((char *)document->text);
    if (document->root)
        json_object_put(document->root);
    arena_free(document->arena);
}

/* Looks for the value whose path is `target` in a text that was accepted before. */
struct search {
    struct json_scan scan;
    struct arena *arena;
    const char *target;
    size_t found;
};

static bool search_value(struct search *search, const char *path);

static bool search_object(struct search *search, const char *path)
{
    struct json_scan *scan = &search->scan;

    for (scan->offset++; json_scan_peek(scan) == '"';) {
        const char *begin;
        size_t length;
        size_t decoded_length = 0;
        if (!json_scan_string(scan, &begin, &length))
            return false;
        AUTO_FREE char *key = decode(begin, length, &decoded_length);
        if (!key || !json_scan_byte(scan, ':', ""))
            return false;
        if (search_value(search, json_path_member(search->arena, path, key)))
            return true;
        if (json_scan_peek(scan) == ',')
            scan->offset++;
    }
    scan->offset++;
    return false;
}

static bool search_array(struct search *search, const char *path)
{
    struct json_scan *scan = &search->scan;

    scan->offset++;
    for (size_t index = 0; json_scan_peek(scan) != ']' && scan->offset < scan->length; index++) {
        if (search_value(search, json_path_element(search->arena, path, index)))
            return true;
        if (json_scan_peek(scan) == ',')
            scan->offset++;
    }
    scan->offset++;
    return false;
}

static bool search_value(struct search *search, const char *path)
{
    struct json_scan *scan = &search->scan;
    char first = json_scan_peek(scan);
    const char *begin;
    size_t length;
    bool integer;

    if (!strcmp(path, search->target)) {
        search->found = scan->offset;
        return true;
    }
    if (first == '{')
        return search_object(search, path);
    if (first == '[')
        return search_array(search, path);
    if (first == '"')
        (void)json_scan_string(scan, &begin, &length);
    else if (first == 't' || first == 'f' || first == 'n')
        (void)json_scan_word(scan, first == 't' ? "true" : first == 'f' ? "false" : "null");
    else
        (void)json_scan_number(scan, &begin, &length, &integer);
    return false;
}

int json_line(struct json at)
{
    const struct json_document *document = at.document;
    AUTO_ARENA *arena = arena_new();
    struct search search = {
        .scan = {.text = document->text, .length = document->length}, .arena = arena, .target = at.path};

    (void)search_value(&search, "$");
    return document->first_line + count_lines(document->text, search.found);
}
