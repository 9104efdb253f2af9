/*
 * What a machine can do, as a list of checks. Each check looks at one thing and has no side effect beyond loading
 * libraries and running `TOOL --version`.
 */
#ifndef PTXBENCH_CLI_DOCTOR_H
#define PTXBENCH_CLI_DOCTOR_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum doctor_status {
    DOCTOR_OK,
    DOCTOR_MISSING, /* not there, or not usable; `remedy` tells what to do */
    DOCTOR_BROKEN   /* there, but it fails */
};

/* What does not work without the thing. Ordered: the first is the least that the program is good for. */
enum doctor_need {
    DOCTOR_FOR_COMPILE,   /* required: without it the program is of no use */
    DOCTOR_FOR_EMULATION, /* judging a kernel on the emulator */
    DOCTOR_FOR_EVAL,      /* running, judging and timing it on a GPU */
    DOCTOR_FOR_EXTRA      /* richer answers: sanitizer, ncu, protection */
};

struct doctor_check {
    const char *name;  /* stable key: "nvcc", "cublaslt", "counters" */
    const char *group; /* "toolchain", "device", "libraries", "machine" */
    enum doctor_status status;
    enum doctor_need need;
    const char *detail;  /* one line: version and path, or what is wrong */
    const char *remedy;  /* NULL when the status is DOCTOR_OK */
    const char *purpose; /* static: what needs it */
};

struct doctor_device {
    int ordinal;
    const char *name;
    const char *uuid; /* "GPU-..." */
    int major;        /* compute capability */
    int minor;
    uint64_t memory_bytes;
    const char *target; /* "sm_90a", "sm_100a", or NULL when no task family runs there */
};

enum { DOCTOR_CHECKS_MAX = 32, DOCTOR_DEVICES_MAX = 64 };

struct doctor_report {
    struct doctor_check checks[DOCTOR_CHECKS_MAX];
    size_t check_count;
    struct doctor_device devices[DOCTOR_DEVICES_MAX];
    size_t device_count;
    int driver_cuda_version; /* 13000 for CUDA 13.0; 0 without a driver */
};

/* Runs all checks. Texts belong to the arena. Never fails: what cannot be found out is a finding. */
void doctor_examine(struct arena *arena, struct doctor_report *report);

/* A check that found nothing wrong yet: the caller adds detail, and status and remedy when it does. Texts are static. */
struct doctor_check doctor_check_new(const char *group, const char *name, enum doctor_need need, const char *purpose);

/* Adds a check; texts are borrowed. Checks beyond the table's size are dropped. */
void doctor_add(struct doctor_report *report, const struct doctor_check *check);

void doctor_check_toolchain(struct arena *arena, struct doctor_report *report);
void doctor_check_devices(struct arena *arena, struct doctor_report *report);
void doctor_check_libraries(struct arena *arena, struct doctor_report *report);
void doctor_check_machine(struct arena *arena, struct doctor_report *report);

/* Whether everything that `need` asks for is there. Each need implies those before it. */
bool doctor_is_able(const struct doctor_report *report, enum doctor_need need);

/* "ptxbench.doctor.v1" (docs/formats/doctor.md). The caller owns it. */
json_object *doctor_report_to_json(const struct doctor_report *report);

const char *doctor_status_text(enum doctor_status status); /* "ok", "missing", "broken" */
const char *doctor_need_text(enum doctor_need need);       /* "compile", "eval", "emulation", "extra" */

#endif
