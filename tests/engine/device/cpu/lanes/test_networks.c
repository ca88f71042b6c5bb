/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dnnl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/core/parameters.h"
#include "engine/device/cpu/lanes/lanes.h"
#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Small networks on CPU devices: rows side by side (lanes.h) against layer by layer, and both
 * against the reference. */

#define TOLERANCE 2e-5

/* What the conformance nets do not have: borders behind anything, gaps between windows, windows
 * that overlap, activations where none is expected, dropout between convolutions. */
static const struct {
    const char *layers;
    struct net_shape input;
    int classes;
    bool numbers;
} nets[] = {
    {"{ type = 'conv'; channels = 6; kernel = 5; pad = 2; }, 'sigmoid',"
     "{ type = 'avgpool'; kernel = 2; }, { type = 'conv'; channels = 16; kernel = 5; }, 'tanh',"
     "{ type = 'maxpool'; kernel = 2; }, 'flatten', { type = 'linear'; outputs = 33; }, 'sigmoid',"
     "{ type = 'linear'; outputs = 'classes'; }",
     {1, 16, 16},
     10,
     false},
    {"{ type = 'conv'; channels = 9; kernel = [3, 2]; pad = [1, 0]; }, 'tanh', 'sigmoid',"
     "{ type = 'conv'; channels = 17; kernel = 1; bias = false; }, { type = 'maxpool'; kernel = 2; "
     "stride = 3; }, 'flatten', { type = 'dropout'; }, { type = 'linear'; outputs = 37; }, 'relu',"
     "{ type = 'dropout'; p = 0.2; }, { type = 'linear'; outputs = 'classes'; bias = false; }",
     {3, 9, 8},
     7,
     false},
    {"{ type = 'conv'; channels = 3; kernel = 7; pad = 3; bias = false; },"
     "{ type = 'maxpool'; kernel = 3; stride = 1; }, { type = 'dropout'; p = 0.3; }, 'tanh',"
     "{ type = 'conv'; channels = 5; kernel = 5; pad = 2; }, { type = 'avgpool'; kernel = 3; "
     "stride "
     "= 2; pad = 1; }, 'sigmoid', 'global_avgpool', 'flatten', { type = 'linear'; outputs = "
     "'classes'; }",
     {2, 9, 7},
     4,
     false},
    {"'tanh', { type = 'linear'; outputs = 31; }, 'sigmoid', 'tanh', { type = 'dropout'; p = 0.25; "
     "}, { type = 'linear'; outputs = 'classes'; }, 'tanh'",
     {5, 1, 1},
     6,
     true},
    {"{ type = 'maxpool'; kernel = 2; stride = 3; }, { type = 'conv'; channels = 'classes'; kernel "
     "= 3; pad = 2; }, { type = 'conv'; channels = 'classes'; kernel = 3; pad = 1; }, "
     "{ type = 'maxpool'; kernel = 2; }, 'global_avgpool'",
     {2, 11, 10},
     5,
     false},
    {"'flatten', { type = 'dropout'; p = 0.2; }, { type = 'linear'; outputs = 24; }, 'relu',"
     "{ type = 'linear'; outputs = 'classes'; }",
     {1, 6, 4},
     5,
     false},
    {"{ type = 'dropout'; }, 'tanh', { type = 'conv'; channels = 3; kernel = 3; pad = 1; }, 'relu',"
     "{ type = 'avgpool'; kernel = 60001; pad = 30000; }, 'flatten',"
     "{ type = 'linear'; outputs = 'classes'; }",
     {2, 6, 7},
     3,
     false},
};

#define NETS (int)(sizeof nets / sizeof nets[0])

static void make_net(struct trial *trial, int net, int rows)
{
    char layers[1024];
    snprintf(layers, sizeof layers, "%s", nets[net].layers);
    for (char *p = layers; *p; p++)
        if (*p == '\'')
            *p = '"';
    trial_make(trial, layers, nets[net].input, nets[net].classes, rows, nets[net].numbers,
               1000 + 100 * (uint64_t)net + (uint64_t)rows);
}

static bool goes_by_lanes(const struct trial *trial)
{
    const struct trial_device device = trial_cpu(1);
    struct rig rig;
    rig_open(&rig, trial, &device);
    bool lanes = ((const struct cpu_replica *)rig.replica)->lanes;
    rig_close(&rig);
    return lanes;
}

static void compare_ways(const struct trial *trial, enum plan_mode mode, int threads,
                         const struct outcome *expected, const char *what)
{
    const struct trial_device lanes = trial_cpu(threads), layers = trial_cpu_by_layers(threads);
    struct outcome by_lanes, by_layers;
    trial_run(trial, &lanes, mode, &by_lanes);
    trial_run(trial, &layers, mode, &by_layers);
    outcome_compare(trial, &by_lanes, expected, mode, TOLERANCE, what);
    outcome_compare(trial, &by_layers, expected, mode, TOLERANCE, what);
    outcome_compare(trial, &by_lanes, &by_layers, mode, TOLERANCE, what);
    outcome_free(&by_lanes);
    outcome_free(&by_layers);
}

/* With `least` to `most` threads. */
static void check_net(int net, int rows, int least, int most)
{
    struct trial trial;
    char what[64];
    make_net(&trial, net, rows);
    ck_assert(goes_by_lanes(&trial));
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        struct outcome expected;
        trial_reference(&trial, mode, &expected);
        for (int threads = least; threads <= most; threads++) {
            snprintf(what, sizeof what, "net %d, %d rows, %d threads", net, rows, threads);
            compare_ways(&trial, mode, threads, &expected, what);
        }
        outcome_free(&expected);
    }
    trial_free(&trial);
}

START_TEST(both_ways_agree)
{
    static const int rows[] = {1, 2, 15, 16, 17, 33};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_net(_i, rows[i], 1, 3);
}
END_TEST

START_TEST(both_ways_agree_with_avx2)
{
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) != dnnl_success)
        return;
    check_net(_i, 1, 2, 2);
    check_net(_i, 17, 2, 2);
    check_net(_i, 33, 3, 3);
}
END_TEST

START_TEST(both_ways_agree_without_vectors)
{
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41) != dnnl_success)
        return;
    check_net(_i, 1, 2, 2);
    check_net(_i, 17, 2, 2);
}
END_TEST

/* What else would leave the layers of small networks untried. */
START_TEST(layers_agree_with_the_reference)
{
    const struct trial_device device = trial_cpu_by_layers(2);
    conform_net(&device, _i, 5);
    conform_net(&device, _i, 17);
}
END_TEST

START_TEST(layers_agree_with_avx2)
{
    const struct trial_device device = trial_cpu_by_layers(2);
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) == dnnl_success)
        conform_net(&device, _i, 5);
}
END_TEST

START_TEST(shipped_models_agree_layer_by_layer)
{
    const struct trial_device device = trial_cpu_by_layers(2);
    conform_model(&device, _i);
}
END_TEST

START_TEST(only_small_networks_go_by_lanes)
{
    static const struct {
        const char *model;
        bool lanes;
    } models[] = {{"linear", true},
                  {"lenet", true},
                  {"cifar-cnn", true},
                  {"smallnet", false},
                  {"resnet18", false}};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct trial trial;
        trial_make_shipped(&trial, models[i].model, (struct net_shape){0}, 1, 1);
        ck_assert_msg(goes_by_lanes(&trial) == models[i].lanes, "%s", models[i].model);
        trial_free(&trial);
    }
}
END_TEST

/* What suits but for one thing. */
START_TEST(others_go_by_layers)
{
    static const char *const layers[] = {
        "{ type = \"conv\"; channels = 4; kernel = 3; stride = 2; }, \"flatten\","
        "{ type = \"linear\"; outputs = 3; }",
        "{ type = \"conv\"; channels = 500; kernel = 3; pad = 1; }, \"global_avgpool\","
        "{ type = \"linear\"; outputs = 3; }",
        "{ type = \"linear\"; outputs = 4000; }, { type = \"linear\"; outputs = 3; }",
        "{ type = \"linear\"; outputs = 9; }, \"batchnorm\", { type = \"linear\"; outputs = 3; }",
        "{ type = \"residual\"; layers = (\"tanh\"); }, { type = \"linear\"; outputs = 3; }",
    };
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        struct trial trial;
        trial_make(&trial, layers[i], (struct net_shape){1, 12, 12}, 3, 1, false, 1);
        ck_assert_msg(!goes_by_lanes(&trial), "%s", layers[i]);
        trial_free(&trial);
    }
}
END_TEST

/* Deterministic, and the same in any place of the batch; threads share rows, so logits do not
 * depend on them. */
START_TEST(passes_repeat)
{
    const struct trial_device device = trial_cpu(2), other = trial_cpu(3);
    struct trial trial;
    struct rig rig, second;
    struct outcome a, b, c;
    make_net(&trial, 0, 40);
    rig_open(&rig, &trial, &device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 40});
    rig_run(&rig, plan, &trial, 0, 40, &a);
    rig_run(&rig, plan, &trial, 0, 40, &b);
    ck_assert_mem_eq(a.grads, b.grads, trial.net->value_count * sizeof *a.grads);
    ck_assert_mem_eq(a.logits, b.logits, (size_t)40 * 10 * sizeof *a.logits);
    rig_open(&second, &trial, &other);
    struct plan *part = rig_plan(&second, &(struct plan_request){.mode = PLAN_EVAL, .rows = 21});
    rig_run(&second, part, &trial, 19, 21, &c);
    ck_assert_mem_eq(a.logits + 19 * 10, c.logits, (size_t)21 * 10 * sizeof *c.logits);
    rig.backend->plan_destroy(rig.device, plan);
    rig.backend->plan_destroy(second.device, part);
    rig_close(&rig);
    rig_close(&second);
    outcome_free(&a);
    outcome_free(&b);
    outcome_free(&c);
    trial_free(&trial);
}
END_TEST

/* --- the loops by themselves --- */

static const struct lanes_kernels *const blocks_of[] = {
#if defined(__x86_64__)
    &lanes_avx512, &lanes_avx2,
#endif
    &lanes_plain};

#define SETS (int)(sizeof blocks_of / sizeof blocks_of[0])

/* NULL: this processor cannot run them. */
static const struct lanes_kernels *kernels_of(int set)
{
    const struct lanes_kernels *kernels = blocks_of[set];
    return kernels == &lanes_plain || lanes_find(kernels->lanes) == kernels ? kernels : NULL;
}

/* In units of the last place of what is right. */
static double units_off(float got, double right)
{
    const float nearest = (float)right;
    if (isnan(right))
        return isnan(got) ? 0 : INFINITY;
    int exponent;
    frexp((double)nearest, &exponent);
    double unit = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
    return fabs((double)got - right) / unit;
}

static double right_value(enum lanes_act act, float x)
{
    switch (act) {
    case LANES_SIGMOID:
        return 1 / (1 + exp(-(double)x));
    case LANES_TANH:
        return tanh((double)x);
    case LANES_RELU:
        return x < 0 ? 0 : (double)x;
    case LANES_NONE:
        break;
    }
    return (double)x;
}

/* Numbers of all sizes: every 641st of the bit patterns from +0 to beyond infinity, both signs. */
START_TEST(activations_are_exact)
{
    const struct lanes_kernels *k = kernels_of(_i / 3);
    static const enum lanes_act acts[] = {LANES_RELU, LANES_SIGMOID, LANES_TANH};
    static const double most[] = {0, 3, 3};
    const struct lanes_image image = {.c = 1, .h = 1, .w = 64};
    float x[64 * LANES_MOST], y[64 * LANES_MOST];
    if (!k)
        return;
    const size_t count = 64 * (size_t)k->lanes;
    for (uint64_t bits = 0; bits <= UINT64_C(0x7fc00000);) {
        for (size_t i = 0; i < count; i += 2, bits += 641) {
            const uint32_t pattern = (uint32_t)bits;
            memcpy(&x[i], &pattern, sizeof pattern);
            x[i + 1] = -x[i];
        }
        k->activate(acts[_i % 3], &image, x, y);
        for (size_t i = 0; i < count; i++) {
            double off = units_off(y[i], right_value(acts[_i % 3], x[i]));
            /* No ck_assert_msg: Check would write down each of these millions. */
            if (!(off <= most[_i % 3]))
                ck_abort_msg("%s: activation %d of %.9g is %.9g, %.2f units off", k->name,
                             (int)acts[_i % 3], (double)x[i], (double)y[i], off);
        }
    }
}
END_TEST

START_TEST(infinities_and_nans_pass)
{
    const struct lanes_kernels *k = kernels_of(_i);
    static const float given[] = {INFINITY, -INFINITY, NAN, -0.0F};
    const struct lanes_image image = {.c = 1, .h = 1, .w = 1};
    float x[LANES_MOST], y[LANES_MOST];
    if (!k)
        return;
    for (int i = 0; i < k->lanes; i++)
        x[i] = given[i % 4];
    k->activate(LANES_SIGMOID, &image, x, y);
    ck_assert(y[0] == 1 && y[1] == 0 && isnan(y[2]) && y[3] == 0.5F);
    k->activate(LANES_TANH, &image, x, y);
    ck_assert(y[0] == 1 && y[1] == -1 && isnan(y[2]) && y[3] == 0);
    k->activate(LANES_RELU, &image, x, y);
    ck_assert(isinf(y[0]) && y[1] == 0 && isnan(y[2]) && y[3] == 0);
}
END_TEST

/* A NaN anywhere in a window is its maximum; the first of equal maxima takes the gradient. */
START_TEST(maxima_are_the_first)
{
    const struct lanes_kernels *k = kernels_of(_i);
    const struct lanes_pool pool = {.max = true,
                                    .kernel_h = 1,
                                    .kernel_w = 3,
                                    .stride_h = 1,
                                    .stride_w = 3,
                                    .x = {.c = 1, .h = 1, .w = 3},
                                    .y = {.c = 1, .h = 1, .w = 1}};
    float x[3 * LANES_MOST], y[LANES_MOST], dy[LANES_MOST], dx[3 * LANES_MOST];
    if (!k)
        return;
    for (int i = 0; i < k->lanes; i++) {
        x[i] = i == 0 ? NAN : 1;
        x[k->lanes + i] = i == 1 ? NAN : 2;
        x[2 * k->lanes + i] = i == 2 ? NAN : 2;
        dy[i] = (float)i;
    }
    k->pool(&pool, x, y);
    ck_assert(isnan(y[0]) && isnan(y[1]) && isnan(y[2]) && y[3] == 2);
    k->pool_back(&pool, x, y, dy, dx, LANES_NONE, NULL);
    ck_assert(dx[3] == 0 && dx[k->lanes + 3] == 3 && dx[2 * k->lanes + 3] == 0);
}
END_TEST

/* What a pooling of 2x2 windows over side x side numbers gives, and passes back. */
struct pooled {
    float x[25 * LANES_MOST], y[4 * LANES_MOST], dy[4 * LANES_MOST], dx[25 * LANES_MOST];
    float sums[LANES_MOST];
};

/* Few different numbers, so that maxima are equal, and some windows that a ReLU closed; the same
 * at equal places. */
static void pool_side(const struct lanes_kernels *k, int side, bool max, enum lanes_act act,
                      struct pooled *p)
{
    const struct lanes_pool pool = {.max = max,
                                    .kernel_h = 2,
                                    .kernel_w = 2,
                                    .stride_h = 2,
                                    .stride_w = 2,
                                    .x = {.c = 1, .h = side, .w = side},
                                    .y = {.c = 1, .h = 2, .w = 2}};
    *p = (struct pooled){.y = {0}};
    for (int i = 0; i < side * side; i++)
        for (int lane = 0; lane < k->lanes; lane++) {
            const int row = i / side, column = i % side;
            const bool closed = (row / 2 + column / 2 + lane) % 3 == 0;
            p->x[i * k->lanes + lane] = closed ? 0 : (float)((row + column + 2 * lane) % 3) * 0.25F;
        }
    for (int i = 0; i < 4 * k->lanes; i++)
        p->dy[i] = (float)(i % 11) - 4.5F;
    k->pool(&pool, p->x, p->y);
    k->pool_back(&pool, p->x, p->y, p->dy, p->dx, act, p->sums);
}

/* Windows that cover everything have loops of their own; with a row more they have not. */
START_TEST(windows_that_cover_all_are_like_others)
{
    const struct lanes_kernels *k = kernels_of(_i);
    if (!k)
        return;
    for (enum lanes_act act = LANES_NONE; act <= LANES_TANH; act++)
        for (int max = 0; max < 2; max++) {
            struct pooled all, some;
            pool_side(k, 4, max, act, &all);
            pool_side(k, 5, max, act, &some);
            ck_assert_mem_eq(all.y, some.y, sizeof all.y);
            ck_assert_mem_eq(all.sums, some.sums, sizeof all.sums);
            for (int i = 0; i < 16 * k->lanes; i++) {
                const int row = i / (4 * k->lanes), at = i % (4 * k->lanes);
                ck_assert_float_eq(all.dx[i], some.dx[row * 5 * k->lanes + at]);
            }
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu lanes");
    TCase *tc = tcase_create("lanes");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, both_ways_agree, 0, NETS);
    tcase_add_loop_test(tc, both_ways_agree_with_avx2, 0, NETS);
    tcase_add_loop_test(tc, both_ways_agree_without_vectors, 0, NETS);
    tcase_add_loop_test(tc, layers_agree_with_the_reference, 0, conformance_nets);
    tcase_add_loop_test(tc, layers_agree_with_avx2, 0, conformance_nets);
    tcase_add_loop_test(tc, shipped_models_agree_layer_by_layer, 0, conformance_models);
    tcase_add_test(tc, only_small_networks_go_by_lanes);
    tcase_add_test(tc, others_go_by_layers);
    tcase_add_test(tc, passes_repeat);
    tcase_add_loop_test(tc, activations_are_exact, 0, 3 * SETS);
    tcase_add_loop_test(tc, infinities_and_nans_pass, 0, SETS);
    tcase_add_loop_test(tc, maxima_are_the_first, 0, SETS);
    tcase_add_loop_test(tc, windows_that_cover_all_are_like_others, 0, SETS);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
