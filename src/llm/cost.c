#include "llm/cost.h"

static int64_t known_part(int64_t count, int64_t most)
{
    if (count < 0)
        return 0;
    return count < most ? count : most;
}

double cost_of(const struct model_config *model, const struct chat_usage *usage)
{
    const struct model_price *price = NULL;

    if (usage->input_tokens < 0 || usage->output_tokens < 0)
        return -1;
    for (size_t i = 0; i < model->price_count && !price; i++)
        if (usage->input_tokens <= model->prices[i].up_to_input_tokens)
            price = &model->prices[i];
    if (!price)
        return -1;
    int64_t cached = known_part(usage->cached_tokens, usage->input_tokens);
    int64_t written = known_part(usage->cache_write_tokens, usage->input_tokens - cached);
    if ((cached && price->cached_input < 0) || (written && price->cache_write < 0))
        return -1;
    int64_t fresh = usage->input_tokens - cached - written;
    return 1e-6 * ((double)fresh * price->input + (double)cached * price->cached_input +
                   (double)written * price->cache_write + (double)usage->output_tokens * price->output);
}
