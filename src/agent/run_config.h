/*
 * What a run is meant to do: models x tasks x workloads x variants x trajectories, and its limits. Read from a YAML file
 * (docs/formats/run.md) or filled from command-line options; kept in the run's folder as JSON, from which --resume takes
 * it. Plain data; texts belong to one arena.
 */
#ifndef PTXBENCH_AGENT_RUN_CONFIG_H
#define PTXBENCH_AGENT_RUN_CONFIG_H

#include "agent/context.h"
#include "base/record.h"

struct run_name {
    const char *name;
};

struct run_names {
    struct run_name *items;
    size_t count;
};

struct run_task {
    const char *definition;
    struct run_names workloads; /* uuids or unique prefixes; none: the first of the definition */
    const char *axes;           /* other sizes of variable axes, "M=64,N=128"; NULL: as they are */
};

/* 0: no limit. */
struct run_budget {
    int64_t tokens; /* prompt and answer */
    double usd;
    double hours; /* of a session, for the whole run; of calls and evaluations, for a trajectory */
};

struct run_evaluation {
    const char *sanitizer; /* "auto", "on", "off"; NULL: auto */
    const char *tolerance; /* "paper", "flashinfer"; NULL: paper */
    int64_t trials;        /* 0: default, likewise below */
    int64_t warmup;
    int64_t iterations;
    int64_t compile_timeout_s;
    int64_t timeout_s; /* of the whole evaluation */
    int64_t sample;    /* emulator: clusters of a large grid that run; 0: default */
};

struct run_config {
    const char *name;
    struct run_names models;     /* names of models/ or paths */
    struct run_names task_roots; /* trace sets; none: those that ship with the program */
    RECORD_LIST(struct run_task) tasks;
    struct run_names
        variants;         /* "0", "1", ...: prompt variant of the task's family; "none"; or a pack's name or path */
    int64_t trajectories; /* per model, workload and variant */
    int64_t turns;
    double target_speedup; /* early stop; 0: off */
    const char *context;   /* context_policy_text */
    const char *arch;      /* "sm_90a" */
    const char *language;  /* of the prompts: "cuda-ptx" */
    const char *binding;   /* "tvm-ffi", "c": what the prompts ask for; kernels with either are judged */
    bool guidance;         /* expert guidance in the prompt */
    const char *notes;     /* pool of repair notes; NULL: none */
    bool notes_with_fix;
    struct run_names devices; /* one worker each; a name may repeat */
    int64_t parallel;         /* trajectories under way at once */
    int64_t retries;          /* of a turn */
    int64_t call_attempts;    /* of a call, with backoff, before it is a retry of the turn; 0: the client's default */
    int64_t retry_delay_ms;
    int64_t seed;
    struct run_budget budget;            /* of the run: it pauses */
    struct run_budget trajectory_budget; /* of each trajectory: it ends */
    struct run_evaluation evaluation;
};

/* The paper's protocol: 8 turns, 1.2 x, all of the conversation, sm_90a, CUDA-PTX with TVM-FFI on cuda:0. */
struct run_config run_config_defaults(void);

/* Reads a YAML file; what it does not say stays as in `config`. Unknown keys and wrong values are ERROR_INPUT with file
 * and line. Relative paths of models, packs, notes and task roots that exist beside the file count from its folder. */
MUST_CHECK bool run_config_read(struct arena *arena, const char *path, struct run_config *config, struct error *error);

/* Whether it can be run: models, tasks, numbers in range, known words. ERROR_USAGE names the key. */
MUST_CHECK bool run_config_check(const struct run_config *config, struct error *error);

/* As JSON and back, for run.json. */
json_object *run_config_to_json(const struct run_config *config);
MUST_CHECK bool run_config_from_json(struct json at, struct arena *arena, struct run_config *config,
                                     struct error *error);

/* Appends a name. */
void run_names_add(struct run_names *names, struct arena *arena, const char *name);

#endif
