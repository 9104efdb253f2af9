/*
 * A trace set: folders definitions/, workloads/, solutions/ (read at once) and traces/ (read when asked), merged from
 * one or more roots. Equal duplicates are one; the same name or uuid with different content is an error that names
 * both files. Format: docs/formats/trace-set.md. Immutable after opening.
 */
#ifndef PTXBENCH_TRACE_TRACE_SET_H
#define PTXBENCH_TRACE_TRACE_SET_H

#include "base/jsonl.h"
#include "trace/solution.h"
#include "trace/trace.h"

struct trace_set;

/* Reads and checks the roots. A root that is no folder is ERROR_NOT_FOUND; any malformed file fails the whole. */
MUST_CHECK bool trace_set_open(const char *const *roots, size_t root_count, struct trace_set **out,
                               struct error *error);

/* Releases the set and everything borrowed from it; accepts NULL. */
void trace_set_free(struct trace_set *set);

/* Everything below is borrowed from the set. Definitions are sorted by name; workloads keep the order of their file. */
size_t trace_set_definition_count(const struct trace_set *set);
const struct definition *trace_set_definition(const struct trace_set *set, size_t index);
size_t trace_set_workload_count(const struct trace_set *set, const struct definition *definition);
const struct workload *trace_set_workload(const struct trace_set *set, const struct definition *definition,
                                          size_t index);
size_t trace_set_solution_count(const struct trace_set *set);
const struct solution *trace_set_solution(const struct trace_set *set, size_t index);

/* ERROR_NOT_FOUND names the closest existing name as a hint. */
MUST_CHECK bool trace_set_find_definition(const struct trace_set *set, const char *name, const struct definition **out,
                                          struct error *error);
MUST_CHECK bool trace_set_find_solution(const struct trace_set *set, const char *name, const struct solution **out,
                                        struct error *error);

/* The workload of a definition by uuid or by a unique prefix of at least 4 characters; the first workload of the
 * definition when `uuid` is NULL. */
MUST_CHECK bool trace_set_find_workload(const struct trace_set *set, const char *definition_name, const char *uuid,
                                        const struct workload **out, struct error *error);

/* Calls `visit` for every trace with an evaluation, file by file; stops at the first false. Lines that are not JSON
 * (a crash tore them) are refused or skipped with a warning; malformed traces are always refused. */
typedef bool trace_set_visit(const struct trace *trace, void *context, struct error *error);
MUST_CHECK bool trace_set_each_trace(const struct trace_set *set, enum jsonl_broken broken, trace_set_visit *visit,
                                     void *context, struct error *error);

static inline void cleanup_trace_set(struct trace_set **set)
{
    trace_set_free(*set);
}
#define AUTO_TRACE_SET CLEANUP(cleanup_trace_set) struct trace_set

#endif
