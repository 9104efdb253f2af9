#include "base/yaml.h"

#include <ctype.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"

enum { FILE_MAX = 1 << 20, WORDS_MAX = 4096, NAME_MAX_BYTES = 128 };

/* What libcyaml logs: the message, then a backtrace whose first entry is the innermost. */
static void keep_words(cyaml_log_t level, void *context, const char *format, va_list args)
{
    (void)level;
    (void)buffer_vprintf(context, format, args);
}

static cyaml_config_t config_for(struct buffer *words)
{
    return (cyaml_config_t){
        .log_fn = keep_words, .log_ctx = words, .log_level = CYAML_LOG_ERROR, .mem_fn = cyaml_mem};
}

static long line_in(const char *words)
{
    const char *at = strstr(words, "(line: ");

    return at ? strtol(at + 7, NULL, 10) : 0;
}

/* libcyaml knows where it was before an unexpected key; the key itself stands there or further down. */
static long find_key(const char *text, size_t length, const char *key, long from)
{
    const char *end = text + length;
    size_t key_length = strlen(key);
    long line = 1;

    for (const char *at = text; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        while (at < stop && (*at == ' ' || *at == '-' || *at == '"' || *at == '\''))
            at++;
        if (line >= from && (size_t)(stop - at) > key_length && !strncmp(at, key, key_length) &&
            strchr(":\"' ", at[key_length]))
            return line;
        at = stop + 1;
    }
    return from;
}

static void list_keys(const cyaml_schema_value_t *schema, struct error *error)
{
    AUTO_BUFFER known = buffer_new(sizeof error->hint - 32);

    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key; field++)
        (void)buffer_printf(&known, "%s%s", known.length ? ", " : "", field->key);
    (void)error_hint(error, "keys of the top level: %s", known.data);
}

static bool fail(const struct buffer *words, const char *text, size_t length, const char *name,
                 const cyaml_schema_value_t *schema, cyaml_err_t result, struct error *error)
{
    static const char unexpected[] = "Load: Unexpected key: ";
    char message[256];
    char key[NAME_MAX_BYTES] = "";
    const char *first = strncmp(words->data, "Load: ", 6) ? words->data : words->data + 6;
    long line = line_in(words->data);

    (void)snprintf(message, sizeof message, "%.*s", (int)strcspn(first, "\n"), first);
    if (!*message)
        (void)snprintf(message, sizeof message, "%s", cyaml_strerror(result));
    message[0] = (char)tolower((unsigned char)message[0]);
    if (!strncmp(words->data, unexpected, sizeof unexpected - 1)) {
        const char *found = words->data + sizeof unexpected - 1;
        (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(found, "\n"), found);
        line = find_key(text, length, key, line);
        (void)snprintf(message, sizeof message, "unknown key \"%s\"", key);
    }
    AUTO_BUFFER clean = buffer_new(sizeof message);
    (void)buffer_append_sanitized(&clean, message, strlen(message));
    if (line)
        (void)error_set(error, ERROR_INPUT, "%s:%ld: %s", name, line, clean.data);
    else
        (void)error_set(error, ERROR_INPUT, "%s: %s", name, clean.data);
    if (*key)
        list_keys(schema, error);
    return false;
}

bool yaml_load_text(const char *text, size_t length, const char *name, const cyaml_schema_value_t *schema, void **out,
                    struct error *error)
{
    AUTO_BUFFER words = buffer_new(WORDS_MAX);
    cyaml_config_t config = config_for(&words);
    cyaml_data_t *data = NULL;

    cyaml_err_t result = cyaml_load_data((const uint8_t *)text, length, &config, schema, &data, NULL);
    if (result != CYAML_OK)
        return fail(&words, text, length, name, schema, result, error);
    if (!data)
        return error_set(error, ERROR_INPUT, "%s: the file is empty", name);
    *out = data;
    return true;
}

bool yaml_load(const char *path, const cyaml_schema_value_t *schema, void **out, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;

    return file_read(path, FILE_MAX, &text, &length, error) &&
           yaml_load_text(text, length, path, schema, out, error);
}

void yaml_free(const cyaml_schema_value_t *schema, void *data)
{
    AUTO_BUFFER words = buffer_new(WORDS_MAX);
    cyaml_config_t config = config_for(&words);

    if (data)
        (void)cyaml_free(&config, schema, data, 0);
}
