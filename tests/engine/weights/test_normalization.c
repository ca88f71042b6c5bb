/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/model/file.h"
#include "engine/weights/file.h"
#include "engine/weights/normalization.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The mean and std of training rows in files of weights. */

#define LAYERS "layers = ( { type = \"linear\"; outputs = \"classes\"; } );"

static char *directory, *path;
static struct net *net;
static struct weights weights;
static struct error err;

/* A network for two channels whose file begins with these settings. */
static void load(const char *settings)
{
    char *text = format("default_input = [2, 2, 2]; default_classes = 3; %s\n%s", settings, LAYERS);
    char *model = path_join(directory, "small.conf");
    net_free(net);
    weights_free(&weights);
    put_file(directory, "small.conf", text, strlen(text));
    ck_assert_msg(net_load_default(model, &net, &err), "%s", err.text);
    ck_assert(weights_create(net, &weights, &err));
    weights_init(net, &weights, INIT_NORMAL, 0.1, 1);
    free(model);
    free(text);
}

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    net = NULL;
    weights.values = NULL;
    directory = temporary_folder();
    path = path_join(directory, "w.safetensors");
}

static void teardown(void)
{
    weights_free(&weights);
    net_free(net);
    free(path);
    remove_tree(directory);
}

/* Numbers that no short decimal fraction is, the least std among them. */
static void take_numbers(void)
{
    net->mean[0] = 1.0F / 3;
    net->mean[1] = -0x1.fffffep-3F;
    net->std[0] = nextafterf((float)NET_LEAST_STD, 1);
    net->std[1] = 0x1.555556p-2F;
    net->mean_count = net->mean_of_data ? 2 : 0;
    net->std_count = net->std_of_data ? 2 : 0;
}

START_TEST(they_come_back_bit_by_bit)
{
    static const char *const settings[] = {"mean = \"data\"; std = \"data\";", "mean = \"data\";",
                                           "std = \"data\"; mean = 0.5;"};
    for (size_t i = 0; i < 3; i++) {
        load(settings[i]);
        take_numbers();
        if (i == 2) { /* the file's own stays */
            net->mean_count = 1;
            net->mean[0] = 0.5F;
        }
        const struct net written = *net;
        ck_assert_msg(weights_write(net, path, &weights, NULL, &err), "%s", err.text);
        load(settings[i]);
        ck_assert_int_eq(net->mean_count, i == 2);
        ck_assert_int_eq(net->std_count, 0);
        ck_assert_msg(normalization_read(path, net, &err), "%s", err.text);
        ck_assert_int_eq(net->mean_count, written.mean_count);
        ck_assert_int_eq(net->std_count, written.std_count);
        ck_assert_mem_eq(net->mean, written.mean, (size_t)net->mean_count * sizeof *net->mean);
        ck_assert_mem_eq(net->std, written.std, (size_t)net->std_count * sizeof *net->std);
    }
}
END_TEST

/* Nor is the file another one than before. */
START_TEST(a_network_with_its_own_numbers_takes_none)
{
    char *text;
    size_t length;
    load("mean = \"data\"; std = \"data\";");
    take_numbers();
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    load("mean = 0.25; std = [0.5, 1.0];");
    ck_assert_msg(normalization_read(path, net, &err), "%s", err.text);
    ck_assert_int_eq(net->mean_count, 1);
    ck_assert_int_eq(net->std_count, 2);
    ck_assert(net->mean[0] == 0.25F && net->std[0] == 0.5F && net->std[1] == 1);
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    ck_assert(file_read(path, 1 << 20, &text, &length, &err));
    ck_assert_ptr_null(memmem(text, length, "normalization", 13));
    free(text);
}
END_TEST

START_TEST(a_file_without_any_changes_nothing)
{
    load("");
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    load("mean = \"data\"; std = \"data\";");
    ck_assert_msg(normalization_read(path, net, &err), "%s", err.text);
    ck_assert_int_eq(net->mean_count, 0);
    ck_assert_int_eq(net->std_count, 0);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"no JSON", "its normalization cannot be read"},
    {"[0.5]", "its normalization cannot be read"},
    {"{\\\"mean\\\":[0.5]}", "no valid mean for an input of 2 channels"},
    {"{\\\"mean\\\":0.5}", "no valid mean"},
    {"{\\\"mean\\\":[0.5,null]}", "no valid mean"},
    {"{\\\"mean\\\":[0.5,-1e7]}", "no valid mean"},
    {"{\\\"mean\\\":[0,1],\\\"std\\\":[0.5,0]}", "no valid std for an input of 2 channels"},
    {"{\\\"std\\\":[0.5,1,1]}", "no valid std"},
    {"{\\\"std\\\":[0.5,\\\"1\\\"]}", "no valid std"},
};

START_TEST(bad_ones_are_refused)
{
    char *header = format("{\"__metadata__\":{\"dpartui_normalization\":\"%s\"}}", bad[_i].text);
    uint64_t length = strlen(header);
    struct text file = TEXT_INIT;
    text_append(&file, (const char *)&length, sizeof length);
    text_puts(&file, header);
    put_file(directory, "w.safetensors", file.data, file.length);
    load("mean = \"data\"; std = \"data\";");
    ck_assert_msg(!normalization_read(path, net, &err), "accepted: %s", bad[_i].text);
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_msg(strncmp(err.text, path, strlen(path)) == 0, "%s", err.text);
    ck_assert_msg(strstr(err.text, bad[_i].message) != NULL, "%s", err.text);
    text_free(&file);
    free(header);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("normalization");
    TCase *tcase = tcase_create("files");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, they_come_back_bit_by_bit);
    tcase_add_test(tcase, a_network_with_its_own_numbers_takes_none);
    tcase_add_test(tcase, a_file_without_any_changes_nothing);
    tcase_add_loop_test(tcase, bad_ones_are_refused, 0, (int)(sizeof bad / sizeof *bad));
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
