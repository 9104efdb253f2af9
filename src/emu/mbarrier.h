/*
 * The mbarrier object as a state machine. Pure; thread-safe.
 *
 * A phase completes when no arrivals are pending and the tx-count is 0; that is looked at by arrivals and by
 * complete_tx, not by expect_tx. The tx-count may be negative for a while: bytes may land before they are expected.
 * Source: PTX ISA, "mbarrier" (9.7.13.15): contents, ranges, phase completion.
 */
#ifndef PTXBENCH_EMU_MBARRIER_H
#define PTXBENCH_EMU_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"

enum { MBARRIER_BYTES = 8, MBARRIER_COUNT_MAX = (1 << 20) - 1, MBARRIER_TX_MAX = (1 << 20) - 1 };

struct mbarrier {
    uint64_t phase;    /* completed ones; its lowest bit is the parity of the phase that runs */
    uint32_t expected; /* arrivals of each phase from the next one on */
    uint32_t pending;  /* arrivals that the running phase still needs */
    int32_t tx;        /* bytes: expected less landed */
};

enum mbarrier_status {
    MBARRIER_OK,
    MBARRIER_BAD_COUNT,    /* not in 1 .. MBARRIER_COUNT_MAX */
    MBARRIER_OVER_ARRIVED, /* more arrivals than are pending */
    MBARRIER_TX_RANGE      /* the tx-count leaves -MBARRIER_TX_MAX .. MBARRIER_TX_MAX */
};

/* On any other answer than MBARRIER_OK the object is unchanged. */
MUST_CHECK enum mbarrier_status mbarrier_init(struct mbarrier *barrier, uint32_t count);
MUST_CHECK enum mbarrier_status mbarrier_arrive(struct mbarrier *barrier, uint32_t count, bool drop);
MUST_CHECK enum mbarrier_status mbarrier_expect_tx(struct mbarrier *barrier, uint32_t bytes);
MUST_CHECK enum mbarrier_status mbarrier_complete_tx(struct mbarrier *barrier, uint32_t bytes);
/* cp.async.mbarrier.arrive without .noinc: one more arrival is pending in this phase. */
MUST_CHECK enum mbarrier_status mbarrier_add_pending(struct mbarrier *barrier);

/* Whether the phase of that parity, the one before the running phase, is complete. */
bool mbarrier_parity_is_complete(const struct mbarrier *barrier, uint32_t parity);

/* The token that an arrival yields: of the phase and the pending count before it. */
uint64_t mbarrier_token(const struct mbarrier *barrier);
bool mbarrier_token_is_complete(const struct mbarrier *barrier, uint64_t token);
uint32_t mbarrier_token_pending(uint64_t token);

/* What the eight bytes in shared memory hold, so that a store over them is noticed. */
uint64_t mbarrier_encode(const struct mbarrier *barrier);

#endif
