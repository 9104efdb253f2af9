/*
 * Tensor maps: our own 128-byte encoding of cuTensorMapEncodeTiled's arguments, its checks, tensormap.replace, and
 * the bytes that one tile-mode cp.async.bulk.tensor (or cp.reduce) moves. Pure; thread-safe.
 *
 * NVIDIA's encoding is opaque and only the emulator reads ours, so it holds a magic, the parameters and a check sum:
 * a block that something else has overwritten is recognised. A block of zeros is accepted by tensor_map_replace as a
 * map that has no fields yet, as sm_90a does.
 *
 * Sources: CUDA driver API, cuTensorMapEncodeTiled; PTX ISA, "Tensors" and tensormap.replace. Measured on an H200
 * (tests/data/layout/sm_90a.json): a box row narrower than the swizzle still takes a row of the swizzle in shared memory;
 * a box that begins between two 16-byte units of a row is an illegal instruction; stores write the whole unit in which a
 * row of the tensor ends. Not measured: FLOAT32_FTZ and TFLOAT32
 * elements are copied unchanged.
 */
#ifndef PTXBENCH_EMU_TENSOR_MAP_H
#define PTXBENCH_EMU_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/smem_layout.h"

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_MAX_RANK = 5, TENSOR_MAP_CHUNK_BYTES = 16 };

/* enumerator (value of CUtensorMapDataType), name of the driver API, bits of an element, whether it is a float that
 * OOB fill may turn into NaN, value of .elemtype in tensormap.replace */
#define TENSOR_MAP_TYPES(X)                                                                                            \
    X(TENSOR_MAP_UINT8, "UINT8", 8, false, 0)                                                                          \
    X(TENSOR_MAP_UINT16, "UINT16", 16, false, 1)                                                                       \
    X(TENSOR_MAP_UINT32, "UINT32", 32, false, 2)                                                                       \
    X(TENSOR_MAP_INT32, "INT32", 32, false, 3)                                                                         \
    X(TENSOR_MAP_UINT64, "UINT64", 64, false, 4)                                                                       \
    X(TENSOR_MAP_INT64, "INT64", 64, false, 5)                                                                         \
    X(TENSOR_MAP_FLOAT16, "FLOAT16", 16, true, 6)                                                                      \
    X(TENSOR_MAP_FLOAT32, "FLOAT32", 32, true, 7)                                                                      \
    X(TENSOR_MAP_FLOAT64, "FLOAT64", 64, true, 9)                                                                      \
    X(TENSOR_MAP_BFLOAT16, "BFLOAT16", 16, true, 10)                                                                   \
    X(TENSOR_MAP_FLOAT32_FTZ, "FLOAT32_FTZ", 32, true, 8)                                                              \
    X(TENSOR_MAP_TFLOAT32, "TFLOAT32", 32, true, 11)                                                                   \
    X(TENSOR_MAP_TFLOAT32_FTZ, "TFLOAT32_FTZ", 32, true, 12)                                                           \
    X(TENSOR_MAP_16U4_ALIGN8B, "16U4_ALIGN8B", 4, false, 13)                                                           \
    X(TENSOR_MAP_16U4_ALIGN16B, "16U4_ALIGN16B", 4, false, 14)                                                         \
    X(TENSOR_MAP_16U6_ALIGN16B, "16U6_ALIGN16B", 6, false, 15)

enum tensor_map_type {
#define X(name, text, bits, is_float, elemtype) name,
    TENSOR_MAP_TYPES(X)
#undef X
        TENSOR_MAP_TYPE_COUNT
};

/* Values of CUtensorMapInterleave, CUtensorMapL2promotion and CUtensorMapFloatOOBfill. */
enum tensor_map_interleave { TENSOR_MAP_INTERLEAVE_NONE, TENSOR_MAP_INTERLEAVE_16B, TENSOR_MAP_INTERLEAVE_32B };
enum tensor_map_promotion {
    TENSOR_MAP_PROMOTION_NONE,
    TENSOR_MAP_PROMOTION_64B,
    TENSOR_MAP_PROMOTION_128B,
    TENSOR_MAP_PROMOTION_256B
};
enum tensor_map_fill { TENSOR_MAP_FILL_ZERO, TENSOR_MAP_FILL_NAN };

/* A decoded map. Dimension 0 is the contiguous one. */
struct tensor_map {
    enum tensor_map_type type;
    int rank;
    uint64_t address;                     /* device address of element 0 */
    uint64_t dim[TENSOR_MAP_MAX_RANK];    /* elements; 1 beyond the rank */
    uint64_t stride[TENSOR_MAP_MAX_RANK]; /* bytes; stride[0] is unused, the others are globalStrides[i - 1] */
    uint32_t box[TENSOR_MAP_MAX_RANK];    /* elements; 1 beyond the rank */
    uint32_t element_stride[TENSOR_MAP_MAX_RANK];
    enum tensor_map_interleave interleave;
    enum smem_swizzle swizzle;
    enum tensor_map_promotion promotion;
    enum tensor_map_fill fill;
};

/* The arguments of cuTensorMapEncodeTiled, untrusted: enumerations come as the integers of the caller. */
struct tensor_map_arguments {
    uint32_t type;
    uint32_t rank;
    uint64_t address;
    const uint64_t *global_dim;      /* rank values; borrowed */
    const uint64_t *global_strides;  /* rank - 1 values in bytes; may be NULL when rank is 1 */
    const uint32_t *box_dim;         /* rank values */
    const uint32_t *element_strides; /* rank values */
    uint32_t interleave;
    uint32_t swizzle;
    uint32_t promotion;
    uint32_t fill;
};

/* Checks the arguments as the driver documents them and writes the map. ERROR_INPUT names the argument, its value, the
 * rule and what to do; the driver's answer to it is CUDA_ERROR_INVALID_VALUE. Accepted, because drivers accept them: a
 * NULL address (to be replaced on the device) and strides that make rows overlap. */
MUST_CHECK bool tensor_map_encode_tiled(uint8_t map[TENSOR_MAP_BYTES], const struct tensor_map_arguments *arguments,
                                        struct error *error);

/* Always refuses (ERROR_UNSUPPORTED) in the name of `function` ("cuTensorMapEncodeIm2col"). */
MUST_CHECK bool tensor_map_encode_im2col(const char *function, struct error *error);

/* Whether the block looks like one of our maps (magic only): how maps are found in parameters and memory. */
bool tensor_map_is_encoded(const uint8_t map[TENSOR_MAP_BYTES]);

/* Reads a map, checking again what tensormap.replace may have broken. ERROR_INPUT: no map, overwritten, or bad
 * fields. */
MUST_CHECK bool tensor_map_decode(const uint8_t map[TENSOR_MAP_BYTES], struct tensor_map *out, struct error *error);

int tensor_map_type_bits(enum tensor_map_type type);
const char *tensor_map_type_text(enum tensor_map_type type);

enum tensor_map_field {
    TENSOR_MAP_FIELD_GLOBAL_ADDRESS,
    TENSOR_MAP_FIELD_RANK, /* value: rank - 1 */
    TENSOR_MAP_FIELD_BOX_DIM,
    TENSOR_MAP_FIELD_GLOBAL_DIM,
    TENSOR_MAP_FIELD_GLOBAL_STRIDE, /* ordinal 0 is the stride of dimension 1; bytes */
    TENSOR_MAP_FIELD_ELEMENT_STRIDE,
    TENSOR_MAP_FIELD_ELEMTYPE, /* value: Table "new_val" of the ISA, not CUtensorMapDataType */
    TENSOR_MAP_FIELD_INTERLEAVE_LAYOUT,
    TENSOR_MAP_FIELD_SWIZZLE_MODE,
    TENSOR_MAP_FIELD_SWIZZLE_ATOMICITY, /* sm_100a; after the swizzle mode */
    TENSOR_MAP_FIELD_FILL_MODE,
    TENSOR_MAP_FIELD_COUNT
};

/* tensormap.replace.tile: sets one field. `ordinal` counts from 0 for the fields that have one and is ignored
 * otherwise. Refuses values that the field cannot hold; how fields fit together is checked when the map is used. The
 * map is unchanged on failure. */
MUST_CHECK bool tensor_map_replace(uint8_t map[TENSOR_MAP_BYTES], enum tensor_map_field field, int ordinal,
                                   uint64_t value, struct error *error);

/* One tile: the box of a map at given coordinates against one shared-memory buffer. */
struct tensor_tile {
    struct tensor_map map;
    int32_t coordinate[TENSOR_MAP_MAX_RANK];
    uint32_t shared_address;              /* absolute: only its low bits matter to the swizzle */
    uint32_t extent[TENSOR_MAP_MAX_RANK]; /* elements moved: ceil(box / element stride) */
    uint32_t element_bytes;
    uint32_t row_bytes; /* of one row of the box along dimension 0: a multiple of 16 */
    uint32_t row_pitch; /* from row to row in shared memory: row_bytes, or the span of the swizzle */
    uint32_t rows;
    uint32_t bytes;        /* of the full box: what complete_tx counts, out of bounds or not */
    uint32_t shared_bytes; /* from the first to the last byte in shared memory, before the swizzle */
    uint32_t chunks;       /* of 16 bytes */
};

/* Prepares a tile. `coordinates` has map->rank values and may lie outside of the tensor. ERROR_INPUT: shared address
 * not aligned to 128 bytes, first coordinate not on a 16-byte unit, box larger than shared memory, global address NULL;
 * ERROR_UNSUPPORTED: interleaved and packed sub-byte maps. */
MUST_CHECK bool tensor_tile_init(struct tensor_tile *tile, const struct tensor_map *map, const int32_t *coordinates,
                                 uint32_t shared_address, struct error *error);

/* What a store or reduction refuses besides: ERROR_INPUT for a negative coordinate, an illegal instruction on an H200. */
MUST_CHECK bool tensor_tile_check_store(const struct tensor_tile *tile, struct error *error);

/* One row of the box along dimension 0: contiguous in global memory, and in shared memory before the swizzle. */
struct tensor_tile_row {
    int64_t global_offset;   /* bytes from map.address, modulo 2^64; only the valid part may be touched */
    uint32_t linear_address; /* shared address of its first byte before the swizzle: see smem_swizzle_address */
    uint32_t valid_begin;    /* bytes [valid_begin, valid_end) are inside of the tensor; 0, 0 when none is */
    uint32_t valid_end;
    int64_t coordinate[TENSOR_MAP_MAX_RANK]; /* of the first element */
};

/* Row `index` of 0..tile->rows-1, in order of ascending linear address. The fast way through a tile. */
void tensor_tile_row_at(const struct tensor_tile *tile, uint32_t index, struct tensor_tile_row *out);

/* 16 bytes of a tile: contiguous in global memory and in shared memory. */
struct tensor_tile_chunk {
    int64_t global_offset;   /* as in a row */
    uint32_t linear_address; /* shared address before the swizzle */
    uint32_t shared_address; /* after it */
    uint8_t valid_begin;     /* bytes [valid_begin, valid_end) are inside of the tensor: loads fill the others; */
    uint8_t valid_end;       /* 0, 0 when all are outside: stores and reductions skip such chunks, and only them */
    bool halves_swapped;     /* the two 8-byte halves are exchanged in shared memory (128B_ATOM_32B_FLIP_8B) */
    int64_t coordinate[TENSOR_MAP_MAX_RANK]; /* of the first element */
};

/* Chunk `index` of 0..tile->chunks-1, in order of ascending linear address. */
void tensor_tile_chunk_at(const struct tensor_tile *tile, uint32_t index, struct tensor_tile_chunk *out);

/* For diagnosis: coordinates of the element that a load of this tile puts at shared `address`. False when the address
 * is not of this tile. */
bool tensor_tile_locate(const struct tensor_tile *tile, uint32_t address, int64_t coordinate[TENSOR_MAP_MAX_RANK]);

/* Whether an element lies inside of the tensor. */
bool tensor_map_contains(const struct tensor_map *map, const int64_t coordinate[TENSOR_MAP_MAX_RANK]);

/* The 16 bytes that a load puts in place of elements outside: zeros, or 0x7ff7 in every 16 bits, whatever the type
 * (measured on an H200). */
void tensor_map_fill_bytes(const struct tensor_map *map, uint8_t out[TENSOR_MAP_CHUNK_BYTES]);

#endif
