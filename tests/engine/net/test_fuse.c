/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "engine/net/fuse.h"
#include "tests/reference/trial.h"
#include "tests/suites.h"

/* Which operations of a network are fused. */

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

static void fuse_model(struct trial *trial, const char *layers, struct fused *fused)
{
    trial_make(trial, layers, (struct net_shape){2, 6, 6}, 3, 1, false, 1);
    ck_assert(fuse(trial->net, fused, &err));
}

static void expect_op(const struct fused *fused, int at, enum net_kind kind, bool relu,
                      bool residual)
{
    ck_assert_int_lt(at, fused->count);
    ck_assert_int_eq(fused->ops[at].kind, kind);
    ck_assert_int_eq(fused->ops[at].relu, relu);
    ck_assert_int_eq(fused->ops[at].residual != NET_NONE, residual);
}

#define CONV(c) "{ type = \"conv\"; channels = " #c "; kernel = 1; }"
#define LINEAR  "{ type = \"linear\"; outputs = 3; }"
#define NORM    "\"batchnorm\""
#define RELU    "\"relu\""
#define UNIT(l) "{ type = \"residual\"; layers = (" l "); after = (" RELU "); }"

START_TEST(relu_joins_what_is_before_it)
{
    struct trial trial;
    struct fused f;
    fuse_model(&trial, CONV(4) ", " RELU ", " CONV(4) ", " NORM ", " RELU ", " LINEAR ", " RELU,
               &f);
    ck_assert_int_eq(f.count, 4); /* linear flattens by itself */
    expect_op(&f, 0, NET_CONV, true, false);
    expect_op(&f, 1, NET_CONV, false, false);
    expect_op(&f, 2, NET_BATCHNORM, true, false);
    expect_op(&f, f.count - 1, NET_LINEAR, true, false);
    ck_assert_int_ne(f.ops[0].bias, NET_NONE);
    ck_assert_int_eq(f.ops[1].bias, NET_NONE);
    ck_assert_int_eq(f.ops[2].input_bias, trial.net->ops[f.ops[1].op].bias);
    ck_assert_int_eq(f.ops[f.count - 1].output, trial.net->output);
    fused_free(&f);
    trial_free(&trial);
}
END_TEST

START_TEST(residual_units_become_one)
{
    struct trial trial;
    struct fused f;
    fuse_model(&trial,
               CONV(4) ", { type = \"residual\"; layers = (" CONV(
                   5) ", " NORM "); shortcut = (" CONV(5) "); after = (" RELU
                                                          "); }, \"global_avgpool\", " LINEAR,
               &f);
    int at = 0;
    while (at < f.count && f.ops[at].kind != NET_BATCHNORM)
        at++;
    expect_op(&f, at, NET_BATCHNORM, true, true);
    ck_assert_int_ne(f.ops[at].input_bias, NET_NONE);
    ck_assert_int_ne(f.ops[at].residual_bias, NET_NONE);
    ck_assert_int_ne(f.ops[at].input_bias, f.ops[at].residual_bias);
    for (int i = 0; i < f.count; i++)
        ck_assert_int_ne(f.ops[i].kind, NET_ADD);
    fused_free(&f);
    trial_free(&trial);
}
END_TEST

/* A value that another operation reads must be stored. */
START_TEST(shared_tensors_stay)
{
    struct trial trial;
    struct fused f;
    fuse_model(&trial, CONV(2) ", " UNIT(RELU) ", " NORM ", " UNIT(CONV(2)) ", " LINEAR, &f);
    expect_op(&f, 0, NET_CONV, false, false); /* read by the unit twice */
    ck_assert_int_ne(f.ops[0].bias, NET_NONE);
    expect_op(&f, 1, NET_RELU, false, false);
    expect_op(&f, 2, NET_ADD, true, true);
    expect_op(&f, 3, NET_BATCHNORM, false, false);
    expect_op(&f, 4, NET_CONV, false, false);
    ck_assert_int_ne(f.ops[4].bias, NET_NONE);
    expect_op(&f, 5, NET_ADD, true, true);
    fused_free(&f);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fusing operations");
    TCase *tc = tcase_create("fuse");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, relu_joins_what_is_before_it);
    tcase_add_test(tc, residual_units_become_one);
    tcase_add_test(tc, shared_tensors_stay);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
