/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/model/file.h"
#include "engine/weights/file.h"
#include "tests/suites.h"
#include "tests/support.h"

/* A network with a BatchNorm: entries c.weight, c.bias, b.* (five), f.weight, f.bias. */
static const char model_text[] = "default_input = [2, 4, 4]; default_classes = 3;\n"
                                 "layers = (\n"
                                 "  { type = \"conv\"; name = \"c\"; channels = 4; kernel = 3; },\n"
                                 "  { type = \"batchnorm\"; name = \"b\"; },\n"
                                 "  { type = \"linear\"; name = \"f\"; outputs = \"classes\"; });";

static char *directory, *path;
static struct net *net;
static struct weights weights;
static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    directory = temporary_folder();
    char *model = path_join(directory, "small.conf");
    path = path_join(directory, "w.safetensors");
    put_file(directory, "small.conf", model_text, strlen(model_text));
    ck_assert_msg(net_load_default(model, &net, &err), "%s", err.text);
    ck_assert(weights_create(net, &weights, &err));
    free(model);
}

static void teardown(void)
{
    weights_free(&weights);
    net_free(net);
    free(path);
    remove_tree(directory);
}

static const struct net_param *param_named(const char *name)
{
    for (int i = 0; i < net->param_count; i++)
        if (strcmp(net->params[i].name, name) == 0)
            return &net->params[i];
    ck_abort_msg("no param %s", name);
}

START_TEST(init_follows_the_rule)
{
    const struct net_param *weight = param_named("c.weight"), *bias = param_named("c.bias");
    const float *values = weights.values;
    double bound = 1 / sqrt(2 * 3 * 3), largest = 0;
    weights_init(net, &weights, INIT_PYTORCH, 0, 1);
    for (size_t i = 0; i < weight->count; i++)
        largest = fmax(largest, fabs(values[weight->offset + i]));
    ck_assert(largest <= bound && largest > 0.9 * bound);
    for (size_t i = 0; i < bias->count; i++)
        ck_assert(fabs(values[bias->offset + i]) <= bound && values[bias->offset + i] != 0);
    ck_assert_float_eq(values[param_named("b.weight")->offset], 1);
    ck_assert_float_eq(values[param_named("b.bias")->offset], 0);
    ck_assert_float_eq(values[param_named("b.running_mean")->offset], 0);
    ck_assert_float_eq(values[param_named("b.running_var")->offset], 1);
    double squares = 0;
    weights_init(net, &weights, INIT_NORMAL, 0.01, 1);
    for (size_t i = 0; i < weight->count; i++)
        squares += values[weight->offset + i] * values[weight->offset + i];
    /* 72 numbers: the standard deviation is known to 8 %. */
    ck_assert_double_eq_tol(sqrt(squares / (double)weight->count), 0.01, 0.003);
    for (size_t i = 0; i < bias->count; i++)
        ck_assert(fabs(values[bias->offset + i]) <= bound);
}
END_TEST

/* Of a layer of 300 inputs and 100 outputs, and a convolution of 40 channels to 60 in windows of
 * 3 x 2: fans 240 and 360. */
static const struct {
    enum init_rule rule;
    double scale;
    bool normal;
    double linear, conv; /* standard deviation, or bound */
} spreads[] = {
    {INIT_NORMAL, 0.02, true, 0.02, 0.02},
    {INIT_UNIFORM, 0.3, false, 0.3, 0.3},
    {INIT_XAVIER_UNIFORM, 0, false, 0.122474487139, 0.1},
    {INIT_XAVIER_NORMAL, 0, true, 0.0707106781187, 0.0577350269190},
    {INIT_KAIMING_UNIFORM, 0, false, 0.141421356237, 0.158113883008},
    {INIT_KAIMING_NORMAL, 0, true, 0.0816496580928, 0.0912870929175},
    {INIT_PYTORCH, 0, false, 0.0577350269190, 0.0645497224368},
};

/* Mean, standard deviation and fourth moment of so many numbers are known to about 1 %, the largest
 * number of a uniform distribution almost exactly. */
static void check_spread(const char *name, bool normal, double width)
{
    const struct net_param *p = param_named(name);
    const double expected = normal ? width : width / sqrt(3), count = (double)p->count;
    double sum = 0, squares = 0, fourth = 0, largest = 0;
    for (size_t i = p->offset; i < p->offset + p->count; i++) {
        const double v = (double)weights.values[i];
        sum += v;
        squares += v * v;
        fourth += v * v * v * v;
        largest = fmax(largest, fabs(v));
    }
    const double std = sqrt(squares / count), kurtosis = fourth * count / (squares * squares);
    ck_assert_double_eq_tol(sum / count, 0, 0.03 * expected);
    ck_assert_double_eq_tol(std, expected, 0.02 * expected);
    ck_assert_double_eq_tol(kurtosis, normal ? 3 : 1.8, normal ? 0.2 : 0.05);
    if (!normal)
        ck_assert_double_eq_tol(largest, width, 0.002 * width);
}

START_TEST(rules_have_their_spread)
{
    static const char text[] = "default_input = [40, 5, 3]; default_classes = 100;\n"
                               "layers = ({ type = \"conv\"; name = \"c\"; channels = 60; "
                               "kernel = [3, 2]; stride = 2; pad = [1, 1]; },\n"
                               "{ type = \"conv\"; name = \"d\"; channels = 50; kernel = 1; },\n"
                               "{ type = \"linear\"; name = \"f\"; outputs = 100; });";
    char *model = path_join(directory, "wide.conf");
    put_file(directory, "wide.conf", text, strlen(text));
    weights_free(&weights);
    net_free(net);
    ck_assert_msg(net_load_default(model, &net, &err), "%s", err.text);
    ck_assert(weights_create(net, &weights, &err));
    weights_init(net, &weights, spreads[_i].rule, spreads[_i].scale, 3);
    check_spread("c.weight", spreads[_i].normal, spreads[_i].conv);
    check_spread("f.weight", spreads[_i].normal, spreads[_i].linear);
    const struct net_param *bias = param_named("f.bias");
    for (size_t i = 0; i < bias->count; i++)
        ck_assert(fabs((double)weights.values[bias->offset + i]) <= 0.05773503);
    free(model);
}
END_TEST

START_TEST(init_depends_on_the_seed_alone)
{
    struct weights again, other;
    ck_assert(weights_create(net, &again, &err) && weights_create(net, &other, &err));
    memset(again.values, 0x55, net->value_count * sizeof(float));
    again.batches_tracked = 5;
    weights_init(net, &weights, INIT_NORMAL, 0.01, 7);
    weights_init(net, &again, INIT_NORMAL, 0.01, 7);
    weights_init(net, &other, INIT_NORMAL, 0.01, 8);
    ck_assert_mem_eq(weights.values, again.values, net->value_count * sizeof(float));
    ck_assert_int_eq(again.batches_tracked, 0);
    ck_assert_mem_ne(weights.values, other.values, net->value_count * sizeof(float));
    weights_free(&again);
    weights_free(&other);
}
END_TEST

START_TEST(a_file_gives_back_what_was_written)
{
    struct weights back;
    ck_assert(weights_create(net, &back, &err));
    for (size_t i = 0; i < net->value_count; i++)
        weights.values[i] = (float)i / 3 - 5;
    weights.batches_tracked = INT64_C(1) << 40;
    ck_assert_msg(weights_write(net, path, &weights, NULL, &err), "%s", err.text);
    ck_assert_msg(weights_read(net, path, &back, &err), "%s", err.text);
    ck_assert_mem_eq(back.values, weights.values, net->value_count * sizeof(float));
    ck_assert_int_eq(back.batches_tracked, weights.batches_tracked);
    weights_free(&back);
}
END_TEST

/* What lies beside the numbers stays, and they can be written again. */
START_TEST(numbers_that_were_let_go_can_come_back)
{
    enum { BESIDE = 3 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 5 * page / sizeof(float);
    const struct net large = {.value_count = count};
    float *block = aligned_alloc(page, 8 * page);
    ck_assert_ptr_nonnull(block);
    for (size_t i = 0; i < count + 2 * BESIDE; i++)
        block[i] = (float)i;
    struct weights part = {.values = block + BESIDE};
    weights_release_pages(&large, &part);
    for (size_t i = 0; i < BESIDE; i++) {
        ck_assert_float_eq(block[i], (float)i);
        ck_assert_float_eq(block[count + BESIDE + i], (float)(count + BESIDE + i));
    }
    ck_assert_float_eq(part.values[count / 2], 0);
    for (size_t i = 0; i < count; i++)
        part.values[i] = 7;
    for (size_t i = 0; i < count; i++)
        ck_assert_float_eq(part.values[i], 7);
    free(block);
    weights_release_pages(net, &weights); /* less than a page */
    weights.values[0] = 1;
}
END_TEST

/* The header of a file as JSON; *data_start is where its tensors begin. */
static json_t *header_of(const char *file, size_t *data_start)
{
    char *bytes;
    size_t length;
    uint64_t header;
    ck_assert(file_read(file, 1 << 20, &bytes, &length, &err));
    memcpy(&header, bytes, sizeof header);
    *data_start = 8 + (size_t)header;
    json_t *object = json_loadb(bytes + 8, (size_t)header, 0, NULL);
    ck_assert_ptr_nonnull(object);
    free(bytes);
    return object;
}

START_TEST(entries_stand_in_module_order_and_aligned)
{
    static const char *const names[] = {
        "__metadata__", "c.weight",       "c.bias",        "b.weight",
        "b.bias",       "b.running_mean", "b.running_var", "b.num_batches_tracked",
        "f.weight",     "f.bias"};
    const char *name;
    json_t *value;
    size_t data_start, i = 0;
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    json_t *header = header_of(path, &data_start);
    ck_assert_uint_eq(data_start % 8, 0);
    ck_assert_uint_eq(json_object_size(header), 10);
    json_object_foreach(header, name, value)
    {
        ck_assert_str_eq(name, names[i++]);
        json_t *offsets = json_object_get(value, "data_offsets");
        const char *dtype = json_string_value(json_object_get(value, "dtype"));
        if (offsets)
            ck_assert_int_eq(json_integer_value(json_array_get(offsets, 0)) %
                                 (strcmp(dtype, "I64") == 0 ? 8 : 4),
                             0);
    }
    json_decref(header);
}
END_TEST

/* Saved weights carry checksums: a bit that changed is found, and in which tensor. */
START_TEST(a_changed_bit_is_refused_by_the_tensors_name)
{
    char *data;
    size_t length;
    weights_init(net, &weights, INIT_NORMAL, 1, 1);
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    ck_assert_msg(file_read(path, 1 << 20, &data, &length, &err), "%s", err.text);
    data[length - 2] ^= 4; /* f.bias is the last */
    put_file(directory, "w.safetensors", data, length);
    ck_assert(!weights_read(net, path, &weights, &err));
    ck_assert_msg(strstr(err.text, "'f.bias' is damaged") != NULL, "%s", err.text);
    free(data);
}
END_TEST

START_TEST(a_failed_write_leaves_the_old_file)
{
    struct stat before, after;
    char *nowhere = path_join(directory, "missing/w.safetensors");
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    ck_assert_int_eq(stat(path, &before), 0);
    ck_assert(!weights_write(net, nowhere, &weights, NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, nowhere));
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_int_eq((int)before.st_size, (int)after.st_size);
    free(nowhere);
}
END_TEST

/* A file of the header `text` (its length is put before it) and `data` zero bytes. */
static void write_file(const char *text, size_t data)
{
    struct text file = TEXT_INIT;
    uint64_t length = strlen(text);
    text_append(&file, (const char *)&length, sizeof length);
    text_puts(&file, text);
    for (size_t i = 0; i < data; i++)
        text_append(&file, "", 1);
    ck_assert(!file.failed);
    put_file(directory, "w.safetensors", file.data, file.length);
    text_free(&file);
}

/* Entries as Python's writers order them: by offset, counters last, all after a prefix. */
#define ENTRY(p, name, type, shape, begin, end)                                                    \
    "\"" p name "\":{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":[" #begin         \
    "," #end "]}"
#define C_WEIGHT(p) ENTRY(p, "c.weight", "F32", "[4,2,3,3]", 0, 288)
#define C_BIAS(p)   ENTRY(p, "c.bias", "F32", "[4]", 288, 304)
#define B_ALL(p)                                                                                   \
    ENTRY(p, "b.weight", "F32", "[4]", 304, 320)                                                   \
    "," ENTRY(p, "b.bias", "F32", "[4]", 320, 336) "," ENTRY(                                      \
        p, "b.running_mean", "F32", "[4]", 336,                                                    \
        352) "," ENTRY(p, "b.running_var", "F32", "[4]", 352,                                      \
                       368) "," ENTRY(p, "b.num_batches_tracked", "I64", "[]", 368, 376)
#define F_WEIGHT(p) ENTRY(p, "f.weight", "F32", "[3,16]", 376, 568)
#define F_BIAS(p)   ENTRY(p, "f.bias", "F32", "[3]", 568, 580)
#define HEAD(p)     "{" C_WEIGHT(p) "," C_BIAS(p) "," B_ALL(p) ","
#define DATA        580

START_TEST(names_behind_module_are_accepted)
{
    weights_init(net, &weights, INIT_NORMAL, 1, 1);
    weights.batches_tracked = 3;
    write_file(HEAD("module.") F_WEIGHT("module.") "," F_BIAS("module.") "}   ", DATA);
    ck_assert_msg(weights_read(net, path, &weights, &err), "%s", err.text);
    for (size_t i = 0; i < net->value_count; i++)
        ck_assert_float_eq(weights.values[i], 0);
    ck_assert_int_eq(weights.batches_tracked, 0);
}
END_TEST

static const struct {
    const char *header;
    size_t data;
    const char *message; /* NULL: accepted */
} headers[] = {
    {HEAD("") F_WEIGHT("") "," F_BIAS("") "}", DATA, NULL},
    {HEAD("") F_WEIGHT("") "," F_BIAS("") ",\"__metadata__\":{\"format\":\"pt\"}}", DATA, NULL},
    {HEAD("") F_WEIGHT("") "," F_BIAS("module.") "}", DATA, "all must or none"},
    {HEAD("") F_WEIGHT("") "}", 568, "'f.bias' is missing"},
    {HEAD("") F_WEIGHT("") "," F_BIAS("") "," ENTRY("", "g.bias", "F32", "[1]", 580, 584) "}", 584,
     "'g.bias' is not in the network 'small'"},
    {HEAD("") F_WEIGHT("") "," F_BIAS("") "}", DATA - 1, "'f.bias': its data_offsets lie outside"},
    {HEAD("") F_WEIGHT("") "," F_BIAS("") "}", DATA + 3, "3 bytes at its end belong to no entry"},
    {HEAD("") F_WEIGHT("") "," F_BIAS("") "," F_BIAS("") "}", DATA, "duplicate"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[16,3]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight' has shape [16,3], expected [3,16]"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[48]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight' has shape [48], expected [3,16]"},
    {HEAD("") ENTRY("", "f.weight", "F16", "[6,16]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight' is of type F16, expected F32"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[3,15]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight': its shape and its data_offsets disagree"},
    {HEAD("") ENTRY("", "f.weight", "F31", "[3,16]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight': unknown dtype"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[3,16]", 372, 564) "," F_BIAS("") "}", DATA,
     "'f.weight': overlaps another entry"},
    {HEAD("") F_WEIGHT("") "," ENTRY("", "f.bias", "F32", "[3]", 572, 584) "}", 584,
     "'f.bias': a hole in the file"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[3,16]", 568, 376) "," F_BIAS("") "}", DATA,
     "'f.weight': its data_offsets lie outside"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[3,16]", -4, 188) "," F_BIAS("") "}", DATA,
     "'f.weight': data_offsets must be"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[-3,-16]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight': shape must be"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[3.0,16]", 376, 568) "," F_BIAS("") "}", DATA,
     "'f.weight': shape must be"},
    {HEAD("") ENTRY("", "f.weight", "F32", "[1,1,1,1,1,1,1,3,16]", 376, 568) "}", DATA,
     "'f.weight': shape must be"},
    /* 2^62 * 4 * 4 is 0 in 64 bits */
    {"{" ENTRY("", "x", "F32", "[4611686018427387904,4]", 0, 0) "}", 0, "absurdly large"},
    {"{" ENTRY("", "x", "F32", "[99999999999999999999]", 0, 0) "}", 0, "bad safetensors header"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "'x': an entry must have dtype"},
    {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":1}}", 4,
     "an entry must have dtype"},
    {"{\"x\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "an entry must have dtype"},
    {"{\"x\\n\\u001b[2J\":7}", 0, "'x\\x0a\\x1b[2J': an entry must have dtype"},
    {"{\"x\":7}", 0, "an entry must have dtype"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "must map strings to strings"},
    {"{\"__metadata__\":[]}", 0, "must map strings to strings"},
    {"{}", 0, "'c.weight' is missing"},
    {"[]", 0, "does not begin with '{'"},
    {" {}", 0, "does not begin with '{'"},
    {"{\"x\":", 0, "bad safetensors header"},
    {"{} x", 0, "bad safetensors header"},
    {"", 0, "truncated or not a safetensors file"},
};

START_TEST(headers_are_checked)
{
    write_file(headers[_i].header, headers[_i].data);
    bool ok = weights_read(net, path, &weights, &err);
    if (!headers[_i].message) {
        ck_assert_msg(ok, "%s", err.text);
        return;
    }
    ck_assert_msg(!ok, "accepted: %s", headers[_i].header);
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(err.text, path) != NULL, "no file in: %s", err.text);
    ck_assert_msg(strstr(err.text, headers[_i].message) != NULL, "%s", err.text);
    ck_assert_ptr_null(strchr(err.text, '\n'));
}
END_TEST

static void write_length(uint64_t length)
{
    char bytes[16] = {0};
    memcpy(bytes, &length, sizeof length);
    bytes[8] = '{';
    put_file(directory, "w.safetensors", bytes, sizeof bytes);
}

START_TEST(lengths_are_checked)
{
    write_length(9);
    ck_assert(!weights_read(net, path, &weights, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "a header of 9 bytes in a file of 16"));
    write_length(UINT64_C(100000001));
    ck_assert(!weights_read(net, path, &weights, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "more than the 100000000 allowed"));
    write_length(UINT64_MAX);
    ck_assert(!weights_read(net, path, &weights, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "more than the 100000000 allowed"));
    put_file(directory, "w.safetensors", "1234567", 7);
    ck_assert(!weights_read(net, path, &weights, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "only 7 bytes"));
    ck_assert(!weights_read(net, directory, &weights, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(!weights_read(net, path, &weights, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cannot open"));
}
END_TEST

/* Every way to cut a good file short is an error, none a crash. */
START_TEST(truncated_files_are_refused)
{
    char *bytes;
    size_t length;
    ck_assert(weights_write(net, path, &weights, NULL, &err));
    ck_assert(file_read(path, 1 << 20, &bytes, &length, &err));
    for (size_t cut = 0; cut < length; cut += 7) {
        put_file(directory, "w.safetensors", bytes, cut);
        ck_assert_msg(!weights_read(net, path, &weights, &err), "accepted at %zu", cut);
    }
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("weights");
    TCase *tcase = tcase_create("weights");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, init_follows_the_rule);
    tcase_add_test(tcase, init_depends_on_the_seed_alone);
    tcase_add_loop_test(tcase, rules_have_their_spread, 0, sizeof spreads / sizeof spreads[0]);
    tcase_add_test(tcase, a_file_gives_back_what_was_written);
    tcase_add_test(tcase, numbers_that_were_let_go_can_come_back);
    tcase_add_test(tcase, entries_stand_in_module_order_and_aligned);
    tcase_add_test(tcase, a_changed_bit_is_refused_by_the_tensors_name);
    tcase_add_test(tcase, a_failed_write_leaves_the_old_file);
    tcase_add_test(tcase, names_behind_module_are_accepted);
    tcase_add_loop_test(tcase, headers_are_checked, 0, sizeof headers / sizeof headers[0]);
    tcase_add_test(tcase, lengths_are_checked);
    tcase_add_test(tcase, truncated_files_are_refused);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
