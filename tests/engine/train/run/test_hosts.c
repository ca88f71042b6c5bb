/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/engine/train/run/hosts_fixture.h"
#include "tests/engine/train/run/parallel_fixture.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * What training over hosts must mean: devices of several hosts do what as many devices of one host
 * do, and one device does. Two devices sum their gradients in the same order wherever they are, so
 * there every bit is the same.
 */

static const char *const methods[] = {"allreduce", "reduce-broadcast", "central"};
static const char *const models[] = {"plain", "normalised"};
enum { METHODS = 3, MODELS = 2 };

static const char two_hosts[] = "devices=h1/cpu:0,h2/cpu:0";

/* What two devices of one host do, these of two hosts must do in every bit. */
static void check_two_hosts(const char *model, const char *settings)
{
    char *one = format("devices=cpu:0-1 %s", settings);
    char *two = format("%s %s", two_hosts, settings);
    struct outcome near = train(model, one), far = train(model, two);
    check_same(&near, &far, settings);
    ck_assert(near.test_acc == far.test_acc);
    ck_assert_int_eq(hosts_seen.count, 2);
    outcome_free(&near);
    outcome_free(&far);
    free(two);
    free(one);
}

START_TEST(two_hosts_equal_two_devices)
{
    const char *model = models[_i % MODELS], *method = methods[_i / MODELS];
    for (int split = 0; split < PARALLEL_SPLITS; split++) {
        char *settings = format("max-steps=10 %s split=%s sync=%s", parallel_splits[split].batches,
                                parallel_splits[split].rule[1], method);
        check_two_hosts(model, settings);
        free(settings);
    }
    ck_assert_int_gt(hosts_seen.sums, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts");
    TCase *tcase = add_parallel_case(suite, "hosts");
    parallel_train = train_over_hosts;
    tcase_add_loop_test(tcase, two_hosts_equal_two_devices, 0, MODELS * METHODS);
    return run_suites(suite, NULL);
}
