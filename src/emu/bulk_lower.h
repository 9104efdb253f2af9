/* Between op_bulk.c and op_tensor.c: the operands of bulk copies. */
#ifndef PTXBENCH_EMU_BULK_LOWER_H
#define PTXBENCH_EMU_BULK_LOWER_H

#include "emu/bulk_copy.h"
#include "emu/lower.h"
#include "emu/mbarrier_table.h"

struct bulk_detail {
    enum bulk_end_kind from, to;
    struct emu_address destination, source, barrier; /* of a tensor copy: the shared one; `map` is the other end */
    struct emu_address map;
    emu_slot coordinates[TENSOR_MAP_MAX_RANK];
    int rank;
    emu_slot size; /* without a tensor map */
    emu_slot mask; /* of CTAs, or EMU_NO_SLOT */
    bool has_barrier;
    enum bulk_operation operation;
    enum bulk_type type; /* without a tensor map */
};

/* The operation of cp.reduce; BULK_COPY for cp. */
MUST_CHECK bool bulk_lower_reduction(struct emu_lower *l, enum bulk_operation *operation);

/* [barrier] {, mask} from operand *at on. */
MUST_CHECK bool bulk_lower_barrier(struct emu_lower *l, uint32_t *at, struct bulk_detail *detail);

/* Shared ends of a copy whose size is known. False after a finding. */
bool bulk_set_destination(const struct emu_actor *actor, const struct bulk_detail *detail, uint64_t address,
                          uint64_t barrier, uint32_t align, struct bulk_copy *copy);
bool bulk_set_source(const struct emu_actor *actor, uint64_t address, uint32_t align, struct bulk_copy *copy);

#endif
