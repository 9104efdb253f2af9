/*
 * Attempts by a program: the request as JSON on its standard input, its standard output is the answer.
 *
 * Its exit status: 0 answered; 65 the conversation does not fit its context; 69 its quota is used up; 75 try again later;
 * 77 it lacks a credential; 78 it declines; anything else is a bad request. Ended by a signal: tried again.
 */
#ifndef PTXBENCH_LLM_SCRIPT_H
#define PTXBENCH_LLM_SCRIPT_H

#include "llm/call.h"

/* The text for standard input. Returns a new object. */
json_object *script_write_input(const struct chat_request *request);

void script_start(struct chat_call *call);
void script_stop(struct chat_call *call);

/* A descriptor of a child is ready. */
void script_on_event(struct chat_call *call);

#endif
