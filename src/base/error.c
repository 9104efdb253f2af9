#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void write_text(char *out, size_t size, const char *format, va_list args)
{
    int length = vsnprintf(out, size, format, args);

    if (length >= 0 && (size_t)length >= size)
        memcpy(out + size - 4, "...", 4);
}

/* Appends ": text"; a long message gives way, since the reason matters more than the end of a path. */
static void append_reason(char *message, size_t size, const char *text)
{
    size_t used = strlen(message);
    size_t wanted = strlen(text) + 3;

    if (used + wanted > size && wanted + 3 < size) {
        used = size - wanted;
        memcpy(message + used - 3, "...", 3);
    }
    (void)snprintf(message + used, size - used, ": %s", text);
}

void error_set_message(struct error *error, enum error_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error->code = code;
    error->hint[0] = '\0';
    write_text(error->message, sizeof error->message, format, args);
    va_end(args);
}

void error_set_system(struct error *error, int errno_value, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error->code = ERROR_SYSTEM;
    error->hint[0] = '\0';
    write_text(error->message, sizeof error->message, format, args);
    va_end(args);

    append_reason(error->message, sizeof error->message, strerror(errno_value));
    if (errno_value == ENOSPC || errno_value == EDQUOT)
        (void)error_hint(error, "free disk space, or name another folder");
}

void error_add_prefix(struct error *error, const char *format, ...)
{
    char prefix[sizeof error->message];
    char old[sizeof error->message];
    va_list args;

    va_start(args, format);
    write_text(prefix, sizeof prefix, format, args);
    va_end(args);
    memcpy(old, error->message, sizeof old);

    size_t used = strnlen(prefix, sizeof prefix);
    if (used > sizeof error->message - 8) /* room for ": ..." */
        used = sizeof error->message - 8;
    memcpy(error->message, prefix, used);
    size_t room = sizeof error->message - used;
    if ((size_t)snprintf(error->message + used, room, ": %s", old) >= room)
        memcpy(error->message + sizeof error->message - 4, "...", 4);
}

void error_set_hint(struct error *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    write_text(error->hint, sizeof error->hint, format, args);
    va_end(args);
}

void error_clear(struct error *error)
{
    error->code = ERROR_NONE;
    error->message[0] = '\0';
    error->hint[0] = '\0';
}

const char *error_code_text(enum error_code code)
{
    switch (code) {
#define X(name, text, status)                                                                                          \
    case name:                                                                                                         \
        return text;
        ERROR_CODES(X)
#undef X
    }
    return "unknown error";
}

int error_exit_status(enum error_code code)
{
    switch (code) {
#define X(name, text, status)                                                                                          \
    case name:                                                                                                         \
        return status;
        ERROR_CODES(X)
#undef X
    }
    return 2;
}
