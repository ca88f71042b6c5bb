/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/fields.h"
#include "spec/set.h"
#include "tests/suites.h"
#include "tests/ui/form/form_fixture.h"
#include "ui/control/engine.h"
#include "ui/form/devices.h"
#include "ui/form/suggestion.h"

START_TEST(the_form_steps)
{
    static const struct {
        enum form_field field;
        const char *from, *up, *down;
    } cases[] = {
        {FORM_BATCH, "256", "512", "128"},
        {FORM_BATCH, "1", "2", "1"},
        {FORM_LR, "0.1", "0.2", "0.05"},
        {FORM_LR, "0.2", "0.5", "0.1"},
        {FORM_LR, "0.03", "0.05", "0.02"},
        {FORM_LR, "5", "10", "2"},
        {FORM_LR, "0", "1e-05", "0"},
        {FORM_EPOCHS, "10", "11", "9"},
        {FORM_STRATEGY, "data", "pipeline", "mixed"},
        {FORM_MICRO_BATCHES, "0", "1", "64"},
        {FORM_MICRO_BATCHES, "8", "16", "4"},
        {FORM_SPLIT, "chunk", "even", "auto"},
        {FORM_SYNC, "central", "allreduce", "reduce-broadcast"},
        {FORM_SYNC_BN, "no", "yes", "yes"},
        {FORM_MOMENTUM, "0.9", "0.95", "0.5"},
        {FORM_MODEL, "resnet18", "smallnet", ""},
        {FORM_MODEL, "mine.conf", "", "linear"},
        {FORM_SEED, "1", "2", "0"},
        {FORM_INIT, "normal:0.01", "default", "kaiming-normal"},
        {FORM_WEIGHT_DECAY, "0.0001", "0.0002", "5e-05"},
        {FORM_ORDER, "shuffle", "sequential", "sequential"},
        {FORM_AUGMENT, "none", "flip", "flip-crop"},
        {FORM_CHECKPOINTS, "1", "2", "off"},
        {FORM_DETERMINISTIC, "no", "yes", "yes"},
        {FORM_DTYPE, "f32", "tf32", "default"},
        {FORM_CPU_THREADS, "1", "2", "0"},
        {FORM_IMAGE_SIZE, "own", "28", "224"},
        {FORM_IMAGE_COLOUR, "auto", "grey", "colour"},
        {FORM_TEST_SHARE, "0.2", "0.3", "0.1"},
        {FORM_SKIP_BROKEN, "no", "yes", "yes"},
    };
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(form_set(form, cases[i].field, cases[i].from, &err), "%s", err.text);
        ck_assert(form_step(form, cases[i].field, 1, &err));
        check_field(cases[i].field, cases[i].up);
        ck_assert(form_set(form, cases[i].field, cases[i].from, &err));
        ck_assert(form_step(form, cases[i].field, -1, &err));
        check_field(cases[i].field, cases[i].down);
    }
    ck_assert(form_set(form, FORM_EPOCHS, "1000000", &err));
    ck_assert(!form_step(form, FORM_EPOCHS, 1, &err));
    check_field(FORM_EPOCHS, "1000000");
}
END_TEST

START_TEST(typed_values_are_checked)
{
    replay_recording(&replay, "idle", 0);
    /* Devices, form; three lines down is the batch. */
    replay_keys(&replay, "<Tab><Down><Down><Down><Enter>384<Enter>");
    check_field(FORM_BATCH, "384");
    ck_assert_ptr_null(replay.ui.prompt);
    replay_keys(&replay, "<Enter>-5<Enter>");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    ck_assert(replay.ui.message.bad);
    check_field(FORM_BATCH, "384");
    replay_keys(&replay, "<Esc>");
    check_field(FORM_BATCH, "384");
    /* Letters are text while typing, q included. */
    replay_keys(&replay, "<Home><Enter>q.conf<Enter>");
    check_field(FORM_MODEL, "q.conf");
    ck_assert(!replay.ui.quit);
    /* The cursor moves within the text. */
    replay_keys(&replay, "<Enter><Home>my<Enter>");
    check_field(FORM_MODEL, "myq.conf");
}
END_TEST

START_TEST(a_device_that_is_not_available)
{
    ui_connected(&replay.ui);
    replay_line(&replay, "{\"method\":\"state\",\"params\":{\"devices\":[{\"device\":\"cuda:0\","
                         "\"available\":false,\"reason\":\"no driver\"},{\"device\":\"cpu:0\"}]}}");
    replay_keys(&replay, " ");
    ck_assert_str_eq(replay.ui.message.text, "no driver");
    check_field(FORM_DEVICES, "default");
    ck_assert_int_eq(form_device_count(&replay.ui.form, &replay.ui.state), 1);
}
END_TEST

START_TEST(problems_are_told_before_the_start)
{
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    const struct state *state = &replay.ui.state;
    const struct form_check check = {.train_rows = 60000};
    char problem[160];
    replay_recording(&replay, "idle", 0);
    ck_assert(!form_problem(form, state, &check, problem, sizeof problem));
    ck_assert(form_set(form, FORM_DEVICES, "cpu:0-2", &err));
    ck_assert(form_set(form, FORM_BATCH, "100", &err));
    ck_assert(!form_problem(form, state, &check, problem, sizeof problem));
    ck_assert(form_set(form, FORM_SPLIT, "even", &err));
    ck_assert(form_problem(form, state, &check, problem, sizeof problem));
    ck_assert_ptr_nonnull(strstr(problem, "100 rows does not divide by 3 devices"));
    replay_keys(&replay, "<Tab>");
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(screen, "Next run  ! split even"));
    ck_assert_ptr_nonnull(strstr(screen, "does not divide by 3 devices"));
    free(screen);
    ck_assert(form_set(form, FORM_BATCH, "99", &err));
    ck_assert(!form_problem(form, state, &check, problem, sizeof problem));
    ck_assert(form_set(form, FORM_SPLIT, "weighted:1,2", &err));
    ck_assert(form_problem(form, state, &check, problem, sizeof problem));
    ck_assert(form_set(form, FORM_SPLIT, "balanced", &err));
    ck_assert(form_set(form, FORM_BATCH, "2", &err));
    ck_assert(form_problem(form, state, &check, problem, sizeof problem));
    ck_assert_ptr_nonnull(strstr(problem, "leaves 1 of 3 devices without work"));
}
END_TEST

START_TEST(gpus_that_cannot_be_had)
{
    static const char *const choices[] = {"cuda:0", "cuda:0,cpu:0", "all"};
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    struct state *state = &replay.ui.state;
    char problem[160];
    replay_recording(&replay, "idle", 0);
    snprintf(state->no_gpus, sizeof state->no_gpus, "no NVIDIA driver is loaded");
    ck_assert(!form_problem(form, state, NULL, problem, sizeof problem));
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        ck_assert(form_set(form, FORM_DEVICES, choices[i], &err));
        ck_assert(form_problem(form, state, NULL, problem, sizeof problem));
        ck_assert_msg(strstr(problem, "no NVIDIA driver is loaded") != NULL, "%s", problem);
    }
    replay_recording(&replay, "train-8", 0);
    ck_assert(form_set(form, FORM_DEVICES, "cuda:0,cpu:0", &err));
    ck_assert(!form_problem(form, state, NULL, problem, sizeof problem));
    state->devices[0].available = false;
    snprintf(state->devices[0].reason, sizeof state->devices[0].reason, "fell off the bus");
    ck_assert(form_problem(form, state, NULL, problem, sizeof problem));
    ck_assert_str_eq(problem, "cuda:0: fell off the bus");
}
END_TEST

/* Those that are used least now have the ticks; which are taken is seen when the run begins. */
START_TEST(free_gpus)
{
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    struct form_device devices[FORM_MAX_DEVICES];
    ui_connected(&replay.ui);
    replay_line(
        &replay,
        "{\"method\":\"state\",\"params\":{\"devices\":["
        "{\"device\":\"cuda:0\",\"available\":true,\"load\":0.9,\"memory_used\":1},"
        "{\"device\":\"cuda:1\",\"available\":false},"
        "{\"device\":\"cuda:2\",\"available\":true,\"load\":0,\"memory_used\":70,"
        "\"memory_total\":100},"
        "{\"device\":\"cuda:3\",\"available\":true,\"load\":0.1},{\"device\":\"cpu:0\"}]}}");
    ck_assert(form_set(form, FORM_DEVICES, "free:2", &err));
    ck_assert_int_eq(form_device_count(form, &replay.ui.state), 2);
    int count = form_devices(form, &replay.ui.state, devices);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(devices[i].chosen, i == 2 || i == 3);
    char *screen = replay_screen(&replay, 40, 140, true);
    ck_assert_ptr_nonnull(strstr(screen, "cuda:2-3 (free:2)"));
    free(screen);
}
END_TEST

/* What nobody has chosen is dim; the value itself is there. */
START_TEST(defaults_are_dim)
{
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    replay_recording(&replay, "idle", 0);
    snprintf(replay.ui.check.model, sizeof replay.ui.check.model, "smallnet");
    ck_assert_int_eq(style_of_value("model"), STYLE_LABEL);
    ck_assert_int_eq(style_of_value("stages"), STYLE_LABEL);
    ck_assert_int_eq(style_of_value("batch"), STYLE_NORMAL);
    ck_assert(form_set(form, FORM_MODEL, "smallnet", &err));
    ck_assert(form_set(form, FORM_DEVICES, "cpu:0", &err));
    ck_assert_int_eq(style_of_value("model"), STYLE_NORMAL);
}
END_TEST

static bool screen_has(const char *text)
{
    char *screen = replay_screen(&replay, 80, 120, true);
    bool found = strstr(screen, text);
    free(screen);
    return found;
}

/* The settings that most runs need come first, the others behind a line. */
START_TEST(the_rest_is_unfolded)
{
    struct error err = ERROR_INIT;
    struct form *form = &replay.ui.form;
    replay_recording(&replay, "idle", 0);
    replay.ui.focus = PANEL_FORM;
    ck_assert(screen_has("more...   32 settings"));
    ck_assert(screen_has("notify    default"));
    ck_assert(!screen_has("init      normal:0.01"));
    replay_keys(&replay, "<End>");
    ck_assert(form_on_fold(form));
    ck_assert(screen_has("Enter lists 32 more settings"));
    /* What was given there is told, and can be reached by its name as before. */
    ck_assert(form_set(form, FORM_INIT, "default", &err));
    ck_assert(screen_has("also init default"));
    replay_keys(&replay, "<Enter>");
    ck_assert(!form_on_fold(form));
    ck_assert_int_eq(form->field, FORM_INIT);
    ck_assert(!screen_has("more..."));
    ck_assert(screen_has("init      default"));
    ck_assert(!screen_has("also init"));
    replay_keys(&replay, "<End>");
    ck_assert_int_eq(form->field, FORM_FIELDS - 1);
    form->unfolded = false;
    form->field = (enum form_field)FORM_COMMON;
    replay_keys(&replay, "<Right>");
    ck_assert(form->unfolded);
}
END_TEST

/* Settings of a pipeline are dim without one; what is about dividing rows is not said with one. */
START_TEST(a_pipeline_in_the_form)
{
    struct error err = ERROR_INIT;
    struct form_suggestion s;
    struct form *form = &replay.ui.form;
    const struct state *state = &replay.ui.state;
    char problem[160];
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "<Down> <Tab>");
    ck_assert_int_eq(style_of_value("strategy"), STYLE_NORMAL);
    ck_assert_int_eq(style_of_value("micro"), STYLE_LABEL);
    ck_assert(form_set(form, FORM_STAGES, "conv1", &err));
    ck_assert_int_eq(style_of_value("stages"), STYLE_LABEL);
    ck_assert(form_suggest(form, state, NULL, &s));
    ck_assert(form_set(form, FORM_SPLIT, "even", &err));
    ck_assert(form_set(form, FORM_BATCH, "1", &err));
    ck_assert(form_problem(form, state, NULL, problem, sizeof problem));
    ck_assert(form_set(form, FORM_STRATEGY, "pipeline", &err));
    ck_assert(!form_problem(form, state, NULL, problem, sizeof problem));
    ck_assert(!form_suggest(form, state, NULL, &s));
    ck_assert_int_eq(style_of_value("micro"), STYLE_NORMAL);
    ck_assert_int_eq(style_of_value("stages"), STYLE_NORMAL);
    ck_assert(form_set(form, FORM_SYNC_BN, "yes", &err));
    ck_assert(form_problem(form, state, NULL, problem, sizeof problem));
    ck_assert_ptr_nonnull(strstr(problem, "leave sync-bn out, or set micro-batches 1"));
    ck_assert_str_eq(form_key("micro"), "micro-batches");
}
END_TEST

/* Options of the workbench itself: what `s` would use is on the screen, also where the form does
 * not reach down to it. */
START_TEST(what_was_given_is_in_sight)
{
    struct error err = ERROR_INIT;
    struct spec *spec = &replay.ui.form.spec;
    replay_recording(&replay, "idle", 0);
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_null(strstr(screen, "also "));
    free(screen);
    ck_assert(spec_set(spec, "train-rows", "512", &err) &&
              spec_set(spec, "test-rows", "100", &err));
    ck_assert(spec_set(spec, "batch", "64", &err) && spec_set(spec, "max-steps", "0", &err));
    screen = replay_screen(&replay, 24, 120, true);
    ck_assert_ptr_nonnull(strstr(screen, "also rows 512, test rows 100"));
    ck_assert_ptr_null(strstr(screen, "max steps"));
    free(screen);
    /* More than there is room for is counted, of a path the end is shown. */
    ck_assert(spec_set(spec, "save", "/a/folder/with/a/long/name/weights.safetensors", &err));
    ck_assert(spec_set(spec, "tensorboard", "/tmp/events", &err));
    ck_assert(spec_set(spec, "log", "/tmp/log.jsonl", &err));
    ck_assert(spec_set(spec, "profile", "yes", &err));
    ck_assert(spec_set(spec, "seed", "12345", &err));
    screen = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(screen, " more"));
    free(screen);
    screen = replay_screen(&replay, 30, 140, true);
    ck_assert_ptr_nonnull(strstr(screen, "..name/weights.safetensors"));
    free(screen);
    /* All of them have a line of their own, and are in sight there. */
    replay_keys(&replay, "<Tab><End>");
    screen = replay_screen(&replay, 60, 140, true);
    ck_assert_ptr_nonnull(strstr(screen, "tensorbd. /tmp/events"));
    free(screen);
    ck_assert_uint_eq(spec_field_count, FORM_FIELDS);
}
END_TEST

START_TEST(settings_of_a_former_run)
{
    replay_recording(&replay, "finished", 0);
    replay_keys(&replay, "<Tab><Tab><End>u");
    ck_assert_str_eq(replay_last(&replay), "show {\"run\":1}");
    struct error failure = ERROR_INIT;
    json_t *result =
        json_pack("{s:i, s:{s:s, s:i, s:f, s:s, s:s}}", "run", 1, "spec", "model", "linear",
                  "batch", 64, "lr", 0.5, "devices", "cpu:0-3", "save", "/tmp/weights.safetensors");
    ck_assert_ptr_nonnull(result);
    ui_answer(&replay.ui, REQUEST_COPY, result, &failure);
    json_decref(result);
    check_field(FORM_MODEL, "linear");
    check_field(FORM_BATCH, "64");
    check_field(FORM_LR, "0.5");
    check_field(FORM_DEVICES, "cpu:0-3");
    ck_assert_ptr_null(replay.ui.form.spec.save);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("form");
    TCase *tests = tcase_create("form");
    tcase_add_checked_fixture(tests, form_begin, form_end);
    tcase_add_test(tests, the_form_steps);
    tcase_add_test(tests, typed_values_are_checked);
    tcase_add_test(tests, a_device_that_is_not_available);
    tcase_add_test(tests, gpus_that_cannot_be_had);
    tcase_add_test(tests, free_gpus);
    tcase_add_test(tests, a_pipeline_in_the_form);
    tcase_add_test(tests, defaults_are_dim);
    tcase_add_test(tests, the_rest_is_unfolded);
    tcase_add_test(tests, problems_are_told_before_the_start);
    tcase_add_test(tests, what_was_given_is_in_sight);
    tcase_add_test(tests, settings_of_a_former_run);
    suite_add_tcase(suite, tests);
    return run_suites(suite, suggestion_suite(), form_check_suite(), NULL);
}
