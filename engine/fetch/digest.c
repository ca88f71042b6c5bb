/* SPDX-License-Identifier: MIT */
#include "engine/fetch/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/fetch/reporter.h"

static bool digest_stream(int fd, const char *path, EVP_MD_CTX *sha256,
                          struct fetch_reporter *reporter, struct error *err)
{
    char buffer[1 << 16];
    int64_t done = 0;
    for (;;) {
        ssize_t got = read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, "%s: cannot read", path);
        if (got == 0)
            return true;
        if (EVP_DigestUpdate(sha256, buffer, (size_t)got) != 1)
            return error_set(err, ERROR_FAILED, "%s: libcrypto cannot compute its SHA-256", path);
        done += got;
        if (!reporter_update(reporter, done, err))
            return false;
    }
}

bool digest_compare(const char *path, const struct fetch_file *file,
                    struct fetch_reporter *reporter, bool *equal, struct error *err)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    char text[2 * EVP_MAX_MD_SIZE + 1];
    unsigned length = 0;
    if (!reporter_begin(reporter, "verify", 0, file->size, err))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, "%s: cannot open", path);
    EVP_MD_CTX *sha256 = EVP_MD_CTX_new();
    bool ok = sha256 && EVP_DigestInit_ex(sha256, EVP_sha256(), NULL) == 1;
    if (!ok)
        error_set(err, ERROR_FAILED, "%s: libcrypto cannot compute its SHA-256", path);
    ok = ok && digest_stream(fd, path, sha256, reporter, err);
    if (ok && EVP_DigestFinal_ex(sha256, sum, &length) != 1)
        ok = error_set(err, ERROR_FAILED, "%s: libcrypto cannot compute its SHA-256", path);
    EVP_MD_CTX_free(sha256);
    close(fd);
    if (!ok)
        return false;
    for (unsigned i = 0; i < length; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", sum[i]);
    *equal = strcmp(text, file->sha256) == 0;
    return true;
}
