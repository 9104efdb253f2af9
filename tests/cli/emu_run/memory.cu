/* Memory of the runtime API: no kernel runs here. */
#include "check.h"

#include <cstring>
#include <cuda_runtime.h>

constexpr size_t BYTES = 256;
static char host[BYTES], back[BYTES];

static bool read_back(const void *device)
{
    return cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost) == cudaSuccess;
}

static void check_copies(char *a, char *b)
{
    check(read_back(a) && back[0] == (char)0xff, "fresh memory is poisoned");
    check(cudaMemcpy(a, host, BYTES, cudaMemcpyHostToDevice) == cudaSuccess &&
              cudaMemcpy(b, a, BYTES, cudaMemcpyDeviceToDevice) == cudaSuccess &&
              cudaMemcpy(back, b, BYTES, cudaMemcpyDefault) == cudaSuccess && !std::memcmp(host, back, BYTES),
          "to the device, on it, and back");
    check(cudaMemcpy(a, host, BYTES + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "a copy out of bounds");
    check(cudaMemcpy(host, host, 16, cudaMemcpyHostToDevice) == cudaErrorInvalidValue,
          "host memory is no device memory");
    check(cudaMemcpy(a, host, 16, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection, "a direction that is none");
    check(cudaMemset(a, 3, BYTES) == cudaSuccess && read_back(a) && back[BYTES - 1] == 3, "set");
    check(cudaMemcpy2D(a, 32, host, 64, 16, 4, cudaMemcpyHostToDevice) == cudaSuccess && read_back(a) &&
              back[32] == 64 && back[16] == 3,
          "rows");
    check(cudaMemset2D(a, 64, 9, 8, 4) == cudaSuccess && read_back(a) && back[64] == 9 && back[72] != 9, "set rows");
    check(cudaMemset(a, 0, BYTES + 1) == cudaErrorInvalidValue, "a set out of bounds");
}

static void check_pointers(char *device)
{
    cudaPointerAttributes found;
    char *pinned;

    check(cudaPointerGetAttributes(&found, device) == cudaSuccess && found.type == cudaMemoryTypeDevice, "device");
    check(cudaPointerGetAttributes(&found, host) == cudaSuccess && found.type == cudaMemoryTypeUnregistered, "host");
    check(cudaMallocHost(&pinned, 4096) == cudaSuccess && cudaPointerGetAttributes(&found, pinned) == cudaSuccess &&
              found.type == cudaMemoryTypeHost,
          "pinned");
    check(cudaFree(pinned) == cudaErrorInvalidValue && cudaFreeHost(pinned) == cudaSuccess, "which has its own free");
}

static void check_frees(char *a, char *b)
{
    void *pooled;
    cudaMemPool_t pool;

    check(cudaFree(b) == cudaSuccess && cudaFree(b) == cudaErrorInvalidValue && cudaFree(nullptr) == cudaSuccess,
          "free once");
    check(cudaFree(a + 8) == cudaErrorInvalidValue, "free of an inner address");
    check(cudaMemcpy(back, b, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "a copy of freed memory");
    check(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess &&
              cudaMallocFromPoolAsync(&pooled, 64, pool, 0) == cudaSuccess && cudaFreeAsync(pooled, 0) == cudaSuccess,
          "from a pool");
    check(cudaMemcpy(back, pooled, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue, "freed in stream order");
}

static void check_limits()
{
    size_t before, after, total;
    void *block;

    check(cudaMemGetInfo(&before, &total) == cudaSuccess && cudaMalloc(&block, 1 << 20) == cudaSuccess &&
              cudaMemGetInfo(&after, &total) == cudaSuccess && before - after == 1 << 20 &&
              cudaFree(block) == cudaSuccess,
          "free memory is counted");
    check(cudaMalloc(&block, (size_t)1 << 45) == cudaErrorMemoryAllocation, "out of memory");
    check(cudaGetLastError() == cudaErrorMemoryAllocation && cudaMalloc(&block, 0) == cudaSuccess && !block,
          "and what follows works");
}

int main()
{
    char *a = nullptr, *b = nullptr;

    for (size_t i = 0; i < BYTES; i++) {
        host[i] = (char)i;
    }
    check(cudaMalloc(&a, BYTES) == cudaSuccess && cudaMalloc(&b, BYTES) == cudaSuccess && (size_t)a % 256 == 0,
          "two allocations");
    check_copies(a, b);
    check_pointers(a);
    check_frees(a, b);
    check_limits();
    return check_failed != 0;
}
