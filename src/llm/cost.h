/* What a call costs by its model's prices. */
#ifndef PTXBENCH_LLM_COST_H
#define PTXBENCH_LLM_COST_H

#include "llm/chat.h"

/* US dollars; -1 when the model has no prices or the usage is not known. */
double cost_of(const struct model_config *model, const struct chat_usage *usage);

#endif
