/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#include "base/text.h"
#include "engine/device/cuda/dnn/conv/plan.h"
#include "spec/names.h"
#include "tests/engine/device/cuda/dnn/conv_cases.h"
#include "tests/engine/device/cuda/dnn/conv_engines.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * Plans by the real cuDNN, without a GPU: for an H200 that is described (fixtures/h200.json), does
 * every convolution of every shipped model find an engine that can be built, within the workspace
 * allowed, and do the fusions that the backend wants? Nothing is run, so nothing is said about
 * results or speed.
 *
 * Single convolutions are quick; fused ones are compiled by cuDNN, one to three seconds each, so
 * make check takes ResNet-18's at 28x28 with 256 rows. With DPARTUI_TEST_ALL_PLANS=1 in the
 * environment all models, numbers of rows and types are taken (a quarter of an hour).
 *
 * To compile, cuDNN wants a driver: a stub (tests/engine/device/cuda/dnn/stub_driver.c) in a folder
 * of its own, which this program puts on LD_LIBRARY_PATH before it restarts itself. (Plans
 * compiled so cannot be loaded, which conv_plan_create allows for a device that is described.)
 * DPARTUI_TEST_CUDNN names the folder of another cuDNN than configure found, and
 * DPARTUI_TEST_ENGINES=1 lists the engines that it puts first:
 * tests/engine/device/cuda/dnn/cudnn-releases.
 */
#define WORKSPACE_LIMIT ((size_t)256 << 20)
#define STARTED_ANEW    "DPARTUI_TEST_STUB_DRIVER"
#define STUB            "stub_driver/libcuda.so.1"

static const int rows[] = {96, 128, 256, 1024};
static const enum number_type types[] = {TYPE_F32, TYPE_TF32, TYPE_BF16};

#define COUNT(ARRAY) ((int)(sizeof(ARRAY) / sizeof *(ARRAY)))

static struct conv_cases cases;
static struct conv_maker maker;
static char *description;
static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    description = conv_described_gpu();
    conv_cases_find(&cases);
    maker = (struct conv_maker){
        .api = cudnn_open(&err),
        .description = description,
        .workspace_limit = WORKSPACE_LIMIT,
    };
    ck_assert_msg(maker.api != NULL, "%s", err.text);
}

static void teardown(void)
{
    free(description);
}

static bool wanted(const char *variable)
{
    const char *value = getenv(variable);
    return value && strcmp(value, "1") == 0;
}

static bool everything(void)
{
    return wanted("DPARTUI_TEST_ALL_PLANS");
}

/* A plan that must be there. Returns its workspace, and its name when wanted. */
static size_t found(const struct conv_request *request, char name[256])
{
    struct conv_plan *plan;
    ck_assert_msg(conv_plan_create(&maker, request, &plan, &err), "%s", err.text);
    size_t workspace = conv_plan_workspace(plan);
    ck_assert_uint_le(workspace, WORKSPACE_LIMIT);
    ck_assert_int_eq(strncmp(conv_plan_name(plan), "eng", 3), 0);
    ck_assert(isnan(conv_plan_seconds(plan)));
    if (name)
        snprintf(name, 256, "%s", conv_plan_name(plan));
    conv_plan_destroy(plan);
    return workspace;
}

START_TEST(shipped_models_are_covered)
{
    int strided = 0, pointwise = 0, five = 0;
    for (int i = 0; i < cases.count; i++) {
        const struct conv_request *r = &cases.list[i].request;
        strided += r->stride_h == 2;
        pointwise += r->kernel_h == 1;
        five += r->kernel_h == 5;
    }
    /* ResNet-18 alone has 11 at each of two sizes. */
    ck_assert_int_ge(cases.count, 24);
    ck_assert(strided > 0 && pointwise > 0 && five > 0);
}
END_TEST

/* One type and number of rows (_i numbers both): forward, both gradients, all networks. */
START_TEST(every_convolution_finds_a_plan)
{
    static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_DATA, CONV_WEIGHTS};
    enum number_type type = types[_i / COUNT(rows)];
    size_t sum = 0, most = 0;
    int plans = 0;
    /* Few rows in TF32, many in the others: so each type and number of rows occurs. */
    if (!everything() && (type == TYPE_TF32) != (rows[_i % COUNT(rows)] < 256))
        return;
    for (int i = 0; i < cases.count; i++)
        for (int p = 0; p < COUNT(patterns); p++) {
            if (patterns[p] == CONV_DATA && cases.list[i].first)
                continue;
            struct conv_request r = cases.list[i].request;
            r.pattern = patterns[p];
            r.type = type;
            r.rows = rows[_i % COUNT(rows)];
            size_t workspace = found(&r, NULL);
            sum += workspace;
            most = workspace > most ? workspace : most;
            plans++;
        }
    printf("%4d rows, %-4s: %d plans, workspaces %.1f MB in sum, %.1f MB the largest\n",
           rows[_i % COUNT(rows)], number_type_name(type), plans, (double)sum / 1e6,
           (double)most / 1e6);
}
END_TEST

/* Engines whose results depend on timing: 25 for data, 20 for weights. */
START_TEST(deterministic_plans_are_found)
{
    for (int i = 0; i < cases.count; i++)
        for (int t = 0; t < COUNT(types); t++) {
            struct conv_request r = cases.list[i].request;
            char name[256];
            r.type = types[t];
            r.rows = 256;
            r.deterministic = true;
            r.pattern = CONV_DATA;
            found(&r, name);
            ck_assert_int_ne(strncmp(name, "eng25{", 6), 0);
            r.pattern = CONV_WEIGHTS;
            found(&r, name);
            ck_assert_int_ne(strncmp(name, "eng20{", 6), 0);
        }
}
END_TEST

/* An H200 computes large convolutions by tensor cores where it may: f32 gets other engines. */
START_TEST(exact_products_use_no_tensor_cores)
{
    for (int i = 0; i < cases.count; i++) {
        struct conv_request r = cases.list[i].request;
        char exact[256], rounded[256];
        if (r.kernel_h != 3 || r.in < 64)
            continue;
        r.pattern = CONV_FORWARD;
        r.rows = 256;
        r.type = TYPE_F32;
        found(&r, exact);
        r.type = TYPE_TF32;
        found(&r, rounded);
        ck_assert_str_ne(exact, rounded);
    }
}
END_TEST

START_TEST(a_workspace_too_large_is_not_taken)
{
    struct conv_request r = cases.list[1].request;
    r.pattern = CONV_WEIGHTS;
    r.type = TYPE_BF16;
    r.rows = 1024;
    maker.workspace_limit = 0;
    struct conv_plan *plan;
    ck_assert_msg(conv_plan_create(&maker, &r, &plan, &err), "%s", err.text);
    ck_assert_uint_eq(conv_plan_workspace(plan), 0);
    conv_plan_destroy(plan);
}
END_TEST

/* Which convolutions, numbers of rows and types the fusions are tried with. */
static bool fusion_wanted(const struct conv_case *one, int row_index, enum number_type type)
{
    bool resnet = strcmp(one->model, "resnet18") == 0;
    if (everything())
        return type != TYPE_F32;
    return resnet && one->h == 28 && rows[row_index] == 256 && type == TYPE_BF16;
}

/* All that are wanted, and sensible, must be found with these flags. */
static void find_fusions(struct conv_request flags, bool (*sensible)(const struct conv_case *))
{
    int plans = 0;
    for (int i = 0; i < cases.count; i++)
        for (int row = 0; row < COUNT(rows); row++)
            for (int t = 0; t < COUNT(types); t++) {
                if (!fusion_wanted(&cases.list[i], row, types[t]) || !sensible(&cases.list[i]))
                    continue;
                struct conv_request r = cases.list[i].request;
                r.pattern = flags.pattern;
                r.relu = flags.relu;
                r.deterministic = flags.deterministic;
                r.rows = rows[row];
                r.type = types[t];
                found(&r, NULL);
                plans++;
            }
    ck_assert_int_gt(plans, 0);
}

static bool case_3x3(const struct conv_case *one)
{
    return one->request.kernel_h == 3;
}

START_TEST(sums_beside_a_convolution_are_found)
{
    find_fusions((struct conv_request){.pattern = CONV_FORWARD_STATS}, case_3x3);
}
END_TEST

START_TEST(bias_and_relu_are_found)
{
    find_fusions((struct conv_request){.pattern = CONV_FORWARD_BIAS, .relu = true}, case_3x3);
}
END_TEST

START_TEST(what_cudnn_does_not_fuse_is_a_clean_error)
{
    for (int i = 0; i < cases.count; i++) {
        struct conv_request r = cases.list[i].request;
        struct conv_plan *plan = (struct conv_plan *)&err;
        if (r.stride_h != 2 || r.kernel_h != 3)
            continue;
        r.pattern = CONV_FORWARD_STATS;
        r.type = TYPE_F32;
        r.rows = 256;
        ck_assert(!conv_plan_create(&maker, &r, &plan, &err));
        ck_assert_ptr_null(plan);
        ck_assert_int_eq(err.kind, ERROR_FAILED);
        ck_assert_ptr_nonnull(strstr(err.text, "cuDNN cannot compute conv 3x3/2"));
        ck_assert_ptr_null(strchr(err.text, '\n'));
        return;
    }
    ck_abort_msg("no such convolution");
}
END_TEST

/* The sums of CONV_FORWARD_STATS come in no fixed order. */
START_TEST(deterministic_sums_are_refused)
{
    struct conv_request r = cases.list[1].request;
    struct conv_plan *plan;
    r.pattern = CONV_FORWARD_STATS;
    r.type = TYPE_BF16;
    r.rows = 256;
    r.deterministic = true;
    ck_assert(!conv_plan_create(&maker, &r, &plan, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "no fixed order"));
}
END_TEST

START_TEST(a_described_device_runs_nothing)
{
    struct conv_request r = cases.list[1].request;
    struct conv_plan *plan;
    struct conv_tensors none = {.x = NULL};
    r.pattern = CONV_FORWARD;
    r.type = TYPE_BF16;
    r.rows = 256;
    ck_assert_msg(conv_plan_create(&maker, &r, &plan, &err), "%s", err.text);
    ck_assert(!conv_plan_run(plan, NULL, &none, NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "only described"));
    conv_plan_destroy(plan);
}
END_TEST

START_TEST(nonsense_descriptions_are_refused)
{
    struct conv_request r = cases.list[1].request;
    struct conv_plan *plan;
    r.type = TYPE_BF16;
    r.rows = 256;
    maker.description = "{\"deviceName\":";
    ck_assert(!conv_plan_create(&maker, &r, &plan, &err));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
}
END_TEST

START_TEST(engines_are_listed)
{
    conv_engines_print(&maker, &cases);
}
END_TEST

/* cuDNN loads most of itself for the first plans: once, before the checks have their
 * processes. */
static void load(void)
{
    static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_DATA, CONV_WEIGHTS};
    setup();
    for (int i = 0; i < COUNT(patterns) * COUNT(types); i++) {
        struct conv_request request = cases.list[1].request;
        request.pattern = patterns[i / COUNT(types)];
        request.type = types[i % COUNT(types)];
        request.rows = 256;
        found(&request, NULL);
    }
    teardown();
}

static Suite *make_suite(void)
{
    Suite *suite = suite_create("conv_plans");
    TCase *tcase = tcase_create("conv_plans");
    tcase_add_unchecked_fixture(tcase, load, NULL);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, everything() ? 3600 : 300);
    tcase_add_test(tcase, shipped_models_are_covered);
    tcase_add_loop_test(tcase, every_convolution_finds_a_plan, 0, COUNT(types) * COUNT(rows));
    tcase_add_test(tcase, deterministic_plans_are_found);
    tcase_add_test(tcase, exact_products_use_no_tensor_cores);
    tcase_add_test(tcase, a_workspace_too_large_is_not_taken);
    tcase_add_test(tcase, sums_beside_a_convolution_are_found);
    tcase_add_test(tcase, bias_and_relu_are_found);
    tcase_add_test(tcase, what_cudnn_does_not_fuse_is_a_clean_error);
    tcase_add_test(tcase, deterministic_sums_are_refused);
    tcase_add_test(tcase, a_described_device_runs_nothing);
    tcase_add_test(tcase, nonsense_descriptions_are_refused);
    if (wanted("DPARTUI_TEST_ENGINES"))
        tcase_add_test(tcase, engines_are_listed);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, conv_offers_case());
    return suite;
}

/* Put "TEXT:" before an environment variable's value. */
static bool prepend(const char *variable, const char *text)
{
    const char *before = getenv(variable);
    char *all = before ? text_format("%s:%s", text, before) : strdup(text);
    bool ok = all && setenv(variable, all, 1) == 0;
    free(all);
    return ok;
}

/* The folder of the stub driver is next to this program. No check runs yet, so nothing of
 * tests/support.h may be used. */
static bool find_stub(char folder[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - sizeof STUB);
    if (length < 0)
        return false;
    folder[length] = '\0';
    strcpy(strrchr(folder, '/') + 1, STUB);
    bool found = access(folder, R_OK) == 0;
    *strrchr(folder, '/') = '\0';
    return found;
}

/* Start this program again where the stub driver is found before any other, and the cuDNN under
 * test. Returns only when it cannot. */
static int start_anew(char **argv)
{
    char folder[PATH_MAX];
    const char *other = getenv("DPARTUI_TEST_CUDNN");
    if (!find_stub(folder)) {
        puts("cannot find " STUB " next to this program: make check builds it");
        return 1;
    }
    /* cuDNN leaks; that we do not is seen where it is simulated (test_conv_sim). */
    if (prepend("ASAN_OPTIONS", "detect_leaks=0") && prepend("LD_LIBRARY_PATH", CUBLASLT_DIR) &&
        prepend("LD_LIBRARY_PATH", other ? other : CUDNN_DIR) &&
        prepend("LD_LIBRARY_PATH", folder) && setenv(STARTED_ANEW, "1", 1) == 0)
        execv("/proc/self/exe", argv);
    perror("cannot restart the test with the stub driver");
    return 1;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv(STARTED_ANEW))
        return start_anew(argv);
    const struct cudnn_api *api = cudnn_open(&err);
    if (!api) {
        printf("%s\n", err.text);
        return 1;
    }
    printf("cuDNN %zu\n", api->GetVersion());
    return run_suites(make_suite(), NULL);
}
