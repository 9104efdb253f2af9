#include "cli/run_dry.h"

#include <string.h>

#include "agent/run_preview.h"
#include "cli/cli.h"

enum { FEEDBACK_TOKENS = 3000 }; /* of a turn: FEEDBACK_LIMIT_BYTES, and what surrounds it */

/* Most tokens of a trajectory whose answers all reach the model's limit, with the whole conversation sent each turn. */
static void most_tokens(const struct run_config *config, const struct model_config *model, int64_t prompt,
                        int64_t *input, int64_t *output)
{
    int64_t answer = model->max_output_tokens ? model->max_output_tokens : 8192;

    *input = *output = 0;
    for (int64_t turn = 0; turn < config->turns; turn++) {
        int64_t now = prompt + turn * (answer + FEEDBACK_TOKENS);
        int64_t room = model->context_tokens ? model->context_tokens - answer : now;
        if (now > room)
            return; /* the context is exhausted */
        *input += now;
        *output += answer;
    }
}

static void show_cost(const struct run_config *config, const struct run_preview *preview, FILE *stream)
{
    int64_t input = 0, output = 0;
    double cost = 0;
    bool known = true;

    for (size_t i = 0; i < preview->plan.count; i++) {
        const struct model_config *model = preview->plan.items[i].model;
        int64_t in, out;
        most_tokens(config, model, preview->prompt_tokens[i], &in, &out);
        input += in;
        output += out;
        known = known && model->price_count > 0;
        if (model->price_count)
            cost += ((double)in * model->prices[model->price_count - 1].input +
                     (double)out * model->prices[model->price_count - 1].output) /
                    1e6;
    }
    (void)fprintf(stream, "at most %.3g million tokens in, %.3g million out", (double)input / 1e6,
                  (double)output / 1e6);
    if (known)
        (void)fprintf(stream, ", $%.2f without a provider's cache", cost);
    (void)fprintf(stream, " (every answer as long as the model may, no early stop)\n");
}

int run_dry_show(const struct run_config *config, const struct run_names *default_tasks, FILE *stream)
{
    AUTO_ARENA *arena = arena_new();
    struct run_preview preview;
    struct error error;

    if (!run_preview_make(arena, config, default_tasks, &preview, &error))
        return cli_fail(&error);
    for (size_t i = 0; i < preview.plan.count; i++) {
        const struct planned *planned = &preview.plan.items[i];
        if (planned->index) /* differ from the first one in nothing but their number */
            continue;
        (void)fprintf(stream, "%lld x %s, task %s, workload %s, variant %s: prompt of about %lld tokens\n",
                      (long long)config->trajectories, planned->model->name, planned->workload->definition->name,
                      planned->workload->uuid, planned->variant_name, (long long)preview.prompt_tokens[i]);
    }
    (void)fprintf(stream, "%zu trajectories of at most %lld turns: %lld calls and evaluations\n", preview.plan.count,
                  (long long)config->turns, (long long)preview.plan.count * (long long)config->turns);
    show_cost(config, &preview, stream);
    run_preview_free(&preview);
    return CLI_PASSED;
}
