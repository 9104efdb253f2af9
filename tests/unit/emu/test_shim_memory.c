#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>

#include "emu/shim/shim.h"

static int copy(void *to, enum shim_side to_side, const void *from, enum shim_side from_side, size_t bytes)
{
    const struct shim_copy wanted = {
        .to = to, .from = from, .to_side = to_side, .from_side = from_side, .width = bytes, .height = 1};

    return shim_copy("test", &wanted);
}

static void test_copy_and_fill(void **state)
{
    uint32_t host[4] = {1, 2, 3, 4}, back[4] = {0};
    void *device;

    (void)state;
    assert_int_equal(shim_allocate(sizeof host, SHIM_DEVICE_MEMORY, &device), 0);
    assert_int_equal(copy(device, SHIM_DEVICE, host, SHIM_HOST, sizeof host), 0);
    assert_int_equal(copy(back, SHIM_EITHER, device, SHIM_EITHER, sizeof back), 0);
    assert_memory_equal(host, back, sizeof host);
    assert_int_equal(shim_fill("test", (char *)device + 4, 0, 0x1234abcd, 2, 3, 1), 0); /* 3 elements of 16 bits */
    assert_int_equal(copy(back, SHIM_HOST, device, SHIM_DEVICE, sizeof back), 0);
    assert_int_equal(back[1], 0xabcdabcd);
    assert_int_equal(back[2], 0x0000abcd);
    assert_int_equal(shim_fill("test", (char *)device + 1, 0, 0, 4, 1, 1), CUDA_ERROR_INVALID_VALUE); /* misaligned */
    assert_int_equal(shim_fill("test", device, 0, 0, 4, SIZE_MAX / 2, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(copy(device, SHIM_DEVICE, host, SHIM_HOST, SIZE_MAX), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(copy((char *)device + 8, SHIM_DEVICE, host, SHIM_HOST, 9), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_free(device, SHIM_DEVICE_MEMORY, false), 0);
    assert_int_equal(copy(back, SHIM_HOST, device, SHIM_DEVICE, 4), CUDA_ERROR_INVALID_VALUE);
}

static void test_rows(void **state)
{
    char host[64], back[64];
    struct shim_copy rows = {.from = host,
                             .to_side = SHIM_DEVICE,
                             .from_side = SHIM_HOST,
                             .width = 4,
                             .height = 4,
                             .to_pitch = 8,
                             .from_pitch = 16};

    (void)state;
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (char)i;
    assert_int_equal(shim_allocate(28, SHIM_DEVICE_MEMORY, &rows.to), 0); /* the last row has no padding behind it */
    assert_int_equal(shim_copy("test", &rows), 0);
    assert_int_equal(copy(back, SHIM_HOST, rows.to, SHIM_DEVICE, 28), 0);
    assert_int_equal(back[24], 48);
    assert_int_equal(back[20], (char)0xff);
    rows.height = 5;
    assert_int_equal(shim_copy("test", &rows), CUDA_ERROR_INVALID_VALUE);
    rows.height = 4;
    rows.to_pitch = 3;
    assert_int_equal(shim_copy("test", &rows), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_free(rows.to, SHIM_DEVICE_MEMORY, false), 0);
}

static void test_kinds(void **state)
{
    char plain[64];
    struct shim_pointer found;
    void *pinned, *managed;

    (void)state;
    assert_int_equal(shim_allocate(64, SHIM_PINNED_MEMORY, &pinned), 0);
    assert_int_equal(shim_allocate(64, SHIM_MANAGED_MEMORY, &managed), 0);
    shim_pointer_find((char *)pinned + 63, &found);
    assert_int_equal(found.kind, SHIM_PINNED_MEMORY);
    assert_true(found.base == (uintptr_t)pinned);
    shim_pointer_find(managed, &found);
    assert_int_equal(found.kind, SHIM_MANAGED_MEMORY);
    shim_pointer_find(plain, &found);
    assert_int_equal(found.kind, SHIM_UNKNOWN_MEMORY);
    assert_int_equal(shim_host_register(plain, sizeof plain, false), 0);
    shim_pointer_find(plain, &found);
    assert_int_equal(found.kind, SHIM_PINNED_MEMORY);
    assert_false(found.writable);
    assert_int_equal(shim_free(plain, SHIM_PINNED_MEMORY, false), CUDA_ERROR_INVALID_VALUE); /* not ours to free */
    assert_int_equal(shim_host_unregister(plain), 0);
    assert_int_equal(shim_host_unregister(plain), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    assert_int_equal(shim_free(pinned, SHIM_DEVICE_MEMORY, false), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_free(pinned, SHIM_PINNED_MEMORY, false), 0);
    assert_int_equal(shim_free(managed, SHIM_DEVICE_MEMORY, false), 0);
}

static void test_mapping(void **state)
{
    enum { TWO_PAGES = 2 * SHIM_PAGE_BYTES };
    enum shim_rights rights;
    uint64_t handle, again;
    char value = 0;
    void *range, *second;
    int fd;

    (void)state;
    assert_int_equal(shim_physical_new(100, &handle), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_physical_new(SHIM_PAGE_BYTES, &handle), 0);
    assert_int_equal(shim_reserve(TWO_PAGES, 3, NULL, &range), 0); /* at least the granularity */
    assert_int_equal(shim_reserve(TWO_PAGES, 8 * SHIM_PAGE_BYTES, NULL, &second), 0);
    assert_int_equal((uintptr_t)second % (8 * SHIM_PAGE_BYTES), 0);
    assert_int_equal(shim_map(range, TWO_PAGES, 0, handle), CUDA_ERROR_INVALID_VALUE); /* more than the memory has */
    assert_int_equal(shim_map((char *)range + TWO_PAGES, SHIM_PAGE_BYTES, 0, handle), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_map(range, SHIM_PAGE_BYTES, 0, handle), 0);
    assert_int_equal(shim_map(range, SHIM_PAGE_BYTES, 0, handle), CUDA_ERROR_INVALID_VALUE); /* taken */
    assert_int_equal(shim_unreserve(range, TWO_PAGES), CUDA_ERROR_INVALID_VALUE);            /* still mapped */
    assert_int_equal(shim_set_access(range, TWO_PAGES, SHIM_READ_WRITE), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_set_access(range, SHIM_PAGE_BYTES, SHIM_READ_WRITE), 0);
    assert_int_equal(shim_fill("test", range, 0, 5, 1, SHIM_PAGE_BYTES, 1), 0);

    /* The same memory through its descriptor, read-only: what was written shows, and a write is refused. */
    assert_int_equal(shim_physical_export(handle, &fd), 0);
    assert_int_equal(shim_physical_import(fd, &again), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(shim_map(second, SHIM_PAGE_BYTES, 0, again), 0);
    assert_int_equal(shim_set_access(second, SHIM_PAGE_BYTES, SHIM_READ), 0);
    assert_int_equal(copy(&value, SHIM_HOST, (char *)second + SHIM_PAGE_BYTES - 1, SHIM_DEVICE, 1), 0);
    assert_int_equal(value, 5);
    assert_int_equal(shim_fill("test", second, 0, 6, 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_get_access(second, &rights), 0);
    assert_int_equal(rights, SHIM_READ);
    assert_int_equal(shim_set_access(second, SHIM_PAGE_BYTES, SHIM_READ_WRITE), 0);
    assert_int_equal(shim_fill("test", second, 0, 6, 1, 1, 1), 0);

    assert_int_equal(shim_physical_release(handle), 0);
    assert_int_equal(shim_physical_release(handle), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(copy(&value, SHIM_HOST, range, SHIM_DEVICE, 1), 0); /* the mapping keeps the memory */
    assert_int_equal(value, 6);
    assert_int_equal(shim_unmap(range, SHIM_PAGE_BYTES), 0);
    assert_int_equal(copy(&value, SHIM_HOST, range, SHIM_DEVICE, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_unreserve(range, TWO_PAGES), 0);
    assert_int_equal(shim_unmap(second, SHIM_PAGE_BYTES), 0);
    assert_int_equal(shim_physical_release(again), 0);
    assert_int_equal(shim_unreserve(second, TWO_PAGES), 0);
}

static void test_foreign_descriptor(void **state)
{
    uint64_t handle;
    int pipes[2];

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(shim_physical_import(pipes[0], &handle), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(shim_physical_import(-1, &handle), CUDA_ERROR_INVALID_VALUE);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
}

static void test_streams_and_events(void **state)
{
    struct shim_stream *stream;
    struct shim_event *begin, *end;
    unsigned flags = 7;
    float ms;

    (void)state;
    assert_int_equal(shim_stream_query(NULL, &flags, NULL, NULL), 0);
    assert_int_equal(flags, 0);
    assert_int_equal(shim_stream_query((struct shim_stream *)&flags, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(shim_stream_new(CU_STREAM_NON_BLOCKING, -1, &stream), 0);
    assert_int_equal(shim_event_new(0, &begin), 0);
    assert_int_equal(shim_event_new(CU_EVENT_DISABLE_TIMING, &end), 0);
    assert_int_equal(shim_event_record(begin, stream), 0);
    assert_int_equal(shim_event_record(end, stream), 0);
    assert_int_equal(shim_event_elapsed(begin, end, &ms), CUDA_ERROR_INVALID_HANDLE); /* has no timing */
    assert_int_equal(shim_event_elapsed(begin, begin, &ms), 0);
    assert_true(ms >= 0 && ms <= 0);
    assert_int_equal(shim_stream_free(stream), 0);
    assert_int_equal(shim_event_record(begin, stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(shim_event_free(begin), 0);
    assert_int_equal(shim_event_free(begin), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(shim_event_free(end), 0);
}

static int start_device(void **state)
{
    (void)state;
    return setenv("PTXBENCH_EMU_QUIET", "1", 1) || setenv("PTXBENCH_EMU_MEMORY", "64M", 1) || shim_start();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_and_fill),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_mapping),
        cmocka_unit_test(test_foreign_descriptor),
        cmocka_unit_test(test_streams_and_events),
    };

    return cmocka_run_group_tests(tests, start_device, NULL);
}
