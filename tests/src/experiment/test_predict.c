/* SPDX-License-Identifier: MIT */
/* Steps on numbers of devices that were left out, predicted from made-up ones. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "experiment/predict.h"
#include "tests/suites.h"

/* What made-up devices and their link are like. */
struct machine {
    double pass_s, row_s;         /* computing */
    double latency_s, bandwidth;  /* of a ring */
    double between_s, delay_part; /* between steps; mean delay, as a part of computing */
    double bytes;
    bool overlaps;
};

/* No part alone decides: computing takes 0.5 + 10 ms with 256 rows, all-reduce 4 ms on 8. */
static const struct machine gpus = {.pass_s = 5e-4,
                                    .row_s = 4e-5,
                                    .latency_s = 5e-6,
                                    .bandwidth = 20e9,
                                    .between_s = 3e-4,
                                    .delay_part = 0.01,
                                    .bytes = 44.7e6,
                                    .overlaps = true};

/* From 0 to 1, the same ones in every run of the test. */
static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / (double)(1ull << 53);
}

static double ring_s(const struct machine *machine, int devices, double bytes)
{
    return 2.0 * (devices - 1) *
           (machine->latency_s + bytes / (double)devices / machine->bandwidth);
}

/* When all buckets are summed, each half of what is left, that the backward pass completes: faster
 * at first, as the last layers have most parameters. */
static double summed_s(const struct machine *machine, int devices, double compute)
{
    const double least = 1024 * 1024;
    double end = 0, done = 0;
    if (!machine->overlaps)
        return compute + ring_s(machine, devices, machine->bytes);
    while (done < machine->bytes) {
        const double left = machine->bytes - done;
        const double bytes = done == 0 ? least : left < 2 * least ? left : left / 2;
        done += bytes;
        const double passed = 1 - sqrt(fmax(0, 1 - done / machine->bytes));
        end = fmax(end, compute * (1 + 2 * passed) / 3) + ring_s(machine, devices, bytes);
    }
    return fmax(end, compute);
}

/* Plays steps as events, with delays that are exponentially distributed. */
static struct predict_point play(const struct machine *machine, int devices, double rows)
{
    enum { STEPS = 20000 };
    const double compute = machine->pass_s + machine->row_s * rows;
    struct predict_point point = {.devices = devices, .rows = rows, .network_s = NAN};
    double waited = 0, delayed = 0;
    uint64_t random = 1;
    for (int step = 0; step < STEPS; step++) {
        double longest = 0;
        for (int i = 0; i < devices; i++) {
            const double delay = -log(1 - next_random(&random)) * machine->delay_part * compute;
            longest = fmax(longest, delay);
            delayed += delay / devices / STEPS;
        }
        waited += longest / STEPS;
    }
    point.sync_s = summed_s(machine, devices, compute) - compute;
    point.wait_s = machine->between_s + waited - delayed;
    point.step_s = compute + delayed + point.sync_s + point.wait_s;
    return point;
}

/* Of 256 rows on one device, or on each. */
static double rows_of(bool weak, int devices)
{
    return weak ? 256 : 256.0 / devices;
}

static struct predict_model play_all(const struct machine *machine, bool weak, const int *devices,
                                     int count)
{
    struct predict_model model = {
        .bytes = machine->bytes, .bandwidth = NAN, .overlaps = machine->overlaps};
    for (int i = 0; i < count; i++)
        model.points[model.count++] = play(machine, devices[i], rows_of(weak, devices[i]));
    return model;
}

static void check_near(const struct predict_model *model, const struct machine *machine, bool weak,
                       int devices)
{
    const double rows = rows_of(weak, devices), truth = play(machine, devices, rows).step_s;
    const struct predicted_step step = predict_step(model, devices, rows);
    ck_assert_int_eq(predict_lacks(model, devices, rows), PREDICT_LACKS_NOTHING);
    ck_assert_msg(fabs(step.step_s / truth - 1) < 0.05, "%d devices, %s: %g, not %g", devices,
                  weak ? "weak" : "strong", step.step_s, truth);
    ck_assert_msg(step.low_s <= truth && truth <= step.high_s, "%d devices: %g not in %g-%g",
                  devices, truth, step.low_s, step.high_s);
    ck_assert_double_eq_tol(step.compute_s + step.sync_s + step.wait_s, step.step_s, 1e-12);
}

START_TEST(counts_that_were_left_out_are_predicted)
{
    static const int counts[][4] = {{1, 2, 4, 16}, {1, 2, 8, 16}, {1, 4, 8, 16}, {1, 2, 4, 8}};
    static const int left_out[] = {8, 4, 2, 16};
    for (int overlaps = 0; overlaps < 2; overlaps++)
        for (int weak = 0; weak < 2; weak++)
            for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
                struct machine machine = gpus;
                machine.overlaps = overlaps;
                const struct predict_model model = play_all(&machine, weak, counts[i], 4);
                check_near(&model, &machine, weak, left_out[i]);
            }
}
END_TEST

/* All-reduce that is all bandwidth, or all latency, is told from two numbers of devices. */
START_TEST(latency_is_told_from_bandwidth)
{
    static const int counts[] = {1, 2, 4};
    struct machine slow = {.pass_s = 1e-4, .row_s = 1e-5, .bytes = 40e6, .bandwidth = 10e9};
    struct predict_model model = play_all(&slow, false, counts, 3);
    ck_assert_double_eq_tol(predict_step(&model, 8, 32).sync_s, ring_s(&slow, 8, 40e6), 1e-7);
    slow.bandwidth = 1e15;
    slow.latency_s = 1e-3;
    model = play_all(&slow, false, counts, 3);
    ck_assert_double_eq_tol(predict_step(&model, 8, 32).sync_s, 14e-3, 1e-5);
    /* From one number it may be either, which the range says. */
    model.count = 2;
    const struct predicted_step step = predict_step(&model, 8, 32);
    ck_assert_double_le(step.low_s, 4e-4 + 3.5e-3);
    ck_assert_double_ge(step.high_s, 4e-4 + 14e-3);
}
END_TEST

/* One device with two batches says what computing takes, the link the rest. */
START_TEST(a_link_stands_for_several_devices)
{
    struct machine machine = gpus;
    machine.latency_s = 0;
    machine.delay_part = 0;
    struct predict_model model = {.count = 2,
                                  .points = {play(&machine, 1, 128), play(&machine, 1, 256)},
                                  .bytes = machine.bytes,
                                  .bandwidth = machine.bandwidth,
                                  .overlaps = true};
    check_near(&model, &machine, false, 2);
    check_near(&model, &machine, false, 4);
    /* Nobody knows whether devices slow each other down. */
    const struct predicted_step two = predict_step(&model, 2, 128);
    ck_assert_double_ge(two.high_s, 1.1 * two.step_s);
    /* A faster link is told from a slower one. */
    const double before_s = predict_step(&model, 8, 32).sync_s;
    model.bandwidth *= 10;
    ck_assert_double_lt(predict_step(&model, 8, 32).sync_s, before_s / 2);
}
END_TEST

/* Over hosts the time of sums is measured, and with it what is hidden. */
START_TEST(a_network_is_measured)
{
    struct predict_model model = {.bytes = 8e6, .bandwidth = NAN, .overlaps = true};
    const double per_host = 4e-3, compute = 10e-3, hidden = 0.3 * compute;
    for (int hosts = 1; hosts < 5; hosts *= 2) {
        const double sums = hosts > 1 ? 2.0 * (hosts - 1) / hosts * per_host : NAN;
        const double exposed = hosts > 1 ? sums - hidden : 0;
        model.points[model.count++] = (struct predict_point){.devices = hosts,
                                                             .rows = 64,
                                                             .step_s = compute + 1e-3 + exposed,
                                                             .sync_s = 1e-3 + exposed,
                                                             .network_s = sums};
    }
    const struct predicted_step step = predict_step(&model, 8, 64);
    ck_assert_double_eq_tol(step.sync_s, 1e-3 + 7e-3 - hidden, 1e-6);
    ck_assert_double_eq_tol(step.compute_s, compute, 1e-6);
    /* Hosts that wait for longer than sums are under way hide nothing. */
    for (int i = 1; i < model.count; i++)
        model.points[i].network_s = 0.9 * (model.points[i].sync_s - 1e-3);
    ck_assert_double_eq_tol(predict_step(&model, 8, 64).sync_s, 1e-3 + 7 * 0.9e-3, 1e-6);
}
END_TEST

/* Medians of five epochs that took up to 4 % more or less. */
static void add_noise(struct predict_point *point, uint64_t *random)
{
    double factors[5], low = 2, high = 0, sum = 0;
    for (int i = 0; i < 5; i++) {
        factors[i] = 0.96 + 0.08 * next_random(random);
        low = fmin(low, factors[i]);
        high = fmax(high, factors[i]);
        sum += factors[i];
    }
    const double middle = sum / 5;
    point->step_s *= middle;
    point->sync_s *= middle;
    point->wait_s *= middle;
    point->variation = fmax(middle / low - 1, high / middle - 1);
}

START_TEST(with_noise_the_range_has_the_truth)
{
    static const int counts[] = {1, 2, 4};
    uint64_t random = 7;
    for (int weak = 0; weak < 2; weak++) {
        const struct predict_model exact = play_all(&gpus, weak, counts, 3);
        for (int devices = 8; devices < 17; devices *= 2) {
            const double rows = rows_of(weak, devices), truth = play(&gpus, devices, rows).step_s;
            int inside = 0;
            double widest = 0;
            for (int trial = 0; trial < 200; trial++) {
                struct predict_model model = exact;
                for (int i = 0; i < model.count; i++)
                    add_noise(&model.points[i], &random);
                const struct predicted_step step = predict_step(&model, devices, rows);
                inside += step.low_s <= truth && truth <= step.high_s;
                widest = fmax(widest, step.high_s / step.low_s);
            }
            ck_assert_msg(inside >= 198, "%d devices: %d of 200 inside", devices, inside);
            /* A range that has everything would say nothing. */
            ck_assert_msg(widest < 4, "%d devices: %g", devices, widest);
        }
    }
}
END_TEST

START_TEST(too_few_points_are_named)
{
    static const int counts[] = {1, 2, 4};
    struct predict_model model = play_all(&gpus, false, counts, 3);
    const struct predict_point one = model.points[0], two = model.points[1];
    ck_assert_int_eq(predict_lacks(&model, 8, 32), PREDICT_LACKS_NOTHING);
    model.count = 0;
    ck_assert_int_eq(predict_lacks(&model, 8, 32), PREDICT_LACKS_ROWS);
    model.count = 1;
    ck_assert_int_eq(predict_lacks(&model, 2, 128), PREDICT_LACKS_ROWS);
    /* Weak scaling has the same rows on any number. */
    ck_assert_int_eq(predict_lacks(&model, 2, 256), PREDICT_LACKS_SYNC);
    model.bandwidth = 1e9;
    ck_assert_int_eq(predict_lacks(&model, 2, 256), PREDICT_LACKS_NOTHING);
    model.bytes = NAN;
    ck_assert_int_eq(predict_lacks(&model, 2, 256), PREDICT_LACKS_BYTES);
    model.bandwidth = NAN;
    model.points[0] = two;
    ck_assert_int_eq(predict_lacks(&model, 4, 128), PREDICT_LACKS_WAIT);
    model.points[model.count++] = one;
    ck_assert_int_eq(predict_lacks(&model, 4, 128), PREDICT_LACKS_NOTHING);
}
END_TEST

static Suite *predict_suite(void)
{
    Suite *suite = suite_create("predict");
    TCase *cases = tcase_create("predict");
    tcase_add_test(cases, counts_that_were_left_out_are_predicted);
    tcase_add_test(cases, latency_is_told_from_bandwidth);
    tcase_add_test(cases, a_link_stands_for_several_devices);
    tcase_add_test(cases, a_network_is_measured);
    tcase_add_test(cases, with_noise_the_range_has_the_truth);
    tcase_add_test(cases, too_few_points_are_named);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    return run_suites(predict_suite(), NULL);
}
