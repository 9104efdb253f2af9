/*
 * Attention as a composite cuDNN operation graph: the pattern of matrix products, pointwise operations and reductions
 * that cuDNN 9 recognises and fuses. Descriptors only; no device is touched.
 *
 * Source: cuDNN 9 documentation, "Fused attention fprop/bprop" graph patterns.
 */
#ifndef PTXBENCH_REFERENCE_CUDNN_SDPA_GRAPH_H
#define PTXBENCH_REFERENCE_CUDNN_SDPA_GRAPH_H

#include "reference/cudnn_graph.h"
#include "reference/reference.h"

/* Names of the tensors in the variant pack. */
enum sdpa_tensor {
    SDPA_Q = 1, /* 0 would mean virtual */
    SDPA_K,
    SDPA_V,
    SDPA_O,
    SDPA_LSE, /* float32 [B,H,S]; the forward always writes it, into scratch when nobody wants it */
    SDPA_D_O,
    SDPA_DQ,
    SDPA_DK,
    SDPA_DV,
    SDPA_ROW_SUMS,    /* scratch of the backward: float32 [B,H,S], sums over D of O * dO */
    SDPA_ACCUMULATOR, /* scratch of the backward: float32 [B,H,S,D]; zero before every execution until 9.6 */
    SDPA_SCALE,       /* host float32: 1/sqrt(D) */
    SDPA_ONE,         /* host float32: 1 */
    SDPA_MASKED,      /* host float32: what a masked score becomes, -infinity */
    SDPA_TENSOR_LIMIT
};

/* Appends the operations of a forward or backward problem to an empty graph; errors stay in the graph. */
void cudnn_sdpa_describe(struct cudnn_graph *graph, const struct reference_problem *problem);

/* The tensors that the variant pack of this problem must name, into `ids`; returns how many. */
int cudnn_sdpa_tensors(const struct reference_problem *problem, int64_t ids[SDPA_TENSOR_LIMIT]);

#endif
