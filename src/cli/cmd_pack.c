#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "agent/pack.h"
#include "agent/pack_check.h"
#include "agent/tokens.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"

enum { OPTION_OUT = 256, OPTION_TOKENIZER, OPTION_JSON, OPTION_FAST, OPTION_CACHE, ARGUMENTS_MAX = 64 };
enum { TEXT_BYTES_MAX = 64 << 20 };

struct pack_options {
    const char *out, *tokenizer, *cache;
    bool json, fast;
    const char *arguments[ARGUMENTS_MAX];
    size_t argument_count;
};

static const struct argp_option options[] = {
    {"out", OPTION_OUT, "FILE", 0, "build: write there instead of standard output"},
    {"tokenizer", OPTION_TOKENIZER, "FILE", 0, "check, tokens: a Hugging Face tokenizer.json (default: an estimate)"},
    {"json", OPTION_JSON, NULL, 0, "list, show, tokens, check: print JSON"},
    {"fast", OPTION_FAST, NULL, 0, "check: leave out what needs the compiler"},
    {"cache", OPTION_CACHE, "DIR", 0, "check: cache of compilations (default: the user's)"},
    {0},
};

static const char usage[] = "list\nshow PACK\nbuild PACK [--out FILE]\ncheck [PACK]...\ntokens PACK|FILE...";

static const char doc[] = "Knowledge packs: the reference material in front of a task. A PACK is the name of one that "
                          "ships, or a composition of your own (FILE.yaml).\v"
                          "list    the packs that ship, and the tasks that they are for\n"
                          "show    parts, kernels and size of a pack\n"
                          "build   its text, as a model reads it\n"
                          "check   whether it keeps what it promises (default: all that ship)\n"
                          "tokens  tokens of packs and files";

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct pack_options *into = state->input;

    switch (key) {
    case OPTION_OUT:
        into->out = argument;
        return 0;
    case OPTION_TOKENIZER:
        into->tokenizer = argument;
        return 0;
    case OPTION_CACHE:
        into->cache = argument;
        return 0;
    case OPTION_JSON:
        into->json = true;
        return 0;
    case OPTION_FAST:
        into->fast = true;
        return 0;
    case ARGP_KEY_ARG:
        if (into->argument_count == ARGUMENTS_MAX)
            argp_error(state, "more than %d arguments", ARGUMENTS_MAX);
        into->arguments[into->argument_count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* One action of the command; `set` has the arguments behind its name. */
struct action {
    const char *name;
    size_t fewest, most;
    bool (*run)(struct arena *arena, const struct pack_options *set, int *status, struct error *error);
};

static bool read_tokenizer(const struct pack_options *set, struct tokenizer **tokenizer, struct error *error)
{
    *tokenizer = NULL;
    return !set->tokenizer || tokenizer_read(set->tokenizer, tokenizer, error);
}

static bool print_json(json_object *value, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(value, true, &text, error))
        return false;
    (void)puts(text);
    return true;
}

/* "gemm variant 1, ablation level 2": what the tables of variants use a pack for. */
static const char *uses_of(struct arena *arena, const char *name)
{
    static const char *const archs[] = {"sm_90a", "sm_100a"};
    const char *uses = "";

    for (size_t a = 0; a < ARRAY_LEN(archs); a++) {
        for (int f = 0; f < PACK_FAMILIES; f++)
            for (int i = 0; i < PACK_VARIANTS; i++) {
                const char *variant = pack_variant_for((enum pack_family)f, archs[a], i);
                if (!strcmp(variant, name))
                    uses = arena_printf(arena, "%s%s%s %d", uses, *uses ? ", " : "",
                                        pack_family_text((enum pack_family)f), i);
            }
        for (int level = 0; level < PACK_LEVELS; level++)
            if (!strcmp(pack_level_for(archs[a], level), name))
                uses = arena_printf(arena, "%s%slevel %d", uses, *uses ? ", " : "", level);
    }
    return uses;
}

static bool run_list(struct arena *arena, const struct pack_options *set, int *status, struct error *error)
{
    AUTO_JSON_OBJECT *list = json_object_new_array();
    char **names;
    size_t count;

    (void)status;
    if (!pack_list(arena, &names, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct pack *pack;
        if (!pack_open(arena, names[i], &pack, error))
            return false;
        const char *uses = uses_of(arena, names[i]);
        if (!set->json) {
            (void)printf("%-28s %-8s %s%s%s%s\n", names[i], pack->arch, pack->title, *uses ? " [" : "", uses,
                         *uses ? "]" : "");
            continue;
        }
        json_object *entry = json_object_new_object();
        json_put_string(entry, "name", names[i]);
        json_put_string(entry, "arch", pack->arch);
        json_put_string(entry, "title", pack->title);
        json_put_string(entry, "uses", uses);
        (void)json_object_array_add(list, entry);
    }
    return !set->json || print_json(list, error);
}

/* Tokens of a text, and whether they are an estimate. */
static bool count_tokens(const struct tokenizer *tokenizer, const char *text, size_t length, int64_t *count,
                         struct error *error)
{
    if (tokenizer)
        return tokenizer_encode(tokenizer, text, length, NULL, NULL, count, error);
    *count = tokens_estimate(text, length);
    return true;
}

static json_object *parts_json(const struct pack *pack)
{
    json_object *parts = json_object_new_array();

    for (size_t i = 0; i < pack->part_count; i++) {
        json_object *entry = json_object_new_object();
        json_put_string(entry, "kind", pack->parts[i].kind == PACK_CODE ? "code" : "text");
        json_put_string(entry, "file", pack->parts[i].name);
        json_put_string(entry, "section", pack->parts[i].section);
        json_put_string(entry, "title", pack->parts[i].title);
        (void)json_object_array_add(parts, entry);
    }
    return parts;
}

static bool show_json(const struct pack *pack, int64_t tokens, size_t bytes, struct error *error)
{
    AUTO_JSON_OBJECT *out = json_object_new_object();
    json_object *kernels = json_object_new_array();

    json_put_string(out, "name", pack->name);
    json_put_string(out, "title", pack->title);
    json_put_string(out, "arch", pack->arch);
    json_put_i64(out, "bytes", (int64_t)bytes);
    json_put_i64(out, "tokens_estimate", tokens);
    json_put_i64(out, "max_tokens", pack->max_tokens);
    json_put(out, "parts", parts_json(pack));
    for (size_t i = 0; i < pack->kernel_count; i++)
        (void)json_object_array_add(kernels, json_object_new_string(pack->kernels[i]));
    json_put(out, "kernels", kernels);
    return print_json(out, error);
}

static bool run_show(struct arena *arena, const struct pack_options *set, int *status, struct error *error)
{
    struct pack *pack;
    const char *text;

    (void)status;
    if (!pack_open(arena, set->arguments[0], &pack, error) || !pack_text(arena, pack, &text, error))
        return false;
    int64_t tokens = tokens_estimate(text, strlen(text));
    if (set->json)
        return show_json(pack, tokens, strlen(text), error);
    (void)printf("%s: %s\narchitecture %s, %zu bytes, about %lld tokens", pack->name, pack->title, pack->arch,
                 strlen(text), (long long)tokens);
    if (pack->max_tokens)
        (void)printf(" of at most %lld", (long long)pack->max_tokens);
    (void)puts("\nparts:");
    for (size_t i = 0; i < pack->part_count; i++)
        (void)printf("  %s %s%s%s\n", pack->parts[i].kind == PACK_CODE ? "code" : "text", pack->parts[i].name,
                     pack->parts[i].section ? ", section " : "", pack->parts[i].section ? pack->parts[i].section : "");
    if (pack->kernel_count)
        (void)puts("kernels:");
    for (size_t i = 0; i < pack->kernel_count; i++)
        (void)printf("  %s\n", pack->kernels[i]);
    return true;
}

static bool run_build(struct arena *arena, const struct pack_options *set, int *status, struct error *error)
{
    struct pack *pack;
    const char *text;

    (void)status;
    if (!pack_open(arena, set->arguments[0], &pack, error) || !pack_text(arena, pack, &text, error))
        return false;
    if (set->out)
        return file_write(set->out, text, strlen(text), 0644, error);
    (void)fputs(text, stdout);
    return true;
}

/* The text of a pack, or of any other file. */
static bool read_subject(struct arena *arena, const char *name, const char **text, size_t *length, struct error *error)
{
    struct pack *pack;
    size_t name_length = strlen(name);
    bool is_yaml = name_length > 5 && !strcmp(name + name_length - 5, ".yaml");

    if (file_exists(name) && !file_is_folder(name) && !is_yaml) {
        AUTO_FREE char *content = NULL;
        if (!file_read(name, TEXT_BYTES_MAX, &content, length, error))
            return false;
        *text = arena_strndup(arena, content, *length);
        return true;
    }
    if (!pack_open(arena, name, &pack, error) || !pack_text(arena, pack, text, error))
        return false;
    *length = strlen(*text);
    return true;
}

static bool run_tokens(struct arena *arena, const struct pack_options *set, int *status, struct error *error)
{
    AUTO_TOKENIZER *tokenizer = NULL;
    AUTO_JSON_OBJECT *list = json_object_new_array();

    (void)status;
    if (!read_tokenizer(set, &tokenizer, error))
        return false;
    for (size_t i = 0; i < set->argument_count; i++) {
        const char *text;
        size_t length;
        int64_t count;
        if (!read_subject(arena, set->arguments[i], &text, &length, error))
            return false;
        if (!count_tokens(tokenizer, text, length, &count, error))
            return error_prefix(error, "%s", set->arguments[i]);
        if (!set->json) {
            (void)printf("%8lld %s%s\n", (long long)count, set->arguments[i], tokenizer ? "" : " (estimate)");
            continue;
        }
        json_object *entry = json_object_new_object();
        json_put_string(entry, "name", set->arguments[i]);
        json_put_i64(entry, "bytes", (int64_t)length);
        json_put_i64(entry, "tokens", count);
        json_put_bool(entry, "estimate", !tokenizer);
        (void)json_object_array_add(list, entry);
    }
    return !set->json || print_json(list, error);
}

static json_object *report_json(const struct pack *pack, const struct pack_report *report)
{
    json_object *out = json_object_new_object(), *problems = json_object_new_array();

    json_put_string(out, "name", pack->name);
    json_put_i64(out, "tokens", report->tokens);
    json_put_bool(out, "estimate", report->tokens_estimated);
    json_put_i64(out, "max_tokens", pack->max_tokens);
    json_put_i64(out, "blocks", (int64_t)report->blocks);
    json_put_i64(out, "functions", (int64_t)report->functions);
    json_put_i64(out, "kernels", (int64_t)report->kernels);
    for (size_t i = 0; i < report->problem_count; i++) {
        json_object *entry = json_object_new_object();
        json_put_string(entry, "check", report->problems[i].check);
        json_put_string(entry, "subject", report->problems[i].subject);
        json_put_string(entry, "message", report->problems[i].message);
        (void)json_object_array_add(problems, entry);
    }
    json_put(out, "problems", problems);
    return out;
}

static void print_report(const struct pack *pack, const struct pack_report *report)
{
    (void)printf("%s %s: %lld tokens%s", report->problem_count ? "FAILED" : "ok", pack->name, (long long)report->tokens,
                 report->tokens_estimated ? " (estimate)" : "");
    if (pack->max_tokens)
        (void)printf(" of %lld", (long long)pack->max_tokens);
    (void)printf(", %zu blocks, %zu functions, %zu kernels\n", report->blocks, report->functions, report->kernels);
    for (size_t i = 0; i < report->problem_count; i++)
        (void)printf("  %s: %s: %s\n", report->problems[i].check, report->problems[i].subject,
                     report->problems[i].message);
}

/* A composition that does not resolve is a failed check, not trouble. */
static bool check_one(struct arena *arena, const char *name, const struct pack_check_options *how, struct pack **pack,
                      struct pack_report *report, struct error *error)
{
    if (pack_open(arena, name, pack, error))
        return pack_check(arena, *pack, how, report, error);
    if (error->code != ERROR_INPUT && error->code != ERROR_NOT_FOUND && error->code != ERROR_LIMIT)
        return false;
    struct pack *stub = arena_alloc(arena, sizeof *stub);
    struct pack_problem *problem = arena_alloc(arena, sizeof *problem);
    *stub = (struct pack){.name = arena_strdup(arena, name)};
    *problem = (struct pack_problem){"resolve", stub->name, arena_strdup(arena, error->message)};
    *report = (struct pack_report){.tokens_estimated = !how->tokenizer, .problems = problem, .problem_count = 1};
    *pack = stub;
    return true;
}

static bool run_check(struct arena *arena, const struct pack_options *set, int *status, struct error *error)
{
    AUTO_TOKENIZER *tokenizer = NULL;
    AUTO_JSON_OBJECT *list = json_object_new_array();
    struct toolchain toolchain;
    char **names = NULL;
    size_t count = set->argument_count;

    if (!read_tokenizer(set, &tokenizer, error) || !toolchain_find(arena, &toolchain, error) ||
        (!set->fast && !toolchain_require_nvcc(&toolchain, error)) ||
        (!count && !pack_list(arena, &names, &count, error)))
        return false;
    const struct pack_check_options how = {
        .toolchain = &toolchain, .tokenizer = tokenizer, .cache_root = set->cache, .skip_compile = set->fast};
    for (size_t i = 0; i < count; i++) {
        struct pack *pack;
        struct pack_report report;
        if (!check_one(arena, names ? names[i] : set->arguments[i], &how, &pack, &report, error))
            return false;
        if (report.problem_count)
            *status = CLI_FAILED;
        if (set->json)
            (void)json_object_array_add(list, report_json(pack, &report));
        else
            print_report(pack, &report);
    }
    return !set->json || print_json(list, error);
}

static const struct action actions[] = {
    {"list", 0, 0, run_list},
    {"show", 1, 1, run_show},
    {"build", 1, 1, run_build},
    {"check", 0, ARGUMENTS_MAX, run_check},
    {"tokens", 1, ARGUMENTS_MAX, run_tokens},
};

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (!strcmp(actions[i].name, name))
            return &actions[i];
    return NULL;
}

int cmd_pack(int argc, char **argv)
{
    static const struct argp parser = {options, take, usage, doc, NULL, NULL, NULL};
    struct pack_options set = {0};
    AUTO_ARENA *arena = arena_new();
    struct error error;
    int status = CLI_PASSED;

    if (argp_parse(&parser, argc, argv, 0, NULL, &set))
        return CLI_USAGE;
    if (!set.argument_count)
        return cli_usage("pack", "no action given: list, show, build, check or tokens");
    const char *name = set.arguments[0];
    const struct action *action = find_action(name);
    if (!action)
        return cli_usage("pack", "unknown action \"%s\": list, show, build, check or tokens", name);
    set.argument_count--;
    memmove(set.arguments, set.arguments + 1, set.argument_count * sizeof *set.arguments);
    if (set.argument_count < action->fewest || set.argument_count > action->most)
        return cli_usage("pack", "%s: %s", name,
                         set.argument_count < action->fewest ? "a pack is missing" : "too many arguments");
    return action->run(arena, &set, &status, &error) ? status : cli_fail(&error);
}
