/* Between the files of emu/tensor_map.h. */
#ifndef PTXBENCH_EMU_TENSOR_MAP_INTERNAL_H
#define PTXBENCH_EMU_TENSOR_MAP_INTERNAL_H

#include "emu/tensor_map.h"

/* Every documented rule for the arguments of cuTensorMapEncodeTiled. `who` starts the message. */
MUST_CHECK bool tensor_map_check_arguments(const char *who, const struct tensor_map_arguments *arguments,
                                           struct error *error);

/* Whether elements are packed with padding in shared memory (16U4_ALIGN16B, 16U6_ALIGN16B). */
bool tensor_map_type_is_padded(enum tensor_map_type type);

/* Bytes of one row of a box in shared memory. */
uint64_t tensor_map_row_bytes(enum tensor_map_type type, uint32_t box_elements);

#endif
