#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json_internal.h"

static void require(bool ok)
{
    if (!ok) {
        (void)fprintf(stderr, "ptxbench: out of memory while building JSON\n");
        abort();
    }
}

void json_put(json_object *object, const char *key, json_object *value)
{
    require(json_object_object_add(object, key, value) == 0);
}

static void put_new(json_object *object, const char *key, json_object *value)
{
    require(value);
    json_put(object, key, value);
}

void json_put_string(json_object *object, const char *key, const char *text)
{
    if (text)
        put_new(object, key, json_object_new_string(text));
    else
        json_put(object, key, NULL);
}

void json_put_bool(json_object *object, const char *key, bool value)
{
    put_new(object, key, json_object_new_boolean(value));
}

void json_put_i64(json_object *object, const char *key, int64_t value)
{
    put_new(object, key, json_object_new_int64(value));
}

void json_put_u64(json_object *object, const char *key, uint64_t value)
{
    put_new(object, key, json_object_new_uint64(value));
}

/* A number with `digits` significant digits; "1" becomes "1.0", so that it stays a real for every reader. */
static json_object *new_number(double value, int digits)
{
    char text[40];

    if (!isfinite(value))
        return json_object_new_string(isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    int length = snprintf(text, sizeof text, "%.*g", digits, value);
    if (!strpbrk(text, ".e"))
        (void)snprintf(text + length, sizeof text - (size_t)length, ".0");
    return json_object_new_double_s(value, text);
}

json_object *json_new_double(double value)
{
    char text[40];
    int digits = 1;

    if (isfinite(value))
        for (; digits < 17; digits++) {
            (void)snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    json_object *number = new_number(value, digits);
    require(number);
    return number;
}

void json_put_double(json_object *object, const char *key, double value)
{
    json_put(object, key, json_new_double(value));
}

void json_put_rounded(json_object *object, const char *key, double value, int digits)
{
    put_new(object, key, new_number(value, digits < 1 ? 1 : digits > 17 ? 17 : digits));
}

bool json_to_text(json_object *value, bool pretty, char **out, struct error *error)
{
    int flags = JSON_C_TO_STRING_NOSLASHESCAPE | (pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : 0);
    size_t length = 0;
    const char *text = json_object_to_json_string_length(value, flags, &length);

    if (!text)
        return error_set(error, ERROR_MEMORY, "out of memory while writing JSON");
    const char *problem = json_check_text(text, length);
    if (problem)
        return error_set(error, ERROR_INTERNAL, "refused to write JSON that could not be read back: %s", problem);
    *out = strndup(text, length);
    return *out ? true : error_set(error, ERROR_MEMORY, "out of memory while writing JSON");
}

/* Text of the tree plus a newline, with room for one leading newline at `(*out)[0]`. */
static bool to_line(json_object *value, bool pretty, char **out, size_t *length, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(value, pretty, &text, error))
        return false;
    int printed = asprintf(out, "\n%s\n", text);
    if (printed < 0)
        return error_set(error, ERROR_MEMORY, "out of memory while writing JSON");
    *length = (size_t)printed;
    return true;
}

bool json_write_file(json_object *value, const char *path, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;

    return to_line(value, true, &text, &length, error) && file_write(path, text + 1, length - 1, 0644, error);
}

/* Whether the file has a last byte that is not a newline: a crash tore its last line. */
static bool is_torn(int fd)
{
    struct stat info;
    char last = '\n';

    if (!fstat(fd, &info) && info.st_size > 0)
        (void)!pread(fd, &last, 1, info.st_size - 1);
    return last != '\n';
}

/* `name` is for messages. */
static bool write_once(int fd, const char *text, size_t length, const char *name, struct error *error)
{
    ssize_t put;

    do
        put = write(fd, text, length);
    while (put < 0 && errno == EINTR);
    if (put < 0)
        return error_system(error, errno, "%s: cannot append", name);
    return (size_t)put == length || error_system(error, ENOSPC, "%s: only a part of the line was appended", name);
}

bool json_write_line(json_object *value, int fd, struct error *error)
{
    AUTO_FREE char *text = NULL;
    char name[32];
    size_t length;

    (void)snprintf(name, sizeof name, "descriptor %d", fd);
    return to_line(value, false, &text, &length, error) && write_once(fd, text + 1, length - 1, name, error);
}

bool json_append_line(json_object *value, const char *path, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;

    if (!to_line(value, false, &text, &length, error))
        return false;
    AUTO_CLOSE int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_system(error, errno, "%s: cannot open for appending", path);
    size_t skip = is_torn(fd) ? 0 : 1;
    if (!write_once(fd, text + skip, length - skip, path, error))
        return false;
    if (fsync(fd))
        return error_system(error, errno, "%s: cannot sync", path);
    return true;
}
