/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/ui/form/form_fixture.h"
#include "ui/form/devices.h"
#include "ui/form/suggestion.h"

START_TEST(devices_and_the_suggestion)
{
    struct form_suggestion s;
    const struct form *form = &replay.ui.form;
    const struct state *state = &replay.ui.state;
    replay_recording(&replay, "idle", 0);
    ck_assert_int_eq(form_device_count(form, state), 1);
    replay_keys(&replay, "<Down> ");
    check_field(FORM_DEVICES, "cpu:0-1");
    ck_assert(form_suggest(form, state, NULL, &s));
    ck_assert_int_eq(s.devices, 2);
    ck_assert_int_eq(s.batch, 512);
    ck_assert_double_eq_tol(s.lr, 0.2, 1e-12);
    check_field(FORM_BATCH, "256"); /* nothing changes unasked */
    /* CPU devices beyond the machine's cores; from one device to three, not two to three. */
    replay_keys(&replay, "+");
    check_field(FORM_DEVICES, "cpu:0-2");
    ck_assert(form_suggest(form, state, NULL, &s));
    ck_assert_int_eq(s.batch, 768);
    replay_keys(&replay, "g");
    check_field(FORM_BATCH, "768");
    check_field(FORM_LR, "0.3");
    ck_assert_ptr_nonnull(strstr(replay.ui.message.text, "try a warmup"));
    ck_assert(!form_suggest(form, state, NULL, &s));
    replay_keys(&replay, "-");
    check_field(FORM_DEVICES, "cpu:0-1");
    ck_assert(form_suggest(form, state, NULL, &s));
    ck_assert_int_eq(s.batch, 512);
    /* A batch of one's own is taken at its word. */
    replay_keys(&replay, "<Tab><Down><Down><Down>+");
    check_field(FORM_BATCH, "1536");
    ck_assert(!form_suggest(form, state, NULL, &s));
    /* The last device stays, and the engine's own are not taken away. */
    replay_keys(&replay, "<Tab><Tab><Tab><Home> <Down> ");
    check_field(FORM_DEVICES, "cpu:1");
    ck_assert(replay.ui.message.bad);
    replay_keys(&replay, "-");
    ck_assert(replay.ui.message.bad);
    check_field(FORM_DEVICES, "cpu:1");
}
END_TEST

/* Of the newest run of the same network and data that measured it. */
START_TEST(the_noise_scale_suggests_a_rate)
{
    struct error err = ERROR_INIT;
    struct form_suggestion s;
    struct form *form = &replay.ui.form;
    struct state *state = &replay.ui.state;
    char text[120];
    replay_recording(&replay, "runs", 0);
    struct state_run *run = state->runs;
    while (run->point_count == 0)
        ck_assert(++run < state->runs + state->run_count);
    run->batch = 256;
    run->lr = 0.1;
    ck_assert(form_set(form, FORM_MODEL, run->model, &err) &&
              form_set(form, FORM_DATA, run->data, &err) && form_set(form, FORM_LR, "0.1", &err) &&
              form_set(form, FORM_BATCH, "512", &err));
    ck_assert(!form_suggest(form, state, NULL, &s));
    run->points[run->point_count - 1].value[METRIC_NOISE] = 256;
    ck_assert(form_suggest(form, state, NULL, &s));
    ck_assert_int_eq(s.batch, 512);
    form_suggestion_text(&s, text, sizeof text);
    ck_assert_ptr_nonnull(
        strstr(text, ": batch 512, lr 0.133 (by noise 256; linear 0.2, root 0.141)"));
    replay_keys(&replay, "g");
    check_field(FORM_LR, "0.133");
    ck_assert(!form_suggest(form, state, NULL, &s));
    /* A rate of one's own is taken at its word; another network has another noise. */
    ck_assert(form_set(form, FORM_LR, "0.3", &err));
    ck_assert(!form_suggest(form, state, NULL, &s));
    ck_assert(form_set(form, FORM_LR, "0.1", &err));
    ck_assert(form_suggest(form, state, NULL, &s));
    ck_assert(form_set(form, FORM_MODEL, "other", &err));
    ck_assert(!form_suggest(form, state, NULL, &s));
    /* With other devices, too. */
    ck_assert(form_set(form, FORM_MODEL, run->model, &err));
    replay_keys(&replay, "<Home>");
    ck_assert(form_set(form, FORM_BATCH, "256", &err));
    ck_assert(!form_suggest(form, state, NULL, &s));
}
END_TEST

/* A batch and rate of another network or optimizer are no base for what is suggested. */
START_TEST(another_recipe_is_another_base)
{
    struct error err = ERROR_INIT;
    struct form_suggestion s;
    struct form *form = &replay.ui.form;
    const struct state *state = &replay.ui.state;
    int checks;
    count_checks(&checks);
    replay_keys(&replay, "<Down>");
    answer_check(
        "{\"lr\":0.005,\"batch\":64,\"origins\":{\"lr\":\"recipe\",\"batch\":\"recipe\"}}");
    replay_keys(&replay, "  ");
    answer_check(
        "{\"lr\":0.005,\"batch\":64,\"origins\":{\"lr\":\"recipe\",\"batch\":\"recipe\"}}");
    ck_assert_int_eq(form->base_devices, 1);
    /* The engine says what the recipe is a moment later. */
    answer_check("{\"lr\":0.05,\"batch\":64,\"origins\":{\"lr\":\"recipe\",\"batch\":\"recipe\"}}");
    check_field(FORM_LR, "0.05");
    ck_assert(!form_suggest(form, state, &replay.ui.check, &s));
    replay_keys(&replay, " ");
    ck_assert(form_suggest(form, state, &replay.ui.check, &s));
    ck_assert_double_eq_tol(s.lr, 0.1, 1e-12);
    ck_assert(form_set(form, FORM_EPOCHS, "3", &err));
    ck_assert(form_suggest(form, state, &replay.ui.check, &s));
    ck_assert(form_set(form, FORM_MODEL, "mlp", &err));
    ck_assert(!form_suggest(form, state, &replay.ui.check, &s));
    replay.ui.requester.send = NULL;
}
END_TEST

Suite *suggestion_suite(void)
{
    Suite *suite = suite_create("suggestion");
    TCase *tests = tcase_create("suggestion");
    tcase_add_checked_fixture(tests, form_begin, form_end);
    tcase_add_test(tests, devices_and_the_suggestion);
    tcase_add_test(tests, the_noise_scale_suggests_a_rate);
    tcase_add_test(tests, another_recipe_is_another_base);
    suite_add_tcase(suite, tests);
    return suite;
}
