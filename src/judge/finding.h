/*
 * A finding: one explained defect or remark of one evaluation. Findings are what a person or a model repairs a
 * candidate with, so each says what happened, where, and what to try.
 */
#ifndef PTXBENCH_JUDGE_FINDING_H
#define PTXBENCH_JUDGE_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/record.h"

/* error: fails or is wrong. hazard: a legal order of events makes it wrong, or speed is lost silently. note: worth
 * knowing. */
enum finding_class { FINDING_CLASS_ERROR, FINDING_CLASS_HAZARD, FINDING_CLASS_NOTE };

/* Who is at fault. Only BLAME_CANDIDATE ever counts against a model. */
#define BLAMES(X)                                                                                                      \
    X(BLAME_NONE, "none")                                                                                              \
    X(BLAME_CANDIDATE, "candidate")                                                                                    \
    X(BLAME_TOOL, "tool")                     /* nvcc, compute-sanitizer, ncu, CUPTI missing or broken */              \
    X(BLAME_DEVICE, "device")                 /* the GPU or its driver: ECC, fell off the bus, throttled for good */   \
    X(BLAME_INFRASTRUCTURE, "infrastructure") /* host: disk full, out of memory, lost connection, bug of ours */

enum blame {
#define X(name, text) name,
    BLAMES(X)
#undef X
};

/* Step of the evaluation that found it (design: one evaluation, as data flows). */
#define FINDING_STAGES(X)                                                                                              \
    X(STAGE_COMPILE, "compile")                                                                                        \
    X(STAGE_SCREEN, "screen")                                                                                          \
    X(STAGE_LOAD, "load")                                                                                              \
    X(STAGE_RUN, "run")                                                                                                \
    X(STAGE_COMPARE, "compare")                                                                                        \
    X(STAGE_TIMING, "timing")                                                                                          \
    X(STAGE_TARGET, "target")                                                                                          \
    X(STAGE_SANITIZER, "sanitizer")                                                                                    \
    X(STAGE_EMULATOR, "emulator")                                                                                      \
    X(STAGE_JUDGE, "judge")

enum finding_stage {
#define X(name, text) name,
    FINDING_STAGES(X)
#undef X
};

/* enumerator, code in JSON, class, blame, stage, default hint */
#define FINDING_CODES(X)                                                                                               \
    X(FINDING_COMPILE_ERROR, "compile_error", ERROR, CANDIDATE, COMPILE,                                               \
      "fix the line that the compiler names; the message is that of nvcc or ptxas")                                    \
    X(FINDING_COMPILE_TIMEOUT, "compile_timeout", ERROR, CANDIDATE, COMPILE,                                           \
      "reduce unrolling, template instantiation or the number of kernels in one file")                                 \
    X(FINDING_COMPILE_ADVISORY, "compile_advisory", HAZARD, CANDIDATE, COMPILE,                                        \
      "ptxas dropped or serialised something that the source asks for; the kernel runs, but not as written")           \
    X(FINDING_REGISTER_SPILL, "register_spill", NOTE, CANDIDATE, COMPILE,                                              \
      "spilled registers go through local memory: shrink the tile, raise the register budget or use fewer live "       \
      "accumulators")                                                                                                  \
    X(FINDING_BANNED_LIBRARY, "banned_library", ERROR, CANDIDATE, SCREEN,                                              \
      "the task asks for an own kernel: remove the vendor library, its header and any dlopen of it")                   \
    X(FINDING_FORBIDDEN_CALL, "forbidden_call", ERROR, CANDIDATE, SCREEN,                                              \
      "a candidate may compute and launch, not load code, start processes or reach into others")                       \
    X(FINDING_FOREIGN_CODE, "foreign_code", ERROR, CANDIDATE, SCREEN,                                                  \
      "device code must come from the submitted source, not from embedded or loaded binaries")                         \
    X(FINDING_ENTRY_MISSING, "entry_missing", ERROR, CANDIDATE, LOAD,                                                  \
      "export the entry point that the solution names, with C linkage")                                                \
    X(FINDING_LOAD_FAILED, "load_failed", ERROR, CANDIDATE, LOAD,                                                      \
      "the built object does not load: look for an undefined symbol or a constructor that fails")                      \
    X(FINDING_WRONG_ARITY, "wrong_arity", ERROR, CANDIDATE, LOAD,                                                      \
      "take the inputs and then the outputs in the order of the definition")                                           \
    X(FINDING_WRONG_SHAPE, "wrong_shape", ERROR, CANDIDATE, COMPARE, "write the shape that the definition declares")   \
    X(FINDING_WRONG_DTYPE, "wrong_dtype", ERROR, CANDIDATE, COMPARE, "write the dtype that the definition declares")   \
    X(FINDING_ENTRY_FAILED, "entry_failed", ERROR, CANDIDATE, RUN,                                                     \
      "the entry point reported an error of its own; check the call that returned this code")                          \
    X(FINDING_LAUNCH_FAILURE, "launch_failure", ERROR, CANDIDATE, RUN,                                                 \
      "check grid, block and cluster sizes, dynamic shared memory (cudaFuncSetAttribute above 48 KiB) and registers "  \
      "per thread")                                                                                                    \
    X(FINDING_ILLEGAL_ADDRESS, "illegal_address", ERROR, CANDIDATE, RUN,                                               \
      "an access outside every allocation: check strides, the last tile and tensor map bounds; run with the "          \
      "sanitizer for the line")                                                                                        \
    X(FINDING_MISALIGNED_ADDRESS, "misaligned_address", ERROR, CANDIDATE, RUN,                                         \
      "vector accesses need natural alignment, TMA shared memory 128 bytes, swizzle-128B tiles 1024 bytes")            \
    X(FINDING_ILLEGAL_INSTRUCTION, "illegal_instruction", ERROR, CANDIDATE, RUN,                                       \
      "a malformed descriptor, a wgmma or tcgen05 operand out of place, or an instruction of another architecture")    \
    X(FINDING_DEVICE_TRAP, "device_trap", ERROR, CANDIDATE, RUN, "the kernel executed trap or a failed assert")        \
    X(FINDING_KERNEL_HANG, "kernel_hang", ERROR, CANDIDATE, RUN,                                                       \
      "a wait that nothing completes: compare mbarrier arrival and transaction counts with what really arrives, and "  \
      "the phase parity of each wait")                                                                                 \
    X(FINDING_HOST_HANG, "host_hang", ERROR, CANDIDATE, RUN,                                                           \
      "the entry point did not return although the device was idle: look for a host loop, lock or sleep")              \
    X(FINDING_DEVICE_MEMORY, "device_memory", ERROR, CANDIDATE, RUN,                                                   \
      "the candidate asked for more device memory than is free; use less workspace")                                   \
    X(FINDING_HOST_EXIT, "host_exit", ERROR, CANDIDATE, RUN,                                                           \
      "return an error code from the entry point instead of calling exit")                                             \
    X(FINDING_HOST_ABORT, "host_abort", ERROR, CANDIDATE, RUN, "an assert, abort or uncaught exception on the host")   \
    X(FINDING_HOST_SIGNAL, "host_signal", ERROR, CANDIDATE, RUN,                                                       \
      "host code crashed: remember that tensor data pointers are device memory")                                       \
    X(FINDING_FORBIDDEN_SYSCALL, "forbidden_syscall", ERROR, CANDIDATE, RUN,                                           \
      "a candidate may compute and launch, not start processes, open sockets or write files")                          \
    X(FINDING_DESCRIPTORS_CLOSED, "descriptors_closed", ERROR, CANDIDATE, RUN,                                         \
      "do not close or reuse descriptors that you did not open")                                                       \
    X(FINDING_REPORT_FORGED, "report_forged", ERROR, CANDIDATE, RUN,                                                   \
      "the runner's report did not follow the protocol: the candidate wrote into it")                                  \
    X(FINDING_INPUT_OVERWRITTEN, "input_overwritten", ERROR, CANDIDATE, COMPARE,                                       \
      "inputs are read-only; use a workspace of your own")                                                             \
    X(FINDING_OUTPUT_UNTOUCHED, "output_untouched", ERROR, CANDIDATE, COMPARE,                                         \
      "elements still hold the poison that was there before the call: check grid size, tail tiles and early returns")  \
    X(FINDING_GUARD_OVERWRITTEN, "guard_overwritten", ERROR, CANDIDATE, COMPARE,                                       \
      "bytes before or behind an output were written: check the bounds of the last tile")                              \
    X(FINDING_NAN, "nan", ERROR, CANDIDATE, COMPARE,                                                                   \
      "NaN where the reference has a number: uninitialised shared memory or accumulators, inf - inf in a softmax, "    \
      "or a read before the copy landed")                                                                              \
    X(FINDING_NUMERICAL_MISMATCH, "numerical_mismatch", ERROR, CANDIDATE, COMPARE,                                     \
      "compare the first mismatch and the tile pattern with your tiling: a regular pattern is a wrong layout, "        \
      "swizzle or missing K step; random places are a race")                                                           \
    X(FINDING_NONDETERMINISTIC, "nondeterministic", HAZARD, CANDIDATE, COMPARE,                                        \
      "equal inputs gave different outputs: a race, or atomics in floating point")                                     \
    X(FINDING_TIMED_OUTPUT_WRONG, "timed_output_wrong", ERROR, CANDIDATE, TIMING,                                      \
      "right at first, wrong when timed: state kept between calls, a race, or a skipped computation")                  \
    X(FINDING_RESULT_MEMOISED, "result_memoised", ERROR, CANDIDATE, TIMING,                                            \
      "much faster on inputs it had seen before: compute the result in every call")                                    \
    X(FINDING_FASTER_THAN_HARDWARE, "faster_than_hardware", ERROR, CANDIDATE, TIMING,                                  \
      "no kernel can be this fast on this device: results were kept from earlier calls, or work was moved out of the " \
      "timed ones")                                                                                                    \
    X(FINDING_TIMING_MISMATCH, "timing_mismatch", ERROR, CANDIDATE, TIMING,                                            \
      "device timestamps claim less time than passed on the worker's clock; do not touch timers or profilers")         \
    X(FINDING_HOST_TIME, "host_time", NOTE, CANDIDATE, TIMING,                                                         \
      "host work dominates the call: allocate, encode tensor maps and set attributes once, not per call")              \
    X(FINDING_LATE_WORK, "late_work", ERROR, CANDIDATE, TIMING,                                                        \
      "work was still running after the call's stream had finished: enqueue everything on the given stream")           \
    X(FINDING_NO_DEVICE_WORK, "no_device_work", ERROR, CANDIDATE, TIMING,                                              \
      "no kernel ran during a timed call although the output must be computed on the device")                          \
    X(FINDING_TARGET_ABSENT, "target_absent", NOTE, CANDIDATE, TARGET,                                                 \
      "the object holds none of the target instructions: use wgmma and TMA (Hopper) or tcgen05 (Blackwell)")           \
    X(FINDING_TARGET_NOT_EXECUTED, "target_not_executed", NOTE, CANDIDATE, TARGET,                                     \
      "target instructions are in the object but did not run: is the kernel launched, is the branch taken?")           \
    X(FINDING_TENSOR_SHARE_LOW, "tensor_share_low", NOTE, CANDIDATE, TARGET,                                           \
      "most of the required arithmetic ran outside the tensor cores")                                                  \
    X(FINDING_MEMCHECK, "memcheck", ERROR, CANDIDATE, SANITIZER,                                                       \
      "an invalid access that may pass unnoticed here and fail elsewhere: fix the index at this line")                 \
    X(FINDING_RACECHECK, "racecheck", HAZARD, CANDIDATE, SANITIZER,                                                    \
      "two threads touch the same shared memory without a barrier in between")                                         \
    X(FINDING_SYNCCHECK, "synccheck", ERROR, CANDIDATE, SANITIZER,                                                     \
      "every participating thread must reach the barrier")                                                             \
    X(FINDING_INITCHECK, "initcheck", HAZARD, CANDIDATE, SANITIZER, "device memory is read before it is written")      \
    X(FINDING_MEMORY_LEAK, "memory_leak", NOTE, CANDIDATE, SANITIZER, "free what each call allocates")                 \
    X(FINDING_API_ERROR, "api_error", ERROR, CANDIDATE, SANITIZER,                                                     \
      "a CUDA call of the candidate failed; check its return value")                                                   \
    X(FINDING_THROTTLED, "throttled", NOTE, DEVICE, TIMING,                                                            \
      "the clock was lowered by heat or power during timing: repeat on a cooler or less loaded device")                \
    X(FINDING_CLOCK_DRIFT, "clock_drift", NOTE, DEVICE, TIMING,                                                        \
      "trials drift in one direction: more warm-up, or lock the clocks")                                               \
    X(FINDING_NOISY_TIMING, "noisy_timing", NOTE, DEVICE, TIMING,                                                      \
      "the spread is wide: see whether something else runs on this device")                                            \
    X(FINDING_EMULATOR_SILENT, "emulator_silent", NOTE, TOOL, EMULATOR,                                                \
      "look for what only overlap on a real device shows: races between warps or CTAs, and what earlier calls left "   \
      "behind")                                                                                                        \
    X(FINDING_TOOL_TROUBLE, "tool_trouble", NOTE, TOOL, JUDGE,                                                         \
      "a tool could not do its work; the candidate is not judged by it")                                               \
    X(FINDING_DEVICE_TROUBLE, "device_trouble", ERROR, DEVICE, JUDGE,                                                  \
      "the device failed outside the candidate: check dmesg and nvidia-smi, then repeat")                              \
    X(FINDING_INFRASTRUCTURE, "infrastructure", ERROR, INFRASTRUCTURE, JUDGE,                                          \
      "the evaluation could not be carried out; repeat it")

enum finding_code {
#define X(name, text, finding_class, blame, stage, hint) name,
    FINDING_CODES(X)
#undef X
        FINDING_CODE_COUNT
};

struct finding {
    enum finding_class class;
    enum finding_stage stage;
    enum blame blame;
    const char *code;    /* from the table, or that of a tool ("C7510") */
    const char *message; /* one line */
    const char *file;    /* NULL: unknown */
    int line;            /* 0: unknown */
    const char *kernel;  /* NULL: unknown or host */
    const char *hint;    /* NULL: none */
    int64_t count;       /* occurrences, >= 1 */
};

enum { FINDING_LIST_MAX = 500 };

struct finding_list {
    struct finding *items; /* arena */
    size_t count;
};

extern const struct record_type finding_record;

/* Adds a finding with class, blame, stage and hint of the table, count 1 and the formatted message (control
 * characters replaced, at most 4 KiB). Returns it, so that the caller sets file, line, kernel (arena texts); valid
 * until the next addition. At FINDING_LIST_MAX the last finding is overwritten: the list says enough by then. */
struct finding *finding_add(struct finding_list *list, struct arena *arena, enum finding_code code, const char *format,
                            ...) PRINTF_LIKE(4, 5);

/* Adds a copy of a finding made elsewhere, merging it into one with equal code, file, line, kernel and message. */
void finding_merge(struct finding_list *list, struct arena *arena, const struct finding *finding);

/* First finding of a code, or NULL. */
const struct finding *finding_find(const struct finding_list *list, enum finding_code code);

/* Stable order: errors, hazards, notes; within each the candidate's before the others. */
void finding_sort(struct finding_list *list);

/* Whether an error for which the candidate is to blame is in the list. */
bool finding_blames_candidate(const struct finding_list *list);

/* "error memcheck kernel.cu:12: message (3 times)\n  hint: ...\n". */
void finding_append_text(struct buffer *out, const struct finding *finding);

const char *finding_class_text(enum finding_class class);
const char *finding_stage_text(enum finding_stage stage);
const char *blame_text(enum blame blame);
const char *finding_code_text(enum finding_code code);
const char *finding_code_hint(enum finding_code code);

#endif
