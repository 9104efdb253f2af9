#include <stdarg.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "emu/shim/shim_internal.h"

/* CUDA's API has no handle for "the device of this process", so neither can this: the one global object. */
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shim_state state_of_process;

static const char *environment(const char *name)
{
    return getenv(name);
}

static int start(struct shim_state *state)
{
    struct sysinfo machine = {0};
    struct error error;

    (void)sysinfo(&machine);
    uint64_t physical = (uint64_t)machine.totalram * machine.mem_unit;
    state->arena = arena_new();
    if (!shim_options_read(environment, physical, &state->options, &error) ||
        !emulator_new(state->options.arch, &state->emulator, &error)) {
        (void)fprintf(stderr, "ptxbench emulator: %s%s%s\n", error.message, error.hint[0] ? "\nhint: " : "",
                      error.hint);
        return CUDA_ERROR_NO_DEVICE;
    }
    state->options.arch = arena_strdup(state->arena, state->options.arch);
    state->options.findings_path = arena_strdup(state->arena, state->options.findings_path);
    state->options.stats_path = arena_strdup(state->arena, state->options.stats_path);
    emulator_set_schedule(state->emulator, &state->options.schedule);
    state->memory = emulator_memory(state->emulator);
    state->next_stream_id = 8; /* small numbers are the default streams' */
    return CUDA_SUCCESS;
}

struct shim_state *shim_lock(void)
{
    (void)pthread_mutex_lock(&state_lock);
    if (!state_of_process.started) {
        state_of_process.started = true;
        state_of_process.start_code = start(&state_of_process);
    }
    return &state_of_process;
}

void shim_unlock(struct shim_state **state)
{
    (void)state;
    (void)pthread_mutex_unlock(&state_lock);
}

int shim_start(void)
{
    SHIM_LOCKED *state = shim_lock();

    return state->start_code;
}

int shim_status(bool waits)
{
    SHIM_LOCKED *state = shim_lock();

    if (waits)
        state->fault_shown = state->fault != 0;
    return state->fault_shown ? state->fault : CUDA_SUCCESS;
}

uint64_t shim_clock_ns(void)
{
    SHIM_LOCKED *state = shim_lock();

    return state->clock_ns;
}

const char *shim_device_name(void)
{
    SHIM_LOCKED *state = shim_lock();

    return emulator_properties(state->emulator)->name;
}

int shim_refuse(int code, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    SHIM_LOCKED *state = shim_lock();
    return shim_refuse_locked(state, code, "%s", message);
}

int shim_refuse_locked(struct shim_state *state, int code, const char *format, ...)
{
    enum { REFUSALS_TOLD = 50 };
    char message[512];
    va_list args;

    if (state->refusals++ >= REFUSALS_TOLD)
        return code;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    bool unsupported = code == CUDA_ERROR_NOT_SUPPORTED;
    shim_report_fact(state, unsupported ? "unsupported" : "error", unsupported ? "unsupported" : "api_misuse", message);
    return code;
}

int shim_unsupported(const char *function)
{
    return shim_refuse(CUDA_ERROR_NOT_SUPPORTED, "%s is not emulated", function);
}

/* The end of a program that returns from main or calls exit; one that is killed has told each finding at its launch. */
__attribute__((destructor)) static void finish(void)
{
    if (state_of_process.started && state_of_process.emulator)
        shim_report_exit(&state_of_process);
}
