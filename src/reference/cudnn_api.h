/*
 * The part of the cuDNN 9 backend ABI that attention graphs need, so that building needs no cuDNN header.
 * Facts: cuDNN 9 backend API documentation and ABI; tests/unit/reference/test_api_values.c compares every value with
 * the real header where there is one.
 */
#ifndef PTXBENCH_REFERENCE_CUDNN_API_H
#define PTXBENCH_REFERENCE_CUDNN_API_H

#include <stddef.h>
#include <stdint.h>

typedef void *dnn_handle;
typedef void *dnn_descriptor;
typedef void *dnn_stream; /* cudaStream_t and CUstream are the same object */

enum {
    DNN_SUCCESS = 0,
    DNN_NOT_SUPPORTED = 3000, /* first of a family of a thousand */
    DNN_NOT_SUPPORTED_END = 4000,

    DNN_TYPE_HANDLE = 0,
    DNN_TYPE_DATA_TYPE = 1,
    DNN_TYPE_BOOLEAN = 2,
    DNN_TYPE_INT64 = 3,
    DNN_TYPE_VOID_PTR = 6,
    DNN_TYPE_HEUR_MODE = 8,
    DNN_TYPE_POINTWISE_MODE = 14,
    DNN_TYPE_BACKEND_DESCRIPTOR = 15,
    DNN_TYPE_REDUCTION_OPERATOR = 18,
    DNN_TYPE_CHAR = 24,
};

enum dnn_data_type {
    DNN_DATA_FLOAT = 0,
    DNN_DATA_HALF = 2,
    DNN_DATA_INT32 = 4,
    DNN_DATA_BFLOAT16 = 9,
    DNN_DATA_BOOLEAN = 11,
};

enum dnn_descriptor_type {
    DNN_POINTWISE = 0,
    DNN_ENGINE = 2,
    DNN_ENGINE_CONFIG = 3,
    DNN_ENGINE_HEURISTICS = 4,
    DNN_EXECUTION_PLAN = 5,
    DNN_OPERATION_POINTWISE = 13,
    DNN_OPERATION_GRAPH = 15,
    DNN_VARIANT_PACK = 16,
    DNN_TENSOR = 17,
    DNN_MATMUL = 18,
    DNN_OPERATION_MATMUL = 19,
    DNN_REDUCTION = 21,
    DNN_OPERATION_REDUCTION = 22,
    DNN_OPERATION_RESHAPE = 31,
    DNN_DEVICE_PROPERTIES = 38,
};

enum dnn_attribute {
    DNN_ATTR_POINTWISE_MODE = 0,
    DNN_ATTR_POINTWISE_MATH_PREC = 1,
    DNN_ATTR_POINTWISE_AXIS = 9,
    DNN_ATTR_ENGINEHEUR_MODE = 200,
    DNN_ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
    DNN_ATTR_ENGINEHEUR_RESULTS = 202,
    DNN_ATTR_ENGINEHEUR_DEVICEPROP = 204,
    DNN_ATTR_ENGINECFG_ENGINE = 300,
    DNN_ATTR_EXECUTION_PLAN_HANDLE = 400,
    DNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG = 401,
    DNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE = 402,
    DNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR = 750,
    DNN_ATTR_OPERATION_POINTWISE_XDESC = 751,
    DNN_ATTR_OPERATION_POINTWISE_BDESC = 752,
    DNN_ATTR_OPERATION_POINTWISE_YDESC = 753,
    DNN_ATTR_OPERATION_POINTWISE_TDESC = 758,
    DNN_ATTR_OPERATIONGRAPH_HANDLE = 800,
    DNN_ATTR_OPERATIONGRAPH_OPS = 801,
    DNN_ATTR_TENSOR_BYTE_ALIGNMENT = 900,
    DNN_ATTR_TENSOR_DATA_TYPE = 901,
    DNN_ATTR_TENSOR_DIMENSIONS = 902,
    DNN_ATTR_TENSOR_STRIDES = 903,
    DNN_ATTR_TENSOR_UNIQUE_ID = 906,
    DNN_ATTR_TENSOR_IS_VIRTUAL = 907,
    DNN_ATTR_TENSOR_IS_BY_VALUE = 908,
    DNN_ATTR_VARIANT_PACK_UNIQUE_IDS = 1000,
    DNN_ATTR_VARIANT_PACK_DATA_POINTERS = 1001,
    DNN_ATTR_VARIANT_PACK_WORKSPACE = 1003,
    DNN_ATTR_ENGINE_GLOBAL_INDEX = 1301,
    DNN_ATTR_MATMUL_COMP_TYPE = 1500,
    DNN_ATTR_OPERATION_MATMUL_ADESC = 1520,
    DNN_ATTR_OPERATION_MATMUL_BDESC = 1521,
    DNN_ATTR_OPERATION_MATMUL_CDESC = 1522,
    DNN_ATTR_OPERATION_MATMUL_DESC = 1523,
    DNN_ATTR_REDUCTION_OPERATOR = 1600,
    DNN_ATTR_REDUCTION_COMP_TYPE = 1601,
    DNN_ATTR_OPERATION_REDUCTION_XDESC = 1610,
    DNN_ATTR_OPERATION_REDUCTION_YDESC = 1611,
    DNN_ATTR_OPERATION_REDUCTION_DESC = 1612,
    DNN_ATTR_OPERATION_RESHAPE_XDESC = 2200,
    DNN_ATTR_OPERATION_RESHAPE_YDESC = 2201,
    DNN_ATTR_DEVICEPROP_JSON = 2702,
};

enum dnn_pointwise_mode {
    DNN_POINTWISE_ADD = 0,
    DNN_POINTWISE_MUL = 1,
    DNN_POINTWISE_DIV = 6,
    DNN_POINTWISE_SUB = 9,
    DNN_POINTWISE_EXP = 13,
    DNN_POINTWISE_LOG = 15,
    DNN_POINTWISE_IDENTITY = 21,
    DNN_POINTWISE_CMP_GE = 303,
    DNN_POINTWISE_GEN_INDEX = 501,
    DNN_POINTWISE_BINARY_SELECT = 601,
};

enum dnn_reduction { DNN_REDUCE_ADD = 0, DNN_REDUCE_MAX = 3 };

enum { DNN_HEUR_MODE_A = 3 };

/* function, result, parameters */
#define CUDNN_FUNCTIONS(X)                                                                                             \
    X(cudnnGetVersion, size_t, (void))                                                                                 \
    X(cudnnGetErrorString, const char *, (int))                                                                        \
    X(cudnnGetLastErrorString, void, (char *message, size_t size))                                                     \
    X(cudnnCreate, int, (dnn_handle *))                                                                                \
    X(cudnnDestroy, int, (dnn_handle))                                                                                 \
    X(cudnnSetStream, int, (dnn_handle, dnn_stream))                                                                   \
    X(cudnnBackendCreateDescriptor, int, (int type, dnn_descriptor *))                                                 \
    X(cudnnBackendDestroyDescriptor, int, (dnn_descriptor))                                                            \
    X(cudnnBackendFinalize, int, (dnn_descriptor))                                                                     \
    X(cudnnBackendSetAttribute, int, (dnn_descriptor, int attribute, int type, int64_t count, const void *elements))   \
    X(cudnnBackendGetAttribute, int,                                                                                   \
      (dnn_descriptor, int attribute, int type, int64_t requested, int64_t *count, void *elements))                    \
    X(cudnnBackendExecute, int, (dnn_handle, dnn_descriptor plan, dnn_descriptor variant_pack))

struct cudnn_api {
#define X(name, result, parameters) result(*name) parameters;
    CUDNN_FUNCTIONS(X)
#undef X
    size_t version; /* 91900 for 9.19.0 */
};

#endif
