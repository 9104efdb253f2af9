// expect: embedded_code
// Puts a fat binary and its registration where nvcc puts its own.
#include <ptxbench/candidate.h>
struct wrapper {
    int magic, version;
    const void *data, *unused;
};
__attribute__((section(".nv_fatbin"), used)) static const unsigned long long image[3] = {
    0, 0x0010000100000000ull + 0xBA55ED50u, 0};
__attribute__((section(".nvFatBinSegment"), used)) static const wrapper by_hand = {0x466243b1, 1, image, nullptr};
__global__ void own(float *x)
{
    *x = 1;
}
PTXBENCH_ENTRY(args, count, stream)
{
    (void)count;
    own<<<1, 1, 0, (cudaStream_t)stream>>>((float *)args[0].data);
    return by_hand.magic == 1;
}
