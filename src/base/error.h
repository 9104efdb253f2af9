/*
 * The one error type of the project: a code, a message that names what failed on which object and why,
 * and a hint that says what to try.
 *
 * Functions that can fail return bool (true: success) and take `struct error *error` as last argument.
 * They fill it exactly when they return false. Callers pass a real object, never NULL.
 * The library returns; only src/cli exits.
 */
#ifndef PTXBENCH_BASE_ERROR_H
#define PTXBENCH_BASE_ERROR_H

#include <stdbool.h>

#include "base/attributes.h"

/* code, text, exit status of the command line (design: 2 infrastructure, 64 usage) */
#define ERROR_CODES(X)                                                                                                 \
    X(ERROR_NONE, "no error", 0)                                                                                       \
    X(ERROR_USAGE, "usage", 64)                                                                                        \
    X(ERROR_INPUT, "bad input", 64)        /* a file, task or candidate that the user named is malformed */            \
    X(ERROR_NOT_FOUND, "not found", 64)    /* a file, task or symbol that the user named does not exist */             \
    X(ERROR_UNSUPPORTED, "unsupported", 2) /* valid, but this build or machine cannot do it */                         \
    X(ERROR_SYSTEM, "system", 2)           /* a system call failed: disk full, permission, descriptors */              \
    X(ERROR_MEMORY, "out of memory", 2)                                                                                \
    X(ERROR_LIMIT, "limit exceeded", 2) /* a cap of ours: buffer, depth, time */                                       \
    X(ERROR_TOOL, "tool failed", 2)     /* nvcc, nvdisasm, compute-sanitizer, ncu missing or broken */                 \
    X(ERROR_DEVICE, "device", 2)        /* CUDA driver or library trouble outside the candidate */                     \
    X(ERROR_PROTOCOL, "protocol", 2)    /* worker and runner disagree */                                               \
    X(ERROR_INTERNAL, "internal", 2)

enum error_code {
#define X(code, text, status) code,
    ERROR_CODES(X)
#undef X
};

struct error {
    enum error_code code;
    char message[1024]; /* one line, no trailing newline */
    char hint[512];     /* what to try next; may be empty */
};

/*
 * The four functions below yield false, so that `return error_set(error, ERROR_INPUT, "%s: ...", path);` reads well.
 * They are macros over void functions: so the compiler, too, knows that the value is false.
 *
 * error_set     sets code and message (truncated with "..." when too long), clears the hint
 * error_system  as error_set with ERROR_SYSTEM, and appends ": strerror(errno_value)"; a full disk gets a hint
 * error_prefix  puts "prefix: " in front of the message
 * error_hint    sets the hint
 */
#define error_set(error, code, ...) (error_set_message((error), (code), __VA_ARGS__), false)
#define error_system(error, errno_value, ...) (error_set_system((error), (errno_value), __VA_ARGS__), false)
#define error_prefix(error, ...) (error_add_prefix((error), __VA_ARGS__), false)
#define error_hint(error, ...) (error_set_hint((error), __VA_ARGS__), false)

void error_set_message(struct error *error, enum error_code code, const char *format, ...) PRINTF_LIKE(3, 4);
void error_set_system(struct error *error, int errno_value, const char *format, ...) PRINTF_LIKE(3, 4);
void error_add_prefix(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3);
void error_set_hint(struct error *error, const char *format, ...) PRINTF_LIKE(2, 3);

void error_clear(struct error *error);

/* Text of a code; never NULL. */
const char *error_code_text(enum error_code code);

/* Exit status of the command line for a code. */
int error_exit_status(enum error_code code);

#endif
