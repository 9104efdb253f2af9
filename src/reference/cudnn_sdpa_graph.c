#include "reference/cudnn_sdpa_graph.h"

/* Shapes of one attention problem; makes tensors of them. */
struct builder {
    struct cudnn_graph *graph;
    int64_t b, h, s, d;
    enum dnn_data_type type; /* of Q, K, V, ... */
};

/* [B,H,S,D], dense. */
static dnn_descriptor rows_tensor(struct builder *at, int64_t uid, enum dnn_data_type type)
{
    return cudnn_graph_tensor(at->graph, &(struct cudnn_tensor){
                                             .uid = uid,
                                             .type = type,
                                             .dims = {at->b, at->h, at->s, at->d},
                                             .strides = {at->h * at->s * at->d, at->s * at->d, at->d, 1},
                                         });
}

/* The same memory seen as [B,H,D,S]. */
static dnn_descriptor transposed_rows_tensor(struct builder *at, int64_t uid)
{
    return cudnn_graph_tensor(at->graph, &(struct cudnn_tensor){
                                             .uid = uid,
                                             .type = at->type,
                                             .dims = {at->b, at->h, at->d, at->s},
                                             .strides = {at->h * at->s * at->d, at->s * at->d, 1, at->d},
                                         });
}

/* float32 [B,H,S,1]: one number per query. */
static dnn_descriptor column_tensor(struct builder *at, int64_t uid)
{
    return cudnn_graph_tensor(at->graph, &(struct cudnn_tensor){
                                             .uid = uid,
                                             .type = DNN_DATA_FLOAT,
                                             .dims = {at->b, at->h, at->s, 1},
                                             .strides = {at->h * at->s, at->s, 1, 1},
                                         });
}

/* Virtual [B,H,S,S]: one number per query and key. */
static dnn_descriptor scores_tensor(struct builder *at, enum dnn_data_type type)
{
    return cudnn_graph_tensor(at->graph, &(struct cudnn_tensor){
                                             .type = type,
                                             .dims = {at->b, at->h, at->s, at->s},
                                             .strides = {at->h * at->s * at->s, at->s * at->s, at->s, 1},
                                         });
}

/* Virtual [B,H,S,S] with keys as rows. */
static dnn_descriptor transposed_scores_tensor(struct builder *at)
{
    return cudnn_graph_tensor(at->graph, &(struct cudnn_tensor){
                                             .type = at->type,
                                             .dims = {at->b, at->h, at->s, at->s},
                                             .strides = {at->h * at->s * at->s, at->s * at->s, 1, at->s},
                                         });
}

/* One float32 on the host. */
static dnn_descriptor scalar_tensor(struct builder *at, int64_t uid)
{
    return cudnn_graph_tensor(at->graph, &(struct cudnn_tensor){
                                             .uid = uid,
                                             .type = DNN_DATA_FLOAT,
                                             .dims = {1, 1, 1, 1},
                                             .strides = {1, 1, 1, 1},
                                             .by_value = true,
                                         });
}

/* y = mode(x, b), computed in fp32; b may be NULL. */
static void apply(struct builder *at, enum dnn_pointwise_mode mode, dnn_descriptor x, dnn_descriptor b,
                  dnn_descriptor y)
{
    cudnn_graph_pointwise(at->graph,
                          &(struct cudnn_pointwise){.mode = mode, .compute = DNN_DATA_FLOAT, .x = x, .b = b, .y = y});
}

/* New virtual scores mode(x, b). */
static dnn_descriptor map_scores(struct builder *at, enum dnn_pointwise_mode mode, dnn_descriptor x, dnn_descriptor b,
                                 enum dnn_data_type type)
{
    dnn_descriptor y = scores_tensor(at, type);

    apply(at, mode, x, b, y);
    return y;
}

/* Scores with -infinity where the key index exceeds the query index. */
static dnn_descriptor mask_causal(struct builder *at, dnn_descriptor scores)
{
    dnn_descriptor query_index = scores_tensor(at, DNN_DATA_INT32);
    dnn_descriptor key_index = scores_tensor(at, DNN_DATA_INT32);
    dnn_descriptor visible = scores_tensor(at, DNN_DATA_BOOLEAN);
    dnn_descriptor masked = scores_tensor(at, DNN_DATA_FLOAT);
    dnn_descriptor hidden = scalar_tensor(at, SDPA_MASKED);
    const struct cudnn_pointwise operations[] = {
        {.mode = DNN_POINTWISE_GEN_INDEX, .compute = DNN_DATA_FLOAT, .axis = 2, .x = scores, .y = query_index},
        {.mode = DNN_POINTWISE_GEN_INDEX, .compute = DNN_DATA_FLOAT, .axis = 3, .x = scores, .y = key_index},
        {.mode = DNN_POINTWISE_CMP_GE, .compute = DNN_DATA_BOOLEAN, .x = query_index, .b = key_index, .y = visible},
        {.mode = DNN_POINTWISE_BINARY_SELECT,
         .compute = DNN_DATA_FLOAT,
         .x = scores,
         .b = hidden,
         .t = visible,
         .y = masked},
    };

    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        cudnn_graph_pointwise(at->graph, &operations[i]);
    return masked;
}

/* O = softmax(scale Q K^T) V, with the softmax spelled out: max, subtract, exp, sum, divide; LSE = max + log(sum).
 * cuDNN 9.19 does not recognise the pattern without LSE. */
static void describe_forward(struct builder *at, bool causal)
{
    dnn_descriptor product = scores_tensor(at, DNN_DATA_FLOAT);
    cudnn_graph_matmul(at->graph, rows_tensor(at, SDPA_Q, at->type), transposed_rows_tensor(at, SDPA_K), product);
    dnn_descriptor scores = map_scores(at, DNN_POINTWISE_MUL, product, scalar_tensor(at, SDPA_SCALE), DNN_DATA_FLOAT);
    if (causal)
        scores = mask_causal(at, scores);

    dnn_descriptor largest = column_tensor(at, 0), sum = column_tensor(at, 0);
    cudnn_graph_reduce(at->graph, DNN_REDUCE_MAX, scores, largest);
    dnn_descriptor shifted = map_scores(at, DNN_POINTWISE_SUB, scores, largest, DNN_DATA_FLOAT);
    dnn_descriptor exponentials = map_scores(at, DNN_POINTWISE_EXP, shifted, NULL, DNN_DATA_FLOAT);
    cudnn_graph_reduce(at->graph, DNN_REDUCE_ADD, exponentials, sum);
    dnn_descriptor logarithm = column_tensor(at, 0);
    apply(at, DNN_POINTWISE_LOG, sum, NULL, logarithm);
    apply(at, DNN_POINTWISE_ADD, largest, logarithm, column_tensor(at, SDPA_LSE));
    dnn_descriptor probabilities = map_scores(at, DNN_POINTWISE_DIV, exponentials, sum, at->type);
    cudnn_graph_matmul(at->graph, probabilities, rows_tensor(at, SDPA_V, at->type), rows_tensor(at, SDPA_O, at->type));
}

/* Sums over D of O * dO: what the gradient of the softmax subtracts. */
static dnn_descriptor describe_row_sums(struct builder *at, dnn_descriptor output_gradient)
{
    dnn_descriptor product = rows_tensor(at, 0, DNN_DATA_FLOAT), sum = column_tensor(at, 0);
    dnn_descriptor row_sums = column_tensor(at, SDPA_ROW_SUMS);

    apply(at, DNN_POINTWISE_MUL, output_gradient, rows_tensor(at, SDPA_O, at->type), product);
    cudnn_graph_reduce(at->graph, DNN_REDUCE_ADD, product, sum);
    /* the pattern has a dropout factor here */
    apply(at, DNN_POINTWISE_MUL, sum, scalar_tensor(at, SDPA_ONE), row_sums);
    return row_sums;
}

/* P = exp(scale Q K^T - LSE); dV = P^T dO; dS = scale P (dO V^T - row sums); dK = dS^T Q; dQ = dS K. */
static void describe_backward(struct builder *at, bool causal)
{
    dnn_descriptor q = rows_tensor(at, SDPA_Q, at->type), k_transposed = transposed_rows_tensor(at, SDPA_K);
    dnn_descriptor output_gradient = rows_tensor(at, SDPA_D_O, at->type), scale = scalar_tensor(at, SDPA_SCALE);
    dnn_descriptor row_sums = describe_row_sums(at, output_gradient);

    dnn_descriptor product = scores_tensor(at, DNN_DATA_FLOAT);
    cudnn_graph_matmul(at->graph, q, k_transposed, product);
    dnn_descriptor scores = map_scores(at, DNN_POINTWISE_MUL, product, scale, DNN_DATA_FLOAT);
    scores = map_scores(at, DNN_POINTWISE_SUB, scores, column_tensor(at, SDPA_LSE), DNN_DATA_FLOAT);
    if (causal)
        scores = mask_causal(at, scores);
    dnn_descriptor probabilities = map_scores(at, DNN_POINTWISE_EXP, scores, NULL, DNN_DATA_FLOAT);
    dnn_descriptor probabilities_transposed = transposed_scores_tensor(at);
    cudnn_graph_reshape(at->graph, probabilities, probabilities_transposed);
    cudnn_graph_matmul(at->graph, probabilities_transposed, output_gradient, rows_tensor(at, SDPA_DV, at->type));

    dnn_descriptor gradient = scores_tensor(at, DNN_DATA_FLOAT);
    cudnn_graph_matmul(at->graph, output_gradient, transposed_rows_tensor(at, SDPA_V), gradient);
    gradient = map_scores(at, DNN_POINTWISE_SUB, gradient, row_sums, DNN_DATA_FLOAT);
    gradient = map_scores(at, DNN_POINTWISE_MUL, gradient, probabilities, DNN_DATA_FLOAT);
    gradient = map_scores(at, DNN_POINTWISE_MUL, gradient, scale, at->type);
    dnn_descriptor gradient_transposed = transposed_scores_tensor(at);
    cudnn_graph_reshape(at->graph, gradient, gradient_transposed);
    cudnn_graph_matmul(at->graph, gradient_transposed, q, rows_tensor(at, SDPA_DK, at->type));

    dnn_descriptor k = rows_tensor(at, 0, at->type);
    dnn_descriptor accumulator = rows_tensor(at, SDPA_ACCUMULATOR, DNN_DATA_FLOAT);
    cudnn_graph_reshape(at->graph, k_transposed, k);
    cudnn_graph_matmul(at->graph, gradient, k, accumulator);
    apply(at, DNN_POINTWISE_IDENTITY, accumulator, NULL, rows_tensor(at, SDPA_DQ, at->type));
}

void cudnn_sdpa_describe(struct cudnn_graph *graph, const struct reference_problem *problem)
{
    struct builder at = {
        .graph = graph,
        .b = problem->batch,
        .h = problem->heads,
        .s = problem->sequence,
        .d = problem->head_dim,
        .type = problem->dtype == DTYPE_FLOAT16 ? DNN_DATA_HALF : DNN_DATA_BFLOAT16,
    };

    if (problem->kind == REFERENCE_MHA_BACKWARD)
        describe_backward(&at, problem->causal);
    else
        describe_forward(&at, problem->causal);
}

int cudnn_sdpa_tensors(const struct reference_problem *problem, int64_t ids[SDPA_TENSOR_LIMIT])
{
    int count = 0;

    for (int64_t id = SDPA_Q; id <= SDPA_LSE; id++)
        ids[count++] = id;
    if (problem->kind == REFERENCE_MHA_BACKWARD) {
        for (int64_t id = SDPA_D_O; id <= SDPA_ACCUMULATOR; id++)
            ids[count++] = id;
        ids[count++] = SDPA_ONE;
    }
    ids[count++] = SDPA_SCALE;
    if (problem->causal)
        ids[count++] = SDPA_MASKED;
    return count;
}
