/* A workload on an emulated device: what workload_state.h promises, in host memory that a runner maps as a memfd. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "judge/task_problem.h"
#include "judge/tolerance.h"
#include "judge/workload_state_internal.h"
#include "reference/cpu_reference.h"
#include "reference/cpu_sampled.h"
#include "trace/convert.h"

/* The granularity of the emulator's virtual memory. */
#define PAGE_BYTES (INT64_C(2) << 20)
/* Multiply-adds of derived inputs that take about a minute. */
#define MOST_DERIVED_WORK 3e11
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Shared memory of at least `bytes`. With `sealed` nobody but the mapping made here can ever write to it. */
static bool share(const char *name, int64_t bytes, bool sealed, struct shared_memory *out, uint8_t **mapping,
                  struct error *error)
{
    out->bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    out->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (out->fd < 0 || ftruncate(out->fd, out->bytes))
        return error_system(error, errno, "%s: no memory file of %lld bytes", name, (long long)out->bytes);
    void *address = mmap(NULL, (size_t)out->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
    if (address == MAP_FAILED)
        return error_system(error, errno, "%s: cannot map %lld bytes", name, (long long)out->bytes);
    *mapping = address;
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (sealed ? F_SEAL_FUTURE_WRITE : 0);
    if (fcntl(out->fd, F_ADD_SEALS, seals))
        return error_system(error, errno, "%s: cannot seal the memory file", name);
    return true;
}

/* Multiply-adds of the inputs that are themselves results. */
static double derived_work(const struct workload *workload)
{
    bool derived = false;

    for (size_t i = 0; i < workload->definition->input_count; i++)
        derived |= workload->inputs[i].kind == INPUT_DERIVED;
    return derived ? cpu_reference_work(workload) * 2 / 7 : 0;
}

bool workload_state_is_derivable(const struct workload *workload)
{
    return derived_work(workload) <= MOST_DERIVED_WORK;
}

static bool check_reference(const struct workload *workload, struct error *error)
{
    struct reference_problem problem;

    if (!task_problem(workload, &problem, error))
        return false;
    if (workload_state_is_derivable(workload))
        return true;
    (void)error_set(error, ERROR_UNSUPPORTED,
                    "%s: its inputs are themselves results of %.2g multiply-adds, too many for this processor",
                    workload->definition->name, derived_work(workload));
    return error_hint(error, "judge it on a GPU, or take a workload with shorter sequences");
}

static bool allocate(struct workload_state *state, struct error *error)
{
    struct workload_host *host = state->host;

    state->set_count = state->slot_count = 1;
    host->expected = malloc((size_t)state->expected_bytes);
    if (!host->expected)
        return error_set(error, ERROR_MEMORY, "%s: no memory for expected outputs (%lld bytes)",
                         state->workload->definition->name, (long long)state->expected_bytes);
    return share("inputs", state->set_bytes, true, &state->input_memory, &host->inputs, error) &&
           share("outputs", state->slot_bytes, false, &state->output_memory, &host->outputs, error);
}

bool workload_state_open_host(const struct workload *workload, struct workload_state **out, struct error *error)
{
    struct workload_state *state = calloc(1, sizeof *state);
    struct workload_host *host = calloc(1, sizeof *host);

    if (!state || !host) {
        free(state);
        free(host);
        return error_set(error, ERROR_MEMORY, "workload: out of memory");
    }
    state->workload = workload;
    state->host = host;
    state->input_memory.fd = state->output_memory.fd = -1;
    if (check_reference(workload, error) && task_problem(workload, &state->problem, error) &&
        workload_state_lay_out(state, error) && allocate(state, error)) {
        *out = state;
        return true;
    }
    workload_host_close(state);
    return false;
}

static void unshare(struct shared_memory *memory, uint8_t *mapping)
{
    if (mapping)
        (void)munmap(mapping, (size_t)memory->bytes);
    if (memory->fd >= 0)
        (void)close(memory->fd);
}

void workload_host_close(struct workload_state *state)
{
    unshare(&state->input_memory, state->host->inputs);
    unshare(&state->output_memory, state->host->outputs);
    free(state->host->expected);
    free(state->host);
    free(state);
}

void workload_state_set_sampled(struct workload_state *state, bool sampled)
{
    state->host->sampled = sampled;
}

static void input_addresses(const struct workload_state *state, void **inputs)
{
    for (int i = 0; i < state->input_count; i++)
        inputs[i] = state->host->inputs + state->inputs[i].offset;
}

bool workload_host_generate(struct workload_state *state, uint64_t seed, struct error *error)
{
    void *inputs[WORKLOAD_MAX_INPUTS];

    memset(state->host->expected, COMPARE_POISON_BYTE, (size_t)state->expected_bytes);
    input_addresses(state, inputs);
    return cpu_reference_fill_inputs(state->workload, seed, inputs, error);
}

void workload_host_poison(struct workload_state *state)
{
    memset(state->host->outputs, COMPARE_POISON_BYTE, (size_t)state->slot_bytes);
}

static const uint8_t *output_address(const struct workload_state *state, int output)
{
    return state->host->outputs + state->outputs[output].offset;
}

static uint8_t *expected_address(const struct workload_state *state, int output)
{
    return state->host->expected + state->outputs[output].expected_offset;
}

static bool is_poison(const uint8_t *bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (bytes[i] != COMPARE_POISON_BYTE)
            return false;
    return true;
}

/* First byte from `at` on that is not poison, or `end`: most of a sampled output is, so eight at a time. */
static int64_t next_written(const uint8_t *bytes, int64_t at, int64_t end)
{
    static const uint64_t poison = COMPARE_POISON_BYTE * UINT64_C(0x0101010101010101);
    uint64_t word;

    for (; at + (int64_t)sizeof word <= end; at += (int64_t)sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        if (word != poison)
            break;
    }
    while (at < end && bytes[at] == COMPARE_POISON_BYTE)
        at++;
    return at;
}

static uint64_t count_guards(const struct workload_state *state)
{
    uint64_t touched = 0;
    int64_t at = 0;

    for (int i = 0; i <= state->output_count; i++) {
        int64_t end = i < state->output_count ? state->outputs[i].offset : state->slot_bytes;
        while ((at = next_written(state->host->outputs, at, end)) < end) {
            touched++;
            at++;
        }
        if (i < state->output_count)
            at = end + tensor_bytes(&state->outputs[i].shape);
    }
    return touched;
}

static struct tolerance tolerance_of(const struct compare_rule *rule)
{
    return (struct tolerance){.rule = rule->kind == COMPARE_MAX_RULE ? TOLERANCE_FLASHINFER : TOLERANCE_ALLCLOSE,
                              .atol = (double)rule->atol,
                              .rtol = (double)rule->rtol};
}

static void raise_bits(unsigned *bits, double value)
{
    float wanted = (float)value, known;

    memcpy(&known, bits, sizeof known);
    if (wanted > known)
        memcpy(bits, &wanted, sizeof *bits);
}

static void compare_element(const struct tolerance *tolerance, double got, double expected, int64_t index,
                            struct compare_stats *stats)
{
    stats->nans += isnan(got) != 0;
    stats->infinities += isinf(got) != 0;
    if (isfinite(got) && isfinite(expected)) {
        double error = got - expected;
        stats->sum_square_error += error * error;
        stats->sum_square_reference += expected * expected;
        raise_bits(&stats->max_abs_bits, fabs(error));
        raise_bits(&stats->max_rel_bits, tolerance_relative_error(got, expected));
    }
    if (tolerance_agrees(tolerance, got, expected))
        return;
    if (!stats->mismatches++)
        stats->first_mismatch = (unsigned long long)index;
}

/* First written element from `index` on, or `count`. */
static int64_t next_element(const uint8_t *got, int64_t index, int64_t count, int64_t width)
{
    return next_written(got, index * width, count * width) / width;
}

/* Elements that nobody wrote: wrong when all clusters ran, or when there is nothing else. */
static void count_untouched(const struct workload_state *state, int64_t first, int64_t untouched, int64_t written,
                            struct compare_stats *stats)
{
    if (!untouched || (state->host->sampled && written))
        return;
    stats->untouched = (unsigned long long)untouched;
    stats->mismatches += stats->untouched;
    if ((unsigned long long)first < stats->first_mismatch)
        stats->first_mismatch = (unsigned long long)first;
}

/* Returns how many elements of the output were written. */
static int64_t compare_output(const struct workload_state *state, int output, const struct tolerance *tolerance,
                              struct compare_stats *stats)
{
    const struct tensor_shape *shape = &state->outputs[output].shape;
    const uint8_t *got = output_address(state, output), *expected = expected_address(state, output);
    int64_t width = dtype_bits(shape->dtype) / 8, count = tensor_elements(shape), written = 0, gap = -1;

    *stats = (struct compare_stats){.first_mismatch = ~0ULL};
    for (int64_t i = next_element(got, 0, count, width); i < count; i = next_element(got, i + 1, count, width)) {
        if (i > written && gap < 0)
            gap = written; /* the first element that nobody wrote */
        written++;
        compare_element(tolerance, tensor_load(shape->dtype, got, (size_t)i),
                        tensor_load(shape->dtype, expected, (size_t)i), i, stats);
    }
    count_untouched(state, gap < 0 ? written : gap, count - written, written, stats);
    return written;
}

/* Whether every written element has its expected value, from an earlier comparison. */
static bool is_expected(const struct workload_state *state)
{
    for (int output = 0; output < state->output_count; output++) {
        const struct tensor_shape *shape = &state->outputs[output].shape;
        const uint8_t *got = output_address(state, output), *expected = expected_address(state, output);
        int64_t width = dtype_bits(shape->dtype) / 8, count = tensor_elements(shape);
        for (int64_t i = next_element(got, 0, count, width); i < count; i = next_element(got, i + 1, count, width))
            if (is_poison(expected + i * width, width))
                return false;
    }
    return true;
}

bool workload_host_compare(struct workload_state *state, const struct compare_rule *rule,
                           struct slot_comparison *result, struct error *error)
{
    struct tolerance tolerance = tolerance_of(rule);
    const void *got[WORKLOAD_MAX_OUTPUTS];
    void *inputs[WORKLOAD_MAX_INPUTS], *expected[WORKLOAD_MAX_OUTPUTS];

    input_addresses(state, inputs);
    for (int i = 0; i < state->output_count; i++) {
        got[i] = output_address(state, i);
        expected[i] = expected_address(state, i);
    }
    if (!is_expected(state) &&
        !cpu_sampled_outputs(state->workload, (const void *const *)inputs, got, COMPARE_POISON_BYTE, expected, error))
        return false;
    for (int i = 0; i < state->output_count; i++) {
        int64_t written = compare_output(state, i, &tolerance, &result->outputs[i]);
        result->compared[i] = state->host->sampled && written ? written : 0;
    }
    result->guard_bytes = count_guards(state);
    return true;
}

/* Computes the expected value of an element that nobody has written, as if it had been. Best effort: without memory it
 * stays unknown. */
static void expect_element(const struct workload_state *state, int output, int64_t index, int64_t width)
{
    AUTO_FREE uint8_t *pretended = malloc((size_t)state->expected_bytes);
    const void *got[WORKLOAD_MAX_OUTPUTS];
    void *inputs[WORKLOAD_MAX_INPUTS], *expected[WORKLOAD_MAX_OUTPUTS];
    struct error error;

    if (!pretended)
        return;
    memset(pretended, COMPARE_POISON_BYTE, (size_t)state->expected_bytes);
    memset(pretended + state->outputs[output].expected_offset + index * width, 0, (size_t)width);
    input_addresses(state, inputs);
    for (int i = 0; i < state->output_count; i++) {
        got[i] = pretended + state->outputs[i].expected_offset;
        expected[i] = expected_address(state, i);
    }
    if (!cpu_sampled_outputs(state->workload, (const void *const *)inputs, got, COMPARE_POISON_BYTE, expected, &error))
        return;
}

void workload_host_element(const struct workload_state *state, int output, int64_t index, double *got, double *expected)
{
    enum dtype dtype = state->outputs[output].shape.dtype;
    int64_t width = dtype_bits(dtype) / 8;

    if (is_poison(expected_address(state, output) + index * width, width))
        expect_element(state, output, index, width);

    *got = tensor_load(dtype, output_address(state, output), (size_t)index);
    *expected = tensor_load(dtype, expected_address(state, output), (size_t)index);
}

void workload_host_tiles(const struct workload_state *state, int output, const struct compare_rule *rule,
                         struct tile_map *map)
{
    struct tolerance tolerance = tolerance_of(rule);
    enum dtype dtype = state->outputs[output].shape.dtype;
    const uint8_t *got = output_address(state, output), *expected = expected_address(state, output);
    int64_t width = dtype_bits(dtype) / 8;

    memset(map->counts, 0, (size_t)(map->rows * map->columns) * sizeof *map->counts);
    for (int64_t row = 0; row < map->element_rows; row++)
        for (int64_t column = 0; column < map->element_columns; column++) {
            int64_t i = row * map->element_columns + column;
            bool untouched = is_poison(got + i * width, width);
            bool wrong = untouched ? !state->host->sampled
                                   : !tolerance_agrees(&tolerance, tensor_load(dtype, got, (size_t)i),
                                                       tensor_load(dtype, expected, (size_t)i));
            map->counts[row / COMPARE_TILE * map->columns + column / COMPARE_TILE] += wrong;
        }
}
