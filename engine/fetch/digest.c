/* SPDX-License-Identifier: MIT */
#include "engine/fetch/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/fetch/reporter.h"
#include "system/sha256.h"

static bool digest_stream(int fd, const char *path, struct sha256 *sha256,
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
        if (!sha256_add(sha256, buffer, (size_t)got, err))
            return error_prefix(err, "%s", path);
        done += got;
        if (!reporter_update(reporter, done, err))
            return false;
    }
}

bool digest_compare(const char *path, const struct fetch_file *file,
                    struct fetch_reporter *reporter, bool *equal, struct error *err)
{
    unsigned char sum[SHA256_BYTES];
    char text[2 * SHA256_BYTES + 1];
    if (!reporter_begin(reporter, "verify", 0, file->size, err))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, "%s: cannot open", path);
    struct sha256 *sha256 = sha256_begin(err);
    const bool ok =
        sha256 && digest_stream(fd, path, sha256, reporter, err) && sha256_end(sha256, sum, err);
    sha256_free(sha256);
    close(fd);
    if (!ok)
        return false;
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", sum[i]);
    *equal = strcmp(text, file->sha256) == 0;
    return true;
}
