#include <string.h>

#include "agent/feedback.h"
#include "agent/pack.h"
#include "agent/run_internal.h"

static struct prompt_task task_for(const struct run *run, const struct workload *workload)
{
    return (struct prompt_task){
        .workload = workload,
        .arch = run->config.arch,
        .language = run->config.language,
        .binding = run->config.binding,
        .target_speedup = run->config.target_speedup,
    };
}

/* The pack that a variant stands for; NULL: none. */
static bool pack_of_variant(const struct run *run, const struct planned *planned, const char **name,
                            struct error *error)
{
    const struct definition *definition = planned->workload->definition;
    const char *variant = planned->variant_name;
    enum pack_family family;

    *name = NULL;
    if (!strcmp(variant, "none"))
        return true;
    if (strspn(variant, "0123456789") != strlen(variant)) {
        *name = variant;
        return true;
    }
    if (!pack_family_of(definition->op_type, definition->name, &family)) {
        (void)error_set(error, ERROR_UNSUPPORTED, "%s: no prompt variants for tasks of type %s", definition->name,
                        definition->op_type);
        return error_hint(error, "name a pack as variant, or \"none\"");
    }
    *name = pack_variant_for(family, run->config.arch, atoi(variant));
    return *name || error_set(error, ERROR_NOT_FOUND, "variant %s: %s has none of that number for %s", variant,
                              pack_family_text(family), run->config.arch);
}

/* The seven rules are for attention; other tasks have none. */
static bool add_guidance(struct run *run, const struct planned *planned, struct prompt_task *task, struct error *error)
{
    const struct definition *definition = planned->workload->definition;
    const char *name = !strcmp(run->config.arch, "sm_90a") ? "hopper-guidance" : "blackwell-guidance";
    enum pack_family family;
    struct pack *pack;

    if (!run->config.guidance || !pack_family_of(definition->op_type, definition->name, &family) || family == PACK_GEMM)
        return true;
    return pack_open(run->arena, name, &pack, error) && pack_text(run->arena, pack, &task->guidance, error);
}

static bool write_texts(struct run *run, const struct planned *planned, struct prompt_pair *pair, struct error *error)
{
    const char *name;
    struct pack *pack;

    pair->source = task_for(run, planned->workload);
    if (!pack_of_variant(run, planned, &name, error))
        return false;
    if (name &&
        (!pack_open(run->arena, name, &pack, error) || !pack_text(run->arena, pack, &pair->source.pack_text, error)))
        return false;
    return add_guidance(run, planned, &pair->source, error) &&
           prompt_system(run->arena, &pair->source, &pair->system, error) &&
           prompt_first_turn(run->arena, &pair->source, &pair->task, error) &&
           (run->folder.lock < 0 || /* a preview */
            (run_folder_put_prompt(&run->folder, pair->system, pair->system_sha256, error) &&
             run_folder_put_prompt(&run->folder, pair->task, pair->task_sha256, error)));
}

bool run_prompts_make(struct run *run, const struct planned *planned, const struct prompt_pair **out,
                      struct error *error)
{
    for (size_t i = 0; i < run->prompts.count; i++)
        if (run->prompts.items[i]->workload == planned->workload &&
            run->prompts.items[i]->variant == planned->variant) {
            *out = run->prompts.items[i];
            return true;
        }
    struct prompt_pair *pair = arena_alloc(run->arena, sizeof *pair);
    *pair = (struct prompt_pair){.workload = planned->workload, .variant = planned->variant};
    if (!write_texts(run, planned, pair, error))
        return error_prefix(error, "%s", planned->name);
    *LIST_APPEND(run->arena, &run->prompts) = pair;
    *out = pair;
    return true;
}

bool run_prompts_find(struct run *run, const struct planned *planned, const struct event_started *started,
                      const struct prompt_pair **out, struct error *error)
{
    for (size_t i = 0; i < run->prompts.count; i++) {
        const struct prompt_pair *pair = run->prompts.items[i];
        if (started->system_sha256 && started->task_sha256 && pair->source.workload == planned->workload &&
            !strcmp(pair->system_sha256, started->system_sha256) && !strcmp(pair->task_sha256, started->task_sha256)) {
            *out = pair;
            return true;
        }
    }
    struct prompt_pair *pair = arena_alloc(run->arena, sizeof *pair);
    *pair = (struct prompt_pair){.source = task_for(run, planned->workload)};
    if (!run_folder_get_prompt(run->arena, run->folder.path, started->system_sha256, &pair->system, error) ||
        !run_folder_get_prompt(run->arena, run->folder.path, started->task_sha256, &pair->task, error))
        return false;
    (void)snprintf(pair->system_sha256, sizeof pair->system_sha256, "%s", started->system_sha256);
    (void)snprintf(pair->task_sha256, sizeof pair->task_sha256, "%s", started->task_sha256);
    *LIST_APPEND(run->arena, &run->prompts) = pair;
    *out = pair;
    return true;
}

/* Repairs of kernels that look like a failed one. */
static bool find_notes(struct run *run, const struct member *member, const char *feedback, struct arena *arena,
                       const char **out, struct error *error)
{
    const struct definition *definition = member->planned->workload->definition;
    struct notes_query query = {
        .source = trajectory_current(&member->trajectory)->code, .feedback = feedback, .op_type = definition->op_type};
    struct notes_text_options options = {.with_fix = run->config.notes_with_fix};
    struct notes_hit *hits;
    size_t count;

    if (!notes_find(run->notes, arena, &query, &hits, &count, error))
        return false;
    *out = notes_text(arena, hits, count, &options);
    return true;
}

static bool no_code(struct run *run, const struct member *member, const struct prompt_turn *turn, struct arena *arena,
                    const char **out, struct error *error)
{
    const struct trajectory_turn *now = trajectory_current(&member->trajectory);
    struct extract_result found;

    extract_code_of(now->reply, strlen(now->reply), prompt_extract_language(run->config.language), arena, &found);
    if (found.status == EXTRACT_FOUND || found.status == EXTRACT_UNSURE) /* the model itself said that none is it */
        found.status = EXTRACT_NONE;
    return prompt_no_code(arena, &member->prompts->source, &found, turn, out, error);
}

bool run_feedback(struct run *run, const struct member *member, const struct verdict *verdict, struct arena *arena,
                  const char **out, struct error *error)
{
    const struct trajectory *trajectory = &member->trajectory;
    const struct trajectory_turn *now = trajectory_current(trajectory);
    struct feedback_options options = {.secret = run->config.name, .target_speedup = trajectory->plan.target_speedup};
    struct prompt_turn turn = {
        .turn = trajectory->turn + 2,
        .turn_limit = (int)trajectory->plan.planned_turns,
        .best_speedup = trajectory->best_speedup.known ? trajectory->best_speedup.value : 0,
    };

    if (!verdict)
        return no_code(run, member, &turn, arena, out, error);
    if (verdict->performance.speedup.known && verdict->performance.speedup.value > turn.best_speedup)
        turn.best_speedup = verdict->performance.speedup.value;
    if (!feedback_write(arena, verdict, now->code, &options, &turn.feedback, error))
        return false;
    if (run->notes && verdict->status != VERDICT_PASSED &&
        !find_notes(run, member, turn.feedback, arena, &turn.notes, error))
        return false;
    return prompt_next_turn(arena, &member->prompts->source, &turn, out, error);
}
