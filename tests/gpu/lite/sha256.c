/* SPDX-License-Identifier: MIT */
/* A stand-in for checksums that runs over several hosts need (system/sha256.h): it computes none.
 */
#include "system/sha256.h"

struct sha256 *sha256_begin(struct error *err)
{
    error_set(err, ERROR_FAILED, "built without libcrypto");
    return NULL;
}

bool sha256_add(struct sha256 *sha256, const void *data, size_t size, struct error *err)
{
    (void)sha256;
    (void)data;
    (void)size;
    return error_set(err, ERROR_FAILED, "built without libcrypto");
}

bool sha256_end(struct sha256 *sha256, unsigned char sum[SHA256_BYTES], struct error *err)
{
    (void)sha256;
    (void)sum;
    return error_set(err, ERROR_FAILED, "built without libcrypto");
}

void sha256_free(struct sha256 *sha256)
{
    (void)sha256;
}
