#include "emu/shim/error_names.h"

#include "emu/shim/shim.h"

struct error_row {
    int code;
    const char *driver, *runtime, *text;
};

static const struct error_row rows[] = {
#define X(code, driver, runtime, text) {code, driver, runtime, text},
    ERROR_NAMES(X)
#undef X
};

static const struct error_row *find(int code)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == code)
            return &rows[i];
    return NULL;
}

const char *shim_error_driver_name(int code)
{
    const struct error_row *row = find(code);

    return row ? row->driver : NULL;
}

const char *shim_error_runtime_name(int code)
{
    const struct error_row *row = find(code);

    return row ? row->runtime : NULL;
}

const char *shim_error_text(int code)
{
    const struct error_row *row = find(code);

    if (!row)
        return NULL;
    return row->text ? row->text : row->runtime ? row->runtime : row->driver;
}
