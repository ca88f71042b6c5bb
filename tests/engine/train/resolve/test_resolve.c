/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/train/resolve/resolve.h"
#include "spec/origin.h"
#include "tests/engine/train/run/fixture.h"
#include "tests/suites.h"

/* What is refused before anything is opened, and what is filled in. */

#define LETTERS_64 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"

/* Specs that cannot be run: refused before anything is opened. */
static const struct {
    const char *settings, *reason;
} impossible[] = {
    {"devices=all", "no GPU"},
    {"devices=cuda:0", "only CPU devices"},
    {"split=even devices=cpu:0-7", "30 rows"},
    {"split=even devices=cpu:0-2", "10 rows"},
    {"split=weighted:1,2 devices=cpu:0-2", "2 weights for 3 devices"},
    {"cpu-threads=2,1", "2 numbers for 1 CPU device:"},
    {"cpu-threads=2,1 devices=cpu:0-2", "2 numbers for 3 CPU devices"},
    {"dtype=bf16", "dtype bf16: not in this test"},
    {"model=nosuch", "nosuch"},
    {"model=/nosuch.conf", "/nosuch.conf"},
    {"data=/nosuch", "/nosuch"},
    {"train-rows=101", "has 100"},
    {"test-rows=101", "has 100"},
    {"init=/nosuch.safetensors", "/nosuch.safetensors"},
    {"augment=flip", "no pictures"},
    {"optimizer=nesterov", "momentum, which is 0: give one"},
    {"optimizer=adam beta1=1", "beta1 1: the average would keep its first value"},
    {"optimizer=rmsprop beta2=1", "beta2 1: the average would keep its first value"},
    {"optimizer=adamw eps=0", "eps 0: a parameter without gradients"},
    {"save=/nosuch/weights", "/nosuch/weights"},
    {"save=/", "is a directory"},
    {"save=/dev/null", "not a regular file"},
    {"log=/nosuch/log", "/nosuch/log"},
    {"save=/tmp/" LETTERS_64 LETTERS_64 LETTERS_64 LETTERS_64, "File name too long"},
    {"save=/tmp/a.safetensors save-best=/tmp/a.safetensors",
     "save and save-best are the same file: /tmp/a.safetensors"},
    {"log=/tmp//../tmp/a save=/tmp/a", "save and log are the same file: /tmp/a"},
    {"log=/tmp/a save-best=/tmp/a", "save-best and log are the same file: /tmp/a"},
};

START_TEST(impossible_specs)
{
    char settings[400];
    snprintf(settings, sizeof settings, LINEAR "%s", impossible[_i].settings);
    recorder_init(&rec, settings);
    ck_assert(!recorder_run(&rec));
    ck_assert_msg(strstr(rec.err.text, impossible[_i].reason), "%s", rec.err.text);
    ck_assert_uint_eq(json_array_size(rec.events), 1);
    ck_assert_int_eq(atomic_load(&fake.opened), 0);
}
END_TEST

START_TEST(short_batch_that_never_comes_may_be_odd)
{
    run_ok(LINEAR "split=even devices=cpu:0-2 max-steps=3");
}
END_TEST

/* An optimizer's own defaults, unless somebody gave another value. */
START_TEST(optimizers_have_defaults_of_their_own)
{
    struct error err = ERROR_INIT;
    recorder_init(&rec, "data=random:100x5 model=linear optimizer=adamw weight-decay=0");
    ck_assert_msg(resolve_spec(&rec.spec, NULL, &err), "%s", err.text);
    ck_assert(rec.spec.lr == 0.001 && rec.spec.weight_decay == 0 && rec.spec.beta2 == 0.999);
    recorder_free(&rec);
    recorder_init(&rec, "data=random:100x5 model=linear optimizer=rmsprop lr=0.1");
    ck_assert_msg(resolve_spec(&rec.spec, NULL, &err), "%s", err.text);
    ck_assert(rec.spec.lr == 0.1 && rec.spec.weight_decay == 0 && rec.spec.beta2 == 0.99);
    ck_assert(spec_origin(&rec.spec, spec_find_field("beta2")) == ORIGIN_OPTIMIZER);
}
END_TEST

static const struct {
    const char *settings, *warning; /* NULL: none */
} constants[] = {
    {"optimizer=adam momentum=0.9",
     "momentum 0.9 is not used: adam does not have it; leave it out, or take optimizer sgd, "
     "nesterov or rmsprop"},
    {"optimizer=rmsprop beta1=0.5", "beta1 0.5 is not used: rmsprop"},
    {"beta2=0.5", "beta2 0.5 is not used: sgd"},
    {"optimizer=nesterov momentum=0.5 eps=0.1", "eps 0.1 is not used: nesterov"},
    {"optimizer=rmsprop momentum=0.9 beta2=0.9 eps=0.1", NULL},
    {"optimizer=adam momentum=0 beta1=0.8 beta2=0.9 eps=0.1", NULL},
    {"momentum=0.9", NULL},
};

START_TEST(constants_of_other_optimizers_are_named)
{
    char settings[200];
    snprintf(settings, sizeof settings, LINEAR "max-steps=1 lr=0.001 %s", constants[_i].settings);
    run_ok(settings);
    ck_assert_int_eq(recorder_count(&rec, "warning"), constants[_i].warning ? 1 : 0);
    if (constants[_i].warning) {
        const char *text = recorder_string(recorder_event(&rec, "warning", 0), "text");
        ck_assert_msg(strstr(text, constants[_i].warning), "%s", text);
    }
}
END_TEST

START_TEST(resolving_fills_in_and_repeats)
{
    struct error err = ERROR_INIT;
    recorder_init(&rec, "data=random:100x5 model=linear");
    ck_assert_msg(resolve_spec(&rec.spec, NULL, &err), "%s", err.text);
    ck_assert_int_eq(rec.spec.devices.choice, DEVICES_LISTED);
    ck_assert_int_eq(rec.spec.devices.count, 1);
    /* What the backend says counts where it is less than the affinity mask. */
    ck_assert_int_eq(rec.spec.cpu_threads, 1);
    ck_assert_int_eq(rec.spec.dtype, TYPE_F32);
    ck_assert_msg(resolve_spec(&rec.spec, NULL, &err), "%s", err.text);
}
END_TEST

START_TEST(defaults_resolve)
{
    struct error err = ERROR_INIT;
    unsetenv("DPARTUI_DATA_DIR");
    recorder_init(&rec, "data-dir=/nosuch");
    ck_assert_msg(resolve_spec(&rec.spec, NULL, &err), "%s", err.text);
    ck_assert_str_eq(rec.spec.model, "smallnet");
    ck_assert_str_eq(rec.spec.data, "glyphs");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolve");
    TCase *tcase = add_case(suite, "resolve");
    tcase_add_loop_test(tcase, impossible_specs, 0, sizeof impossible / sizeof impossible[0]);
    tcase_add_test(tcase, short_batch_that_never_comes_may_be_odd);
    tcase_add_test(tcase, optimizers_have_defaults_of_their_own);
    tcase_add_loop_test(tcase, constants_of_other_optimizers_are_named, 0,
                        sizeof constants / sizeof *constants);
    tcase_add_test(tcase, resolving_fills_in_and_repeats);
    tcase_add_test(tcase, defaults_resolve);
    return run_suites(suite, NULL);
}
