/* SPDX-License-Identifier: MIT */
/* The command line's parts that need no engine. */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/figure.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "events/changes.h"
#include "events/device_names.h"
#include "output/bar.h"
#include "tests/suites.h"
#include "tests/support.h"
#include "ui/app/workbench.h"

/* The table of commands names the workbench, which is not what is tested here. */
bool workbench_run(const struct workbench_options *options, struct error *err)
{
    (void)options;
    return error_set(err, ERROR_FAILED, "no workbench in this test");
}

static const struct option options[] = {
    OPTIONS_SPEC,
    {"value", OPTION_VALUE, "X", "a value"},
    OPTION_JSON,
    OPTIONS_END,
};

static const struct command command = {
    .name = "try", .arguments = "A B", .argument_min = 1, .argument_max = 2, .options = options};

static const char *arguments[20];
static struct invocation invocation = {.arguments = arguments};
static struct error err;
static bool help;
static char words[400];

/* A command line of words with blanks between. */
static bool parse(const char *line)
{
    char *argv[20], *rest = words;
    int argc = 0;
    snprintf(words, sizeof words, "%s", line);
    for (char *word; (word = strsep(&rest, " "));)
        argv[argc++] = word;
    settings_init(&invocation.settings);
    err = (struct error)ERROR_INIT;
    return command_parse(&command, argc, argv, &invocation, &help, &err);
}

static void teardown(void)
{
    settings_free(&invocation.settings);
}

START_TEST(options_and_arguments_mix)
{
    ck_assert(parse("one --batch 64 --lr=0.5 --json two --sync-bn --value="));
    ck_assert_int_eq(invocation.settings.spec.batch, 64);
    ck_assert_double_eq(invocation.settings.spec.lr, 0.5);
    ck_assert(invocation.settings.spec.sync_bn);
    ck_assert(invocation_has(&invocation, "json"));
    ck_assert(!invocation_has(&invocation, "save"));
    ck_assert_str_eq(invocation_value(&invocation, "value"), "");
    ck_assert_int_eq(invocation.argument_count, 2);
    ck_assert_str_eq(invocation.arguments[1], "two");
    settings_free(&invocation.settings);
    ck_assert(parse("--sync-bn=no --batch 1 --batch 2 -- --json"));
    ck_assert(!invocation.settings.spec.sync_bn);
    ck_assert_int_eq(invocation.settings.spec.batch, 2);
    ck_assert_str_eq(invocation.arguments[0], "--json");
    settings_free(&invocation.settings);
    ck_assert(parse("--nonsense-after --help") == false);
    settings_free(&invocation.settings);
    ck_assert(parse("--help --nonsense") && help);
}
END_TEST

static const struct {
    const char *line, *says;
} wrong[] = {
    {"--btach 3", "--batch"},         {"--batch", "--batch N"},
    {"--json=yes a", "no argument"},  {"-x a", "begin with --"},
    {"--batch 0", "batch '0'"},       {"--epochs 1e3", "epochs '1e3'"},
    {"--split fair", "split 'fair'"}, {"--sync-bn=maybe a", "sync-bn"},
    {"--zzz a", "no option --zzz"},   {"--json", "missing A B"},
    {"a b c", "'c' is one"},          {"--= a", "no option"},
};

START_TEST(mistakes_are_named)
{
    ck_assert(!parse(wrong[_i].line));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, wrong[_i].says) != NULL, "%s", err.text);
}
END_TEST

START_TEST(near_names_are_found)
{
    static const char *const names[] = {"train", "devices", "runs", "show", "stop"};
    ck_assert_str_eq(nearest_name("trian", names, 5), "train");
    ck_assert_str_eq(nearest_name("run", names, 5), "runs");
    ck_assert_str_eq(nearest_name("dev", names, 5), "devices");
    ck_assert_str_eq(nearest_name("shwo", names, 5), "show");
    ck_assert_ptr_null(nearest_name("elephant", names, 5));
    ck_assert_ptr_null(nearest_name("an-option-longer-than-any-that-is-here", names, 5));
}
END_TEST

START_TEST(paths_become_absolute)
{
    struct spec *spec = &invocation.settings.spec;
    char *folder = temporary_folder();
    char here[PATH_MAX];
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    put_file(folder, "mydata/x", "", 0);
    ck_assert(parse("a --save w.safetensors --log=/tmp/l --init i.safetensors --model m.conf "
                    "--data mydata --data-dir d"));
    ck_assert_msg(run_spec_finish(&invocation, &err), "%s", err.text);
    char *save = format("%s/w.safetensors", here), *data = format("%s/mydata", here);
    ck_assert_str_eq(spec->save, save);
    ck_assert_str_eq(spec->data, data);
    ck_assert_str_eq(spec->log, "/tmp/l");
    ck_assert(spec->init_file[0] == '/' && spec->model[0] == '/' && spec->data_dir[0] == '/');
    free(save);
    free(data);
    settings_free(&invocation.settings);
    ck_assert(parse("a --model resnet18 --data mnist"));
    ck_assert(run_spec_finish(&invocation, &err));
    ck_assert_str_eq(spec->model, "resnet18");
    ck_assert_str_eq(spec->data, "mnist");
    settings_free(&invocation.settings);
    ck_assert(parse("a --gpus 2"));
    ck_assert(run_spec_finish(&invocation, &err));
    ck_assert_int_eq(spec->devices.choice, DEVICES_FIRST_GPUS);
    ck_assert_int_eq(spec->devices.count, 2);
    settings_free(&invocation.settings);
    ck_assert(parse("a --gpus none"));
    ck_assert(!run_spec_finish(&invocation, &err));
    ck_assert_int_eq(chdir("/"), 0);
    remove_tree(folder);
}
END_TEST

START_TEST(a_bar_fits_any_width)
{
    struct bar bar = {.share = 0.25};
    char line[256];
    strcpy(bar.left, "epoch 3/10");
    bar_add(&bar, 3, "step 590/2350");
    bar_add(&bar, 2, "4511 samples/s");
    bar_add(&bar, 0, "4m12s left");
    for (int columns = 0; columns < 300; columns++) {
        bar_compose(&bar, columns, line, sizeof line);
        ck_assert_int_le((int)strlen(line), columns);
    }
    bar_compose(&bar, 200, line, sizeof line);
    ck_assert_str_eq(line, "epoch 3/10  [##########------------------------------]  step 590/2350  "
                           "4511 samples/s  4m12s left");
    bar_compose(&bar, 60, line, sizeof line);
    ck_assert_str_eq(line, "epoch 3/10  [#####-------------]  4511 samples/s  4m12s left");
    bar_compose(&bar, 38, line, sizeof line);
    ck_assert_str_eq(line, "epoch 3/10  [###---------]  4m12s left");
    bar_compose(&bar, 30, line, sizeof line);
    ck_assert_str_eq(line, "epoch 3/10  4m12s left");
    bar_compose(&bar, 12, line, sizeof line);
    ck_assert_str_eq(line, "epoch 3/10");
    bar.share = NAN;
    bar_compose(&bar, 60, line, sizeof line);
    ck_assert_str_eq(line, "epoch 3/10  step 590/2350  4511 samples/s  4m12s left");
}
END_TEST

START_TEST(a_bar_escapes_text_from_outside)
{
    struct bar bar = {.share = NAN};
    char line[256];
    strcpy(bar.left, "1/2 a\xe2\x80\xae\n");
    bar_add(&bar, 1, "%s", "\xe6\xbc\xa2");
    bar_compose(&bar, 80, line, sizeof line);
    ck_assert_str_eq(line, "1/2 a\\u202e\\x0a  \xe6\xbc\xa2");
    strcpy(bar.left, "\xe6\xbc\xa2\xe6\xbc\xa2");
    bar_compose(&bar, 5, line, sizeof line); /* cut between characters */
    ck_assert_str_eq(line, "\xe6\xbc\xa2");
}
END_TEST

START_TEST(figures_are_short)
{
    struct figure text;
    ck_assert_str_eq(figure_accuracy_change(&text, -0.0004), "0.000");
    ck_assert_str_eq(figure_accuracy_change(&text, -0.0006), "-0.001");
    ck_assert_str_eq(figure_accuracy_change(&text, 0.25), "+0.250");
    ck_assert_str_eq(figure_accuracy_change(&text, NAN), "-");
    ck_assert_str_eq(figure_bytes(&text, 0), "0 B");
    ck_assert_str_eq(figure_bytes(&text, 1023), "1023 B");
    ck_assert_str_eq(figure_bytes(&text, 18.4 * 1073741824), "18.4 GiB");
    ck_assert_str_eq(figure_bytes(&text, 1048575), "1.0 MiB");
    ck_assert_str_eq(figure_bytes(&text, NAN), "-");
    ck_assert_str_eq(figure_count(&text, 11175818), "11.2M");
    ck_assert_str_eq(figure_flop(&text, 2.7e9), "2.7 GFLOP");
    ck_assert_str_eq(figure_flop(&text, 20), "20 FLOP");
    ck_assert_str_eq(figure_count(&text, 4511.4), "4.51k");
    ck_assert_str_eq(figure_count(&text, 31200), "31.2k");
    ck_assert_str_eq(figure_count(&text, 0.5), "0.50");
    ck_assert_str_eq(figure_duration(&text, 59.6), "1m00s");
    ck_assert_str_eq(figure_duration(&text, 252), "4m12s");
    ck_assert_str_eq(figure_duration(&text, 7500), "2h05m");
    ck_assert_str_eq(figure_duration(&text, 200000), "2d07h");
    ck_assert_str_eq(figure_duration(&text, INFINITY), "-");
    ck_assert_str_eq(figure_seconds(&text, 13.28), "13.3");
    ck_assert_str_eq(figure_seconds(&text, 0.2), "0.20");
    ck_assert_str_eq(figure_seconds(&text, 0.04), "0.040");
    ck_assert_str_eq(figure_seconds(&text, 1234.5), "1234");
    ck_assert_str_eq(figure_seconds(&text, 0.00071), "0.00071");
    ck_assert_str_eq(figure_seconds(&text, 0), "0");
    ck_assert_str_eq(figure_seconds(&text, NAN), "-");
    ck_assert_str_eq(figure_fixed(&text, 0.9304, 3), "0.930");
    ck_assert_str_eq(figure_digits(&text, 1e-5, 6), "1e-05");
}
END_TEST

START_TEST(devices_are_shown_as_options_have_them)
{
    char text[32];
    json_t *names = json_pack("[s, s, s, s]", "cuda:0", "cpu:0", "cpu:1", "cpu:2");
    json_t *run = json_pack("{s:o}", "devices", names);
    ck_assert_str_eq(run_devices_short(text, sizeof text, run), "cuda:0,cpu:0-2");
    json_array_append_new(names, json_string("cpu:9"));
    ck_assert_str_eq(run_devices_short(text, 16, run), "cuda:0,cpu:0...");
    json_array_append_new(names, json_string("nonsense"));
    ck_assert_str_eq(run_devices_short(text, sizeof text, run), "-");
    json_object_clear(run);
    ck_assert_str_eq(run_devices_short(text, sizeof text, run), "-");
    json_decref(run);
}
END_TEST

START_TEST(device_lists_are_shortened)
{
    char text[32], whole[200];
    json_t *list = json_array();
    ck_assert_str_eq(device_names_short(text, sizeof text, list), "[]");
    for (int i = 0; i < 12; i++)
        json_array_append_new(list, json_sprintf("cpu:%d", i));
    ck_assert_str_eq(device_names_short(text, sizeof text, list), "[cpu:0, cpu:1, 10 more]");
    ck_assert_str_eq(device_names_short(whole, sizeof whole, list),
                     "[cpu:0, cpu:1, cpu:2, cpu:3, cpu:4, cpu:5, cpu:6, cpu:7, cpu:8, cpu:9, "
                     "cpu:10, cpu:11]");
    json_decref(list);
}
END_TEST

START_TEST(changes_are_one_line)
{
    char text[100];
    json_t *event =
        json_pack("{s:s, s:f, s:f, s:i}", "what", "lr", "from", 0.1, "to", 0.05, "step", 590);
    ck_assert_str_eq(event_retune_text(text, sizeof text, event), "lr 0.1 -> 0.05 after step 590");
    json_object_set_new(event, "scale", json_real(0.5));
    ck_assert_str_eq(event_retune_text(text, sizeof text, event),
                     "lr 0.1 -> 0.05 after step 590 (schedule x 0.5)");
    json_decref(event);
    event = json_pack("{s:s, s:i}", "what", "pause", "step", 7);
    ck_assert_str_eq(event_retune_text(text, sizeof text, event), "paused after step 7");
    json_decref(event);
    event = json_object();
    ck_assert_str_eq(event_retune_text(text, sizeof text, event), "? after step 0");
    json_decref(event);
    event = json_pack("{s:[iii], s:i, s:s}", "shares", 10, 5, 1, "step", 20, "reason", "it pays");
    ck_assert_str_eq(event_shares_text(text, sizeof text, event),
                     "shares 10,5,1 after step 20: it pays");
    ck_assert_str_eq(event_shares_text(text, 14, event), "shares 10,5,1");
    json_decref(event);
    event = json_object();
    ck_assert_str_eq(event_shares_text(text, sizeof text, event), "shares  after step 0: ?");
    json_decref(event);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("command line");
    TCase *parsing = tcase_create("parsing"), *showing = tcase_create("showing");
    tcase_add_checked_fixture(parsing, NULL, teardown);
    tcase_add_test(parsing, options_and_arguments_mix);
    tcase_add_loop_test(parsing, mistakes_are_named, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(parsing, paths_become_absolute);
    tcase_add_test(showing, near_names_are_found);
    tcase_add_test(showing, a_bar_fits_any_width);
    tcase_add_test(showing, a_bar_escapes_text_from_outside);
    tcase_add_test(showing, figures_are_short);
    tcase_add_test(showing, devices_are_shown_as_options_have_them);
    tcase_add_test(showing, device_lists_are_shortened);
    tcase_add_test(showing, changes_are_one_line);
    suite_add_tcase(suite, parsing);
    suite_add_tcase(suite, showing);
    return run_suites(suite, NULL);
}
