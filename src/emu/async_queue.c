#include "base/splitmix.h"
#include "emu/machine.h"

/* Unlinks, lands and frees the operation at `link`. */
static enum emu_result land(struct emu_cluster *cluster, struct emu_async_op **link)
{
    struct emu_async_op *op = *link;
    enum emu_result result;

    *link = op->next;
    if (!*link)
        cluster->async_tail = link;
    cluster->async_count--;
    result = op->class->land(cluster, op);
    op->class->release(op);
    cluster->grid->progress++;
    return result;
}

/* The ready operation number `skip`, or the last ready one before it; NULL: none is ready. */
static struct emu_async_op **find_ready(struct emu_cluster *cluster, uint64_t skip)
{
    struct emu_async_op **found = NULL;

    for (struct emu_async_op **link = &cluster->async_head; *link; link = &(*link)->next) {
        if (!(*link)->class->ready(cluster, *link))
            continue;
        found = link;
        if (skip-- == 0)
            break;
    }
    return found;
}

enum emu_result emu_async_submit(struct emu_cluster *cluster, struct emu_async_op *op)
{
    op->next = NULL;
    op->sequence = cluster->grid->async_sequence++;
    *cluster->async_tail = op;
    cluster->async_tail = &op->next;
    cluster->async_count++;
    if (cluster->grid->schedule.completion != 0)
        return EMU_CONTINUE;

    enum emu_result result = EMU_CONTINUE;

    while (result == EMU_CONTINUE) {
        struct emu_async_op **link = find_ready(cluster, 0);

        if (!link)
            break;
        result = land(cluster, link);
    }
    return result;
}

bool emu_async_step(struct emu_cluster *cluster, bool force, enum emu_result *result)
{
    struct emu_grid *grid = cluster->grid;
    uint64_t skip = 0;

    if (!cluster->async_head)
        return false;
    if (grid->schedule.completion == 2) {
        uint64_t random = splitmix_next(&grid->random);

        if (!force && (random >> 60) >= 6)
            return false;
        skip = (random >> 33) % cluster->async_count;
    } else if (grid->schedule.completion == 1 && !force) {
        return false;
    }

    struct emu_async_op **link = find_ready(cluster, skip);

    if (!link)
        return false;
    *result = land(cluster, link);
    return true;
}
