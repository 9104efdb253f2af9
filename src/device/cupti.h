/*
 * CUPTI by dlopen. Header and library may differ in version: records carry their own layout, and the table says which
 * version answered. One process can have one CUPTI subscriber: no compute-sanitizer in the same process.
 *
 * Facts: CUPTI documentation, CUDA 13.0.
 */
#ifndef PTXBENCH_DEVICE_CUPTI_H
#define PTXBENCH_DEVICE_CUPTI_H

#include <cuda.h>
/* cuda.h first: CUPTI relies on it */
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#include "base/error.h"

#define CUPTI_FUNCTIONS(X)                                                                                             \
    X(cuptiGetVersion)                                                                                                 \
    X(cuptiGetResultString)                                                                                            \
    X(cuptiActivityRegisterCallbacks)                                                                                  \
    X(cuptiActivityEnable)                                                                                             \
    X(cuptiActivityDisable)                                                                                            \
    X(cuptiActivityFlushAll)                                                                                           \
    X(cuptiActivityGetNextRecord)                                                                                      \
    X(cuptiActivityGetNumDroppedRecords)                                                                               \
    X(cuptiGetTimestamp)                                                                                               \
    X(cuptiProfilerInitialize)                                                                                         \
    X(cuptiDeviceGetChipName)                                                                                          \
    X(cuptiSassMetricsGetNumOfMetrics)                                                                                 \
    X(cuptiSassMetricsGetMetrics)                                                                                      \
    X(cuptiSassMetricsSetConfig)                                                                                       \
    X(cuptiSassMetricsEnable)                                                                                          \
    X(cuptiSassMetricsDisable)                                                                                         \
    X(cuptiSassMetricsGetDataProperties)                                                                               \
    X(cuptiSassMetricsFlushData)

struct cupti {
    void *library;
    uint32_t version; /* CUPTI_API_VERSION of the library */
#define X(name) __typeof__(name) *name;
    CUPTI_FUNCTIONS(X)
#undef X
};

/* Loads libcupti.so.13 once per process. ERROR_UNSUPPORTED with a remedy when it is missing or older than the header. */
MUST_CHECK bool cupti_load(const struct cupti **cupti, struct error *error);

/* Fills ERROR_DEVICE "what: text". Returns false. */
bool cupti_error(const struct cupti *cupti, struct error *error, CUptiResult result, const char *what);

#define CUPTI_TRY(cupti, error, call)                                                                                  \
    do {                                                                                                               \
        CUptiResult cupti_try_result = (cupti)->call;                                                                  \
        if (cupti_try_result != CUPTI_SUCCESS)                                                                         \
            return cupti_error((cupti), (error), cupti_try_result, #call);                                             \
    } while (0)

#endif
