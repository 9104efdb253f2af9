#include "base/hash.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <string.h>

struct hash {
    EVP_MD_CTX *context;
};

/* OpenSSL fails here only when memory is out or the library is broken: nothing a caller could do about it. */
static void require(bool ok)
{
    if (!ok) {
        (void)fprintf(stderr, "ptxbench: SHA-256 of OpenSSL failed\n");
        abort();
    }
}

static void to_hex(const unsigned char *digest, char out[HASH_TEXT_BYTES])
{
    for (size_t i = 0; i < 32; i++)
        (void)snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

struct hash *hash_new(void)
{
    struct hash *hash = malloc(sizeof *hash);

    require(hash);
    hash->context = EVP_MD_CTX_new();
    require(hash->context && EVP_DigestInit_ex(hash->context, EVP_sha256(), NULL));
    return hash;
}

void hash_add(struct hash *hash, const void *bytes, size_t length)
{
    uint64_t size = length;

    require(EVP_DigestUpdate(hash->context, &size, sizeof size) && EVP_DigestUpdate(hash->context, bytes, length));
}

void hash_add_text(struct hash *hash, const char *text)
{
    hash_add(hash, text, strlen(text));
}

void hash_finish(struct hash *hash, char out[HASH_TEXT_BYTES])
{
    unsigned char digest[EVP_MAX_MD_SIZE];

    require(EVP_DigestFinal_ex(hash->context, digest, NULL));
    to_hex(digest, out);
    EVP_MD_CTX_free(hash->context);
    free(hash);
}

void hash_bytes(const void *bytes, size_t length, char out[HASH_TEXT_BYTES])
{
    unsigned char digest[EVP_MAX_MD_SIZE];

    require(EVP_Digest(bytes, length, digest, NULL, EVP_sha256(), NULL));
    to_hex(digest, out);
}
