#include "emu/tensor_map_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* The encoding. Host byte order: maps never leave the process. */
struct encoded_map {
    uint64_t magic;
    uint64_t address;
    uint64_t stride[TENSOR_MAP_MAX_RANK - 1];
    uint64_t dim[TENSOR_MAP_MAX_RANK];
    uint16_t box[TENSOR_MAP_MAX_RANK];
    uint8_t element_stride[TENSOR_MAP_MAX_RANK];
    uint8_t type;
    uint8_t rank_less_1;
    uint8_t interleave;
    uint8_t swizzle_mode;      /* none, 32B, 64B, 128B: the values of tensormap.replace */
    uint8_t swizzle_atomicity; /* 16B, 32B, 32B + 8B flip, 64B */
    uint8_t promotion;
    uint8_t fill;
    uint8_t reserved[12];
    uint32_t checksum; /* over the bytes before it */
};
_Static_assert(sizeof(struct encoded_map) == TENSOR_MAP_BYTES, "a CUtensorMap has 128 bytes");

static const uint64_t MAGIC = 0x50616d5478747045; /* not a value that NVIDIA's encoding begins with */

struct type_facts {
    const char *text;
    int bits;
    uint32_t elemtype;
};

static const struct type_facts TYPES[TENSOR_MAP_TYPE_COUNT] = {
#define X(name, text, bits, is_float, elemtype) {text, bits, elemtype},
    TENSOR_MAP_TYPES(X)
#undef X
};

int tensor_map_type_bits(enum tensor_map_type type)
{
    return TYPES[type].bits;
}

const char *tensor_map_type_text(enum tensor_map_type type)
{
    return TYPES[type].text;
}

bool tensor_map_type_is_padded(enum tensor_map_type type)
{
    return type == TENSOR_MAP_16U4_ALIGN16B || type == TENSOR_MAP_16U6_ALIGN16B;
}

uint64_t tensor_map_row_bytes(enum tensor_map_type type, uint32_t box_elements)
{
    if (tensor_map_type_is_padded(type))
        return box_elements; /* 16 elements in 16 bytes */
    return (uint64_t)box_elements * (uint64_t)TYPES[type].bits / 8;
}

/* FNV-1a. */
static uint32_t checksum_of(const struct encoded_map *map)
{
    const uint8_t *bytes = (const uint8_t *)map;
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < offsetof(struct encoded_map, checksum); i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

static void seal(struct encoded_map *encoded, uint8_t map[TENSOR_MAP_BYTES])
{
    encoded->checksum = checksum_of(encoded);
    memcpy(map, encoded, sizeof *encoded);
}

bool tensor_map_encode_tiled(uint8_t map[TENSOR_MAP_BYTES], const struct tensor_map_arguments *arguments,
                             struct error *error)
{
    struct encoded_map encoded = {.magic = MAGIC};
    enum smem_swizzle swizzle = (enum smem_swizzle)arguments->swizzle;

    if (!tensor_map_check_arguments("cuTensorMapEncodeTiled", arguments, error))
        return false;
    encoded.address = arguments->address;
    for (uint32_t i = 0; i < arguments->rank; i++) {
        encoded.dim[i] = arguments->global_dim[i];
        encoded.box[i] = (uint16_t)arguments->box_dim[i];
        encoded.element_stride[i] = (uint8_t)arguments->element_strides[i];
        if (i > 0)
            encoded.stride[i - 1] = arguments->global_strides[i - 1];
    }
    encoded.type = (uint8_t)arguments->type;
    encoded.rank_less_1 = (uint8_t)(arguments->rank - 1);
    encoded.interleave = (uint8_t)arguments->interleave;
    encoded.swizzle_mode = (uint8_t)(swizzle > SMEM_SWIZZLE_128B ? SMEM_SWIZZLE_128B : swizzle);
    encoded.swizzle_atomicity = (uint8_t)(swizzle > SMEM_SWIZZLE_128B ? swizzle - SMEM_SWIZZLE_128B : 0);
    encoded.promotion = (uint8_t)arguments->promotion;
    encoded.fill = (uint8_t)arguments->fill;
    seal(&encoded, map);
    return true;
}

bool tensor_map_encode_im2col(const char *function, struct error *error)
{
    (void)error_set(error, ERROR_UNSUPPORTED, "%s: im2col tensor maps are not emulated", function);
    return error_hint(error, "use cuTensorMapEncodeTiled, or evaluate on a GPU");
}

bool tensor_map_is_encoded(const uint8_t map[TENSOR_MAP_BYTES])
{
    return memcmp(map, &MAGIC, sizeof MAGIC) == 0;
}

static bool open_map(const uint8_t map[TENSOR_MAP_BYTES], struct encoded_map *out, struct error *error)
{
    memcpy(out, map, sizeof *out);
    if (out->magic != MAGIC) {
        (void)error_set(error, ERROR_INPUT,
                        "no tensor map here: the 128 bytes were not written by "
                        "cuTensorMapEncodeTiled (they begin with 0x%016" PRIx64 ")",
                        out->magic);
        return error_hint(error, "pass the CUtensorMap by value as const __grid_constant__, or a pointer to a 64-byte "
                                 "aligned copy, and check the result of cuTensorMapEncodeTiled");
    }
    if (out->checksum != checksum_of(out))
        return error_set(error, ERROR_INPUT,
                         "tensor map was overwritten: its bytes changed other than by "
                         "tensormap.replace");
    return true;
}

static struct tensor_map unpack(const struct encoded_map *encoded)
{
    struct tensor_map map = {
        .type = (enum tensor_map_type)encoded->type,
        .rank = encoded->rank_less_1 + 1,
        .address = encoded->address,
        .interleave = (enum tensor_map_interleave)encoded->interleave,
        .swizzle = (enum smem_swizzle)(encoded->swizzle_mode + encoded->swizzle_atomicity),
        .promotion = (enum tensor_map_promotion)encoded->promotion,
        .fill = (enum tensor_map_fill)encoded->fill,
    };

    for (int i = 0; i < TENSOR_MAP_MAX_RANK; i++) {
        bool used = i < map.rank;
        map.dim[i] = used ? encoded->dim[i] : 1;
        map.box[i] = used ? encoded->box[i] : 1;
        map.element_stride[i] = used ? encoded->element_stride[i] : 1;
        map.stride[i] = used && i > 0 ? encoded->stride[i - 1] : 0;
    }
    return map;
}

bool tensor_map_decode(const uint8_t map[TENSOR_MAP_BYTES], struct tensor_map *out, struct error *error)
{
    struct encoded_map encoded;

    if (!open_map(map, &encoded, error))
        return false;
    if (encoded.rank_less_1 >= TENSOR_MAP_MAX_RANK)
        return error_set(error, ERROR_INPUT, "tensor map: rank %d; a tensor map has 1 to 5 dimensions",
                         encoded.rank_less_1 + 1);
    if (encoded.swizzle_atomicity && encoded.swizzle_mode != SMEM_SWIZZLE_128B)
        return error_set(error, ERROR_INPUT, "tensor map: swizzle atomicity %d without the 128B swizzle mode",
                         encoded.swizzle_atomicity);

    struct tensor_map unpacked = unpack(&encoded);
    struct tensor_map_arguments arguments = {
        .type = encoded.type,
        .rank = (uint32_t)unpacked.rank,
        .address = unpacked.address,
        .global_dim = unpacked.dim,
        .global_strides = unpacked.stride + 1,
        .box_dim = unpacked.box,
        .element_strides = unpacked.element_stride,
        .interleave = encoded.interleave,
        .swizzle = (uint32_t)unpacked.swizzle,
        .promotion = encoded.promotion,
        .fill = encoded.fill,
    };
    if (!tensor_map_check_arguments("tensor map", &arguments, error))
        return false;
    *out = unpacked;
    return true;
}

/* What tensormap.replace may write: name, ordinals of the field (0: it has none), largest value. */
struct field_facts {
    const char *text;
    int ordinals;
    uint64_t largest;
};

static const struct field_facts FIELDS[TENSOR_MAP_FIELD_COUNT] = {
    [TENSOR_MAP_FIELD_GLOBAL_ADDRESS] = {"global_address", 0, UINT64_MAX},
    [TENSOR_MAP_FIELD_RANK] = {"rank", 0, TENSOR_MAP_MAX_RANK - 1},
    [TENSOR_MAP_FIELD_BOX_DIM] = {"box_dim", TENSOR_MAP_MAX_RANK, 256},
    [TENSOR_MAP_FIELD_GLOBAL_DIM] = {"global_dim", TENSOR_MAP_MAX_RANK, UINT32_MAX},
    [TENSOR_MAP_FIELD_GLOBAL_STRIDE] = {"global_stride", TENSOR_MAP_MAX_RANK - 1, (1ull << 40) - 1},
    [TENSOR_MAP_FIELD_ELEMENT_STRIDE] = {"element_stride", TENSOR_MAP_MAX_RANK, 8},
    [TENSOR_MAP_FIELD_ELEMTYPE] = {"elemtype", 0, TENSOR_MAP_TYPE_COUNT - 1},
    [TENSOR_MAP_FIELD_INTERLEAVE_LAYOUT] = {"interleave_layout", 0, TENSOR_MAP_INTERLEAVE_32B},
    [TENSOR_MAP_FIELD_SWIZZLE_MODE] = {"swizzle_mode", 0, SMEM_SWIZZLE_128B},
    [TENSOR_MAP_FIELD_SWIZZLE_ATOMICITY] = {"swizzle_atomicity", 0, 3},
    [TENSOR_MAP_FIELD_FILL_MODE] = {"fill_mode", 0, TENSOR_MAP_FILL_NAN},
};

static uint8_t type_of_elemtype(uint64_t elemtype)
{
    uint8_t type = 0;

    while (TYPES[type].elemtype != elemtype)
        type++;
    return type;
}

static void set_field(struct encoded_map *map, enum tensor_map_field field, int ordinal, uint64_t value)
{
    switch (field) {
    case TENSOR_MAP_FIELD_GLOBAL_ADDRESS:
        map->address = value;
        break;
    case TENSOR_MAP_FIELD_RANK:
        map->rank_less_1 = (uint8_t)value;
        break;
    case TENSOR_MAP_FIELD_BOX_DIM:
        map->box[ordinal] = (uint16_t)value;
        break;
    case TENSOR_MAP_FIELD_GLOBAL_DIM:
        map->dim[ordinal] = value;
        break;
    case TENSOR_MAP_FIELD_GLOBAL_STRIDE:
        map->stride[ordinal] = value;
        break;
    case TENSOR_MAP_FIELD_ELEMENT_STRIDE:
        map->element_stride[ordinal] = (uint8_t)value;
        break;
    case TENSOR_MAP_FIELD_ELEMTYPE:
        map->type = type_of_elemtype(value);
        break;
    case TENSOR_MAP_FIELD_INTERLEAVE_LAYOUT:
        map->interleave = (uint8_t)value;
        break;
    case TENSOR_MAP_FIELD_SWIZZLE_MODE:
        map->swizzle_mode = (uint8_t)value;
        break;
    case TENSOR_MAP_FIELD_SWIZZLE_ATOMICITY:
        map->swizzle_atomicity = (uint8_t)value;
        break;
    case TENSOR_MAP_FIELD_FILL_MODE:
        map->fill = (uint8_t)value;
        break;
    case TENSOR_MAP_FIELD_COUNT:
        break;
    }
}

static bool is_zero(const uint8_t map[TENSOR_MAP_BYTES])
{
    uint8_t bits = 0;

    for (int i = 0; i < TENSOR_MAP_BYTES; i++)
        bits |= map[i];
    return !bits;
}

bool tensor_map_replace(uint8_t map[TENSOR_MAP_BYTES], enum tensor_map_field field, int ordinal, uint64_t value,
                        struct error *error)
{
    const struct field_facts *facts = &FIELDS[field];
    struct encoded_map encoded = {.magic = MAGIC};

    if (!is_zero(map) && !open_map(map, &encoded, error))
        return error_prefix(error, "tensormap.replace.%s", facts->text);
    if (facts->ordinals && (ordinal < 0 || ordinal >= facts->ordinals))
        return error_set(error, ERROR_INPUT, "tensormap.replace.%s: ordinal %d is not in 0..%d", facts->text, ordinal,
                         facts->ordinals - 1);
    if (value > facts->largest) {
        (void)error_set(error, ERROR_INPUT, "tensormap.replace.%s: value %" PRIu64 " exceeds %" PRIu64, facts->text,
                        value, facts->largest);
        if (field == TENSOR_MAP_FIELD_RANK)
            return error_hint(error, "the field takes the rank less one");
        return false;
    }
    set_field(&encoded, field, ordinal, value);
    seal(&encoded, map);
    return true;
}
