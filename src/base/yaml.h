/*
 * YAML files by a libcyaml schema. What libcyaml says goes into one error with the file's name and the line: unknown and
 * missing keys, values of a wrong type, broken YAML.
 */
#ifndef PTXBENCH_BASE_YAML_H
#define PTXBENCH_BASE_YAML_H

#include <cyaml/cyaml.h>

#include "base/error.h"

/* Loads `path` (at most 1 MiB) by a top-level schema of type CYAML_VALUE_MAPPING with CYAML_FLAG_POINTER. `*out` is
 * libcyaml's; give it to yaml_free. A missing file is ERROR_NOT_FOUND, anything wrong in it ERROR_INPUT; an unknown key
 * gets the nearest known one of the top level as hint. */
MUST_CHECK bool yaml_load(const char *path, const cyaml_schema_value_t *schema, void **out, struct error *error);

/* The same for a text that came from `name`. */
MUST_CHECK bool yaml_load_text(const char *text, size_t length, const char *name, const cyaml_schema_value_t *schema,
                               void **out, struct error *error);

void yaml_free(const cyaml_schema_value_t *schema, void *data); /* accepts NULL data */

#endif
