/*
 * Naive fp32 evaluation of sampled rows, compared with what a library wrote. One block per sampled row; sums in a fixed
 * order, no atomics. Clarity before speed: this code is what the libraries are trusted by.
 */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "reference/naive_reference.h"

namespace
{

constexpr int warps = NAIVE_THREADS / 32;

__device__ float to_float(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}

__device__ float to_float(__half value)
{
    return __half2float(value);
}

template <typename T>
__device__ const T *at(uint64_t address)
{
    return reinterpret_cast<const T *>(address);
}

/* splitmix64 */
__device__ uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

__device__ int64_t sampled_row(const naive_sampling &sampling, int64_t index)
{
    int64_t begin = index * sampling.rows / sampling.samples;
    int64_t end = (index + 1) * sampling.rows / sampling.samples;

    if (index == 0)
        return 0;
    if (index == sampling.samples - 1)
        return sampling.rows - 1;
    return begin + (int64_t)(mix(sampling.seed ^ mix((uint64_t)index)) % (uint64_t)(end - begin));
}

__device__ float warp_sum(float value)
{
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_xor_sync(0xffffffff, value, offset);
    return value;
}

/* Dot product of two rows by one warp; every lane gets it. */
template <typename T>
__device__ float warp_dot(const T *x, const T *y, int64_t length)
{
    float sum = 0;

    for (int64_t i = threadIdx.x % 32; i < length; i += 32)
        sum += to_float(x[i]) * to_float(y[i]);
    return warp_sum(sum);
}

/* Sum over the block of each thread's contribution, in a fixed order, written by thread 0. */
__device__ void store_sums(uint64_t sums, int64_t index, naive_sums own)
{
    __shared__ naive_sums all[NAIVE_THREADS];

    __syncthreads();
    all[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        naive_sums total = {0, 0};
        for (int i = 0; i < NAIVE_THREADS; i++) {
            total.squared_error += all[i].squared_error;
            total.squared_naive += all[i].squared_naive;
        }
        reinterpret_cast<naive_sums *>(sums)[index] = total;
    }
}

__device__ void add_difference(naive_sums &sums, float output, float naive)
{
    double difference = (double)output - (double)naive;

    sums.squared_error += difference * difference;
    sums.squared_naive += (double)naive * (double)naive;
}

/* C[row, :] of the sampled row; blockIdx.y selects a slice of the columns. */
template <typename T>
__device__ void gemm(const naive_gemm &problem)
{
    int64_t row = sampled_row(problem.sampling, blockIdx.x);
    int64_t begin = problem.n * blockIdx.y / NAIVE_GEMM_SLICES;
    int64_t end = problem.n * (blockIdx.y + 1) / NAIVE_GEMM_SLICES;
    naive_sums own = {0, 0};

    for (int64_t column = begin + threadIdx.x / 32; column < end; column += warps) {
        float naive = warp_dot(at<T>(problem.a) + row * problem.k, at<T>(problem.b) + column * problem.k, problem.k);
        if (threadIdx.x % 32 == 0)
            add_difference(own, to_float(at<T>(problem.c)[row * problem.n + column]), naive);
    }
    store_sums(problem.sums, (int64_t)blockIdx.x * NAIVE_GEMM_SLICES + blockIdx.y, own);
}

/* One row of an attention problem and its head. */
struct attention_row {
    int64_t row;      /* of B*H*S */
    int64_t head;     /* first row of its head */
    int64_t position; /* within its head */
};

__device__ attention_row sampled_attention_row(const naive_attention &problem)
{
    int64_t row = sampled_row(problem.sampling, blockIdx.x);
    int64_t position = row % problem.sequence;

    return {row, row - position, position};
}

/* log(sum over visible keys of exp(scale q.k)), by a running maximum and sum in each warp. */
template <typename T>
__device__ float log_sum_exp(const naive_attention &problem, const attention_row &at_row, int64_t visible)
{
    __shared__ float warp_largest[warps], warp_total[warps];
    const T *query = at<T>(problem.q) + at_row.row * problem.head_dim;
    float largest = -INFINITY, total = 0;

    for (int64_t key = threadIdx.x / 32; key < visible; key += warps) {
        const T *key_row = at<T>(problem.k) + (at_row.head + key) * problem.head_dim;
        float score = problem.scale * warp_dot(query, key_row, problem.head_dim);
        float next = fmaxf(largest, score);
        total = total * expf(largest - next) + expf(score - next);
        largest = next;
    }
    if (threadIdx.x % 32 == 0) {
        warp_largest[threadIdx.x / 32] = largest;
        warp_total[threadIdx.x / 32] = total;
    }
    __syncthreads();
    largest = -INFINITY;
    total = 0;
    for (int i = 0; i < warps; i++)
        largest = fmaxf(largest, warp_largest[i]);
    for (int i = 0; i < warps; i++)
        total += warp_total[i] * expf(warp_largest[i] - largest); /* a warp without keys adds 0 * exp(-inf) */
    return largest + logf(total);
}

template <typename T>
__device__ void forward(const naive_attention &problem)
{
    __shared__ float probabilities[NAIVE_THREADS];
    attention_row at_row = sampled_attention_row(problem);
    int64_t visible = problem.causal ? at_row.position + 1 : problem.sequence;
    int dim = problem.head_dim, column = threadIdx.x;
    const T *query = at<T>(problem.q) + at_row.row * dim;
    float lse = log_sum_exp<T>(problem, at_row, visible), sum = 0;

    for (int64_t first = 0; first < visible; first += NAIVE_THREADS) {
        int count = (int)min((int64_t)NAIVE_THREADS, visible - first);
        for (int i = threadIdx.x / 32; i < count; i += warps) {
            float score = problem.scale * warp_dot(query, at<T>(problem.k) + (at_row.head + first + i) * dim, dim);
            probabilities[i] = expf(score - lse);
        }
        __syncthreads();
        for (int i = 0; column < dim && i < count; i++)
            sum += probabilities[i] * to_float(at<T>(problem.v)[(at_row.head + first + i) * dim + column]);
        __syncthreads();
    }
    naive_sums output = {0, 0}, logarithm = {0, 0};
    if (column < dim)
        add_difference(output, to_float(at<T>(problem.o)[at_row.row * dim + column]), sum);
    if (column == 0 && problem.sums[1])
        add_difference(logarithm, at<float>(problem.lse)[at_row.row], lse);
    store_sums(problem.sums[0], blockIdx.x, output);
    if (problem.sums[1])
        store_sums(problem.sums[1], blockIdx.x, logarithm);
}

/* Probability and score gradient of one query and key, both as rows of B*H*S; one warp. */
struct score_gradient {
    float probability, gradient;
};

template <typename T>
__device__ score_gradient differentiate_score(const naive_attention &problem, int64_t query, int64_t key)
{
    int dim = problem.head_dim;
    const T *output_gradient = at<T>(problem.d_o) + query * dim;
    float score = problem.scale * warp_dot(at<T>(problem.q) + query * dim, at<T>(problem.k) + key * dim, dim);
    float probability = expf(score - at<float>(problem.lse)[query]);
    float product = warp_dot(output_gradient, at<T>(problem.v) + key * dim, dim);
    float row_sum = warp_dot(output_gradient, at<T>(problem.o) + query * dim, dim);

    return {probability, problem.scale * probability * (product - row_sum)};
}

/* dQ of the sampled query: sum over visible keys of gradient * K. */
template <typename T>
__device__ void backward_query(const naive_attention &problem)
{
    __shared__ float gradients[NAIVE_THREADS];
    attention_row at_row = sampled_attention_row(problem);
    int64_t visible = problem.causal ? at_row.position + 1 : problem.sequence;
    int dim = problem.head_dim, column = threadIdx.x;
    float sum = 0;

    for (int64_t first = 0; first < visible; first += NAIVE_THREADS) {
        int count = (int)min((int64_t)NAIVE_THREADS, visible - first);
        for (int i = threadIdx.x / 32; i < count; i += warps)
            gradients[i] = differentiate_score<T>(problem, at_row.row, at_row.head + first + i).gradient;
        __syncthreads();
        for (int i = 0; column < dim && i < count; i++)
            sum += gradients[i] * to_float(at<T>(problem.k)[(at_row.head + first + i) * dim + column]);
        __syncthreads();
    }
    naive_sums own = {0, 0};
    if (column < dim)
        add_difference(own, to_float(at<T>(problem.dq)[at_row.row * dim + column]), sum);
    store_sums(problem.sums[0], blockIdx.x, own);
}

/* dK and dV of the sampled key: sums over the queries that see it of gradient * Q and probability * dO. */
template <typename T>
__device__ void backward_key(const naive_attention &problem)
{
    __shared__ score_gradient scores[NAIVE_THREADS];
    attention_row at_row = sampled_attention_row(problem);
    int64_t begin = problem.causal ? at_row.position : 0;
    int dim = problem.head_dim, column = threadIdx.x;
    float key_sum = 0, value_sum = 0;

    for (int64_t first = begin; first < problem.sequence; first += NAIVE_THREADS) {
        int count = (int)min((int64_t)NAIVE_THREADS, problem.sequence - first);
        for (int i = threadIdx.x / 32; i < count; i += warps)
            scores[i] = differentiate_score<T>(problem, at_row.head + first + i, at_row.row);
        __syncthreads();
        for (int i = 0; column < dim && i < count; i++) {
            int64_t element = (at_row.head + first + i) * dim + column;
            key_sum += scores[i].gradient * to_float(at<T>(problem.q)[element]);
            value_sum += scores[i].probability * to_float(at<T>(problem.d_o)[element]);
        }
        __syncthreads();
    }
    naive_sums key = {0, 0}, value = {0, 0};
    if (column < dim) {
        add_difference(key, to_float(at<T>(problem.dk)[at_row.row * dim + column]), key_sum);
        add_difference(value, to_float(at<T>(problem.dv)[at_row.row * dim + column]), value_sum);
    }
    store_sums(problem.sums[0], blockIdx.x, key);
    store_sums(problem.sums[1], blockIdx.x, value);
}

} // namespace

#define NAIVE_KERNEL(name, function, type, problem)                                                                    \
    extern "C" __global__ void __launch_bounds__(NAIVE_THREADS) name(problem arguments)                                \
    {                                                                                                                  \
        function<type>(arguments);                                                                                     \
    }

NAIVE_KERNEL(naive_gemm_bf16, gemm, __nv_bfloat16, naive_gemm)
NAIVE_KERNEL(naive_gemm_fp16, gemm, __half, naive_gemm)
NAIVE_KERNEL(naive_forward_bf16, forward, __nv_bfloat16, naive_attention)
NAIVE_KERNEL(naive_forward_fp16, forward, __half, naive_attention)
NAIVE_KERNEL(naive_backward_query_bf16, backward_query, __nv_bfloat16, naive_attention)
NAIVE_KERNEL(naive_backward_query_fp16, backward_query, __half, naive_attention)
NAIVE_KERNEL(naive_backward_key_bf16, backward_key, __nv_bfloat16, naive_attention)
NAIVE_KERNEL(naive_backward_key_fp16, backward_key, __half, naive_attention)
