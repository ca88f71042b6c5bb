/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "settings_keeper.h"
#include "tests/support.h"

/* settings.conf, and who keeps it. The system's configuration directory is "etc" here. */

static char *folder, *own_file, *saved_file;
static struct settings settings;
static struct settings_keeper keeper;
static struct error err;

static void setup(void)
{
    static const char *const variables[] = {"DPARTUI_BATCH", "DPARTUI_PALETTE", "DPARTUI_MOUSE",
                                            "NO_COLOR"};

    folder = temporary_folder();
    ck_assert_int_eq(chdir(folder), 0);
    setenv("XDG_CONFIG_HOME", folder, 1);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    own_file = format("%s/dpartui/dpartui.conf", folder);
    saved_file = format("%s/dpartui/settings.conf", folder);
    char *config = format("%s/dpartui", folder);
    ck_assert_int_eq(mkdir(config, 0700), 0);
    free(config);
    err = (struct error)ERROR_INIT;
}

static void teardown(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    remove_tree(folder);
    free(own_file);
    free(saved_file);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ne(fputs(text, file), EOF);
    ck_assert_int_eq(fclose(file), 0);
}

static void begin(void)
{
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    ck_assert_msg(settings_keeper_open(&keeper, &settings, &err), "%s", err.text);
}

static void end(void)
{
    settings_keeper_close(&keeper);
    settings_free(&settings);
}

static size_t place(const char *name)
{
    size_t i = 0;

    while (settings_key(i) != NULL && strcmp(settings_key(i), name) != 0)
        i++;
    ck_assert_msg(settings_key(i) != NULL, "no key %s", name);
    return i;
}

static struct setting look(const char *name)
{
    struct setting setting;

    ck_assert(keeper.keeper.at(keeper.keeper.context, place(name), &setting));
    ck_assert_str_eq(setting.name, name);
    return setting;
}

static bool set(const char *name, const char *value)
{
    return keeper.keeper.set(keeper.keeper.context, place(name), value, &err);
}

static void reset(const char *name)
{
    ck_assert(keeper.keeper.reset(keeper.keeper.context, place(name), &err));
}

static bool save(void)
{
    return keeper.keeper.save(keeper.keeper.context, &err);
}

static void expect(const char *name, const char *value, enum setting_source source, bool unsaved)
{
    struct setting setting = look(name);

    ck_assert_str_eq(setting.value, value);
    ck_assert_msg(setting.source == source, "%s comes from %d", name, (int)setting.source);
    ck_assert_msg(setting.unsaved == unsaved, "%s unsaved: %d", name, setting.unsaved);
}

START_TEST(sources_are_known)
{
    struct setting setting;

    ck_assert_int_eq(mkdir("etc", 0700), 0);
    write_file("etc/dpartui.conf", "train = { lr = 0.5; batch = 10; momentum = 0.9; };");
    write_file(own_file, "train = { batch = 20; momentum = 0.5; };");
    write_file(saved_file, "train = { momentum = 0.95; }; screen = { mouse = true; };");
    setenv("DPARTUI_PALETTE", "colour-blind", 1);
    setenv("NO_COLOR", "1", 1);
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    ck_assert(spec_set(&settings.spec, "epochs", "3", &err));
    settings_on_command_line(&settings, "epochs");
    settings_on_command_line(&settings, "train-rows"); /* no key */
    ck_assert_msg(settings_keeper_open(&keeper, &settings, &err), "%s", err.text);
    expect("train.seed", "1", SOURCE_BUILT_IN, false);
    expect("train.lr", "0.5", SOURCE_SYSTEM, false);
    expect("train.batch", "20", SOURCE_USER, false);
    expect("train.momentum", "0.95", SOURCE_SAVED, false);
    expect("screen.mouse", "yes", SOURCE_SAVED, false);
    expect("screen.palette", "colour-blind", SOURCE_ENVIRONMENT, false);
    expect("screen.colour", "no", SOURCE_ENVIRONMENT, false);
    expect("train.epochs", "3", SOURCE_COMMAND_LINE, false);
    ck_assert_ptr_null(look("train.momentum").overridden);
    ck_assert_str_eq(look("screen.palette").overridden, "DPARTUI_PALETTE");
    ck_assert_str_eq(look("screen.colour").overridden, "NO_COLOR");
    ck_assert_str_eq(look("train.epochs").overridden, "the command line");
    ck_assert(!keeper.keeper.at(keeper.keeper.context, SETTINGS_KEYS, &setting));
    ck_assert_str_eq(keeper.keeper.file, saved_file);
    end();
}
END_TEST

START_TEST(what_is_saved_wins_the_next_time)
{
    write_file(own_file, "# mine\ntrain = { batch = 20; lr = 0.5; };\n");
    begin();
    ck_assert(set("train.batch", "64"));
    ck_assert(set("screen.palette", "colour-blind"));
    expect("train.batch", "64", SOURCE_SAVED, true);
    ck_assert_msg(save(), "%s", err.text);
    expect("train.batch", "64", SOURCE_SAVED, false);
    end();

    begin();
    expect("train.batch", "64", SOURCE_SAVED, false);
    expect("train.lr", "0.5", SOURCE_USER, false);
    ck_assert_int_eq(settings.spec.batch, 64);
    ck_assert_int_eq(settings.preferences.palette, PALETTE_COLOUR_BLIND);
    reset("train.batch");
    expect("train.batch", "20", SOURCE_USER, true);
    ck_assert_msg(save(), "%s", err.text);
    end();

    begin();
    expect("train.batch", "20", SOURCE_USER, false);
    expect("screen.palette", "colour-blind", SOURCE_SAVED, false);
    end();
    char *text;
    size_t length;
    ck_assert(file_read(own_file, 1000, &text, &length, &err));
    ck_assert_str_eq(text, "# mine\ntrain = { batch = 20; lr = 0.5; };\n");
    free(text);
}
END_TEST

/* Every key, with the values that are hardest to write down. */
START_TEST(everything_can_be_saved)
{
    static const struct {
        const char *name, *value;
    } values[] = {
        {"screen.charset", "ascii"},
        {"screen.colour", "no"},
        {"screen.palette", "colour-blind"},
        {"screen.background", "light"},
        {"screen.canvas", "quadrant"},
        {"screen.load", "number"},
        {"screen.mouse", "yes"},
        {"train.model", "/a \"b\" \\c/\xc3\xa9\x01.conf"},
        {"train.data", "random:1000x5"},
        {"train.data_dir", "/srv/@include \"x\""},
        {"train.devices", "cpu:0-2"},
        {"train.cpu_threads", "3"},
        {"train.batch", "16777216"},
        {"train.lr", "1e-05"},
        {"train.momentum", "0.95"},
        {"train.weight_decay", "0.0005"},
        {"train.epochs", "7"},
        {"train.seed", "9223372036854775807"},
        {"train.split", "weighted:1,2.5,0"},
        {"train.sync", "central"},
        {"train.sync_bn", "yes"},
        {"train.dtype", "f32"},
        {"train.init", "normal:0.02"},
        {"train.order", "sequential"},
    };

    ck_assert_uint_eq(sizeof values / sizeof values[0], SETTINGS_KEYS);
    begin();
    for (size_t i = 0; i < SETTINGS_KEYS; i++)
        ck_assert_msg(set(values[i].name, values[i].value), "%s", err.text);
    ck_assert_msg(save(), "%s", err.text);
    end();
    begin();
    for (size_t i = 0; i < SETTINGS_KEYS; i++)
        expect(values[i].name, values[i].value, SOURCE_SAVED, false);
    end();
}
END_TEST

START_TEST(wrong_values_change_nothing)
{
    begin();
    ck_assert(!set("train.batch", "0"));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "batch '0'"));
    ck_assert(!set("train.seed", "18446744073709551615"));
    ck_assert(!set("screen.palette", "pink"));
    ck_assert_str_eq(err.text, "palette 'pink' is none of default, colour-blind");
    expect("train.batch", "256", SOURCE_BUILT_IN, false);
    expect("train.seed", "1", SOURCE_BUILT_IN, false);
    end();
}
END_TEST

START_TEST(the_environment_goes_on_winning)
{
    setenv("DPARTUI_BATCH", "99", 1);
    begin();
    expect("train.batch", "99", SOURCE_ENVIRONMENT, false);
    ck_assert(set("train.batch", "64"));
    expect("train.batch", "64", SOURCE_SAVED, true);
    ck_assert_str_eq(look("train.batch").overridden, "DPARTUI_BATCH");
    ck_assert(save());
    end();
    begin();
    expect("train.batch", "99", SOURCE_ENVIRONMENT, false);
    reset("train.batch");
    expect("train.batch", "256", SOURCE_BUILT_IN, true);
    end();
    unsetenv("DPARTUI_BATCH");
}
END_TEST

/* Files, and what the error says behind the path of settings.conf. */
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
    write_file(saved_file, broken[_i].text);
    ck_assert(!settings_load(&settings, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    char *wanted = format("%s%s", saved_file, broken[_i].says);
    ck_assert_msg(strncmp(err.text, wanted, strlen(wanted)) == 0, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(err.text, "mend it or remove it"));
    free(wanted);
}
END_TEST

/* What one workbench saved another one keeps. */
START_TEST(two_that_save_do_not_undo_each_other)
{
    begin();
    write_file(saved_file, "train = { batch = 20; }; screen = { mouse = true; };");
    ck_assert(set("train.batch", "64"));
    ck_assert_msg(save(), "%s", err.text);
    expect("screen.mouse", "yes", SOURCE_SAVED, false);
    end();
    begin();
    expect("train.batch", "64", SOURCE_SAVED, false);
    expect("screen.mouse", "yes", SOURCE_SAVED, false);
    write_file(saved_file, "train = {");
    ck_assert(set("train.batch", "65"));
    ck_assert(!save());
    ck_assert_ptr_nonnull(strstr(err.text, "settings.conf:1: "));
    end();
}
END_TEST

START_TEST(what_cannot_be_saved_is_kept)
{
    begin();
    ck_assert(set("train.batch", "64"));
    char *config = format("%s/dpartui", folder);
    ck_assert_int_eq(rmdir(config), 0);
    /* A file where the folder should be stands for all that a disk can do, also to root. */
    write_file(config, "");
    ck_assert(!save());
    ck_assert_ptr_nonnull(strstr(err.text, config));
    ck_assert_ptr_null(strchr(err.text, '\n'));
    expect("train.batch", "64", SOURCE_SAVED, true);
    ck_assert_int_eq(unlink(config), 0);
    ck_assert_msg(save(), "%s", err.text);
    expect("train.batch", "64", SOURCE_SAVED, false);
    free(config);
    end();
}
END_TEST

START_TEST(there_and_back_is_no_change)
{
    begin();
    ck_assert(set("train.batch", "64"));
    ck_assert(set("train.batch", "256"));
    expect("train.batch", "256", SOURCE_BUILT_IN, false);
    ck_assert(set("train.batch", "64"));
    ck_assert_msg(save(), "%s", err.text);
    ck_assert(set("train.batch", "256"));
    expect("train.batch", "256", SOURCE_SAVED, true);
    ck_assert(set("train.batch", "64"));
    expect("train.batch", "64", SOURCE_SAVED, false);
    end();
}
END_TEST

/* As on a full disk: what was there before stays whole. */
START_TEST(a_write_that_fails_leaves_the_old_file)
{
    struct rlimit limit, before;

    begin();
    ck_assert(set("screen.mouse", "yes"));
    ck_assert_msg(save(), "%s", err.text);
    ck_assert(set("train.batch", "64"));
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100;
    ck_assert_ptr_ne(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool saved = save();
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert(!saved);
    ck_assert_ptr_nonnull(strstr(err.text, "settings.conf"));
    expect("train.batch", "64", SOURCE_SAVED, true);
    end();
    begin();
    expect("screen.mouse", "yes", SOURCE_SAVED, false);
    expect("train.batch", "256", SOURCE_BUILT_IN, false);
    end();
}
END_TEST

START_TEST(a_folder_is_made_and_a_folder_in_the_way_refused)
{
    char *config = format("%s/dpartui", folder);

    begin();
    ck_assert_int_eq(rmdir(config), 0);
    ck_assert(set("screen.mouse", "yes"));
    ck_assert_msg(save(), "%s", err.text);
    ck_assert_int_eq(unlink(saved_file), 0);
    ck_assert_int_eq(mkdir(saved_file, 0700), 0);
    ck_assert(set("screen.mouse", "no"));
    ck_assert(!save());
    ck_assert_ptr_nonnull(strstr(err.text, "settings.conf: not a regular file"));
    end();
    free(config);
}
END_TEST

START_TEST(nobody_without_a_home_saves)
{
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    begin();
    ck_assert(set("train.batch", "64"));
    ck_assert(!save());
    ck_assert_ptr_nonnull(strstr(err.text, "set HOME"));
    expect("train.batch", "64", SOURCE_SAVED, true);
    end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("saved settings");
    TCase *tcase = tcase_create("saved settings");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, sources_are_known);
    tcase_add_test(tcase, what_is_saved_wins_the_next_time);
    tcase_add_test(tcase, everything_can_be_saved);
    tcase_add_test(tcase, wrong_values_change_nothing);
    tcase_add_test(tcase, the_environment_goes_on_winning);
    tcase_add_loop_test(tcase, a_broken_file_is_named, 0, sizeof broken / sizeof broken[0]);
    tcase_add_test(tcase, two_that_save_do_not_undo_each_other);
    tcase_add_test(tcase, what_cannot_be_saved_is_kept);
    tcase_add_test(tcase, there_and_back_is_no_change);
    tcase_add_test(tcase, a_write_that_fails_leaves_the_old_file);
    tcase_add_test(tcase, a_folder_is_made_and_a_folder_in_the_way_refused);
    tcase_add_test(tcase, nobody_without_a_home_saves);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
