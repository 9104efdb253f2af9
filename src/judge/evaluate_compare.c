/* From what the device counted to what a person needs to know about a wrong result. */
#include <math.h>
#include <string.h>

#include "judge/mismatch_pattern.h"
#include "judge/worker_internal.h"

static float from_bits(unsigned bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static const struct definition *definition_of(const struct evaluation_run *run)
{
    return workload_state_workload(run->state)->definition;
}

static int output_count(const struct evaluation_run *run)
{
    return (int)definition_of(run)->output_count;
}

/* Creates the records of all outputs at the first comparison; later ones add to them. */
static void open_outputs(struct evaluation_run *run)
{
    struct verdict_correctness *record = &run->verdict->correctness;
    const struct definition *definition = definition_of(run);
    struct error error;

    if (record->outputs.count)
        return;
    record->rule = tolerance_rule_text(run->tolerance.rule);
    record->atol = number_of(run->tolerance.atol);
    record->rtol = number_of(run->tolerance.rtol);
    record->required_ratio = number_of(run->tolerance.required_ratio);
    record->checks = count_of(0);
    for (size_t i = 0; i < definition->output_count; i++) {
        struct tensor_shape shape;
        struct verdict_output *output = LIST_APPEND(run->arena, &record->outputs);
        output->name = definition->outputs[i].name;
        output->dtype = dtype_text(definition->outputs[i].dtype);
        output->ok = TRISTATE_YES;
        output->nan = output->inf = output->untouched = output->mismatches = count_of(0);
        output->max_abs = output->max_rel = number_of(0);
        if (!workload_tensor_shape(workload_state_workload(run->state), &definition->outputs[i], &shape, &error))
            continue;
        output->elements = count_of(tensor_elements(&shape));
        for (int d = 0; d < shape.rank; d++)
            *LIST_APPEND(run->arena, &output->shape) = shape.dims[d];
    }
}

/* The larger of both; NaN once there was one. */
static void raise_number(struct number *number, double value)
{
    if (isnan(value) || value > number->value)
        number->value = isnan(number->value) ? number->value : value;
}

/* Adds one comparison to an output's record. A wrong one replaces the counts: it is what must be explained. */
static void add_stats(const struct evaluation_run *run, struct verdict_output *output,
                      const struct compare_stats *stats, bool full)
{
    bool infinite = stats->mismatches && stats->infinities;

    raise_number(&output->max_abs, stats->nans ? NAN : infinite ? INFINITY : (double)from_bits(stats->max_abs_bits));
    if (full)
        raise_number(&output->max_rel, stats->nans ? NAN
                                       : infinite  ? INFINITY
                                                   : (double)from_bits(stats->max_rel_bits));
    if (!output->error_norm.known && stats->sum_square_reference > 0)
        output->error_norm = number_of(sqrt(stats->sum_square_error / stats->sum_square_reference));
    if (tolerance_accepts(&run->tolerance, (int64_t)stats->mismatches, output->elements.value))
        return;
    output->ok = TRISTATE_NO;
    output->mismatches = count_of((int64_t)stats->mismatches);
    output->nan = count_of((int64_t)stats->nans);
    output->inf = count_of((int64_t)stats->infinities);
    output->untouched = count_of((int64_t)stats->untouched);
    if (stats->sum_square_reference > 0)
        output->error_norm = number_of(sqrt(stats->sum_square_error / stats->sum_square_reference));
}

/* Index, values and pattern of the mismatches of one output. Best effort: trouble leaves them unknown. */
static void explain_output(struct evaluation_run *run, struct run_item item, int index,
                           const struct compare_stats *stats, struct verdict_output *output)
{
    int64_t at = (int64_t)stats->first_mismatch;
    struct tile_map map;
    double got, expected;
    struct error error;

    if (!workload_state_element(run->state, item, index, at, &got, &expected, &error))
        return;
    output->first_mismatch =
        (struct verdict_mismatch){.output = output->name, .got = number_of(got), .expected = number_of(expected)};
    int64_t *dims = arena_calloc(run->arena, output->shape.count + 1, sizeof *dims);
    for (size_t d = output->shape.count; d-- > 0;) {
        dims[d] = at % output->shape.items[d];
        at /= output->shape.items[d];
    }
    output->first_mismatch.index.items = dims;
    output->first_mismatch.index.count = output->shape.count;
    if (workload_state_tiles(run->state, run->arena, item, index, &run->rule, &map, &error))
        output->pattern = mismatch_pattern(run->arena, map.counts, map.rows, map.columns, map.element_rows,
                                           map.element_columns, COMPARE_TILE);
}

static void total(struct verdict_correctness *record)
{
    int64_t elements = 0, mismatches = 0;

    record->max_abs = record->max_rel = (struct number){0};
    record->first_mismatch = (struct verdict_mismatch){0};
    for (size_t i = 0; i < record->outputs.count; i++) {
        const struct verdict_output *output = &record->outputs.items[i];
        elements += output->elements.value;
        mismatches += output->mismatches.value;
        if (!record->max_abs.known || output->max_abs.value > record->max_abs.value || isnan(output->max_abs.value)) {
            record->max_abs = output->max_abs;
            record->max_rel = output->max_rel;
        }
        if (!record->first_mismatch.output)
            record->first_mismatch = output->first_mismatch;
    }
    record->elements = count_of(elements);
    record->mismatches = count_of(mismatches);
    record->matched_ratio = number_of(elements ? 1 - (double)mismatches / (double)elements : 1);
}

static void add_finding(struct evaluation_run *run, const struct verdict_output *output, bool timed)
{
    char where[128] = "";
    size_t used = 0;
    enum finding_code code = output->untouched.value > output->elements.value / 2 ? FINDING_OUTPUT_UNTOUCHED
                             : timed                                              ? FINDING_TIMED_OUTPUT_WRONG
                             : output->nan.value                                  ? FINDING_NAN
                                                                                  : FINDING_NUMERICAL_MISMATCH;

    for (size_t d = 0; d < output->first_mismatch.index.count && used < sizeof where; d++)
        used += (size_t)snprintf(where + used, sizeof where - used, "%s%lld", d ? ", " : "",
                                 (long long)output->first_mismatch.index.items[d]);
    (void)finding_add(&run->verdict->findings, run->arena, code,
                      "%s: %lld of %lld elements are wrong (%lld NaN, %lld untouched); first at [%s]: expected %.6g, "
                      "got %.6g%s%s",
                      output->name, (long long)output->mismatches.value, (long long)output->elements.value,
                      (long long)output->nan.value, (long long)output->untouched.value, where,
                      output->first_mismatch.expected.value, output->first_mismatch.got.value,
                      output->pattern ? "; " : "", output->pattern ? output->pattern : "");
}

static void explain_slot(struct evaluation_run *run, struct run_item item, const struct slot_comparison *slot,
                         bool timed)
{
    struct verdict_correctness *record = &run->verdict->correctness;

    for (int i = 0; i < output_count(run); i++) {
        struct verdict_output *output = &record->outputs.items[i];
        if (output->ok == TRISTATE_YES)
            continue;
        explain_output(run, item, i, &slot->outputs[i], output);
        add_finding(run, output, timed);
    }
    total(record);
    run->failed = true;
    if (timed)
        verdict_set_status(run->verdict, run->arena, VERDICT_INCORRECT_NUMERICAL,
                           "right in the first call, wrong in a later one");
    else
        verdict_set_status(run->verdict, run->arena, VERDICT_INCORRECT_NUMERICAL, "%lld of %lld elements are wrong",
                           (long long)record->mismatches.value, (long long)record->elements.value);
}

/* A secret order of the slots: whoever still works on some when it says that it is done cannot know which are looked at
 * last. */
static void draw_order(struct evaluation_run *run, int *order, int count)
{
    for (int i = 0; i < count; i++) {
        int other = (int)(evaluate_draw(run) % (uint64_t)(i + 1));
        order[i] = order[other];
        order[other] = i;
    }
}

bool evaluate_compare(struct evaluation_run *run, const struct run_item *items, int count, bool timed)
{
    int order[CHANNEL_MAX_ITEMS] = {0};
    struct slot_comparison *slots = arena_calloc(run->arena, (size_t)count, sizeof *slots);
    struct verdict_correctness *record = &run->verdict->correctness;
    struct error error;

    open_outputs(run);
    draw_order(run, order, count);
    if (!workload_state_compare(run->state, items, order, count, &run->rule, !timed, slots, &error))
        return evaluate_trouble(run, &error);
    for (int slot = 0; slot < count; slot++) {
        bool wrong = false;
        for (int i = 0; i < output_count(run); i++) {
            if (slots[slot].compared[i])
                record->outputs.items[i].elements = count_of(slots[slot].compared[i]);
            add_stats(run, &record->outputs.items[i], &slots[slot].outputs[i], !timed);
            wrong |= record->outputs.items[i].ok == TRISTATE_NO;
        }
        record->checks.value++;
        record->guards_intact = tristate_of(!slots[slot].guard_bytes);
        if (slots[slot].guard_bytes) {
            (void)finding_add(&run->verdict->findings, run->arena, FINDING_GUARD_OVERWRITTEN,
                              "%llu bytes before or behind an output were overwritten",
                              (unsigned long long)slots[slot].guard_bytes);
            verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR, "wrote outside its outputs");
            run->failed = true;
        }
        if (wrong) {
            explain_slot(run, items[slot], &slots[slot], timed);
            return false;
        }
        if (run->failed)
            return false;
    }
    total(record);
    return true;
}
