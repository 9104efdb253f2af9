#define _GNU_SOURCE
#include "runner/session.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/process.h"
#include "device/activity.h"
#include "device/channel.h"
#include "device/cupti.h"
#include "device/device.h"
#include "device/sass_counters.h"
#include "runner/candidate.h"
#include "runner/lockdown.h"

enum { CALIBRATION_ITERATIONS = 20 };

struct session {
    int channel;
    struct device *device;
    CUcontext context;
    struct candidate *candidate;
    struct message_load load;
    struct shared_memory inputs;
    struct shared_memory outputs;
    bool told; /* the worker knows why the session ends */
};

static void fail(struct session *session, enum failure_stage stage, int code, int iteration, const char *text)
{
    struct message message = {.body.failed = {.stage = (int32_t)stage, .code = code, .iteration = iteration}};

    (void)snprintf(message.body.failed.text, sizeof message.body.failed.text, "%s", text);
    session->told = channel_send(session->channel, &message, MESSAGE_FAILED, NULL, 0) == CHANNEL_OK;
}

/* Errors of loading: the candidate's when it is its object, else ours. */
static void fail_error(struct session *session, enum failure_stage stage, const struct error *error)
{
    char text[CHANNEL_TEXT_BYTES];

    (void)snprintf(text, sizeof text, "%s%s%s", error->message, error->hint[0] ? "; " : "", error->hint);
    fail(session, error->code == ERROR_INPUT ? FAILURE_LOAD : stage, 0, -1, text);
}

static CUresult synchronize(const struct session *session)
{
    return device_driver(session->device)->cuCtxSynchronize();
}

/* What surrounds every timed call: also run empty for calibration. */
static bool flush_and_wait(struct session *session, struct error *error)
{
    const struct cuda_driver *driver = device_driver(session->device);

    CUDA_TRY(driver, error, cuCtxResetPersistingL2Cache());
    if (!device_flush_l2(session->device, error))
        return false;
    CUDA_TRY(driver, error, cuCtxSynchronize());
    return true;
}

static bool calibrate(struct session *session, int64_t *iteration_ns, struct error *error)
{
    struct activity_iteration iterations[CALIBRATION_ITERATIONS];
    int64_t start = 0;

    if (!activity_reset(error))
        return false;
    for (int i = 0; i < CALIBRATION_ITERATIONS; i++) {
        if (i == CALIBRATION_ITERATIONS / 2)
            start = clock_now_ns();
        if (!flush_and_wait(session, error) || !device_mark_call_end(session->device, error))
            return false;
        (void)synchronize(session);
    }
    *iteration_ns = (clock_now_ns() - start) / (CALIBRATION_ITERATIONS - CALIBRATION_ITERATIONS / 2);
    return activity_collect(iterations, CALIBRATION_ITERATIONS, error);
}

/* Everything that costs time in CUPTI happens here once, before the candidate arrives. */
static bool warm_counters(struct session *session, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_count *counts;
    size_t count;

    return activity_disable(error) &&
           sass_counters_start(device_info(session->device)->ordinal, session->context, error) &&
           device_flush_l2(session->device, error) && device_synchronize(session->device, error) &&
           sass_counters_finish(arena, session->context, &counts, &count, error);
}

static bool warm_up(struct session *session, const char *device_name, struct message_ready *ready, struct error *error)
{
    const struct cupti *cupti;

    if (!device_open(device_name, &session->device, error) || !candidate_preload_libraries(error))
        return false;
    CUDA_TRY(device_driver(session->device), error, cuCtxGetCurrent(&session->context));
    (void)snprintf(ready->sandbox, sizeof ready->sandbox, "seccomp, %s", process_sandbox_text());
    if (device_emulated_arch(device_name)) /* has no clock and counts by itself */
        return true;
    if (!cupti_load(&cupti, error))
        return false;
    ready->cupti_version = cupti->version;
    /* Activity before counters: the other way round CUPTI 13.0 records nothing. */
    if (!activity_enable(error))
        return false;
    struct error counter_error;
    ready->counters_ok = warm_counters(session, &counter_error);
    if (!ready->counters_ok)
        (void)snprintf(ready->counters_text, sizeof ready->counters_text, "%s; %s", counter_error.message,
                       counter_error.hint);
    return activity_enable(error) && calibrate(session, &ready->iteration_ns, error);
}

static bool load(struct session *session, const int descriptors[CHANNEL_MAX_DESCRIPTORS], struct error *error)
{
    char path[64];
    const struct message_load *spec = &session->load;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptors[0]);
    if (!device_share_import(session->device, descriptors[1], spec->inputs_bytes, spec->inputs_writable != 0,
                             &session->inputs, error) ||
        !device_share_import(session->device, descriptors[2], spec->outputs_bytes, true, &session->outputs, error) ||
        !lockdown_apply(session->channel, error))
        return false;
    return candidate_load(path, spec->entry, (enum runner_binding)spec->binding, device_info(session->device)->ordinal,
                          &session->candidate, error);
}

static void place_arguments(const struct session *session, struct run_item item,
                            struct candidate_argument arguments[CHANNEL_MAX_ARGUMENTS])
{
    const struct message_load *spec = &session->load;

    for (int i = 0; i < spec->argument_count; i++) {
        const struct message_argument *argument = &spec->arguments[i];
        CUdeviceptr base = argument->kind == ARGUMENT_OUTPUT
                               ? session->outputs.address + (CUdeviceptr)(item.output_slot * spec->output_stride)
                               : session->inputs.address + (CUdeviceptr)(item.input_set * spec->input_stride);
        arguments[i] = (struct candidate_argument){argument, base + (CUdeviceptr)argument->offset};
    }
}

/* One call and its completion. Returns false after reporting a failure. */
static bool run_item(struct session *session, struct run_item item, int iteration, bool mark)
{
    const struct cuda_driver *driver = device_driver(session->device);
    struct candidate_argument arguments[CHANNEL_MAX_ARGUMENTS];
    char text[CHANNEL_TEXT_BYTES] = "";

    place_arguments(session, item, arguments);
    int code = candidate_call(session->candidate, arguments, session->load.argument_count, text, sizeof text);
    /* The entry may have left another context current. */
    (void)driver->cuCtxSetCurrent(session->context);
    struct error ignored; /* a context that is already broken says so below */
    bool marked = !mark || device_mark_call_end(session->device, &ignored);
    CUresult result = driver->cuCtxSynchronize();
    if (result != CUDA_SUCCESS) {
        char device_text[CHANNEL_TEXT_BYTES];
        (void)snprintf(device_text, sizeof device_text, "%s%s%.700s", cuda_result_name(driver, result),
                       code ? "; " : "", text);
        fail(session, FAILURE_DEVICE, (int)result, iteration, device_text);
        return false;
    }
    if (code || !marked) {
        fail(session, code ? FAILURE_CALL : FAILURE_DEVICE, code, iteration, code ? text : ignored.message);
        return false;
    }
    return true;
}

static bool send_times(struct session *session, int count)
{
    struct message message = {.body.times.count = count};
    struct error error;

    if (!activity_collect(message.body.times.iterations, count, &error)) {
        fail(session, error.code == ERROR_INPUT ? FAILURE_CALL : FAILURE_MEASURE, 0, -1, error.message);
        return false;
    }
    return channel_send(session->channel, &message, MESSAGE_TIMES, NULL, 0) == CHANNEL_OK;
}

static int write_counts(const struct sass_count *counts, size_t count)
{
    int fd = memfd_create("counts", MFD_CLOEXEC);

    for (size_t i = 0; fd >= 0 && i < count; i++) {
        struct count_record record = {.cubin_crc = counts[i].cubin_crc,
                                      .pc_offset = counts[i].pc_offset,
                                      .warps = counts[i].warps,
                                      .threads = counts[i].threads};
        (void)snprintf(record.function, sizeof record.function, "%s", counts[i].function);
        if (write(fd, &record, sizeof record) != sizeof record) {
            (void)close(fd);
            return -1;
        }
    }
    return fd;
}

static bool send_counts(struct session *session)
{
    AUTO_ARENA *arena = arena_new();
    struct message message = {0};
    struct sass_count *counts = NULL;
    size_t count = 0;
    struct error error;

    bool ok = sass_counters_finish(arena, session->context, &counts, &count, &error);
    AUTO_CLOSE int fd = ok ? write_counts(counts, count) : -1;
    if (ok && fd < 0)
        ok = error_set(&error, ERROR_SYSTEM, "cannot write the counters");
    message.body.counts = (struct message_counts){.ok = ok, .count = ok ? (int32_t)count : 0};
    if (!ok)
        (void)snprintf(message.body.counts.text, sizeof message.body.counts.text, "%s", error.message);
    return channel_send(session->channel, &message, MESSAGE_COUNTS, &fd, ok ? 1 : 0) == CHANNEL_OK;
}

static bool prepare_run(struct session *session, int flags, struct error *error)
{
    if (flags & RUN_COUNT)
        return activity_disable(error) &&
               sass_counters_start(device_info(session->device)->ordinal, session->context, error);
    return !(flags & RUN_TIME) || activity_reset(error);
}

/* Returns false when the session is over. */
static bool run(struct session *session, const struct message_run *request)
{
    struct message done = {.body.done.count = request->count};
    struct error error;

    if (!prepare_run(session, request->flags, &error)) {
        fail_error(session, FAILURE_MEASURE, &error);
        return true;
    }
    int64_t start = clock_now_ns();
    for (int i = 0; i < request->count; i++) {
        if ((request->flags & RUN_FLUSH) && !flush_and_wait(session, &error)) {
            fail(session, FAILURE_DEVICE, (int)synchronize(session), i, error.message);
            return false;
        }
        if (!run_item(session, request->items[i], i, (request->flags & RUN_TIME) != 0))
            return false;
        clock_sleep_ns(request->pause_ns);
    }
    done.body.done.loop_ns = clock_now_ns() - start;
    if (channel_send(session->channel, &done, MESSAGE_DONE, NULL, 0) != CHANNEL_OK)
        return false;
    if (request->flags & RUN_TIME)
        return send_times(session, request->count);
    return !(request->flags & RUN_COUNT) || send_counts(session);
}

/* Handles one message. Returns false when the session is over. */
static bool serve_message(struct session *session, struct message *message, const int *descriptors, int count)
{
    struct error error;

    if (message->type == MESSAGE_RUN && session->candidate)
        return run(session, &message->body.run);
    if (message->type != MESSAGE_LOAD || count != CHANNEL_MAX_DESCRIPTORS || session->candidate) {
        fail(session, FAILURE_SETUP, 0, -1, "unexpected message");
        return false;
    }
    session->load = message->body.load;
    if (!load(session, descriptors, &error)) {
        fail_error(session, FAILURE_SETUP, &error);
        return false;
    }
    struct message loaded = {0};
    return channel_send(session->channel, &loaded, MESSAGE_LOADED, NULL, 0) == CHANNEL_OK;
}

int session_serve(int channel, const char *device_name, int64_t started_ns)
{
    struct session session = {.channel = channel};
    struct message message = {0};
    struct error error;

    (void)prctl(PR_SET_TIMERSLACK, 1000UL); /* pauses of microseconds */
    if (!warm_up(&session, device_name, &message.body.ready, &error)) {
        fail_error(&session, FAILURE_SETUP, &error);
        return 1;
    }
    message.body.ready.start_ns = clock_now_ns() - started_ns;
    if (channel_send(channel, &message, MESSAGE_READY, NULL, 0) != CHANNEL_OK)
        return 1;
    for (;;) {
        int descriptors[CHANNEL_MAX_DESCRIPTORS];
        int count;
        if (channel_receive(channel, true, &message, descriptors, &count) != CHANNEL_OK)
            return CHANNEL_LOST_STATUS;
        bool more = serve_message(&session, &message, descriptors, count);
        while (count)
            (void)close(descriptors[--count]);
        if (!more)
            return session.told ? 0 : CHANNEL_LOST_STATUS;
    }
}
