/*
 * Structs that are also JSON: one table per struct says which member has which key and kind, and both directions
 * follow from it.
 *
 *     static const struct record_field point_fields[] = {
 *         RECORD_NUMBER(struct point, x), RECORD_NUMBER(struct point, y),
 *     };
 *     const struct record_type point_record = RECORD_TYPE(struct point, point_fields);
 *
 * Every kind has an "unknown" that is all zero bytes and is JSON null, so that a zeroed struct claims nothing:
 * numbers and counts carry `known`, tri-states start as unknown, texts as NULL. Lists are the exception: an empty
 * list is []. Maps and enums: see the kinds below. Not thread-safe per object; tables are constant.
 */
#ifndef PTXBENCH_BASE_RECORD_H
#define PTXBENCH_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

/* A measured or derived real number. NaN and infinities are known values, written as in FlashInfer-Trace. */
struct number {
    bool known;
    double value;
};

struct count {
    bool known;
    int64_t value;
};

struct interval {
    bool known;
    double low;
    double high;
};

/* JSON null, false, true. */
enum tristate { TRISTATE_UNKNOWN, TRISTATE_NO, TRISTATE_YES };

static inline struct number number_of(double value)
{
    return (struct number){true, value};
}

static inline struct count count_of(int64_t value)
{
    return (struct count){true, value};
}

static inline enum tristate tristate_of(bool value)
{
    return value ? TRISTATE_YES : TRISTATE_NO;
}

/* A list of `type`: arena memory, `count` items in use. Grow with LIST_APPEND only. */
#define RECORD_LIST(type)                                                                                              \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count;                                                                                                  \
    }

struct named_text {
    const char *name;
    const char *text;
};

struct named_count {
    const char *name;
    int64_t count;
};

/* JSON objects with free keys. Without entries they are null: "not determined". */
struct text_map {
    struct named_text *items;
    size_t count;
};

struct count_map {
    struct named_count *items;
    size_t count;
};

struct number_list {
    double *items;
    size_t count;
};

/* Items with room for one more, moved when necessary; the new item is zeroed. */
void *list_grow(struct arena *arena, void *items, size_t count, size_t item_size);

/* Appends a zeroed item and yields a pointer to it, valid until the next append. */
#define LIST_APPEND(arena, list)                                                                                       \
    ((list)->items = list_grow(arena, (list)->items, (list)->count, sizeof *(list)->items),                            \
     &(list)->items[(list)->count++])

void text_map_set(struct text_map *map, struct arena *arena, const char *name, const char *text);
void count_map_set(struct count_map *map, struct arena *arena, const char *name, int64_t count);

/* NULL when absent. */
const char *text_map_get(const struct text_map *map, const char *name);
const int64_t *count_map_get(const struct count_map *map, const char *name);

enum record_kind {
    RECORD_KIND_TEXT,      /* const char *; NULL is null */
    RECORD_KIND_BOOL,      /* bool; never null */
    RECORD_KIND_TRISTATE,  /* enum tristate */
    RECORD_KIND_INTEGER,   /* int64_t; never null */
    RECORD_KIND_LINE,      /* int; 0 is null */
    RECORD_KIND_COUNT,     /* struct count */
    RECORD_KIND_NUMBER,    /* struct number */
    RECORD_KIND_INTERVAL,  /* struct interval: [low, high] or null */
    RECORD_KIND_ENUM,      /* an enum; `names` has the text of each value, a NULL name is null */
    RECORD_KIND_NUMBERS,   /* struct number_list: array of numbers */
    RECORD_KIND_INTEGERS,  /* RECORD_LIST(int64_t): array of integers */
    RECORD_KIND_TEXT_MAP,  /* struct text_map */
    RECORD_KIND_COUNT_MAP, /* struct count_map */
    RECORD_KIND_RECORD,    /* a struct by value, described by `record` */
    RECORD_KIND_OPTIONAL,  /* the same, null while its first member, a `const char *`, is NULL */
    RECORD_KIND_LIST,      /* RECORD_LIST(struct): array of objects */
    RECORD_KIND_KEYED      /* RECORD_LIST(struct) whose first member is `const char *name`: object name -> object */
};

struct record_type;

struct record_field {
    const char *key;
    enum record_kind kind;
    size_t offset;
    const char *const *names; /* RECORD_KIND_ENUM */
    size_t name_count;
    const struct record_type *record; /* RECORD_KIND_RECORD, _LIST, _KEYED */
};

struct record_type {
    size_t size;
    const struct record_field *fields;
    size_t field_count;
};

/* clang-format off */
#define RECORD_TYPE(type, field_array) {sizeof(type), field_array, ARRAY_LEN(field_array)}

/* offsetof that refuses to compile when the member has another type than the kind demands. */
#define RECORD_OFFSET(type, member, expected)                                                                          \
    (offsetof(type, member) +                                                                                          \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), expected) ? 1 : -1]))

/* A field under another key than its member's name: RECORD_AS("static", struct s, in_object, COUNT, struct count). */
#define RECORD_AS(key, type, member, kind, expected) {key, RECORD_KIND_##kind, RECORD_OFFSET(type, member, expected)}
#define RECORD_NAMED_RECORD(type, member, kind, record_type)                                                           \
    {#member, RECORD_KIND_##kind, offsetof(type, member), NULL, 0, record_type}

#define RECORD_TEXT(type, member)      RECORD_AS(#member, type, member, TEXT, const char *)
#define RECORD_BOOL(type, member)      RECORD_AS(#member, type, member, BOOL, bool)
#define RECORD_TRISTATE(type, member)  RECORD_AS(#member, type, member, TRISTATE, enum tristate)
#define RECORD_INTEGER(type, member)   RECORD_AS(#member, type, member, INTEGER, int64_t)
#define RECORD_LINE(type, member)      RECORD_AS(#member, type, member, LINE, int)
#define RECORD_COUNT(type, member)     RECORD_AS(#member, type, member, COUNT, struct count)
#define RECORD_NUMBER(type, member)    RECORD_AS(#member, type, member, NUMBER, struct number)
#define RECORD_INTERVAL(type, member)  RECORD_AS(#member, type, member, INTERVAL, struct interval)
#define RECORD_NUMBERS(type, member)   RECORD_AS(#member, type, member, NUMBERS, struct number_list)
#define RECORD_TEXT_MAP(type, member)  RECORD_AS(#member, type, member, TEXT_MAP, struct text_map)
#define RECORD_COUNT_MAP(type, member) RECORD_AS(#member, type, member, COUNT_MAP, struct count_map)
#define RECORD_INTEGERS(type, member)  {#member, RECORD_KIND_INTEGERS, offsetof(type, member)}
#define RECORD_ENUM(type, member, name_array)                                                                          \
    {#member, RECORD_KIND_ENUM, offsetof(type, member), name_array, ARRAY_LEN(name_array)}
#define RECORD_NESTED(type, member, record_type)   RECORD_NAMED_RECORD(type, member, RECORD, record_type)
#define RECORD_OPTIONAL(type, member, record_type) RECORD_NAMED_RECORD(type, member, OPTIONAL, record_type)
#define RECORD_ITEMS(type, member, record_type)    RECORD_NAMED_RECORD(type, member, LIST, record_type)
#define RECORD_KEYED(type, member, record_type)    RECORD_NAMED_RECORD(type, member, KEYED, record_type)
/* clang-format on */

/* The JSON object of `record`, every key present. Returns new. */
json_object *record_to_json(const void *record, const struct record_type *type);

/* Fills `record` (zeroed by the caller) from an object; texts and lists go to the arena. Absent or null members stay
 * unknown, members without a field are ignored, a wrong type or an unknown enum text is an error with its path. */
MUST_CHECK bool record_from_json(struct json at, const struct record_type *type, void *record, struct arena *arena,
                                 struct error *error);

#endif
