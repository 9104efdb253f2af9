/* Which pack a task is asked with: tables only. */
#include <string.h>

#include "agent/pack.h"

static const char *const family_texts[PACK_FAMILIES] = {"gemm", "mha_fwd", "mha_bwd"};

static const struct {
    const char *arch;
    const char *variants[PACK_FAMILIES][PACK_VARIANTS];
    const char *levels[PACK_LEVELS];
} architectures[] = {
    {"sm_90a",
     {
         {"hopper", "hopper-gemm-multicast", "hopper-gemm-specialized"},
         {"hopper", "hopper-mha-fwd", "hopper-mha-fwd-overlap"},
         {"hopper", "hopper-mha-bwd", "hopper-mha-bwd-specialized"},
     },
     {"hopper-parameters", "hopper-templates", "hopper"}},
    {"sm_100a",
     {
         {"blackwell", "blackwell-gemm-multicast", "blackwell-gemm-store"},
         {"blackwell", "blackwell-mha-fwd", "blackwell-mha-fwd-basic"},
         {"blackwell", "blackwell-mha-bwd-pair", "blackwell-mha-bwd"},
     },
     {"blackwell-parameters", "blackwell-templates", "blackwell"}},
};

const char *pack_family_text(enum pack_family family)
{
    return family_texts[family];
}

static bool begins(const char *text, const char *start)
{
    return text && !strncmp(text, start, strlen(start));
}

bool pack_family_of(const char *op_type, const char *definition, enum pack_family *family)
{
    const char *name = definition ? definition : "";

    if (begins(name, "fp8_"))
        name += strlen("fp8_");
    if ((op_type && !strcmp(op_type, "gemm")) || begins(name, "gemm_"))
        *family = PACK_GEMM;
    else if (begins(name, "mha_bwd_"))
        *family = PACK_MHA_BACKWARD;
    else if (begins(name, "mha_"))
        *family = PACK_MHA_FORWARD;
    else
        return false;
    return true;
}

const char *pack_variant_for(enum pack_family family, const char *arch, int index)
{
    if (index < 0 || index >= PACK_VARIANTS || family >= PACK_FAMILIES)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(architectures); i++)
        if (!strcmp(architectures[i].arch, arch))
            return architectures[i].variants[family][index];
    return NULL;
}

const char *pack_level_for(const char *arch, int level)
{
    if (level < 0 || level >= PACK_LEVELS)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(architectures); i++)
        if (!strcmp(architectures[i].arch, arch))
            return architectures[i].levels[level];
    return NULL;
}
