#include "emu/smem_layout.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"

/* The pattern as an XOR: bits [to, to + width) of an address take bits [from, from + width). */
struct swizzle_pattern {
    const char *text;
    uint8_t span, to, from, width;
    bool flip_8b; /* bit 3 takes bit 7 as well */
    uint32_t period;
};

static const struct swizzle_pattern PATTERNS[SMEM_SWIZZLE_COUNT] = {
    [SMEM_SWIZZLE_NONE] = {"none", 16, 4, 7, 0, false, 16},
    [SMEM_SWIZZLE_32B] = {"32B", 32, 4, 7, 1, false, 256},
    [SMEM_SWIZZLE_64B] = {"64B", 64, 4, 7, 2, false, 512},
    [SMEM_SWIZZLE_128B] = {"128B", 128, 4, 7, 3, false, 1024},
    [SMEM_SWIZZLE_128B_ATOM_32B] = {"128B with 32B atoms", 128, 5, 7, 2, false, 512},
    [SMEM_SWIZZLE_128B_ATOM_32B_FLIP_8B] = {"128B with 32B atoms and 8B flip", 128, 5, 7, 2, true, 512},
    [SMEM_SWIZZLE_128B_ATOM_64B] = {"128B with 64B atoms", 128, 6, 7, 1, false, 256},
};

const char *smem_swizzle_text(enum smem_swizzle swizzle)
{
    return PATTERNS[swizzle].text;
}

uint32_t smem_swizzle_span(enum smem_swizzle swizzle)
{
    return PATTERNS[swizzle].span;
}

uint32_t smem_swizzle_period(enum smem_swizzle swizzle)
{
    return PATTERNS[swizzle].period;
}

uint32_t smem_swizzle_address(enum smem_swizzle swizzle, uint32_t address)
{
    const struct swizzle_pattern *pattern = &PATTERNS[swizzle];
    uint32_t mask = (1u << pattern->width) - 1;

    address ^= (address >> pattern->from & mask) << pattern->to;
    if (pattern->flip_8b)
        address ^= (address >> 7 & 1) << 3;
    return address;
}

/* Fields of the descriptor: matrix-descriptor-encode(x) = (x & 0x3FFFF) >> 4 in 14 bits each. */
enum { START_BIT = 0, LEADING_BIT = 16, STRIDE_BIT = 32, BASE_BIT = 49, SWIZZLE_BIT = 62 };
static const uint64_t FIELD_MASK = 0x3fff;
static const uint64_t RESERVED_MASK = 3ull << 14 | 3ull << 30 | 7ull << 46 | 0x3ffull << 52;
static const enum smem_swizzle CODE_SWIZZLE[4] = {SMEM_SWIZZLE_NONE, SMEM_SWIZZLE_128B, SMEM_SWIZZLE_64B,
                                                  SMEM_SWIZZLE_32B};

static uint32_t decode_offset(uint64_t bits, int first_bit)
{
    return (uint32_t)(bits >> first_bit & FIELD_MASK) << 4;
}

static uint64_t encode_offset(uint32_t offset, int first_bit)
{
    return (uint64_t)((offset & 0x3ffff) >> 4) << first_bit;
}

struct wgmma_descriptor wgmma_descriptor_decode(uint64_t bits)
{
    return (struct wgmma_descriptor){
        .start = decode_offset(bits, START_BIT),
        .leading_offset = decode_offset(bits, LEADING_BIT),
        .stride_offset = decode_offset(bits, STRIDE_BIT),
        .base_offset = (uint32_t)(bits >> BASE_BIT & 7),
        .swizzle = CODE_SWIZZLE[bits >> SWIZZLE_BIT & 3],
        .reserved = bits & RESERVED_MASK,
    };
}

uint64_t wgmma_descriptor_encode(const struct wgmma_descriptor *descriptor)
{
    uint64_t bits = encode_offset(descriptor->start, START_BIT) |
                    encode_offset(descriptor->leading_offset, LEADING_BIT) |
                    encode_offset(descriptor->stride_offset, STRIDE_BIT) |
                    (uint64_t)(descriptor->base_offset & 7) << BASE_BIT | (descriptor->reserved & RESERVED_MASK);

    for (uint64_t code = 1; code < 4; code++)
        if (CODE_SWIZZLE[code] == descriptor->swizzle)
            bits |= code << SWIZZLE_BIT;
    return bits;
}

bool smem_operand_init(struct smem_operand *operand, uint64_t descriptor, int element_bytes, int rows, bool mn_major,
                       struct error *error)
{
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
        return error_set(error, ERROR_INPUT, "wgmma operand: elements of %d bytes; the ISA has 1, 2 and 4",
                         element_bytes);
    if (rows < 8 || rows > 256 || rows % 8)
        return error_set(error, ERROR_INPUT, "wgmma operand: extent %d; M is 64 and N a multiple of 8 in 8..256", rows);
    *operand = (struct smem_operand){
        .descriptor = wgmma_descriptor_decode(descriptor),
        .element_bytes = element_bytes,
        .rows = rows,
        .k = 32 / element_bytes,
        .mn_major = mn_major,
    };
    return true;
}

/* Offset from the start of the 16-byte aligned position `inner` bytes into line `line`, before the swizzle. */
static uint32_t line_offset(const struct smem_operand *operand, uint32_t line, uint32_t inner)
{
    const struct wgmma_descriptor *d = &operand->descriptor;
    uint32_t span = smem_swizzle_span(d->swizzle);
    uint32_t atom = line / 8, in_atom = line % 8 * span;

    if (!operand->mn_major) {
        if (d->swizzle == SMEM_SWIZZLE_NONE)
            return inner / 16 * d->leading_offset + atom * d->stride_offset + in_atom + inner % 16;
        return atom * d->stride_offset + in_atom + inner;
    }
    /* without a swizzle the ISA exchanges the roles of the two offsets */
    if (d->swizzle == SMEM_SWIZZLE_NONE)
        return inner / 16 * d->stride_offset + atom * d->leading_offset + in_atom + inner % 16;
    return inner / span * d->leading_offset + atom * d->stride_offset + in_atom + inner % span;
}

static uint32_t line_address(const struct smem_operand *operand, uint32_t line, uint32_t inner)
{
    const struct wgmma_descriptor *d = &operand->descriptor;
    uint32_t base = d->base_offset * 128;

    return smem_swizzle_address(d->swizzle, d->start + line_offset(operand, line, inner) - base) + base;
}

uint32_t smem_operand_address(const struct smem_operand *operand, int row, int k)
{
    uint32_t size = (uint32_t)operand->element_bytes;

    if (operand->mn_major)
        return line_address(operand, (uint32_t)k, (uint32_t)row * size);
    return line_address(operand, (uint32_t)row, (uint32_t)k * size);
}

int smem_operand_line_count(const struct smem_operand *operand)
{
    return operand->mn_major ? operand->k : operand->rows;
}

int smem_operand_chunk_count(const struct smem_operand *operand)
{
    return operand->mn_major ? (operand->rows * operand->element_bytes + 15) / 16 : 2;
}

uint32_t smem_operand_chunk(const struct smem_operand *operand, int line, int chunk)
{
    return line_address(operand, (uint32_t)line, (uint32_t)chunk * 16);
}

int smem_operand_chunks(const struct smem_operand *operand, uint32_t addresses[SMEM_OPERAND_CHUNKS_MAX])
{
    const struct wgmma_descriptor *d = &operand->descriptor;
    int lines = smem_operand_line_count(operand), chunks = smem_operand_chunk_count(operand), count = 0;
    uint32_t base = d->base_offset * 128, span = smem_swizzle_span(d->swizzle);
    uint32_t mask = (1u << PATTERNS[d->swizzle].width) - 1;

    if (operand->mn_major || d->swizzle == SMEM_SWIZZLE_NONE) {
        for (int line = 0; line < lines; line++)
            for (int chunk = 0; chunk < chunks; chunk++)
                addresses[count++] = smem_operand_chunk(operand, line, chunk);
        return count;
    }
    /* K-major: line_address() for the most common case, without its decisions in the loop */
    for (int line = 0; line < lines; line++) {
        uint32_t begin = d->start - base + (uint32_t)line / 8 * d->stride_offset + (uint32_t)line % 8 * span;
        addresses[count++] = (begin ^ (begin >> 7 & mask) << 4) + base;
        addresses[count++] = ((begin + 16) ^ ((begin + 16) >> 7 & mask) << 4) + base;
    }
    return count;
}

/* Bytes of a chunk that hold elements: 8 for eight rows of 8-bit elements in MN-major order, else 16. */
static uint32_t chunk_bytes(const struct smem_operand *operand)
{
    int line_bytes = operand->mn_major ? operand->rows * operand->element_bytes : 32;

    return line_bytes < 16 ? (uint32_t)line_bytes : 16;
}

bool smem_operand_locate(const struct smem_operand *operand, uint32_t address, int *row, int *k)
{
    uint32_t bytes = chunk_bytes(operand);
    bool found = false;

    for (int line = 0; line < smem_operand_line_count(operand); line++) {
        for (int chunk = 0; chunk < smem_operand_chunk_count(operand); chunk++) {
            uint32_t distance = address - smem_operand_chunk(operand, line, chunk);
            if (distance >= bytes)
                continue;
            int inner = (chunk * 16 + (int)distance) / operand->element_bytes;
            int found_row = operand->mn_major ? inner : line;
            int found_k = operand->mn_major ? line : inner;
            if (!found || found_row < *row || (found_row == *row && found_k < *k)) {
                *row = found_row;
                *k = found_k;
            }
            found = true;
        }
    }
    return found;
}

uint32_t smem_operand_end(const struct smem_operand *operand)
{
    uint32_t addresses[SMEM_OPERAND_CHUNKS_MAX], bytes = chunk_bytes(operand), end = 0;
    int count = smem_operand_chunks(operand, addresses);

    for (int i = 0; i < count; i++)
        end = addresses[i] + bytes > end ? addresses[i] + bytes : end;
    return end;
}

/* Collects findings, at most LAYOUT_MAX_FINDINGS. */
struct finding_list {
    struct layout_finding *findings;
    int count;
};

static void add_finding(struct finding_list *list, enum layout_severity severity, const char *hint, const char *format,
                        ...) PRINTF_LIKE(4, 5);

static void add_finding(struct finding_list *list, enum layout_severity severity, const char *hint, const char *format,
                        ...)
{
    va_list arguments;

    if (list->count == LAYOUT_MAX_FINDINGS)
        return;
    struct layout_finding *finding = &list->findings[list->count++];
    finding->severity = severity;
    va_start(arguments, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    (void)snprintf(finding->hint, sizeof finding->hint, "%s", hint);
}

struct chunk_place {
    uint32_t address;
    int row, k;
};

static int compare_places(const void *left, const void *right)
{
    const struct chunk_place *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->row != b->row ? a->row - b->row : a->k - b->k;
}

/* Quick and sure for what a CTA can hold; elsewhere an overlap is only suspected. */
static bool may_overlap(const struct smem_operand *operand)
{
    uint32_t addresses[SMEM_OPERAND_CHUNKS_MAX];
    uint64_t used[(1 << 18) / 16 / 64] = {0};
    int count = smem_operand_chunks(operand, addresses);

    for (int i = 0; i < count; i++) {
        uint32_t unit = addresses[i] / 16;
        if (unit >= sizeof used * 8 || addresses[i] % 16 || used[unit / 64] >> unit % 64 & 1)
            return true;
        used[unit / 64] |= UINT64_C(1) << unit % 64;
    }
    return false;
}

/* Two elements at one address: a stride or leading offset is too small. */
static void check_overlap(const struct smem_operand *operand, struct finding_list *list)
{
    struct chunk_place places[SMEM_OPERAND_CHUNKS_MAX];
    int per_chunk = 16 / operand->element_bytes;
    int count = 0;

    if (!may_overlap(operand))
        return;
    for (int line = 0; line < smem_operand_line_count(operand); line++) {
        for (int chunk = 0; chunk < smem_operand_chunk_count(operand); chunk++) {
            int inner = chunk * per_chunk;
            places[count++] = (struct chunk_place){smem_operand_chunk(operand, line, chunk),
                                                   operand->mn_major ? inner : line, operand->mn_major ? line : inner};
        }
    }
    qsort(places, (size_t)count, sizeof places[0], compare_places);
    for (int i = 1; i < count; i++) {
        if (places[i].address != places[i - 1].address)
            continue;
        add_finding(list, LAYOUT_HAZARD, "check leading and stride offset: one of them is too small for this operand",
                    "elements (row %d, k %d) and (row %d, k %d) are both read from shared address 0x%x (leading offset "
                    "%u, stride offset %u, swizzle %s, %s-major)",
                    places[i - 1].row, places[i - 1].k, places[i].row, places[i].k, places[i].address,
                    operand->descriptor.leading_offset, operand->descriptor.stride_offset,
                    smem_swizzle_text(operand->descriptor.swizzle), operand->mn_major ? "MN" : "K");
        return;
    }
}

static void check_reserved(const struct wgmma_descriptor *d, struct finding_list *list)
{
    if (!d->reserved)
        return;
    if ((d->reserved >> 46 & 7) == 1)
        add_finding(list, LAYOUT_HAZARD, "build the descriptor in the format of wgmma (swizzle in bits 62-63)",
                    "descriptor bits 46-48 are 001, the mark of a tcgen05 descriptor; wgmma reads its swizzle field "
                    "differently");
    else
        add_finding(list, LAYOUT_NOTE, "mask address and offsets with 0x3FFFF before the shift by 4",
                    "descriptor has bits set that mean nothing to wgmma: 0x%016" PRIx64, d->reserved);
}

static void check_pattern(const struct smem_operand *operand, struct finding_list *list)
{
    const struct wgmma_descriptor *d = &operand->descriptor;
    uint32_t span = smem_swizzle_span(d->swizzle), period = smem_swizzle_period(d->swizzle);
    uint32_t phase_mask = period / 128 - 1;
    uint32_t inside = d->start % span;

    if (d->swizzle == SMEM_SWIZZLE_NONE) {
        if (d->base_offset)
            add_finding(list, LAYOUT_NOTE, "set bits 49-51 to 0", "base offset %u without a swizzle has no effect",
                        d->base_offset);
        return;
    }
    if (!operand->mn_major && inside + 32 > span)
        add_finding(list, LAYOUT_ERROR, "advance along K by at most the swizzle span, then to the next tile",
                    "start 0x%x is %u bytes into a row of %u bytes: the 32 bytes of k run into the next row", d->start,
                    inside, span);
    if ((d->start >> 7 & phase_mask) != (d->base_offset & phase_mask))
        add_finding(list, LAYOUT_HAZARD,
                    "align the tile to the period of the swizzle (__align__ and the dynamic shared-memory base)",
                    "start 0x%x is not on a %u-byte boundary of the %s swizzle and base offset is %u: row 0 of the "
                    "operand is read with the permutation of row %u",
                    d->start, period, smem_swizzle_text(d->swizzle), d->base_offset,
                    (d->start >> 7 & phase_mask) * (128 / span));
}

int smem_operand_check(const struct smem_operand *operand, uint32_t shared_bytes,
                       struct layout_finding findings[LAYOUT_MAX_FINDINGS])
{
    struct finding_list list = {findings, 0};
    uint32_t end = smem_operand_end(operand);

    if (operand->mn_major && operand->element_bytes != 2)
        add_finding(&list, LAYOUT_ERROR, "store the operand K-major and leave imm-trans 0",
                    "MN-major (transposed) operand of %d-byte elements: only .f16 and .bf16 can be transposed",
                    operand->element_bytes);
    if (end > shared_bytes)
        add_finding(&list, LAYOUT_ERROR, "check start address, offsets and the size of shared memory",
                    "operand of %d x %d elements ends at shared address 0x%x, shared memory at 0x%x", operand->rows,
                    operand->k, end, shared_bytes);
    check_reserved(&operand->descriptor, &list);
    check_pattern(operand, &list);
    check_overlap(operand, &list);
    return list.count;
}
