#include "device/activity.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/cupti.h"

enum { BUFFER_BYTES = 1 << 20, MAX_SPANS = 1 << 18 };

/* The recorder is process-wide because CUPTI's callbacks are; a lock covers CUPTI's own thread. */
static struct {
    pthread_mutex_t lock;
    struct activity_span *spans;
    int count;
    int64_t lost;
    bool registered;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                           CUPTI_ACTIVITY_KIND_MEMSET};

static void CUPTIAPI request_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
{
    *buffer = aligned_alloc(ACTIVITY_RECORD_ALIGNMENT, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void add_span(uint64_t start, uint64_t end, enum activity_span_kind kind)
{
    if (!recorder.spans || recorder.count == MAX_SPANS) {
        recorder.lost++;
        return;
    }
    recorder.spans[recorder.count++] =
        (struct activity_span){.start_ns = (int64_t)start, .end_ns = (int64_t)end, .kind = kind};
}

static enum activity_span_kind kernel_kind(const char *name)
{
    if (name && !strcmp(name, "ptxbench_l2_flush"))
        return ACTIVITY_FLUSH;
    return name && !strcmp(name, "ptxbench_call_end") ? ACTIVITY_CALL_END : ACTIVITY_KERNEL;
}

static void add_record(const CUpti_Activity *record)
{
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel10 *kernel = (const void *)record;
        add_span(kernel->start, kernel->end, kernel_kind(kernel->name));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy6 *copy = (const void *)record;
        add_span(copy->start, copy->end, ACTIVITY_MEMORY);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const CUpti_ActivityMemset4 *set = (const void *)record;
        add_span(set->start, set->end, ACTIVITY_MEMORY);
    }
}

static void CUPTIAPI complete_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    const struct cupti *cupti;
    struct error ignored;
    CUpti_Activity *record = NULL;
    size_t dropped = 0;

    (void)size;
    (void)pthread_mutex_lock(&recorder.lock);
    if (cupti_load(&cupti, &ignored)) {
        while (valid && cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
            add_record(record);
        if (cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
            recorder.lost += (int64_t)dropped;
    }
    (void)pthread_mutex_unlock(&recorder.lock);
    free(buffer);
}

bool activity_enable(struct error *error)
{
    const struct cupti *cupti;

    if (!cupti_load(&cupti, error))
        return false;
    if (!recorder.spans)
        recorder.spans = calloc(MAX_SPANS, sizeof *recorder.spans);
    if (!recorder.spans)
        return error_set(error, ERROR_MEMORY, "activity records: out of memory");
    if (!recorder.registered)
        CUPTI_TRY(cupti, error, cuptiActivityRegisterCallbacks(request_buffer, complete_buffer));
    recorder.registered = true;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        CUPTI_TRY(cupti, error, cuptiActivityEnable(kinds[i]));
    return true;
}

bool activity_disable(struct error *error)
{
    const struct cupti *cupti;

    if (!cupti_load(&cupti, error))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        CUPTI_TRY(cupti, error, cuptiActivityDisable(kinds[i]));
    return activity_reset(error);
}

bool activity_reset(struct error *error)
{
    const struct cupti *cupti;

    if (!cupti_load(&cupti, error))
        return false;
    CUPTI_TRY(cupti, error, cuptiActivityFlushAll(0));
    (void)pthread_mutex_lock(&recorder.lock);
    recorder.count = 0;
    recorder.lost = 0;
    (void)pthread_mutex_unlock(&recorder.lock);
    return true;
}

static int compare_spans(const void *left, const void *right)
{
    const struct activity_span *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    /* At the same instant the flush is first: one answer, whatever the order of the records. */
    return (b->kind == ACTIVITY_FLUSH) - (a->kind == ACTIVITY_FLUSH);
}

static void add_to_iteration(struct activity_iteration *iteration, const struct activity_span *span)
{
    int64_t end = iteration->start_ns + iteration->duration_ns;

    if (!iteration->records)
        iteration->start_ns = end = span->start_ns;
    if (span->end_ns > end)
        end = span->end_ns;
    iteration->duration_ns = end - iteration->start_ns;
    iteration->records++;
    iteration->kernels += span->kind == ACTIVITY_KERNEL;
}

/* Counts the records of spans [first, last) that ended after the iteration's marker had started. */
static int32_t count_late(const struct activity_span *spans, int first, int last)
{
    int64_t marker = INT64_MAX;
    int32_t late = 0;

    for (int i = first; i < last; i++)
        if (spans[i].kind == ACTIVITY_CALL_END && spans[i].start_ns < marker)
            marker = spans[i].start_ns;
    for (int i = first; i < last; i++)
        late += spans[i].kind != ACTIVITY_CALL_END && spans[i].end_ns > marker;
    return late;
}

int activity_cut(struct activity_span *spans, int span_count, struct activity_iteration *iterations, int count)
{
    int flushes = 0;

    if (span_count)
        qsort(spans, (size_t)span_count, sizeof *spans, compare_spans);
    memset(iterations, 0, (size_t)count * sizeof *iterations);
    for (int i = 0; i < span_count;) {
        int end = i + 1;
        if (spans[i++].kind != ACTIVITY_FLUSH)
            continue;
        while (end < span_count && spans[end].kind != ACTIVITY_FLUSH)
            end++;
        if (++flushes > count)
            continue;
        struct activity_iteration *iteration = &iterations[flushes - 1];
        for (int k = i; k < end; k++)
            if (spans[k].kind != ACTIVITY_CALL_END)
                add_to_iteration(iteration, &spans[k]);
        iteration->late = count_late(spans, i, end);
        i = end;
    }
    return flushes;
}

/* Whether an iteration of sorted spans has two markers. We enqueue one: the other is work under the marker's name, which
 * would count as none. */
static bool has_foreign_marker(const struct activity_span *spans, int count)
{
    int flushes = 0, markers = 0;

    for (int i = 0; i < count; i++) {
        flushes += spans[i].kind == ACTIVITY_FLUSH;
        markers = spans[i].kind == ACTIVITY_FLUSH ? 0 : markers + (spans[i].kind == ACTIVITY_CALL_END);
        if (flushes && markers > 1)
            return true;
    }
    return false;
}

bool activity_collect(struct activity_iteration *iterations, int count, struct error *error)
{
    const struct cupti *cupti;

    if (!cupti_load(&cupti, error))
        return false;
    CUPTI_TRY(cupti, error, cuptiActivityFlushAll(0));
    (void)pthread_mutex_lock(&recorder.lock);
    int64_t lost = recorder.lost;
    int flushes = activity_cut(recorder.spans, recorder.count, iterations, count);
    bool foreign = flushes > count || has_foreign_marker(recorder.spans, recorder.count);
    recorder.count = 0;
    recorder.lost = 0;
    (void)pthread_mutex_unlock(&recorder.lock);
    if (lost)
        return error_set(error, ERROR_DEVICE, "CUPTI lost %lld activity records", (long long)lost);
    if (foreign)
        return error_set(error, ERROR_INPUT,
                         "a kernel runs under a name of ours: ptxbench_l2_flush or ptxbench_call_end");
    if (flushes != count)
        return error_set(error, ERROR_DEVICE, "CUPTI recorded %d of %d iterations", flushes, count);
    return true;
}
