#include "mutant_counts.h"

#include <string.h>
#include <unistd.h>

#define FORMAT "ptxbench.mutants.v1"

json_object *mutant_counts_read(const char *path, struct error *error)
{
    json_object *counts, *format;

    if (access(path, F_OK) != 0) {
        counts = json_object_new_object();
        json_put_string(counts, "format", FORMAT);
        json_put(counts, "device", NULL);
        json_put(counts, "mutants", json_object_new_object());
        return counts;
    }
    counts = json_object_from_file(path);
    if (counts && json_object_object_get_ex(counts, "format", &format) &&
        strcmp(json_object_get_string(format), FORMAT) == 0 && json_object_object_get(counts, "mutants"))
        return counts;
    json_object_put(counts);
    (void)error_set(error, ERROR_INPUT, "%s is not a file of %s", path, FORMAT);
    return NULL;
}

static json_object *row_of(json_object *counts, const struct mutant *mutant)
{
    json_object *rows = json_object_object_get(counts, "mutants"), *row;

    if (json_object_object_get_ex(rows, mutant->name, &row))
        return row;
    row = json_object_new_object();
    json_put_u64(row, "elements", mutant_elements(mutant->kernel));
    json_put_bool(row, "layout", mutant->layout);
    json_put(row, "emulator", NULL);
    json_put(row, "gpu", NULL);
    json_put(rows, mutant->name, row);
    return row;
}

void mutant_counts_set_emulator(json_object *counts, const struct mutant *mutant, size_t wrong)
{
    json_object *row = row_of(counts, mutant);

    json_put_u64(row, "elements", mutant_elements(mutant->kernel));
    json_put_u64(row, "emulator", wrong);
}

void mutant_counts_set_gpu(json_object *counts, const struct mutant *mutant, size_t wrong, const char *failure)
{
    json_object *row = row_of(counts, mutant);

    if (failure)
        json_put_string(row, "gpu", failure);
    else
        json_put_u64(row, "gpu", wrong);
}

void mutant_counts_set_device(json_object *counts, const char *device)
{
    json_put_string(counts, "device", device);
}

bool mutant_counts_agree(json_object *counts, const struct mutant *mutant)
{
    json_object *row = row_of(counts, mutant), *emulator = json_object_object_get(row, "emulator");
    json_object *gpu = json_object_object_get(row, "gpu");

    return json_object_is_type(emulator, json_type_int) && json_object_is_type(gpu, json_type_int) &&
           json_object_get_uint64(emulator) == json_object_get_uint64(gpu);
}

bool mutant_counts_check(json_object *counts, const struct mutant *mutant, size_t wrong, struct error *error)
{
    json_object *row = row_of(counts, mutant), *emulator = json_object_object_get(row, "emulator");
    json_object *gpu = json_object_object_get(row, "gpu");

    if (!json_object_is_type(emulator, json_type_int) || json_object_get_uint64(emulator) != wrong)
        return error_set(error, ERROR_INPUT, "%s: %zu elements are wrong, the file has %s", mutant->name, wrong,
                         json_object_to_json_string(emulator));
    if (gpu && (!json_object_is_type(gpu, json_type_int) || json_object_get_uint64(gpu) != wrong))
        return error_set(error, ERROR_INPUT, "%s: %zu elements are wrong, on a GPU %s", mutant->name, wrong,
                         json_object_to_json_string(gpu));
    return true;
}
