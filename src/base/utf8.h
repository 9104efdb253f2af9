/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef PTXBENCH_BASE_UTF8_H
#define PTXBENCH_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the valid sequence at `bytes` (1 for ASCII), of which `left` >= 1 may be read; 0 when it is invalid. */
size_t utf8_sequence_length(const unsigned char *bytes, size_t left);

#endif
