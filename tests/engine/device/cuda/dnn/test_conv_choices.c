/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/choices.h"
#include "base/file.h"
#include "engine/device/cuda/dnn/conv/choices.h"
#include "engine/device/cuda/dnn/conv/plan.h"
#include "engine/device/cuda/dnn/conv/request.h"
#include "tests/engine/device/cuda/dnn/conv_cases.h"
#include "tests/suites.h"
#include "tests/support.h"

static char *folder, *path;
static struct error err;

static const struct conv_choice choice = {
    .way = {.engine = 62, .knob_count = 2, .knobs = {{2, 4}, {27, -8}}},
    .workspace = 131,
    .seconds = 0.000123456,
};

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    folder = temporary_folder();
    path = format("%s/a/b/choices", folder);
}

static void teardown(void)
{
    free(path);
    remove_tree(folder);
}

static void put(const char *key, int64_t engine)
{
    struct conv_choice other = choice;
    other.way.engine = engine;
    ck_assert_msg(conv_choices_put(path, key, &other, &err), "%s", err.text);
}

/* The engine chosen for `key`; -1: none. */
static int64_t engine_of(const char *key)
{
    struct conv_choice found;
    return conv_choices_find(path, key, &found) ? found.way.engine : -1;
}

/* Write the file as it stands. */
static void put_text(const char *text)
{
    put_file(folder, "a/b/choices", text, strlen(text));
}

START_TEST(choices_come_back)
{
    struct conv_choice found;
    char *key = conv_choices_key(91900, "NVIDIA\tH200\n", "conv 3x3");
    ck_assert_str_eq(key, "91900\tNVIDIA\\x09H200\\x0a\tconv 3x3");
    ck_assert(!conv_choices_find(path, key, &found));
    ck_assert_msg(conv_choices_put(path, key, &choice, &err), "%s", err.text);
    ck_assert(conv_choices_find(path, key, &found));
    ck_assert_int_eq(found.way.engine, 62);
    ck_assert_int_eq(found.way.knob_count, 2);
    ck_assert_int_eq(found.way.knobs[0].type, 2);
    ck_assert_int_eq(found.way.knobs[0].value, 4);
    ck_assert_int_eq(found.way.knobs[1].type, 27);
    ck_assert_int_eq(found.way.knobs[1].value, -8);
    ck_assert_uint_eq(found.workspace, 131);
    ck_assert_double_eq_tol(found.seconds, 0.000123456, 1e-9);
    free(key);
}
END_TEST

START_TEST(choices_are_replaced_and_dropped)
{
    struct conv_choice none = {.way = {.engine = 0}};
    put("1\tg\ta", 1);
    put("1\tg\tb", 2);
    put("1\tg\ta", 3);
    ck_assert_int_eq(engine_of("1\tg\ta"), 3);
    ck_assert_int_eq(engine_of("1\tg\tb"), 2);
    /* Neither the beginning of a key nor a longer one is the same. */
    ck_assert_int_eq(engine_of("1\tg\t"), -1);
    ck_assert_int_eq(engine_of("1\tg\tab"), -1);
    ck_assert_int_eq(engine_of("1\th\ta"), -1);
    ck_assert(conv_choices_put(path, "1\tg\ta", NULL, &err));
    ck_assert_int_eq(engine_of("1\tg\ta"), -1);
    ck_assert_int_eq(engine_of("1\tg\tb"), 2);
    /* No knobs, nothing measured. */
    ck_assert(conv_choices_put(path, "1\tg\tc", &none, &err));
    ck_assert_int_eq(engine_of("1\tg\tc"), 0);
}
END_TEST

static const char *const bad_lines[] = {
    "1\tg\ta\t7",
    "1\tg\ta\t7\t-\t0",
    "1\tg\ta\t7\t-\t0\t0.1\t9",
    "1\tg\ta\t7\t-\t-1\t0.1",
    "1\tg\ta\t-7\t-\t0\t0.1",
    "1\tg\ta\tx\t-\t0\t0.1",
    "1\tg\ta\t7\t2\t0\t0.1",
    "1\tg\ta\t7\t2=\t0\t0.1",
    "1\tg\ta\t7\t=2\t0\t0.1",
    "1\tg\ta\t7\t2=3,\t0\t0.1",
    "1\tg\ta\t7\t\t0\t0.1",
    "1\tg\ta\t7\t-\t0\tnan",
    "1\tg\ta\t7\t-\t0\t-1",
    "1\tg\ta\t7\t-\t99999999999999999999\t1",
    "#1\tg\ta\t7\t-\t0\t0.1",
    "\t\t\t\t\t\t\t",
    "\xff\xfe\x01",
    "",
};

START_TEST(bad_lines_are_as_good_as_not_there)
{
    char *text = format("%s\n1\tg\tb\t5\t2=3\t0\t0.1\n%s\n", bad_lines[_i], bad_lines[_i]);
    put_text(text);
    free(text);
    ck_assert_int_eq(engine_of("1\tg\ta"), -1);
    ck_assert_int_eq(engine_of("1\tg\tb"), 5);
    put("1\tg\tc", 6);
    ck_assert_int_eq(engine_of("1\tg\tb"), 5);
    ck_assert_int_eq(engine_of("1\tg\tc"), 6);
}
END_TEST

/* As after a crash of something that does not write whole files. */
START_TEST(truncated_files_do_no_harm)
{
    static const char text[] = "1\tg\ta\t4\t2=3,4=5\t10\t0.25\n1\tg\tb\t5\t-\t10\t0.25\n";
    for (size_t length = 0; length < sizeof text - 1; length++) {
        put_file(folder, "a/b/choices", text, length);
        ck_assert_int_eq(engine_of("1\tg\tb"), -1);
        ck_assert_int_eq(engine_of("1\tg\ta"), length >= 24 ? 4 : -1);
    }
    put_file(folder, "a/b/choices", text, sizeof text - 1);
    ck_assert_int_eq(engine_of("1\tg\tb"), 5);
}
END_TEST

START_TEST(too_many_knobs_are_a_bad_line)
{
    char text[1024] = "1\tg\ta\t4\t1=1";
    for (int i = 0; i < DNN_KNOBS; i++)
        strcat(text, ",1=1");
    strcat(text, "\t0\t1\n");
    put_text(text);
    ck_assert_int_eq(engine_of("1\tg\ta"), -1);
}
END_TEST

START_TEST(the_file_stays_small)
{
    FILE *file;
    put("1\tg\tfirst", 1);
    file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 2 * CHOICES_LIMIT; i++)
        fprintf(file, "1\tg\tn%d\t4\t-\t0\t1\n", i);
    ck_assert_int_eq(fclose(file), 0);
    put("1\tg\tlast", 2);
    ck_assert_int_eq(engine_of("1\tg\tlast"), 2);
    ck_assert_int_eq(engine_of("1\tg\tfirst"), -1);
    char *key = format("1\tg\tn%d", 2 * CHOICES_LIMIT - 1);
    ck_assert_int_eq(engine_of(key), 4);
    free(key);
    /* One comment, and as many choices as allowed. */
    char *text;
    size_t length, lines = 0;
    ck_assert(file_read(path, (size_t)8 << 20, &text, &length, &err));
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    free(text);
    ck_assert_uint_eq(lines, 1 + CHOICES_LIMIT);
}
END_TEST

START_TEST(what_is_no_file_is_an_error_of_writing_alone)
{
    ck_assert_int_eq(engine_of("1\tg\ta"), -1);
    put("1\tg\ta", 1);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(engine_of("1\tg\ta"), -1);
    ck_assert(!conv_choices_put(path, "1\tg\ta", &choice, &err));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
}
END_TEST

START_TEST(a_folder_that_cannot_be_made_is_an_error)
{
    put_file(folder, "a", "", 0);
    ck_assert(!conv_choices_put(path, "1\tg\ta", &choice, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/a"));
    ck_assert_int_eq(engine_of("1\tg\ta"), -1);
}
END_TEST

/* The disk is full in the middle of the new file: the old one stays. */
START_TEST(a_full_disk_keeps_what_was_there)
{
    struct rlimit limit;
    put("1\tg\ta", 1);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 64;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool done = conv_choices_put(path, "1\tg\tb", &choice, &err);
    limit.rlim_cur = before;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert(!done);
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_int_eq(engine_of("1\tg\ta"), 1);
    ck_assert_int_eq(engine_of("1\tg\tb"), -1);
}
END_TEST

#define WRITERS 4
#define EACH    6

static void write_many(int writer)
{
    for (int i = 0; i < EACH; i++) {
        /* Engines find choices one by one, with time between them. */
        static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
        char *key = format("1\tg\tw%d-%d", writer, i);
        nanosleep(&pause, NULL);
        if (!conv_choices_put(path, key, &choice, &err))
            _exit(1);
        free(key);
    }
    _exit(0);
}

START_TEST(writers_take_turns)
{
    for (int writer = 0; writer < WRITERS; writer++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            write_many(writer);
    }
    for (int writer = 0; writer < WRITERS; writer++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int writer = 0; writer < WRITERS; writer++)
        for (int i = 0; i < EACH; i++) {
            char *key = format("1\tg\tw%d-%d", writer, i);
            ck_assert_int_eq(engine_of(key), 62);
            free(key);
        }
}
END_TEST

START_TEST(the_users_file_is_in_the_cache)
{
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", "/x", 1), 0);
    char *where = conv_choices_path(&err);
    ck_assert_str_eq(where, "/x/dpartui/cudnn-choices");
    free(where);
    ck_assert_int_eq(unsetenv("XDG_CACHE_HOME"), 0);
    ck_assert_int_eq(setenv("HOME", "/home/u", 1), 0);
    where = conv_choices_path(&err);
    ck_assert_str_eq(where, "/home/u/.cache/dpartui/cudnn-choices");
    free(where);
    ck_assert_int_eq(unsetenv("HOME"), 0);
    ck_assert_ptr_null(conv_choices_path(&err));
}
END_TEST

static const struct conv_request request = {.pattern = CONV_DATA, .rows = 256, CONV_3X3_OF_64};

START_TEST(a_request_as_text)
{
    char text[256], small[12];
    struct conv_request r = request;
    ck_assert_str_eq(conv_request_text(&r, text, sizeof text),
                     "conv 3x3/1 64x28x28 -> 64, 256 rows, bf16, data");
    r.pattern = CONV_FORWARD_BIAS;
    r.relu = r.deterministic = true;
    r.kernel_w = 1;
    r.stride_w = 2;
    r.type = TYPE_TF32;
    ck_assert_str_eq(conv_request_text(&r, text, sizeof text),
                     "conv 3x1/1x2 pad 1x1 64x28x28 -> 64, 256 rows, tf32, "
                     "forward + bias + ReLU, deterministic");
    ck_assert_str_eq(conv_request_text(&r, small, sizeof small), "conv 3x1/1x");
}
END_TEST

/* The text is the key of choices: nothing that makes a difference may be missing in it. */
START_TEST(different_requests_have_different_texts)
{
    struct conv_request other[15];
    int count = 0;
    char text[256], first[256];
    for (int i = 0; i < 15; i++)
        other[i] = request;
    other[count++].pattern = CONV_WEIGHTS;
    other[count++].type = TYPE_F32;
    other[count++].rows = 255;
    other[count++].in = 8;
    other[count++].in_h = 27;
    other[count++].in_w = 27;
    other[count++].out = 8;
    other[count++].kernel_h = 1;
    other[count++].kernel_w = 1;
    other[count++].stride_h = 2;
    other[count++].stride_w = 2;
    other[count++].pad_h = 0;
    other[count++].pad_w = 0;
    other[count++].relu = true;
    other[count++].deterministic = true;
    ck_assert_int_eq(count, 15);
    conv_request_text(&request, first, sizeof first);
    for (int i = 0; i < count; i++)
        ck_assert_str_ne(conv_request_text(&other[i], text, sizeof text), first);
}
END_TEST

START_TEST(requests_without_sense_are_refused)
{
    struct conv_request r = request;
    ck_assert_msg(conv_request_check(&r, &err), "%s", err.text);
    r.in = 63;
    ck_assert(!conv_request_check(&r, &err));
    r = request;
    r.out_h = 14;
    ck_assert(!conv_request_check(&r, &err));
    r = request;
    r.rows = 0;
    ck_assert(!conv_request_check(&r, &err));
    r = request;
    r.relu = true;
    ck_assert(!conv_request_check(&r, &err));
    r = request;
    r.type = TYPE_DEFAULT;
    ck_assert(!conv_request_check(&r, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "no number type"));
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

int main(void)
{
    Suite *suite = suite_create("conv_choices");
    TCase *tcase = tcase_create("conv_choices");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, choices_come_back);
    tcase_add_test(tcase, choices_are_replaced_and_dropped);
    tcase_add_loop_test(tcase, bad_lines_are_as_good_as_not_there, 0, COUNT(bad_lines));
    tcase_add_test(tcase, truncated_files_do_no_harm);
    tcase_add_test(tcase, too_many_knobs_are_a_bad_line);
    tcase_add_test(tcase, the_file_stays_small);
    tcase_add_test(tcase, what_is_no_file_is_an_error_of_writing_alone);
    tcase_add_test(tcase, a_folder_that_cannot_be_made_is_an_error);
    tcase_add_test(tcase, a_full_disk_keeps_what_was_there);
    tcase_add_test(tcase, writers_take_turns);
    tcase_add_test(tcase, the_users_file_is_in_the_cache);
    tcase_add_test(tcase, a_request_as_text);
    tcase_add_test(tcase, different_requests_have_different_texts);
    tcase_add_test(tcase, requests_without_sense_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
