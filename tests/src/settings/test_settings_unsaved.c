/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/src/settings/saved_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/* What goes wrong with settings.conf. */

/* Files, and what the error says after the path of settings.conf. */
static const struct {
    const char *text, *says;
} broken[] = {
    {"screen = {\n  palette = \"pink\";\n};", ":2: screen.palette: palette 'pink'"},
    {"train = { batch = -1; };", ":1: train.batch: batch '-1'"},
    {"train = { bacth = 1; };", ":1: train.bacth: unknown key"},
    {"train = {", ":1: syntax error"},
    {"keys = { start = \"s\"; };", ":1: keys: belong in dpartui.conf"},
};

START_TEST(a_broken_file_is_named)
{
    put_text(saved_file, broken[_i].text);
    ck_assert(!settings_load(&settings, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    char *wanted = format("%s%s", saved_file, broken[_i].says);
    ck_assert_msg(strncmp(err.text, wanted, strlen(wanted)) == 0, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(err.text, "mend it or remove it"));
    free(wanted);
}
END_TEST

START_TEST(what_cannot_be_saved_is_kept)
{
    saved_begin();
    ck_assert(saved_set("train.batch", "64"));
    char *config = format("%s/dpartui", folder);
    ck_assert_int_eq(rmdir(config), 0);
    /* A file where the folder should be stands for all that a disk can do, also to root. */
    put_text(config, "");
    ck_assert(!saved_save());
    ck_assert_ptr_nonnull(strstr(err.text, config));
    ck_assert_ptr_null(strchr(err.text, '\n'));
    saved_expect("train.batch", "64", SOURCE_SAVED, true);
    ck_assert_int_eq(unlink(config), 0);
    ck_assert_msg(saved_save(), "%s", err.text);
    saved_expect("train.batch", "64", SOURCE_SAVED, false);
    free(config);
    saved_end();
}
END_TEST

/* As on a full disk: what was there before stays whole. */
START_TEST(a_write_that_fails_leaves_the_old_file)
{
    struct rlimit limit, before;
    saved_begin();
    ck_assert(saved_set("screen.mouse", "no"));
    ck_assert_msg(saved_save(), "%s", err.text);
    ck_assert(saved_set("train.batch", "64"));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100;
    ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool written = saved_save();
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert(!written);
    ck_assert_ptr_nonnull(strstr(err.text, "settings.conf"));
    saved_expect("train.batch", "64", SOURCE_SAVED, true);
    saved_end();
    saved_begin();
    saved_expect("screen.mouse", "no", SOURCE_SAVED, false);
    saved_expect("train.batch", "256", SOURCE_BUILT_IN, false);
    saved_end();
}
END_TEST

START_TEST(a_folder_is_made_and_a_folder_in_the_way_refused)
{
    char *config = format("%s/dpartui", folder);
    saved_begin();
    ck_assert_int_eq(rmdir(config), 0);
    ck_assert(saved_set("screen.mouse", "no"));
    ck_assert_msg(saved_save(), "%s", err.text);
    ck_assert_int_eq(unlink(saved_file), 0);
    ck_assert_int_eq(mkdir(saved_file, 0700), 0);
    ck_assert(saved_set("screen.mouse", "yes"));
    ck_assert(!saved_save());
    ck_assert_ptr_nonnull(strstr(err.text, "settings.conf: not a regular file"));
    saved_end();
    free(config);
}
END_TEST

START_TEST(nobody_without_a_home_saves)
{
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    saved_begin();
    ck_assert(saved_set("train.batch", "64"));
    ck_assert(!saved_save());
    ck_assert_ptr_nonnull(strstr(err.text, "set HOME"));
    saved_expect("train.batch", "64", SOURCE_SAVED, true);
    saved_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unsaved settings");
    TCase *tcase = tcase_create("unsaved settings");
    tcase_add_checked_fixture(tcase, saved_setup, saved_teardown);
    tcase_add_loop_test(tcase, a_broken_file_is_named, 0, sizeof broken / sizeof broken[0]);
    tcase_add_test(tcase, what_cannot_be_saved_is_kept);
    tcase_add_test(tcase, a_write_that_fails_leaves_the_old_file);
    tcase_add_test(tcase, a_folder_is_made_and_a_folder_in_the_way_refused);
    tcase_add_test(tcase, nobody_without_a_home_saves);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
