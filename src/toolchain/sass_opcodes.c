/* Which opcodes count, and how much matrix work they do. Data first. */
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "toolchain/sass.h"

enum match { MATCH_EXACT, MATCH_PREFIX, MATCH_SUFFIX };

struct family_row {
    enum sass_family family;
    enum match match;
    const char *base; /* opcode up to the first dot */
    const char *arch; /* NULL: any */
};

/* Table 5 of the paper. Cache control and prefetch (UTMACCTL, UTMAPF) are left out on purpose. */
static const struct family_row families[] = {
    {SASS_GMMA, MATCH_SUFFIX, "GMMA", "sm_90a"},   {SASS_TMA, MATCH_EXACT, "UTMALDG", "sm_90a"},
    {SASS_TMA, MATCH_EXACT, "UTMASTG", "sm_90a"},  {SASS_TMA, MATCH_EXACT, "UTMAREDG", "sm_90a"},
    {SASS_TCGEN, MATCH_PREFIX, "UTC", "sm_100a"},  {SASS_TCGEN, MATCH_PREFIX, "LDTM", "sm_100a"},
    {SASS_TCGEN, MATCH_PREFIX, "STTM", "sm_100a"}, {SASS_LEGACY_MMA, MATCH_EXACT, "HMMA", NULL},
    {SASS_LEGACY_MMA, MATCH_EXACT, "IMMA", NULL},  {SASS_LEGACY_MMA, MATCH_EXACT, "DMMA", NULL},
    {SASS_LEGACY_MMA, MATCH_EXACT, "BMMA", NULL},  {SASS_LEGACY_MMA, MATCH_EXACT, "QMMA", NULL},
    {SASS_LEGACY_MMA, MATCH_EXACT, "OMMA", NULL},
};

static bool base_matches(const char *base, size_t length, const struct family_row *row)
{
    size_t wanted = strlen(row->base);

    if (length < wanted || (row->match == MATCH_EXACT && length != wanted))
        return false;
    return memcmp(row->match == MATCH_SUFFIX ? base + length - wanted : base, row->base, wanted) == 0;
}

enum sass_family sass_family(const char *opcode, const char *arch)
{
    size_t length = strcspn(opcode, ".");

    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        const struct family_row *row = &families[i];
        if ((!row->arch || strcmp(row->arch, arch) == 0) && base_matches(opcode, length, row))
            return row->family;
    }
    return SASS_OTHER;
}

const char *sass_family_text(enum sass_family family)
{
    static const char *const texts[] = {"other", "gmma", "tma", "tcgen", "legacy_mma"};

    return (unsigned)family < ARRAY_LEN(texts) ? texts[family] : "?";
}

bool sass_family_is_target(enum sass_family family)
{
    return family == SASS_GMMA || family == SASS_TMA || family == SASS_TCGEN;
}

/* Shapes that nvdisasm writes as one number. */
struct packed_shape {
    const char *text;
    uint32_t m, n, k;
};

static const struct packed_shape packed_shapes[] = {
    {"1684", 16, 8, 4},   {"1688", 16, 8, 8},     {"16816", 16, 8, 16},   {"16832", 16, 8, 32},
    {"16864", 16, 8, 64}, {"168128", 16, 8, 128}, {"168256", 16, 8, 256}, {"884", 8, 8, 4},
    {"8816", 8, 8, 16},   {"8832", 8, 8, 32},     {"88128", 8, 8, 128},
};

/* "64x256x16" or a packed shape: M*N*K, or 0. */
static uint64_t shape_product(const char *part, size_t length)
{
    char text[32], *end;

    if (length >= sizeof text || part[0] < '0' || part[0] > '9')
        return 0;
    memcpy(text, part, length);
    text[length] = 0;
    for (size_t i = 0; i < ARRAY_LEN(packed_shapes); i++)
        if (strcmp(text, packed_shapes[i].text) == 0)
            return (uint64_t)packed_shapes[i].m * packed_shapes[i].n * packed_shapes[i].k;
    uint64_t product = 1;
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        unsigned long size = strtoul(at, &end, 10);
        if (end == at || !size || size > 4096 || *end != (i < 2 ? 'x' : 0))
            return 0;
        product *= size;
        at = end + 1;
    }
    return product;
}

/* tcgen05.mma: UTCHMMA, UTCQMMA, UTCIMMA, UTCOMMA; UTCCP, UTCBAR and the like do no matrix work. */
static bool is_tcgen_mma(const char *base, size_t length)
{
    return length > 6 && memcmp(base, "UTC", 3) == 0 && memcmp(base + length - 3, "MMA", 3) == 0;
}

uint64_t sass_mma_work(const char *opcode, const char **unknown)
{
    static const char *const warp_mma[] = {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"};
    size_t length = strcspn(opcode, ".");
    uint64_t warps = 0;

    *unknown = NULL;
    if (is_tcgen_mma(opcode, length)) {
        *unknown = "the shape of tcgen05.mma is in its instruction descriptor";
        return 0;
    }
    if (length >= 5 && memcmp(opcode + length - 4, "GMMA", 4) == 0)
        warps = 4; /* one product for the four warps of a warpgroup, each of which executes the instruction */
    for (size_t i = 0; i < ARRAY_LEN(warp_mma); i++)
        if (length == 4 && memcmp(opcode, warp_mma[i], 4) == 0)
            warps = 1;
    if (!warps)
        return 0;
    for (const char *part = opcode + length; *part; part += strcspn(part, ".")) {
        part++;
        uint64_t product = shape_product(part, strcspn(part, "."));
        if (product)
            return 2 * product / warps;
    }
    *unknown = "no shape in the mnemonic";
    return 0;
}
