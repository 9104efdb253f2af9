/*
 * Holds a pack to what it promises:
 *
 *   resolve   every part, nested pack and kernel is there
 *   size      the text stays within max_tokens
 *   compile   all ```cuda blocks of the text, in order, are one file that nvcc compiles for the architecture
 *   kernels   each kernel of the composition compiles, without warnings and advisories
 *   used      each function that the blocks define is called by a kernel
 *   names     each name that a text writes as a call is defined in the pack or belongs to CUDA or C++
 *
 * Needs nvcc; compilations come from the cache when nothing changed.
 */
#ifndef PTXBENCH_AGENT_PACK_CHECK_H
#define PTXBENCH_AGENT_PACK_CHECK_H

#include "agent/pack.h"
#include "agent/tokens.h"
#include "toolchain/toolchain.h"

struct pack_check_options {
    const struct toolchain *toolchain;
    const struct tokenizer *tokenizer; /* NULL: sizes are estimates */
    const char *cache_root;            /* NULL: the user's */
    bool skip_compile;                 /* only what needs no compiler */
};

struct pack_problem {
    const char *check;   /* "resolve", "size", ... */
    const char *subject; /* file, function or name */
    const char *message; /* one line */
};

struct pack_report {
    int64_t tokens;
    bool tokens_estimated;
    int64_t bytes;
    size_t blocks;    /* fenced blocks that claim to compile */
    size_t functions; /* that they define */
    size_t kernels;
    const struct pack_problem *problems;
    size_t problem_count;
};

/* False only for trouble that says nothing about the pack (no nvcc, full disk); defects are problems of the report. */
MUST_CHECK bool pack_check(struct arena *arena, const struct pack *pack, const struct pack_check_options *options,
                           struct pack_report *report, struct error *error);

#endif
