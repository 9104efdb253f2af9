/* Two processes share device memory by the driver API, one of them read-only: what a worker and its runner do. */
#include "check.h"

#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr size_t BYTES = 4 << 20;
constexpr unsigned PATTERN = 0xabad1dea;

static bool open_device()
{
    CUcontext context;

    return !cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context);
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, CUmemAccess_flags flags)
{
    CUmemAccessDesc access = {};
    CUdeviceptr address = 0;

    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = flags;
    check(!cuMemAddressReserve(&address, BYTES, 0, 0, 0) && address % (2 << 20) == 0, "addresses reserved");
    check(!cuMemMap(address, BYTES, 0, handle, 0), "mapped");
    check(cuMemsetD8(address, 1, 16) == CUDA_ERROR_INVALID_VALUE, "no access before cuMemSetAccess");
    check(!cuMemSetAccess(address, BYTES, &access, 1), "access given");
    return address;
}

/* One message with room for one descriptor. */
struct packet {
    char byte = 0;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec io = {&byte, 1};
    msghdr header = {};

    packet()
    {
        header.msg_iov = &io;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof control;
    }
};

static bool send_descriptor(int socket, int fd)
{
    packet message;
    cmsghdr *control = CMSG_FIRSTHDR(&message.header);

    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(control), &fd, sizeof fd);
    return sendmsg(socket, &message.header, 0) == 1;
}

static int receive_descriptor(int socket)
{
    packet message;
    int fd = -1;

    if (recvmsg(socket, &message.header, 0) == 1 && CMSG_FIRSTHDR(&message.header)) {
        std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof fd);
    }
    return fd;
}

static int reader(int socket)
{
    CUmemGenericAllocationHandle handle;
    CUmemLocation where = {};
    unsigned long long rights = 0;
    unsigned value = 0;
    int fd = receive_descriptor(socket);

    check_count = 100; /* its numbers stay apart from the writer's */
    check(open_device(), "second process: device");
    check(!cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          "imported");
    close(fd);
    CUdeviceptr address = map(handle, CU_MEM_ACCESS_FLAGS_PROT_READ);
    check(!cuMemRelease(handle), "the mapping keeps the memory");
    check(!cuMemcpyDtoH(&value, address + 4096, 4) && value == PATTERN, "the first process's data");
    check(cuMemsetD8(address, 0, 16) == CUDA_ERROR_INVALID_VALUE, "read-only: a set is refused");
    check(cuMemcpyHtoD(address, &value, 4) == CUDA_ERROR_INVALID_VALUE, "read-only: a copy is refused");
    where.type = CU_MEM_LOCATION_TYPE_DEVICE;
    check(!cuMemGetAccess(&rights, &where, address) && rights == CU_MEM_ACCESS_FLAGS_PROT_READ, "rights are told");
    check(!cuMemUnmap(address, BYTES) && !cuMemAddressFree(address, BYTES), "unmapped");
    return check_failed != 0;
}

static CUmemGenericAllocationHandle create()
{
    CUmemAllocationProp wanted = {};
    CUmemGenericAllocationHandle handle = 0;
    size_t granularity = 0;

    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    check(!cuMemGetAllocationGranularity(&granularity, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) &&
              granularity == 2 << 20,
          "granularity");
    check(cuMemCreate(&handle, BYTES + 1, &wanted, 0) == CUDA_ERROR_INVALID_VALUE, "sizes are multiples of it");
    check(!cuMemCreate(&handle, BYTES, &wanted, 0), "created");
    return handle;
}

static int writer(int socket, pid_t child)
{
    CUdeviceptr address;
    unsigned value = 0;
    int fd = -1, status = -1;

    check(cuMemAlloc(&address, 64) == CUDA_ERROR_NOT_INITIALIZED, "nothing works before cuInit");
    check(!cuInit(0) && cuMemAlloc(&address, 64) == CUDA_ERROR_INVALID_CONTEXT, "or without a context");
    check(open_device(), "device");
    CUmemGenericAllocationHandle handle = create();
    address = map(handle, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    check(!cuMemsetD32(address, PATTERN, BYTES / 4), "written");
    check(cuMemsetD32(address, 0, BYTES / 4 + 1) == CUDA_ERROR_INVALID_VALUE, "but not beyond the mapping");
    check(!cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), "exported");
    check(send_descriptor(socket, fd), "sent");
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status), "all well over there");
    check(!cuMemcpyDtoH(&value, address, 4) && value == PATTERN, "nothing was written from there");
    check(!cuMemUnmap(address, BYTES) && !cuMemRelease(handle) && cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE,
          "released once");
    check(cuMemcpyDtoH(&value, address, 4) == CUDA_ERROR_INVALID_VALUE, "gone");
    return check_failed != 0;
}

int main(int argc, char **argv)
{
    char text[16];
    int pair[2];

    if (argc > 1) {
        return reader(std::atoi(argv[1]));
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) {
        return 1;
    }
    pid_t child = fork();
    if (!child) {
        std::snprintf(text, sizeof text, "%d", pair[1]);
        execl("/proc/self/exe", argv[0], text, (char *)nullptr);
        _exit(1);
    }
    return writer(pair[0], child);
}
