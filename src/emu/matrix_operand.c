#include "emu/matrix_product.h"

#include <string.h>

enum { MAX_OPERAND_BYTES = 256 * 32 };

static bool leaves_memory(const struct smem_operand *operand, int index, uint32_t address, uint32_t shared_bytes,
                          struct error *error)
{
    int line = index / smem_operand_chunk_count(operand), chunk = index % smem_operand_chunk_count(operand);
    int inner = chunk * 16 / operand->element_bytes;
    int row = operand->mn_major ? inner : line, k = operand->mn_major ? line : inner;

    return error_set(error, ERROR_INPUT,
                     "wgmma operand element (row %d, k %d) lies at shared address 0x%x, shared memory ends at 0x%x",
                     row, k, address, shared_bytes);
}

/* Copies the operand line by line, as it lies in shared memory but without gaps and swizzle. */
static bool copy_lines(const struct smem_operand *operand, const uint8_t *shared, uint32_t shared_bytes, uint8_t *dense,
                       struct error *error)
{
    uint32_t addresses[SMEM_OPERAND_CHUNKS_MAX];
    int count = smem_operand_chunks(operand, addresses), chunks = smem_operand_chunk_count(operand);
    uint32_t line_bytes = (uint32_t)((operand->mn_major ? operand->rows : operand->k) * operand->element_bytes);
    uint32_t tail = line_bytes % 16; /* rows of 8-bit elements, MN-major */

    for (int i = 0; i < count; i++) {
        uint32_t bytes = tail && i % chunks == chunks - 1 ? tail : 16;
        if (addresses[i] >= shared_bytes || shared_bytes - addresses[i] < bytes)
            return leaves_memory(operand, i, addresses[i], shared_bytes, error);
        if (bytes == 16)
            memcpy(dense, shared + addresses[i], 16); /* a single instruction */
        else
            memcpy(dense, shared + addresses[i], bytes);
        dense += bytes;
    }
    return true;
}

typedef uint16_t halves __attribute__((vector_size(16)));

#define INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define INTERLEAVE_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

/* 8 x 8 elements of 16 bits: interleaving lines four apart three times exchanges lines and columns. */
static void transpose_block(const uint8_t *in, size_t in_stride, uint8_t *out, size_t out_stride)
{
    halves a[8], b[8];

    for (int i = 0; i < 8; i++)
        memcpy(&a[i], in + (size_t)i * in_stride, sizeof a[i]);
    for (int i = 0; i < 4; i++) {
        b[2 * i] = INTERLEAVE_LOW(a[i], a[i + 4]);
        b[2 * i + 1] = INTERLEAVE_HIGH(a[i], a[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        a[2 * i] = INTERLEAVE_LOW(b[i], b[i + 4]);
        a[2 * i + 1] = INTERLEAVE_HIGH(b[i], b[i + 4]);
    }
    for (int i = 0; i < 4; i++) {
        b[2 * i] = INTERLEAVE_LOW(a[i], a[i + 4]);
        b[2 * i + 1] = INTERLEAVE_HIGH(a[i], a[i + 4]);
    }
    for (int i = 0; i < 8; i++)
        memcpy(out + (size_t)i * out_stride, &b[i], sizeof b[i]);
}

static void transpose_halves(int lines, int columns, const uint8_t *in, uint8_t *out)
{
    for (int line = 0; line < lines; line += 8)
        for (int column = 0; column < columns; column += 8)
            transpose_block(in + 2 * (size_t)(line * columns + column), 2 * (size_t)columns,
                            out + 2 * (size_t)(column * lines + line), 2 * (size_t)lines);
}

#define TRANSPOSE(type)                                                                                                \
    do {                                                                                                               \
        for (int column = 0; column < columns; column++)                                                               \
            for (int line = 0; line < lines; line++)                                                                   \
                memcpy(out + (size_t)(column * lines + line) * sizeof(type),                                           \
                       in + (size_t)(line * columns + column) * sizeof(type), sizeof(type));                           \
    } while (0)

/* in: lines x columns elements; out: columns x lines. */
static void transpose(int size, int lines, int columns, const uint8_t *in, uint8_t *out)
{
    if (size == 1)
        TRANSPOSE(uint8_t);
    else if (size == 2)
        transpose_halves(lines, columns, in, out); /* both are multiples of 8 */
    else
        TRANSPOSE(uint32_t);
}

bool matrix_operand_load(const struct smem_operand *operand, enum number_format format, const uint8_t *shared,
                         uint32_t shared_bytes, enum matrix_order order, void *out, struct error *error)
{
    _Alignas(16) uint8_t dense[MAX_OPERAND_BYTES];
    _Alignas(16) uint8_t turned[MAX_OPERAND_BYTES];
    const uint8_t *ordered = dense;
    int size = operand->element_bytes, lines = smem_operand_line_count(operand);
    int elements = operand->rows * operand->k;

    if (number_bytes(format) != size)
        return error_set(error, ERROR_INPUT, "wgmma operand: type %s has %d bytes, the layout elements of %d",
                         number_text(format), number_bytes(format), size);
    if (!copy_lines(operand, shared, shared_bytes, dense, error))
        return false;
    if (operand->mn_major != (order == MATRIX_K_BY_ROWS)) {
        transpose(size, lines, elements / lines, dense, turned);
        ordered = turned;
    }
    if (number_is_integer(format))
        number_decode_integers(format, ordered, out, (size_t)elements);
    else
        number_decode_floats(format, ordered, out, (size_t)elements);
    return true;
}
