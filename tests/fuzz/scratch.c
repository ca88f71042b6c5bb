/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "tests/fuzz/fuzz.h"

static char *folder; /* of the process, so that the handler of its end finds it */

static int remove_below(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type;
    return place->level ? remove(path) : 0;
}

void fuzz_clear(void)
{
    if (folder)
        FUZZ_CHECK(nftw(folder, remove_below, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

static void remove_folder(void)
{
    nftw(folder, remove_below, 16, FTW_DEPTH | FTW_PHYS);
    rmdir(folder);
    free(folder);
    folder = NULL;
}

const char *fuzz_folder(void)
{
    static const char memory[] = "/dev/shm";
    const char *base = getenv("TMPDIR");
    if (folder)
        return folder;
    /* In memory where that can be had: some readers sync what they write. */
    if (access(memory, W_OK | X_OK) == 0)
        base = memory;
    folder = text_format("%s/dpartui-fuzz-XXXXXX", base && *base ? base : "/tmp");
    FUZZ_CHECK(folder && mkdtemp(folder) && atexit(remove_folder) == 0);
    return folder;
}

void fuzz_put(const char *name, const void *data, size_t size)
{
    char *path = path_join(fuzz_folder(), name), *slash = strrchr(path, '/');
    *slash = '\0';
    FUZZ_CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
    *slash = '/';
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write_fully(fd, data, size) && close(fd) == 0);
    free(path);
}

char *fuzz_string(const uint8_t *data, size_t size)
{
    char *string = malloc(size + 1);
    FUZZ_CHECK(string);
    memcpy(string, data, size);
    string[size] = '\0';
    return string;
}
