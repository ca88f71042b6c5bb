/* SPDX-License-Identifier: MIT */
#include "system/sha256.h"

#include <openssl/evp.h>

/* What is behind the name is libcrypto's own object. */
static EVP_MD_CTX *context_of(struct sha256 *sha256)
{
    return (EVP_MD_CTX *)sha256;
}

static bool fail(struct error *err)
{
    return error_set(err, ERROR_FAILED, "libcrypto cannot compute a SHA-256");
}

struct sha256 *sha256_begin(struct error *err)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1)
        return (struct sha256 *)context;
    EVP_MD_CTX_free(context);
    fail(err);
    return NULL;
}

bool sha256_add(struct sha256 *sha256, const void *data, size_t size, struct error *err)
{
    return EVP_DigestUpdate(context_of(sha256), data, size) == 1 || fail(err);
}

bool sha256_end(struct sha256 *sha256, unsigned char sum[SHA256_BYTES], struct error *err)
{
    return EVP_DigestFinal_ex(context_of(sha256), sum, NULL) == 1 || fail(err);
}

void sha256_free(struct sha256 *sha256)
{
    EVP_MD_CTX_free(context_of(sha256));
}
