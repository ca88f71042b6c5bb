/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dnnl.h>
#include <stdio.h>
#include <string.h>

#include "engine/device/cpu/core/parameters.h"
#include "tests/reference/conformance.h"
#include "tests/reference/trial.h"
#include "tests/suites.h"

/* Evaluation with BatchNorm folded into convolutions: what is folded, and that it is right. */

#define CONV(c) "{ type = \"conv\"; channels = " #c "; kernel = 3; pad = 1; }"
#define NORM    "\"batchnorm\""
#define RELU    "\"relu\""
#define END     "\"flatten\", { type = \"linear\"; outputs = 3; }"
#define TAKE(c) CONV(c) ", " NORM ", " RELU
/* A residual unit around the given layers. */
#define UNIT(l) "{ type = \"residual\"; layers = (" l "); after = (" RELU "); }"
#define DEEP(c) UNIT(TAKE(c) ", " CONV(c) ", " NORM)

/*
 * The operations of evaluation in a line: '*' a folded convolution, '+' adding in place, '!' with
 * its ReLU. `plain`: where values have no blocks of channels.
 */
static const struct {
    const char *layers, *folded, *plain;
} cases[] = {
    {TAKE(5) ", " CONV(7) ", " NORM ", \"tanh\", " END, "conv*! conv* tanh flatten linear", NULL},
    /* read by two: must stay as it is */
    {CONV(6) ", " UNIT(NORM) ", " END, "conv batchnorm! flatten linear", NULL},
    /* nothing to fold into, or a ReLU in between */
    {NORM ", " CONV(4) ", " RELU ", " NORM ", " END, "batchnorm conv! batchnorm flatten linear",
     NULL},
    {TAKE(9) ", " DEEP(9) ", " DEEP(9) ", " END,
     "conv*! conv*! conv*+! conv*! conv*+! flatten linear",
     "conv*! conv*! conv* add! conv*! conv* add! flatten linear"},
    /* the shortcut's own convolution, its bias and its BatchNorm */
    {TAKE(4) ", { type = \"residual\"; layers = (" CONV(18) ", " NORM "); shortcut = (" CONV(
         18) "); after = (" RELU "); }, " END,
     "conv*! conv conv*+! flatten linear", "conv*! conv conv* add! flatten linear"},
    {TAKE(4) ", { type = \"residual\"; layers = (" CONV(18) ", " NORM "); shortcut = (" CONV(
         18) ", " NORM "); after = (" RELU "); }, " END,
     "conv*! conv* conv*+! flatten linear", "conv*! conv* conv* add! flatten linear"},
    /* the convolution reads what is added */
    {TAKE(5) ", " UNIT(CONV(5) ", " NORM) ", " END, "conv*! conv* add! flatten linear", NULL},
    /* the residual is read again after the inner unit */
    {TAKE(5) ", " UNIT(DEEP(5) ", " CONV(5) ", " NORM) ", " END,
     "conv*! conv*! conv* add! conv*+! flatten linear",
     "conv*! conv*! conv* add! conv* add! flatten linear"},
    /* another name for the same memory */
    {TAKE(5) ", { type = \"dropout\"; p = 0.5; }, " DEEP(5) ", " END,
     "conv*! dropout conv*! conv* add! flatten linear", NULL},
    /* the input of the network is not ours to write over */
    {DEEP(2) ", " END, "conv*! conv* add! flatten linear", NULL},
};

static void make_case(struct trial *trial, int i, int rows)
{
    trial_make(trial, cases[i].layers, (struct net_shape){2, 6, 5}, 3, rows, false, 1);
}

static void describe(const struct graph *graph, char *text, size_t size)
{
    *text = '\0';
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *n = &graph->nodes[i];
        if (n->op == NET_NONE) /* a conversion between layouts */
            continue;
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s%s%s%s", used ? " " : "", net_kind_name(n->kind),
                 n->norm != NET_NONE ? "*" : "",
                 n->kind == NET_CONV && n->residual != NET_NONE ? "+" : "", n->relu ? "!" : "");
    }
}

static void expect_folded(int i, bool blocks)
{
    const struct trial_device cpu = trial_cpu(1);
    const char *expected = blocks || !cases[i].plain ? cases[i].folded : cases[i].plain;
    struct trial trial;
    struct rig rig;
    char text[256];
    make_case(&trial, i, 1);
    rig_open(&rig, &trial, &cpu);
    describe(&((const struct cpu_replica *)rig.replica)->folded, text, sizeof text);
    ck_assert_msg(strcmp(text, expected) == 0, "%d: %s instead of %s", i, text, expected);
    rig_close(&rig);
    trial_free(&trial);
}

/* By other threads and rows, and again once the weights have changed. */
static void expect_right(int i)
{
    const struct trial_device cpu = trial_cpu(2);
    struct outcome got, expected;
    struct trial trial;
    struct rig rig;
    make_case(&trial, i, 5);
    rig_open(&rig, &trial, &cpu);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_EVAL, .rows = 5});
    for (int pass = 0; pass < 2; pass++) {
        rig_run(&rig, plan, &trial, 0, 5, &got);
        trial_reference(&trial, PLAN_EVAL, &expected);
        outcome_compare(&trial, &got, &expected, PLAN_EVAL, 1e-5, cases[i].layers);
        outcome_free(&got);
        outcome_free(&expected);
        for (size_t k = 0; k < trial.net->value_count; k++)
            trial.weights.values[k] *= 1 + 0.1F * (float)(k % 5);
        struct error err = ERROR_INIT;
        ck_assert(replica_import(rig.backend, rig.device, rig.replica, &trial.weights, &err));
    }
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
}

static void expect_blocks(int i)
{
    const unsigned isa = (unsigned)dnnl_get_effective_cpu_isa();
    expect_folded(i, (isa & dnnl_cpu_isa_avx2) == dnnl_cpu_isa_avx2);
    expect_right(i);
}

START_TEST(blocks_of_this_processor)
{
    expect_blocks(_i);
}
END_TEST

START_TEST(blocks_of_eight)
{
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) == dnnl_success)
        expect_blocks(_i);
}
END_TEST

START_TEST(plain_layout)
{
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41) != dnnl_success)
        return;
    expect_folded(_i, false);
    expect_right(_i);
}
END_TEST

int main(void)
{
    const int count = (int)(sizeof cases / sizeof cases[0]);
    Suite *suite = suite_create("folded BatchNorm");
    TCase *tc = tcase_create("folding");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, blocks_of_this_processor, 0, count);
    tcase_add_loop_test(tc, blocks_of_eight, 0, count);
    tcase_add_loop_test(tc, plain_layout, 0, count);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
