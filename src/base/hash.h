/* SHA-256 (OpenSSL EVP) over parts; parts are length-prefixed, so that ("ab","c") and ("a","bc") differ. */
#ifndef PTXBENCH_BASE_HASH_H
#define PTXBENCH_BASE_HASH_H

#include <stddef.h>

#include "base/error.h"

enum { HASH_TEXT_BYTES = 65 };

struct hash;

struct hash *hash_new(void);
void hash_add(struct hash *hash, const void *bytes, size_t length);
void hash_add_text(struct hash *hash, const char *text);

/* Writes 64 hex digits and frees the hash. */
void hash_finish(struct hash *hash, char out[HASH_TEXT_BYTES]);

/* Plain SHA-256 of one block, without length prefix (equals sha256sum). */
void hash_bytes(const void *bytes, size_t length, char out[HASH_TEXT_BYTES]);

#endif
