/* The rest of the runtime API that needs no kernel: device, errors, streams, events, symbols, entry points. */
#include "check.h"

#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

__device__ int table[4] = {1, 2, 3, 4};
__constant__ float scale[2];
__managed__ int counter = 7;

static void check_device()
{
    cudaDeviceProp p;
    int value = 0;

    check(cudaGetDeviceCount(&value) == cudaSuccess && value == 1, "one device");
    check(cudaGetDeviceProperties(&p, 0) == cudaSuccess && p.major == 9 && p.minor == 0, "compute capability 9.0");
    check(p.multiProcessorCount == 132 && p.sharedMemPerBlockOptin == 232448 && p.clusterLaunch == 1 &&
              p.warpSize == 32 && p.l2CacheSize == 50 << 20,
          "an H100's limits");
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess && value == 132,
          "an attribute");
    check(cudaDriverGetVersion(&value) == cudaSuccess && value == 13000 &&
              cudaRuntimeGetVersion(&value) == cudaSuccess && value == 13000,
          "versions");
}

static void check_errors()
{
    cudaGraph_t graph;

    check(cudaSetDevice(1) == cudaErrorInvalidDevice, "there is no second device");
    check(cudaPeekAtLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice &&
              cudaGetLastError() == cudaSuccess,
          "the last error is told once");
    check(!std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") &&
              !std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered"),
          "names");
    check(cudaGraphCreate(&graph, 0) == cudaErrorNotSupported, "graphs are refused");
}

static void check_streams()
{
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaStreamCaptureStatus capture;
    unsigned flags = 0;
    float ms = -1;

    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
              cudaStreamGetFlags(stream, &flags) == cudaSuccess && flags == cudaStreamNonBlocking,
          "a stream");
    check(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess &&
              cudaEventElapsedTime(&ms, begin, end) == cudaErrorInvalidResourceHandle,
          "events that were not recorded have no time");
    check(cudaEventRecord(begin, stream) == cudaSuccess && cudaEventRecord(end, stream) == cudaSuccess &&
              cudaEventSynchronize(end) == cudaSuccess && cudaEventElapsedTime(&ms, begin, end) == cudaSuccess &&
              ms > 0,
          "time passes");
    check(cudaStreamIsCapturing(stream, &capture) == cudaSuccess && capture == cudaStreamCaptureStatusNone,
          "nothing is captured");
    check(cudaStreamWaitEvent(stream, end, 0) == cudaSuccess && cudaStreamQuery(stream) == cudaSuccess, "wait");
    check(cudaStreamDestroy(stream) == cudaSuccess && cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle,
          "a destroyed stream is known as such");
}

static void check_symbols()
{
    int values[4] = {0}, value = 20;
    float scales[2] = {2, 3}, read[2] = {0};
    void *address;
    size_t bytes;

    check(cudaMemcpyFromSymbol(values, table, sizeof values) == cudaSuccess && values[0] == 1 && values[3] == 4,
          "initialised variable");
    check(cudaMemcpyToSymbol(table, &value, 4, 4) == cudaSuccess &&
              cudaMemcpyFromSymbol(values, table, sizeof values) == cudaSuccess && values[0] == 1 && values[1] == 20,
          "with an offset");
    check(cudaMemcpyToSymbol(scale, scales, sizeof scales) == cudaSuccess &&
              cudaMemcpyFromSymbol(read, scale, sizeof read) == cudaSuccess && read[1] == 3,
          "constant memory");
    check(cudaGetSymbolAddress(&address, table) == cudaSuccess && cudaGetSymbolSize(&bytes, table) == cudaSuccess &&
              bytes == 16,
          "address and size");
    check(cudaMemcpyToSymbol(table, values, 16, 4) == cudaErrorInvalidValue, "beyond a symbol");
    check(cudaGetSymbolAddress(&address, values) == cudaErrorInvalidSymbol, "what is no symbol");
    check(counter == 7, "managed variable");
}

static void check_entry_points()
{
    cudaDriverEntryPointQueryResult found;
    CUdeviceptr address = 0;
    void *entry = nullptr;

    check(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &found) == cudaSuccess &&
              entry && found == cudaDriverEntryPointSuccess,
          "an entry point of the driver");
    check(((CUresult(*)(CUdeviceptr *, size_t))entry)(&address, 64) == CUDA_SUCCESS &&
              cudaFree((void *)address) == cudaSuccess,
          "works");
    check(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &entry, 12000, cudaEnableDefault, &found) == cudaSuccess &&
              !entry && found == cudaDriverEntryPointSymbolNotFound,
          "one that does not exist");
}

static void check_tensor_maps()
{
    cudaDriverEntryPointQueryResult found;
    void *entry = nullptr, *memory;
    alignas(64) CUtensorMap map;
    cuuint64_t dims[2] = {64, 64}, strides[1] = {128};
    cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};

    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) ==
                  cudaSuccess &&
              entry && cudaMalloc(&memory, 64 * 128) == cudaSuccess,
          "the encoder of tensor maps");
    auto encode = (decltype(&cuTensorMapEncodeTiled))entry;
    check(encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, memory, dims, strides, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS,
          "a good map");
    box[0] = 128;
    check(encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, memory, dims, strides, box, steps,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_ERROR_INVALID_VALUE,
          "a box wider than its swizzle");
}

int main()
{
    check_device();
    check_errors();
    check_streams();
    check_symbols();
    check_entry_points();
    check_tensor_maps();
    return check_failed != 0;
}
