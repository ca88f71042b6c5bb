/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "engine/backends/registry.h"
#include "tests/reference/trial.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * What a start builds: ResNet-18 on the simulated GPU, whose cuDNN counts plans. A full batch, a
 * short one and an evaluation are planned, as a run does, and the full one again, as after a change
 * of shares that is reverted.
 */
#define ROWS  4
#define SHORT 2

static struct trial trial;
static char *folder;

static void setup(void)
{
    folder = temporary_folder();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
    simgpu_reset(NULL);
    simgpu_hasten(100);
    simgpu_short_autotune();
    trial_make_shipped(&trial, "resnet18", (struct net_shape){1, 8, 8}, ROWS, 5);
}

static void teardown(void)
{
    trial_free(&trial);
    ck_assert_str_eq(simgpu_first_fault(), "");
    ck_assert_int_eq(simgpu_live_objects(), 0);
    remove_tree(folder);
}

struct plans {
    long built, compiled, loaded;
};

static struct plans plans_so_far(void)
{
    return (struct plans){simgpu_calls("cuDNN plan built"), simgpu_calls("cuDNN plan compiled"),
                          simgpu_calls("cuDNN plan loaded")};
}

/* What one start makes. */
static struct plans start(enum number_type type, bool deterministic)
{
    static const struct plan_request requests[] = {{.mode = PLAN_TRAIN, .rows = ROWS},
                                                   {.mode = PLAN_TRAIN, .rows = SHORT},
                                                   {.mode = PLAN_EVAL, .rows = ROWS},
                                                   {.mode = PLAN_TRAIN, .rows = ROWS}};
    const char *why = "";
    const struct trial_device device = {
        .backend = backend_find(DEVICE_CUDA, &why),
        .options = {.id = {DEVICE_CUDA, 0}, .type = type, .deterministic = deterministic}};
    struct rig rig;
    const struct plans before = plans_so_far();
    ck_assert_msg(device.backend, "no CUDA backend: %s", why);
    rig_open(&rig, &trial, &device);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        device.backend->plan_destroy(rig.device, rig_plan(&rig, &requests[i]));
    rig_close(&rig);
    const struct plans after = plans_so_far();
    return (struct plans){after.built - before.built, after.compiled - before.compiled,
                          after.loaded - before.loaded};
}

/* Choices on disk with this text in them. */
static long choices(const char *text)
{
    struct error err = ERROR_INIT;
    char *path = format("%s/dpartui/cudnn-choices", folder), *data, *at;
    size_t length;
    long count = 0;
    ck_assert_msg(file_read(path, 1 << 20, &data, &length, &err), "%s", err.text);
    at = data;
    for (char *line; (line = strsep(&at, "\n"));)
        count += line[0] != '#' && strstr(line, text) != NULL;
    free(data);
    free(path);
    return count;
}

/*
 * Of the choices each is built once at most, and of a forward pass with sums and the plain one only
 * the better (evaluations take the plain one, too). Nothing is compiled.
 */
START_TEST(a_start_with_choices_builds_no_plan_twice)
{
    const struct plans first = start(TYPE_BF16, false);
    const long all = choices("\tconv "), with_sums = choices("forward with sums");
    const struct plans second = start(TYPE_BF16, false);
    printf("%ld convolutions, %ld of them with sums; first start: %ld plans built, %ld of them "
           "compiled; second start: %ld built, %ld read from files\n",
           all, with_sums, first.built, first.compiled, second.built, second.loaded);
    /* 11 shapes, three directions, but no gradient of the rows; two numbers of rows. */
    ck_assert_int_eq(all - with_sums, 2 * (3 * 11 - 1));
    ck_assert_int_ge(with_sums, 2 * 7);
    ck_assert_int_gt(first.built, all);
    ck_assert_int_gt(first.compiled, 0);
    ck_assert_int_eq(second.compiled, 0);
    ck_assert_int_le(second.built + second.loaded, all);
    /* Short batches are not evaluated here: of their two forward passes one is left out. */
    ck_assert_int_le(second.built + second.loaded, all - with_sums / 2);
}
END_TEST

/* Deterministic runs measure and remember nothing; layers that are alike share plans all the same.
 */
START_TEST(deterministic_starts_share_plans)
{
    const struct plans plans = start(TYPE_BF16, true);
    ck_assert_int_eq(plans.built, 2 * (3 * 11 - 1));
    ck_assert_int_eq(plans.compiled, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv_start");
    TCase *tcase = tcase_create("conv_start");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, a_start_with_choices_builds_no_plan_twice);
    tcase_add_test(tcase, deterministic_starts_share_plans);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
