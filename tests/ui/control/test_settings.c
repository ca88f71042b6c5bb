/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/replay.h"
#include "ui/actions/settings.h"
#include "ui/control/control.h"
#include "ui/session/settings.h"

/* The settings page by its keys, over a settings.conf in a folder of its own. */

static struct replay replay;
static char *folder;

static void setup(void)
{
    folder = temporary_folder();
    replay_begin(&replay);
    replay.saved.path = format("%s/settings.conf", folder);
    replay.saved.source.file = replay.saved.path;
    replay_recording(&replay, "idle", 0);
}

static void teardown(void)
{
    replay_end(&replay);
    remove_tree(folder);
}

/* Bring the cursor of the open page to a setting. */
static struct setting go_to(const char *name)
{
    struct setting setting;
    replay_keys(&replay, "<Home>");
    for (int line = 0; settings_look(&replay.ui, line, &setting); line++) {
        ck_assert_int_eq(replay.ui.line, line);
        if (strcmp(setting.name, name) == 0)
            return setting;
        replay_keys(&replay, "<Down>");
    }
    ck_abort_msg("no setting %s", name);
}

static void expect(const char *name, const char *value, bool unsaved)
{
    struct setting setting = go_to(name);
    ck_assert_str_eq(setting.value, value);
    ck_assert_int_eq(setting.unsaved, unsaved);
}

static bool screen_has(const char *text)
{
    char *screen = replay_screen(&replay, 24, 80, false);
    bool has = strstr(screen, text) != NULL;
    free(screen);
    return has;
}

START_TEST(screen_settings_act_at_once)
{
    replay_keys(&replay, "S");
    go_to("screen.palette");
    replay_keys(&replay, "+");
    ck_assert_int_eq(replay.ui.preferences.palette, PALETTE_COLOUR_BLIND);
    replay_keys(&replay, "<Right>");
    ck_assert_int_eq(replay.ui.preferences.palette, PALETTE_DEFAULT);
    go_to("screen.background");
    replay_keys(&replay, "-");
    ck_assert_int_eq(replay.ui.preferences.background, BACKGROUND_LIGHT);
    go_to("screen.canvas");
    replay_keys(&replay, "<Enter>quadrant<Enter>");
    ck_assert_int_eq(replay.ui.preferences.canvas, CANVAS_QUADRANT);
    replay_keys(&replay, "<Delete>");
    ck_assert_int_eq(replay.ui.preferences.canvas, CANVAS_AUTO);
    expect("screen.canvas", "auto", false);
    expect("screen.background", "light", true);
    ck_assert(screen_has("* background"));
}
END_TEST

START_TEST(values_step_as_in_the_form)
{
    replay_keys(&replay, "S");
    go_to("train.batch");
    replay_keys(&replay, "+");
    expect("train.batch", "512", true);
    replay_keys(&replay, "--");
    expect("train.batch", "128", true);
    go_to("train.lr");
    replay_keys(&replay, "+");
    expect("train.lr", "0.2", true);
    go_to("train.epochs");
    replay_keys(&replay, "-");
    expect("train.epochs", "9", true);
    go_to("train.dtype");
    replay_keys(&replay, "+");
    expect("train.dtype", "f32", true);
    /* The next run stays what it was. */
    ck_assert_int_eq(replay.ui.form.spec.batch, 256);
}
END_TEST

START_TEST(wrong_values_stay_to_be_mended)
{
    replay_keys(&replay, "S");
    go_to("train.batch");
    replay_keys(&replay, "<Enter>0<Enter>");
    ck_assert_ptr_nonnull(strstr(replay.ui.message.text, "batch '0'"));
    ck_assert(prompt_in_view(&replay.ui));
    replay_keys(&replay, "<Esc>");
    expect("train.batch", "256", false);
    replay_keys(&replay, "<Enter>77<Enter>");
    expect("train.batch", "77", true);
    /* A folder has no steps. */
    go_to("train.data_dir");
    ck_assert(!ui_can(&replay.ui, ACTION_MORE));
}
END_TEST

START_TEST(the_form_is_taken_over)
{
    struct error err = ERROR_INIT;
    ck_assert(form_set(&replay.ui.form, FORM_BATCH, "64", &err));
    ck_assert(form_set(&replay.ui.form, FORM_SYNC_BN, "yes", &err));
    replay_keys(&replay, "Sf");
    ck_assert_str_eq(replay.ui.message.text, "2 of the form's values taken over; w saves them");
    expect("train.batch", "64", true);
    expect("train.sync_bn", "yes", true);
    expect("train.lr", "0.1", false);
    replay_keys(&replay, "f");
    ck_assert_str_eq(replay.ui.message.text, "the form has these values already");
}
END_TEST

START_TEST(saving_says_where)
{
    struct stat info;
    replay_keys(&replay, "S");
    ck_assert(!ui_can(&replay.ui, ACTION_SAVE));
    go_to("screen.mouse");
    replay_keys(&replay, "+w");
    ck_assert_msg(strncmp(replay.ui.message.text, "saved in /", 10) == 0, "%s",
                  replay.ui.message.text);
    ck_assert_int_eq(stat(replay.saved.path, &info), 0);
    expect("screen.mouse", "no", false);
    replay_keys(&replay, "q");
    ck_assert_str_eq(replay.ui.message.text, "");
    replay_keys(&replay, "q");
    ck_assert(replay.ui.quit);
}
END_TEST

START_TEST(what_cannot_be_saved_is_said_and_kept)
{
    replay_keys(&replay, "S+");
    ck_assert_int_eq(mkdir(replay.saved.path, 0700), 0);
    replay_keys(&replay, "w");
    ck_assert(replay.ui.message.bad);
    ck_assert_ptr_nonnull(strstr(replay.ui.message.text, "not saved: "));
    expect("screen.charset", "utf8", true);
}
END_TEST

START_TEST(leaving_unsaved_is_said_and_quitting_asked)
{
    replay_keys(&replay, "S+q");
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    ck_assert_ptr_nonnull(strstr(replay.ui.message.text, "1 setting is not saved"));
    replay_keys(&replay, "q");
    ck_assert(!replay.ui.quit);
    ck_assert_ptr_nonnull(strstr(replay.ui.question_text, "1 setting is not saved"));
    replay_keys(&replay, "n");
    ck_assert(!replay.ui.quit);
    ck_assert_ptr_null(replay.ui.question);
    replay_keys(&replay, "qy");
    ck_assert(replay.ui.quit);
    ck_assert_int_eq(access(replay.saved.path, F_OK), -1);
}
END_TEST

START_TEST(quitting_can_save)
{
    replay_keys(&replay, "S+");
    ui_leave(&replay.ui);
    ck_assert_int_eq(mkdir(replay.saved.path, 0700), 0);
    replay_keys(&replay, "s");
    ck_assert(!replay.ui.quit);
    ck_assert_ptr_nonnull(strstr(replay.ui.message.text, "not saved: "));
    ck_assert_int_eq(rmdir(replay.saved.path), 0);
    ui_leave(&replay.ui);
    replay_keys(&replay, "s");
    ck_assert(replay.ui.quit);
    ck_assert_int_eq(access(replay.saved.path, F_OK), 0);
}
END_TEST

/* Ctrl-C twice leaves whatever was asked. */
START_TEST(asked_twice_it_leaves)
{
    replay_keys(&replay, "S+");
    ui_leave(&replay.ui);
    ck_assert(!replay.ui.quit);
    ui_leave(&replay.ui);
    ck_assert(replay.ui.quit);
}
END_TEST

/* What another view has changed is on the page, too. */
START_TEST(the_page_follows_the_screen)
{
    replay.ui.preferences.load = LOAD_NUMBER;
    replay_keys(&replay, "S");
    expect("screen.load", "number", true);
}
END_TEST

/* Whatever changed them, and whether the page was opened or not. */
START_TEST(changes_by_keys_count_when_leaving)
{
    replay_keys(&replay, "vq");
    ck_assert(!replay.ui.quit);
    ck_assert_str_eq(replay.ui.question_text,
                     "1 setting is not saved: save first (s), or leave without (y)?");
    replay_keys(&replay, "nvvq");
    ck_assert(replay.ui.quit);
}
END_TEST

START_TEST(columns_have_switches)
{
    const struct run_columns *columns = &replay.ui.preferences.columns;
    replay_recording(&replay, "runs", 0);
    replay_keys(&replay, "RV<Down><Down> ");
    ck_assert_int_eq(replay.ui.view, VIEW_COLUMNS);
    ck_assert_str_eq(columns->text, "run,model,devices,batch,lr,epochs,acc,best,s/epoch,samples/s,"
                                    "speed-up,status,started,split,sync,note");
    ck_assert(screen_has("[ ] data "));
    ck_assert(screen_has("[x] note       no room on this screen: "));
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    ck_assert_str_eq(replay.ui.message.text, "1 setting is not saved: press S, then w");
    ck_assert(!screen_has("fashion-m"));
    /* As it was is no choice; what says nothing here is only there where it was chosen. */
    replay_keys(&replay, "V<Down><Down> ");
    ck_assert_int_eq(columns->count, 0);
    replay_keys(&replay, "<Down> ");
    ck_assert(run_columns_have(columns, RUN_COLUMN_ROWS));
    ck_assert(!run_columns_have(columns, RUN_COLUMN_ENERGY));
    replay_keys(&replay, "d");
    ck_assert_int_eq(columns->count, 0);
    ck_assert(
        preferences_set(&replay.ui.preferences, "columns", "model", &(struct error)ERROR_INIT));
    replay_keys(&replay, "<Up><Up> ");
    ck_assert_str_eq(replay.ui.message.text, "one column has to stay");
    replay_keys(&replay, "<Up> w");
    ck_assert_str_eq(columns->text, "run,model");
    replay_keys(&replay, "S");
    expect("screen.columns", "run,model", false);
}
END_TEST

/* Help is everywhere, and so are the columns: no two of them lead back to each other. */
START_TEST(columns_and_help_lead_back)
{
    replay_recording(&replay, "runs", 0);
    replay_keys(&replay, "RV?V<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    replay_keys(&replay, "?V?");
    ck_assert_int_eq(replay.ui.view, VIEW_HELP);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
}
END_TEST

START_TEST(what_will_be_overridden_is_said)
{
    replay_keys(&replay, "S");
    go_to("train.batch");
    ck_assert(screen_has("batch: global batch size"));
    replay.saved.entry[replay.ui.line].above = format("99");
    replay.saved.entry[replay.ui.line].above_source = SOURCE_ENVIRONMENT;
    expect("train.batch", "99", false);
    ck_assert(screen_has("environment"));
    ck_assert(screen_has("batch: DPARTUI_BATCH wins over what is saved, at the next start"));
    replay.saved.entry[replay.ui.line].above_source = SOURCE_COMMAND_LINE;
    replay_keys(&replay, "+");
    expect("train.batch", "198", true);
    ck_assert(screen_has("batch: the command line wins over what is saved"));
}
END_TEST

START_TEST(without_a_source_the_page_says_so)
{
    replay.ui.settings_source = NULL;
    replay_keys(&replay, "S+-<Enter>wdf<Down><End>");
    ck_assert(screen_has("No settings are kept here."));
    replay_keys(&replay, "qq");
    ck_assert(replay.ui.quit);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("settings page");
    TCase *tests = tcase_create("settings page");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, screen_settings_act_at_once);
    tcase_add_test(tests, values_step_as_in_the_form);
    tcase_add_test(tests, wrong_values_stay_to_be_mended);
    tcase_add_test(tests, the_form_is_taken_over);
    tcase_add_test(tests, saving_says_where);
    tcase_add_test(tests, what_cannot_be_saved_is_said_and_kept);
    tcase_add_test(tests, leaving_unsaved_is_said_and_quitting_asked);
    tcase_add_test(tests, quitting_can_save);
    tcase_add_test(tests, asked_twice_it_leaves);
    tcase_add_test(tests, the_page_follows_the_screen);
    tcase_add_test(tests, changes_by_keys_count_when_leaving);
    tcase_add_test(tests, columns_have_switches);
    tcase_add_test(tests, columns_and_help_lead_back);
    tcase_add_test(tests, what_will_be_overridden_is_said);
    tcase_add_test(tests, without_a_source_the_page_says_so);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}
