/* Starts tests/llm/server.py, and makes models that ask it. */
#ifndef PTXBENCH_TESTS_FAULT_SERVER_H
#define PTXBENCH_TESTS_FAULT_SERVER_H

#include "base/process.h"
#include "llm/chat.h"

#define FAULT_KEY_ENV "PTXBENCH_TEST_KEY"
#define FAULT_KEY "test-secret-0123456789abcdef"

/* What server.py answers when nothing goes wrong. */
#define FAULT_TEXT "K\xc3\xa4se \xe2\x86\x92 `__global__ void k();`\n"
#define FAULT_REASONING "Let me think. \xe2\x9c\x93"

struct fault_server {
    struct process process;
    int port;
};

/* Starts it with one more option and its value (NULL: none), and sets the key's variable. Fails the test on trouble. */
void fault_server_start(struct fault_server *server, const char *option, const char *value);
void fault_server_stop(struct fault_server *server);

/* A model of `provider` whose address names the scenario and `id`. */
struct model_config fault_model(struct arena *arena, const struct fault_server *server, const char *provider,
                                const char *scenario, const char *id);

#endif
