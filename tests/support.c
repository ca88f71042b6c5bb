/* SPDX-License-Identifier: MIT */
#include "tests/support.h"

#include <check.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

char *format(const char *pattern, ...)
{
    char *string = NULL;
    va_list args;
    va_start(args, pattern);
    int length = vasprintf(&string, pattern, args);
    va_end(args);
    ck_assert_int_ge(length, 0);
    return string;
}

char *shipped_model(const char *name)
{
    const char *top = getenv("top_srcdir");
    return format("%s/etc/models/%s.conf", top ? top : "..", name);
}

char *temporary_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder = format("%s/dpartui-XXXXXX", base && *base ? base : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    return folder;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

void remove_tree(char *folder)
{
    if (folder)
        ck_assert_int_eq(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(folder);
}

void put_file(const char *dir, const char *name, const void *data, size_t length)
{
    struct error err = ERROR_INIT;
    char *path = format("%s/%s", dir, name);
    *strrchr(path, '/') = '\0';
    ck_assert_msg(make_directories(path, 0777, &err), "%s", err.text);
    path[strlen(path)] = '/';
    FILE *file = fopen(path, "w");
    ck_assert_msg(file != NULL, "cannot create %s", path);
    if (data)
        ck_assert_uint_eq(fwrite(data, 1, length, file), length);
    else
        ck_assert_int_eq(ftruncate(fileno(file), (long)length), 0);
    ck_assert_int_eq(fclose(file), 0);
    free(path);
}
