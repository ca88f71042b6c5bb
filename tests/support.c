/* SPDX-License-Identifier: MIT */
#include "tests/support.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

char *support_directory(void)
{
    const char *base = getenv("TMPDIR");
    char *directory = text_format("%s/dpartui-test-XXXXXX", base && *base ? base : "/tmp");
    ck_assert_ptr_nonnull(directory);
    ck_assert_ptr_nonnull(mkdtemp(directory));
    return directory;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

void support_remove(char *directory)
{
    ck_assert_int_eq(nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(directory);
}

char *support_model(const char *name)
{
    const char *top = getenv("top_srcdir");
    char *path = text_format("%s/etc/models/%s.conf", top ? top : "..", name);
    ck_assert_ptr_nonnull(path);
    return path;
}

void support_write(const char *path, const void *data, size_t length)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}
