/*
 * YAML configuration files, by libcyaml: a schema says which keys there are and where their values go.
 *
 * libcyaml takes "1.5x" for the number 1.5; schemas therefore read numbers as strings, and yaml_number and yaml_integer
 * turn them into numbers.
 */
#ifndef PTXBENCH_BASE_YAML_H
#define PTXBENCH_BASE_YAML_H

#include <cyaml/cyaml.h>
#include <stdint.h>

#include "base/error.h"

/* Reads a file of at most 1 MiB by a schema whose top is a mapping behind a pointer. Unknown, repeated and missing keys,
 * aliases, a second document and an empty file are ERROR_INPUT with file and line; a missing file is ERROR_NOT_FOUND.
 * `*out` is new; release it with yaml_release. */
MUST_CHECK bool yaml_read_file(const char *path, const cyaml_schema_value_t *schema, void **out, struct error *error);

/* Releases what yaml_read_file made; accepts NULL. */
void yaml_release(const cyaml_schema_value_t *schema, void *data);

/* A value of the file as a number from `least` to `most`; `key` is for the message. */
MUST_CHECK bool yaml_number(const char *path, const char *key, const char *text, double least, double most, double *out,
                            struct error *error);
MUST_CHECK bool yaml_integer(const char *path, const char *key, const char *text, int64_t least, int64_t most,
                             int64_t *out, struct error *error);

#endif
