/* Lines of ptxas: resource usage, errors, and advisories. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/diagnostics_internal.h"

static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* Text behind "ptxas info    : ", or NULL. */
static const char *skip_info(const char *line)
{
    const char *rest = skip_prefix(line, "ptxas info");

    if (!rest)
        return NULL;
    rest += strspn(rest, " ");
    if (*rest != ':')
        return NULL;
    return rest + 1 + strspn(rest + 1, " ");
}

static struct kernel_resources *find_kernel(struct diagnostics_parser *parser, const char *name)
{
    struct diagnostics *out = parser->out;

    for (size_t i = out->kernel_count; i-- > 0;) {
        struct kernel_resources *kernel = &out->kernels[i];
        bool same_arch =
            kernel->arch == parser->arch || (kernel->arch && parser->arch && strcmp(kernel->arch, parser->arch) == 0);
        if (same_arch && strcmp(kernel->kernel, name) == 0)
            return kernel;
    }
    if (out->kernel_count >= DIAGNOSTICS_KERNELS_MAX) {
        out->dropped++;
        return NULL;
    }
    if (out->kernel_count == parser->kernel_capacity) {
        parser->kernel_capacity = parser->kernel_capacity ? 2 * parser->kernel_capacity : 16;
        struct kernel_resources *grown = arena_calloc(parser->arena, parser->kernel_capacity, sizeof *grown);
        if (out->kernel_count)
            memcpy(grown, out->kernels, out->kernel_count * sizeof *grown);
        out->kernels = grown;
    }
    struct kernel_resources *kernel = &out->kernels[out->kernel_count++];
    *kernel = (struct kernel_resources){.kernel = arena_strdup(parser->arena, name), .arch = parser->arch};
    return kernel;
}

/* "Compiling entry function 'NAME' for 'ARCH'" */
static bool take_entry(struct diagnostics_parser *parser, const char *text)
{
    const char *name = skip_prefix(text, "Compiling entry function '");
    const char *quote = name ? strchr(name, '\'') : NULL;

    if (!quote)
        return false;
    const char *arch = skip_prefix(quote, "' for '");
    size_t arch_length = arch ? strcspn(arch, "'") : 0;
    parser->arch = arch ? arena_strndup(parser->arena, arch, arch_length) : NULL;
    parser->entry = arena_strndup(parser->arena, name, (size_t)(quote - name));
    struct kernel_resources *kernel = find_kernel(parser, parser->entry);
    if (kernel)
        kernel->entry = true;
    return true;
}

/* "Used 30 registers, used 1 barriers, 32 bytes cumulative stack size, 1024 bytes smem, 16 bytes cmem[2]" */
static bool take_usage(struct diagnostics_parser *parser, const char *text)
{
    uint32_t registers, barriers;

    if (sscanf(text, "Used %" SCNu32 " registers", &registers) != 1)
        return false;
    struct kernel_resources *kernel = parser->entry ? find_kernel(parser, parser->entry) : NULL;
    if (!kernel)
        return true;
    kernel->registers = registers;
    for (const char *part = strchr(text, ','); part; part = strchr(part + 1, ',')) {
        const char *item = part + 1 + strspn(part + 1, " ");
        char kind[32];
        uint64_t bytes;
        if (sscanf(item, "used %" SCNu32 " barriers", &barriers) == 1)
            kernel->barriers = barriers;
        else if (sscanf(item, "%" SCNu64 " bytes %31[a-z]", &bytes, kind) == 2) {
            if (strcmp(kind, "smem") == 0)
                kernel->shared_bytes = bytes;
            else if (strcmp(kind, "cmem") == 0)
                kernel->constant_bytes += bytes;
        }
    }
    return true;
}

static bool take_frame(struct diagnostics_parser *parser, const char *line)
{
    uint64_t stack, stores, loads;

    if (sscanf(line, " %" SCNu64 " bytes stack frame, %" SCNu64 " bytes spill stores, %" SCNu64 " bytes spill loads",
               &stack, &stores, &loads) != 3)
        return false;
    if (parser->frame) {
        parser->frame->stack_bytes = stack;
        parser->frame->spill_store_bytes = stores;
        parser->frame->spill_load_bytes = loads;
    }
    parser->frame = NULL;
    return true;
}

bool diagnostics_take_resources(struct diagnostics_parser *parser, const char *line)
{
    const char *text = skip_info(line);
    const char *name;

    if (!text)
        return take_frame(parser, line);
    if (take_entry(parser, text) || take_usage(parser, text))
        return true;
    if ((name = skip_prefix(text, "Function properties for "))) {
        parser->frame = find_kernel(parser, name);
        return true;
    }
    uint64_t bytes;
    int end = 0;
    if (sscanf(text, "%" SCNu64 " bytes gmem%n", &bytes, &end) == 1 && end)
        return true;
    return skip_prefix(text, "Compile time = ") != NULL;
}

/* Mangled name in "... function 'NAME'" or "... in function NAME."; NULL when there is none. */
static const char *named_function(struct arena *arena, const char *message)
{
    static const char quoted[] = "unction '", plain[] = "in function ";
    const char *name = strstr(message, quoted);

    if (name) {
        name += sizeof quoted - 1;
        return arena_strndup(arena, name, strcspn(name, "'"));
    }
    if (!(name = strstr(message, plain)))
        return NULL;
    name += sizeof plain - 1;
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$");
    return length > 2 && name[0] == '_' ? arena_strndup(arena, name, length) : NULL;
}

/* Takes a leading "(C7510) " off the message. */
static const char *split_code(struct arena *arena, const char *message, const char **code)
{
    size_t digits;

    *code = NULL;
    if (message[0] != '(' || message[1] != 'C')
        return message;
    digits = strspn(message + 2, "0123456789");
    if (!digits || message[2 + digits] != ')')
        return message;
    *code = arena_strndup(arena, message + 1, digits + 1);
    message += digits + 3;
    return message + strspn(message, " ");
}

/* PTX line that the message speaks of ("around line 54", "at line 293"), or 0. */
static int line_in_message(const char *message)
{
    const char *around = strstr(message, "around line ");
    const char *at = strstr(message, "at line ");
    long line = around ? strtol(around + 12, NULL, 10) : at ? strtol(at + 8, NULL, 10) : 0;

    return line > 0 && line < 1000000000 ? (int)line : 0;
}

static void place(struct diagnostics_parser *parser, struct diagnostic *diagnostic, int ptx_line)
{
    const char *file;

    if (!ptx_line)
        return;
    if (parser->ptx_lines &&
        ptx_lines_find(parser->ptx_lines, ptx_line, &file, &diagnostic->line, &diagnostic->column)) {
        diagnostic->file = diagnostics_source_name(parser, file, strlen(file));
        return;
    }
    diagnostic->line = ptx_line;
    diagnostic->ptx_line = true;
}

/* "error   : text" -> severity; NULL when it is none. */
static const char *split_severity(const char *text, enum diagnostic_severity *severity)
{
    static const struct {
        const char *word;
        enum diagnostic_severity severity;
    } words[] = {{"error", DIAGNOSTIC_ERROR},
                 {"fatal", DIAGNOSTIC_ERROR},
                 {"warning", DIAGNOSTIC_WARNING},
                 {"info", DIAGNOSTIC_NOTE}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *rest = skip_prefix(text, words[i].word);
        if (!rest)
            continue;
        rest += strspn(rest, " ");
        if (*rest != ':')
            return NULL;
        *severity = words[i].severity;
        return rest + 1 + strspn(rest + 1, " ");
    }
    return NULL;
}

bool diagnostics_take_ptxas(struct diagnostics_parser *parser, const char *line)
{
    const char *text = skip_prefix(line, "ptxas ");
    struct diagnostic diagnostic = {.tool = DIAGNOSTIC_PTXAS};
    int ptx_line = 0;

    if (!text)
        return false;
    const char *mark = strstr(text, ", line ");
    const char *semicolon = mark ? strchr(mark, ';') : NULL;
    const char *message = split_severity(text, &diagnostic.severity);
    if (!message && semicolon) { /* "FILE, line N; error   : text" */
        long number = strtol(mark + 7, NULL, 10);
        ptx_line = number > 0 && number < 1000000000 ? (int)number : 0;
        message = split_severity(semicolon + 1 + strspn(semicolon + 1, " "), &diagnostic.severity);
    }
    if (!message)
        return false;
    /* Says only that there were errors. */
    if (strcmp(message, "Ptx assembly aborted due to errors") == 0 && diagnostics_count(parser->out, DIAGNOSTIC_ERROR))
        return true;
    message = split_code(parser->arena, message, &diagnostic.code);
    if (diagnostic.severity == DIAGNOSTIC_NOTE && (diagnostic.code || strstr(message, "Potential Performance Loss")))
        diagnostic.severity = DIAGNOSTIC_ADVISORY;
    diagnostic.message = arena_strndup(parser->arena, message, strnlen(message, DIAGNOSTICS_MESSAGE_MAX));
    diagnostic.kernel = named_function(parser->arena, message);
    place(parser, &diagnostic, ptx_line ? ptx_line : line_in_message(message));
    (void)diagnostics_add(parser, &diagnostic);
    parser->last = NULL;
    return true;
}
