/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/rng.h"
#include "engine/device/cpu/autotune/cache.h"
#include "engine/device/cpu/autotune/choose.h"
#include "engine/device/cpu/autotune/measure.h"
#include "engine/device/cpu/backend.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Algorithms of convolutions: measured, chosen, and kept for later processes. */

static struct error err;

static void setup(void)
{
    err = (struct error)ERROR_INIT;
}

static struct device *open_device(int threads)
{
    struct device *device;
    const struct device_options options = {.id = {DEVICE_CPU, 0}, .threads = threads};
    ck_assert_msg(cpu_backend.open(&options, &device, &err), "%s", err.text);
    return device;
}

/* A 3x3 convolution of 32 channels by one algorithm; *out is the result in plain order. */
static bool convolve(struct device *device, const struct conv_shape *s,
                     enum library_algorithm algorithm, const float *x, const float *w, float *out)
{
    const dnnl_dims_t x_dims = {s->rows, s->in, s->in_h, s->in_w},
                      w_dims = {s->out, s->in, s->kernel_h, s->kernel_w},
                      y_dims = {s->rows, s->out, s->out_h, s->out_w};
    const dnnl_dim_t *dims[] = {x_dims, w_dims, y_dims};
    const dnnl_format_tag_t tags[] = {dnnl_nchw, dnnl_oihw, dnnl_nchw};
    const int args[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
    const dnnl_query_t queries[] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md,
                                    dnnl_query_scratchpad_md};
    void *host[] = {(void *)x, (void *)w, out};
    dnnl_primitive_desc_t desc, reorder_desc;
    dnnl_primitive_t conv, reorder;
    dnnl_memory_t memory[4], plain;
    dnnl_exec_arg_t list[4];
    if (conv_describe(device, s, CONV_FORWARD, algorithm, false, &desc) != dnnl_success)
        return false;
    ck_assert_int_eq(dnnl_primitive_create(&conv, desc), dnnl_success);
    for (int i = 0; i < 4; i++) {
        desc_t layout = dnnl_primitive_desc_query_md(desc, queries[i], 0);
        ck_assert_int_eq(
            dnnl_memory_create(&memory[i], layout, device->engine, DNNL_MEMORY_ALLOCATE), 0);
        list[i] = (dnnl_exec_arg_t){args[i], memory[i]};
    }
    for (int i = 0; i < 3; i++) {
        desc_t layout = dnnl_primitive_desc_query_md(desc, queries[i], 0);
        desc_t host_layout = compat_desc_make(4, dims[i], dnnl_f32, tags[i]);
        bool back = i == 2;
        if (back)
            ck_assert_int_eq(dnnl_primitive_execute(conv, device->stream, 4, list), 0);
        ck_assert_int_eq(dnnl_memory_create(&plain, host_layout, device->engine, host[i]), 0);
        ck_assert_int_eq(dnnl_reorder_primitive_desc_create(
                             &reorder_desc, back ? layout : host_layout, device->engine,
                             back ? host_layout : layout, device->engine, NULL),
                         0);
        ck_assert_int_eq(dnnl_primitive_create(&reorder, reorder_desc), 0);
        const dnnl_exec_arg_t move[] = {{DNNL_ARG_FROM, back ? memory[i] : plain},
                                        {DNNL_ARG_TO, back ? plain : memory[i]}};
        ck_assert_int_eq(dnnl_primitive_execute(reorder, device->stream, 2, move), 0);
        dnnl_primitive_destroy(reorder);
        dnnl_primitive_desc_destroy(reorder_desc);
        dnnl_memory_destroy(plain);
        compat_desc_free(host_layout);
    }
    for (int i = 0; i < 4; i++)
        dnnl_memory_destroy(memory[i]);
    dnnl_primitive_destroy(conv);
    dnnl_primitive_desc_destroy(desc);
    return true;
}

static struct conv_shape square_conv(const struct device *device, int rows, int channels, int side)
{
    struct conv_shape s;
    memset(&s, 0, sizeof s);
    s.rows = rows;
    s.in = s.out = channels;
    s.in_h = s.in_w = s.out_h = s.out_w = side;
    s.in_block = s.out_block = device->block;
    s.kernel_h = s.kernel_w = 3;
    s.stride_h = s.stride_w = s.pad_h = s.pad_w = s.dilation_h = s.dilation_w = s.groups = 1;
    return s;
}

START_TEST(winograd_rounds_like_direct)
{
    struct device *device = open_device(2);
    struct conv_shape s = square_conv(device, 3, 32, 7);
    const size_t numbers = 3 * 32 * 49, weights = 32 * 32 * 9;
    struct rng_stream stream = rng_stream(4, RNG_RANDOM_DATA, 0, 0, 0);
    float *x = malloc(numbers * sizeof *x), *w = malloc(weights * sizeof *w);
    float *y[2] = {malloc(numbers * sizeof *x), malloc(numbers * sizeof *x)};
    ck_assert(x && w && y[0] && y[1]);
    for (size_t i = 0; i < numbers; i++)
        x[i] = (float)rng_normal(&stream, i);
    for (size_t i = 0; i < weights; i++)
        w[i] = (float)rng_normal(&stream, numbers + i);
    ck_assert(convolve(device, &s, LIBRARY_DIRECT, x, w, y[0]));
    if (convolve(device, &s, LIBRARY_WINOGRAD, x, w, y[1])) { /* not on every processor */
        double off = 0, size = 0;
        for (size_t i = 0; i < numbers; i++) {
            off += pow((double)y[1][i] - (double)y[0][i], 2);
            size += pow((double)y[0][i], 2);
        }
        ck_assert_double_le(sqrt(off / size), 1e-5);
    }
    free(x);
    free(w);
    free(y[0]);
    free(y[1]);
    cpu_backend.close(device);
}
END_TEST

START_TEST(choices_are_kept)
{
    static const int rows[][2] = {{64, 127}, {256, 1000}}; /* share decisions */
    struct device *device = open_device(2);
    struct conv_shape large = square_conv(device, 64, 64, 14),
                      small = square_conv(device, 1, 16, 8);
    for (int direction = CONV_FORWARD; direction <= CONV_BACKWARD_WEIGHTS; direction++) {
        struct conv_algorithm first, again;
        for (int i = 0; i < 2; i++) {
            large.rows = rows[i][0];
            ck_assert(conv_choose(device, &large, (enum conv_direction)direction, &first, &err));
            large.rows = rows[i][1];
            ck_assert(conv_choose(device, &large, (enum conv_direction)direction, &again, &err));
            ck_assert_int_eq(first.library, again.library);
            ck_assert_ptr_eq(first.kernel, again.kernel);
        }
        ck_assert(conv_choose(device, &small, (enum conv_direction)direction, &first, &err));
        ck_assert_int_eq(first.library, LIBRARY_DIRECT);
        ck_assert_ptr_null(first.kernel);
    }
    cpu_backend.close(device);
}
END_TEST

/* Neither measured now nor looked up. */
START_TEST(deterministic_devices_measure_nothing)
{
    const struct device_options options = {
        .id = {DEVICE_CPU, 0}, .threads = 1, .deterministic = true};
    struct device *device;
    struct conv_algorithm list[CONV_MOST_ALGORITHMS], chosen;
    char *folder = temporary_folder();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
    ck_assert_msg(cpu_backend.open(&options, &device, &err), "%s", err.text);
    struct conv_shape s = square_conv(device, 32, 64, 14);
    const int count = conv_algorithms(&s, CONV_FORWARD, list);
    for (int i = 0; i < count; i++) {
        conv_cache_put(&s, CONV_FORWARD, 1, list[i], 0.25);
        ck_assert(conv_choose(device, &s, CONV_FORWARD, &chosen, &err));
        ck_assert_ptr_eq(chosen.kernel, count > 1 ? list[1].kernel : NULL);
        ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 1, list, count), i);
    }
    remove_tree(folder);
    cpu_backend.close(device);
}
END_TEST

/* Something else on this thread's only CPU, for longer than any process is let run alone. */
START_TEST(disturbed_measurements_are_told)
{
    struct device *device = open_device(1);
    const struct conv_shape s = square_conv(device, 256, 64, 28);
    const struct conv_algorithm direct = {.library = LIBRARY_DIRECT};
    struct conv_timing timing;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    const pid_t other = fork();
    ck_assert_int_ge(other, 0);
    if (other == 0)
        for (volatile unsigned spin = 0;;)
            spin++;
    const bool ok = conv_measure(device, &s, CONV_FORWARD, &direct, 1, 2, &timing, &err);
    ck_assert_int_eq(kill(other, SIGKILL), 0);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    ck_assert_msg(ok, "%s", err.text);
    ck_assert_int_eq(timing.calm_runs, 0);
    ck_assert_double_gt(timing.seconds, 0);
    cpu_backend.close(device);
}
END_TEST

/* Later processes find what was measured; what is not understood is measured again. */
START_TEST(choices_are_kept_on_disk)
{
    struct device *device = open_device(1);
    const struct conv_shape s = square_conv(device, 8, 64, 28),
                            other = square_conv(device, 8, 64, 7);
    struct conv_algorithm list[CONV_MOST_ALGORITHMS];
    const int count = conv_algorithms(&s, CONV_FORWARD, list), last = count - 1;
    char *folder = temporary_folder();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
    ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 1, list, count), -1);
    conv_cache_put(&s, CONV_FORWARD, 1, list[last], 0.25);
    ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 1, list, count), last);
    ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 2, list, count), -1);
    ck_assert_int_eq(conv_cache_find(&s, CONV_BACKWARD_DATA, 1, list, count), -1);
    ck_assert_int_eq(conv_cache_find(&other, CONV_FORWARD, 1, list, count), -1);
    if (last > 0) /* an algorithm that no longer exists */
        ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 1, list, last), -1);
    put_file(folder, "dpartui/cpu-choices", "a\tb\tc\n\xff", 7);
    ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 1, list, count), -1);
    conv_cache_put(&s, CONV_FORWARD, 1, list[0], 0.25);
    ck_assert_int_eq(conv_cache_find(&s, CONV_FORWARD, 1, list, count), 0);
    remove_tree(folder);
    cpu_backend.close(device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("autotuning");
    TCase *tc = tcase_create("autotune");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, winograd_rounds_like_direct);
    tcase_add_test(tc, choices_are_kept);
    tcase_add_test(tc, deterministic_devices_measure_nothing);
    tcase_add_test(tc, disturbed_measurements_are_told);
    tcase_add_test(tc, choices_are_kept_on_disk);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
