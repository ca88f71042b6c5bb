/* SPDX-License-Identifier: MIT */
/* Commands that notify, real ones: what they are told, and what is said of those that fail. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/server/queue/notifier.h"
#include "tests/suites.h"
#include "tests/support.h"

static struct engine_log journal;
static struct notifier *notifier;
static char *folder;

static void changed(void *context)
{
    (void)context;
}

static void begin(double limit_s)
{
    struct error err = ERROR_INIT;
    notifier = notifier_start(&journal, limit_s, &err);
    ck_assert_msg(notifier != NULL, "%s", err.text);
}

static void setup(void)
{
    folder = temporary_folder();
    ck_assert_int_eq(chdir(folder), 0);
    engine_log_begin(&journal, -1, changed, NULL);
    begin(20);
}

static void teardown(void)
{
    notifier_end(notifier);
    engine_log_end(&journal);
    ck_assert_int_eq(chdir("/"), 0);
    remove_tree(folder);
}

static void post(const char *command, const char *status, const char *text)
{
    json_t *event = json_pack("{s:s, s:s, s:f}", "event", "end", "status", status, "test_acc", 0.9);
    notifier_post(notifier, command, 7, event, text);
    json_decref(event);
}

/* Let all commands end. */
static void finish(void)
{
    notifier_end(notifier);
    notifier = NULL;
}

/* The file's text, for the caller to free; NULL: there is none. */
static char *content(const char *name)
{
    struct error err = ERROR_INIT;
    char *data = NULL;
    size_t length;
    return file_read(name, 10000, &data, &length, &err) ? data : NULL;
}

static void assert_content(const char *name, const char *expected)
{
    char *data = content(name);
    ck_assert_ptr_nonnull(data);
    ck_assert_str_eq(data, expected);
    free(data);
}

/* The only message, or "". */
static const char *message(void)
{
    static char text[400];
    json_t *all = engine_log_newest(&journal, 10);
    ck_assert_uint_le(json_array_size(all), 1);
    snprintf(text, sizeof text, "%s", member_string(json_array_get(all, 0), "text"));
    json_decref(all);
    return text;
}

START_TEST(a_command_is_told_what_has_ended)
{
    setenv("DPARTUI_RUN", "an older one", 1);
    post("printf '%s|' \"$DPARTUI_RUN\" \"$DPARTUI_STATUS\" \"$DPARTUI_ACCURACY\" "
         "\"$DPARTUI_TEXT\" >told; env | grep -c ^DPARTUI_RUN= >>told; cat >>told; echo seen",
         "done", "it's \"done\"; $(touch injected)");
    finish();
    assert_content("told", "7|done|0.9000|it's \"done\"; $(touch injected)|1\n");
    ck_assert_int_ne(access("injected", F_OK), 0);
    ck_assert_str_eq(message(), "");
}
END_TEST

START_TEST(of_an_accuracy_that_is_not_known_nothing_is_said)
{
    json_t *event = json_pack("{s:s, s:s, s:n}", "event", "end", "status", "failed", "test_acc");
    notifier_post(notifier, "echo ${DPARTUI_ACCURACY-none} >told", 7, event, "");
    json_decref(event);
    finish();
    assert_content("told", "none\n");
}
END_TEST

START_TEST(validation_rows_are_what_a_run_is_judged_by)
{
    json_t *event = json_pack("{s:s, s:s, s:f, s:f}", "event", "end", "status", "done", "test_acc",
                              0.5, "val_acc", 0.25);
    notifier_post(notifier, "echo $DPARTUI_ACCURACY >told", 7, event, "");
    json_decref(event);
    finish();
    assert_content("told", "0.2500\n");
}
END_TEST

START_TEST(what_is_no_command_or_no_news)
{
    post("bell", "done", "");
    post(NULL, "done", "");
    post("touch told", "cancelled", "");
    finish();
    ck_assert_int_ne(access("told", F_OK), 0);
    ck_assert_str_eq(message(), "");
}
END_TEST

START_TEST(a_command_that_is_missing)
{
    post("/nowhere/notify 2>/dev/null", "done", "");
    finish();
    ck_assert_str_eq(message(),
                     "run 7: notify '/nowhere/notify 2>/dev/null' ended with status 127");
}
END_TEST

START_TEST(a_command_that_fails_says_why)
{
    post("echo no mail today >&2; echo really; exit 3", "done", "");
    finish();
    ck_assert_str_eq(message(), "run 7: notify 'echo no mail today >&2; echo really; exit 3' "
                                "ended with status 3: no mail today");
}
END_TEST

/* A command, and a line that it prints, which are cut at a character. */
START_TEST(what_is_cut_is_cut_at_a_character)
{
    char command[200] = ": ", line[250] = "";
    const size_t quoted = 79;
    memset(command + 2, 'x', quoted - 2);
    strcpy(command + quoted, "\u00e9; cat line; exit 3");
    memset(line, 'y', 198);
    strcpy(line + 198, "\u00e9\n");
    FILE *file = fopen("line", "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(line, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    post(command, "done", "");
    finish();
    char *expected = format("run 7: notify '%.79s' ended with status 3: %.198s", command, line);
    ck_assert_str_eq(message(), expected);
    free(expected);
}
END_TEST

START_TEST(a_command_that_is_killed)
{
    post("kill -9 $$", "done", "");
    finish();
    ck_assert_str_eq(message(), "run 7: notify 'kill -9 $$' was ended by signal 9");
}
END_TEST

/* A zombie is not: whoever has taken an orphan over reaps it in its own time. */
static bool is_alive(pid_t pid)
{
    char line[200] = "";
    char *path = format("/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    free(path);
    if (!file)
        return false;
    bool read = fgets(line, sizeof line, file);
    fclose(file);
    return read && !strstr(line, ") Z ");
}

/* Also what it has started, although it has ignored all that can be ignored. */
START_TEST(a_command_that_hangs_is_killed_with_all_it_started)
{
    finish();
    begin(0.5);
    post("trap '' TERM INT HUP; (sleep 600 & echo $! >child); sleep 600", "done", "");
    double before = clock_seconds();
    post("touch next", "done", "");
    ck_assert_msg(clock_seconds() - before < 0.5, "posting has waited");
    for (int i = 0; i < 1000 && access("next", F_OK) != 0; i++)
        usleep(20000);
    ck_assert_int_eq(access("next", F_OK), 0);
    char *child = content("child");
    ck_assert_ptr_nonnull(child);
    pid_t pid = (pid_t)strtol(child, NULL, 10);
    free(child);
    for (int i = 0; i < 1000 && is_alive(pid); i++)
        usleep(20000);
    ck_assert(!is_alive(pid));
    ck_assert_str_eq(message(),
                     "run 7: notify 'trap '' TERM INT HUP; (sleep 600 & echo $! >child); "
                     "sleep 600' has not ended within 0.5 s and was killed");
}
END_TEST

START_TEST(an_engine_that_ends_does_not_wait_for_ever)
{
    finish();
    begin(0.3);
    double before = clock_seconds();
    post("sleep 600", "done", "");
    for (int i = 0; i < 150; i++)
        post("sleep 600", "done", "");
    finish();
    ck_assert_msg(clock_seconds() - before < 60, "it has waited for all of them");
}
END_TEST

START_TEST(much_output_blocks_nobody)
{
    post("dd if=/dev/zero bs=1000 count=1000 2>/dev/null; touch told; exit 1", "done", "");
    finish();
    ck_assert_int_eq(access("told", F_OK), 0);
    ck_assert_msg(strstr(message(), "ended with status 1: ????"), "%s", message());
}
END_TEST

START_TEST(what_it_leaves_running_is_not_waited_for)
{
    post("sleep 600 & echo $! >child", "done", "");
    finish();
    char *child = content("child");
    ck_assert_ptr_nonnull(child);
    pid_t pid = (pid_t)strtol(child, NULL, 10);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    free(child);
    ck_assert_str_eq(message(), "");
}
END_TEST

/* Also not read from for ever: they end as nobody reads any more. */
START_TEST(what_it_leaves_running_may_write_without_end)
{
    post("for i in 1 2 3 4; do yes & done; sleep 0.3; exit 3", "done", "");
    finish();
    ck_assert_str_eq(message(), "run 7: notify 'for i in 1 2 3 4; do yes & done; sleep 0.3; exit "
                                "3' ended with status 3: y");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("notifier");
    TCase *tc = tcase_create("commands");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_command_is_told_what_has_ended);
    tcase_add_test(tc, of_an_accuracy_that_is_not_known_nothing_is_said);
    tcase_add_test(tc, validation_rows_are_what_a_run_is_judged_by);
    tcase_add_test(tc, what_is_no_command_or_no_news);
    tcase_add_test(tc, a_command_that_is_missing);
    tcase_add_test(tc, a_command_that_fails_says_why);
    tcase_add_test(tc, what_is_cut_is_cut_at_a_character);
    tcase_add_test(tc, a_command_that_is_killed);
    tcase_add_test(tc, a_command_that_hangs_is_killed_with_all_it_started);
    tcase_add_test(tc, an_engine_that_ends_does_not_wait_for_ever);
    tcase_add_test(tc, much_output_blocks_nobody);
    tcase_add_test(tc, what_it_leaves_running_is_not_waited_for);
    tcase_add_test(tc, what_it_leaves_running_may_write_without_end);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
