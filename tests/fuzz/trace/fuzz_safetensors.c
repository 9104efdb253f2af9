/* Arbitrary bytes as a safetensors file; whatever is accepted is read to the last byte. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_CLOSE int fd = memfd_create("safetensors", MFD_CLOEXEC);
    AUTO_SAFETENSORS *file = NULL;
    struct error error;
    char path[64];
    volatile uint8_t sum = 0;

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        return 0;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!safetensors_open(path, &file, &error))
        return 0;
    for (size_t i = 0; i < safetensors_count(file); i++) {
        const struct safetensors_tensor *tensor = safetensors_at(file, i);
        if (tensor->supported && tensor_bytes(&tensor->shape) != tensor->bytes)
            abort();
        for (int64_t k = 0; k < tensor->bytes; k++)
            sum = (uint8_t)(sum + ((const uint8_t *)tensor->data)[k]);
    }
    return 0;
}
