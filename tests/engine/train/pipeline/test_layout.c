/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "engine/net/builder.h"
#include "engine/train/pipeline/layout.h"
#include "tests/suites.h"

/* Where a network is cut by the time of its operations and of what is handed over. */

static struct error err;

static int add(struct net_builder *builder, enum net_kind kind, int channels, const char *name,
               int input)
{
    struct net_op op = {.kind = kind,
                        .line = 1,
                        .outputs = channels,
                        .kernel_h = 1,
                        .kernel_w = 1,
                        .stride_h = 1,
                        .stride_w = 1,
                        .dilation_h = 1,
                        .dilation_w = 1,
                        .groups = 1};
    int output;
    ck_assert_msg(net_builder_layer(builder, &op, name, input, &output, &err), "%s", err.text);
    return output;
}

/* 4 channels, then a unit with 1 in its middle, which 4 + 1 cross, then 3 channels. */
static struct net *make_net(void)
{
    struct net_builder builder;
    struct net *net;
    ck_assert(net_builder_start(&builder, "a test", (struct net_shape){2, 8, 8}, 3, &err));
    const int begin = add(&builder, NET_CONV, 4, "first", 0);
    const int middle = add(&builder, NET_CONV, 1, "middle", begin);
    const int end = add(&builder, NET_CONV, 4, "end", middle);
    int sum;
    ck_assert(net_builder_sum(&builder, "unit", 1, begin, end, &sum, &err));
    const int last = add(&builder, NET_CONV, 3, "last", sum);
    const int pooled = add(&builder, NET_GLOBAL_AVGPOOL, 0, "pool", last);
    ck_assert_msg(
        net_builder_finish(&builder, add(&builder, NET_FLATTEN, 0, "flat", pooled), &net, &err),
        "%s", err.text);
    net_builder_free(&builder);
    return net;
}

static int first_end(const struct net *net, const double *seconds)
{
    double parts[PIPELINE_PARTS * 7] = {0};
    ck_assert_int_eq(net->op_count, 7);
    for (int i = 0; i < 7; i++) {
        parts[PIPELINE_FORWARD * 7 + i] = seconds[i] / 3;
        parts[PIPELINE_BACKWARD * 7 + i] = seconds[i] * 2 / 3;
    }
    const double *both[] = {parts, parts};
    const struct micro_split split = {.count = 1000, .first = 1000, .rows = {32}};
    int ends[16];
    ck_assert_msg(pipeline_ends(net, &split, 2, both, ends, &err), "%s", err.text);
    return ends[0];
}

START_TEST(stages_take_as_long)
{
    struct net *net = make_net();
    ck_assert_int_eq(first_end(net, (const double[]){4, 1, 1, 1, 1, 0, 0}), 0);
    /* 3 and 4, or 4 and 3: the second stage begins later. */
    ck_assert_int_eq(first_end(net, (const double[]){3, 1, 1, 1, 1, 0, 0}), 1);
    ck_assert_int_eq(first_end(net, (const double[]){2, 2, 3, 0, 1, 0, 0}), 1);
    ck_assert_int_eq(first_end(net, (const double[]){1, 1, 1, 1, 3, 0, 0}), 3);
    net_free(net);
}
END_TEST

/* All cuts divide the time alike; the one after "last" has the fewest numbers. */
START_TEST(least_is_handed_over)
{
    struct net *net = make_net();
    const double seconds[7] = {0};
    int ends[16];
    ck_assert_int_eq(net_cuts(net, ends), 4);
    ck_assert_int_eq(first_end(net, seconds), 4);
    /* Between the others: 4 channels are less than 4 + 1. */
    ck_assert_int_eq(first_end(net, (const double[]){1, 0, 0, 0, 1, 0, 0}), 0);
    net_free(net);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuts of pipelines");
    TCase *tc = tcase_create("layout");
    tcase_add_test(tc, stages_take_as_long);
    tcase_add_test(tc, least_is_handed_over);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
