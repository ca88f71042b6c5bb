/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cuda/dnn/conv/graph.h"
#include "engine/device/cuda/dnn/conv/order.h"
#include "engine/device/cuda/dnn/conv/search.h"
#include "tests/engine/device/cuda/dnn/conv_cases.h"

/*
 * What the real cuDNN offers for an H200 that is described, and which of it tuning would time; and
 * plans as text. Linked into test_conv_plans.
 */
static const struct cudnn_api *api;
static struct dnn_target target;
static struct conv_cases cases;
static char *description;
static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    description = conv_described_gpu();
    conv_cases_find(&cases);
    api = cudnn_open(&err);
    ck_assert_msg(api != NULL, "%s", err.text);
    target.described = dnn_described_device(api, description, &err);
    ck_assert_msg(target.described != NULL, "%s", err.text);
}

static void teardown(void)
{
    dnn_release(api, &target.described, 1);
    free(description);
}

static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_DATA, CONV_WEIGHTS,
                                             CONV_FORWARD_STATS};

/* What tuning would time for a request. */
struct offer {
    struct conv_graph graph;
    struct dnn_candidate list[CONV_OFFERED];
    int count;
};

static void make_offer(const struct conv_request *request, struct offer *offer)
{
    const struct conv_maker maker = {.api = api, .description = description, .autotune = true};
    ck_assert_msg(conv_graph_build(&offer->graph, api, NULL, request, &err) &&
                      conv_search_candidates(&maker, request, offer->graph.graph, &target,
                                             offer->list, &offer->count, &err),
                  "%s", err.text);
    ck_assert_int_le(offer->count, CONV_TIMED);
}

/* Of one engine among the first `limit`. */
static int of_engine(const struct offer *offer, int64_t engine, int limit)
{
    int found = 0;
    for (int i = 0; i < offer->count && i < limit; i++)
        found += offer->list[i].choice.engine == engine;
    return found;
}

static int distinct_engines(const struct offer *offer)
{
    int distinct = 0;
    for (int i = 0; i < offer->count; i++)
        distinct += of_engine(offer, offer->list[i].choice.engine, i) == 0;
    return distinct;
}

static int64_t knob(const struct dnn_choice *choice, int64_t type)
{
    for (int i = 0; i < choice->knob_count; i++)
        if (choice->knobs[i].type == type)
            return choice->knobs[i].value;
    return -1;
}

/* Engines 62, 67 and 73, 65 are written for Hopper; of the sums' it is 2, and only that. */
static void check_engines(const struct conv_request *r, const struct offer *offer)
{
    /* So that Hopper's are met before the rest of a list of forty. */
    static const int soon = 16;
    char text[256];
    conv_request_text(r, text, sizeof text);
    const int hopper = r->pattern == CONV_FORWARD   ? of_engine(offer, 62, soon)
                       : r->pattern == CONV_WEIGHTS ? of_engine(offer, 65, soon)
                       : r->pattern == CONV_FORWARD_STATS
                           ? of_engine(offer, 2, soon)
                           : of_engine(offer, 67, soon) + of_engine(offer, 73, soon);
    ck_assert_msg(hopper >= 2, "%s: %d of Hopper's", text, hopper);
    ck_assert_msg(distinct_engines(offer) >= (r->pattern == CONV_FORWARD_STATS ? 2 : 3), "%s: %d",
                  text, distinct_engines(offer));
    for (int i = 0; i < offer->count; i++) {
        const struct dnn_candidate *one = &offer->list[i];
        const bool compiled = one->notes & DNN_NOTE_COMPILED;
        ck_assert_msg(compiled == (r->pattern == CONV_FORWARD_STATS), "%s", text);
        if (compiled)
            ck_assert_int_le(of_engine(offer, one->choice.engine, offer->count),
                             CONV_COMPILED_PER_ENGINE);
    }
}

/* Every convolution of ResNet-18 at 28x28 in bf16; _i: the number of rows. */
START_TEST(several_engines_are_timed)
{
    static const int rows[] = {256, 1024};
    struct offer *offer = calloc(1, sizeof *offer);
    int requests = 0, timed = 0, compiled = 0;
    ck_assert_ptr_nonnull(offer);
    for (int i = 0; i < cases.count; i++)
        for (int p = 0; p < 4; p++) {
            struct conv_request r = cases.list[i].request;
            r.pattern = patterns[p];
            r.type = TYPE_BF16;
            r.rows = rows[_i];
            if (strcmp(cases.list[i].model, "resnet18") != 0 || cases.list[i].h != 28 ||
                (r.pattern == CONV_DATA && cases.list[i].first))
                continue;
            make_offer(&r, offer);
            check_engines(&r, offer);
            conv_graph_free(&offer->graph);
            requests++;
            timed += offer->count;
            compiled += r.pattern == CONV_FORWARD_STATS ? offer->count : 0;
        }
    printf("%4d rows: %d convolutions, %d candidates, %d of them to be compiled\n", rows[_i],
           requests, timed, compiled);
    ck_assert_int_ge(requests, 4 * 10);
    free(offer);
}
END_TEST

/* Kernels that heuristics leave out can be compiled. */
START_TEST(hoppers_kernels_make_sums)
{
    static const int64_t kernels[] = {8, 10, 43, 44};
    struct offer *offer = calloc(1, sizeof *offer);
    int built = 0;
    ck_assert_ptr_nonnull(offer);
    struct conv_request r = {.pattern = CONV_FORWARD_STATS, .rows = 1024, CONV_3X3_OF_64};
    make_offer(&r, offer);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < offer->count; i++) {
            struct dnn_plan plan;
            if (offer->list[i].choice.engine != 2 ||
                knob(&offer->list[i].choice, CUDNN_KNOB_TYPE_KERNEL_CFG) != kernels[k])
                continue;
            ck_assert_msg(dnn_plan_build(&plan, api, offer->graph.graph, &target,
                                         &offer->list[i].choice, 0, &err),
                          "%s", err.text);
            ck_assert_uint_eq(plan.workspace, 0);
            dnn_plan_free(&plan);
            built++;
        }
    ck_assert_int_eq(built, 4);
    conv_graph_free(&offer->graph);
    free(offer);
}
END_TEST

/* The gradient of a stem's filters is a product of 64 x 16 over a sum of 802,816: a grid of one
 * tile leaves most of a GPU idle unless the sum is split. */
START_TEST(the_stems_gradient_splits_its_sum)
{
    struct offer *offer = calloc(1, sizeof *offer);
    int split = 0, before = 0;
    ck_assert_ptr_nonnull(offer);
    struct conv_request r = {.pattern = CONV_WEIGHTS,
                             .type = TYPE_BF16,
                             .rows = 1024,
                             .in = 16,
                             .in_h = 28,
                             .in_w = 28,
                             .out = 64,
                             .out_h = 28,
                             .out_w = 28,
                             .kernel_h = 1,
                             .kernel_w = 1,
                             .stride_h = 1,
                             .stride_w = 1,
                             .dilation_h = 1,
                             .dilation_w = 1};
    make_offer(&r, offer);
    for (int i = 0; i < offer->count; i++) {
        const struct dnn_choice *choice = &offer->list[i].choice;
        const bool splits = knob(choice, CUDNN_KNOB_TYPE_SPLIT_K) > 8 ||
                            knob(choice, CUDNN_KNOB_TYPE_SPLIT_K_BUF) > 8 ||
                            knob(choice, CUDNN_KNOB_TYPE_SPLIT_K_SLC) > 8;
        split += splits;
        before += splits && of_engine(offer, choice->engine, i) == 0;
    }
    /* Of several engines. */
    ck_assert_int_ge(split, 6);
    ck_assert_int_ge(before, 3);
    conv_graph_free(&offer->graph);
    free(offer);
}
END_TEST

/* A plan is written down and read back without a GPU; what is not one is refused. */
START_TEST(plans_are_read_back)
{
    struct offer *offer = calloc(1, sizeof *offer);
    struct conv_request r = cases.list[1].request;
    struct dnn_plan plan, again;
    size_t length = 0;
    ck_assert_ptr_nonnull(offer);
    r.pattern = patterns[_i];
    r.type = TYPE_BF16;
    r.rows = 256;
    make_offer(&r, offer);
    ck_assert_msg(
        dnn_plan_build(&plan, api, offer->graph.graph, &target, &offer->list[0].choice, 0, &err),
        "%s", err.text);
    char *text = dnn_plan_text(&plan, &length, &err);
    ck_assert_msg(text != NULL, "%s", err.text);
    ck_assert_uint_gt(length, 100);
    ck_assert_msg(dnn_plan_load(&again, api, &target, text, length, &err), "%s", err.text);
    ck_assert_uint_eq(again.workspace, plan.workspace);
    dnn_plan_free(&again);
    ck_assert(!dnn_plan_load(&again, api, &target, "{}", 2, &err));
    text[length / 2] = '\0';
    ck_assert(!dnn_plan_load(&again, api, &target, text, length / 2, &err));
    free(text);
    dnn_plan_free(&plan);
    conv_graph_free(&offer->graph);
    free(offer);
}
END_TEST

/* Engines' numbers and what is compiled differ from release to release:
 * tests/engine/device/cuda/dnn/cudnn-releases. */
static bool is_known_release(void)
{
    struct error ignored = ERROR_INIT;
    const struct cudnn_api *opened = cudnn_open(&ignored);
    return opened && opened->GetVersion() / 100 == 919;
}

TCase *conv_offers_case(void)
{
    TCase *tcase = tcase_create("conv_offers");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, plans_are_read_back, 0, 3);
    if (!is_known_release())
        return tcase;
    tcase_add_loop_test(tcase, several_engines_are_timed, 0, 2);
    tcase_add_test(tcase, hoppers_kernels_make_sums);
    tcase_add_test(tcase, the_stems_gradient_splits_its_sum);
    return tcase;
}
