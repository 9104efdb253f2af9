/* emu/tensor_map.h: the argument checks as a table, the encoding, tensormap.replace. */
#include "emu_test.h"

#include <stdlib.h>

#include "emu/tensor_map.h"

/* Arguments by value, so that a case changes one of them. */
struct sample {
    uint32_t type, rank;
    uint64_t address, dim[5], stride[4];
    uint32_t box[5], step[5];
    uint32_t interleave, swizzle, promotion, fill;
};

/* A 5120 x 8192 bf16 matrix, boxes of 64 x 128 with 128-byte swizzle. */
static struct sample good(void)
{
    return (struct sample){.type = TENSOR_MAP_BFLOAT16,
                           .rank = 2,
                           .address = 0x7f0000000000,
                           .dim = {5120, 8192, 1, 1, 1},
                           .stride = {10240, 16, 16, 16},
                           .box = {64, 128, 1, 1, 1},
                           .step = {1, 1, 1, 1, 1},
                           .swizzle = SMEM_SWIZZLE_128B,
                           .promotion = TENSOR_MAP_PROMOTION_128B};
}

static bool encode(const struct sample *s, uint8_t map[TENSOR_MAP_BYTES], struct error *error)
{
    struct tensor_map_arguments arguments = {
        .type = s->type,
        .rank = s->rank,
        .address = s->address,
        .global_dim = s->dim,
        .global_strides = s->stride,
        .box_dim = s->box,
        .element_strides = s->step,
        .interleave = s->interleave,
        .swizzle = s->swizzle,
        .promotion = s->promotion,
        .fill = s->fill,
    };
    return tensor_map_encode_tiled(map, &arguments, error);
}

/* One change to the good sample; NULL: still accepted, otherwise what the message must say. */
struct change {
    size_t offset;
    size_t size;
    uint64_t value;
};
struct check_case {
    struct change changes[5];
    const char *message;
};

#define SET(field, number)                                                                                             \
    {                                                                                                                  \
        offsetof(struct sample, field), sizeof(((struct sample *)0)->field), number                                    \
    }

static const struct check_case CASES[] = {
    {{{0}}, NULL},
    {{SET(type, 16)}, "tensorDataType = 16"},
    {{SET(rank, 0)}, "tensorRank = 0"},
    {{SET(rank, 6)}, "tensorRank = 6"},
    {{SET(rank, 5)}, NULL},
    {{SET(rank, 1)}, NULL},
    {{SET(interleave, 1)}, "tensorRank = 2; an interleaved tensor"},
    {{SET(interleave, 3)}, "interleave = 3"},
    {{SET(swizzle, 7)}, "swizzle = 7"},
    {{SET(promotion, 4)}, "l2Promotion = 4"},
    {{SET(fill, 2)}, "oobFill = 2"},
    {{SET(address, 0x1008)}, "globalAddress = 0x1008 is not aligned to 16 bytes (it is off by 8)"},
    {{SET(address, 0x1010)}, NULL},
    {{SET(address, 0)}, NULL},
    {{SET(address, 0x1010), SET(rank, 3), SET(interleave, 2), SET(swizzle, SMEM_SWIZZLE_32B)},
     "not aligned to 32 bytes"},
    {{SET(dim[1], 0)}, "globalDim[1] = 0"},
    {{SET(dim[1], 1ull << 32)}, NULL},
    {{SET(dim[0], (1ull << 32) + 1)}, "globalDim[0] = 4294967297"},
    {{SET(stride[0], 10248)}, "globalStrides[0] = 10248 bytes is not a multiple of 16"},
    {{SET(stride[0], 1ull << 40)}, "not below 2^40"},
    {{SET(stride[0], (1ull << 40) - 16)}, NULL},
    {{SET(stride[0], 48), SET(rank, 3), SET(interleave, 2), SET(swizzle, SMEM_SWIZZLE_32B)},
     "globalStrides[0] = 48 bytes is not a multiple of 32"},
    {{SET(stride[0], 64), SET(stride[1], 64), SET(rank, 3), SET(interleave, 2), SET(swizzle, SMEM_SWIZZLE_32B)}, NULL},
    {{SET(stride[0], 64), SET(stride[1], 64), SET(rank, 3), SET(interleave, 2)}, "demands swizzle 32B"},
    {{SET(box[1], 0)}, "boxDim[1] = 0"},
    {{SET(box[1], 256)}, NULL},
    {{SET(box[1], 257)}, "boxDim[1] = 257"},
    {{SET(box[0], 4)}, "boxDim[0] = 4 elements of BFLOAT16 are 8 bytes; a row of the box is a multiple of 16"},
    {{SET(box[0], 72)}, "144 bytes, more than the 128-byte span of swizzle 128B"},
    {{SET(box[0], 128)}, "256 bytes, more than the 128-byte span of swizzle 128B"},
    {{SET(box[0], 64), SET(swizzle, SMEM_SWIZZLE_64B)}, "more than the 64-byte span of swizzle 64B"},
    {{SET(box[0], 32), SET(swizzle, SMEM_SWIZZLE_32B)}, "more than the 32-byte span of swizzle 32B"},
    {{SET(box[0], 16), SET(swizzle, SMEM_SWIZZLE_32B)}, NULL},
    {{SET(box[0], 256), SET(swizzle, SMEM_SWIZZLE_NONE)}, NULL},
    {{SET(box[0], 4), SET(type, TENSOR_MAP_FLOAT32)}, NULL},
    {{SET(box[0], 2), SET(type, TENSOR_MAP_FLOAT64)}, NULL},
    {{SET(step[1], 0)}, "elementStrides[1] = 0"},
    {{SET(step[1], 8)}, NULL},
    {{SET(step[1], 9)}, "elementStrides[1] = 9"},
    {{SET(fill, 1)}, NULL},
    {{SET(fill, 1), SET(type, TENSOR_MAP_UINT16)}, "oobFill NAN_REQUEST_ZERO_FMA with type UINT16"},
    {{SET(type, TENSOR_MAP_16U4_ALIGN16B)}, "boxDim[0] = 64; type 16U4_ALIGN16B demands 128"},
    {{SET(type, TENSOR_MAP_16U4_ALIGN16B), SET(box[0], 128)}, NULL},
    {{SET(type, TENSOR_MAP_16U4_ALIGN16B), SET(box[0], 128), SET(dim[0], 64)},
     "globalDim[0] = 64 is not a multiple of 128"},
    {{SET(type, TENSOR_MAP_16U4_ALIGN16B), SET(box[0], 128), SET(swizzle, SMEM_SWIZZLE_64B)}, "has no swizzle 64B"},
    {{SET(type, TENSOR_MAP_16U4_ALIGN16B), SET(box[0], 128), SET(swizzle, SMEM_SWIZZLE_128B_ATOM_64B)},
     "has no swizzle"},
    {{SET(type, TENSOR_MAP_16U6_ALIGN16B), SET(box[0], 128), SET(swizzle, SMEM_SWIZZLE_128B_ATOM_64B)}, NULL},
    {{SET(type, TENSOR_MAP_16U6_ALIGN16B), SET(box[0], 128), SET(address, 16)}, "not aligned to 32 bytes"},
    {{SET(type, TENSOR_MAP_16U6_ALIGN16B), SET(box[0], 128), SET(rank, 3), SET(interleave, 1), SET(stride[1], 32)},
     "cannot be interleaved"},
    {{SET(type, TENSOR_MAP_16U4_ALIGN8B), SET(dim[0], 4097)}, "globalDim[0] = 4097 is not a multiple of 2"},
};

static void argument_checks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct sample s = good();
        uint8_t map[TENSOR_MAP_BYTES];
        struct error error = {0};
        for (int c = 0; c < 5 && CASES[i].changes[c].size; c++)
            memcpy((char *)&s + CASES[i].changes[c].offset, &CASES[i].changes[c].value, CASES[i].changes[c].size);
        bool accepted = encode(&s, map, &error);
        if (!CASES[i].message && !accepted)
            fail_msg("case %zu refused: %s", i, error.message);
        if (CASES[i].message && (accepted || !strstr(error.message, CASES[i].message)))
            fail_msg("case %zu: \"%s\" expected, \"%s\" found", i, CASES[i].message, accepted ? "" : error.message);
        if (CASES[i].message) {
            assert_int_equal(error.code, ERROR_INPUT);
            assert_ptr_equal(strstr(error.message, "cuTensorMapEncodeTiled: "), error.message);
        }
    }
}

static void null_arrays(void **state)
{
    (void)state;
    struct sample s = good();
    struct tensor_map_arguments a = {
        .type = s.type, .rank = 2, .global_dim = s.dim, .box_dim = s.box, .element_strides = s.step};
    uint8_t map[TENSOR_MAP_BYTES];
    struct error error;
    assert_false(tensor_map_encode_tiled(map, &a, &error));
    assert_non_null(strstr(error.message, "globalStrides is NULL"));
    a.rank = 1;
    assert_true(tensor_map_encode_tiled(map, &a, &error));
    a.box_dim = NULL;
    assert_false(tensor_map_encode_tiled(map, &a, &error));
    assert_non_null(strstr(error.message, "boxDim is NULL"));
}

static void round_trip(void **state)
{
    (void)state;
    for (uint32_t swizzle = 0; swizzle < SMEM_SWIZZLE_COUNT; swizzle++) {
        struct sample s = good();
        uint8_t map[TENSOR_MAP_BYTES];
        struct tensor_map out;
        struct error error;
        s.swizzle = swizzle;
        s.rank = 3;
        s.box[0] = 8;
        s.dim[2] = 1ull << 32;
        s.step[1] = 3;
        s.fill = TENSOR_MAP_FILL_NAN;
        assert_true(encode(&s, map, &error));
        assert_true(tensor_map_is_encoded(map));
        assert_true(tensor_map_decode(map, &out, &error));
        assert_int_equal(out.type, s.type);
        assert_int_equal(out.rank, 3);
        assert_int_equal(out.address, s.address);
        assert_int_equal(out.stride[1], s.stride[0]);
        assert_int_equal(out.stride[2], s.stride[1]);
        assert_int_equal(out.dim[2], 1ull << 32);
        assert_int_equal(out.dim[3], 1);
        assert_int_equal(out.box[0], 8);
        assert_int_equal(out.element_stride[1], 3);
        assert_int_equal(out.swizzle, swizzle);
        assert_int_equal(out.promotion, TENSOR_MAP_PROMOTION_128B);
        assert_int_equal(out.fill, TENSOR_MAP_FILL_NAN);
    }
}

static void strangers_and_damage(void **state)
{
    (void)state;
    struct sample s = good();
    uint8_t map[TENSOR_MAP_BYTES] = {0};
    struct tensor_map out;
    struct error error;
    assert_false(tensor_map_is_encoded(map));
    assert_false(tensor_map_decode(map, &out, &error));
    assert_non_null(strstr(error.message, "no tensor map here"));
    assert_true(encode(&s, map, &error));
    for (int i = 8; i < TENSOR_MAP_BYTES; i++) {
        map[i] ^= 0x10;
        assert_false(tensor_map_decode(map, &out, &error));
        assert_non_null(strstr(error.message, "overwritten"));
        map[i] ^= 0x10;
    }
    assert_true(tensor_map_decode(map, &out, &error));
    assert_false(tensor_map_encode_im2col("cuTensorMapEncodeIm2col", &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
}

static void replace(uint8_t *map, enum tensor_map_field field, int ordinal, uint64_t value)
{
    struct error error;

    if (!tensor_map_replace(map, field, ordinal, value, &error))
        fail_msg("%s", error.message);
}

/* A map built on the device out of zeros equals the host's. */
static void replace_builds_a_map_from_zeros(void **state)
{
    (void)state;
    struct sample s = good();
    uint8_t host[TENSOR_MAP_BYTES], device[TENSOR_MAP_BYTES] = {0};
    struct tensor_map out;
    struct error error;
    s.promotion = TENSOR_MAP_PROMOTION_NONE; /* tensormap.replace cannot set it */
    s.fill = TENSOR_MAP_FILL_NAN;
    s.swizzle = SMEM_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    assert_true(encode(&s, host, &error));
    replace(device, TENSOR_MAP_FIELD_GLOBAL_ADDRESS, 0, s.address);
    assert_false(tensor_map_decode(device, &out, &error)); /* dimensions are still 0 */
    assert_non_null(strstr(error.message, "globalDim[0] = 0"));
    replace(device, TENSOR_MAP_FIELD_RANK, 0, 1);
    replace(device, TENSOR_MAP_FIELD_ELEMTYPE, 0, 10);
    replace(device, TENSOR_MAP_FIELD_SWIZZLE_MODE, 0, 3);
    replace(device, TENSOR_MAP_FIELD_SWIZZLE_ATOMICITY, 0, 2);
    replace(device, TENSOR_MAP_FIELD_INTERLEAVE_LAYOUT, 0, 0);
    replace(device, TENSOR_MAP_FIELD_FILL_MODE, 0, 1);
    replace(device, TENSOR_MAP_FIELD_GLOBAL_STRIDE, 0, s.stride[0]);
    for (int i = 0; i < 2; i++) {
        replace(device, TENSOR_MAP_FIELD_BOX_DIM, i, s.box[i]);
        replace(device, TENSOR_MAP_FIELD_GLOBAL_DIM, i, s.dim[i]);
        replace(device, TENSOR_MAP_FIELD_ELEMENT_STRIDE, i, 1);
    }
    assert_memory_equal(device, host, TENSOR_MAP_BYTES);
}

static void replace_element_types(void **state)
{
    (void)state;
    /* the ISA's table: u8 u16 u32 s32 u64 s64 f16 f32 f32.ftz f64 bf16 tf32 tf32.ftz b4x16 b4x16_p64 b6x16_p32 */
    static const enum tensor_map_type EXPECTED[] = {
        TENSOR_MAP_UINT8,        TENSOR_MAP_UINT16,       TENSOR_MAP_UINT32,        TENSOR_MAP_INT32,
        TENSOR_MAP_UINT64,       TENSOR_MAP_INT64,        TENSOR_MAP_FLOAT16,       TENSOR_MAP_FLOAT32,
        TENSOR_MAP_FLOAT32_FTZ,  TENSOR_MAP_FLOAT64,      TENSOR_MAP_BFLOAT16,      TENSOR_MAP_TFLOAT32,
        TENSOR_MAP_TFLOAT32_FTZ, TENSOR_MAP_16U4_ALIGN8B, TENSOR_MAP_16U4_ALIGN16B, TENSOR_MAP_16U6_ALIGN16B};
    for (uint64_t elemtype = 0; elemtype < 16; elemtype++) {
        struct sample s = good();
        uint8_t map[TENSOR_MAP_BYTES];
        struct tensor_map out;
        struct error error;
        s.box[0] = 128;
        s.swizzle = SMEM_SWIZZLE_NONE;
        assert_true(encode(&s, map, &error));
        replace(map, TENSOR_MAP_FIELD_ELEMTYPE, 0, elemtype);
        if (!tensor_map_decode(map, &out, &error))
            fail_msg("%s", error.message);
        assert_int_equal(out.type, EXPECTED[elemtype]);
    }
}

static void replace_refusals(void **state)
{
    (void)state;
    static const struct {
        enum tensor_map_field field;
        int ordinal;
        uint64_t value;
        const char *message;
    } refusals[] = {
        {TENSOR_MAP_FIELD_RANK, 0, 5, "tensormap.replace.rank: value 5 exceeds 4"},
        {TENSOR_MAP_FIELD_BOX_DIM, 5, 1, "ordinal 5 is not in 0..4"},
        {TENSOR_MAP_FIELD_GLOBAL_STRIDE, 4, 16, "ordinal 4 is not in 0..3"},
        {TENSOR_MAP_FIELD_BOX_DIM, -1, 1, "ordinal -1"},
        {TENSOR_MAP_FIELD_SWIZZLE_MODE, 0, 4, "swizzle_mode: value 4"},
        {TENSOR_MAP_FIELD_ELEMTYPE, 0, 16, "elemtype: value 16"},
    };
    struct sample s = good();
    uint8_t map[TENSOR_MAP_BYTES], before[TENSOR_MAP_BYTES];
    struct error error;
    assert_true(encode(&s, map, &error));
    memcpy(before, map, sizeof map);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        assert_false(tensor_map_replace(map, refusals[i].field, refusals[i].ordinal, refusals[i].value, &error));
        if (!strstr(error.message, refusals[i].message))
            fail_msg("\"%s\" expected, \"%s\" found", refusals[i].message, error.message);
        assert_memory_equal(map, before, sizeof map);
    }
    /* a value that fits the field but not the others is refused when the map is used */
    struct tensor_map out;
    replace(map, TENSOR_MAP_FIELD_BOX_DIM, 0, 128);
    assert_false(tensor_map_decode(map, &out, &error));
    assert_non_null(strstr(error.message, "tensor map: boxDim[0] = 128"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argument_checks),
        cmocka_unit_test(null_arrays),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(strangers_and_damage),
        cmocka_unit_test(replace_builds_a_map_from_zeros),
        cmocka_unit_test(replace_element_types),
        cmocka_unit_test(replace_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
