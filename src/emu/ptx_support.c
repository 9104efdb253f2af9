#include "emu/ptx_support.h"

#include <string.h>

#include "base/attributes.h"

/* Forms of a supported opcode that are not: they carry this word (a modifier or a type). */
static const struct form {
    enum ptx_opcode opcode; /* PTX_OP_COUNT: any */
    uint16_t word;
    enum ptx_support support;
    const char *reason;
} forms[] = {
    {PTX_OP_WGMMA, PTX_M_SP, PTX_SUPPORT_NONE, "sparse matrices"},
    {PTX_OP_WGMMA, PTX_M_POPC, PTX_SUPPORT_NONE, "one-bit matrices"},
    {PTX_OP_MMA, PTX_M_SP, PTX_SUPPORT_NONE, "sparse matrices"},
    {PTX_OP_MMA, PTX_M_SP_ORDERED_METADATA, PTX_SUPPORT_NONE, "sparse matrices"},
    {PTX_OP_MMA, PTX_M_POPC, PTX_SUPPORT_NONE, "one-bit matrices"},
    {PTX_OP_MMA, PTX_M_BLOCK_SCALE, PTX_SUPPORT_NONE, "block scales in mma"},
    {PTX_OP_WMMA, PTX_M_POPC, PTX_SUPPORT_NONE, "one-bit matrices"},
    {PTX_OP_LDMATRIX, PTX_M_B8X16, PTX_SUPPORT_LATER, "formats below 8 bits"},
    {PTX_OP_CP, PTX_M_IM2COL, PTX_SUPPORT_NONE, "im2col copies"},
    {PTX_OP_CP, PTX_M_IM2COL_NO_OFFS, PTX_SUPPORT_NONE, "im2col copies"},
    {PTX_OP_CP, PTX_M_IM2COL_W, PTX_SUPPORT_NONE, "im2col copies"},
    {PTX_OP_CP, PTX_M_IM2COL_W_128, PTX_SUPPORT_NONE, "im2col copies"},
    {PTX_OP_CP, PTX_M_TILE_GATHER4, PTX_SUPPORT_LATER, "gather copies of Blackwell"},
    {PTX_OP_CP, PTX_M_TILE_SCATTER4, PTX_SUPPORT_LATER, "scatter copies of Blackwell"},
    {PTX_OP_CP, PTX_M_CTA_GROUP_1, PTX_SUPPORT_LATER, "CTA groups of Blackwell"},
    {PTX_OP_CP, PTX_M_CTA_GROUP_2, PTX_SUPPORT_LATER, "CTA groups of Blackwell"},
    {PTX_OP_CP, PTX_M_CP_MASK, PTX_SUPPORT_LATER, "byte masks of Blackwell"},
    {PTX_OP_CP, PTX_M_IGNORE_OOB, PTX_SUPPORT_LATER, "copies of Blackwell"},
    {PTX_OP_RED, PTX_M_ASYNC, PTX_SUPPORT_NONE, "red.async"},
    {PTX_OP_ST, PTX_M_BULK, PTX_SUPPORT_LATER, "st.bulk of Blackwell"},
    {PTX_OP_FENCE, PTX_M_TENSORMAP_GENERIC, PTX_SUPPORT_NONE, "tensor maps that are changed on the device"},
    {PTX_OP_COUNT, PTX_E2M1X2, PTX_SUPPORT_LATER, "formats below 8 bits"},
    {PTX_OP_COUNT, PTX_E2M3X2, PTX_SUPPORT_LATER, "formats below 8 bits"},
    {PTX_OP_COUNT, PTX_E3M2X2, PTX_SUPPORT_LATER, "formats below 8 bits"},
    {PTX_OP_COUNT, PTX_UE8M0X2, PTX_SUPPORT_LATER, "block scales of Blackwell"},
};

static const struct form *find_form(const struct ptx_function *function, const struct ptx_instruction *instruction)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if ((forms[i].opcode == PTX_OP_COUNT || forms[i].opcode == instruction->opcode) &&
            ptx_has_word(function, instruction, forms[i].word))
            return &forms[i];
    return NULL;
}

/* A modifier that the opcode cannot carry, or NULL. */
static const char *bad_modifier(struct arena *arena, const struct ptx_module *module,
                                const struct ptx_function *function, const struct ptx_instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++) {
        uint16_t word = function->words[instruction->first_modifier + i];
        const char *text = ptx_module_word(module, word);
        if (word >= PTX_WORD_FIRST_UNKNOWN)
            return arena_printf(arena, "unknown modifier .%s", text);
        if (word > PTX_WORD_SHAPE && !ptx_opcode_allows(instruction->opcode, text))
            return arena_printf(arena, "modifier .%s does not belong to %s", text,
                                ptx_opcode_text(instruction->opcode));
    }
    return NULL;
}

bool ptx_external_is_emulated(const char *name)
{
    return !strcmp(name, "vprintf") || !strcmp(name, "__assertfail"); /* op_print.c */
}

static const char *bad_call(struct arena *arena, const struct ptx_module *module, const struct ptx_function *function,
                            const struct ptx_instruction *instruction)
{
    const struct ptx_function *target = ptx_call_target(module, function, instruction);

    if (!target)
        return "an indirect call";
    if (target->is_defined || ptx_external_is_emulated(target->name))
        return NULL;
    return arena_printf(arena, "a call of %s, which is not in the module", target->name);
}

enum ptx_support ptx_support_of(struct arena *arena, const struct ptx_module *module,
                                const struct ptx_function *function, const struct ptx_instruction *instruction,
                                const char **reason)
{
    enum ptx_opcode opcode = instruction->opcode;
    enum ptx_support support = ptx_opcode_support(opcode);
    const struct form *form;

    *reason = NULL;
    if (opcode == PTX_OP_UNKNOWN) {
        *reason = "unknown opcode";
        return PTX_SUPPORT_NONE;
    }
    if ((*reason = bad_modifier(arena, module, function, instruction)))
        return PTX_SUPPORT_NONE;
    if (support != PTX_SUPPORT_EMULATED) {
        *reason = support == PTX_SUPPORT_LATER ? "Blackwell comes in a later stage" : "not emulated";
        return support;
    }
    if ((form = find_form(function, instruction))) {
        *reason = form->reason;
        return form->support;
    }
    if (opcode == PTX_OP_CALL && (*reason = bad_call(arena, module, function, instruction)))
        return PTX_SUPPORT_NONE;
    return PTX_SUPPORT_EMULATED;
}
