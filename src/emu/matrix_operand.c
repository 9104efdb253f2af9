#include "emu/matrix_product.h"

#include <string.h>

enum { MAX_OPERAND_BYTES = 256 * 32 };

static bool leaves_memory(const struct smem_operand *operand, int line, int chunk, uint32_t shared_bytes,
                          struct error *error)
{
    int inner = chunk * 16 / operand->element_bytes;
    int row = operand->mn_major ? inner : line, k = operand->mn_major ? line : inner;

    return error_set(error, ERROR_INPUT,
                     "wgmma operand element (row %d, k %d) lies at shared address 0x%x, shared memory ends at 0x%x",
                     row, k, smem_operand_chunk(operand, line, chunk), shared_bytes);
}

/* Copies the operand line by line, as it lies in shared memory but without gaps and swizzle. */
static bool copy_lines(const struct smem_operand *operand, const uint8_t *shared, uint32_t shared_bytes, uint8_t *dense,
                       struct error *error)
{
    int lines = smem_operand_line_count(operand), chunks = smem_operand_chunk_count(operand);
    uint32_t line_bytes = (uint32_t)((operand->mn_major ? operand->rows : operand->k) * operand->element_bytes);

    for (int line = 0; line < lines; line++) {
        for (int chunk = 0; chunk < chunks; chunk++) {
            uint32_t address = smem_operand_chunk(operand, line, chunk);
            uint32_t begin = (uint32_t)chunk * 16, count = line_bytes - begin < 16 ? line_bytes - begin : 16;
            if (address >= shared_bytes || shared_bytes - address < count)
                return leaves_memory(operand, line, chunk, shared_bytes, error);
            if (count == 16)
                memcpy(dense + begin, shared + address, 16); /* a single instruction */
            else
                memcpy(dense + begin, shared + address, count); /* rows of 8-bit elements, MN-major */
        }
        dense += line_bytes;
    }
    return true;
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
        TRANSPOSE(uint16_t);
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
