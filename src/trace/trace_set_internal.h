/* What trace_set.c and trace_set_load.c share. */
#ifndef PTXBENCH_TRACE_TRACE_SET_INTERNAL_H
#define PTXBENCH_TRACE_TRACE_SET_INTERNAL_H

#include "trace/trace_set.h"

/* One definition, workload or solution while the set is loaded, and afterwards what the lookups walk. */
struct trace_set_item {
    const char *key; /* name or uuid: unique in the finished list */
    void *object;
    size_t definition; /* workloads: index of the definition */
    size_t order;      /* place in the order of reading */
    struct json source;
};

struct trace_set_list {
    struct trace_set_item *items;
    size_t count;
    size_t capacity;
};

/* Workloads [first, first + count) of one definition. */
struct trace_set_range {
    size_t first;
    size_t count;
};

struct trace_set {
    struct arena *arena;
    struct json_document **documents; /* owned */
    size_t document_count;
    size_t document_capacity;
    const char **roots;
    size_t root_count;
    struct trace_set_list definitions; /* sorted by name */
    struct trace_set_list workloads;   /* grouped by definition, in order of reading */
    struct trace_set_list solutions;   /* sorted by name */
    struct trace_set_range *ranges;    /* one per definition */
};

enum {
    TRACE_SET_FILE_BYTES = 64 << 20, /* a definition or a solution */
    TRACE_SET_LINE_BYTES = 32 << 20  /* a line of JSONL: an evaluation holds a log of up to 5 MiB, escaped */
};

/* Reads definitions, workloads and solutions of set->roots. */
MUST_CHECK bool trace_set_load(struct trace_set *set, struct error *error);

/* Item by key in a list sorted by key, or NULL. */
const struct trace_set_item *trace_set_search(const struct trace_set_list *list, const char *key);

#endif
