/* Copies and fills of the runtime API. */
#include "emu/shim/runtime.h"

/* The sides that a direction states. The 2D and symbol functions below share it. */
static bool sides_of(enum cudaMemcpyKind kind, struct shim_copy *copy)
{
    switch (kind) {
    case cudaMemcpyHostToHost:
        copy->to_side = copy->from_side = SHIM_HOST;
        return true;
    case cudaMemcpyHostToDevice:
        copy->to_side = SHIM_DEVICE;
        copy->from_side = SHIM_HOST;
        return true;
    case cudaMemcpyDeviceToHost:
        copy->to_side = SHIM_HOST;
        copy->from_side = SHIM_DEVICE;
        return true;
    case cudaMemcpyDeviceToDevice:
        copy->to_side = copy->from_side = SHIM_DEVICE;
        return true;
    case cudaMemcpyDefault:
        copy->to_side = copy->from_side = SHIM_EITHER;
        return true;
    }
    return false;
}

static cudaError_t copy_rows(const char *call, bool waits, cudaStream_t stream, struct shim_copy copy,
                             enum cudaMemcpyKind kind)
{
    RUNTIME_ENTER(waits);
    RUNTIME_STREAM(stream);
    if (!sides_of(kind, &copy))
        return runtime_return(cudaErrorInvalidMemcpyDirection);
    return runtime_return(shim_copy(call, &copy));
}

static struct shim_copy line(void *to, const void *from, size_t bytes)
{
    return (struct shim_copy){.to = to, .from = from, .width = bytes, .height = 1};
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return copy_rows("cudaMemcpy", true, NULL, line(to, from, bytes), kind);
}
PER_THREAD(cudaMemcpy, _ptds);

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rows("cudaMemcpyAsync", false, stream, line(to, from, bytes), kind);
}
PER_THREAD(cudaMemcpyAsync, _ptsz);

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (to_device || from_device)
        return runtime_return(cudaErrorInvalidDevice);
    return copy_rows("cudaMemcpyPeer", true, NULL, line(to, from, bytes), cudaMemcpyDeviceToDevice);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    const struct shim_copy copy = {
        .to = to, .from = from, .to_pitch = to_pitch, .from_pitch = from_pitch, .width = width, .height = height};

    if (to_pitch < width || from_pitch < width)
        return runtime_return(cudaErrorInvalidPitchValue);
    return copy_rows("cudaMemcpy2D", true, NULL, copy, kind);
}
PER_THREAD(cudaMemcpy2D, _ptds);

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const struct shim_copy copy = {
        .to = to, .from = from, .to_pitch = to_pitch, .from_pitch = from_pitch, .width = width, .height = height};

    if (to_pitch < width || from_pitch < width)
        return runtime_return(cudaErrorInvalidPitchValue);
    return copy_rows("cudaMemcpy2DAsync", false, stream, copy, kind);
}
PER_THREAD(cudaMemcpy2DAsync, _ptsz);

/* Address inside a device variable; the range must lie in it. */
static int symbol_range(const void *symbol, size_t offset, size_t bytes, char **out)
{
    void *address;
    size_t size;
    int code = runtime_variable(symbol, &address, &size);

    if (code)
        return code;
    if (offset > size || bytes > size - offset)
        return cudaErrorInvalidValue;
    *out = (char *)address + offset;
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(const char *call, bool waits, const void *symbol, const void *from, size_t bytes,
                                  size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    char *to;

    RUNTIME_ENTER(waits);
    int code = symbol_range(symbol, offset, bytes, &to);
    return code ? runtime_return(code) : copy_rows(call, waits, stream, line(to, from, bytes), kind);
}

static cudaError_t copy_from_symbol(const char *call, bool waits, void *to, const void *symbol, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    char *from;

    RUNTIME_ENTER(waits);
    int code = symbol_range(symbol, offset, bytes, &from);
    return code ? runtime_return(code) : copy_rows(call, waits, stream, line(to, from, bytes), kind);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    return copy_to_symbol("cudaMemcpyToSymbol", true, symbol, from, bytes, offset, kind, NULL);
}
PER_THREAD(cudaMemcpyToSymbol, _ptds);

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to_symbol("cudaMemcpyToSymbolAsync", false, symbol, from, bytes, offset, kind, stream);
}
PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz);

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    return copy_from_symbol("cudaMemcpyFromSymbol", true, to, symbol, bytes, offset, kind, NULL);
}
PER_THREAD(cudaMemcpyFromSymbol, _ptds);

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from_symbol("cudaMemcpyFromSymbolAsync", false, to, symbol, bytes, offset, kind, stream);
}
PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz);

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    size_t unused;

    RUNTIME_ENTER(false);
    return runtime_return(runtime_variable(symbol, address, &unused));
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    void *unused;

    RUNTIME_ENTER(false);
    return runtime_return(runtime_variable(symbol, &unused, bytes));
}

static cudaError_t fill(const char *call, void *to, size_t pitch, int value, size_t width, size_t height,
                        cudaStream_t stream)
{
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    return runtime_return(shim_fill(call, to, pitch, (uint32_t)value, 1, width, height));
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return fill("cudaMemset", to, 0, value, bytes, 1, NULL);
}
PER_THREAD(cudaMemset, _ptds);

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill("cudaMemsetAsync", to, 0, value, bytes, 1, stream);
}
PER_THREAD(cudaMemsetAsync, _ptsz);

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill("cudaMemset2D", to, pitch, value, width, height, NULL);
}
PER_THREAD(cudaMemset2D, _ptds);

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return fill("cudaMemset2DAsync", to, pitch, value, width, height, stream);
}
PER_THREAD(cudaMemset2DAsync, _ptsz);
