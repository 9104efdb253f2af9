/*
 * Repair notes: for a failing kernel, what earlier kernels that look like it failed of, and how they were fixed
 * (paper, section 5.3). A pool is JSONL (docs/formats/notes.md), one failed kernel a line; ranking is BM25 over the
 * tokens of the failed kernels (SQLite FTS5, in memory).
 *
 * Not thread-safe; one pool per thread. Texts of hits belong to the arena that is passed.
 */
#ifndef PTXBENCH_AGENT_NOTES_H
#define PTXBENCH_AGENT_NOTES_H

#include "base/arena.h"
#include "base/error.h"

enum { NOTES_RECORDS_MAX = 1000000, NOTES_LINE_BYTES = 4 << 20, NOTES_DEFAULT_MOST = 3 };

struct notes;

/* Reads and indexes a pool. Malformed lines are refused with file and line. */
MUST_CHECK bool notes_open(const char *path, struct notes **out, struct error *error);
void notes_free(struct notes *notes); /* accepts NULL */
size_t notes_count(const struct notes *notes);

struct notes_query {
    const char *source;     /* the failing kernel; required */
    const char *feedback;   /* its errors: matched against those of the pool as well; NULL: not used */
    const char *op_type;    /* only this task family ("gemm"); NULL: all */
    const char *definition; /* only this definition; NULL: all */
    const char *arch;       /* only this architecture; NULL: all */
    const char *hold_out;   /* definition of which nothing is returned, nor any copy of its kernels; NULL: none */
    size_t most;            /* hits; 0: NOTES_DEFAULT_MOST */
};

struct notes_hit {
    const char *id;
    const char *definition;
    const char *op_type;
    const char *source; /* the failed kernel */
    const char *fixed;  /* NULL: no fix is known */
    const char *error;  /* how it failed; NULL: not recorded */
    const char *note;   /* what was learnt; NULL: nothing written */
    double score;       /* BM25, larger is closer */
};

/* Best first; `*count` may be 0. */
MUST_CHECK bool notes_find(struct notes *notes, struct arena *arena, const struct notes_query *query,
                           struct notes_hit **hits, size_t *count, struct error *error);

struct notes_text_options {
    bool with_fix;      /* the fixed kernel of the best hit that has one, too */
    size_t limit_bytes; /* of the text; 0: 16,000. A kernel that does not fit is left out whole, never cut. */
};

/* The block of a prompt; "" for no hits. Notes and errors are quoted as data. */
const char *notes_text(struct arena *arena, const struct notes_hit *hits, size_t count,
                       const struct notes_text_options *options);

static inline void cleanup_notes(struct notes **notes)
{
    notes_free(*notes);
}
#define AUTO_NOTES CLEANUP(cleanup_notes) struct notes

#endif
