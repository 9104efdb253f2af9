#include "emu/mbarrier.h"

enum { TOKEN_PHASE_SHIFT = 20 };

enum mbarrier_status mbarrier_init(struct mbarrier *barrier, uint32_t count)
{
    if (count < 1 || count > MBARRIER_COUNT_MAX)
        return MBARRIER_BAD_COUNT;
    *barrier = (struct mbarrier){.expected = count, .pending = count};
    return MBARRIER_OK;
}

static void complete_phase(struct mbarrier *barrier)
{
    if (barrier->pending || barrier->tx)
        return;
    barrier->phase++;
    barrier->pending = barrier->expected;
}

enum mbarrier_status mbarrier_arrive(struct mbarrier *barrier, uint32_t count, bool drop)
{
    if (count < 1 || count > MBARRIER_COUNT_MAX)
        return MBARRIER_BAD_COUNT;
    if (count > barrier->pending || (drop && count > barrier->expected))
        return MBARRIER_OVER_ARRIVED;
    barrier->pending -= count;
    if (drop)
        barrier->expected -= count;
    complete_phase(barrier);
    return MBARRIER_OK;
}

enum mbarrier_status mbarrier_expect_tx(struct mbarrier *barrier, uint32_t bytes)
{
    int64_t tx = (int64_t)barrier->tx + bytes;

    if (tx > MBARRIER_TX_MAX)
        return MBARRIER_TX_RANGE;
    barrier->tx = (int32_t)tx;
    return MBARRIER_OK;
}

enum mbarrier_status mbarrier_complete_tx(struct mbarrier *barrier, uint32_t bytes)
{
    int64_t tx = (int64_t)barrier->tx - bytes;

    if (tx < -MBARRIER_TX_MAX)
        return MBARRIER_TX_RANGE;
    barrier->tx = (int32_t)tx;
    complete_phase(barrier);
    return MBARRIER_OK;
}

enum mbarrier_status mbarrier_add_pending(struct mbarrier *barrier)
{
    if (barrier->pending == MBARRIER_COUNT_MAX)
        return MBARRIER_BAD_COUNT;
    barrier->pending++;
    return MBARRIER_OK;
}

bool mbarrier_parity_is_complete(const struct mbarrier *barrier, uint32_t parity)
{
    return (barrier->phase & 1) != (parity & 1);
}

uint64_t mbarrier_token(const struct mbarrier *barrier)
{
    return barrier->phase << TOKEN_PHASE_SHIFT | barrier->pending;
}

bool mbarrier_token_is_complete(const struct mbarrier *barrier, uint64_t token)
{
    return barrier->phase << TOKEN_PHASE_SHIFT != (token & ~(uint64_t)MBARRIER_COUNT_MAX);
}

uint32_t mbarrier_token_pending(uint64_t token)
{
    return (uint32_t)token & MBARRIER_COUNT_MAX;
}

uint64_t mbarrier_encode(const struct mbarrier *barrier)
{
    uint64_t tx = (uint64_t)((int64_t)barrier->tx + MBARRIER_TX_MAX);

    return UINT64_C(1) << 63 | (barrier->phase & 1) << 62 | tx << 40 | (uint64_t)barrier->expected << 20 |
           barrier->pending;
}
