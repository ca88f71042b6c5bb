/* SPDX-License-Identifier: MIT */
/* Event files for TensorBoard; tests/programs/history.py reads them with its own decoder. */
#include <check.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "engine/board/board.h"
#include "engine/board/event_file.h"
#include "tests/suites.h"
#include "tests/support.h"

static struct error err;
static char *folder;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    folder = temporary_folder();
}

static void teardown(void)
{
    remove_tree(folder);
}

START_TEST(checksums_are_those_of_the_standard)
{
    unsigned char bytes[32];
    ck_assert_uint_eq(event_file_crc("123456789", 9), 0xe3069283U);
    /* RFC 3720, B.4. */
    memset(bytes, 0, sizeof bytes);
    ck_assert_uint_eq(event_file_crc(bytes, sizeof bytes), 0x8a9136aaU);
    memset(bytes, 0xff, sizeof bytes);
    ck_assert_uint_eq(event_file_crc(bytes, sizeof bytes), 0x62a8ab43U);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    ck_assert_uint_eq(event_file_crc(bytes, sizeof bytes), 0x46dd794eU);
}
END_TEST

static bool exists(const char *name)
{
    struct stat info;
    char *path = format("%s/%s", folder, name);
    bool there = stat(path, &info) == 0;
    free(path);
    return there;
}

static void open_and_close(bool resumes)
{
    struct board *board;
    ck_assert_msg(board_open(&board, folder, 7, resumes, 1e9, &err), "%s", err.text);
    ck_assert(board_close(board, &err));
}

START_TEST(runs_of_one_number_have_folders_of_their_own)
{
    open_and_close(true); /* nothing to continue yet */
    ck_assert(exists("run-7"));
    open_and_close(false);
    ck_assert(exists("run-7.2"));
    open_and_close(true);
    ck_assert(!exists("run-7.3"));
    open_and_close(false);
    ck_assert(exists("run-7.3"));
}
END_TEST

/* The only event file below the folder; the caller frees it. */
static char *read_file(size_t *length)
{
    char *pattern = format("%s/run-*/events.out.tfevents.*", folder), *data = NULL;
    glob_t found;
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    ck_assert_msg(file_read(found.gl_pathv[0], 1 << 20, &data, length, &err), "%s", err.text);
    globfree(&found);
    free(pattern);
    return data;
}

/* How many whole records there are; the file must end after the last. */
static int count_records(const char *data, size_t length)
{
    int count = 0;
    size_t at = 0;
    while (at < length) {
        uint64_t size = 0;
        ck_assert_uint_le(at + 16, length);
        for (int i = 7; i >= 0; i--)
            size = size << 8 | (unsigned char)data[at + (size_t)i];
        at += 16 + size;
        ck_assert_uint_le(at, length);
        count++;
    }
    return count;
}

static bool take(struct board *board, json_t *event)
{
    bool ok = board_take(board, event, 1e9, &err);
    json_decref(event);
    return ok;
}

static bool take_step(struct board *board, int step)
{
    return take(board,
                json_pack("{s:s, s:i, s:i, s:f, s:i, s:f, s:f}", "event", "step", "step", step,
                          "rows", 20, "loss", 0.5, "correct", 10, "lr", 0.1, "seconds", 0.01));
}

static bool take_epoch(struct board *board, int step)
{
    return take(board, json_pack("{s:s, s:i, s:f, s:n}", "event", "epoch", "step", step,
                                 "test_loss", 0.25, "test_acc"));
}

START_TEST(steps_are_summed_up_and_epochs_written)
{
    struct board *board;
    size_t length;
    ck_assert(board_open(&board, folder, 1, false, 1e9, &err));
    ck_assert(take(board, json_pack("{s:s, s:i}", "event", "run", "total_steps", 10000)));
    for (int step = 1; step <= 25; step++)
        ck_assert(take_step(board, step));
    ck_assert(take(board, json_pack("{s:s}", "event", "retune")));
    ck_assert(take_epoch(board, 25));
    /* The version, steps 1-10, 11-20 and 21-25, and the test; all of it without closing. */
    char *data = read_file(&length);
    ck_assert_int_eq(count_records(data, length), 5);
    free(data);
    ck_assert(board_close(board, &err));
    ck_assert(board_close(NULL, &err));
}
END_TEST

/* Is this tag in the file? */
static bool has(const char *data, size_t length, const char *tag)
{
    return memmem(data, length, tag, strlen(tag)) != NULL;
}

START_TEST(what_events_have_is_written)
{
    static const char *const more[] = {"validation/loss", "validation/accuracy", "gradient_norm"};
    for (int there = 0; there < 2; there++) {
        struct board *board;
        size_t length;
        json_t *event = json_pack("{s:s, s:i, s:f, s:f}", "event", "epoch", "step", 5, "test_loss",
                                  0.25, "test_acc", 0.5);
        if (there) {
            json_object_set_new(event, "val_loss", json_real(0.5));
            json_object_set_new(event, "val_acc", json_real(0.75));
            json_object_set_new(event, "grad_norm", json_real(1.5));
        }
        ck_assert(board_open(&board, folder, 1, there, 1e9, &err));
        ck_assert(take(board, event));
        char *data = read_file(&length);
        ck_assert(has(data, length, "test/accuracy"));
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            ck_assert_int_eq(has(data, length, more[i]), there);
        free(data);
        ck_assert(board_close(board, &err));
    }
}
END_TEST

/* A file that may not grow is as good as a full disk. */
START_TEST(a_full_disk_leaves_whole_records)
{
    struct board *board;
    struct rlimit before, limit;
    size_t length;
    int failures = 0;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert(board_open(&board, folder, 1, false, 1e9, &err));
    ck_assert(take_step(board, 1) && take_epoch(board, 1));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 1000;
    /* No assertion until it is lifted: Check writes files as well. */
    if (setrlimit(RLIMIT_FSIZE, &limit) == 0)
        for (int step = 2; step <= 100; step++) {
            failures += !take_step(board, step);
            failures += !take_epoch(board, step);
        }
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert_int_eq(failures, 1);
    ck_assert_ptr_nonnull(strstr(err.text, "ends early"));
    ck_assert_ptr_nonnull(strstr(err.text, folder));
    ck_assert(board_close(board, &err));
    char *data = read_file(&length);
    ck_assert_uint_le(length, 1000);
    ck_assert_int_gt(count_records(data, length), 3);
    free(data);
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_named)
{
    struct board *board;
    put_file(folder, "file", "", 0);
    char *path = format("%s/file/board", folder);
    ck_assert(!board_open(&board, path, 1, false, 1e9, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "file"));
    free(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("board");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, checksums_are_those_of_the_standard);
    tcase_add_test(tests, runs_of_one_number_have_folders_of_their_own);
    tcase_add_test(tests, steps_are_summed_up_and_epochs_written);
    tcase_add_test(tests, what_events_have_is_written);
    tcase_add_test(tests, a_full_disk_leaves_whole_records);
    tcase_add_test(tests, a_folder_that_cannot_be_made_is_named);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
