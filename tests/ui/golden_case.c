/* SPDX-License-Identifier: MIT */
#include "tests/ui/golden_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/support.h"

/* Put the difference on the test's output. */
static void show_difference(const char *golden, const char *actual)
{
    char *folder = temporary_folder();
    put_file(folder, "actual", actual, strlen(actual));
    char *command = format("diff -u '%s' '%s/actual'", golden, folder);
    fflush(stdout);
    if (system(command) == -1)
        printf("diff cannot be run\n");
    free(command);
    remove_tree(folder);
}

void compare_golden(const char *name, const char *actual)
{
    char *path = format("%s/tests/ui/golden/%s", getenv("top_srcdir"), name);
    struct error err = ERROR_INIT;
    char *expected = NULL;
    size_t length;
    if (getenv("UPDATE_GOLDEN")) {
        struct file_writer writer = FILE_WRITER_INIT;
        ck_assert_msg(file_writer_open(&writer, path, &err) &&
                          file_writer_put(&writer, actual, strlen(actual), &err) &&
                          file_writer_commit(&writer, &err),
                      "%s", err.text);
    } else {
        ck_assert_msg(file_read(path, 1 << 20, &expected, &length, &err), "%s", err.text);
        if (strcmp(expected, actual) != 0) {
            show_difference(path, actual);
            ck_abort_msg("%s looks different", path);
        }
    }
    free(expected);
    free(path);
}
