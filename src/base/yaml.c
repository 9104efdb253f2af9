#include "base/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"

enum { FILE_LIMIT = 1 << 20 };

/* The first complaint, and the innermost place that the backtrace names. */
struct complaint {
    struct buffer text;
    int line;
};

static void take_log(cyaml_log_t level, void *context, const char *format, va_list args)
{
    struct complaint *complaint = context;
    AUTO_BUFFER text = buffer_new(2048);

    if (level < CYAML_LOG_WARNING)
        return;
    (void)buffer_vprintf(&text, format, args);
    const char *place = strstr(text.data, "(line: ");
    if (place && !complaint->line)
        complaint->line = (int)strtol(place + strlen("(line: "), NULL, 10);
    if (complaint->text.length || place || strstr(text.data, "Backtrace"))
        return;
    const char *said = strncmp(text.data, "Load: ", 6) == 0 ? text.data + 6 : text.data;
    (void)buffer_append_sanitized(&complaint->text, said, strcspn(said, "\n"));
}

static cyaml_config_t configuration(struct complaint *complaint)
{
    return (cyaml_config_t){.log_fn = complaint ? take_log : NULL,
                            .log_ctx = complaint,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_WARNING,
                            .flags = CYAML_CFG_NO_ALIAS};
}

/* libcyaml says where it was before an unexpected key: the key itself stands there or further down. */
static int find_key(const char *text, const char *key, int from)
{
    size_t length = strlen(key);
    int line = 1;

    for (const char *at = text; *at; line++) {
        const char *end = at + strcspn(at, "\n");
        at += strspn(at, " -\"'");
        if (line >= from && at < end && !strncmp(at, key, length) && at[length] && strchr(":\"' ", at[length]))
            return line;
        at = *end ? end + 1 : end;
    }
    return from;
}

static bool fail(const char *path, const char *text, struct complaint *complaint, const char *otherwise,
                 struct error *error)
{
    static const char unexpected[] = "Unexpected key: ";
    const char *said = complaint->text.length ? complaint->text.data : otherwise;

    if (!strncmp(said, unexpected, sizeof unexpected - 1))
        complaint->line = find_key(text, said + sizeof unexpected - 1, complaint->line);
    if (complaint->line)
        return error_set(error, ERROR_INPUT, "%s:%d: %s", path, complaint->line, said);
    return error_set(error, ERROR_INPUT, "%s: %s", path, said);
}

bool yaml_read_file(const char *path, const cyaml_schema_value_t *schema, void **out, struct error *error)
{
    struct complaint complaint = {.text = buffer_new(512)};
    cyaml_config_t config = configuration(&complaint);
    AUTO_FREE char *text = NULL;
    size_t length;

    *out = NULL;
    if (!file_read(path, FILE_LIMIT, &text, &length, error))
        return false;
    cyaml_err_t result = cyaml_load_data((const uint8_t *)text, length, &config, schema, out, NULL);
    bool ok = result == CYAML_OK && !complaint.text.length && *out;
    if (!ok) {
        (void)fail(path, text, &complaint, result == CYAML_OK ? "the file is empty" : cyaml_strerror(result), error);
        yaml_release(schema, *out);
        *out = NULL;
    }
    buffer_free(&complaint.text);
    return ok;
}

void yaml_release(const cyaml_schema_value_t *schema, void *data)
{
    cyaml_config_t config = configuration(NULL);

    if (data)
        (void)cyaml_free(&config, schema, data, 0);
}

bool yaml_number(const char *path, const char *key, const char *text, double least, double most, double *out,
                 struct error *error)
{
    char *end;

    errno = 0;
    double value = strtod(text, &end);
    if (!*text || *end || !isfinite(value) || value < least || value > most)
        return error_set(error, ERROR_INPUT, "%s: %s: \"%s\" is not a number from %g to %g", path, key, text, least,
                         most);
    *out = value;
    return true;
}

bool yaml_integer(const char *path, const char *key, const char *text, int64_t least, int64_t most, int64_t *out,
                  struct error *error)
{
    char *end;

    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || !*text || *end || value < least || value > most)
        return error_set(error, ERROR_INPUT, "%s: %s: \"%s\" is not a whole number from %lld to %lld", path, key, text,
                         (long long)least, (long long)most);
    *out = value;
    return true;
}
