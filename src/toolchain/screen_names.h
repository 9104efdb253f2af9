/* What is banned, by name: headers, libraries, functions. */
#ifndef PTXBENCH_TOOLCHAIN_SCREEN_NAMES_H
#define PTXBENCH_TOOLCHAIN_SCREEN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Why an include path is banned, or NULL: a vendor library's header ("cuBLAS"). Static text. */
const char *screen_vendor_header(const char *path);

/* Name of the template library ("CUTLASS") that an include path belongs to, or NULL. Static text. */
const char *screen_template_header(const char *path);

/* Library that a function or type name belongs to by its form (cublasSgemm, cudnnHandle_t), or NULL. */
const char *screen_vendor_function(const char *name, size_t length);

/* What an imported function is denied for ("loads code at run time"), or NULL. */
const char *screen_denied_import(const char *name);

/* Whether a whole string is the name of a denied library or function; the reason, or NULL. */
const char *screen_denied_string(const char *text, size_t length);

/* Whether a function that loads code by name or bytes (dlopen, cuModuleLoadData): denied in source text too. */
const char *screen_loader_function(const char *name, size_t length);

/* Whether an object may be linked with a library of that soname. */
bool screen_library_allowed(const char *soname);

#endif
