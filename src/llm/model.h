/*
 * A model as runs name it: one YAML file, docs/formats/model.md. It says who serves the model, how it is asked
 * (sampling, reasoning, limits) and what it costs. It never holds a credential, only the name of the environment variable
 * that does.
 */
#ifndef PTXBENCH_LLM_MODEL_H
#define PTXBENCH_LLM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/record.h"

/* What is not known is not sent, so that the provider's own default holds. */
struct model_sampling {
    struct number temperature;
    struct number top_p;
    struct count top_k;
    struct number min_p;
    struct number presence_penalty;
    struct number frequency_penalty;
    struct number repetition_penalty;
};

struct model_reasoning {
    const char *thinking; /* anthropic: "adaptive", "enabled" (with a budget) or "disabled"; NULL: not sent */
    const char *effort;   /* "low" ... "xhigh"; NULL: not sent */
    struct count budget_tokens;
    bool visible; /* ask for the reasoning text (or its summary) where the provider hides it by default */
};

/* US dollars per million tokens, for calls whose input is at most `up_to_input_tokens`. */
struct model_price {
    int64_t up_to_input_tokens; /* INT64_MAX: no bound */
    double input;
    double cached_input; /* read from the provider's cache; < 0: unknown */
    double cache_write;  /* written to it; likewise */
    double output;       /* reasoning included */
};

struct model_config {
    const char *name;     /* for people and run folders: [A-Za-z0-9._-]+ */
    const char *path;     /* the file */
    const char *provider; /* a name of llm/provider.h: "openai", "openrouter", "vllm", "sglang", "anthropic", "gemini",
                             "replay", "script" */
    const char *base_url; /* without trailing slash; never NULL for providers over HTTP */
    const char *model_id; /* the provider's name of the model */
    const char *api_key_env; /* environment variable; NULL: the server wants none */
    struct model_sampling sampling;
    struct model_reasoning reasoning;
    int64_t context_tokens;            /* input and output together; 0: unknown */
    int64_t max_output_tokens;         /* reasoning included; 0: unknown */
    bool send_max_output_tokens;       /* false: the provider's default length holds */
    bool prompt_cache;                 /* anthropic: mark the conversation for caching */
    const char *const *only_providers; /* openrouter: no other upstream may serve it; NULL-terminated, or NULL */
    const char *extra_body;            /* text of a JSON object whose members are added to each request; NULL: none */
    const char *const *command;        /* script: argv, NULL-terminated */
    const char *replay;       /* replay: JSONL file of answers; a relative path counts from the YAML's folder */
    int64_t max_parallel;     /* calls at once; 0: no limit of the model's */
    int64_t idle_timeout_ns;  /* nothing at all came for so long: the attempt is given up; 0: the client's default */
    int64_t stall_timeout_ns; /* only signs of life, no text or reasoning, for so long; 0: the client's default */
    const struct model_price *prices; /* by rising bound */
    size_t price_count;               /* 0: costs are unknown */
    const char *price_source;         /* where the prices stood, and when */
    const char *price_date;
    const char *notes;
};

/* Reads one file; everything lives in the arena. Unknown keys, missing ones and values out of range are ERROR_INPUT with
 * file, line and key; a missing file is ERROR_NOT_FOUND. */
MUST_CHECK bool model_config_read(struct arena *arena, const char *path, struct model_config *model,
                                  struct error *error);

/* As model_config_read for a path (with a slash, or ending in .yaml) or for the name of a file of ours in models/. An
 * unknown name is ERROR_NOT_FOUND and the hint lists what there is. */
MUST_CHECK bool model_config_open(struct arena *arena, const char *name_or_path, struct model_config *model,
                                  struct error *error);

/* Names of the models in models/, sorted; `folder` is where they are. */
MUST_CHECK bool model_config_names(struct arena *arena, const char **folder, char ***names, size_t *count,
                                   struct error *error);

#endif
