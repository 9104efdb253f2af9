#include "judge/workload_state.h"

#include <string.h>

#include "base/clock.h"
#include "device/activity.h"
#include "judge/task_problem.h"
#include "judge/workload_state_internal.h"

enum {
    TENSOR_ALIGNMENT = 1024,
    GUARD_BYTES = 4096, /* before and behind every output */
    BASELINE_WARMUP = 10,
    BASELINE_SAMPLES = 30
};

static int64_t align_up(int64_t bytes)
{
    return (bytes + TENSOR_ALIGNMENT - 1) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
}

bool workload_state_lay_out(struct workload_state *state, struct error *error)
{
    const struct definition *definition = state->workload->definition;
    int64_t input_at = 0, output_at = GUARD_BYTES, expected_at = 0;

    if (definition->input_count > WORKLOAD_MAX_INPUTS || definition->output_count > WORKLOAD_MAX_OUTPUTS ||
        definition->input_count + definition->output_count > CHANNEL_MAX_ARGUMENTS)
        return error_set(error, ERROR_UNSUPPORTED, "%s: too many tensors", definition->name);
    state->input_count = (int)definition->input_count;
    state->output_count = (int)definition->output_count;
    for (int i = 0; i < state->input_count; i++) {
        struct placed_tensor *tensor = &state->inputs[i];
        if (!workload_tensor_shape(state->workload, &definition->inputs[i], &tensor->shape, error))
            return false;
        tensor->offset = input_at;
        input_at += align_up(tensor_bytes(&tensor->shape));
    }
    for (int i = 0; i < state->output_count; i++) {
        struct placed_tensor *tensor = &state->outputs[i];
        if (!workload_tensor_shape(state->workload, &definition->outputs[i], &tensor->shape, error))
            return false;
        tensor->offset = output_at;
        tensor->expected_offset = expected_at;
        output_at += align_up(tensor_bytes(&tensor->shape)) + GUARD_BYTES;
        expected_at += align_up(tensor_bytes(&tensor->shape));
    }
    state->set_bytes = input_at;
    state->slot_bytes = align_up(output_at);
    state->expected_bytes = expected_at;
    return true;
}

/* As many sets and slots as the memory allows: sets first, since they decide what can be hidden from a candidate. */
static bool allocate(struct workload_state *state, double memory_share, struct error *error)
{
    int64_t available;

    if (!device_free_bytes(state->device, &available, error))
        return false;
    int64_t budget = (int64_t)((double)available * memory_share);
    int64_t per_set = state->set_bytes + state->expected_bytes;
    int64_t fixed = state->set_bytes; /* the private inputs */
    state->set_count = WORKLOAD_MAX_SETS;
    while (state->set_count > 2 && fixed + state->set_count * per_set + 8 * state->slot_bytes > budget)
        state->set_count--;
    int64_t slots = (budget - fixed - state->set_count * per_set) / state->slot_bytes;
    if (slots < 1) {
        (void)error_set(error, ERROR_DEVICE, "%s: needs %.1f GB of device memory, %.1f GB are free",
                        state->workload->definition->name, (double)(fixed + 2 * per_set + state->slot_bytes) * 1e-9,
                        (double)available * 1e-9);
        return error_hint(error, "use a smaller workload or a GPU that is not shared");
    }
    state->slot_count = slots < CHANNEL_MAX_ITEMS - 3 ? (int)slots : CHANNEL_MAX_ITEMS - 3;
    if (!device_share_new(state->device, state->set_count * state->set_bytes, &state->input_memory, error) ||
        !device_share_new(state->device, state->slot_count * state->slot_bytes, &state->output_memory, error) ||
        !device_allocate(state->device, state->set_count * state->expected_bytes, &state->expected_memory, error) ||
        !device_allocate(state->device, state->set_bytes, &state->private_inputs, error))
        return false;
    int64_t stats = (int64_t)sizeof(struct slot_comparison) * state->slot_count;
    /* The gaps between tensors are copied along to the runner: nothing of ours may lie in them. */
    return device_poison(state->device, state->private_inputs, state->set_bytes, error) &&
           device_allocate(state->device, stats, &state->stats, error);
}

static bool open_references(struct workload_state *state, struct error *error)
{
    const struct cuda_driver *driver = device_driver(state->device);
    const struct workload *workload = state->workload;

    if (!task_problem(workload, &state->problem, error) ||
        !reference_open(driver, &state->problem, &state->reference, error))
        return false;
    for (int i = 0; i < state->input_count; i++) {
        if (workload->inputs[i].kind == INPUT_RANDOM)
            continue;
        if (workload->inputs[i].kind != INPUT_DERIVED || state->problem.kind != REFERENCE_MHA_BACKWARD)
            return error_set(error, ERROR_UNSUPPORTED, "%s: input %s of kind %s is not supported on a GPU yet",
                             workload->definition->name, workload->inputs[i].name,
                             input_kind_text(workload->inputs[i].kind));
        state->has_derived = true;
    }
    if (!state->has_derived)
        return true;
    struct reference_problem forward = task_forward_problem(&state->problem);
    return reference_open(driver, &forward, &state->forward, error);
}

/* Addresses of the expected outputs of a set. */
static void expected_pointers(const struct workload_state *state, int set, CUdeviceptr *expected)
{
    for (int i = 0; i < state->output_count; i++)
        expected[i] =
            state->expected_memory + (CUdeviceptr)(set * state->expected_bytes + state->outputs[i].expected_offset);
}

/* What the reference reads and writes: the private inputs, and the expected outputs of their set. */
static void reference_pointers(const struct workload_state *state, CUdeviceptr *inputs, CUdeviceptr *expected)
{
    workload_state_input_pointers(state, state->private_inputs, inputs);
    expected_pointers(state, state->private_set, expected);
}

/* Expected outputs of one set against naive kernels, and the baseline latency. */
static bool check_reference(struct workload_state *state, struct error *error)
{
    uint64_t seeds[WORKLOAD_MAX_SETS] = {1, 2, 3, 4};
    double samples[BASELINE_WARMUP + BASELINE_SAMPLES];
    CUdeviceptr inputs[WORKLOAD_MAX_INPUTS], outputs[WORKLOAD_MAX_OUTPUTS];
    double sum = 0;

    if (!workload_state_generate(state, seeds, BASELINE_WARMUP + BASELINE_SAMPLES, samples, error))
        return false;
    for (int i = BASELINE_WARMUP; i < BASELINE_WARMUP + BASELINE_SAMPLES; i++)
        sum += samples[i];
    state->baseline_ms = sum / BASELINE_SAMPLES;
    reference_pointers(state, inputs, outputs);
    if (!reference_check(state->reference, inputs, outputs, 1, &state->agreement, error))
        return error_prefix(error, "the reference of %s is wrong and will not be served",
                            state->workload->definition->name);
    return true;
}

bool workload_state_open(struct device *device, const struct workload *workload, double memory_share,
                         struct workload_state **out, struct error *error)
{
    struct workload_state *state = calloc(1, sizeof *state);

    if (!state)
        return error_set(error, ERROR_MEMORY, "workload: out of memory");
    state->device = device;
    state->workload = workload;
    state->input_memory.fd = state->output_memory.fd = -1;
    if (workload_state_lay_out(state, error) && open_references(state, error) && allocate(state, memory_share, error) &&
        check_reference(state, error)) {
        *out = state;
        return true;
    }
    workload_state_close(state);
    return false;
}

void workload_state_close(struct workload_state *state)
{
    if (!state)
        return;
    if (state->host) {
        workload_host_close(state);
        return;
    }
    reference_close(state->reference);
    reference_close(state->forward);
    device_share_free(state->device, &state->input_memory);
    device_share_free(state->device, &state->output_memory);
    device_release(state->device, state->expected_memory);
    device_release(state->device, state->private_inputs);
    device_release(state->device, state->stats);
    free(state);
}

void workload_state_input_pointers(const struct workload_state *state, CUdeviceptr base, CUdeviceptr *inputs)
{
    for (int i = 0; i < state->input_count; i++)
        inputs[i] = base + (CUdeviceptr)state->inputs[i].offset;
}

/* Derived inputs O and LSE of a backward task, from Q, K, V of the same set. */
static bool derive_inputs(struct workload_state *state, const CUdeviceptr *inputs, struct error *error)
{
    CUdeviceptr forward_outputs[2] = {inputs[3], inputs[5]};

    return reference_run(state->forward, inputs, forward_outputs, device_stream(state->device), error);
}

bool workload_state_fill_private(struct workload_state *state, int set, uint64_t seed, struct error *error)
{
    CUdeviceptr inputs[WORKLOAD_MAX_INPUTS];

    state->private_set = set;
    workload_state_input_pointers(state, state->private_inputs, inputs);
    for (int i = 0; i < state->input_count; i++) {
        const struct tensor_shape *shape = &state->inputs[i].shape;
        if (state->workload->inputs[i].kind == INPUT_RANDOM &&
            !device_fill_random(state->device, inputs[i], shape->dtype, tensor_elements(shape), seed, i, error))
            return false;
    }
    return !state->has_derived || derive_inputs(state, inputs, error);
}

bool workload_state_time_reference(struct workload_state *state, int samples, double *reference_ms, struct error *error)
{
    struct activity_iteration iterations[WORKLOAD_MAX_REFERENCE_SAMPLES];
    CUdeviceptr inputs[WORKLOAD_MAX_INPUTS], expected[WORKLOAD_MAX_OUTPUTS];
    int64_t device_ns = 0;

    if (samples > WORKLOAD_MAX_REFERENCE_SAMPLES)
        return error_set(error, ERROR_INTERNAL, "%d reference samples", samples);
    if (!device_synchronize(state->device, error) || !activity_enable(error) || !activity_reset(error))
        return false;
    int64_t started_ns = clock_now_ns();
    reference_pointers(state, inputs, expected);
    for (int i = 0; i < samples; i++) {
        if (!device_flush_l2(state->device, error) || !device_synchronize(state->device, error) ||
            !reference_run(state->reference, inputs, expected, device_stream(state->device), error) ||
            !device_synchronize(state->device, error))
            return false;
        clock_sleep_ns(state->pause_ns);
    }
    int64_t wall_ns = clock_now_ns() - started_ns;
    if (!activity_collect(iterations, samples, error))
        return false;
    for (int i = 0; i < samples; i++) {
        reference_ms[i] = (double)iterations[i].duration_ns * 1e-6;
        device_ns += iterations[i].duration_ns;
    }
    state->overhead_ns = samples && wall_ns > device_ns ? (wall_ns - device_ns) / samples : 0;
    return true;
}

/* Inputs and expected outputs of one set; only then does a runner see the inputs. */
static bool make_set(struct workload_state *state, int set, uint64_t seed, struct error *error)
{
    const struct cuda_driver *driver = device_driver(state->device);
    CUstream stream = device_stream(state->device);
    CUdeviceptr inputs[WORKLOAD_MAX_INPUTS], expected[WORKLOAD_MAX_OUTPUTS];
    CUdeviceptr shared = state->input_memory.address + (CUdeviceptr)(set * state->set_bytes);

    if (!workload_state_fill_private(state, set, seed, error))
        return false;
    reference_pointers(state, inputs, expected);
    if (!reference_run(state->reference, inputs, expected, stream, error))
        return false;
    CUDA_TRY(driver, error, cuMemcpyDtoDAsync(shared, state->private_inputs, (size_t)state->set_bytes, stream));
    return true;
}

bool workload_state_generate(struct workload_state *state, const uint64_t *seeds, int samples, double *reference_ms,
                             struct error *error)
{
    if (state->host)
        return workload_host_generate(state, seeds[0], error);
    if (!device_poison(state->device, state->expected_memory, state->set_count * state->expected_bytes, error))
        return false;
    for (int set = 0; set < state->set_count; set++)
        if (!make_set(state, set, seeds[set], error))
            return false;
    return workload_state_time_reference(state, samples, reference_ms, error);
}

bool workload_state_poison(struct workload_state *state, int count, struct error *error)
{
    if (state->host) {
        workload_host_poison(state);
        return true;
    }
    return device_poison(state->device, state->output_memory.address, count * state->slot_bytes, error) &&
           device_synchronize(state->device, error);
}

void workload_state_fill_load(const struct workload_state *state, struct message_load *load)
{
    load->argument_count = state->input_count + state->output_count;
    load->inputs_bytes = state->input_memory.bytes;
    load->input_stride = state->set_bytes;
    load->outputs_bytes = state->output_memory.bytes;
    load->output_stride = state->slot_bytes;
    for (int i = 0; i < load->argument_count; i++) {
        bool is_input = i < state->input_count;
        const struct placed_tensor *tensor = is_input ? &state->inputs[i] : &state->outputs[i - state->input_count];
        struct message_argument *argument = &load->arguments[i];
        *argument = (struct message_argument){
            .kind = is_input ? ARGUMENT_INPUT : ARGUMENT_OUTPUT,
            .dtype = (int32_t)tensor->shape.dtype,
            .rank = tensor->shape.rank,
            .offset = tensor->offset,
        };
        memcpy(argument->dims, tensor->shape.dims, sizeof argument->dims);
    }
}

const struct workload *workload_state_workload(const struct workload_state *state)
{
    return state->workload;
}

void workload_state_set_pause(struct workload_state *state, int64_t pause_ns)
{
    state->pause_ns = pause_ns;
}

int64_t workload_state_overhead_ns(const struct workload_state *state)
{
    return state->overhead_ns;
}

int workload_state_sets(const struct workload_state *state)
{
    return state->set_count;
}

int workload_state_slots(const struct workload_state *state)
{
    return state->slot_count;
}

struct reference_identity workload_state_identity(const struct workload_state *state)
{
    if (state->host)
        return (struct reference_identity){.name = "CPU reference",
                                           .algorithm = "float sums where the candidate wrote"};
    return reference_identity(state->reference);
}

struct reference_agreement workload_state_agreement(const struct workload_state *state)
{
    return state->agreement;
}

double workload_state_baseline_ms(const struct workload_state *state)
{
    return state->baseline_ms;
}

int64_t workload_state_bytes(const struct workload_state *state)
{
    return state->input_memory.bytes + state->output_memory.bytes + state->set_count * state->expected_bytes +
           state->set_bytes;
}

int workload_state_inputs_fd(const struct workload_state *state)
{
    return state->input_memory.fd;
}

int workload_state_outputs_fd(const struct workload_state *state)
{
    return state->output_memory.fd;
}
