#include "device/sass_counters.h"

#include <string.h>

#include "device/cupti.h"

enum { METRIC_WARPS, METRIC_THREADS, METRIC_COUNT };
static const char *const metric_names[METRIC_COUNT] = {"smsp__sass_inst_executed",
                                                       "smsp__sass_thread_inst_executed_pred_on"};

/* Process-wide like CUPTI's configuration: which device is configured, and the ids of our metrics. */
static struct {
    bool initialized;
    int ordinal;
    uint64_t ids[METRIC_COUNT];
} counters;

static bool find_metrics(const struct cupti *cupti, const char *chip, struct error *error)
{
    CUpti_SassMetrics_GetNumOfMetrics_Params number = {
        .structSize = CUpti_SassMetrics_GetNumOfMetrics_Params_STRUCT_SIZE, .pChipName = chip};
    CUPTI_TRY(cupti, error, cuptiSassMetricsGetNumOfMetrics(&number));
    AUTO_FREE CUpti_SassMetrics_MetricDetails *details = calloc(number.numOfMetrics + 1, sizeof *details);
    if (!details)
        return error_set(error, ERROR_MEMORY, "SASS metrics: out of memory");
    CUpti_SassMetrics_GetMetrics_Params all = {.structSize = CUpti_SassMetrics_GetMetrics_Params_STRUCT_SIZE,
                                               .pChipName = chip,
                                               .numOfMetrics = number.numOfMetrics,
                                               .pMetricsList = details};
    CUPTI_TRY(cupti, error, cuptiSassMetricsGetMetrics(&all));
    for (int wanted = 0; wanted < METRIC_COUNT; wanted++) {
        size_t i = 0;
        while (i < number.numOfMetrics && strcmp(details[i].pMetricName, metric_names[wanted]) != 0)
            i++;
        if (i == number.numOfMetrics)
            return error_set(error, ERROR_UNSUPPORTED, "CUPTI has no metric %s for %s", metric_names[wanted], chip);
        counters.ids[wanted] = details[i].metricId;
    }
    return true;
}

/* Once per process: a second configuration, even after cuptiSassMetricsUnsetConfig, fails with "out of memory" (CUPTI
 * 13.0), while enabling again under the first one works. */
static bool configure(const struct cupti *cupti, struct error *error)
{
    CUpti_SassMetrics_Config configs[METRIC_COUNT];

    for (int i = 0; i < METRIC_COUNT; i++)
        configs[i] = (CUpti_SassMetrics_Config){.metricId = counters.ids[i],
                                                .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    CUpti_SassMetricsSetConfig_Params set = {.structSize = CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE,
                                             .pConfigs = configs,
                                             .numOfMetricConfig = METRIC_COUNT,
                                             .deviceIndex = (uint32_t)counters.ordinal};
    CUptiResult result = cupti->cuptiSassMetricsSetConfig(&set);
    if (result == CUPTI_SUCCESS)
        return true;
    (void)cupti_error(cupti, error, result, "cuptiSassMetricsSetConfig");
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        return error_hint(error, "allow counters for all users (NVreg_RestrictProfilingToAdminUsers=0) or run as root");
    return false;
}

static bool initialize(const struct cupti *cupti, int ordinal, struct error *error)
{
    CUpti_Profiler_Initialize_Params profiler = {CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Device_GetChipName_Params chip = {.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE,
                                            .deviceIndex = (size_t)ordinal};

    if (counters.initialized)
        return counters.ordinal == ordinal ||
               error_set(error, ERROR_UNSUPPORTED, "SASS counters serve one device per process");
    CUPTI_TRY(cupti, error, cuptiProfilerInitialize(&profiler));
    CUPTI_TRY(cupti, error, cuptiDeviceGetChipName(&chip));
    counters.ordinal = ordinal;
    counters.initialized = find_metrics(cupti, chip.pChipName, error) && configure(cupti, error);
    return counters.initialized;
}

bool sass_counters_start(int ordinal, CUcontext context, struct error *error)
{
    const struct cupti *cupti;

    if (!cupti_load(&cupti, error) || !initialize(cupti, ordinal, error))
        return false;
    CUpti_SassMetricsEnable_Params enable = {
        .structSize = CUpti_SassMetricsEnable_Params_STRUCT_SIZE, .ctx = context, .enableLazyPatching = 1};
    CUPTI_TRY(cupti, error, cuptiSassMetricsEnable(&enable));
    return true;
}

static bool read_counts(const struct cupti *cupti, struct arena *arena, CUcontext context, struct sass_count **counts,
                        size_t *count, struct error *error)
{
    CUpti_SassMetricsGetDataProperties_Params properties = {
        .structSize = CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE, .ctx = context};
    CUPTI_TRY(cupti, error, cuptiSassMetricsGetDataProperties(&properties));
    size_t records = properties.numOfPatchedInstructionRecords;
    size_t instances = properties.numOfInstances;
    *count = records;
    *counts = arena_calloc(arena, records + 1, sizeof **counts);
    if (!records)
        return true;
    CUpti_SassMetrics_Data *data = arena_calloc(arena, records, sizeof *data);
    CUpti_SassMetrics_InstanceValue *values = arena_calloc(arena, records * instances * METRIC_COUNT, sizeof *values);
    for (size_t i = 0; i < records; i++) {
        data[i].structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE;
        data[i].pInstanceValues = values + i * instances * METRIC_COUNT;
    }
    CUpti_SassMetricsFlushData_Params flush = {.structSize = CUpti_SassMetricsFlushData_Params_STRUCT_SIZE,
                                               .ctx = context,
                                               .numOfInstances = instances,
                                               .numOfPatchedInstructionRecords = records,
                                               .pMetricsData = data};
    CUPTI_TRY(cupti, error, cuptiSassMetricsFlushData(&flush));
    for (size_t i = 0; i < records; i++) {
        struct sass_count *out = &(*counts)[i];
        out->function = arena_strdup(arena, data[i].functionName ? data[i].functionName : "");
        out->cubin_crc = data[i].cubinCrc;
        out->pc_offset = data[i].pcOffset;
        for (size_t k = 0; k < instances * METRIC_COUNT; k++) {
            const CUpti_SassMetrics_InstanceValue *value = &data[i].pInstanceValues[k];
            if (value->metricId == counters.ids[METRIC_WARPS])
                out->warps += value->value;
            else if (value->metricId == counters.ids[METRIC_THREADS])
                out->threads += value->value;
        }
    }
    return true;
}

bool sass_counters_finish(struct arena *arena, CUcontext context, struct sass_count **counts, size_t *count,
                          struct error *error)
{
    const struct cupti *cupti;

    if (!cupti_load(&cupti, error))
        return false;
    bool ok = read_counts(cupti, arena, context, counts, count, error);
    CUpti_SassMetricsDisable_Params disable = {.structSize = CUpti_SassMetricsDisable_Params_STRUCT_SIZE,
                                               .ctx = context};
    CUptiResult disabled = cupti->cuptiSassMetricsDisable(&disable);
    if (ok && disabled != CUPTI_SUCCESS)
        return cupti_error(cupti, error, disabled, "cuptiSassMetricsDisable");
    return ok;
}
