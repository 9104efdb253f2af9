#include "agent/run_config.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/yaml.h"
#include "toolchain/compile.h"

enum { LIST_MAX = 1000, TEXT_MAX = 4096 };

/* What libcyaml fills; NULL: the key is absent. Numbers are texts until yaml_number reads them. */
struct yaml_budget {
    char *tokens;
    char *usd;
    char *hours;
};

struct yaml_task {
    char *definition;
    char **workloads;
    unsigned workloads_count;
    char *axes;
};

struct yaml_evaluation {
    char *sanitizer;
    char *tolerance;
    char *trials;
    char *warmup;
    char *iterations;
    char *compile_timeout;
    char *timeout;
    char *sample;
};

struct yaml_run {
    char *name;
    char **models;
    unsigned models_count;
    char **task_roots;
    unsigned task_roots_count;
    struct yaml_task *tasks;
    unsigned tasks_count;
    char **variants;
    unsigned variants_count;
    char *trajectories;
    char *turns;
    char *target_speedup;
    char *context;
    char *arch;
    char *language;
    char *binding;
    bool *guidance;
    char *notes;
    bool *notes_with_fix;
    char **devices;
    unsigned devices_count;
    char *parallel;
    char *retries;
    char *retry_delay_ms;
    char *call_attempts;
    char *seed;
    struct yaml_budget *budget;
    struct yaml_budget *trajectory_budget;
    struct yaml_evaluation *evaluation;
};

#define OPTIONAL (CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER)
#define TEXT(type, member) CYAML_FIELD_STRING_PTR(#member, OPTIONAL, type, member, 0, TEXT_MAX)
#define BOOLEAN(type, member) CYAML_FIELD_BOOL_PTR(#member, OPTIONAL, type, member)
#define TEXTS(type, member) CYAML_FIELD_SEQUENCE(#member, OPTIONAL, type, member, &text_schema, 1, LIST_MAX)

static const cyaml_schema_value_t text_schema = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, TEXT_MAX)};

static const cyaml_schema_field_t budget_fields[] = {TEXT(struct yaml_budget, tokens), TEXT(struct yaml_budget, usd),
                                                     TEXT(struct yaml_budget, hours), CYAML_FIELD_END};

static const cyaml_schema_field_t task_fields[] = {
    CYAML_FIELD_STRING_PTR("definition", CYAML_FLAG_POINTER, struct yaml_task, definition, 1, TEXT_MAX),
    TEXTS(struct yaml_task, workloads), TEXT(struct yaml_task, axes), CYAML_FIELD_END};

static const cyaml_schema_value_t task_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_task, task_fields)};

static const cyaml_schema_field_t evaluation_fields[] = {TEXT(struct yaml_evaluation, sanitizer),
                                                         TEXT(struct yaml_evaluation, tolerance),
                                                         TEXT(struct yaml_evaluation, trials),
                                                         TEXT(struct yaml_evaluation, warmup),
                                                         TEXT(struct yaml_evaluation, iterations),
                                                         TEXT(struct yaml_evaluation, compile_timeout),
                                                         TEXT(struct yaml_evaluation, timeout),
                                                         TEXT(struct yaml_evaluation, sample),
                                                         CYAML_FIELD_END};

static const cyaml_schema_field_t run_fields[] = {
    TEXT(struct yaml_run, name),
    CYAML_FIELD_SEQUENCE("models", CYAML_FLAG_POINTER, struct yaml_run, models, &text_schema, 1, LIST_MAX),
    TEXTS(struct yaml_run, task_roots),
    CYAML_FIELD_SEQUENCE("tasks", CYAML_FLAG_POINTER, struct yaml_run, tasks, &task_schema, 1, LIST_MAX),
    TEXTS(struct yaml_run, variants),
    TEXT(struct yaml_run, trajectories),
    TEXT(struct yaml_run, turns),
    TEXT(struct yaml_run, target_speedup),
    TEXT(struct yaml_run, context),
    TEXT(struct yaml_run, arch),
    TEXT(struct yaml_run, language),
    TEXT(struct yaml_run, binding),
    BOOLEAN(struct yaml_run, guidance),
    TEXT(struct yaml_run, notes),
    BOOLEAN(struct yaml_run, notes_with_fix),
    TEXTS(struct yaml_run, devices),
    TEXT(struct yaml_run, parallel),
    TEXT(struct yaml_run, retries),
    TEXT(struct yaml_run, retry_delay_ms),
    TEXT(struct yaml_run, call_attempts),
    TEXT(struct yaml_run, seed),
    CYAML_FIELD_MAPPING_PTR("budget", OPTIONAL, struct yaml_run, budget, budget_fields),
    CYAML_FIELD_MAPPING_PTR("trajectory_budget", OPTIONAL, struct yaml_run, trajectory_budget, budget_fields),
    CYAML_FIELD_MAPPING_PTR("evaluation", OPTIONAL, struct yaml_run, evaluation, evaluation_fields),
    CYAML_FIELD_END};

static const cyaml_schema_value_t run_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_run, run_fields)};

struct run_config run_config_defaults(void)
{
    return (struct run_config){
        .trajectories = 1,
        .turns = 8,
        .target_speedup = 1.2,
        .context = context_policy_text(CONTEXT_FULL),
        .arch = "sm_90a",
        .language = "cuda-ptx",
        .binding = "tvm-ffi",
        .parallel = 256,
        .retries = 3,
        .retry_delay_ms = 2000,
    };
}

void run_names_add(struct run_names *names, struct arena *arena, const char *name)
{
    LIST_APPEND(arena, names)->name = arena_strdup(arena, name);
}

/* Where the values come from, for paths. */
struct origin {
    struct arena *arena;
    const char *path;
    const char *folder;
};

/* A path counts from the file's folder when it exists there; a bare name is left alone. */
static const char *resolve(const struct origin *origin, const char *text)
{
    const char *beside = file_join(origin->arena, origin->folder, text);

    return strcmp(beside, text) != 0 && file_exists(beside) ? beside : arena_strdup(origin->arena, text);
}

static void take_names(const struct origin *origin, char *const *from, unsigned count, bool paths,
                       struct run_names *into)
{
    if (!count)
        return;
    *into = (struct run_names){0};
    for (unsigned i = 0; i < count; i++)
        run_names_add(into, origin->arena, paths ? resolve(origin, from[i]) : from[i]);
}

static void take_text(const struct origin *origin, const char *from, const char **into)
{
    if (from)
        *into = arena_strdup(origin->arena, from);
}

/* A number of the file; absent: as it is. */
struct yaml_item {
    const char *key;
    const char *text;
    int64_t least;
    int64_t most;
    int64_t *integer;
    double *real; /* instead of `integer` */
};

static bool take_items(const struct origin *origin, const struct yaml_item *items, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct yaml_item *item = &items[i];
        if (!item->text)
            continue;
        if (item->integer
                ? !yaml_integer(origin->path, item->key, item->text, item->least, item->most, item->integer, error)
                : !yaml_number(origin->path, item->key, item->text, (double)item->least, (double)item->most, item->real,
                               error))
            return false;
    }
    return true;
}

static bool take_budget(const struct origin *origin, const struct yaml_budget *from, struct run_budget *into,
                        struct error *error)
{
    if (!from)
        return true;
    const struct yaml_item items[] = {
        {"tokens", from->tokens, 0, INT64_C(1000000000000000), .integer = &into->tokens},
        {"usd", from->usd, 0, 1000000000, .real = &into->usd},
        {"hours", from->hours, 0, 1000000, .real = &into->hours},
    };
    return take_items(origin, items, ARRAY_LEN(items), error);
}

static bool take_evaluation(const struct origin *origin, const struct yaml_evaluation *from,
                            struct run_evaluation *into, struct error *error)
{
    if (!from)
        return true;
    const struct yaml_item items[] = {
        {"trials", from->trials, 0, 16, .integer = &into->trials},
        {"warmup", from->warmup, 0, 1000, .integer = &into->warmup},
        {"iterations", from->iterations, 0, 1000, .integer = &into->iterations},
        {"compile_timeout", from->compile_timeout, 0, 3600, .integer = &into->compile_timeout_s},
        {"timeout", from->timeout, 0, 86400, .integer = &into->timeout_s},
        {"sample", from->sample, 0, INT32_MAX, .integer = &into->sample},
    };
    take_text(origin, from->sanitizer, &into->sanitizer);
    take_text(origin, from->tolerance, &into->tolerance);
    return take_items(origin, items, ARRAY_LEN(items), error);
}

static void take_tasks(const struct origin *origin, const struct yaml_run *from, struct run_config *config)
{
    config->tasks.count = 0;
    for (unsigned i = 0; i < from->tasks_count; i++) {
        struct run_task *task = LIST_APPEND(origin->arena, &config->tasks);
        take_text(origin, from->tasks[i].definition, &task->definition);
        take_names(origin, from->tasks[i].workloads, from->tasks[i].workloads_count, false, &task->workloads);
        take_text(origin, from->tasks[i].axes, &task->axes);
    }
}

static bool take_numbers(const struct origin *origin, const struct yaml_run *from, struct run_config *config,
                         struct error *error)
{
    const struct yaml_item items[] = {
        {"trajectories", from->trajectories, 1, 10000, .integer = &config->trajectories},
        {"turns", from->turns, 1, TRAJECTORY_TURNS_MAX, .integer = &config->turns},
        {"target_speedup", from->target_speedup, 0, 1000000, .real = &config->target_speedup},
        {"parallel", from->parallel, 1, 10000, .integer = &config->parallel},
        {"retries", from->retries, 1, 1000, .integer = &config->retries},
        {"retry_delay_ms", from->retry_delay_ms, 0, 3600000, .integer = &config->retry_delay_ms},
        {"call_attempts", from->call_attempts, 0, 100, .integer = &config->call_attempts},
        {"seed", from->seed, 0, INT32_MAX, .integer = &config->seed},
    };

    return take_items(origin, items, ARRAY_LEN(items), error);
}

static bool take_run(const struct origin *origin, const struct yaml_run *from, struct run_config *config,
                     struct error *error)
{
    take_text(origin, from->name, &config->name);
    take_names(origin, from->models, from->models_count, true, &config->models);
    take_names(origin, from->task_roots, from->task_roots_count, true, &config->task_roots);
    take_tasks(origin, from, config);
    take_names(origin, from->variants, from->variants_count, true, &config->variants);
    take_text(origin, from->context, &config->context);
    take_text(origin, from->arch, &config->arch);
    take_text(origin, from->language, &config->language);
    take_text(origin, from->binding, &config->binding);
    config->guidance = from->guidance ? *from->guidance : config->guidance;
    if (from->notes)
        config->notes = resolve(origin, from->notes);
    config->notes_with_fix = from->notes_with_fix ? *from->notes_with_fix : config->notes_with_fix;
    take_names(origin, from->devices, from->devices_count, false, &config->devices);
    return take_numbers(origin, from, config, error) && take_budget(origin, from->budget, &config->budget, error) &&
           take_budget(origin, from->trajectory_budget, &config->trajectory_budget, error) &&
           take_evaluation(origin, from->evaluation, &config->evaluation, error);
}

bool run_config_read(struct arena *arena, const char *path, struct run_config *config, struct error *error)
{
    const char *base = file_basename(path);
    struct origin origin = {arena, path, arena_strndup(arena, path, (size_t)(base - path))};
    void *data = NULL;

    if (!yaml_read_file(path, &run_schema, &data, error))
        return false;
    bool ok = take_run(&origin, data, config, error);
    yaml_release(&run_schema, data);
    return ok;
}

struct range {
    const char *key;
    int64_t value;
    int64_t least;
    int64_t most;
};

static bool check_ranges(const struct range *ranges, size_t count, struct error *error)
{
    for (size_t i = 0; i < count; i++)
        if (ranges[i].value < ranges[i].least || ranges[i].value > ranges[i].most)
            return error_set(error, ERROR_USAGE, "%s: %lld is not between %lld and %lld", ranges[i].key,
                             (long long)ranges[i].value, (long long)ranges[i].least, (long long)ranges[i].most);
    return true;
}

static bool check_budget(const char *key, const struct run_budget *budget, struct error *error)
{
    if (budget->tokens < 0 || !(budget->usd >= 0) || !(budget->hours >= 0) || !isfinite(budget->usd) ||
        !isfinite(budget->hours))
        return error_set(error, ERROR_USAGE, "%s: a limit is negative or no number; 0 is none", key);
    return true;
}

bool run_config_check(const struct run_config *config, struct error *error)
{
    const struct run_evaluation *evaluation = &config->evaluation;
    const struct range ranges[] = {
        {"trajectories", config->trajectories, 1, 10000},
        {"turns", config->turns, 1, TRAJECTORY_TURNS_MAX},
        {"parallel", config->parallel, 1, 10000},
        {"retries", config->retries, 1, 1000},
        {"retry_delay_ms", config->retry_delay_ms, 0, 3600000},
        {"call_attempts", config->call_attempts, 0, 100},
        {"seed", config->seed, 0, INT32_MAX},
        {"evaluation.trials", evaluation->trials, 0, 16},
        {"evaluation.warmup", evaluation->warmup, 0, 1000},
        {"evaluation.iterations", evaluation->iterations, 0, 1000},
        {"evaluation.compile_timeout", evaluation->compile_timeout_s, 0, 3600},
        {"evaluation.timeout", evaluation->timeout_s, 0, 86400},
        {"evaluation.sample", evaluation->sample, 0, INT32_MAX},
    };
    enum context_policy policy;
    enum compile_binding binding;

    if (!config->models.count)
        return error_set(error, ERROR_USAGE, "models: none given");
    if (!config->tasks.count)
        return error_set(error, ERROR_USAGE, "tasks: none given");
    if (!check_ranges(ranges, ARRAY_LEN(ranges), error) || !check_budget("budget", &config->budget, error) ||
        !check_budget("trajectory_budget", &config->trajectory_budget, error))
        return false;
    if (!(config->target_speedup >= 0 && config->target_speedup < 1e6))
        return error_set(error, ERROR_USAGE, "target_speedup: %g is no speed-up; 0 is no early stop",
                         config->target_speedup);
    if (!context_policy_parse(config->context, &policy))
        return error_set(error, ERROR_USAGE, "context: \"%s\" is none of full, latest-pair, single-user",
                         config->context);
    if (!compile_arch_known(config->arch))
        return error_set(error, ERROR_USAGE, "arch: \"%s\" is none of sm_90a, sm_100a", config->arch);
    if (!compile_binding_parse(config->binding, &binding) || binding == COMPILE_BINDING_AUTO)
        return error_set(error, ERROR_USAGE, "binding: \"%s\" is none of tvm-ffi, c", config->binding);
    return true;
}
