#include "llm/fault_server.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "llm/provider.h"

void fault_server_start(struct fault_server *server, const char *option, const char *value)
{
    const char *const argv[] = {"python3", SOURCE_ROOT "/tests/llm/server.py", option, value, NULL};
    AUTO_BUFFER line = buffer_new(256);
    struct error error;

    assert_int_equal(setenv(FAULT_KEY_ENV, FAULT_KEY "\n", 1), 0); /* the line break must not get into the header */
    assert_int_equal(setenv("no_proxy", "127.0.0.1", 1), 0);
    assert_true(process_start(&(struct process_spec){.argv = argv}, &server->process, &error));
    while (!strchr(line.data, '\n')) {
        struct pollfd waiting = {.fd = server->process.output, .events = POLLIN};
        (void)poll(&waiting, 1, -1);
        assert_true(process_drain(server->process.output, &line));
    }
    assert_int_equal(sscanf(line.data, "port %d", &server->port), 1);
}

void fault_server_stop(struct fault_server *server)
{
    AUTO_BUFFER errors = buffer_new(4096);
    struct process_end end;

    process_kill(&server->process, &end);
    (void)process_drain(server->process.errors, &errors);
    process_close_streams(&server->process);
    assert_string_equal(errors.data, "");
}

struct model_config fault_model(struct arena *arena, const struct fault_server *server, const char *provider,
                                const char *scenario, const char *id)
{
    return (struct model_config){
        .name = arena_printf(arena, "%s-%s", provider, scenario),
        .provider = provider,
        .base_url = arena_printf(arena, "http://127.0.0.1:%d/%s/%s-%s", server->port, scenario, provider, id),
        .model_id = "some-model",
        .api_key_env = FAULT_KEY_ENV,
        .max_output_tokens = 1000,
        .send_max_output_tokens = true,
    };
}
