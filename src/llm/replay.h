/* Answers out of a JSONL file, docs/formats/model.md: read once a client, found by trajectory and turn. */
#ifndef PTXBENCH_LLM_REPLAY_H
#define PTXBENCH_LLM_REPLAY_H

#include "llm/call.h"

void replay_start(struct chat_call *call);
void replay_free(struct replay_book *books);

#endif
