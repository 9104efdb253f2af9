/* Streams and events. Work is done when it is enqueued, so a stream is a name, and an event a time of the clock. */
#include "emu/shim/shim_internal.h"

enum { CLOCK_STEP_NS = 1000 };

struct shim_stream {
    unsigned flags;
    int priority;
    uint64_t id;
    struct shim_stream *next;
};

struct shim_event {
    unsigned flags;
    bool recorded;
    uint64_t time_ns;
    struct shim_event *next;
};

static bool is_default(const struct shim_stream *stream)
{
    return (uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD;
}

int shim_stream_check(const struct shim_state *state, const struct shim_stream *stream)
{
    if (is_default(stream))
        return CUDA_SUCCESS;
    for (const struct shim_stream *at = state->streams; at; at = at->next)
        if (at == stream)
            return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_HANDLE;
}

int shim_stream_new(unsigned flags, int priority, struct shim_stream **out)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_stream *stream = malloc(sizeof *stream);

    if (!stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *stream = (struct shim_stream){flags, priority, state->next_stream_id++, state->streams};
    state->streams = stream;
    *out = stream;
    return CUDA_SUCCESS;
}

int shim_stream_free(struct shim_stream *stream)
{
    SHIM_LOCKED *state = shim_lock();

    for (struct shim_stream **slot = &state->streams; *slot; slot = &(*slot)->next) {
        if (*slot != stream)
            continue;
        *slot = stream->next;
        free(stream);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

int shim_stream_query(const struct shim_stream *stream, unsigned *flags, int *priority, uint64_t *id)
{
    SHIM_LOCKED *state = shim_lock();
    bool is_named = !is_default(stream);
    int code = shim_stream_check(state, stream);

    if (code)
        return code;
    if (flags)
        *flags = is_named ? stream->flags : 0;
    if (priority)
        *priority = is_named ? stream->priority : 0;
    if (id)
        *id = is_named ? stream->id : (uintptr_t)stream;
    return CUDA_SUCCESS;
}

static bool event_known(const struct shim_state *state, const struct shim_event *event)
{
    for (const struct shim_event *at = state->events; at; at = at->next)
        if (at == event)
            return true;
    return false;
}

int shim_event_new(unsigned flags, struct shim_event **out)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_event *event = calloc(1, sizeof *event);

    if (!event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *event = (struct shim_event){.flags = flags, .next = state->events};
    state->events = event;
    *out = event;
    return CUDA_SUCCESS;
}

int shim_event_free(struct shim_event *event)
{
    SHIM_LOCKED *state = shim_lock();

    for (struct shim_event **slot = &state->events; *slot; slot = &(*slot)->next) {
        if (*slot != event)
            continue;
        *slot = event->next;
        free(event);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

int shim_event_record(struct shim_event *event, const struct shim_stream *stream)
{
    SHIM_LOCKED *state = shim_lock();

    if (!event_known(state, event) || shim_stream_check(state, stream))
        return CUDA_ERROR_INVALID_HANDLE;
    state->clock_ns += CLOCK_STEP_NS;
    event->recorded = true;
    event->time_ns = state->clock_ns;
    return CUDA_SUCCESS;
}

int shim_event_query(const struct shim_event *event)
{
    SHIM_LOCKED *state = shim_lock();

    return event_known(state, event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

int shim_event_elapsed(const struct shim_event *start, const struct shim_event *end, float *milliseconds)
{
    SHIM_LOCKED *state = shim_lock();

    if (!event_known(state, start) || !event_known(state, end) || !start->recorded || !end->recorded ||
        ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        return CUDA_ERROR_INVALID_HANDLE;
    *milliseconds = (float)(((double)end->time_ns - (double)start->time_ns) * 1e-6);
    return CUDA_SUCCESS;
}
