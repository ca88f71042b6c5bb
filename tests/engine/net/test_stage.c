/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/core/parameters.h"
#include "engine/net/stage.h"
#include "tests/reference/trial.h"
#include "tests/suites.h"

/* Networks cut into stages. */

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

static bool is_shipped(const char *model)
{
    return model[0] != '{' && model[0] != '"';
}

static void make(struct trial *trial, const char *model)
{
    if (is_shipped(model))
        trial_make_shipped(trial, model, (struct net_shape){3, 32, 32}, 1, 1);
    else
        trial_make(trial, model, (struct net_shape){2, 8, 8}, 3, 1, false, 1);
}

/* Names of all places where the network may be cut. */
static void list_cuts(const struct net *net, char *list)
{
    int *ends = calloc((size_t)net->op_count, sizeof *ends);
    const int count = net_cuts(net, ends);
    *list = '\0';
    for (int i = 0; i < count; i++) {
        char name[NET_STAGE_NAME];
        strcat(list, i ? "," : "");
        strcat(list, net_stage_name(net, &(struct net_stage){.end = ends[i] + 1}, name));
    }
    free(ends);
}

#define CONV    "{ type = \"conv\"; channels = 2; kernel = 1; }"
#define NORM    "\"batchnorm\""
#define RELU    "\"relu\""
#define GROUPS  "{ type = \"groupnorm\"; groups = 1; }"
#define DROPOUT "{ type = \"dropout\"; p = 0.5; }"
#define POOL    "{ type = \"maxpool\"; kernel = 2; }"
#define LINEAR  "{ type = \"linear\"; outputs = 3; }"
#define HALF(l) "{ type = \"residual\"; layers = (" l "); shortcut = (" POOL "); }"
#define SUM(l)  "{ type = \"residual\"; layers = (" l "); }"

#define UNIT(n, l, a)                                                                              \
    "{ type = \"residual\"; name = \"" n "\"; layers = (" l "); after = (" a "); }"
#define HALVED CONV ", " HALF(CONV ", " RELU ", " POOL ", " CONV) ", " LINEAR

static const struct {
    const char *model, *cuts;
} cases[] = {
    {"linear", ""},
    {"lenet", "1,2,4,6,8,10"},
    {"resnet18", "2,resnet_block1.0.bn1,resnet_block1.0,resnet_block1.1.bn1,resnet_block1.1,"
                 "resnet_block2.0.bn1,resnet_block2.0,resnet_block2.1.bn1,resnet_block2.1,"
                 "resnet_block3.0.bn1,resnet_block3.0,resnet_block3.1.bn1,resnet_block3.1,"
                 "resnet_block4.0.bn1,resnet_block4.0,resnet_block4.1.bn1,resnet_block4.1,fc.0"},
    {"smallnet", "2,3,6,8"},
    {"cifar-cnn", "1,2,4,6,8,10"},
    {"alexnet", "1,2,4,5,7,9,11,13,16,19"},
    {"mobilenet-small",
     "2,5,7,unit1.0.1,unit1.0.4,unit1.0,unit1.1.1,unit1.1.4,unit1.1,11,14,16,unit2.0.1,unit2.0.4,"
     "unit2.0,unit2.1.1,unit2.1.4,unit2.1,20,21"},
    {CONV ", " NORM ", " RELU ", " CONV ", " GROUPS ", " POOL ", " LINEAR ", " DROPOUT, "2,4,5"},
    /* What the first layers make is read by the units and what follows them, and a layer without a
     * name has none to be cut after. */
    {SUM(CONV) ", " SUM(NORM ", " RELU ", " CONV) ", " NORM ", " RELU ", " LINEAR, "0,1.0,1,3"},
    {CONV ", " SUM(RELU ", " CONV) ", " LINEAR ", " RELU ", " LINEAR, "0,1,3"},
    /* Within the inner unit three would cross, unless both units begin with the same. */
    {CONV ", " SUM(CONV ", " SUM(CONV ", " RELU ", " CONV) ", " CONV) ", " LINEAR, "0,1.0,1.1,1"},
    {CONV ", " SUM(SUM(CONV ", " RELU ", " CONV) ", " CONV) ", " LINEAR, "0,1.0.0,1.0,1"},
    {HALVED, "0,1.0,1"},
    /* Not where the name would mean the end of the unit. */
    {CONV ", " UNIT("u", CONV, RELU ", " CONV) ", " LINEAR, "0,u"},
    {CONV ", " UNIT("u", CONV ", " UNIT("v", CONV, RELU ", " NORM), RELU) ", " LINEAR, "0,u.0,u"},
    {"{ type = \"sequence\"; name = \"a\"; layers = (" CONV ", " RELU ", " POOL "); }, " LINEAR,
     "a.1,a"},
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(cuts_are_between_layers)
{
    struct trial trial;
    char list[1024];
    make(&trial, cases[_i].model);
    list_cuts(trial.net, list);
    ck_assert_str_eq(list, cases[_i].cuts);
    trial_free(&trial);
}
END_TEST

START_TEST(of_a_name_the_smallest_cut_counts)
{
    struct trial trial;
    int ends[16];
    make(&trial, HALVED);
    ck_assert_int_eq(net_cuts(trial.net, ends), 3);
    ck_assert_int_eq(trial.net->ops[ends[1]].kind, NET_MAXPOOL);
    trial_free(&trial);
}
END_TEST

/* The last node of a graph that makes a tensor of the network; -1: none stores it. */
static int maker(const struct net *net, const struct graph *graph, int tensor)
{
    struct fused fused;
    int found = -1;
    ck_assert(fuse(net, &fused, &err));
    for (int i = 0; i < fused.count; i++)
        for (int k = 0; k < graph->node_count && fused.ops[i].output == tensor; k++)
            if (graph->nodes[k].op == fused.ops[i].op || graph->nodes[k].norm == fused.ops[i].op)
                found = k;
    fused_free(&fused);
    return found;
}

static bool is_among(int number, const int *list, int count)
{
    bool found = false;
    for (int i = 0; i < count; i++)
        found = found || list[i] == number;
    return found;
}

/* Of nodes up to those that make the cut's tensors, later ones read its values alone. */
static void expect_cut(const struct net *net, const struct graph *graph, const struct net_cut *cut)
{
    int values[NET_CUT_TENSORS], last = 0;
    for (int i = 0; i < cut->count; i++) {
        const int at = maker(net, graph, cut->tensor[i]);
        ck_assert_int_ge(at, 0);
        values[i] = graph->nodes[at].output;
        ck_assert_int_ne(values[i], graph->logits);
        last = at > last ? at : last;
    }
    for (int k = last + 1; k < graph->node_count; k++) {
        const struct node *node = &graph->nodes[k];
        ck_assert(node->input != 0 && node->residual != 0);
        ck_assert(!is_among(node->output, values, cut->count));
        for (int i = 0; i <= last; i++) {
            const int made = graph->nodes[i].output;
            ck_assert(is_among(made, values, cut->count) ||
                      (node->input != made && node->residual != made));
        }
    }
}

static void expect_parts(const struct net *net, const int *ends, int count,
                         const struct net_stage *stages)
{
    ck_assert_int_eq(stages[0].first, 0);
    ck_assert_int_eq(stages[0].entry.count, 1);
    ck_assert_int_eq(stages[0].entry.tensor[0], 0);
    ck_assert_int_eq(stages[count].end, net->op_count);
    ck_assert_int_eq(stages[count].exit.count, 1);
    ck_assert_int_eq(stages[count].exit.tensor[0], net->output);
    for (int i = 0; i < count; i++) {
        const struct net_cut *cut = &stages[i].exit;
        ck_assert_int_eq(stages[i].end, ends[i] + 1);
        ck_assert_int_eq(stages[i].end, stages[i + 1].first);
        ck_assert_int_eq(net->tensors[cut->tensor[0]].producer, ends[i]);
        size_t size = 0;
        for (int k = 0; k < cut->count; k++) {
            ck_assert_int_eq(cut->tensor[k], stages[i + 1].entry.tensor[k]);
            size += net_shape_size(net->tensors[cut->tensor[k]].shape);
        }
        ck_assert_int_eq(cut->count, stages[i + 1].entry.count);
        ck_assert_uint_eq(net_cut_size(net, ends[i]), size);
    }
}

/* The graphs of all stages come to that of the whole, each begins as the one before it ends. */
static void expect_graphs(const struct net *net, const struct net_stage *stages, int count,
                          const struct graph *whole)
{
    struct graph_end end = whole->entry;
    int nodes = 0;
    for (int i = 0; i <= count; i++) {
        struct graph graph;
        ck_assert(graph_build(net, &stages[i], LAYOUT_BLOCKS, 16, &graph, &err));
        ck_assert_int_eq(graph.entry.count, end.count);
        ck_assert_mem_eq(graph.entry.value, end.value, (size_t)end.count * sizeof *end.value);
        ck_assert(graph.begins == (i == 0) && graph.ends == (i == count));
        ck_assert_mem_eq(graph.nodes, whole->nodes + nodes,
                         (size_t)graph.node_count * sizeof *graph.nodes);
        nodes += graph.node_count;
        end = graph.exit;
        graph_free(&graph);
    }
    ck_assert_int_eq(nodes, whole->node_count);
    ck_assert_int_eq(end.count, 1);
    ck_assert_int_eq(end.value[0], whole->logits);
}

START_TEST(devices_store_what_stages_hand_over)
{
    struct trial trial;
    struct rig rig;
    struct graph blocked, last;
    const struct trial_device device = trial_cpu_by_layers(1);
    make(&trial, cases[_i].model);
    const struct net *net = trial.net;
    int *ends = calloc((size_t)net->op_count, sizeof *ends);
    const int count = net_cuts(net, ends);
    struct net_stage *stages = calloc((size_t)count + 1, sizeof *stages);
    rig_open(&rig, &trial, &device);
    ck_assert(graph_build(net, NULL, LAYOUT_BLOCKS, 16, &blocked, &err));
    ck_assert(graph_build(net, NULL, LAYOUT_CHANNELS_LAST, 8, &last, &err));
    ck_assert(net_stages(net, ends, count, stages));
    expect_parts(net, ends, count, stages);
    for (int i = 0; i < count; i++) {
        const struct net_cut *cut = &stages[i].exit;
        expect_cut(net, &blocked, cut);
        expect_cut(net, &last, cut);
        expect_cut(net, &((struct cpu_replica *)rig.replica)->folded, cut);
    }
    expect_graphs(net, stages, count, &blocked);
    graph_free(&blocked);
    graph_free(&last);
    rig_close(&rig);
    free(stages);
    free(ends);
    trial_free(&trial);
}
END_TEST

START_TEST(other_ends_are_refused)
{
    struct trial trial;
    struct net_stage stages[3];
    make(&trial, "lenet");
    ck_assert(net_stages(trial.net, NULL, 0, stages));
    ck_assert(net_stages(trial.net, (int[]){1, 4}, 2, stages));
    ck_assert(!net_stages(trial.net, (int[]){0}, 1, stages));
    ck_assert(!net_stages(trial.net, (int[]){4, 1}, 2, stages));
    ck_assert(!net_stages(trial.net, (int[]){4, 4}, 2, stages));
    ck_assert(!net_stages(trial.net, (int[]){11}, 1, stages));
    ck_assert(!net_stages(trial.net, (int[]){-1}, 1, stages));
    trial_free(&trial);
    make(&trial, "resnet18");
    for (int i = 0; i < trial.net->op_count; i++)
        if (strcmp(trial.net->ops[i].name, "resnet_block2.0.conv1") == 0)
            /* conv1, bn1, relu, conv2, bn2, conv3, add, relu */
            for (int k = 0; k < 8; k++)
                ck_assert(net_stages(trial.net, (int[]){i + k}, 1, stages) == (k == 2 || k == 7));
    trial_free(&trial);
}
END_TEST

START_TEST(every_name_finds_its_cut)
{
    struct trial trial;
    make(&trial, cases[_i].model);
    int *ends = calloc((size_t)trial.net->op_count, sizeof *ends), found;
    const int count = net_cuts(trial.net, ends);
    for (int i = 0; i < count; i++) {
        char name[NET_STAGE_NAME];
        net_stage_name(trial.net, &(struct net_stage){.end = ends[i] + 1}, name);
        ck_assert_msg(net_stages_named(trial.net, name, 1, &found, &err), "%s", err.text);
        ck_assert_int_eq(found, ends[i]);
    }
    free(ends);
    trial_free(&trial);
}
END_TEST

static void expect_refusal(const struct net *net, const char *list, int count, const char *what)
{
    int ends[8];
    ck_assert_msg(!net_stages_named(net, list, count, ends, &err), "%s", list);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, what), "%s", err.text);
}

START_TEST(names_that_do_not_serve_are_named)
{
    struct trial trial;
    int ends[3];
    make(&trial, "resnet18");
    const struct net *net = trial.net;
    ck_assert(net_stages_named(net, "2,resnet_block2,resnet_block3.0", 3, ends, &err));
    ck_assert_int_eq(net->ops[ends[1] + 1].inputs[0], net->ops[ends[1]].output);
    ck_assert_str_eq(net->ops[ends[1] + 1].name, "resnet_block3.0.conv1");
    expect_refusal(net, "resnet_block5", 1, "no layer or unit 'resnet_block5'");
    expect_refusal(net, "resnet_block", 1, "no layer or unit 'resnet_block'");
    expect_refusal(net, "2,,resnet_block1", 3, "no layer or unit ''");
    expect_refusal(net, "resnet_block2.0.conv1", 1,
                   "cut after 'resnet_block2.0.conv1', but after 'resnet_block1.1' or "
                   "'resnet_block2.0.bn1'");
    expect_refusal(net, "resnet_block2.0.bn2", 1,
                   "cut after 'resnet_block2.0.bn2', but after 'resnet_block2.0.bn1' or "
                   "'resnet_block2.0'");
    expect_refusal(net, "0", 1, "cut after '0', but after '2'");
    expect_refusal(net, "fc", 1, "cut after 'fc', but after 'fc.0'");
    expect_refusal(net, "resnet_block2,2", 2, "'2' ends no later");
    expect_refusal(net, "2,2", 2, "'2' ends no later");
    expect_refusal(net, "2,resnet_block2", 1, "2 names for 2 stages");
    expect_refusal(net, "2", 3, "1 name for 4 stages");
    trial_free(&trial);
    make(&trial, "linear");
    expect_refusal(trial.net, "fc", 1, "cut after 'fc' or anywhere else");
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stages of networks");
    TCase *tc = tcase_create("stage");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, cuts_are_between_layers, 0, CASES);
    tcase_add_test(tc, of_a_name_the_smallest_cut_counts);
    tcase_add_loop_test(tc, devices_store_what_stages_hand_over, 0, CASES);
    tcase_add_test(tc, other_ends_are_refused);
    tcase_add_loop_test(tc, every_name_finds_its_cut, 0, CASES);
    tcase_add_test(tc, names_that_do_not_serve_are_named);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
