/*
 * The socket between a worker and one runner: SOCK_SEQPACKET, one message a packet, descriptors by SCM_RIGHTS.
 *
 *     worker                          runner
 *                             <--     READY      warm: context, CUPTI, libraries
 *     LOAD + 3 descriptors    -->                object, inputs (read-only), outputs
 *                             <--     LOADED  or FAILED
 *     RUN                     -->                any number of times
 *                             <--     DONE    or FAILED; then TIMES or COUNTS when asked for
 *     (close)                 -->                the runner exits
 *
 * Everything that a runner sends may be forged by the candidate inside it: the worker checks ranges, trusts no number
 * for correctness, and audits times with its own clock. A message is a fixed struct: both ends are one build.
 */
#ifndef PTXBENCH_DEVICE_CHANNEL_H
#define PTXBENCH_DEVICE_CHANNEL_H

#include <stdint.h>

#include "base/error.h"
#include "device/activity.h"
#include "trace/dtype.h"

enum {
    CHANNEL_MAX_ARGUMENTS = 24,
    CHANNEL_MAX_ITEMS = 64,
    CHANNEL_MAX_DESCRIPTORS = 3,
    CHANNEL_TEXT_BYTES = 1024,
    CHANNEL_RUNNER_FD = 3,   /* where a runner finds its end */
    CHANNEL_LOST_STATUS = 77 /* exit status of a runner whose channel was closed under it */
};

/* What a standalone runner prints when it has completed: proof for a tool that wraps it. */
#define STANDALONE_WITNESS "ptxbench-runner: completed"

enum message_type {
    MESSAGE_READY = 1,
    MESSAGE_LOAD,
    MESSAGE_LOADED,
    MESSAGE_RUN,
    MESSAGE_DONE,
    MESSAGE_TIMES,
    MESSAGE_COUNTS,
    MESSAGE_FAILED,
    MESSAGE_VIOLATION
};

enum runner_binding { RUNNER_BINDING_TVM_FFI, RUNNER_BINDING_C };

enum run_flags {
    RUN_FLUSH = 1, /* evict L2 before each call */
    RUN_TIME = 2,  /* record device activity; answers TIMES */
    RUN_COUNT = 4  /* count executed instructions; answers COUNTS with a memfd */
};

enum argument_kind { ARGUMENT_INPUT, ARGUMENT_OUTPUT, ARGUMENT_SCALAR };

/* Where a failure happened in the runner. */
enum failure_stage {
    FAILURE_SETUP,   /* our own doing: infrastructure */
    FAILURE_LOAD,    /* dlopen or missing entry: the candidate */
    FAILURE_CALL,    /* the entry returned an error; `code` is its value */
    FAILURE_DEVICE,  /* a CUDA error after the call; `code` is the CUresult */
    FAILURE_MEASURE, /* CUPTI trouble: infrastructure */
    FAILURE_STAGE_COUNT
};

struct message_argument {
    int32_t kind; /* enum argument_kind */
    int32_t dtype;
    int32_t rank;
    int32_t unused;
    int64_t dims[TENSOR_MAX_RANK];
    int64_t offset; /* bytes from the start of an input set or an output slot */
    double real;    /* scalars */
    int64_t integer;
};

struct message_ready {
    int64_t start_ns;     /* process start to ready */
    int64_t iteration_ns; /* cost of one empty iteration: flush, two synchronisations */
    uint32_t cupti_version;
    int32_t counters_ok;     /* SASS counters answered during the warm-up */
    char counters_text[256]; /* why not */
    char sandbox[64];
};

struct message_load { /* descriptors: object, inputs, outputs */
    int32_t binding;
    int32_t argument_count;
    int32_t inputs_writable; /* only to diagnose a candidate that writes into its inputs */
    int32_t unused;
    int64_t inputs_bytes;
    int64_t input_stride; /* bytes from one input set to the next */
    int64_t outputs_bytes;
    int64_t output_stride;
    char entry[128]; /* symbol */
    struct message_argument arguments[CHANNEL_MAX_ARGUMENTS];
};

struct run_item {
    int32_t input_set;
    int32_t output_slot;
};

struct message_run {
    int32_t flags;
    int32_t count;
    int64_t pause_ns; /* idle time behind each call, so that the device stays below its power limit */
    struct run_item items[CHANNEL_MAX_ITEMS];
};

struct message_done {
    int64_t loop_ns; /* the runner's own clock; for information */
    int32_t count;
};

struct message_times {
    int32_t count;
    struct activity_iteration iterations[CHANNEL_MAX_ITEMS];
};

/* One record of the memfd that comes with COUNTS. */
struct count_record {
    uint32_t cubin_crc;
    uint32_t pc_offset;
    uint64_t warps;
    uint64_t threads;
    char function[512]; /* mangled name, cut when longer */
};

struct message_counts { /* descriptor: memfd of count_record */
    int32_t ok;
    int32_t count;
    char text[256]; /* why not */
};

struct message_failed {
    int32_t stage;
    int32_t code;
    int32_t iteration;
    char text[CHANNEL_TEXT_BYTES];
};

struct message_violation {
    int32_t syscall;
};

struct message {
    uint32_t magic;
    uint32_t type; /* enum message_type */
    union {
        struct message_ready ready;
        struct message_load load;
        struct message_run run;
        struct message_done done;
        struct message_times times;
        struct message_counts counts;
        struct message_failed failed;
        struct message_violation violation;
    } body;
};

enum channel_result {
    CHANNEL_OK,
    CHANNEL_EMPTY,  /* non-blocking: nothing there */
    CHANNEL_CLOSED, /* the other end is gone */
    CHANNEL_INVALID /* not one of our messages */
};

/* Makes a connected pair; both ends close on exec. */
MUST_CHECK bool channel_pair(int *left, int *right, struct error *error);

/* Sets magic and type and sends; descriptors stay the caller's. Async-signal-safe. Never waits: an end that reads is at
 * most two messages behind, and one that does not must not hold the other; CHANNEL_CLOSED then, too. */
enum channel_result channel_send(int fd, struct message *message, enum message_type type, const int *descriptors,
                                 int descriptor_count);

/* Receives one message; descriptors become the caller's. `wait`: block until one comes. Text members are terminated.
 * Unknown types, wrong sizes and counts out of range are CHANNEL_INVALID. */
enum channel_result channel_receive(int fd, bool wait, struct message *message,
                                    int descriptors[CHANNEL_MAX_DESCRIPTORS], int *descriptor_count);

/* The range checks of channel_receive, for tests and fuzzing. */
bool channel_message_is_valid(struct message *message, size_t size);

#endif
