/* Comparing a candidate's outputs with the expected ones, on the device. */
#include <string.h>

#include "judge/workload_state_internal.h"
#include "trace/convert.h"

static CUdeviceptr slot_address(const struct workload_state *state, int slot)
{
    return state->output_memory.address + (CUdeviceptr)(slot * state->slot_bytes);
}

static CUdeviceptr output_address(const struct workload_state *state, int slot, int output)
{
    return slot_address(state, slot) + (CUdeviceptr)state->outputs[output].offset;
}

static CUdeviceptr expected_address(const struct workload_state *state, int set, int output)
{
    return state->expected_memory + (CUdeviceptr)(set * state->expected_bytes + state->outputs[output].expected_offset);
}

static CUdeviceptr stats_address(const struct workload_state *state, int slot)
{
    return state->stats + (size_t)slot * sizeof(struct slot_comparison);
}

/* The bytes between the tensors of a slot, and around them, must still be poison. */
static bool count_guards(struct workload_state *state, int slot, struct error *error)
{
    CUdeviceptr touched = stats_address(state, slot) + offsetof(struct slot_comparison, guard_bytes);
    int64_t at = 0;

    for (int i = 0; i <= state->output_count; i++) {
        int64_t end = i < state->output_count ? state->outputs[i].offset : state->slot_bytes;
        if (!device_count_touched(state->device, slot_address(state, slot) + (CUdeviceptr)at, end - at, touched, error))
            return false;
        if (i < state->output_count)
            at = end + tensor_bytes(&state->outputs[i].shape);
    }
    return true;
}

static bool compare_slot(struct workload_state *state, struct run_item item, int slot, const struct compare_rule *rule,
                         bool full, struct error *error)
{
    for (int i = 0; i < state->output_count; i++) {
        const struct tensor_shape *shape = &state->outputs[i].shape;
        CUdeviceptr got = output_address(state, slot, i);
        CUdeviceptr expected = expected_address(state, item.input_set, i);
        CUdeviceptr stats = stats_address(state, slot) + (size_t)i * sizeof(struct compare_stats);
        int64_t count = tensor_elements(shape);
        if (!(full ? device_compare(state->device, got, expected, shape->dtype, count, rule, stats, error)
                   : device_check(state->device, got, expected, shape->dtype, count, rule, stats, error)))
            return false;
    }
    return true;
}

bool workload_state_compare(struct workload_state *state, const struct run_item *items, const int *order, int count,
                            const struct compare_rule *rule, bool full, struct slot_comparison *results,
                            struct error *error)
{
    if (state->host)
        return workload_host_compare(state, rule, results, error);
    for (int slot = 0; slot < count; slot++)
        for (int i = 0; i < WORKLOAD_MAX_OUTPUTS; i++)
            results[slot].outputs[i] = (struct compare_stats){.first_mismatch = ~0ULL};
    for (int slot = 0; slot < count; slot++)
        results[slot].guard_bytes = 0;
    for (int slot = 0; slot < count; slot++)
        memset(results[slot].compared, 0, sizeof results[slot].compared);
    if (!device_write(state->device, state->stats, results, (int64_t)sizeof *results * count, error))
        return false;
    for (int i = 0; i < count; i++) {
        int slot = order[i];
        if (!compare_slot(state, items[slot], slot, rule, full, error) || !count_guards(state, slot, error))
            return false;
    }
    return device_read(state->device, results, state->stats, (int64_t)sizeof *results * count, error);
}

bool workload_state_element(struct workload_state *state, struct run_item item, int output, int64_t index, double *got,
                            double *expected, struct error *error)
{
    enum dtype dtype = state->outputs[output].shape.dtype;
    int64_t width = dtype_bits(dtype) / 8;
    unsigned char bytes[8];

    if (state->host) {
        workload_host_element(state, output, index, got, expected);
        return true;
    }
    if (!device_read(state->device, bytes,
                     output_address(state, item.output_slot, output) + (CUdeviceptr)(index * width), width, error))
        return false;
    *got = tensor_load(dtype, bytes, 0);
    if (!device_read(state->device, bytes,
                     expected_address(state, item.input_set, output) + (CUdeviceptr)(index * width), width, error))
        return false;
    *expected = tensor_load(dtype, bytes, 0);
    return true;
}

bool workload_state_tiles(struct workload_state *state, struct arena *arena, struct run_item item, int output,
                          const struct compare_rule *rule, struct tile_map *map, struct error *error)
{
    const struct tensor_shape *shape = &state->outputs[output].shape;
    int64_t columns = shape->rank ? shape->dims[shape->rank - 1] : 1;
    int64_t rows = columns ? tensor_elements(shape) / columns : 0;
    CUdeviceptr tiles;

    *map = (struct tile_map){
        .rows = (rows + COMPARE_TILE - 1) / COMPARE_TILE,
        .columns = (columns + COMPARE_TILE - 1) / COMPARE_TILE,
        .element_rows = rows,
        .element_columns = columns,
    };
    int64_t bytes = map->rows * map->columns * (int64_t)sizeof *map->counts;
    map->counts = arena_alloc(arena, (size_t)bytes);
    if (state->host) {
        workload_host_tiles(state, output, rule, map);
        return true;
    }
    if (!device_allocate(state->device, bytes, &tiles, error))
        return false;
    bool ok = device_write(state->device, tiles, map->counts, bytes, error) &&
              device_count_tiles(state->device, output_address(state, item.output_slot, output),
                                 expected_address(state, item.input_set, output), shape->dtype, rows, columns, rule,
                                 tiles, error) &&
              device_read(state->device, map->counts, tiles, bytes, error);
    device_release(state->device, tiles);
    return ok;
}

bool workload_state_inputs_changed(struct workload_state *state, int set, uint64_t seed, int *changed,
                                   struct error *error)
{
    static const struct compare_rule exact = {.kind = COMPARE_ALLCLOSE};
    CUdeviceptr inputs[WORKLOAD_MAX_INPUTS], fresh[WORKLOAD_MAX_INPUTS];
    struct compare_stats stats;

    *changed = -1;
    if (!workload_state_fill_private(state, set, seed, error))
        return false;
    workload_state_input_pointers(state, state->input_memory.address + (CUdeviceptr)(set * state->set_bytes), inputs);
    workload_state_input_pointers(state, state->private_inputs, fresh);
    for (int i = 0; i < state->input_count && *changed < 0; i++) {
        const struct tensor_shape *shape = &state->inputs[i].shape;
        if (!device_reset_stats(state->device, state->stats, 1, error) ||
            !device_compare(state->device, inputs[i], fresh[i], shape->dtype, tensor_elements(shape), &exact,
                            state->stats, error) ||
            !device_read(state->device, &stats, state->stats, sizeof stats, error))
            return false;
        if (stats.mismatches)
            *changed = i;
    }
    return true;
}
