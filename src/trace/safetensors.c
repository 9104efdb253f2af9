#include "trace/safetensors.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { HEADER_MAX_BYTES = 100 * 1000 * 1000 };

struct safetensors {
    const unsigned char *map;
    size_t size;
    char *path;
    struct json_document *header;
    struct safetensors_tensor *tensors;
    size_t count;
};

/* dtypes that files may hold although no definition can name them */
static const struct {
    const char *text;
    int bits;
} foreign_dtypes[] = {
    {"F64", 64},    {"U8", 8},      {"U16", 16},    {"U32", 32},        {"U64", 64},        {"C64", 64},
    {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
};

/* Elements and bytes of a shape; false on overflow. */
static bool count_bytes(const int64_t *dims, size_t rank, int bits, int64_t *bytes)
{
    int64_t total = bits;

    for (size_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(total, dims[i], &total))
            return false;
    *bytes = total / 8 + (total % 8 != 0);
    return true;
}

static bool parse_dtype(struct json at, struct safetensors_tensor *tensor, int *bits, struct error *error)
{
    struct json member;

    if (!json_member(at, "dtype", &member, error) || !json_string(member, &tensor->dtype_text, error))
        return false;
    tensor->supported = dtype_parse_safetensors(tensor->dtype_text, &tensor->shape.dtype);
    if (tensor->supported) {
        *bits = dtype_bits(tensor->shape.dtype);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(foreign_dtypes); i++)
        if (!strcmp(foreign_dtypes[i].text, tensor->dtype_text)) {
            *bits = foreign_dtypes[i].bits;
            return true;
        }
    return json_error(member, error, "unknown safetensors dtype \"%s\"", tensor->dtype_text);
}

static bool parse_dims(struct json at, struct safetensors_tensor *tensor, int bits, struct error *error)
{
    struct json shape;
    int64_t dims[64];

    if (!json_member(at, "shape", &shape, error) || !json_expect(shape, JSON_ARRAY, error))
        return false;
    size_t rank = json_length(shape);
    if (rank > ARRAY_LEN(dims))
        return json_error(shape, error, "rank %zu is too large", rank);
    for (size_t i = 0; i < rank; i++) {
        uint64_t size;
        if (!json_u64(json_at(shape, i), &size, error))
            return false;
        if (size > INT64_MAX)
            return json_error(shape, error, "shape is too large");
        dims[i] = (int64_t)size;
    }
    if (!count_bytes(dims, rank, bits, &tensor->bytes))
        return json_error(shape, error, "shape is too large");
    if (rank > TENSOR_MAX_RANK) {
        tensor->supported = false;
        return true;
    }
    tensor->shape.rank = (int)rank;
    memcpy(tensor->shape.dims, dims, rank * sizeof *dims);
    return true;
}

static bool parse_tensor(struct json at, const struct safetensors *file, size_t data_start,
                         struct safetensors_tensor *tensor, struct error *error)
{
    struct json offsets;
    uint64_t begin;
    uint64_t end;
    int bits;

    if (!parse_dtype(at, tensor, &bits, error) || !parse_dims(at, tensor, bits, error) ||
        !json_member(at, "data_offsets", &offsets, error) || !json_expect(offsets, JSON_ARRAY, error))
        return false;
    if (json_length(offsets) != 2)
        return json_error(offsets, error, "expected [begin, end]");
    if (!json_u64(json_at(offsets, 0), &begin, error) || !json_u64(json_at(offsets, 1), &end, error))
        return false;
    if (begin > end || end > file->size - data_start)
        return json_error(offsets, error, "[%" PRIu64 ", %" PRIu64 "] is outside the data of %zu bytes", begin, end,
                          file->size - data_start);
    if (end - begin != (uint64_t)tensor->bytes)
        return json_error(offsets, error, "%" PRIu64 " bytes, but dtype and shape need %" PRId64, end - begin,
                          tensor->bytes);
    tensor->data = file->map + data_start + begin;
    return true;
}

static int compare_places(const void *left, const void *right)
{
    const struct safetensors_tensor *a = *(const struct safetensors_tensor *const *)left;
    const struct safetensors_tensor *b = *(const struct safetensors_tensor *const *)right;

    if (a->data != b->data)
        return (const char *)a->data < (const char *)b->data ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static bool check_overlaps(const struct safetensors *file, struct error *error)
{
    AUTO_FREE const struct safetensors_tensor **order = calloc(file->count + 1, sizeof *order);

    if (!order)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", file->path);
    for (size_t i = 0; i < file->count; i++)
        order[i] = &file->tensors[i];
    qsort(order, file->count, sizeof *order, compare_places);
    for (size_t i = 1; i < file->count; i++)
        if ((const char *)order[i - 1]->data + order[i - 1]->bytes > (const char *)order[i]->data)
            return error_set(error, ERROR_INPUT, "%s: tensors \"%s\" and \"%s\" overlap", file->path,
                             order[i - 1]->name, order[i]->name);
    return true;
}

static bool parse_header(struct safetensors *file, struct error *error)
{
    uint64_t header_length;

    if (file->size < sizeof header_length)
        return error_set(error, ERROR_INPUT, "%s: %zu bytes are too few for a safetensors file", file->path,
                         file->size);
    memcpy(&header_length, file->map, sizeof header_length);
    header_length = le64toh(header_length);
    if (header_length > HEADER_MAX_BYTES)
        return error_set(error, ERROR_INPUT,
                         "%s: header of %" PRIu64 " bytes is larger than %d: not a safetensors "
                         "file?",
                         file->path, header_length, HEADER_MAX_BYTES);
    if (header_length > file->size - sizeof header_length)
        return error_set(error, ERROR_INPUT, "%s: truncated: header of %" PRIu64 " bytes in a file of %zu", file->path,
                         header_length, file->size);
    size_t data_start = sizeof header_length + (size_t)header_length;
    if (!json_parse((const char *)file->map + sizeof header_length, (size_t)header_length, file->path, 1, &file->header,
                    error))
        return false;
    struct json root = json_root(file->header);
    if (!json_expect(root, JSON_OBJECT, error))
        return false;
    file->tensors = calloc(json_length(root) + 1, sizeof *file->tensors);
    if (!file->tensors)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", file->path);
    for (size_t i = 0; i < json_length(root); i++) {
        struct safetensors_tensor *tensor = &file->tensors[file->count];
        struct json entry = json_entry(root, i, &tensor->name);
        if (!strcmp(tensor->name, "__metadata__"))
            continue;
        if (!parse_tensor(entry, file, data_start, tensor, error))
            return false;
        file->count++;
    }
    return check_overlaps(file, error);
}

static bool check_pointer(const struct safetensors *file, struct error *error)
{
    static const char start[] = "version https://git-lfs.github.com/spec/";

    if (file->size < sizeof start - 1 || memcmp(file->map, start, sizeof start - 1) != 0)
        return true;
    (void)error_set(error, ERROR_INPUT, "%s: is a Git LFS pointer, the data itself was not downloaded", file->path);
    return error_hint(error, "run: git lfs pull --include \"%s\"", file->path);
}

bool safetensors_open(const char *path, struct safetensors **out, struct error *error)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;

    if (fd < 0)
        return errno == ENOENT ? error_set(error, ERROR_NOT_FOUND, "%s: no such file", path)
                               : error_system(error, errno, "%s: cannot open", path);
    if (fstat(fd, &info))
        return error_system(error, errno, "%s: cannot stat", path);
    if (!S_ISREG(info.st_mode) || !info.st_size)
        return error_set(error, ERROR_INPUT, "%s: is %s", path, info.st_size ? "not a regular file" : "empty");
    AUTO_SAFETENSORS *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path)))
        return error_set(error, ERROR_MEMORY, "%s: out of memory", path);
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return error_system(error, errno, "%s: cannot map", path);
    file->map = map;
    file->size = (size_t)info.st_size;
    if (!check_pointer(file, error) || !parse_header(file, error))
        return false;
    *out = steal(&file);
    return true;
}

void safetensors_close(struct safetensors *file)
{
    if (!file)
        return;
    if (file->map)
        (void)munmap((void *)file->map, file->size);
    json_document_free(file->header);
    free(file->tensors);
    free(file->path);
    free(file);
}

size_t safetensors_count(const struct safetensors *file)
{
    return file->count;
}

const struct safetensors_tensor *safetensors_at(const struct safetensors *file, size_t index)
{
    return &file->tensors[index];
}

static bool missing_key(const struct safetensors *file, const char *name, struct error *error)
{
    char keys[400];
    size_t length = 0;

    keys[0] = '\0';
    for (size_t i = 0; i < file->count && length < sizeof keys - 80; i++)
        length +=
            (size_t)snprintf(keys + length, sizeof keys - length, "%s%.60s", i ? ", " : "", file->tensors[i].name);
    (void)error_set(error, ERROR_NOT_FOUND, "%s: has no tensor \"%s\"", file->path, name);
    return error_hint(error, "it holds: %s", file->count ? keys : "nothing");
}

bool safetensors_get(const struct safetensors *file, const char *name, const struct tensor_shape *shape,
                     const struct safetensors_tensor **out, struct error *error)
{
    const struct safetensors_tensor *found = NULL;
    char wanted[256];
    char present[256];

    for (size_t i = 0; i < file->count && !found; i++)
        if (!strcmp(file->tensors[i].name, name))
            found = &file->tensors[i];
    if (!found)
        return missing_key(file, name, error);
    if (!found->supported)
        return error_set(error, ERROR_INPUT,
                         "%s: tensor \"%s\" has dtype %s (or a rank above %d), which no "
                         "definition can name",
                         file->path, name, found->dtype_text, TENSOR_MAX_RANK);
    bool equal = found->shape.dtype == shape->dtype && found->shape.rank == shape->rank;
    for (int i = 0; equal && i < shape->rank; i++)
        equal = found->shape.dims[i] == shape->dims[i];
    if (!equal) {
        tensor_shape_text(shape, wanted, sizeof wanted);
        tensor_shape_text(&found->shape, present, sizeof present);
        return error_set(error, ERROR_INPUT, "%s: tensor \"%s\" is %s, the workload needs %s", file->path, name,
                         present, wanted);
    }
    *out = found;
    return true;
}
