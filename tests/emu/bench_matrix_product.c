/*
 * Speed of the matrix product under the emulator, in GFLOP/s: chains of products as a wgmma main loop issues them.
 * Not part of ctest. Usage: bench_matrix_product [seconds per row]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "emu/matrix_product.h"

struct bench_row {
    int m, n, k;
    const char *text;
};

static const struct bench_row ROWS[] = {
    {64, 256, 16, "wgmma m64n256k16"}, {64, 128, 16, "wgmma m64n128k16"}, {64, 64, 16, "wgmma m64n64k16"},
    {64, 8, 16, "wgmma m64n8k16"},     {64, 256, 32, "wgmma m64n256k32"}, {16, 8, 16, "mma m16n8k16"},
};

static double giga_rate(const struct bench_row *row, double seconds, bool integer)
{
    static float a[64 * 32], b[32 * 256], d[64 * 256];
    static int32_t ia[64 * 32], ib[32 * 256], id[64 * 256];
    struct matrix_product product = {.m = row->m, .n = row->n, .k = row->k};
    int64_t start = clock_now_ns(), elapsed;
    double products = 0;

    for (int i = 0; i < 64 * 32; i++)
        a[i] = (float)(i % 7 - 3) / 8;
    for (int i = 0; i < 32 * 256; i++)
        b[i] = (float)(i % 5 - 2) / 8;
    memset(d, 0, sizeof d);
    do {
        for (int i = 0; i < 100; i++) {
            if (integer)
                matrix_product_s32(&product, ia, ib, id);
            else
                matrix_product_f32(&product, a, b, d);
        }
        products += 100;
        elapsed = clock_now_ns() - start;
    } while ((double)elapsed < seconds * 1e9);
    return products * 2 * row->m * row->n * row->k / (double)elapsed;
}

/* Decoding operands out of swizzled shared memory: bytes per nanosecond. */
static double operand_rate(bool mn_major, double seconds)
{
    static uint8_t shared[65536];
    static float out[256 * 16];
    struct wgmma_descriptor descriptor = {.leading_offset = 8192, .stride_offset = 1024, .swizzle = SMEM_SWIZZLE_128B};
    struct smem_operand operand;
    struct error error;
    int64_t start = clock_now_ns(), elapsed;
    double bytes = 0;

    if (!smem_operand_init(&operand, wgmma_descriptor_encode(&descriptor), 2, 256, mn_major, &error))
        return 0;
    do {
        if (!matrix_operand_load(&operand, NUMBER_BF16, shared, sizeof shared, MATRIX_K_BY_ROWS, out, &error))
            return 0;
        bytes += 256 * 32;
        elapsed = clock_now_ns() - start;
    } while ((double)elapsed < seconds * 1e9);
    return bytes / (double)elapsed;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;

    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        printf("%-18s f32 %7.1f GFLOP/s   s32 %7.1f Gop/s\n", ROWS[i].text, giga_rate(&ROWS[i], seconds, false),
               giga_rate(&ROWS[i], seconds, true));
    printf("operand 256 x 16 bf16: K-major %.2f GB/s, MN-major %.2f GB/s\n", operand_rate(false, seconds),
           operand_rate(true, seconds));
    return 0;
}
