// expect: embedded_code loader_call
// Registers a fat binary that nvcc did not make.
#include <ptxbench/candidate.h>
struct wrapper {
    int magic, version;
    const void *data, *unused;
};
static const unsigned long long fatbin[2] = {0x0010000100000000ull + 0xBA55ED50u, 0};
static wrapper by_hand = {0x466243b1, 1, fatbin, nullptr};
extern "C" void **__cudaRegisterFatBinary(void *);
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return __cudaRegisterFatBinary(&by_hand) ? 0 : 1;
}
