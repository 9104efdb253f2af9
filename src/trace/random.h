/*
 * Seeded inputs: the same seed gives the same bytes on every device. Pure functions; thread-safe.
 *
 * The contract, for whoever implements it again (the fill kernel):
 *
 *     golden = 0x9e3779b97f4a7c15
 *     mix(x):  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
 *              x = (x ^ (x >> 27)) * 0x94d049bb133111eb
 *              x ^ (x >> 31)                                  (the output function of SplitMix64, all modulo 2^64)
 *     key  = mix(seed + golden * (tensor_index + 1))            one per tensor
 *     bits = mix(key  + golden * (element + 1))                 one per element
 *
 * tensor_index is the position among the inputs of the definition, element the row-major index. Values:
 *
 *     float32, float16, bfloat16   table[bits >> 48], rounded to nearest even
 *     float8_*, float4_e2m1        table[bits >> 48] clamped to [-2, 2], rounded to nearest even
 *     bool                         bits >> 63
 *     int8                         (bits >> 56) - 128           in [-128, 128)
 *     int16, int32, int64          (bits >> 53) - 1024          in [-1024, 1024)
 *
 * table[i] is the standard normal quantile of (i + 0.5) / 65536, as float. float4 packs element 2i into the low and
 * 2i + 1 into the high four bits of byte i. A random scalar is element 0 of its tensor.
 *
 * Value rules follow the input generation of FlashInfer-Bench; SplitMix64: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014.
 */
#ifndef PTXBENCH_TRACE_RANDOM_H
#define PTXBENCH_TRACE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "trace/dtype.h"

enum { RANDOM_TABLE_SIZE = 65536 };

uint64_t random_key(uint64_t seed, uint64_t tensor_index);
uint64_t random_key_bits(uint64_t key, uint64_t element);

/* random_key_bits(random_key(seed, tensor_index), element) */
uint64_t random_bits(uint64_t seed, uint64_t tensor_index, uint64_t element);

/* Fills the caller's table (256 KiB); takes some ten milliseconds. */
void random_normal_table(float table[RANDOM_TABLE_SIZE]);

/* Writes elements [first, first + count) of a tensor, packed as in memory, to `out`. `first` is even for float4. */
void random_fill(const float table[RANDOM_TABLE_SIZE], enum dtype dtype, uint64_t seed, uint64_t tensor_index,
                 uint64_t first, size_t count, void *out);

#endif
