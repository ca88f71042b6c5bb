/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/model/file.h"
#include "engine/net/net.h"
#include "tests/suites.h"
#include "tests/support.h"

static char *directory, *path;
static struct net *net;
static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    net = NULL;
    directory = temporary_folder();
    path = path_join(directory, "model.conf");
}

static void teardown(void)
{
    net_free(net);
    free(path);
    remove_tree(directory);
}

/* Parse a model of these layers for 2x6x6 and 3 classes. */
static bool load_layers(const char *layers)
{
    char *text = format("default_input = [2, 6, 6]; default_classes = 3;\n"
                        "layers = (\n%s);\n",
                        layers);
    put_file(directory, "model.conf", text, strlen(text));
    free(text);
    return net_load_default(path, &net, &err);
}

#define LAST "{ type = \"linear\"; name = \"last\"; outputs = \"classes\"; }"

START_TEST(repeat_names_and_shapes)
{
    ck_assert_msg(load_layers("{ type = \"conv\"; channels = 4; kernel = [1, 3]; pad = [0, 1];"
                              "  repeat = 2; },\n"
                              "{ type = \"sequence\"; name = \"s\"; repeat = 2; layers = (\n"
                              "  { type = \"residual\"; repeat = 2; layers = ( \"tanh\","
                              "    { type = \"batchnorm\"; name = \"n\"; } ); },"
                              "  { type = \"dropout\"; p = 0.25; } ); },\n"
                              "{ type = \"avgpool\"; kernel = 3; stride = 2; pad = 1; },\n" LAST),
                  "%s", err.text);
    static const char *const names[] = {"0",     "1",     "",  "s.0.0.n", "s.0.0", "", "s.0.1.n",
                                        "s.0.1", "s.0.2", "",  "s.1.0.n", "s.1.0", "", "s.1.1.n",
                                        "s.1.1", "s.1.2", "3", "last"};
    ck_assert_int_eq(net->op_count, sizeof names / sizeof names[0]);
    for (int i = 0; i < net->op_count; i++)
        ck_assert_str_eq(net->ops[i].name, names[i]);
    struct net_shape pooled = net->tensors[net->ops[16].output].shape;
    ck_assert_mem_eq(&pooled, (&(struct net_shape){4, 3, 3}), sizeof pooled);
    ck_assert_double_eq(net->ops[8].p, 0.25);
    ck_assert_int_eq(net->ops[0].pad_w, 1);
    ck_assert_int_eq(net->ops[0].pad_h, 0);
}
END_TEST

START_TEST(without_bias_there_is_none)
{
    ck_assert_msg(load_layers("{ type = \"conv\"; channels = 4; kernel = 3; bias = false; },\n"
                              "{ type = \"linear\"; outputs = 3; bias = false; }"),
                  "%s", err.text);
    ck_assert_int_eq(net->param_count, 2);
    ck_assert_int_eq(net->ops[0].bias, NET_NONE);
    ck_assert_int_eq(net->ops[1].bias, NET_NONE);
    ck_assert_int_eq(net->ops[1].weight, 1);
}
END_TEST

START_TEST(unnamed_layers_of_a_unit_do_not_collide)
{
    ck_assert_msg(load_layers("{ type = \"residual\";\n"
                              "  layers = ( { type = \"conv\"; channels = 2; kernel = 1; } );\n"
                              "  shortcut = ( { type = \"conv\"; channels = 2; kernel = 1; } );\n"
                              "  after = ( \"batchnorm\", \"relu\" );\n"
                              "  order = [ \"after.0\", \"shortcut.0\", \"0\" ]; },\n" LAST),
                  "%s", err.text);
    ck_assert_str_eq(net->params[0].name, "0.after.0.weight");
    ck_assert_str_eq(net->params[4].name, "0.shortcut.0.weight");
    ck_assert_str_eq(net->params[6].name, "0.0.weight");
}
END_TEST

/* Layers of a model with a mistake: the message must hold "model.conf:LINE: " and the words. */
static const struct {
    const char *layers; /* from line 3 on */
    int line;
    const char *message;
} bad_layers[] = {
    {"{ type = \"conv\"; channels = 4; kernal = 3; },\n" LAST, 3,
     "unknown setting 'kernal': a conv layer may have: type name repeat channels kernel"},
    {"\"relu\",\n{ type = \"linear\"; outputs = 3; kernel = 1; }", 4, "unknown setting 'kernel'"},
    {"{ type = \"convolution\"; },\n" LAST, 3, "no kind of layer is called 'convolution'"},
    {"\"re\nlu\\x1b[2J\",\n" LAST, 4, "no kind of layer is called 're\\x0alu\\x1b[2J'"},
    {"\"add\",\n" LAST, 3, "no kind of layer is called 'add': there are conv, batchnorm"},
    {"{ channels = 4; },\n" LAST, 3, "this layer has no type"},
    {"{ type = 4; },\n" LAST, 3, "this layer has no type"},
    {"7,\n" LAST, 3, "a layer is"},
    {"{ type = \"conv\"; kernel = 3; },\n" LAST, 3, "'channels' is missing"},
    {"\"linear\"", 3, "'outputs' is missing"},
    {"{ type = \"conv\"; channels = 4; },\n" LAST, 3, "'kernel' is missing"},
    {"{ type = \"conv\"; channels = \"many\"; kernel = 3; },\n" LAST, 3, "or \"classes\""},
    {"{ type = \"conv\"; channels = 4;\nkernel = \"3\"; },\n" LAST, 4,
     "'kernel' must be a whole number"},
    {"{ type = \"conv\"; channels = 4; kernel = 3.0; },\n" LAST, 3,
     "'kernel' must be a whole number"},
    {"{ type = \"conv\"; channels = 4; kernel = 0; },\n" LAST, 3,
     "'kernel' must be a whole number from 1 to 65535"},
    {"{ type = \"conv\"; channels = 4; kernel = [1,2,3]; },\n" LAST, 3, "array of up to 2"},
    {"{ type = \"conv\"; channels = 4; kernel = []; },\n" LAST, 3, "array of up to 2"},
    {"{ type = \"conv\"; channels = 4; kernel = 3; pad = -1; },\n" LAST, 3,
     "'pad' must be a whole number from 0"},
    {"{ type = \"conv\"; channels = 4; kernel = 3; bias = 1; },\n" LAST, 3,
     "'bias' must be true or false"},
    {"{ type = \"gelu\"; approximate = \"erf\"; },\n" LAST, 3,
     "'approximate' must be one of the words: none tanh"},
    {"{ type = \"conv\"; channels = 4; kernel = 7; },\n" LAST, 3,
     "conv: the 7x7 window does not fit into its input of 6x6 with padding (the network's input is "
     "2x6x6)"},
    {"{ type = \"conv\"; channels = 4; kernel = 3; dilation = [1,3]; },\n" LAST, 3,
     "conv: the 3x7 window does not fit into its input of 6x6 with padding"},
    {"{ type = \"conv\"; channels = 4; kernel = [65535,1]; dilation = [65535,1]; },\n" LAST, 3,
     "conv: the 4294770691x1 window does not fit into its input of 6x6 with padding"},
    {"{ type = \"conv\"; channels = 4; kernel = 3; dilation = 0; },\n" LAST, 3,
     "'dilation' must be"},
    {"{ type = \"conv\"; channels = 3; kernel = 3; groups = 2; },\n" LAST, 3,
     "conv: 2 input channels and 3 output channels cannot both be divided into 2 equal groups"},
    {"{ type = \"maxpool\"; kernel = 2; repeat = 3; },\n" LAST, 3,
     "maxpool: the 2x2 window does not fit into its input of 1x1"},
    {"{ type = \"avgpool\"; kernel = 2; pad = 2; },\n" LAST, 3, "more than half"},
    {"{ type = \"dropout\"; p = 1; },\n" LAST, 3, "'p' must be a number from 0 to 0.999"},
    {"{ type = \"batchnorm\"; eps = 0; },\n" LAST, 3, "'eps' must be a number"},
    {"\"groupnorm\",\n" LAST, 3, "'groups' is missing"},
    {"{ type = \"groupnorm\"; groups = 0; },\n" LAST, 3, "'groups' must be a whole number"},
    {"{ type = \"groupnorm\"; groups = 3; },\n" LAST, 3,
     "groupnorm: its 2 channels cannot be divided into 3 equal groups"},
    {"{ type = \"relu\"; name = \"\"; },\n" LAST, 3, "'name' must be a string of"},
    {"{ type = \"relu\"; name = \"a..b\"; },\n" LAST, 3, "'name' must be a string of"},
    {"{ type = \"relu\"; name = \"a b\"; },\n" LAST, 3, "'name' must be a string of"},
    {"{ type = \"relu\"; name = 4; },\n" LAST, 3, "'name' must be a string of"},
    {"{ type = \"relu\"; repeat = 0; },\n" LAST, 3, "'repeat' must be a whole number from 1"},
    {"{ type = \"relu\"; name = \"last\"; },\n" LAST, 4, "the name 'last' is taken by line 3"},
    {"\"relu\",\n{ type = \"tanh\"; name = \"0\"; },\n" LAST, 4, "the name '0' is taken by line 3"},
    {"{ type = \"sequence\"; name = \"a\"; layers = ( { type = \"relu\"; name = \"b\"; } ); },\n"
     "{ type = \"tanh\"; name = \"a.b\"; },\n" LAST,
     4, "the name 'a.b' is taken by line 3"},
    {"{ type = \"sequence\"; },\n" LAST, 3, "'layers' is missing"},
    {"{ type = \"sequence\";\nlayers = (); },\n" LAST, 4, "'layers' must be a list of layers"},
    {"{ type = \"sequence\";\nlayers = \"relu\"; },\n" LAST, 4, "'layers' must be a list"},
    {"{ type = \"residual\"; layers = ( \"relu\" );\nshortcut = (); },\n" LAST, 4,
     "'shortcut' must be a list of layers"},
    {"{ type = \"residual\"; layers = ( { type = \"conv\"; channels = 4; kernel = 1; } ); "
     "},\n" LAST,
     3, "residual: its layers give 4x6x6, its shortcut 2x6x6"},
    {"{ type = \"residual\"; order = [ \"a\" ]; layers = ( \"relu\" ); },\n" LAST, 3,
     "'order' must name layers of its group that have parameters, not a"},
    {"{ type = \"sequence\"; layers = ( \"batchnorm\", \"batchnorm\" );\n"
     "order = [ \"1\" ]; },\n" LAST,
     4, "'order' leaves out '0'"},
    {"{ type = \"sequence\"; layers = ( \"batchnorm\", \"batchnorm\" );\n"
     "order = [ \"1\", \"1\" ]; },\n" LAST,
     4, "'order' names '1' twice"},
    {"{ type = \"sequence\"; layers = ( \"batchnorm\" );\norder = [ 0 ]; },\n" LAST, 4,
     "'order' must name layers"},
    {"{ type = \"sequence\"; layers = ( \"batchnorm\" );\norder = \"0\"; },\n" LAST, 4,
     "'order' must be an array"},
    {"\"relu\"", 3, "the last layer gives 2x6x6, but there are 3 classes: end with"},
    {"{ type = \"linear\"; outputs = 4; }", 3, "the last layer gives 4x1x1, but there are 3"},
    {"", 2, "'layers' must be a list of layers"},
    {"{ type = \"linear\"; outputs = 1000000; },\n{ type = \"linear\"; outputs = 1000000; "
     "},\n" LAST,
     4, "too large: the network's parameters pass 2^31"},
    {"{ type = \"conv\"; channels = 1000000; kernel = 1; pad = 65535; },\n" LAST, 3,
     "too large: the values between the layers"},
    {"{ type = \"conv\"; channels = 1000000; kernel = 1; },\n"
     "{ type = \"conv\"; channels = 1; kernel = 65535; pad = 65535; stride = 65535; },\n" LAST,
     4, "too large: one filter"},
    {"{ type = \"linear\"; outputs = 1000001; },\n" LAST, 3, "from 1 to 1000000"},
    {"{ type = \"linear\"; outputs = 4294967299; },\n" LAST, 3, "number too large: 4294967299"},
    {"{ type = \"linear\"; outputs = 0x100000003; },\n" LAST, 3, "number too large: 0x100000003"},
    {"{ type = \"linear\"; outputs = 18446744073709551619L; },\n" LAST, 3, "number too large"},
    {"{ type = \"dropout\"; p = 1e999; },\n" LAST, 3, "'p' must be a number"},
    {"{ type = \"relu\"; repeat = 4096; },\n" LAST, 4, "more than 4096 operations"},
    {"{ type = \"sequence\"; repeat = 4096; layers = ( { type = \"sequence\"; repeat = 4096;\n"
     "layers = ( { type = \"relu\"; repeat = 4096; } ); } ); },\n" LAST,
     4, "more than 4096 operations"},
};

START_TEST(bad_layers_are_refused)
{
    char *where = format("%s:%d: ", path, bad_layers[_i].line);
    ck_assert_msg(!load_layers(bad_layers[_i].layers), "accepted: %s", bad_layers[_i].layers);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strncmp(err.text, where, strlen(where)) == 0, "not at %s: %s", where, err.text);
    ck_assert_msg(strstr(err.text, bad_layers[_i].message) != NULL, "%s", err.text);
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(net);
    free(where);
}
END_TEST

#define SHAPE  "default_input = [1,2,2]; default_classes = 2;\n"
#define LINEAR "layers = ( { type = \"linear\"; outputs = \"classes\"; } );"

/* Whole files; line 0: the message has none. */
static const struct {
    const char *text;
    int line;
    const char *message; /* NULL: accepted */
} files[] = {
    {SHAPE LINEAR, 0, NULL},
    {SHAPE "# @include 99999999999 is only a comment\n/* @ ( */ // @\n" LINEAR, 0, NULL},
    {"name = \"mine-2\"; input = (1, 2, 2); classes = 2; mean = [0.1]; std = 1;\n" LINEAR, 0, NULL},
    {SHAPE "mean = \"data\"; std = \"data\";\n" LINEAR, 0, NULL},
    {SHAPE LINEAR "training = { batch = 64; lr = 1; momentum = 0.9; weight_decay = 1e-4;\n"
                  "init = \"default\"; augment = \"flip\"; epochs = 3; };\n",
     0, NULL},
    {SHAPE LINEAR "training = 5;\n", 2, "'training' must be a group"},
    {SHAPE LINEAR "training = {\nlrr = 0.1; };\n", 3,
     "unknown setting 'lrr': training may have: batch lr lr_schedule warmup optimizer momentum"},
    {SHAPE LINEAR "training = {\nseed = 3; };\n", 3, "unknown setting 'seed'"},
    {SHAPE LINEAR "training = { weight-decay = 0.1; };\n", 2, "unknown setting 'weight-decay'"},
    {SHAPE LINEAR "training = { batch = 64;\nlr = \"0.1\"; };\n", 3, "'lr' must be a number"},
    {SHAPE LINEAR "training = { lr = [0.1]; };\n", 2, "'lr' must be a number"},
    {SHAPE LINEAR "training = { batch = 2.5; };\n", 2, "batch '2.5' must be a whole number from 1"},
    {SHAPE LINEAR "training = { lr = -1; };\n", 2, "lr '-1' must be a number from 0"},
    {SHAPE LINEAR "training = { init = 5; };\n", 2, "'init' must be text in quotes"},
    {SHAPE LINEAR "training = { augment = \"spin\"; };\n", 2,
     "augment 'spin' is none of none, flip"},
    {SHAPE LINEAR "training = { init = \"/w.safetensors\"; };\n", 2, "'init' cannot be a file"},
    {SHAPE, 1, "'layers' is missing"},
    {"default_classes = 2;\n" LINEAR, 1, "neither 'input' nor 'default_input'"},
    {"default_input = [1,2,2];\n" LINEAR, 1, "neither 'classes' nor 'default_classes'"},
    {SHAPE "input = [1,2,2];\n" LINEAR, 1, "both 'input' and 'default_input'"},
    {"input = [1,2,2];\nclasses = 2;\ndefault_classes = 2;\n" LINEAR, 3, "both 'classes' and"},
    {"input = [1,2];\nclasses = 2;\n" LINEAR, 1, "'input' must be [channels, height, width]"},
    {"input = [1,0,2];\nclasses = 2;\n" LINEAR, 1, "'input' must be a whole number from 1"},
    {"input = { a = 1; };\nclasses = 2;\n" LINEAR, 1, "'input' must be a number or an array"},
    {"input = [1048576,1048576,1048576];\nclasses = 2;\n" LINEAR, 1, "too large"},
    {"input = [1,2,2];\nclasses = 0;\n" LINEAR, 2, "'classes' must be a whole number from 1"},
    {SHAPE "mean = [0.5, 0.5];\n" LINEAR, 2, "'mean' has 2 values, the input 1 channel: "},
    {SHAPE "std = 0.0;\n" LINEAR, 2, "'std' must be a number from 1e-06"},
    {SHAPE "std = \"1\";\n" LINEAR, 2, "'std' must be a number, an array of numbers, or \"data\""},
    {SHAPE "mean = \"\";\n" LINEAR, 2, "'mean' must be a number, an array of numbers, or \"data\""},
    {SHAPE "mean = [\"data\"];\n" LINEAR, 2, "'mean' must be a number from"},
    {"default_input = [17,2,2]; default_classes = 2; std = \"data\";\n" LINEAR, 1,
     "'std': \"data\" is for up to 16 channels, the input has 17"},
    {SHAPE "name = \"a/b\";\n" LINEAR, 2, "'name' must be a string of letters"},
    {SHAPE "colour = 3;\n" LINEAR, 2, "unknown setting 'colour': a model may have: name input"},
    {SHAPE "layers = [ \"relu\" ];\n", 2, "'layers' must be a list of layers"},
    {SHAPE "name = \"a\";\nname = \"b\";\n" LINEAR, 3, "duplicate setting name"},
    {SHAPE "\nlayers = ( {\n", 4, "syntax error"},
    {SHAPE "@include \"/etc/passwd\"\n" LINEAR, 2, "@include is not allowed"},
    {SHAPE "  @include \"x\"\n" LINEAR, 2, "@include is not allowed"},
    {SHAPE "name = \"open\n;\n", 2, "this string has no end"},
    {"((((((((((((((((((((((((((((((((\n(((((((((((((((((((((((((((((((((", 2,
     "brackets nested deeper than 64"},
};

START_TEST(files_are_checked)
{
    put_file(directory, "model.conf", files[_i].text, strlen(files[_i].text));
    bool ok = net_load_default(path, &net, &err);
    if (!files[_i].message) {
        ck_assert_msg(ok, "%s", err.text);
        return;
    }
    char *where = files[_i].line ? format("%s:%d: ", path, files[_i].line) : format("%s:", path);
    ck_assert_msg(!ok, "accepted: %s", files[_i].text);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strncmp(err.text, where, strlen(where)) == 0, "not at %s: %s", where, err.text);
    ck_assert_msg(strstr(err.text, files[_i].message) != NULL, "%s", err.text);
    free(where);
}
END_TEST

START_TEST(fixed_input_and_classes_hold)
{
    static const char text[] = "input = [1,2,2];\nclasses = 2;\n" LINEAR;
    put_file(directory, "model.conf", text, strlen(text));
    ck_assert(!net_load(path, (struct net_shape){1, 2, 3}, 2, &net, &err));
    ck_assert_ptr_nonnull(
        strstr(err.text, ":1: this model is for inputs of 1x2x2, the data are 1x2x3"));
    ck_assert(!net_load(path, (struct net_shape){1, 2, 2}, 3, &net, &err));
    ck_assert_ptr_nonnull(strstr(err.text, ":2: this model is for 2 classes, the data have 3"));
    ck_assert_msg(net_load(path, (struct net_shape){1, 2, 2}, 2, &net, &err), "%s", err.text);
    ck_assert_str_eq(net->name, "model");
    ck_assert_str_eq(net->source, path);
}
END_TEST

START_TEST(files_that_are_no_text)
{
    size_t length = (1 << 20) + 1;
    char *bytes = malloc(length);
    memset(bytes, ' ', length);
    put_file(directory, "model.conf", bytes, length);
    ck_assert(!net_load_default(path, &net, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "1048577 bytes, more than the 1048576"));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    memset(bytes, '\n', length);
    put_file(directory, "model.conf", bytes, length - 1);
    ck_assert(!net_load_default(path, &net, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "more than 65535 lines"));
    put_file(directory, "model.conf", "a = 1;\0", 7);
    ck_assert(!net_load_default(path, &net, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "zero byte"));
    put_file(directory, "model.conf", "", 0);
    ck_assert(!net_load_default(path, &net, &err));
    ck_assert(!net_load_default(directory, &net, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
    ck_assert_int_eq(remove(path), 0);
    ck_assert(!net_load_default(path, &net, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    free(bytes);
}
END_TEST

/* Sixteen groups inside one another are read; more are refused. */
START_TEST(nesting_has_a_limit)
{
    for (int depth = 14; depth < 20; depth++) {
        struct text layers = TEXT_INIT;
        for (int i = 0; i < depth; i++)
            text_puts(&layers, "{ type = \"sequence\"; layers = (");
        text_puts(&layers, "\"relu\"");
        for (int i = 0; i < depth; i++)
            text_puts(&layers, "); }");
        text_puts(&layers, "," LAST);
        bool ok = load_layers(text_cstr(&layers));
        text_free(&layers);
        ck_assert_int_eq(ok, depth < 16);
        ck_assert(ok || strstr(err.text, "nested deeper than 16"));
        net_free(net);
        net = NULL;
    }
}
END_TEST

/* Cut a good file short anywhere: an error or a network, never a crash. */
START_TEST(truncated_files_do_no_harm)
{
    char *file = shipped_model("resnet18"), *text;
    size_t length;
    ck_assert(file_read(file, 1 << 20, &text, &length, &err));
    for (size_t cut = 0; cut < length; cut += 13) {
        put_file(directory, "model.conf", text, cut);
        bool ok = net_load_default(path, &net, &err);
        ck_assert_int_eq(ok, net != NULL);
        net_free(net);
        net = NULL;
    }
    free(text);
    free(file);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

int main(void)
{
    Suite *suite = suite_create("model_file");
    TCase *tcase = tcase_create("model_file");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, repeat_names_and_shapes);
    tcase_add_test(tcase, without_bias_there_is_none);
    tcase_add_test(tcase, unnamed_layers_of_a_unit_do_not_collide);
    tcase_add_loop_test(tcase, bad_layers_are_refused, 0, COUNT(bad_layers));
    tcase_add_loop_test(tcase, files_are_checked, 0, COUNT(files));
    tcase_add_test(tcase, fixed_input_and_classes_hold);
    tcase_add_test(tcase, files_that_are_no_text);
    tcase_add_test(tcase, nesting_has_a_limit);
    tcase_add_test(tcase, truncated_files_do_no_harm);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
