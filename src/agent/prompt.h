/*
 * The texts that a model is sent. They are made from the templates in prompts/ (base/resource.h finds the folder), so
 * that wording is changed without a compiler. Placeholders and how they are filled: agent/prompt_template.h.
 *
 * The model sees the whole FlashInfer-Trace definition (without `tags`) and the sizes of every axis and tensor of the
 * workload. All texts go to the arena. Errors: a missing or malformed template (ERROR_NOT_FOUND, ERROR_INPUT), an
 * unknown language (ERROR_NOT_FOUND, with the known ones as hint).
 */
#ifndef PTXBENCH_AGENT_PROMPT_H
#define PTXBENCH_AGENT_PROMPT_H

#include "agent/extract.h"
#include "base/arena.h"
#include "base/error.h"
#include "trace/workload.h"

/* Borrowed. */
struct prompt_task {
    const struct workload *workload;
    const char *arch;      /* "sm_90a", "sm_100a" */
    const char *language;  /* a folder of prompts/: "cuda-ptx", "triton", "cute-dsl" */
    const char *binding;   /* "tvm-ffi" or "c": which ABI is asked for; NULL: "tvm-ffi" */
    const char *pack_text; /* reference material; NULL or "": none */
    const char *guidance;  /* expert guidance; NULL or "": none */
    double target_speedup; /* 0: none stated */
};

/* What a later turn is told besides the feedback. */
struct prompt_turn {
    const char *feedback; /* feedback.h */
    const char *notes;    /* notes.h; NULL or "": none */
    int turn;             /* 1-based, of the answer that is now asked for */
    int turn_limit;       /* 0: not told */
    double best_speedup;  /* of the earlier turns; 0: none was correct */
};

/* What the model's answer is read with. */
enum extract_language prompt_extract_language(const char *language);

MUST_CHECK bool prompt_system(struct arena *arena, const struct prompt_task *task, const char **out,
                              struct error *error);

/* First user message: the task. */
MUST_CHECK bool prompt_first_turn(struct arena *arena, const struct prompt_task *task, const char **out,
                                  struct error *error);

/* User message behind a judged answer. */
MUST_CHECK bool prompt_next_turn(struct arena *arena, const struct prompt_task *task, const struct prompt_turn *turn,
                                 const char **out, struct error *error);

/* User message of a repair task: the task, the wrong kernel and the feedback for it; `notes` may be NULL. */
MUST_CHECK bool prompt_repair(struct arena *arena, const struct prompt_task *task, const char *wrong_source,
                              const char *feedback, const char *notes, const char **out, struct error *error);

/* User message behind an answer without usable code (EXTRACT_NONE or EXTRACT_TRUNCATED). */
MUST_CHECK bool prompt_no_code(struct arena *arena, const struct prompt_task *task, const struct extract_result *result,
                               const struct prompt_turn *turn, const char **out, struct error *error);

/* The example of the ABI that the system text shows, for tests that compile it. NULL example: none in the language. */
MUST_CHECK bool prompt_abi_example(struct arena *arena, const struct prompt_task *task, const char **out,
                                   struct error *error);

#endif
