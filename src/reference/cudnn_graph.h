/*
 * Building cuDNN backend operation graphs: the library by dlopen, descriptors with one owner, and one helper per
 * operation kind. A graph keeps the first error: the helpers become no-ops after it, so that a graph reads as a list
 * of operations and is checked once.
 *
 * Source: cuDNN 9 backend API documentation.
 */
#ifndef PTXBENCH_REFERENCE_CUDNN_GRAPH_H
#define PTXBENCH_REFERENCE_CUDNN_GRAPH_H

#include <stdbool.h>

#include "base/error.h"
#include "reference/cudnn_api.h"

/* Loads libcudnn.so.9, once per process. Not thread-safe at the first call. ERROR_UNSUPPORTED with a remedy. */
MUST_CHECK bool cudnn_load(const struct cudnn_api **out, struct error *error);

/* Fills "what: status text: cuDNN's last error text" as one line; ERROR_UNSUPPORTED for the library's family of
 * "not supported" statuses, else ERROR_DEVICE. Returns false. */
bool cudnn_error(const struct cudnn_api *api, int status, const char *what, struct error *error);

enum { CUDNN_GRAPH_MAX_DESCRIPTORS = 192, CUDNN_GRAPH_MAX_OPERATIONS = 32, CUDNN_TENSOR_RANK = 4 };

struct cudnn_graph {
    const struct cudnn_api *api; /* borrowed */
    dnn_descriptor owned[CUDNN_GRAPH_MAX_DESCRIPTORS];
    int owned_count;
    dnn_descriptor operations[CUDNN_GRAPH_MAX_OPERATIONS];
    int operation_count;
    int64_t virtual_count; /* names tensors that exist inside the graph only */
    bool failed;
    struct error error; /* valid when failed */
};

struct cudnn_tensor {
    int64_t uid; /* name in the variant pack; 0: virtual, that is inside the graph only */
    enum dnn_data_type type;
    int64_t dims[CUDNN_TENSOR_RANK];
    int64_t strides[CUDNN_TENSOR_RANK]; /* in elements */
    bool by_value;                      /* the variant pack holds a host pointer to one element */
};

/* An empty graph. */
void cudnn_graph_init(struct cudnn_graph *graph, const struct cudnn_api *api);

/* Destroys every descriptor made through the graph. Usable on an empty graph. */
void cudnn_graph_free(struct cudnn_graph *graph);

/* A descriptor owned by the graph, not yet finalized; NULL after an error. For kinds without a helper below. */
dnn_descriptor cudnn_graph_create(struct cudnn_graph *graph, enum dnn_descriptor_type type);
void cudnn_graph_set(struct cudnn_graph *graph, dnn_descriptor descriptor, enum dnn_attribute attribute, int type,
                     int64_t count, const void *elements);
void cudnn_graph_set_descriptor(struct cudnn_graph *graph, dnn_descriptor descriptor, enum dnn_attribute attribute,
                                dnn_descriptor value);
void cudnn_graph_finalize(struct cudnn_graph *graph, dnn_descriptor descriptor, const char *what);

dnn_descriptor cudnn_graph_tensor(struct cudnn_graph *graph, const struct cudnn_tensor *tensor);

/* c = a * b over the last two dims, fp32 accumulation. */
void cudnn_graph_matmul(struct cudnn_graph *graph, dnn_descriptor a, dnn_descriptor b, dnn_descriptor c);

struct cudnn_pointwise {
    enum dnn_pointwise_mode mode;
    enum dnn_data_type compute;
    int64_t axis;           /* GEN_INDEX only */
    dnn_descriptor x, b, t; /* operands; b and t may be NULL. BINARY_SELECT: t ? x : b */
    dnn_descriptor y;       /* result */
};

void cudnn_graph_pointwise(struct cudnn_graph *graph, const struct cudnn_pointwise *operation);

/* y = reduction of x over the dims where y has extent 1, in fp32. */
void cudnn_graph_reduce(struct cudnn_graph *graph, enum dnn_reduction reduction, dnn_descriptor x, dnn_descriptor y);

/* y is x with other strides (a transposition). */
void cudnn_graph_reshape(struct cudnn_graph *graph, dnn_descriptor x, dnn_descriptor y);

/*
 * Finalizes the graph and asks the library's heuristics (mode A) for engine configurations, best first, at most
 * `capacity`; they are owned by the graph. `handle` names the device; tests without a GPU pass a NULL handle and a
 * finalized device-properties descriptor instead. Returns false with the first error of the graph, or with
 * ERROR_UNSUPPORTED when no engine takes it.
 */
MUST_CHECK bool cudnn_graph_configs(struct cudnn_graph *graph, dnn_handle handle, dnn_descriptor device,
                                    dnn_descriptor *configs, int capacity, int *count, struct error *error);

/* Global index of the engine behind a configuration; -1 when the library does not tell. */
int64_t cudnn_graph_engine_index(const struct cudnn_graph *graph, dnn_descriptor config);

#endif
