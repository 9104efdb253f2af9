#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "cli/candidate_input.h"
#include "cli/cli.h"
#include "cli/emu_run.h"
#include "emu/ptx_census.h"
#include "emu/ptx_parser.h"
#include "toolchain/fatbin.h"

enum { OPTION_CENSUS = 256, OPTION_ARCH, OPTION_JSON };
enum { OBJECT_BYTES_MAX = 1 << 30 };

static const struct argp_option options[] = {
    {"census", OPTION_CENSUS, NULL, 0, "Count what FILE holds"},
    {"arch", OPTION_ARCH, "ARCH", 0, "Compile a .cu file for sm_90a (default) or sm_100a"},
    {"json", OPTION_JSON, NULL, 0, "Print JSON"},
    {0},
};

static const char doc[] =
    "Count the PTX instructions of kernels, and say which of them the emulator leaves out. Needs no "
    "GPU.\v"
    "'ptxbench emu -- PROGRAM' runs a CUDA program on the emulator; 'ptxbench emu --help --' tells its options.\n\n"
    "FILE is PTX text, a shared object or fat binary that holds PTX, a .cu file, or a solution of FlashInfer-Trace "
    "(.json).\n"
    "Exit status: 0 all opcodes and modifiers are emulated, 1 some are not, 2 machine or tool trouble, 64 usage, or "
    "FILE is "
    "malformed.";

struct emu_options {
    const char *file;
    const char *arch;
    bool census;
    bool json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct emu_options *into = state->input;

    switch (key) {
    case OPTION_CENSUS:
        into->census = true;
        return 0;
    case OPTION_ARCH:
        if (!compile_arch_known(argument))
            argp_error(state, "--arch: unknown architecture \"%s\"; known are sm_90a and sm_100a", argument);
        into->arch = argument;
        return 0;
    case OPTION_JSON:
        into->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (into->file)
            argp_error(state, "more than one FILE");
        into->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (!into->census)
            argp_error(state, "say --census FILE, or -- PROGRAM to run one");
        if (!into->file)
            argp_error(state, "no FILE given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, take, "--census FILE", doc, NULL, NULL, NULL};

struct censuses {
    const struct ptx_census **items;
    size_t count;
};

static bool add_text(struct arena *arena, const char *name, const void *text, size_t length, struct censuses *out,
                     struct error *error)
{
    const struct ptx_module *module;

    if (!ptx_parse(arena, name, text, length, &module, error))
        return false;
    out->items[out->count++] = ptx_census_new(arena, module);
    return true;
}

/* Every PTX of an object; more than one is told apart by number. */
static bool add_fatbin(struct arena *arena, const char *path, const struct fatbin *fatbin, struct censuses *out,
                       struct error *error)
{
    size_t count = 0;

    for (size_t i = 0; i < fatbin->count; i++)
        count += fatbin->entries[i].kind == FATBIN_PTX;
    if (!count) {
        error_set_message(error, ERROR_INPUT, "%s: holds no PTX", path);
        return error_hint(error, "build it with -gencode arch=compute_90a,code=[sm_90a,compute_90a]");
    }
    out->items = arena_calloc(arena, count, sizeof(struct ptx_census *));
    for (size_t i = 0, number = 1; i < fatbin->count; i++) {
        const struct fatbin_entry *entry = &fatbin->entries[i];
        if (entry->kind != FATBIN_PTX)
            continue;
        const char *name = count > 1 ? arena_printf(arena, "%s[%zu]", path, number++) : path;
        if (!entry->bytes)
            return error_set(error, ERROR_INPUT, "%s: its PTX cannot be read: %s", name, entry->problem);
        if (!add_text(arena, name, entry->bytes, entry->length, out, error))
            return false;
    }
    return true;
}

static bool compile_source(struct arena *arena, const struct emu_options *wanted, struct compile_result *result,
                           struct error *error)
{
    struct candidate_input *input = arena_alloc(arena, sizeof *input);
    struct toolchain *toolchain = arena_alloc(arena, sizeof *toolchain);

    if (!candidate_input_read(arena, wanted->file, input, error) || !toolchain_find(arena, toolchain, error))
        return false;
    const struct compile_request request = {.sources = input->sources,
                                            .source_count = input->source_count,
                                            .entry = input->entry_file,
                                            .binding = input->binding,
                                            .arch = wanted->arch};
    if (!compile_run(toolchain, &request, arena, result, error))
        return false;
    if (result->status == COMPILE_OK)
        return true;
    error_set_message(error, ERROR_INPUT, "%s: %s", wanted->file, result->summary);
    return error_hint(error, "'ptxbench compile %s' shows what the compiler says", wanted->file);
}

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);

    return length >= tail && !strcmp(text + length - tail, suffix);
}

/* ELF objects and bare fat binaries begin with these bytes. */
static bool holds_fatbin(const char *bytes, size_t length)
{
    return length >= 4 && (!memcmp(bytes, "\177ELF", 4) || !memcmp(bytes, "\x50\xED\x55\xBA", 4));
}

static bool take_census(struct arena *arena, const struct emu_options *wanted, struct censuses *out,
                        struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    struct compile_result result = {0};
    struct fatbin fatbin;
    const char *object = wanted->file;
    size_t length;

    out->items = arena_alloc(arena, sizeof(struct ptx_census *));
    if (ends_with(wanted->file, ".cu") || ends_with(wanted->file, ".json")) {
        if (!compile_source(arena, wanted, &result, error))
            return false;
        if (result.ptx)
            return add_text(arena, wanted->file, result.ptx, result.ptx_length, out, error);
        object = result.object_path;
    } else {
        if (!file_read(wanted->file, OBJECT_BYTES_MAX, &bytes, &length, error))
            return false;
        if (!holds_fatbin(bytes, length))
            return add_text(arena, wanted->file, bytes, length, out, error);
    }
    return fatbin_read_file(arena, object, &fatbin, error) && add_fatbin(arena, wanted->file, &fatbin, out, error);
}

static size_t count_problems(const struct censuses *censuses)
{
    size_t problems = 0;

    for (size_t i = 0; i < censuses->count; i++)
        problems += censuses->items[i]->problem_count;
    return problems;
}

static bool print_json(const struct emu_options *wanted, const struct censuses *censuses, struct error *error)
{
    AUTO_JSON_OBJECT *object = json_object_new_object();
    AUTO_FREE char *text = NULL;
    json_object *modules = json_object_new_array();

    json_put_string(object, "schema", "ptxbench.census.v1");
    json_put_string(object, "file", wanted->file);
    for (size_t i = 0; i < censuses->count; i++)
        json_object_array_add(modules, ptx_census_to_json(censuses->items[i]));
    json_put(object, "modules", modules);
    json_put_bool(object, "supported", !count_problems(censuses));
    json_put_bool(object, "executed", false);
    if (!json_to_text(object, true, &text, error))
        return false;
    (void)puts(text);
    return true;
}

static void print_text(const struct emu_options *wanted, const struct censuses *censuses)
{
    size_t problems = count_problems(censuses);

    for (size_t i = 0; i < censuses->count; i++) {
        ptx_census_print(censuses->items[i], stdout);
        (void)putchar('\n');
    }
    if (problems)
        (void)printf("%s: %zu forms of instructions are not emulated\n", wanted->file, problems);
    else
        (void)printf("%s: all opcodes and modifiers are emulated\n", wanted->file);
}

int cmd_emu(int argc, char **argv)
{
    AUTO_ARENA *arena = arena_new();
    struct emu_options wanted = {.arch = "sm_90a"};
    struct censuses censuses = {0};
    struct error error;

    if (emu_run_wanted(argc, argv))
        return emu_run(argc, argv);
    if (argp_parse(&argp, argc, argv, 0, NULL, &wanted))
        return CLI_USAGE;
    interrupt_catch();
    bool ok = take_census(arena, &wanted, &censuses, &error);
    interrupt_finish();
    if (!ok)
        return cli_fail(&error);
    if (!wanted.json)
        print_text(&wanted, &censuses);
    else if (!print_json(&wanted, &censuses, &error))
        return cli_fail(&error);
    return count_problems(&censuses) ? CLI_FAILED : CLI_PASSED;
}
