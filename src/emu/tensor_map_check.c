#include "emu/tensor_map_internal.h"

#include <inttypes.h>

/* An enumeration argument: its name in the driver API and how many values it has. */
static bool check_enum(const char *who, const char *name, uint32_t value, uint32_t count, struct error *error)
{
    if (value < count)
        return true;
    return error_set(error, ERROR_INPUT, "%s: %s = %u is none of its %u values", who, name, value, count);
}

static bool check_enums(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    return check_enum(who, "tensorDataType", a->type, TENSOR_MAP_TYPE_COUNT, error) &&
           check_enum(who, "interleave", a->interleave, TENSOR_MAP_INTERLEAVE_32B + 1, error) &&
           check_enum(who, "swizzle", a->swizzle, SMEM_SWIZZLE_COUNT, error) &&
           check_enum(who, "l2Promotion", a->promotion, TENSOR_MAP_PROMOTION_256B + 1, error) &&
           check_enum(who, "oobFill", a->fill, TENSOR_MAP_FILL_NAN + 1, error);
}

static bool check_rank(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    if (a->rank < 1 || a->rank > TENSOR_MAP_MAX_RANK)
        return error_set(error, ERROR_INPUT, "%s: tensorRank = %u; a tensor map has 1 to 5 dimensions", who, a->rank);
    if (a->interleave != TENSOR_MAP_INTERLEAVE_NONE && a->rank < 3)
        return error_set(error, ERROR_INPUT, "%s: tensorRank = %u; an interleaved tensor has 3 to 5 dimensions", who,
                         a->rank);
    if (!a->global_dim || !a->box_dim || !a->element_strides || (a->rank > 1 && !a->global_strides))
        return error_set(error, ERROR_INPUT, "%s: %s is NULL", who,
                         !a->global_dim        ? "globalDim"
                         : !a->box_dim         ? "boxDim"
                         : !a->element_strides ? "elementStrides"
                                               : "globalStrides");
    return true;
}

/* Alignment in global memory, and of strides. */
static uint64_t global_alignment(const struct tensor_map_arguments *a)
{
    return a->interleave == TENSOR_MAP_INTERLEAVE_32B || tensor_map_type_is_padded((enum tensor_map_type)a->type) ? 32
                                                                                                                  : 16;
}

static bool check_address(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    uint64_t alignment = global_alignment(a);

    if (a->address % alignment == 0)
        return true;
    (void)error_set(error, ERROR_INPUT,
                    "%s: globalAddress = 0x%" PRIx64 " is not aligned to %" PRIu64 " bytes (it is off by %" PRIu64 ")",
                    who, a->address, alignment, a->address % alignment);
    return error_hint(error, "start the map at the aligned allocation and pass the offset as coordinates");
}

static bool check_dims(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->global_dim[i] == 0 || a->global_dim[i] > 1ull << 32)
            return error_set(error, ERROR_INPUT, "%s: globalDim[%u] = %" PRIu64 "; a dimension has 1 to 2^32 elements",
                             who, i, a->global_dim[i]);
    uint64_t multiple = tensor_map_type_is_padded((enum tensor_map_type)a->type) ? 128
                        : a->type == TENSOR_MAP_16U4_ALIGN8B                     ? 2
                                                                                 : 1;
    if (a->global_dim[0] % multiple)
        return error_set(error, ERROR_INPUT,
                         "%s: globalDim[0] = %" PRIu64 " is not a multiple of %" PRIu64 ", as type %s demands", who,
                         a->global_dim[0], multiple, tensor_map_type_text((enum tensor_map_type)a->type));
    return true;
}

static bool check_strides(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    uint64_t alignment = global_alignment(a);

    for (uint32_t i = 0; i + 1 < a->rank; i++) {
        if (a->global_strides[i] % alignment) {
            (void)error_set(error, ERROR_INPUT,
                            "%s: globalStrides[%u] = %" PRIu64 " bytes is not a multiple of %" PRIu64, who, i,
                            a->global_strides[i], alignment);
            return error_hint(error,
                              "strides are in bytes and belong to dimension %u; pad the rows to %" PRIu64
                              " bytes, or check that elements were not counted instead of bytes",
                              i + 1, alignment);
        }
        if (a->global_strides[i] >= 1ull << 40)
            return error_set(error, ERROR_INPUT, "%s: globalStrides[%u] = %" PRIu64 " bytes is not below 2^40", who, i,
                             a->global_strides[i]);
    }
    return true;
}

static bool check_box(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    enum tensor_map_type type = (enum tensor_map_type)a->type;

    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->box_dim[i] == 0 || a->box_dim[i] > 256) {
            (void)error_set(error, ERROR_INPUT, "%s: boxDim[%u] = %u; a box has 1 to 256 elements along a dimension",
                            who, i, a->box_dim[i]);
            return error_hint(error, "load a larger tile with several boxes");
        }
        if (a->element_strides[i] == 0 || a->element_strides[i] > 8)
            return error_set(error, ERROR_INPUT, "%s: elementStrides[%u] = %u; the step is 1 to 8 (1: every element)",
                             who, i, a->element_strides[i]);
    }
    if (tensor_map_type_is_padded(type) && a->box_dim[0] != 128)
        return error_set(error, ERROR_INPUT, "%s: boxDim[0] = %u; type %s demands 128", who, a->box_dim[0],
                         tensor_map_type_text(type));
    if (a->interleave != TENSOR_MAP_INTERLEAVE_NONE)
        return true;

    uint64_t row_bits = (uint64_t)a->box_dim[0] * (uint64_t)tensor_map_type_bits(type);
    if (row_bits % 128) {
        (void)error_set(error, ERROR_INPUT,
                        "%s: boxDim[0] = %u elements of %s are %" PRIu64 " bytes; a row of the box is a multiple of 16",
                        who, a->box_dim[0], tensor_map_type_text(type), row_bits / 8);
        return error_hint(error, "make boxDim[0] a multiple of %d", 128 / tensor_map_type_bits(type));
    }
    uint64_t row_bytes = tensor_map_row_bytes(type, a->box_dim[0]);
    enum smem_swizzle swizzle = (enum smem_swizzle)a->swizzle;
    if (swizzle != SMEM_SWIZZLE_NONE && row_bytes > smem_swizzle_span(swizzle)) {
        (void)error_set(error, ERROR_INPUT,
                        "%s: boxDim[0] = %u elements of %s are %" PRIu64
                        " bytes, more than the %u-byte span of swizzle %s",
                        who, a->box_dim[0], tensor_map_type_text(type), row_bytes, smem_swizzle_span(swizzle),
                        smem_swizzle_text(swizzle));
        return error_hint(error, "make boxDim[0] at most %u and load a wider tile with several boxes",
                          smem_swizzle_span(swizzle) * 8 / (uint32_t)tensor_map_type_bits(type));
    }
    return true;
}

/* Swizzles that a padded type has, as bits. */
static bool swizzle_allowed(enum tensor_map_type type, uint32_t swizzle)
{
    uint32_t allowed = 1u << SMEM_SWIZZLE_NONE | 1u << SMEM_SWIZZLE_128B | 1u << SMEM_SWIZZLE_128B_ATOM_32B;

    if (type == TENSOR_MAP_16U6_ALIGN16B)
        allowed |= 1u << SMEM_SWIZZLE_128B_ATOM_64B;
    return !tensor_map_type_is_padded(type) || (allowed >> swizzle & 1);
}

static bool check_combinations(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
    enum tensor_map_type type = (enum tensor_map_type)a->type;
    const char *swizzle = smem_swizzle_text((enum smem_swizzle)a->swizzle);

    if (a->interleave == TENSOR_MAP_INTERLEAVE_32B && a->swizzle != SMEM_SWIZZLE_32B)
        return error_set(error, ERROR_INPUT, "%s: swizzle %s with interleave 32B, which demands swizzle 32B", who,
                         swizzle);
    if (a->interleave != TENSOR_MAP_INTERLEAVE_NONE && type == TENSOR_MAP_16U6_ALIGN16B)
        return error_set(error, ERROR_INPUT, "%s: type 16U6_ALIGN16B cannot be interleaved", who);
    if (!swizzle_allowed(type, a->swizzle))
        return error_set(error, ERROR_INPUT, "%s: type %s has no swizzle %s", who, tensor_map_type_text(type), swizzle);
    return true;
}

static bool check_fill(const char *who, const struct tensor_map_arguments *a, struct error *error)
{
#define X(name, text, bits, is_float, elemtype) is_float,
    static const bool IS_FLOAT[] = {TENSOR_MAP_TYPES(X)};
#undef X
    if (a->fill != TENSOR_MAP_FILL_NAN || IS_FLOAT[a->type])
        return true;
    (void)error_set(error, ERROR_INPUT, "%s: oobFill NAN_REQUEST_ZERO_FMA with type %s, which has no NaN", who,
                    tensor_map_type_text((enum tensor_map_type)a->type));
    return error_hint(error, "use CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE: it fills with zeros");
}

bool tensor_map_check_arguments(const char *who, const struct tensor_map_arguments *arguments, struct error *error)
{
    return check_enums(who, arguments, error) && check_rank(who, arguments, error) &&
           check_address(who, arguments, error) && check_dims(who, arguments, error) &&
           check_strides(who, arguments, error) && check_combinations(who, arguments, error) &&
           check_box(who, arguments, error) && check_fill(who, arguments, error);
}
