// expect: status=COMPILE_ERROR code=compile_timeout task=gemm_n7168_k5120
/* 2^40 template instantiations, each of which makes the compiler run a loop: all time, little memory. */
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

constexpr unsigned churn(unsigned long long seed)
{
    unsigned state = static_cast<unsigned>(seed) | 1;
    for (int i = 0; i < 20000; i++) {
        state = state * 1664525u + 1013904223u;
    }
    return state;
}

template <unsigned long long PATH, int DEPTH>
struct Bomb {
    static constexpr unsigned value = Bomb<PATH * 2, DEPTH - 1>::value ^ Bomb<PATH * 2 + 1, DEPTH - 1>::value;
};

template <unsigned long long PATH>
struct Bomb<PATH, 0> {
    static constexpr unsigned value = churn(PATH);
};

PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return Bomb<1, 40>::value == 0 ? cudaErrorUnknown : cudaSuccess;
}
