#include "judge/emulated_size.h"

#include <string.h>

#include "reference/cpu_reference.h"

static bool is_gemm(const struct workload *workload)
{
    return cpu_reference_classify(workload->definition) == CPU_GEMM;
}

const char *emulated_small_sizes(const struct workload *workload)
{
    return is_gemm(workload) ? "M=128" : "S=256";
}

static int64_t bytes_of(const struct workload *workload)
{
    return workload_input_bytes(workload) + 2 * workload_output_bytes(workload);
}

static int64_t size_of_axis(const struct workload *workload, const char *name)
{
    for (size_t i = 0; i < workload->definition->axis_count; i++)
        if (!strcmp(workload->definition->axes[i].name, name))
            return workload->axes[i];
    return 0;
}

const char *emulated_fitting_sizes(struct arena *arena, const struct workload *workload, int64_t most_bytes)
{
    const char *axis = is_gemm(workload) ? "M" : "S", *sizes = NULL;
    int64_t size = size_of_axis(workload, axis);
    const struct workload *at = workload;
    struct workload *smaller;
    struct error error;

    while (bytes_of(at) > most_bytes && size > 1) {
        size /= 2;
        sizes = arena_printf(arena, "%s=%lld", axis, (long long)size);
        if (!workload_resize(workload, sizes, arena, &smaller, &error))
            return NULL; /* a constant axis: there is no other size */
        at = smaller;
    }
    return sizes;
}
