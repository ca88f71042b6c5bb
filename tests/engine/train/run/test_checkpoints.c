/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "tests/recorder.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Runs whose newest checkpoint is damaged, and what comes before a checkpoint appears. */

static char *folder, *checkpoints;

static void setup(void)
{
    folder = temporary_folder();
    checkpoints = format("%s/checkpoints", folder);
}

static void teardown(void)
{
    free(checkpoints);
    remove_tree(folder);
}

/* Epochs of 5 steps, each with a checkpoint. */
static void begin(struct recorder *recorder, int epochs, const char *save)
{
    char *settings = format("model=linear data=random:140x12 train-rows=100 test-rows=40 batch=20 "
                            "lr=0.1 momentum=0.9 devices=cpu:0 cpu-threads=1 checkpoint-every=1 "
                            "epochs=%d save=%s/%s",
                            epochs, folder, save);
    recorder_init(recorder, settings);
    recorder->keep.checkpoints = checkpoints;
    free(settings);
}

static void train(int epochs, bool resumes, const char *save)
{
    struct recorder recorder;
    begin(&recorder, epochs, save);
    recorder.keep.resumes = resumes;
    ck_assert_msg(recorder_run(&recorder), "%s", recorder.err.text);
    recorder_free(&recorder);
}

/* Checkpoints of 15 and 20 steps: one at the end of a run is never left out. */
static void make_two(void)
{
    train(3, false, "unused");
    train(4, true, "unused");
}

/* Change a bit at the end of the newest checkpoint's weights or momentum; its path. */
static char *damage_newest(bool momentum)
{
    struct error err = ERROR_INIT;
    long steps;
    char *data;
    size_t length;
    ck_assert_msg(checkpoint_find(checkpoints, &steps, &err), "%s", err.text);
    char *path =
        momentum ? checkpoint_state_path(checkpoints, steps) : checkpoint_path(checkpoints, steps);
    ck_assert_msg(file_read(path, 1 << 24, &data, &length, &err), "%s", err.text);
    data[length - 1] ^= 1;
    put_file(checkpoints, strrchr(path, '/') + 1, data, length);
    free(data);
    return path;
}

/* The tensors of two saved files; what their headers say of the run is not looked at. */
static void same_bits(const char *a, const char *b)
{
    const char *const names[] = {a, b};
    char *data[2];
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        struct error err = ERROR_INIT;
        char *path = path_join(folder, names[i]);
        ck_assert_msg(file_read(path, 1 << 24, &data[i], &length[i], &err), "%s", err.text);
        free(path);
    }
    ck_assert_uint_eq(length[0], length[1]);
    ck_assert_msg(memcmp(data[0], data[1], length[0]) == 0, "%s and %s differ", a, b);
    free(data[0]);
    free(data[1]);
}

START_TEST(a_damaged_one_is_named_and_the_one_before_used)
{
    struct recorder second;
    train(6, false, "whole");
    make_two();
    char *damaged = damage_newest(_i == 1);
    begin(&second, 6, "parts");
    second.keep.resumes = true;
    second.keep.resume_steps = 15;
    ck_assert_msg(recorder_run(&second), "%s", second.err.text);
    ck_assert_int_eq((int)recorder_number(recorder_event(&second, "run", 0), "resumed_at"), 15);
    ck_assert_int_eq(recorder_count(&second, "warning"), 1);
    const char *text = recorder_string(recorder_event(&second, "warning", 0), "text");
    ck_assert_msg(strstr(text, damaged) != NULL, "%s", text);
    ck_assert_msg(strstr(text, "is damaged") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "from the older checkpoint of step 15") != NULL, "%s", text);
    recorder_free(&second);
    same_bits("whole", "parts");
    free(damaged);
}
END_TEST

/* Its epochs in the store have been cut at that step. */
START_TEST(another_one_than_its_owner_expects_is_refused)
{
    struct recorder second;
    make_two();
    free(damage_newest(false));
    begin(&second, 6, "parts");
    second.keep.resumes = true;
    second.keep.resume_steps = 20;
    ck_assert(!recorder_run(&second));
    ck_assert_msg(strstr(second.err.text, "of step 20 was damaged") != NULL, "%s", second.err.text);
    ck_assert_msg(strstr(second.err.text, "that of step 15") != NULL, "%s", second.err.text);
    recorder_free(&second);
}
END_TEST

struct history {
    int calls;
    long newest[64]; /* of the checkpoints that were there */
    bool fails;
};

static bool sync_history(void *context, struct error *err)
{
    struct history *history = context;
    struct error ignored = ERROR_INIT;
    long newest;
    ck_assert_int_lt(history->calls, 64);
    checkpoint_find(checkpoints, &newest, &ignored);
    history->newest[history->calls++] = newest;
    return !history->fails || error_set(err, ERROR_FAILED, "runs.db: the disk is full");
}

START_TEST(history_comes_before_each_checkpoint)
{
    struct recorder recorder;
    struct history history = {.fails = _i == 1};
    struct error err = ERROR_INIT;
    long newest;
    begin(&recorder, 6, "weights");
    recorder.keep.sync = sync_history;
    recorder.keep.sync_context = &history;
    ck_assert_msg(recorder_run(&recorder), "%s", recorder.err.text);
    ck_assert_int_ge(history.calls, 1);
    ck_assert_int_eq((int)history.newest[0], -1);
    ck_assert_int_lt((int)history.newest[history.calls - 1], 30);
    /* It was written all the same. */
    ck_assert_msg(checkpoint_find(checkpoints, &newest, &err), "%s", err.text);
    ck_assert_int_eq((int)newest, 30);
    ck_assert_int_eq(recorder_count(&recorder, "warning") > 0, history.fails);
    if (history.fails) {
        json_t *warning = recorder_event(&recorder, "warning", -1);
        const char *text = recorder_string(warning, "text");
        ck_assert_str_eq(recorder_string(warning, "about"), "history");
        ck_assert_int_eq((int)recorder_number(warning, "count"), history.calls);
        ck_assert_msg(strstr(text, "runs.db: the disk is full") != NULL, "%s", text);
    }
    recorder_free(&recorder);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoints");
    TCase *tests = tcase_create("checkpoints");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_damaged_one_is_named_and_the_one_before_used, 0, 2);
    tcase_add_test(tests, another_one_than_its_owner_expects_is_refused);
    tcase_add_loop_test(tests, history_comes_before_each_checkpoint, 0, 2);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
