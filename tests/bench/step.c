/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/text.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "engine/model/file.h"
#include "spec/set.h"

/*
 * Speed of whole training steps (forward, loss, backward, update) on one CPU device:
 *   step MODEL-FILE ROWS THREADS [STEPS [CHANNELS HEIGHT WIDTH]] [SETTING=VALUE ...]
 * prints the median over the steps after the first two. Random pixels; data for 10 classes. SGD
 * with momentum 0.9 where the settings say nothing else.
 */

struct bench {
    long rows, threads, steps;
    long shape[3];
    struct spec spec;
    struct net *net;
    struct dataset data;
    uint32_t *index;
    double *seconds, *update_s;
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool make_data(struct bench *bench, struct error *err)
{
    struct net_shape in = bench->net->input;
    size_t rows = (size_t)bench->rows, pixels = rows * net_shape_size(in);
    struct rng_stream stream = rng_stream(1, RNG_RANDOM_DATA, 0, 0, 0);
    bench->data = (struct dataset){.rows = (int)rows,
                                   .channels = in.c,
                                   .height = in.h,
                                   .width = in.w,
                                   .classes = bench->net->classes,
                                   .pixels = malloc(pixels),
                                   .labels = malloc(rows)};
    bench->index = malloc(rows * sizeof *bench->index);
    bench->seconds = calloc((size_t)bench->steps, sizeof *bench->seconds);
    bench->update_s = calloc((size_t)bench->steps, sizeof *bench->update_s);
    if (!bench->data.pixels || !bench->data.labels || !bench->index || !bench->seconds ||
        !bench->update_s)
        return error_memory(err, "data of the benchmark");
    for (size_t i = 0; i < pixels; i++)
        bench->data.pixels[i] = (uint8_t)rng_word(&stream, i);
    for (size_t n = 0; n < rows; n++) {
        bench->data.labels[n] = (uint8_t)(n % (size_t)bench->net->classes);
        bench->index[n] = (uint32_t)(rows - 1 - n);
    }
    return true;
}

static bool run_steps(struct bench *bench, const struct backend *cpu, struct device *device,
                      struct replica *replica, struct plan *plan, struct error *err)
{
    struct batch batch = {.data = &bench->data,
                          .index = bench->index,
                          .rows = (int)bench->rows,
                          .global_rows = bench->rows,
                          .seed = 1};
    struct batch_result result = {0};
    for (long i = 0; i < bench->steps; i++) {
        const struct optimizer_step step = optimizer_step(&bench->spec, bench->spec.lr, i + 1, 0);
        const double start = clock_seconds();
        if (!cpu->plan_run(device, plan, &batch, &result, err))
            return false;
        const double passed = clock_seconds();
        if (!cpu->update(device, replica, 0, replica->count, &step, err))
            return false;
        bench->update_s[i] = clock_seconds() - passed;
        bench->seconds[i] = clock_seconds() - start;
        if (i == 0)
            printf("first loss %.5f, ", result.loss_sum / (double)bench->rows);
    }
    printf("last loss %.5f\n", result.loss_sum / (double)bench->rows);
    return true;
}

static void report(struct bench *bench, const struct backend *cpu, const struct plan *plan,
                   double made)
{
    struct plan_memory memory;
    long skipped = bench->steps > 2 ? 2 : 0, count = bench->steps - skipped;
    cpu->plan_memory(plan, &memory);
    qsort(bench->seconds + skipped, (size_t)count, sizeof *bench->seconds, compare);
    qsort(bench->update_s + skipped, (size_t)count, sizeof *bench->update_s, compare);
    double median = bench->seconds[skipped + count / 2], best = bench->seconds[skipped];
    printf(
        "%s, %ld rows, %ld threads: %.1f samples/s (median %.2f ms, best %.2f ms; update %.2f ms, "
        "best %.2f ms); plan made in %.2f s; MiB: activations %.1f, scratch %.1f, input %.1f\n",
        bench->net->name, bench->rows, bench->threads, (double)bench->rows / median, median * 1e3,
        best * 1e3, bench->update_s[skipped + count / 2] * 1e3, bench->update_s[skipped] * 1e3,
        made, (double)memory.activations / 1048576, (double)memory.scratch / 1048576,
        (double)memory.input / 1048576);
}

static bool measure(struct bench *bench, struct error *err)
{
    const char *why = "";
    const struct backend *cpu = backend_find(DEVICE_CPU, &why);
    const struct device_options options = {
        .id = {DEVICE_CPU, 0}, .type = bench->spec.dtype, .threads = (int)bench->threads};
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = (int)bench->rows};
    const struct replica_request states = optimizer_request(&bench->spec, 0);
    struct device *device = NULL;
    struct replica *replica = NULL;
    struct plan *plan = NULL;
    struct weights weights = {0};
    bool ok = cpu->open(&options, &device, err) &&
              cpu->replica_create(device, bench->net, &states, &replica, err) &&
              weights_create(bench->net, &weights, err);
    if (ok) {
        weights_init(bench->net, &weights, INIT_PYTORCH, 0, 1);
        double start = clock_seconds();
        ok = replica_import(cpu, device, replica, &weights, err) &&
             cpu->plan_create(device, replica, &request, &plan, err);
        double made = clock_seconds() - start;
        ok = ok && run_steps(bench, cpu, device, replica, plan, err);
        if (ok)
            report(bench, cpu, plan, made);
    }
    weights_free(&weights);
    cpu->plan_destroy(device, plan);
    cpu->replica_destroy(device, replica);
    cpu->close(device);
    return ok;
}

/* The arguments KEY=VALUE from the end, as settings. */
static bool take_settings(struct spec *spec, int *argc, char **argv, struct error *err)
{
    spec_init(spec);
    spec->lr = 0.05;
    spec->momentum = 0.9;
    for (char *value; *argc > 1 && (value = strchr(argv[*argc - 1], '=')); --*argc) {
        *value = '\0';
        if (!spec_set(spec, argv[*argc - 1], value + 1, err))
            return false;
    }
    return true;
}

static bool parse(struct bench *bench, int argc, char **argv)
{
    bench->steps = 12;
    if (argc < 4 || argc > 8 || !parse_long(argv[2], 1, 100000, &bench->rows) ||
        !parse_long(argv[3], 1, 1024, &bench->threads) ||
        (argc > 4 && !parse_long(argv[4], 1, 100000, &bench->steps)))
        return false;
    for (int i = 5; i < argc; i++)
        if (argc != 8 || !parse_long(argv[i], 1, 100000, &bench->shape[i - 5]))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    struct error err = ERROR_INIT;
    if (!take_settings(&bench.spec, &argc, argv, &err) || !parse(&bench, argc, argv)) {
        fprintf(stderr,
                "%s\nusage: %s MODEL-FILE ROWS THREADS [STEPS [CHANNELS HEIGHT WIDTH]] "
                "[SETTING=VALUE ...]\n",
                err.text, argv[0]);
        return 2;
    }
    const struct net_shape shape = {(int)bench.shape[0], (int)bench.shape[1], (int)bench.shape[2]};
    bool ok = (shape.c > 0 ? net_load(argv[1], shape, 10, &bench.net, &err)
                           : net_load_default(argv[1], &bench.net, &err)) &&
              make_data(&bench, &err) && measure(&bench, &err);
    if (!ok)
        fprintf(stderr, "step: %s\n", err.text);
    free(bench.data.pixels);
    free(bench.data.labels);
    free(bench.index);
    free(bench.seconds);
    free(bench.update_s);
    spec_free(&bench.spec);
    net_free(bench.net);
    return ok ? 0 : 1;
}
