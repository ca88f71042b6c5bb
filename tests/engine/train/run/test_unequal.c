/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/fakes/posing_backend.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * `split auto` on devices of unequal speed must come to what one device comes to, also when the
 * shares have changed on the way.
 */

static const struct {
    const char *model, *settings;
} kinds[] = {
    {"plain", ""},
    {"plain", "momentum=0.9 weight-decay=0.01 sync=central"},
    {"normalised", "sync-bn=yes"},
    {"normalised", "sync-bn=yes momentum=0.9 weight-decay=0.01 sync=reduce-broadcast"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/*
 * 92 rows in batches of 29 end with one of 5. The shares change after ten full batches, in
 * the fourth epoch; the tolerances are for ten steps, and these are 24.
 */
START_TEST(unequal_devices_equal_one_device)
{
    double tolerance = 3 * (_i < 2 ? PLAIN_TOLERANCE : NORMALISED_TOLERANCE);
    char *common = format("batch=29 train-rows=92 epochs=6 %s", kinds[_i].settings);
    struct outcome one = train(kinds[_i].model, common);
    posing.row_s[0] = 1;
    posing.row_s[1] = 10;
    posing.row_s[2] = 3;
    parallel_clock = posing_clock;
    for (int devices = 2; devices <= 3; devices++) {
        char *settings = format("%s devices=cuda:0-%d split=auto", common, devices - 1);
        struct outcome many = train(kinds[_i].model, settings);
        ck_assert_msg(many.share_changes == 1, "%s: %d changes of shares", settings,
                      many.share_changes);
        check_close(&one, &many, tolerance, settings);
        outcome_free(&many);
        free(settings);
    }
    outcome_free(&one);
    free(common);
}
END_TEST

/* Nothing to divide, so nothing but what one device does. */
START_TEST(one_device_and_auto_are_one_device)
{
    struct outcome one = train("normalised", "batch=29 epochs=4");
    struct outcome same = train("normalised", "batch=29 epochs=4 split=auto");
    ck_assert_int_eq(same.share_changes, 0);
    check_same(&one, &same, "auto");
    outcome_free(&one);
    outcome_free(&same);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("unequal");
    TCase *tcase = add_parallel_case(suite, "unequal");
    tcase_add_loop_test(tcase, unequal_devices_equal_one_device, 0, KINDS);
    tcase_add_test(tcase, one_device_and_auto_are_one_device);
    return run_suites(suite, NULL);
}
