#include "emu/fragment.h"

#include <string.h>

/*
 * All mma fragments are one pattern. With group = lane / 4 and quad = lane % 4:
 *   A, D: rows are spread over groups, 8 rows apart in the next register; columns over quads.
 *   B: the same with rows and columns exchanged, and no second group of columns.
 * A and B give each quad a full register of consecutive k; D gives each quad two consecutive columns.
 */
enum { GROUP_ROWS = 8, QUADS = 4 };

static struct fragment new_fragment(enum fragment_kind kind, int rows, int columns, int parts, int threads)
{
    return (struct fragment){
        .kind = kind,
        .rows = rows,
        .columns = columns,
        .parts = parts,
        .registers = rows * columns / (parts * threads),
        .threads = threads,
    };
}

struct fragment fragment_mma_a(int m, int k, int parts)
{
    return new_fragment(FRAGMENT_A, m, k, parts, 32);
}

struct fragment fragment_mma_b(int k, int parts)
{
    return new_fragment(FRAGMENT_B, k, 8, parts, 32);
}

struct fragment fragment_mma_d(int m, int parts)
{
    return new_fragment(FRAGMENT_D, m, 8, parts, 32);
}

struct fragment fragment_wgmma_a(int parts)
{
    return new_fragment(FRAGMENT_A, 64, 8 * parts, parts, 128);
}

struct fragment fragment_wgmma_d(int n, int parts)
{
    return new_fragment(FRAGMENT_D, 64, n, parts, 128);
}

struct fragment fragment_ldmatrix(int count, bool transposed)
{
    return new_fragment(transposed ? FRAGMENT_LDMATRIX_TRANS : FRAGMENT_LDMATRIX, 8 * count, 8, 2, 32);
}

/* Groups of eight rows that one warp holds: two, except for m8n8kK. */
static int row_groups(const struct fragment *fragment)
{
    return fragment->rows == GROUP_ROWS ? 1 : 2;
}

struct fragment_element fragment_at(const struct fragment *fragment, int thread, int register_index, int part)
{
    int warp = thread / 32, group = thread % 32 / QUADS, quad = thread % QUADS;
    int groups = row_groups(fragment), parts = fragment->parts;

    switch (fragment->kind) {
    case FRAGMENT_A:
        return (struct fragment_element){
            16 * warp + GROUP_ROWS * (register_index % groups) + group,
            register_index / groups * QUADS * parts + quad * parts + part,
        };
    case FRAGMENT_B:
        return (struct fragment_element){register_index * QUADS * parts + quad * parts + part, group};
    case FRAGMENT_D: {
        int index = register_index * parts + part; /* two neighbours, then the second row group, then column + 8 */
        return (struct fragment_element){
            16 * warp + GROUP_ROWS * (index / 2 % groups) + group,
            index / (2 * groups) * 8 + 2 * quad + index % 2,
        };
    }
    case FRAGMENT_LDMATRIX:
        return (struct fragment_element){8 * register_index + group, 2 * quad + part};
    case FRAGMENT_LDMATRIX_TRANS:
        return (struct fragment_element){8 * register_index + 2 * quad + part, group};
    }
    __builtin_unreachable();
}

struct fragment_slot fragment_find(const struct fragment *fragment, int row, int column)
{
    int groups = row_groups(fragment), parts = fragment->parts;
    int warp = row / 16, group = row % GROUP_ROWS, upper = row / GROUP_ROWS % groups;

    switch (fragment->kind) {
    case FRAGMENT_A:
        return (struct fragment_slot){
            32 * warp + QUADS * group + column / parts % QUADS,
            column / (QUADS * parts) * groups + upper,
            column % parts,
        };
    case FRAGMENT_B:
        return (struct fragment_slot){QUADS * column + row / parts % QUADS, row / (QUADS * parts), row % parts};
    case FRAGMENT_D: {
        int index = (column / 8 * groups + upper) * 2 + column % 2;
        return (struct fragment_slot){32 * warp + QUADS * group + column % 8 / 2, index / parts, index % parts};
    }
    case FRAGMENT_LDMATRIX:
        return (struct fragment_slot){QUADS * group + column / 2, row / 8, column % 2};
    case FRAGMENT_LDMATRIX_TRANS:
        return (struct fragment_slot){QUADS * column + row % 8 / 2, row / 8, row % 2};
    }
    __builtin_unreachable();
}

/* Position of 32-bit register r of a lane in 16 rows of n: see FRAGMENT_D. */
static int d32_index(int n, int r, int lane)
{
    return (8 * (r / 2 % 2) + lane / QUADS) * n + r / 4 * 8 + lane % QUADS * 2 + r % 2;
}

typedef uint32_t words __attribute__((vector_size(16)));

/* Eight columns of a row are two registers of the four lanes of a quad, interleaved. */
void fragment_gather_d32(const uint32_t *const *registers, int n, uint32_t *rows)
{
    for (int r = 0; r < n / 2; r += 2) {
        for (int quad = 0; quad < 32; quad += QUADS) {
            uint32_t *out = rows + d32_index(n, r, quad);
            words even, odd;

            memcpy(&even, registers[r] + quad, sizeof even);
            memcpy(&odd, registers[r + 1] + quad, sizeof odd);

            words low = __builtin_shufflevector(even, odd, 0, 4, 1, 5);
            words high = __builtin_shufflevector(even, odd, 2, 6, 3, 7);

            memcpy(out, &low, sizeof low);
            memcpy(out + 4, &high, sizeof high);
        }
    }
}

void fragment_scatter_d32(uint32_t *const *registers, int n, const uint32_t *rows)
{
    for (int r = 0; r < n / 2; r += 2) {
        for (int quad = 0; quad < 32; quad += QUADS) {
            const uint32_t *in = rows + d32_index(n, r, quad);
            words low, high;

            memcpy(&low, in, sizeof low);
            memcpy(&high, in + 4, sizeof high);

            words even = __builtin_shufflevector(low, high, 0, 2, 4, 6);
            words odd = __builtin_shufflevector(low, high, 1, 3, 5, 7);

            memcpy(registers[r] + quad, &even, sizeof even);
            memcpy(registers[r + 1] + quad, &odd, sizeof odd);
        }
    }
}

void fragment_gather_d16(const uint32_t *const *registers, int n, uint16_t *rows)
{
    for (int r = 0; r < n / 4; r++) {
        for (int lane = 0; lane < 32; lane++) {
            rows[d32_index(n, 2 * r, lane)] = (uint16_t)registers[r][lane];
            rows[d32_index(n, 2 * r + 1, lane)] = (uint16_t)(registers[r][lane] >> 16);
        }
    }
}

void fragment_scatter_d16(uint32_t *const *registers, int n, const uint16_t *rows)
{
    for (int r = 0; r < n / 4; r++)
        for (int lane = 0; lane < 32; lane++)
            registers[r][lane] = rows[d32_index(n, 2 * r, lane)] | (uint32_t)rows[d32_index(n, 2 * r + 1, lane)] << 16;
}
