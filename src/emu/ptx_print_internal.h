/* Shared by ptx_print.c and ptx_print_body.c. */
#ifndef PTXBENCH_EMU_PTX_PRINT_INTERNAL_H
#define PTXBENCH_EMU_PTX_PRINT_INTERNAL_H

#include "emu/ptx_print.h"

struct ptx_printer {
    struct arena *arena;
    const struct ptx_module *module;
    struct buffer *out;
    const char *prefix;          /* no name of the module begins with '$' or '%' and this */
    const char **variable_names; /* [variable_count] */
};

/* The braces and what is between them. */
void ptx_print_body(const struct ptx_printer *printer, const struct ptx_function *function);

/* ".shared .align 16 .v4 .b8 name[12]" without value and semicolon. */
void ptx_print_declaration(const struct ptx_printer *printer, uint32_t variable);

#endif
