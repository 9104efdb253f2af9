#include "emu/ptx_print.h"

#include <inttypes.h>
#include <string.h>

#include "base/attributes.h"
#include "emu/ptx_print_internal.h"

static const char *const linkages[] = {[PTX_LINK_INTERNAL] = "",
                                       [PTX_LINK_VISIBLE] = ".visible ",
                                       [PTX_LINK_EXTERN] = ".extern ",
                                       [PTX_LINK_WEAK] = ".weak ",
                                       [PTX_LINK_COMMON] = ".common "};
static const char *const spaces[] = {
    [PTX_SPACE_GLOBAL] = "global", [PTX_SPACE_CONST] = "const", [PTX_SPACE_SHARED] = "shared",
    [PTX_SPACE_LOCAL] = "local",   [PTX_SPACE_PARAM] = "param", [PTX_SPACE_TEXTURE] = "tex"};

static bool is_local(const struct ptx_variable *variable)
{
    return variable->function != PTX_NONE && !variable->formal;
}

static bool clashes(const char *name, const char *prefix)
{
    return (name[0] == '$' || name[0] == '%') && !strncmp(name + 1, prefix, strlen(prefix));
}

static const char *choose_prefix(struct arena *arena, const struct ptx_module *module)
{
    const char *prefix = "v";

    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < module->variable_count && !again; i++)
            again = !is_local(&module->variables[i]) && clashes(module->variables[i].name, prefix);
        for (uint32_t i = 0; i < module->function_count && !again; i++)
            again = clashes(module->functions[i].name, prefix);
        if (again)
            prefix = arena_printf(arena, "%sv", prefix);
    }
    return prefix;
}

static void name_variables(struct ptx_printer *printer)
{
    const struct ptx_module *module = printer->module;
    uint32_t *locals = arena_calloc(printer->arena, module->function_count, sizeof *locals);

    printer->variable_names = arena_calloc(printer->arena, module->variable_count, sizeof *printer->variable_names);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        printer->variable_names[i] =
            is_local(variable) ? arena_printf(printer->arena, "$%sV%u", printer->prefix, locals[variable->function]++)
                               : variable->name;
    }
}

void ptx_print_declaration(const struct ptx_printer *printer, uint32_t index)
{
    const struct ptx_variable *variable = &printer->module->variables[index];
    struct buffer *out = printer->out;

    (void)buffer_printf(out, "%s.%s", linkages[variable->linkage], spaces[variable->space]);
    (void)buffer_printf(out, " .align %u", variable->align);
    if (variable->elements > 1)
        (void)buffer_printf(out, " .v%u", variable->elements);
    (void)buffer_printf(out, " .%s", ptx_type_text(variable->type));
    if (variable->pointee_align && variable->pointee_space == PTX_SPACE_PARAM)
        (void)buffer_printf(out, " .ptr .align %u", variable->pointee_align);
    else if (variable->pointee_align)
        (void)buffer_printf(out, " .ptr .%s .align %u", spaces[variable->pointee_space], variable->pointee_align);
    (void)buffer_printf(out, " %s", printer->variable_names[index]);
    if (variable->unsized && variable->rank)
        (void)buffer_append_text(out, "[]");
    else if (variable->rank)
        (void)buffer_printf(out, "[%" PRIu64 "]", variable->count);
}

static void print_initial(const struct ptx_printer *printer, const struct ptx_variable *variable,
                          const struct ptx_initial *initial)
{
    const struct ptx_module *module = printer->module;
    struct buffer *out = printer->out;

    if (initial->variable == PTX_NONE && initial->function == PTX_NONE) {
        if (variable->type == PTX_F32)
            (void)buffer_printf(out, "0f%08" PRIX64, initial->bits);
        else if (variable->type == PTX_F64)
            (void)buffer_printf(out, "0d%016" PRIX64, initial->bits);
        else
            (void)buffer_printf(out, "0x%" PRIx64, initial->bits);
        return;
    }
    const char *name = initial->variable != PTX_NONE ? printer->variable_names[initial->variable]
                                                     : module->functions[initial->function].name;
    bool masked = initial->shift || initial->mask != UINT64_MAX;
    if (masked)
        (void)buffer_printf(out, "0x%" PRIx64 "(%s+%" PRIu64 ")", initial->mask << initial->shift, name, initial->bits);
    else if (initial->generic)
        (void)buffer_printf(out, "generic(%s)+%" PRIu64, name, initial->bits);
    else
        (void)buffer_printf(out, "%s+%" PRIu64, name, initial->bits);
}

/* The elements ascend; zeros fill the gaps. */
static void print_initials(const struct ptx_printer *printer, const struct ptx_variable *variable)
{
    struct buffer *out = printer->out;
    bool braces = variable->rank || variable->elements > 1;
    uint64_t next = 0;

    (void)buffer_append_text(out, braces ? " = {" : " = ");
    for (size_t i = 0; i < variable->initial_count; i++) {
        const struct ptx_initial *initial = &variable->initial[i];
        for (; next < initial->element; next++)
            (void)buffer_append_text(out, "0, ");
        print_initial(printer, variable, initial);
        next++;
        if (i + 1 < variable->initial_count)
            (void)buffer_append_text(out, ", ");
    }
    if (braces)
        (void)buffer_append_text(out, "}");
}

static void print_variable(const struct ptx_printer *printer, uint32_t index)
{
    const struct ptx_variable *variable = &printer->module->variables[index];

    ptx_print_declaration(printer, index);
    if (variable->initial_count && variable->initial[variable->initial_count - 1].element < PTX_PRINT_ELEMENTS_MAX)
        print_initials(printer, variable);
    (void)buffer_append_text(printer->out, ";\n");
}

static void print_parameters(const struct ptx_printer *printer, uint32_t first, uint32_t count)
{
    (void)buffer_append_text(printer->out, "(");
    for (uint32_t i = 0; i < count; i++) {
        (void)buffer_append_text(printer->out, i ? ", " : "");
        ptx_print_declaration(printer, first + i);
    }
    (void)buffer_append_text(printer->out, ")");
}

static void print_extent(struct buffer *out, const char *word, const uint32_t extent[3])
{
    if (extent[0] || extent[1] || extent[2])
        (void)buffer_printf(out, "\n.%s %u, %u, %u", word, extent[0], extent[1], extent[2]);
}

static void print_launch(struct buffer *out, const struct ptx_launch *launch)
{
    const struct {
        const char *word;
        uint32_t value;
    } numbers[] = {{"minnctapersm", launch->min_ctas},
                   {"maxnctapersm", launch->max_ctas},
                   {"maxnreg", launch->max_registers},
                   {"maxclusterrank", launch->max_cluster_rank}};

    print_extent(out, "maxntid", launch->max_threads);
    print_extent(out, "reqntid", launch->required_threads);
    print_extent(out, "reqnctapercluster", launch->cluster);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (numbers[i].value)
            (void)buffer_printf(out, "\n.%s %u", numbers[i].word, numbers[i].value);
    if (launch->explicit_cluster)
        (void)buffer_append_text(out, "\n.explicitcluster");
    if (launch->blocks_are_clusters)
        (void)buffer_append_text(out, "\n.blocksareclusters");
}

static void print_function(const struct ptx_printer *printer, const struct ptx_function *function, bool with_body)
{
    struct buffer *out = printer->out;

    (void)buffer_printf(out, "\n%s%s ", linkages[function->linkage], function->is_entry ? ".entry" : ".func");
    if (function->result_count)
        print_parameters(printer, function->first_result, function->result_count);
    (void)buffer_printf(out, " %s", function->name);
    print_parameters(printer, function->first_parameter, function->parameter_count);
    print_launch(out, &function->launch);
    if (function->no_return)
        (void)buffer_append_text(out, "\n.noreturn");
    for (uint32_t i = 0; with_body && i < function->pragma_count; i++)
        (void)buffer_printf(out, "\n.pragma \"%s\";", function->pragmas[i]);
    if (with_body)
        ptx_print_body(printer, function);
    else
        (void)buffer_append_text(out, ";\n");
}

void ptx_print_module(struct arena *arena, const struct ptx_module *module, struct buffer *out)
{
    struct ptx_printer printer = {.arena = arena, .module = module, .out = out, .prefix = choose_prefix(arena, module)};

    name_variables(&printer);
    (void)buffer_printf(out, ".version %u.%u\n.target %s\n.address_size %u\n", module->version_major,
                        module->version_minor, module->target, module->address_bits);
    for (uint32_t i = 0; i < module->file_count; i++)
        (void)buffer_printf(out, ".file %u \"%s\"\n", module->files[i].number, module->files[i].name);
    for (uint32_t i = 0; i < module->function_count; i++)
        print_function(&printer, &module->functions[i], false);
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].function == PTX_NONE)
            print_variable(&printer, i);
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_defined)
            print_function(&printer, &module->functions[i], true);
}
