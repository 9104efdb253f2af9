/* Host buffers of a workload, and the choice of the CPU operator for a definition. */
#include <stdlib.h>
#include <string.h>

#include "reference/cpu_reference.h"
#include "trace/convert.h"
#include "trace/random.h"
#include "trace/safetensors.h"

/* A tensor that an operation must declare. */
struct expected {
    const char *name;
    enum dtype dtype;
    int rank;
};

struct signature {
    enum cpu_operation operation;
    struct expected inputs[6];
    size_t input_count;
    struct expected outputs[3];
    size_t output_count;
};

#define ATTENTION(name)                                                                                                \
    {                                                                                                                  \
        name, DTYPE_BFLOAT16, 4                                                                                        \
    }

static const struct signature signatures[] = {
    {CPU_GEMM, {{"A", DTYPE_BFLOAT16, 2}, {"B", DTYPE_BFLOAT16, 2}}, 2, {{"C", DTYPE_BFLOAT16, 2}}, 1},
    {CPU_MHA_FORWARD,
     {ATTENTION("Q"), ATTENTION("K"), ATTENTION("V")},
     3,
     {ATTENTION("O"), {"LSE", DTYPE_FLOAT32, 3}},
     2},
    {CPU_MHA_BACKWARD,
     {ATTENTION("Q"), ATTENTION("K"), ATTENTION("V"), ATTENTION("O"), ATTENTION("dO"), {"L", DTYPE_FLOAT32, 3}},
     6,
     {ATTENTION("dQ"), ATTENTION("dK"), ATTENTION("dV")},
     3},
};

static bool tensors_match(const struct tensor_spec *specs, size_t count, const struct expected *expected,
                          size_t expected_count)
{
    if (count != expected_count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(specs[i].name, expected[i].name) != 0 || specs[i].dtype != expected[i].dtype || specs[i].scalar ||
            specs[i].rank != expected[i].rank)
            return false;
    return true;
}

/* C[M, N] = A[M, K] B[N, K]^T; Q, K, V and O of one shape. */
static bool axes_match(const struct definition *definition, enum cpu_operation operation)
{
    const struct tensor_spec *in = definition->inputs;
    const struct tensor_spec *out = definition->outputs;

    if (operation == CPU_GEMM)
        return in[0].axes[1] == in[1].axes[1] && out[0].axes[0] == in[0].axes[0] && out[0].axes[1] == in[1].axes[0];
    for (size_t i = 0; i < definition->input_count + definition->output_count; i++) {
        const struct tensor_spec *spec = i < definition->input_count ? &in[i] : &out[i - definition->input_count];
        if (memcmp(spec->axes, in[0].axes, (size_t)spec->rank * sizeof *spec->axes) != 0)
            return false;
    }
    return true;
}

enum cpu_operation cpu_reference_classify(const struct definition *definition)
{
    for (size_t i = 0; i < ARRAY_LEN(signatures); i++)
        if (tensors_match(definition->inputs, definition->input_count, signatures[i].inputs,
                          signatures[i].input_count) &&
            tensors_match(definition->outputs, definition->output_count, signatures[i].outputs,
                          signatures[i].output_count))
            return axes_match(definition, signatures[i].operation) ? signatures[i].operation : CPU_OTHER;
    return CPU_OTHER;
}

bool cpu_reference_is_causal(const struct definition *definition)
{
    static const char suffix[] = "_causal";
    size_t length = strlen(definition->name);

    return definition_has_tag(definition, "causal") ||
           (length >= sizeof suffix - 1 && !strcmp(definition->name + length - (sizeof suffix - 1), suffix));
}

static int64_t dim_of(const struct workload *workload, const struct tensor_spec *spec, int index)
{
    return workload->axes[spec->axes[index]];
}

/* Shape of attention from a tensor [B, H, S, D]. */
static struct cpu_attention attention_of(const struct workload *workload, const struct tensor_spec *query)
{
    return (struct cpu_attention){
        .batch = dim_of(workload, query, 0),
        .heads = dim_of(workload, query, 1),
        .length = dim_of(workload, query, 2),
        .dim = dim_of(workload, query, 3),
        .causal = cpu_reference_is_causal(workload->definition),
    };
}

struct cpu_attention cpu_reference_attention(const struct workload *workload)
{
    return attention_of(workload, &workload->definition->inputs[0]);
}

static bool allocate(const struct workload *workload, const struct tensor_spec *specs, size_t count, void ***out,
                     struct error *error)
{
    void **buffers = calloc(count + 1, sizeof *buffers);

    if (!buffers)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", workload->definition->name);
    for (size_t i = 0; i < count; i++) {
        struct tensor_shape shape;
        if (!workload_tensor_shape(workload, &specs[i], &shape, error)) {
            cpu_reference_free(buffers, count);
            return false;
        }
        /* an element more, so that empty tensors have an address */
        buffers[i] = calloc(1, (size_t)tensor_bytes(&shape) + sizeof(double));
        if (!buffers[i]) {
            cpu_reference_free(buffers, count);
            return error_set(error, ERROR_MEMORY, "%s: no memory for %s (%lld bytes)", workload->definition->name,
                             specs[i].name, (long long)tensor_bytes(&shape));
        }
    }
    *out = buffers;
    return true;
}

static bool load_stored(const struct workload_input *input, const struct tensor_shape *shape, void *buffer,
                        struct error *error)
{
    AUTO_SAFETENSORS *file = NULL;
    const struct safetensors_tensor *tensor;

    if (!safetensors_open(input->path, &file, error) ||
        !safetensors_get(file, input->tensor_key, shape, &tensor, error))
        return false;
    memcpy(buffer, tensor->data, (size_t)tensor->bytes);
    return true;
}

static bool fill_input(const struct workload *workload, size_t index, const float *table, uint64_t seed, void *buffer,
                       struct error *error)
{
    const struct tensor_spec *spec = &workload->definition->inputs[index];
    const struct workload_input *input = &workload->inputs[index];
    struct tensor_shape shape;

    if (!workload_tensor_shape(workload, spec, &shape, error))
        return false;
    switch (input->kind) {
    case INPUT_RANDOM:
        random_fill(table, spec->dtype, seed, index, 0, (size_t)tensor_elements(&shape), buffer);
        break;
    case INPUT_SCALAR:
        if (spec->dtype == DTYPE_INT64)
            memcpy(buffer, &input->integer, sizeof input->integer);
        else
            tensor_store(spec->dtype, buffer, 0, input->real);
        break;
    case INPUT_SAFETENSORS:
        return load_stored(input, &shape, buffer, error);
    case INPUT_DERIVED:
        break; /* after all others */
    }
    return true;
}

static bool refuse_derived(const struct workload *workload, const struct workload_input *input, struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "%s: input \"%s\" is derived from \"%s\" (output \"%s\"), which this "
                     "program cannot compute here",
                     workload->definition->name, input->name, input->from, input->output);
}

/* Runs the forward pass once for all inputs that are its outputs. */
static bool derive_inputs(const struct workload *workload, void *const *buffers, struct error *error)
{
    const struct definition *definition = workload->definition;
    int o = -1;
    int lse = -1;

    for (size_t i = 0; i < definition->input_count; i++) {
        const struct workload_input *input = &workload->inputs[i];
        if (input->kind != INPUT_DERIVED)
            continue;
        if (strcmp(input->from, "mha_with_lse") != 0 || cpu_reference_classify(definition) != CPU_MHA_BACKWARD)
            return refuse_derived(workload, input, error);
        if (!strcmp(input->name, "O") && !strcmp(input->output, "O"))
            o = (int)i;
        else if (!strcmp(input->name, "L") && (!strcmp(input->output, "LSE") || !strcmp(input->output, "L")))
            lse = (int)i;
        else
            return refuse_derived(workload, input, error);
    }
    if (o < 0 && lse < 0)
        return true;
    if ((o < 0) != (lse < 0))
        return refuse_derived(workload, &workload->inputs[o < 0 ? lse : o], error);
    struct cpu_attention shape = attention_of(workload, &definition->inputs[0]);
    cpu_mha_forward(&shape, buffers[0], buffers[1], buffers[2], buffers[o], buffers[lse]);
    return true;
}

bool cpu_reference_fill_inputs(const struct workload *workload, uint64_t seed, void *const *buffers,
                               struct error *error)
{
    AUTO_FREE float *table = malloc(RANDOM_TABLE_SIZE * sizeof *table);

    if (!table)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", workload->definition->name);
    random_normal_table(table);
    for (size_t i = 0; i < workload->definition->input_count; i++)
        if (!fill_input(workload, i, table, seed, buffers[i], error))
            return false;
    return derive_inputs(workload, buffers, error);
}

bool cpu_reference_inputs(const struct workload *workload, uint64_t seed, void ***out, struct error *error)
{
    const struct definition *definition = workload->definition;
    void **buffers;

    if (!allocate(workload, definition->inputs, definition->input_count, &buffers, error))
        return false;
    if (!cpu_reference_fill_inputs(workload, seed, buffers, error)) {
        cpu_reference_free(buffers, definition->input_count);
        return false;
    }
    *out = buffers;
    return true;
}

bool cpu_reference_outputs(const struct workload *workload, void *const *in, void ***out, struct error *error)
{
    const struct definition *definition = workload->definition;
    enum cpu_operation operation = cpu_reference_classify(definition);
    struct cpu_attention shape;
    void **made;

    if (operation == CPU_OTHER)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s: there is no CPU reference for op_type \"%s\" with these "
                         "inputs and outputs",
                         definition->name, definition->op_type);
    if (!allocate(workload, definition->outputs, definition->output_count, &made, error))
        return false;
    if (operation == CPU_GEMM) {
        cpu_gemm(in[0], in[1], made[0], dim_of(workload, &definition->inputs[0], 0),
                 dim_of(workload, &definition->inputs[1], 0), dim_of(workload, &definition->inputs[0], 1));
    } else {
        shape = attention_of(workload, &definition->inputs[0]);
        if (operation == CPU_MHA_FORWARD)
            cpu_mha_forward(&shape, in[0], in[1], in[2], made[0], made[1]);
        else
            cpu_mha_backward(&shape, in[0], in[1], in[2], in[3], in[4], in[5], made[0], made[1], made[2]);
    }
    *out = made;
    return true;
}

void cpu_reference_free(void **buffers, size_t count)
{
    if (!buffers)
        return;
    for (size_t i = 0; i < count; i++)
        free(buffers[i]);
    free(buffers);
}

double cpu_reference_work(const struct workload *workload)
{
    const struct tensor_spec *in = workload->definition->inputs;
    enum cpu_operation operation = cpu_reference_classify(workload->definition);

    if (operation == CPU_OTHER)
        return 0;
    if (operation == CPU_GEMM)
        return (double)dim_of(workload, &in[0], 0) * (double)dim_of(workload, &in[1], 0) *
               (double)dim_of(workload, &in[0], 1);
    struct cpu_attention shape = attention_of(workload, &in[0]);
    double product = (double)(shape.batch * shape.heads) * (double)shape.length * (double)shape.length *
                     (double)shape.dim * (shape.causal ? 0.5 : 1);
    return product * (operation == CPU_MHA_FORWARD ? 2 : 7);
}
