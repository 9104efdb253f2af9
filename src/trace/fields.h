/* Typed members of the FlashInfer-Trace objects. Errors name file, line and JSON path. */
#ifndef PTXBENCH_TRACE_FIELDS_H
#define PTXBENCH_TRACE_FIELDS_H

#include "base/json.h"

/* Member that must be a string with at least one character other than white space. */
MUST_CHECK bool field_text(struct json object, const char *key, const char **out, struct error *error);

/* As field_text when the member is present; NULL when it is absent or null. An empty text is accepted. */
MUST_CHECK bool field_optional_text(struct json object, const char *key, const char **out, struct error *error);

/* Optional array of texts that are not blank; absent or null: none. The list lives in the arena. */
MUST_CHECK bool field_text_list(struct json object, const char *key, struct arena *arena, const char ***out,
                                size_t *count, struct error *error);

/* A member that is a number or one of "NaN", "Infinity", "-Infinity". */
MUST_CHECK bool field_extended_number(struct json object, const char *key, double *out, struct error *error);

#endif
