#include "runner/standalone.h"

#include <errno.h>
#include <string.h>

#include "device/device.h"
#include "runner/candidate.h"

static bool parse_shape(const char *text, struct message_argument *out)
{
    char *end = (char *)text;

    while (*end) {
        errno = 0;
        long long size = strtoll(end, &end, 10);
        if (errno || size <= 0 || out->rank == TENSOR_MAX_RANK || (*end && *end != 'x'))
            return false;
        out->dims[out->rank++] = size;
        end += *end == 'x';
    }
    return true;
}

static bool parse_argument(const char *text, struct message_argument *out, struct error *error)
{
    char kind[16], dtype[32], rest[256];
    enum dtype parsed;

    *out = (struct message_argument){0};
    if (sscanf(text, "%15[^:]:%31[^:]:%255s", kind, dtype, rest) != 3 || !dtype_parse(dtype, &parsed))
        goto bad;
    out->dtype = (int32_t)parsed;
    if (!strcmp(kind, "scalar")) {
        out->kind = ARGUMENT_SCALAR;
        out->real = strtod(rest, NULL);
        out->integer = strtoll(rest, NULL, 10);
        return true;
    }
    out->kind = !strcmp(kind, "in") ? ARGUMENT_INPUT : ARGUMENT_OUTPUT;
    if ((!strcmp(kind, "in") || !strcmp(kind, "out")) && parse_shape(rest, out))
        return true;
bad:
    return error_set(error, ERROR_USAGE, "%s: not an argument; expected in|out:DTYPE:AxBxC or scalar:DTYPE:VALUE",
                     text);
}

static bool make_tensor(struct device *device, const struct message_argument *spec, uint64_t seed, int index,
                        CUdeviceptr *address, struct error *error)
{
    struct tensor_shape shape = {.dtype = (enum dtype)spec->dtype, .rank = spec->rank};

    memcpy(shape.dims, spec->dims, sizeof shape.dims);
    if (!device_allocate(device, tensor_bytes(&shape), address, error))
        return false;
    return spec->kind == ARGUMENT_INPUT
               ? device_fill_random(device, *address, shape.dtype, tensor_elements(&shape), seed, index, error)
               : device_poison(device, *address, tensor_bytes(&shape), error);
}

bool standalone_run(const struct standalone_options *options, struct error *error)
{
    struct message_argument specs[CHANNEL_MAX_ARGUMENTS];
    struct candidate_argument arguments[CHANNEL_MAX_ARGUMENTS];
    struct candidate *candidate;
    struct device *device;
    char text[CHANNEL_TEXT_BYTES] = "";

    if (!device_open(options->device, &device, error) || !candidate_preload_libraries(error))
        return false;
    for (int i = 0; i < options->argument_count; i++) {
        arguments[i] = (struct candidate_argument){&specs[i], 0};
        if (!parse_argument(options->arguments[i], &specs[i], error))
            return false;
        if (specs[i].kind != ARGUMENT_SCALAR &&
            !make_tensor(device, &specs[i], options->seed, i, &arguments[i].address, error))
            return false;
    }
    bool is_c = !strcmp(options->binding, "c");
    if (!device_synchronize(device, error) ||
        !candidate_load(options->object, options->entry, is_c ? RUNNER_BINDING_C : RUNNER_BINDING_TVM_FFI,
                        device_info(device)->ordinal, &candidate, error))
        return false;
    for (int run = 0; run < options->runs; run++) {
        int code = candidate_call(candidate, arguments, options->argument_count, text, sizeof text);
        CUDA_TRY(device_driver(device), error, cuCtxSynchronize());
        if (code)
            return error_set(error, ERROR_INPUT, "%s", text);
    }
    for (int i = 0; i < options->argument_count; i++)
        device_release(device, arguments[i].address);
    device_close(device);
    return true;
}
