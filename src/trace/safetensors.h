/*
 * safetensors files: u64 little-endian header length, JSON header, raw data.
 * Format: https://github.com/huggingface/safetensors#format.
 *
 * Reading maps the file and checks everything before it hands out a pointer: header cap 100 MB, offsets within the
 * data, size = shape x dtype, no overlaps. Gaps, and data that is not aligned, are tolerated; `data` may therefore be
 * unaligned. A Git LFS pointer in place of the data is reported as such.
 */
#ifndef PTXBENCH_TRACE_SAFETENSORS_H
#define PTXBENCH_TRACE_SAFETENSORS_H

#include "base/error.h"
#include "base/json.h"
#include "trace/dtype.h"

struct safetensors;

struct safetensors_tensor {
    const char *name;
    bool supported;         /* false: a dtype that we do not compute with (F64, U8, ...); shape.dtype is not set */
    const char *dtype_text; /* as in the file */
    struct tensor_shape shape;
    const void *data; /* in the mapping; may be unaligned */
    int64_t bytes;
};

/* Maps and checks a file. The file must not shrink while it is open. */
MUST_CHECK bool safetensors_open(const char *path, struct safetensors **out, struct error *error);
void safetensors_close(struct safetensors *file); /* accepts NULL */

/* Tensors in the order of the header; borrowed. */
size_t safetensors_count(const struct safetensors *file);
const struct safetensors_tensor *safetensors_at(const struct safetensors *file, size_t index);

/* Tensor by name with exactly this dtype and shape: ERROR_NOT_FOUND lists the keys, ERROR_INPUT shows both shapes. */
MUST_CHECK bool safetensors_get(const struct safetensors *file, const char *name, const struct tensor_shape *shape,
                                const struct safetensors_tensor **out, struct error *error);

/* Where the producer of a tensor puts its bytes, in order, in blocks of any size. */
struct safetensors_sink;
MUST_CHECK bool safetensors_put(struct safetensors_sink *sink, const void *bytes, size_t length, struct error *error);

struct safetensors_entry {
    const char *name;
    struct tensor_shape shape;
    const void *data; /* all bytes; NULL: `produce` delivers exactly tensor_bytes(&shape) bytes */
    bool (*produce)(void *context, struct safetensors_sink *sink, struct error *error);
    void *context;
};

/* Size of the data that safetensors_write would write, without the header (some hundred bytes a tensor). */
int64_t safetensors_data_bytes(const struct safetensors_entry *entries, size_t count);

/* Writes a file, complete or absent; data starts on a multiple of 8 bytes. Streams: needs no memory for the data.
 * `metadata`, an object of texts, becomes `__metadata__`; borrowed, NULL: none. */
MUST_CHECK bool safetensors_write(const char *path, const struct safetensors_entry *entries, size_t count,
                                  json_object *metadata, struct error *error);

static inline void cleanup_safetensors(struct safetensors **file)
{
    safetensors_close(*file);
}
#define AUTO_SAFETENSORS CLEANUP(cleanup_safetensors) struct safetensors

#endif
