#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/safetensors.h"

struct safetensors_sink {
    int fd;
    const char *path;
    int64_t left; /* bytes that the current tensor still needs */
};

bool safetensors_put(struct safetensors_sink *sink, const void *bytes, size_t length, struct error *error)
{
    const char *at = bytes;

    if (length > (uint64_t)sink->left)
        return error_set(error, ERROR_INTERNAL, "%s: a tensor got more bytes than its shape needs", sink->path);
    sink->left -= (int64_t)length;
    while (length) {
        ssize_t put = write(sink->fd, at, length < 1u << 30 ? length : 1u << 30);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return error_system(error, errno, "%s: cannot write", sink->path);
        at += put;
        length -= (size_t)put;
    }
    return true;
}

/* The JSON header, padded with spaces so that the data starts on a multiple of 8. The caller frees it. */
static bool build_header(const struct safetensors_entry *entries, size_t count, json_object *metadata, char **out,
                         struct error *error)
{
    AUTO_JSON_OBJECT *root = json_object_new_object();
    int64_t offset = 0;

    if (metadata)
        json_put(root, "__metadata__", json_object_get(metadata));
    for (size_t i = 0; i < count; i++) {
        const struct tensor_shape *shape = &entries[i].shape;
        json_object *tensor = json_object_new_object();
        json_object *dims = json_object_new_array();
        json_object *offsets = json_object_new_array();
        for (int k = 0; k < shape->rank; k++)
            (void)json_object_array_add(dims, json_object_new_int64(shape->dims[k]));
        (void)json_object_array_add(offsets, json_object_new_int64(offset));
        offset += tensor_bytes(shape);
        (void)json_object_array_add(offsets, json_object_new_int64(offset));
        json_put_string(tensor, "dtype", dtype_safetensors_text(shape->dtype));
        json_put(tensor, "shape", dims);
        json_put(tensor, "data_offsets", offsets);
        json_put(root, entries[i].name, tensor);
    }
    AUTO_FREE char *text = NULL;
    if (!json_to_text(root, false, &text, error))
        return false;
    int length = (int)(strlen(text) + 7) / 8 * 8;
    if (asprintf(out, "%-*s", length, text) < 0)
        return error_set(error, ERROR_MEMORY, "out of memory while writing a safetensors header");
    return true;
}

int64_t safetensors_data_bytes(const struct safetensors_entry *entries, size_t count)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += tensor_bytes(&entries[i].shape);
    return bytes;
}

static bool write_entries(struct safetensors_sink *sink, const struct safetensors_entry *entries, size_t count,
                          json_object *metadata, struct error *error)
{
    AUTO_FREE char *header = NULL;

    if (!build_header(entries, count, metadata, &header, error))
        return false;
    uint64_t length = htole64(strlen(header));
    sink->left = (int64_t)(sizeof length + strlen(header));
    if (!safetensors_put(sink, &length, sizeof length, error) || !safetensors_put(sink, header, strlen(header), error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct safetensors_entry *entry = &entries[i];
        sink->left = tensor_bytes(&entry->shape);
        bool ok = entry->data ? safetensors_put(sink, entry->data, (size_t)sink->left, error)
                              : entry->produce(entry->context, sink, error);
        if (!ok)
            return false;
        if (sink->left)
            return error_set(error, ERROR_INTERNAL, "%s: tensor \"%s\" lacks %" PRId64 " bytes", sink->path,
                             entry->name, sink->left);
    }
    return true;
}

bool safetensors_write(const char *path, const struct safetensors_entry *entries, size_t count, json_object *metadata,
                       struct error *error)
{
    char temporary[PATH_MAX];

    if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary)
        return error_set(error, ERROR_INPUT, "%s: path is too long", path);
    AUTO_CLOSE int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return error_system(error, errno, "%s: cannot create", path);
    struct safetensors_sink sink = {.fd = fd, .path = path};
    bool ok = write_entries(&sink, entries, count, metadata, error);
    if (ok && (fchmod(fd, 0644) || fsync(fd) || rename(temporary, path)))
        ok = error_system(error, errno, "%s: cannot write", path);
    if (!ok)
        (void)unlink(temporary);
    return ok;
}
