#include "emu/ptx_words.h"

#include <string.h>

#include "base/attributes.h"

static const struct {
    const char *text;
    unsigned bits;
} types[] = {
#define X(id, text, bits) {text, bits},
    PTX_TYPES(X)
#undef X
};

static const char *const modifiers[] = {
#define X(id, text) text,
    PTX_MODIFIERS(X)
#undef X
};

static const struct {
    const char *text;
    enum ptx_type type;
    unsigned elements;
} specials[] = {
#define X(id, text, type, elements) {text, type, elements},
    PTX_SPECIALS(X)
#undef X
};

static bool same(const char *known, const char *text, size_t length)
{
    return strncmp(known, text, length) == 0 && !known[length];
}

bool ptx_type_find(const char *text, size_t length, enum ptx_type *out)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (same(types[i].text, text, length)) {
            *out = (enum ptx_type)i;
            return true;
        }
    return false;
}

uint16_t ptx_word_find(const char *text, size_t length)
{
    enum ptx_type type;

    if (ptx_type_find(text, length, &type))
        return (uint16_t)type;
    for (size_t low = 0, high = ARRAY_LEN(modifiers); low < high;) {
        size_t middle = (low + high) / 2;
        int order = strncmp(modifiers[middle], text, length);
        if (same(modifiers[middle], text, length))
            return (uint16_t)(PTX_WORD_SHAPE + 1 + middle);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return PTX_WORD_FIRST_UNKNOWN;
}

const char *ptx_word_text(uint16_t word)
{
    if (word < PTX_TYPE_COUNT)
        return types[word].text;
    return word > PTX_WORD_SHAPE && word < PTX_WORD_FIRST_UNKNOWN ? modifiers[word - PTX_WORD_SHAPE - 1] : "?";
}

const char *ptx_type_text(enum ptx_type type)
{
    return types[type].text;
}

unsigned ptx_type_bits(enum ptx_type type)
{
    return types[type].bits;
}

bool ptx_shape_parse(const char *text, size_t length, uint16_t sizes[3])
{
    size_t at = 0;

    sizes[2] = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t value = 0;
        if (i == 2 && at == length)
            return true;
        if (at >= length || text[at] != "mnk"[i])
            return false;
        size_t start = ++at;
        for (; at < length && text[at] >= '0' && text[at] <= '9' && value <= UINT16_MAX; at++)
            value = value * 10 + (uint32_t)(text[at] - '0');
        if (at == start || text[start] == '0' || value > UINT16_MAX)
            return false;
        sizes[i] = (uint16_t)value;
    }
    return at == length;
}

enum ptx_special ptx_special_find(const char *name, size_t length)
{
    for (size_t i = 0; i < ARRAY_LEN(specials); i++)
        if (same(specials[i].text, name, length))
            return (enum ptx_special)i;
    return PTX_SPECIAL_COUNT;
}

const char *ptx_special_text(enum ptx_special special)
{
    return specials[special].text;
}

enum ptx_type ptx_special_type(enum ptx_special special)
{
    return specials[special].type;
}

unsigned ptx_special_elements(enum ptx_special special)
{
    return specials[special].elements;
}
