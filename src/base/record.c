#include "base/record.h"

#include <string.h>

/* All RECORD_LISTs and maps have this layout; pointers are copied by memcpy because their types differ. */
struct raw_list {
    void *items;
    size_t count;
};

_Static_assert(sizeof(struct raw_list) == sizeof(RECORD_LIST(double)), "RECORD_LIST has the layout of raw_list");
_Static_assert(sizeof(struct raw_list) == sizeof(struct text_map), "text_map has the layout of raw_list");
_Static_assert(sizeof(enum tristate) == sizeof(int), "enums are read and written as int");

void *list_grow(struct arena *arena, void *items, size_t count, size_t item_size)
{
    void *grown;

    if (count != 0 && (count & (count - 1)) != 0)
        return items; /* room was made at the last power of two */
    grown = arena_calloc(arena, count ? 2 * count : 1, item_size);
    if (count)
        memcpy(grown, items, count * item_size);
    return grown;
}

void text_map_set(struct text_map *map, struct arena *arena, const char *name, const char *text)
{
    struct named_text *entry = NULL;

    for (size_t i = 0; i < map->count && !entry; i++)
        if (strcmp(map->items[i].name, name) == 0)
            entry = &map->items[i];
    if (!entry) {
        entry = LIST_APPEND(arena, map);
        entry->name = arena_strdup(arena, name);
    }
    entry->text = arena_strdup(arena, text);
}

void count_map_set(struct count_map *map, struct arena *arena, const char *name, int64_t count)
{
    struct named_count *entry = NULL;

    for (size_t i = 0; i < map->count && !entry; i++)
        if (strcmp(map->items[i].name, name) == 0)
            entry = &map->items[i];
    if (!entry) {
        entry = LIST_APPEND(arena, map);
        entry->name = arena_strdup(arena, name);
    }
    entry->count = count;
}

const char *text_map_get(const struct text_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].name, name) == 0)
            return map->items[i].text;
    return NULL;
}

const int64_t *count_map_get(const struct count_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->items[i].name, name) == 0)
            return &map->items[i].count;
    return NULL;
}

/* Items of a list that is read at once: as much room as list_grow would have made for them. */
static void *list_reserve(struct arena *arena, size_t count, size_t item_size)
{
    size_t capacity = 1;

    while (capacity < count)
        capacity *= 2;
    return arena_calloc(arena, capacity, item_size);
}

/* Structs to JSON. */

static int read_enum(const void *member)
{
    int value;

    memcpy(&value, member, sizeof value);
    return value;
}

static struct raw_list read_list(const void *member)
{
    struct raw_list list;

    memcpy(&list, member, sizeof list);
    return list;
}

static const char *read_text(const void *member)
{
    const char *text;

    memcpy(&text, member, sizeof text);
    return text;
}

static void put_numbers(json_object *object, const struct record_field *field, const void *member)
{
    struct raw_list list = read_list(member);
    json_object *array = json_object_new_array();

    for (size_t i = 0; i < list.count; i++)
        json_object_array_add(array, field->kind == RECORD_KIND_NUMBERS
                                         ? json_new_double(((const double *)list.items)[i])
                                         : json_object_new_int64(((const int64_t *)list.items)[i]));
    json_put(object, field->key, array);
}

static void put_map(json_object *object, const struct record_field *field, const void *member)
{
    struct raw_list list = read_list(member);
    json_object *map = list.count ? json_object_new_object() : NULL;

    for (size_t i = 0; i < list.count; i++) {
        if (field->kind == RECORD_KIND_TEXT_MAP) {
            const struct named_text *entry = (const struct named_text *)list.items + i;
            json_put_string(map, entry->name, entry->text);
        } else {
            const struct named_count *entry = (const struct named_count *)list.items + i;
            json_put_i64(map, entry->name, entry->count);
        }
    }
    json_put(object, field->key, map);
}

static void put_records(json_object *object, const struct record_field *field, const void *member)
{
    struct raw_list list = read_list(member);
    bool keyed = field->kind == RECORD_KIND_KEYED;
    json_object *items = !keyed ? json_object_new_array() : list.count ? json_object_new_object() : NULL;

    for (size_t i = 0; i < list.count; i++) {
        const char *item = (const char *)list.items + i * field->record->size;
        json_object *value = record_to_json(item, field->record);
        if (keyed)
            json_put(items, read_text(item), value);
        else
            json_object_array_add(items, value);
    }
    json_put(object, field->key, items);
}

static void put_interval(json_object *object, const char *key, const struct interval *interval)
{
    json_object *pair = NULL;

    if (interval->known) {
        pair = json_object_new_array_ext(2);
        json_object_array_add(pair, json_new_double(interval->low));
        json_object_array_add(pair, json_new_double(interval->high));
    }
    json_put(object, key, pair);
}

/* Kinds that hold one value. */
static void put_scalar(json_object *object, const struct record_field *field, const void *member)
{
    const char *key = field->key;
    const struct count *count = member;
    const struct number *number = member;
    int value;

    switch (field->kind) {
    case RECORD_KIND_BOOL:
        json_put_bool(object, key, *(const bool *)member);
        return;
    case RECORD_KIND_TRISTATE:
        value = read_enum(member);
        json_put(object, key, value == TRISTATE_UNKNOWN ? NULL : json_object_new_boolean(value == TRISTATE_YES));
        return;
    case RECORD_KIND_INTEGER:
        json_put_i64(object, key, *(const int64_t *)member);
        return;
    case RECORD_KIND_LINE:
        value = *(const int *)member;
        json_put(object, key, value ? json_object_new_int(value) : NULL);
        return;
    case RECORD_KIND_COUNT:
        json_put(object, key, count->known ? json_object_new_int64(count->value) : NULL);
        return;
    case RECORD_KIND_NUMBER:
        json_put(object, key, number->known ? json_new_double(number->value) : NULL);
        return;
    case RECORD_KIND_ENUM:
        value = read_enum(member);
        json_put_string(object, key, value >= 0 && (size_t)value < field->name_count ? field->names[value] : NULL);
        return;
    default:
        json_put_string(object, key, read_text(member));
        return;
    }
}

json_object *record_to_json(const void *record, const struct record_type *type)
{
    json_object *object = json_object_new_object();

    for (size_t i = 0; i < type->field_count; i++) {
        const struct record_field *field = &type->fields[i];
        const void *member = (const char *)record + field->offset;

        switch (field->kind) {
        case RECORD_KIND_INTERVAL:
            put_interval(object, field->key, member);
            break;
        case RECORD_KIND_NUMBERS:
        case RECORD_KIND_INTEGERS:
            put_numbers(object, field, member);
            break;
        case RECORD_KIND_TEXT_MAP:
        case RECORD_KIND_COUNT_MAP:
            put_map(object, field, member);
            break;
        case RECORD_KIND_RECORD:
            json_put(object, field->key, record_to_json(member, field->record));
            break;
        case RECORD_KIND_OPTIONAL:
            json_put(object, field->key, read_text(member) ? record_to_json(member, field->record) : NULL);
            break;
        case RECORD_KIND_LIST:
        case RECORD_KIND_KEYED:
            put_records(object, field, member);
            break;
        default:
            put_scalar(object, field, member);
            break;
        }
    }
    return object;
}

/* JSON to structs. */

static bool take_double(struct json at, double *out, struct error *error)
{
    static const struct {
        const char *text;
        double value;
    } specials[] = {{"NaN", __builtin_nan("")}, {"Infinity", __builtin_inf()}, {"-Infinity", -__builtin_inf()}};
    const char *text;

    if (json_kind_of(at) != JSON_STRING)
        return json_double(at, out, error);
    if (!json_string(at, &text, error))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
        if (strcmp(text, specials[i].text) == 0) {
            *out = specials[i].value;
            return true;
        }
    }
    return json_error(at, error, "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

static bool take_text(struct json at, const char **out, struct arena *arena, struct error *error)
{
    const char *text;

    if (!json_string(at, &text, error))
        return false;
    *out = arena_strdup(arena, text);
    return true;
}

static bool take_enum(struct json at, const struct record_field *field, void *member, struct error *error)
{
    const char *text;

    if (!json_string(at, &text, error))
        return false;
    for (size_t i = 0; i < field->name_count; i++) {
        if (field->names[i] && strcmp(field->names[i], text) == 0) {
            int value = (int)i;
            memcpy(member, &value, sizeof value);
            return true;
        }
    }
    return json_error(at, error, "unknown value \"%.40s\"", text);
}

static bool take_line(struct json at, int *out, struct error *error)
{
    int64_t value;

    if (!json_i64(at, &value, error))
        return false;
    if (value < 0 || value > INT32_MAX)
        return json_error(at, error, "expected a line or column number");
    *out = (int)value;
    return true;
}

static bool take_scalar(struct json at, const struct record_field *field, void *member, struct arena *arena,
                        struct error *error)
{
    struct count *count = member;
    struct number *number = member;
    const char *text;
    bool flag;
    int value;

    switch (field->kind) {
    case RECORD_KIND_BOOL:
        return json_boolean(at, member, error);
    case RECORD_KIND_TRISTATE:
        if (!json_boolean(at, &flag, error))
            return false;
        value = flag ? TRISTATE_YES : TRISTATE_NO;
        memcpy(member, &value, sizeof value);
        return true;
    case RECORD_KIND_INTEGER:
        return json_i64(at, member, error);
    case RECORD_KIND_LINE:
        return take_line(at, member, error);
    case RECORD_KIND_COUNT:
        count->known = true;
        return json_i64(at, &count->value, error);
    case RECORD_KIND_NUMBER:
        number->known = true;
        return take_double(at, &number->value, error);
    case RECORD_KIND_ENUM:
        return take_enum(at, field, member, error);
    default:
        if (!take_text(at, &text, arena, error))
            return false;
        memcpy(member, &text, sizeof text);
        return true;
    }
}

static bool take_interval(struct json at, struct interval *interval, struct error *error)
{
    if (!json_expect(at, JSON_ARRAY, error))
        return false;
    if (json_length(at) != 2)
        return json_error(at, error, "expected [low, high]");
    interval->known = true;
    return take_double(json_at(at, 0), &interval->low, error) && take_double(json_at(at, 1), &interval->high, error);
}

static bool take_numbers(struct json at, const struct record_field *field, void *member, struct arena *arena,
                         struct error *error)
{
    struct raw_list list = {NULL, 0};
    size_t count;

    if (!json_expect(at, JSON_ARRAY, error))
        return false;
    count = json_length(at);
    list.items = list_reserve(arena, count, sizeof(double));
    for (; list.count < count; list.count++) {
        struct json item = json_at(at, list.count);
        if (field->kind == RECORD_KIND_NUMBERS ? !take_double(item, (double *)list.items + list.count, error)
                                               : !json_i64(item, (int64_t *)list.items + list.count, error))
            return false;
    }
    memcpy(member, &list, sizeof list);
    return true;
}

static bool take_map(struct json at, const struct record_field *field, void *member, struct arena *arena,
                     struct error *error)
{
    size_t count;

    if (!json_expect(at, JSON_OBJECT, error))
        return false;
    count = json_length(at);
    for (size_t i = 0; i < count; i++) {
        const char *key;
        struct json item = json_entry(at, i, &key);
        if (field->kind == RECORD_KIND_TEXT_MAP) {
            struct named_text *entry = LIST_APPEND(arena, (struct text_map *)member);
            entry->name = arena_strdup(arena, key);
            if (json_kind_of(item) != JSON_NULL && !take_text(item, &entry->text, arena, error))
                return false;
        } else {
            struct named_count *entry = LIST_APPEND(arena, (struct count_map *)member);
            entry->name = arena_strdup(arena, key);
            if (!json_i64(item, &entry->count, error))
                return false;
        }
    }
    return true;
}

static bool take_records(struct json at, const struct record_field *field, void *member, struct arena *arena,
                         struct error *error)
{
    bool keyed = field->kind == RECORD_KIND_KEYED;
    struct raw_list list = {NULL, 0};
    size_t count;

    if (!json_expect(at, keyed ? JSON_OBJECT : JSON_ARRAY, error))
        return false;
    count = json_length(at);
    list.items = list_reserve(arena, count, field->record->size);
    for (; list.count < count; list.count++) {
        char *item = (char *)list.items + list.count * field->record->size;
        const char *key = NULL;
        struct json value = keyed ? json_entry(at, list.count, &key) : json_at(at, list.count);
        if (!record_from_json(value, field->record, item, arena, error))
            return false;
        if (keyed) {
            key = arena_strdup(arena, key);
            memcpy(item, &key, sizeof key);
        }
    }
    memcpy(member, &list, sizeof list);
    return true;
}

bool record_from_json(struct json at, const struct record_type *type, void *record, struct arena *arena,
                      struct error *error)
{
    if (!json_expect(at, JSON_OBJECT, error))
        return false;
    for (size_t i = 0; i < type->field_count; i++) {
        const struct record_field *field = &type->fields[i];
        void *member = (char *)record + field->offset;
        struct json value;
        bool taken;

        if (!json_optional(at, field->key, &value))
            continue;
        switch (field->kind) {
        case RECORD_KIND_INTERVAL:
            taken = take_interval(value, member, error);
            break;
        case RECORD_KIND_NUMBERS:
        case RECORD_KIND_INTEGERS:
            taken = take_numbers(value, field, member, arena, error);
            break;
        case RECORD_KIND_TEXT_MAP:
        case RECORD_KIND_COUNT_MAP:
            taken = take_map(value, field, member, arena, error);
            break;
        case RECORD_KIND_RECORD:
        case RECORD_KIND_OPTIONAL:
            taken = record_from_json(value, field->record, member, arena, error);
            break;
        case RECORD_KIND_LIST:
        case RECORD_KIND_KEYED:
            taken = take_records(value, field, member, arena, error);
            break;
        default:
            taken = take_scalar(value, field, member, arena, error);
            break;
        }
        if (!taken)
            return false;
    }
    return true;
}
