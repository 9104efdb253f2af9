#include "reference/cudnn_graph.h"

#include <string.h>

#include "device/dynamic.h"

bool cudnn_load(const struct cudnn_api **out, struct error *error)
{
    static struct cudnn_api api;
    static bool ready;
    void *library;

    if (!ready) {
        if (!dynamic_open(
                "libcudnn.so.9", false,
                "install cuDNN 9 for CUDA 13 (pip install nvidia-cudnn-cu13==9.20.*) or set PTXBENCH_CUDA_LIB "
                "to its folder",
                &library, error))
            return false;
#define X(function, result, parameters)                                                                                \
    if (!dynamic_symbol(library, #function, (void **)&api.function, error))                                            \
        return error_prefix(error, "libcudnn.so.9");
        CUDNN_FUNCTIONS(X)
#undef X
        api.version = api.cudnnGetVersion();
        ready = true;
    }
    *out = &api;
    return true;
}

bool cudnn_error(const struct cudnn_api *api, int status, const char *what, struct error *error)
{
    char detail[400] = ""; /* the reason comes early; what follows is the library's call stack */

    api->cudnnGetLastErrorString(detail, sizeof detail);
    detail[sizeof detail - 1] = '\0';
    for (char *at = detail; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    return error_set(error,
                     status >= DNN_NOT_SUPPORTED && status < DNN_NOT_SUPPORTED_END ? ERROR_UNSUPPORTED : ERROR_DEVICE,
                     "%s: %s%s%s", what, api->cudnnGetErrorString(status), *detail ? ": " : "", detail);
}

void cudnn_graph_init(struct cudnn_graph *graph, const struct cudnn_api *api)
{
    memset(graph, 0, sizeof *graph);
    graph->api = api;
}

void cudnn_graph_free(struct cudnn_graph *graph)
{
    /* newest first: operations before the tensors that they refer to */
    while (graph->owned_count > 0)
        (void)graph->api->cudnnBackendDestroyDescriptor(graph->owned[--graph->owned_count]);
    graph->operation_count = 0;
}

static void check(struct cudnn_graph *graph, int status, const char *what)
{
    if (status == DNN_SUCCESS || graph->failed)
        return;
    graph->failed = true;
    (void)cudnn_error(graph->api, status, what, &graph->error);
}

dnn_descriptor cudnn_graph_create(struct cudnn_graph *graph, enum dnn_descriptor_type type)
{
    dnn_descriptor descriptor = NULL;

    if (graph->failed)
        return NULL;
    if (graph->owned_count == CUDNN_GRAPH_MAX_DESCRIPTORS) {
        graph->failed = true;
        (void)error_set(&graph->error, ERROR_INTERNAL, "cuDNN graph: more than %d descriptors",
                        CUDNN_GRAPH_MAX_DESCRIPTORS);
        return NULL;
    }
    check(graph, graph->api->cudnnBackendCreateDescriptor((int)type, &descriptor), "cuDNN: create a descriptor");
    if (graph->failed)
        return NULL;
    graph->owned[graph->owned_count++] = descriptor;
    return descriptor;
}

void cudnn_graph_set(struct cudnn_graph *graph, dnn_descriptor descriptor, enum dnn_attribute attribute, int type,
                     int64_t count, const void *elements)
{
    char what[64];

    if (graph->failed)
        return;
    (void)snprintf(what, sizeof what, "cuDNN: set attribute %d", (int)attribute);
    check(graph, graph->api->cudnnBackendSetAttribute(descriptor, (int)attribute, type, count, elements), what);
}

void cudnn_graph_set_descriptor(struct cudnn_graph *graph, dnn_descriptor descriptor, enum dnn_attribute attribute,
                                dnn_descriptor value)
{
    cudnn_graph_set(graph, descriptor, attribute, DNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

void cudnn_graph_finalize(struct cudnn_graph *graph, dnn_descriptor descriptor, const char *what)
{
    if (!graph->failed)
        check(graph, graph->api->cudnnBackendFinalize(descriptor), what);
}

dnn_descriptor cudnn_graph_tensor(struct cudnn_graph *graph, const struct cudnn_tensor *tensor)
{
    const int64_t alignment = 16, first_virtual_uid = 1000;
    dnn_descriptor descriptor = cudnn_graph_create(graph, DNN_TENSOR);
    bool is_virtual = tensor->uid == 0;
    int64_t uid = is_virtual ? first_virtual_uid + graph->virtual_count++ : tensor->uid;
    int type = (int)tensor->type;

    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_DATA_TYPE, DNN_TYPE_DATA_TYPE, 1, &type);
    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_DIMENSIONS, DNN_TYPE_INT64, CUDNN_TENSOR_RANK, tensor->dims);
    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_STRIDES, DNN_TYPE_INT64, CUDNN_TENSOR_RANK, tensor->strides);
    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_UNIQUE_ID, DNN_TYPE_INT64, 1, &uid);
    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_BYTE_ALIGNMENT, DNN_TYPE_INT64, 1, &alignment);
    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_IS_VIRTUAL, DNN_TYPE_BOOLEAN, 1, &is_virtual);
    cudnn_graph_set(graph, descriptor, DNN_ATTR_TENSOR_IS_BY_VALUE, DNN_TYPE_BOOLEAN, 1, &tensor->by_value);
    cudnn_graph_finalize(graph, descriptor, "cuDNN: tensor");
    return descriptor;
}

static void add_operation(struct cudnn_graph *graph, dnn_descriptor operation, const char *what)
{
    cudnn_graph_finalize(graph, operation, what);
    if (graph->failed)
        return;
    if (graph->operation_count == CUDNN_GRAPH_MAX_OPERATIONS) {
        graph->failed = true;
        (void)error_set(&graph->error, ERROR_INTERNAL, "cuDNN graph: more than %d operations",
                        CUDNN_GRAPH_MAX_OPERATIONS);
        return;
    }
    graph->operations[graph->operation_count++] = operation;
}

void cudnn_graph_matmul(struct cudnn_graph *graph, dnn_descriptor a, dnn_descriptor b, dnn_descriptor c)
{
    const int compute = DNN_DATA_FLOAT;
    dnn_descriptor matmul = cudnn_graph_create(graph, DNN_MATMUL);

    cudnn_graph_set(graph, matmul, DNN_ATTR_MATMUL_COMP_TYPE, DNN_TYPE_DATA_TYPE, 1, &compute);
    cudnn_graph_finalize(graph, matmul, "cuDNN: matmul");

    dnn_descriptor operation = cudnn_graph_create(graph, DNN_OPERATION_MATMUL);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_MATMUL_ADESC, a);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_MATMUL_BDESC, b);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_MATMUL_CDESC, c);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_MATMUL_DESC, matmul);
    add_operation(graph, operation, "cuDNN: matmul operation");
}

void cudnn_graph_pointwise(struct cudnn_graph *graph, const struct cudnn_pointwise *operation)
{
    const int mode = (int)operation->mode, compute = (int)operation->compute;
    dnn_descriptor pointwise = cudnn_graph_create(graph, DNN_POINTWISE);

    cudnn_graph_set(graph, pointwise, DNN_ATTR_POINTWISE_MODE, DNN_TYPE_POINTWISE_MODE, 1, &mode);
    cudnn_graph_set(graph, pointwise, DNN_ATTR_POINTWISE_MATH_PREC, DNN_TYPE_DATA_TYPE, 1, &compute);
    if (operation->mode == DNN_POINTWISE_GEN_INDEX)
        cudnn_graph_set(graph, pointwise, DNN_ATTR_POINTWISE_AXIS, DNN_TYPE_INT64, 1, &operation->axis);
    cudnn_graph_finalize(graph, pointwise, "cuDNN: pointwise");

    dnn_descriptor node = cudnn_graph_create(graph, DNN_OPERATION_POINTWISE);
    cudnn_graph_set_descriptor(graph, node, DNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise);
    cudnn_graph_set_descriptor(graph, node, DNN_ATTR_OPERATION_POINTWISE_XDESC, operation->x);
    if (operation->b)
        cudnn_graph_set_descriptor(graph, node, DNN_ATTR_OPERATION_POINTWISE_BDESC, operation->b);
    if (operation->t)
        cudnn_graph_set_descriptor(graph, node, DNN_ATTR_OPERATION_POINTWISE_TDESC, operation->t);
    cudnn_graph_set_descriptor(graph, node, DNN_ATTR_OPERATION_POINTWISE_YDESC, operation->y);
    add_operation(graph, node, "cuDNN: pointwise operation");
}

void cudnn_graph_reduce(struct cudnn_graph *graph, enum dnn_reduction reduction, dnn_descriptor x, dnn_descriptor y)
{
    const int kind = (int)reduction, compute = DNN_DATA_FLOAT;
    dnn_descriptor reduce = cudnn_graph_create(graph, DNN_REDUCTION);

    cudnn_graph_set(graph, reduce, DNN_ATTR_REDUCTION_OPERATOR, DNN_TYPE_REDUCTION_OPERATOR, 1, &kind);
    cudnn_graph_set(graph, reduce, DNN_ATTR_REDUCTION_COMP_TYPE, DNN_TYPE_DATA_TYPE, 1, &compute);
    cudnn_graph_finalize(graph, reduce, "cuDNN: reduction");

    dnn_descriptor operation = cudnn_graph_create(graph, DNN_OPERATION_REDUCTION);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_REDUCTION_DESC, reduce);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    add_operation(graph, operation, "cuDNN: reduction operation");
}

void cudnn_graph_reshape(struct cudnn_graph *graph, dnn_descriptor x, dnn_descriptor y)
{
    dnn_descriptor operation = cudnn_graph_create(graph, DNN_OPERATION_RESHAPE);

    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_RESHAPE_XDESC, x);
    cudnn_graph_set_descriptor(graph, operation, DNN_ATTR_OPERATION_RESHAPE_YDESC, y);
    add_operation(graph, operation, "cuDNN: reshape operation");
}

bool cudnn_graph_configs(struct cudnn_graph *graph, dnn_handle handle, dnn_descriptor device, dnn_descriptor *configs,
                         int capacity, int *count, struct error *error)
{
    const int mode = DNN_HEUR_MODE_A;
    int64_t returned = 0;
    dnn_descriptor whole = cudnn_graph_create(graph, DNN_OPERATION_GRAPH);

    cudnn_graph_set(graph, whole, DNN_ATTR_OPERATIONGRAPH_OPS, DNN_TYPE_BACKEND_DESCRIPTOR, graph->operation_count,
                    graph->operations);
    if (handle)
        cudnn_graph_set(graph, whole, DNN_ATTR_OPERATIONGRAPH_HANDLE, DNN_TYPE_HANDLE, 1, &handle);
    cudnn_graph_finalize(graph, whole, "cuDNN: operation graph");

    dnn_descriptor heuristics = cudnn_graph_create(graph, DNN_ENGINE_HEURISTICS);
    cudnn_graph_set_descriptor(graph, heuristics, DNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, whole);
    cudnn_graph_set(graph, heuristics, DNN_ATTR_ENGINEHEUR_MODE, DNN_TYPE_HEUR_MODE, 1, &mode);
    if (device)
        cudnn_graph_set_descriptor(graph, heuristics, DNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
    cudnn_graph_finalize(graph, heuristics, "cuDNN: engine heuristics");

    for (int i = 0; i < capacity; i++)
        configs[i] = cudnn_graph_create(graph, DNN_ENGINE_CONFIG);
    if (!graph->failed)
        check(graph,
              graph->api->cudnnBackendGetAttribute(heuristics, DNN_ATTR_ENGINEHEUR_RESULTS, DNN_TYPE_BACKEND_DESCRIPTOR,
                                                   capacity, &returned, configs),
              "cuDNN: engine configurations");
    if (graph->failed) {
        *error = graph->error;
        return false;
    }
    *count = (int)(returned < capacity ? returned : capacity);
    return *count > 0 || cudnn_error(graph->api, DNN_NOT_SUPPORTED, "cuDNN: no engine takes this graph", error);
}

int64_t cudnn_graph_engine_index(const struct cudnn_graph *graph, dnn_descriptor config)
{
    dnn_descriptor engine = NULL;
    int64_t index = -1, count = 0;

    if (graph->api->cudnnBackendCreateDescriptor(DNN_ENGINE, &engine) != DNN_SUCCESS)
        return -1;
    if (graph->api->cudnnBackendGetAttribute(config, DNN_ATTR_ENGINECFG_ENGINE, DNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                             &engine) != DNN_SUCCESS ||
        graph->api->cudnnBackendGetAttribute(engine, DNN_ATTR_ENGINE_GLOBAL_INDEX, DNN_TYPE_INT64, 1, &count, &index) !=
            DNN_SUCCESS)
        index = -1;
    (void)graph->api->cudnnBackendDestroyDescriptor(engine);
    return index;
}
