/*
 * The kernel in a model's answer. Pure: no files, no clock.
 *
 * An answer is Markdown that no one checked: fences of backticks or tildes of any length, any or no language tag, CRLF,
 * a byte order mark, several blocks (a helper header, the kernel, a compile command), a fence inside a fence, a missing
 * closing fence, thinking parts, or no fence at all. The rule: the last block that is a whole kernel file (an exported
 * entry and a kernel or a launch) wins; blocks that are a whole file only together are joined in their order. Text inside
 * <think> counts only when nothing outside it does.
 *
 * Results point into the arena, never into the answer. Not thread-safe per arena.
 */
#ifndef PTXBENCH_AGENT_EXTRACT_H
#define PTXBENCH_AGENT_EXTRACT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Bytes of a text; NUL-terminated too when it comes from an arena. */
struct text_span {
    const char *text;
    size_t length;
};

enum {
    EXTRACT_ANSWER_BYTES = 4 << 20, /* what is behind is not read */
    EXTRACT_BLOCKS = 256            /* most blocks of one answer; of more, the last ones count */
};

enum extract_status {
    EXTRACT_FOUND,    /* one block is clearly the kernel */
    EXTRACT_UNSURE,   /* `code` is the best guess; asking once is worth it (extract_question) */
    EXTRACT_NONE,     /* no code in the answer */
    EXTRACT_TRUNCATED /* the answer stops inside the kernel; `code` is what there is */
};

/* What the answer's code is written in, and so what a whole file looks like. */
enum extract_language { EXTRACT_CUDA, EXTRACT_PYTHON /* Triton, CuTe DSL */ };

/* One block of the answer that holds code of the wanted language, or may hold it. */
struct extract_block {
    int number; /* 1-based among all blocks of the answer, as extract_question counts */
    struct text_span code;
    const char *tag;   /* lower-case word behind the fence, "" for none */
    bool closed;       /* has its closing fence */
    bool thinking;     /* inside a thinking part */
    bool entry;        /* exports an entry point */
    bool kernel;       /* defines a kernel */
    bool launch;       /* launches one */
    bool whole_syntax; /* brackets, comments and strings are closed */
};

struct extract_result {
    enum extract_status status;
    enum extract_language language;
    struct text_span code;            /* UTF-8 as it was, line ends "\n", ends with "\n"; length 0: none */
    const char *reason;               /* one line: why this status or this block; never NULL */
    int blocks;                       /* fenced blocks in the answer, of any language */
    struct extract_block *candidates; /* what `code` was chosen from, in the answer's order */
    size_t candidate_count;
};

/* CUDA. Never fails; the answer needs no terminator and may hold any bytes (NUL bytes are dropped). */
void extract_code(const char *answer, size_t bytes, struct arena *arena, struct extract_result *out);

void extract_code_of(const char *answer, size_t bytes, enum extract_language language, struct arena *arena,
                     struct extract_result *out);

/* A short user message for the model: which of these numbered blocks is the final kernel? It quotes each candidate's
 * first and last lines. To be sent behind the answer, with a small output limit; it spends no turn. */
const char *extract_question(struct arena *arena, const struct extract_result *result);

/* Reads the model's reply ("block 2", "2", "**Block 2**.", "none", or the whole kernel in a fence again). True: `code`
 * is set, length 0 for "none". False: the reply names no candidate; use result->code, or count the turn as without code. */
bool extract_read_choice(struct arena *arena, const struct extract_result *result, const char *reply, size_t bytes,
                         struct text_span *code);

const char *extract_status_text(enum extract_status status); /* "found", "unsure", "none", "truncated" */

#endif
