/* SPDX-License-Identifier: MIT */
/*
 * An archive of a data set. If the first byte is odd, the checksums of the members' headers are put
 * right, without which few changes would get any further. Whatever the archive says, files appear
 * in the target folder only, and only plain ones.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "engine/fetch/archive.h"
#include "engine/fetch/reporter.h"
#include "engine/fetch/set.h"
#include "tests/fuzz/fuzz.h"

enum { BLOCK = 512, CHECKSUM = 148, CHECKSUM_SIZE = 8, SIZE = 124 };

static void correct_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + BLOCK <= size;) {
        unsigned sum = 0;
        char text[CHECKSUM_SIZE], length[13] = "";
        memset(data + at + CHECKSUM, ' ', CHECKSUM_SIZE);
        for (size_t i = 0; i < BLOCK; i++)
            sum += data[at + i];
        if (sum == CHECKSUM_SIZE * ' ') {
            memset(data + at + CHECKSUM, 0, CHECKSUM_SIZE); /* the end */
            return;
        }
        snprintf(text, sizeof text, "%06o", sum);
        memcpy(data + at + CHECKSUM, text, sizeof text - 1);
        memcpy(length, data + at + SIZE, sizeof length - 1);
        unsigned long long body = strtoull(length, NULL, 8);
        if (body > size)
            return;
        at += BLOCK + (body + BLOCK - 1) / BLOCK * BLOCK;
    }
}

/* Entries of a folder, all of them plain files. */
static int plain_files(const char *folder)
{
    int count = 0;
    DIR *directory = opendir(folder);
    FUZZ_CHECK(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *path = path_join(folder, entry->d_name);
        FUZZ_CHECK(lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1);
        free(path);
        count++;
    }
    closedir(directory);
    return count;
}

static bool ignore(void *context, const struct fetch_progress *progress)
{
    (void)context, (void)progress;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct fetch_reporter reporter = {.report = ignore, .each_s = 1};
    if (!size)
        return 0;
    uint8_t *archive = (uint8_t *)fuzz_string(data + 1, size - 1);
    if (data[0] & 1)
        correct_checksums(archive, size - 1);
    fuzz_clear();
    fuzz_put("archive", archive, size - 1);
    fuzz_put("box/first", "", 0);
    char *path = path_join(fuzz_folder(), "archive"), *box = path_join(fuzz_folder(), "box");
    if (!archive_unpack(path, "box", box, &reporter, &err))
        FUZZ_CHECK(err.text[0]);
    int files = plain_files(box);
    FUZZ_CHECK(files >= 1 && files <= 65);
    FUZZ_CHECK(remove(path) == 0);
    free(path);
    free(box);
    free(archive);
    /* Nothing but the box is left beside it. */
    DIR *directory = opendir(fuzz_folder());
    for (const struct dirent *entry; (entry = readdir(directory));)
        FUZZ_CHECK(entry->d_name[0] == '.' || strcmp(entry->d_name, "box") == 0);
    closedir(directory);
    return 0;
}
