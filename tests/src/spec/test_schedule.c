/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/schedule.h"
#include "tests/suites.h"
#include "tests/support.h"

static struct error err;

static struct lr_schedule parsed(const char *text, double warmup)
{
    struct lr_schedule schedule = {.warmup = warmup};
    err = (struct error)ERROR_INIT;
    ck_assert_msg(lr_schedule_parse(&schedule, text, &err), "%s", err.text);
    return schedule;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Every step of a case of tests/fixtures/schedules.json. */
static void compare_case(const json_t *wanted, double lr)
{
    const char *text = json_string_value(json_object_get(wanted, "schedule"));
    const json_t *rates = json_object_get(wanted, "rates");
    struct lr_schedule schedule = parsed(text, number(wanted, "warmup"));
    const long steps = (long)json_array_size(rates);
    struct lr_length length = {(long)number(wanted, "epoch_steps"), steps};
    ck_assert_int_eq(steps, length.epoch_steps * (long)number(wanted, "epochs"));
    for (long i = 0; i < steps; i++) {
        double rate = json_number_value(json_array_get(rates, (size_t)i));
        double ours = lr * lr_share(&schedule, length, i);
        ck_assert_msg(fabs(ours - rate) <= 1e-10 * rate, "%s, step %ld: %.12g, not %.12g", text, i,
                      ours, rate);
        ck_assert(ours > 0);
    }
}

START_TEST(every_step_has_the_rate_of_pytorch)
{
    const char *top = getenv("top_srcdir");
    char *path = format("%s/tests/fixtures/schedules.json", top ? top : "..");
    json_t *fixture = json_load_file(path, 0, NULL);
    const json_t *cases = json_object_get(fixture, "cases");
    ck_assert_msg(json_array_size(cases) >= 21, "%s", path);
    for (size_t i = 0; i < json_array_size(cases); i++)
        compare_case(json_array_get(cases, i), number(fixture, "lr"));
    json_decref(fixture);
    free(path);
}
END_TEST

/* Lengths at the ends of what there is: no rate is lost, or 0, or without bounds. */
START_TEST(short_runs_have_rates)
{
    static const char *const texts[] = {
        "constant", "step:0.01",   "multistep:0.01,2", "cosine",   "linear",        "one-cycle",
        "triangle", "one-cycle:0", "one-cycle:1",      "linear:1", "triangle:0.99", "cosine:1",
        "range",    "range:1e-12"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (long steps = 1; steps < 8; steps++)
            for (int warmup = 0; warmup < 3; warmup++) {
                struct lr_schedule schedule = parsed(texts[i], warmup);
                struct lr_length length = {3, steps};
                for (long step = 0; step < steps; step++) {
                    double share = lr_share(&schedule, length, step);
                    ck_assert_msg(share > 0 && share <= 1, "%s: %g at %ld of %ld", texts[i], share,
                                  step, steps);
                }
            }
}
END_TEST

START_TEST(constant_is_exactly_one)
{
    struct lr_schedule schedule = {0};
    ck_assert(lr_is_constant(&schedule));
    for (long step = 0; step < 1000; step++)
        ck_assert(lr_share(&schedule, (struct lr_length){10, 1000}, step) == 1);
    schedule.warmup = 0.5;
    ck_assert(!lr_is_constant(&schedule));
    schedule = parsed("cosine", 0);
    ck_assert(!lr_is_constant(&schedule));
}
END_TEST

/* A run of other length has the whole curve, and epochs stay where they are. */
START_TEST(the_length_counts)
{
    struct lr_schedule cosine = parsed("cosine", 0), step = parsed("step:2", 0);
    for (long epochs = 2; epochs < 40; epochs *= 2) {
        struct lr_length length = {10, 10 * epochs};
        ck_assert_double_eq_tol(lr_share(&cosine, length, 5 * epochs), 0.5, 1e-12);
        ck_assert(lr_share(&step, length, 19) == 1);
        ck_assert_double_eq_tol(lr_share(&step, length, 20), 0.1, 1e-12);
    }
}
END_TEST

static const struct {
    const char *text, *canonical; /* canonical NULL: refused with `why` */
    const char *why;
} texts[] = {
    {"constant", "constant", NULL},
    {"step:30", "step:30", NULL},
    {"step:30:0.1", "step:30", NULL},
    {"step:0.5:0.25", "step:0.5:0.25", NULL},
    {"multistep:3,6,9", "multistep:3,6,9", NULL},
    {"multistep:3:0.2", "multistep:3:0.2", NULL},
    {"multistep:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16:0.5",
     "multistep:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16:0.5", NULL},
    {"cosine", "cosine", NULL},
    {"cosine:0", "cosine", NULL},
    {"cosine:0.01", "cosine:0.01", NULL},
    {"linear:1", "linear:1", NULL},
    {"one-cycle", "one-cycle", NULL},
    {"one-cycle:0.25", "one-cycle:0.25", NULL},
    {"triangle:0.3", "triangle", NULL},
    {"range:1e-5", "range", NULL},
    {"range:0.001", "range:0.001", NULL},
    {"range:0", NULL, "the share of lr at the beginning must be a number from 1e-12 to 1"},
    {"", NULL, "none of constant, step:EPOCHS"},
    {"cos", NULL, "none of"},
    {"Cosine", NULL, "none of"},
    {"constant:1", NULL, "nothing follows 'constant'"},
    {"constant:", NULL, "nothing follows"},
    {"step", NULL, "needs epochs"},
    {"step:", NULL, "rising numbers above 0"},
    {"step:0", NULL, "rising numbers above 0"},
    {"step:-1", NULL, "rising numbers above 0"},
    {"step:nan", NULL, "rising numbers above 0"},
    {"step:1,2", NULL, "more than 1 number of"},
    {"step:3:0", NULL, "the factor must be a number from 1e-06 to 100"},
    {"step:3:-0.1", NULL, "the factor must be"},
    {"step:3:", NULL, "the factor must be"},
    {"step:3:0.1:2", NULL, "the factor must be"},
    {"multistep", NULL, "needs epochs"},
    {"multistep:6,3", NULL, "rising numbers"},
    {"multistep:3,3", NULL, "rising numbers"},
    {"multistep:3,", NULL, "rising numbers"},
    {"multistep:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", NULL, "more than 16 numbers"},
    {"multistep:100000000000000000000000000000000", NULL, "rising numbers"},
    {"cosine:2", NULL, "the share of lr at the end must be a number from 0 to 1"},
    {"linear:x", NULL, "the share of lr at the end"},
    {"one-cycle:1.5", NULL, "the share of the run before the peak"},
};

START_TEST(text_forms)
{
    struct lr_schedule schedule = {.warmup = 2.5};
    err = (struct error)ERROR_INIT;
    bool ok = lr_schedule_parse(&schedule, texts[_i].text, &err);
    ck_assert(schedule.warmup == 2.5);
    if (!texts[_i].canonical) {
        ck_assert_msg(!ok, "'%s' was taken", texts[_i].text);
        ck_assert_int_eq(err.kind, ERROR_USAGE);
        ck_assert_msg(strstr(err.text, texts[_i].why), "%s", err.text);
        ck_assert(lr_schedule_parse(&schedule, "constant", &err));
        return;
    }
    ck_assert_msg(ok, "%s", err.text);
    char *text = lr_schedule_text(&schedule);
    ck_assert_str_eq(text, texts[_i].canonical);
    free(text);
}
END_TEST

/* Each is the beginning of a form that is taken. */
START_TEST(words_begin_forms)
{
    size_t count = 0;
    for (const char *word; (word = lr_schedule_word(count)); count++) {
        struct lr_schedule schedule = {0};
        char *text = format("%s%s", word, word[strlen(word) - 1] == ':' ? "3" : "");
        ck_assert_msg(lr_schedule_parse(&schedule, text, &err), "%s", err.text);
        ck_assert_uint_eq((size_t)schedule.shape, count);
        free(text);
    }
    ck_assert_uint_eq(count, LR_SHAPES);
}
END_TEST

START_TEST(a_warmup_is_not_longer_than_the_run)
{
    struct lr_schedule schedule = {.warmup = 3};
    ck_assert(lr_schedule_check(&schedule, 3, &err));
    ck_assert(lr_schedule_check(&schedule, 0, &err));
    ck_assert(!lr_schedule_check(&schedule, 2, &err));
    ck_assert_str_eq(err.text, "warmup 3 is longer than the run of 2 epochs: choose a shorter one, "
                               "or more epochs");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = tcase_create("rates");
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, every_step_has_the_rate_of_pytorch);
    tcase_add_test(tcase, short_runs_have_rates);
    tcase_add_test(tcase, constant_is_exactly_one);
    tcase_add_test(tcase, the_length_counts);
    tcase = tcase_create("text");
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, text_forms, 0, (int)(sizeof texts / sizeof texts[0]));
    tcase_add_test(tcase, words_begin_forms);
    tcase_add_test(tcase, a_warmup_is_not_longer_than_the_run);
    return run_suites(suite, NULL);
}
