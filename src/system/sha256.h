/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* SHA-256 (FIPS 180-4), by OpenSSL's libcrypto. */
enum { SHA256_BYTES = 32 };

struct sha256;

/* NULL, with *err filled, where it cannot be computed. */
struct sha256 *sha256_begin(struct error *err);
bool sha256_add(struct sha256 *sha256, const void *data, size_t size, struct error *err);
/* The sum of all that was added. */
bool sha256_end(struct sha256 *sha256, unsigned char sum[SHA256_BYTES], struct error *err);
/* NULL is fine. */
void sha256_free(struct sha256 *sha256);
