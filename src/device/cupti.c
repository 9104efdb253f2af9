#include "device/cupti.h"

#include "device/dynamic.h"

static struct cupti table;

static bool load_table(struct error *error)
{
    static const char remedy[] =
        "install CUDA 13's CUPTI (package cuda-cupti-13-0) or set PTXBENCH_CUDA_LIB to its folder";

    if (!dynamic_open("libcupti.so.13", false, remedy, &table.library, error))
        return false;
#define X(function)                                                                                                    \
    if (!dynamic_symbol(table.library, #function, (void **)&table.function, error))                                    \
        return error_hint(error, remedy);
    CUPTI_FUNCTIONS(X)
#undef X
    CUPTI_TRY(&table, error, cuptiGetVersion(&table.version));
    return true;
}

bool cupti_load(const struct cupti **cupti, struct error *error)
{
    static bool ready;

    if (!ready && !load_table(error))
        return false;
    ready = true;
    *cupti = &table;
    return true;
}

bool cupti_error(const struct cupti *cupti, struct error *error, CUptiResult result, const char *what)
{
    const char *text = NULL;

    if (cupti->cuptiGetResultString)
        (void)cupti->cuptiGetResultString(result, &text);
    return error_set(error, ERROR_DEVICE, "%s: %s", what, text ? text : "unknown CUPTI error");
}
