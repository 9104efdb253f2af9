/* Shared by the diagnostics_*.c files. */
#ifndef PTXBENCH_TOOLCHAIN_DIAGNOSTICS_INTERNAL_H
#define PTXBENCH_TOOLCHAIN_DIAGNOSTICS_INTERNAL_H

#include "toolchain/diagnostics.h"
#include "toolchain/ptx_lines.h"

struct diagnostics_parser {
    struct arena *arena;
    const struct diagnostics_paths *paths;
    struct ptx_lines *ptx_lines; /* NULL when unknown */
    struct diagnostics *out;
    size_t capacity;
    size_t kernel_capacity;
    struct diagnostic *last;        /* that continuation lines belong to, or NULL */
    const char *arch;               /* of the kernel that ptxas talks about */
    const char *entry;              /* likewise */
    struct kernel_resources *frame; /* that a line with the stack frame belongs to */
};

/* Each takes one line (terminated, printable) and returns whether it was theirs. */
bool diagnostics_take_ptxas(struct diagnostics_parser *parser, const char *line);
bool diagnostics_take_resources(struct diagnostics_parser *parser, const char *line);
bool diagnostics_take_frontend(struct diagnostics_parser *parser, const char *line); /* FILE(LINE): error: ... */
bool diagnostics_take_gcc(struct diagnostics_parser *parser, const char *line);      /* FILE:LINE:COL: error: ... */
bool diagnostics_take_linker(struct diagnostics_parser *parser, const char *line);
bool diagnostics_take_driver(struct diagnostics_parser *parser, const char *line); /* nvcc fatal : ... */
bool diagnostics_take_continuation(struct diagnostics_parser *parser, const char *line);

/* Adds a copy, unless it repeats one that is there or the cap is reached (NULL then). Fills the hint. */
struct diagnostic *diagnostics_add(struct diagnostics_parser *parser, const struct diagnostic *diagnostic);

/* Candidate's name of a path in the text; NULL for a temporary file that stands for nothing known. */
const char *diagnostics_source_name(struct diagnostics_parser *parser, const char *path, size_t length);

/* Advice for a code or, failing that, for words of the message; NULL when there is none. */
const char *diagnostics_hint_of(const char *code, const char *message);

#endif
