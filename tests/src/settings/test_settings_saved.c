/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "spec/set.h"
#include "tests/src/settings/saved_fixture.h"
#include "tests/suites.h"
#include "ui/form/field.h"

/* What settings.conf does when all goes well. */

START_TEST(sources_are_known)
{
    struct setting setting;
    ck_assert_int_eq(mkdir("etc", 0700), 0);
    put_text("etc/dpartui.conf", "train = { lr = 0.5; batch = 10; momentum = 0.9; };");
    put_text(own_file, "train = { batch = 20; momentum = 0.5; };");
    put_text(saved_file, "train = { momentum = 0.95; }; screen = { mouse = true; };");
    setenv("DPARTUI_PALETTE", "colour-blind", 1);
    setenv("NO_COLOR", "1", 1);
    ck_assert_msg(settings_load(&settings, &err), "%s", err.text);
    ck_assert(spec_set(&settings.spec, "epochs", "3", &err));
    settings_on_command_line(&settings, "epochs");
    settings_on_command_line(&settings, "train-rows"); /* no key */
    ck_assert_msg(saved_settings_open(&saved, &settings, &err), "%s", err.text);
    saved_expect("train.seed", "1", SOURCE_BUILT_IN, false);
    saved_expect("train.lr", "0.5", SOURCE_SYSTEM, false);
    saved_expect("train.batch", "20", SOURCE_USER, false);
    saved_expect("train.momentum", "0.95", SOURCE_SAVED, false);
    saved_expect("screen.mouse", "yes", SOURCE_SAVED, false);
    saved_expect("screen.palette", "colour-blind", SOURCE_ENVIRONMENT, false);
    saved_expect("screen.colour", "no", SOURCE_ENVIRONMENT, false);
    saved_expect("train.epochs", "3", SOURCE_COMMAND_LINE, false);
    ck_assert_ptr_null(saved_look("train.momentum").overridden);
    ck_assert_str_eq(saved_look("screen.palette").overridden, "DPARTUI_PALETTE");
    ck_assert_str_eq(saved_look("screen.colour").overridden, "NO_COLOR");
    ck_assert_str_eq(saved_look("train.epochs").overridden, "the command line");
    ck_assert(!saved.source.at(saved.source.context, SETTINGS_KEYS, &setting));
    ck_assert_str_eq(saved.source.file, saved_file);
    saved_end();
}
END_TEST

START_TEST(what_is_saved_wins_the_next_time)
{
    put_text(own_file, "# mine\ntrain = { batch = 20; lr = 0.5; };\n");
    saved_begin();
    ck_assert(saved_set("train.batch", "64"));
    ck_assert(saved_set("screen.palette", "colour-blind"));
    saved_expect("train.batch", "64", SOURCE_SAVED, true);
    ck_assert_msg(saved_save(), "%s", err.text);
    saved_expect("train.batch", "64", SOURCE_SAVED, false);
    saved_end();
    saved_begin();
    saved_expect("train.batch", "64", SOURCE_SAVED, false);
    saved_expect("train.lr", "0.5", SOURCE_USER, false);
    ck_assert_int_eq(settings.spec.batch, 64);
    ck_assert_int_eq(settings.preferences.palette, PALETTE_COLOUR_BLIND);
    saved_reset("train.batch");
    saved_expect("train.batch", "20", SOURCE_USER, true);
    ck_assert_msg(saved_save(), "%s", err.text);
    saved_end();
    saved_begin();
    saved_expect("train.batch", "20", SOURCE_USER, false);
    saved_expect("screen.palette", "colour-blind", SOURCE_SAVED, false);
    saved_end();
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
        {"screen.x_axis", "seconds"},
        {"screen.y_axis", "log"},
        {"screen.smoothing", "strong"},
        {"screen.mouse", "no"},
        {"screen.columns", "note,run,s/epoch"},
        {"train.model", "/a \"b\" \\c/\xc3\xa9\x01.conf"},
        {"train.data", "random:1000x5"},
        {"train.data_dir", "/srv/@include \"x\""},
        {"train.devices", "cpu:0-2"},
        {"train.hosts", "h1,h2.example.org"},
        {"train.launcher", "mpirun -n %n --host '%H' \"%p\""},
        {"train.host_limit", "2.5"},
        {"train.restarts", "3"},
        {"train.cpu_threads", "3,1,2"},
        {"train.batch", "16777216"},
        {"train.lr", "1e-05"},
        {"train.lr_schedule", "cosine:0.01"},
        {"train.warmup", "0.5"},
        {"train.optimizer", "adamw"},
        {"train.momentum", "0.95"},
        {"train.weight_decay", "0.0005"},
        {"train.beta1", "0.5"},
        {"train.beta2", "0.9999"},
        {"train.eps", "1e-05"},
        {"train.no_decay", "norm-bias"},
        {"train.clip_norm", "2.5"},
        {"train.ema", "0.999"},
        {"train.epochs", "7"},
        {"train.seed", "9223372036854775807"},
        {"train.strategy", "pipeline"},
        {"train.micro_batches", "65536"},
        {"train.replicas", "3"},
        {"train.stages", "pool1,conv2"},
        {"train.memory_limit", "200M"},
        {"train.split", "weighted:1,2.5,0"},
        {"train.sync", "central"},
        {"train.sync_bn", "yes"},
        {"train.dtype", "f32"},
        {"train.init", "normal:0.02"},
        {"train.recipe", "none"},
        {"train.order", "sequential"},
        {"train.augment", "flip-crop"},
        {"train.label_smoothing", "0.1"},
        {"train.noise_every", "20"},
        {"train.checkpoint_every", "10m"},
        {"train.deterministic", "yes"},
        {"train.validation", "0.25"},
        {"train.patience", "3"},
        {"train.stop_at_acc", "0.75"},
        {"train.image_size", "64x48"},
        {"train.image_colour", "grey"},
        {"train.test_share", "0.125"},
        {"train.skip_broken", "yes"},
        {"train.notify", "notify-send dpartui \"$DPARTUI_TEXT\""},
    };
    ck_assert_uint_eq(sizeof values / sizeof values[0], SETTINGS_KEYS);
    saved_begin();
    for (size_t i = 0; i < SETTINGS_KEYS; i++) {
        ck_assert_msg(saved_set(values[i].name, values[i].value), "%s", err.text);
        ck_assert_msg(field_find(strchr(values[i].name, '.') + 1)->hint[0] != '\0',
                      "%s has no explanation in ui/form/field.c", values[i].name);
    }
    ck_assert_msg(saved_save(), "%s", err.text);
    saved_end();
    saved_begin();
    for (size_t i = 0; i < SETTINGS_KEYS; i++)
        saved_expect(values[i].name, values[i].value, SOURCE_SAVED, false);
    saved_end();
}
END_TEST

/* Whole numbers among them, which the file has with an L. */
START_TEST(large_numbers_can_be_saved)
{
    static const char *const values[] = {"2147483648", "3000000001", "3000000000.5", "1e+15"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        saved_begin();
        ck_assert_msg(saved_set("train.clip_norm", values[i]), "%s", err.text);
        ck_assert_msg(saved_save(), "%s", err.text);
        saved_end();
        saved_begin();
        saved_expect("train.clip_norm", values[i], SOURCE_SAVED, false);
        saved_end();
    }
}
END_TEST

START_TEST(wrong_values_change_nothing)
{
    saved_begin();
    ck_assert(!saved_set("train.batch", "0"));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "batch '0'"));
    ck_assert(!saved_set("train.seed", "18446744073709551615"));
    ck_assert(!saved_set("screen.palette", "pink"));
    ck_assert_str_eq(err.text, "palette 'pink' is none of default, colour-blind");
    saved_expect("train.batch", "256", SOURCE_BUILT_IN, false);
    saved_expect("train.seed", "1", SOURCE_BUILT_IN, false);
    saved_end();
}
END_TEST

START_TEST(the_environment_goes_on_winning)
{
    setenv("DPARTUI_BATCH", "99", 1);
    saved_begin();
    saved_expect("train.batch", "99", SOURCE_ENVIRONMENT, false);
    ck_assert(saved_set("train.batch", "64"));
    saved_expect("train.batch", "64", SOURCE_SAVED, true);
    ck_assert_str_eq(saved_look("train.batch").overridden, "DPARTUI_BATCH");
    ck_assert(saved_save());
    saved_end();
    saved_begin();
    saved_expect("train.batch", "99", SOURCE_ENVIRONMENT, false);
    saved_reset("train.batch");
    saved_expect("train.batch", "256", SOURCE_BUILT_IN, true);
    saved_end();
    unsetenv("DPARTUI_BATCH");
}
END_TEST

/* What one workbench saved another one keeps. */
START_TEST(two_that_save_do_not_undo_each_other)
{
    saved_begin();
    put_text(saved_file, "train = { batch = 20; }; screen = { mouse = true; };");
    ck_assert(saved_set("train.batch", "64"));
    ck_assert_msg(saved_save(), "%s", err.text);
    saved_expect("screen.mouse", "yes", SOURCE_SAVED, false);
    saved_end();
    saved_begin();
    saved_expect("train.batch", "64", SOURCE_SAVED, false);
    saved_expect("screen.mouse", "yes", SOURCE_SAVED, false);
    put_text(saved_file, "train = {");
    ck_assert(saved_set("train.batch", "65"));
    ck_assert(!saved_save());
    ck_assert_ptr_nonnull(strstr(err.text, "settings.conf:1: "));
    saved_end();
}
END_TEST

START_TEST(there_and_back_is_no_change)
{
    saved_begin();
    ck_assert(saved_set("train.batch", "64"));
    ck_assert(saved_set("train.batch", "256"));
    saved_expect("train.batch", "256", SOURCE_BUILT_IN, false);
    ck_assert(saved_set("train.batch", "64"));
    ck_assert_msg(saved_save(), "%s", err.text);
    ck_assert(saved_set("train.batch", "256"));
    saved_expect("train.batch", "256", SOURCE_SAVED, true);
    ck_assert(saved_set("train.batch", "64"));
    saved_expect("train.batch", "64", SOURCE_SAVED, false);
    saved_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("saved settings");
    TCase *tcase = tcase_create("saved settings");
    tcase_add_checked_fixture(tcase, saved_setup, saved_teardown);
    tcase_add_test(tcase, sources_are_known);
    tcase_add_test(tcase, what_is_saved_wins_the_next_time);
    tcase_add_test(tcase, everything_can_be_saved);
    tcase_add_test(tcase, large_numbers_can_be_saved);
    tcase_add_test(tcase, wrong_values_change_nothing);
    tcase_add_test(tcase, the_environment_goes_on_winning);
    tcase_add_test(tcase, two_that_save_do_not_undo_each_other);
    tcase_add_test(tcase, there_and_back_is_no_change);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
