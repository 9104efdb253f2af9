#include "emu/ptx_opcodes.h"

#include <string.h>

static const struct row {
    const char *name;
    enum ptx_category category;
    enum ptx_support support;
    const char *modifiers; /* separated by spaces */
} rows[PTX_OP_COUNT] = {
#define X(id, name, category, support, modifiers) {name, category, support, modifiers},
    PTX_OPCODES(X)
#undef X
};

/* The rows are sorted by name (tests/unit/emu/test_ptx_opcodes.c). */
enum ptx_opcode ptx_opcode_find(const char *name, size_t length)
{
    size_t low = 0, high = PTX_OP_COUNT;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strncmp(rows[middle].name, name, length);
        if (!order && rows[middle].name[length])
            order = 1;
        if (!order)
            return (enum ptx_opcode)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PTX_OP_UNKNOWN;
}

const char *ptx_opcode_text(enum ptx_opcode opcode)
{
    return opcode < PTX_OP_COUNT ? rows[opcode].name : "?";
}

enum ptx_category ptx_opcode_category(enum ptx_opcode opcode)
{
    return opcode < PTX_OP_COUNT ? rows[opcode].category : PTX_MISCELLANEOUS;
}

enum ptx_support ptx_opcode_support(enum ptx_opcode opcode)
{
    return opcode < PTX_OP_COUNT ? rows[opcode].support : PTX_SUPPORT_NONE;
}

const char *ptx_category_text(enum ptx_category category)
{
    static const char *const texts[] = {"scalar",  "movement",        "memory",       "async copy",
                                        "control", "synchronisation", "matrix",       "tensor",
                                        "texture", "video",           "miscellaneous"};

    return texts[category];
}

const char *ptx_support_text(enum ptx_support support)
{
    static const char *const texts[] = {"emulated", "later", "unsupported"};

    return texts[support];
}

bool ptx_opcode_allows(enum ptx_opcode opcode, const char *modifier)
{
    size_t length = strlen(modifier);

    if (opcode >= PTX_OP_COUNT)
        return false;
    for (const char *word = rows[opcode].modifiers; *word;) {
        size_t bytes = strcspn(word, " ");
        if (bytes == length && !memcmp(word, modifier, bytes))
            return true;
        word += bytes;
        word += strspn(word, " ");
    }
    return false;
}
