#include "base/utf8.h"

size_t utf8_sequence_length(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    size_t length = first < 0x80                    ? 1
                    : first >= 0xc2 && first < 0xe0 ? 2
                    : (first & 0xf0) == 0xe0        ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;

    if (!length || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] >= 0xa0) ||
        (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] >= 0x90))
        return 0;
    return length;
}
