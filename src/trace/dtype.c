#include "trace/dtype.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct dtype_facts {
    const char *text;
    const char *safetensors;
    int bits;
    int dlpack;
};

static const struct dtype_facts facts[] = {
#define X(name, text, safetensors, bits, dlpack) [name] = {text, safetensors, bits, dlpack},
    DTYPES(X)
#undef X
};

bool dtype_parse(const char *text, enum dtype *out)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (!strcmp(text, facts[i].text)) {
            *out = (enum dtype)i;
            return true;
        }
    return false;
}

bool dtype_parse_safetensors(const char *text, enum dtype *out)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (!strcmp(text, facts[i].safetensors)) {
            *out = (enum dtype)i;
            return true;
        }
    return false;
}

const char *dtype_text(enum dtype dtype)
{
    return facts[dtype].text;
}

const char *dtype_safetensors_text(enum dtype dtype)
{
    return facts[dtype].safetensors;
}

int dtype_bits(enum dtype dtype)
{
    return facts[dtype].bits;
}

int dtype_dlpack_code(enum dtype dtype)
{
    return facts[dtype].dlpack;
}

bool dtype_is_float(enum dtype dtype)
{
    return dtype <= DTYPE_FLOAT4_E2M1;
}

int64_t tensor_elements(const struct tensor_shape *shape)
{
    int64_t elements = 1;

    for (int i = 0; i < shape->rank; i++)
        elements *= shape->dims[i];
    return elements;
}

int64_t tensor_bytes(const struct tensor_shape *shape)
{
    int64_t elements = tensor_elements(shape);
    int bits = dtype_bits(shape->dtype);

    return bits >= 8 ? elements * (bits / 8) : elements / 2 + elements % 2;
}

bool tensor_shape_valid(const struct tensor_shape *shape)
{
    int64_t elements = 1;
    bool empty = false;

    if (shape->rank < 0 || shape->rank > TENSOR_MAX_RANK)
        return false;
    /* every prefix product must fit, also when a later dimension is zero: tensor_elements multiplies in order */
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return false;
        empty |= !shape->dims[i];
        if (__builtin_mul_overflow(elements, shape->dims[i], &elements))
            return false;
    }
    int64_t bits;
    return empty || !__builtin_mul_overflow(elements, (int64_t)dtype_bits(shape->dtype), &bits);
}

void tensor_shape_text(const struct tensor_shape *shape, char *out, size_t size)
{
    int length = snprintf(out, size, "%s[", dtype_text(shape->dtype));

    for (int i = 0; i < shape->rank && length >= 0 && (size_t)length < size; i++)
        length += snprintf(out + length, size - (size_t)length, "%s%" PRId64, i ? ", " : "", shape->dims[i]);
    if (length >= 0 && (size_t)length < size)
        (void)snprintf(out + length, size - (size_t)length, "]");
}
