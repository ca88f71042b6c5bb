/* SPDX-License-Identifier: MIT */
#include "tests/trajectory.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "engine/model/file.h"
#include "engine/weights/file.h"
#include "tests/recorder.h"
#include "tests/support.h"

enum { MOST_STEPS = 256, DRAWS = 3 };

/*
 * How far bf16 may lead away is taken from f32 itself: runs from initial weights changed at random
 * by up to bf16's rounding (2^-8 of each) show what such errors grow to, step by step; bf16 rounds
 * again in every layer of every step, for which it may be FACTOR times as far away.
 */
#define UNIT   0x1p-8
#define FACTOR 4.0

static int losses(const char *settings, double *loss)
{
    struct recorder rec;
    recorder_init(&rec, settings);
    ck_assert_msg(recorder_run(&rec), "%s: %s", settings, rec.err.text);
    int count = recorder_count(&rec, "step");
    ck_assert_int_le(count, MOST_STEPS);
    for (int i = 0; i < count; i++)
        loss[i] = recorder_number(recorder_event(&rec, "step", i), "loss");
    recorder_free(&rec);
    return count;
}

static void change_weights(const char *model, struct net_shape shape, const char *from,
                           const char *to, uint32_t draw)
{
    struct error err = ERROR_INIT;
    struct net *net = NULL;
    struct weights weights;
    struct rng_stream stream = rng_stream(13, RNG_RANDOM_DATA, draw, 0, 0);
    ck_assert_msg(net_load(model, shape, 10, &net, &err) && weights_create(net, &weights, &err) &&
                      weights_read(net, from, &weights, &err),
                  "%s", err.text);
    for (size_t i = 0; i < net->value_count; i++)
        weights.values[i] =
            (float)((double)weights.values[i] * (1 + UNIT * (2 * rng_uniform(&stream, i) - 1)));
    ck_assert_msg(weights_write(net, to, &weights, NULL, &err), "%s", err.text);
    weights_free(&weights);
    net_free(net);
}

void trajectory_check(const char *folder, const char *model, struct net_shape shape,
                      const char *common)
{
    double base[MOST_STEPS], coarse[MOST_STEPS], moved[MOST_STEPS], far = 0, most = 0;
    double spread[MOST_STEPS] = {0};
    char *file = format("%s/initial.safetensors", folder);
    char *other = format("%s/changed.safetensors", folder);
    char *first = format("%s epochs=0 save=%s dtype=f32", common, file);
    char *exact = format("%s init=%s dtype=f32", common, file);
    char *near = format("%s init=%s dtype=f32", common, other);
    char *rough = format("%s init=%s dtype=bf16", common, file);
    losses(first, base);
    int steps = losses(exact, base);
    ck_assert_int_ge(steps, 10);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        change_weights(model, shape, file, other, draw);
        ck_assert_int_eq(losses(near, moved), steps);
        for (int i = 0; i < steps; i++)
            spread[i] = fmax(spread[i], fabs(moved[i] - base[i]));
    }
    ck_assert_int_eq(losses(rough, coarse), steps);
    for (int i = 0; i < steps; i++) {
        far = fmax(far, spread[i]);
        double off = fabs(coarse[i] - base[i]), allowed = FACTOR * far + 4 * UNIT * base[i];
        ck_assert_msg(off <= allowed, "step %d: loss %.6g in bf16, %.6g in f32: %.3g allowed",
                      i + 1, coarse[i], base[i], allowed);
        most = fmax(most, off / allowed);
    }
    printf("note: %d steps, loss %.4g to %.4g in bf16, %.4g in f32; at most %.0f%% of what is "
           "allowed\n",
           steps, coarse[0], coarse[steps - 1], base[steps - 1], 100 * most);
    ck_assert_double_lt(coarse[steps - 1], coarse[0]);
    free(rough);
    free(near);
    free(exact);
    free(first);
    free(other);
    free(file);
}
