/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "engine/train/split/balance.h"
#include "engine/train/split/split.h"
#include "tests/suites.h"

/* Simulated devices: a pass takes fixed_s + rows * row_s, and a random part of that more. */
struct simulation {
    int devices;
    double fixed_s[SPEC_MAX_DEVICES], row_s[SPEC_MAX_DEVICES];
    bool competing; /* for one processor: passes last as long however the rows are divided */
    double noise;   /* standard deviation, relative */
    double cost_s;
    unsigned short random[3];
    struct balance balance;
    int changes, returns;
};

/* Normal with variance 1, from twelve uniform numbers. */
static double normal(unsigned short *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += erand48(state);
    return sum;
}

static double pass_s(const struct simulation *sim, int device)
{
    if (sim->competing)
        return sim->fixed_s[device];
    return sim->fixed_s[device] + (double)sim->balance.shares[device] * sim->row_s[device];
}

static double step_s(const struct simulation *sim)
{
    double longest = 0;
    for (int i = 0; i < sim->devices; i++)
        longest = fmax(longest, pass_s(sim, i));
    return longest;
}

static void begin(struct simulation *sim, long batch, unsigned seed)
{
    long shares[SPEC_MAX_DEVICES];
    struct error err = ERROR_INIT;
    ck_assert(split_rows(SPLIT_BALANCED, NULL, batch, sim->devices, shares, &err));
    sim->random[0] = (unsigned short)seed;
    balance_begin(&sim->balance, shares, sim->devices);
}

/* The shares must remain a division of the batch in which everybody has something. */
static bool valid(const struct simulation *sim, const long *shares)
{
    long before = 0, after = 0;
    bool each = true;
    for (int i = 0; i < sim->devices; i++) {
        before += sim->balance.shares[i];
        after += shares[i];
        each = each && shares[i] >= 1;
    }
    return each && before == after;
}

static void steps(struct simulation *sim, int count)
{
    struct balance_advice advice;
    while (count-- > 0) {
        double seconds[SPEC_MAX_DEVICES];
        for (int i = 0; i < sim->devices; i++)
            seconds[i] = pass_s(sim, i) * fmax(0.1, 1 + sim->noise * normal(sim->random));
        balance_measure(&sim->balance, seconds);
        if (!balance_propose(&sim->balance, sim->cost_s, &advice))
            continue;
        ck_assert(valid(sim, advice.shares));
        ck_assert(advice.gain > 0.05 && advice.gain < 1);
        ck_assert(!advice.back || (advice.saved < advice.gain && advice.wait > 0));
        balance_change(&sim->balance, &advice);
        sim->changes++;
        sim->returns += advice.back;
    }
}

/* With rows that can be cut at will and no fixed costs: everybody is ready at the same time. */
static double best_step_s(const struct simulation *sim, long batch)
{
    double speed = 0;
    for (int i = 0; i < sim->devices; i++)
        speed += 1 / sim->row_s[i];
    return (double)batch / speed;
}

static const struct {
    int devices;
    double row_s[4];
} machines[] = {
    {2, {1e-3, 3e-3}},
    {3, {1e-3, 1.5e-3, 2e-3}},
    {4, {1e-4, 1e-3, 1e-3, 5e-3}},
};
enum { MACHINES = sizeof machines / sizeof *machines };
static const double noises[] = {0, 0.02, 0.1, 0.2};
enum { NOISES = sizeof noises / sizeof *noises };

static struct simulation machine(int number, double noise)
{
    struct simulation sim = {.devices = machines[number].devices, .noise = noise};
    for (int i = 0; i < sim.devices; i++)
        sim.row_s[i] = machines[number].row_s[i];
    return sim;
}

START_TEST(settles_near_the_best_shares)
{
    for (unsigned seed = 0; seed < 10; seed++) {
        struct simulation sim = machine(_i / NOISES, noises[_i % NOISES]);
        begin(&sim, 256, seed);
        steps(&sim, 400);
        double off = step_s(&sim) / best_step_s(&sim, 256) - 1;
        /* The threshold, and what a whole row of the slowest device makes. */
        double allowed = 0.05 + 2 * sim.noise / sqrt(BALANCE_WINDOW) * 3 +
                         sim.row_s[sim.devices - 1] / best_step_s(&sim, 256);
        ck_assert_msg(off < allowed, "seed %u: %g above the best, %g allowed", seed, off, allowed);
        ck_assert_msg(sim.changes >= 1 && sim.changes <= 4, "seed %u: %d changes", seed,
                      sim.changes);
    }
}
END_TEST

START_TEST(one_change_without_noise)
{
    struct simulation sim = machine(0, 0);
    begin(&sim, 256, 0);
    steps(&sim, BALANCE_SKIPPED + BALANCE_LEAST - 1);
    ck_assert_int_eq(sim.changes, 0);
    steps(&sim, 1000);
    ck_assert_int_eq(sim.changes, 1);
    ck_assert_int_eq(sim.balance.shares[0], 192);
    ck_assert_int_eq(sim.balance.shares[1], 64);
}
END_TEST

/* Equal devices stay as they are, whatever the noise. */
START_TEST(noise_alone_moves_nothing)
{
    int changes = 0;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct simulation sim = {.devices = 2 + (int)seed % 7, .noise = noises[_i]};
        for (int i = 0; i < sim.devices; i++)
            sim.row_s[i] = 1e-3;
        begin(&sim, 256, seed);
        steps(&sim, 2000);
        changes += sim.changes;
    }
    ck_assert_msg(changes <= 2, "%d changes in 20 runs of 2000 steps", changes);
}
END_TEST

/* Fixed costs make speed depend on the share; the times become equal all the same. */
START_TEST(settles_where_time_is_not_proportional_to_rows)
{
    struct simulation sim = {.devices = 2, .row_s = {1e-3, 1e-3}, .fixed_s = {0, 0.1}};
    begin(&sim, 256, 0);
    steps(&sim, 1000);
    ck_assert_int_le(sim.changes, 6);
    /* 178 and 78 rows: 0.178 s each. */
    ck_assert_double_lt(step_s(&sim), 0.178 * 1.05);
}
END_TEST

START_TEST(reacts_when_a_device_becomes_slow_and_fast_again)
{
    for (unsigned seed = 0; seed < 10; seed++) {
        struct simulation sim = {.devices = 3, .row_s = {1e-3, 1e-3, 1e-3}, .noise = 0.05};
        begin(&sim, 240, seed);
        steps(&sim, 300);
        ck_assert_int_eq(sim.changes, 0);
        sim.row_s[1] = 4e-3;
        steps(&sim, 3 * BALANCE_WINDOW);
        ck_assert_double_lt(step_s(&sim), 1.1 * best_step_s(&sim, 240));
        steps(&sim, 300);
        ck_assert_int_le(sim.changes, 4);
        sim.row_s[1] = 1e-3;
        steps(&sim, 3 * BALANCE_WINDOW);
        ck_assert_double_lt(step_s(&sim), 1.1 * best_step_s(&sim, 240));
        steps(&sim, 300);
        ck_assert_int_le(sim.changes, 6);
    }
}
END_TEST

/* A single stall, however long, is no reason. */
START_TEST(an_outlier_moves_nothing)
{
    struct simulation sim = {.devices = 2, .row_s = {1e-3, 1e-3}, .noise = 0.02};
    begin(&sim, 64, 1);
    for (int i = 0; i < 20; i++) {
        steps(&sim, 9);
        sim.row_s[0] = 1;
        steps(&sim, 1);
        sim.row_s[0] = 1e-3;
    }
    ck_assert_int_eq(sim.changes, 0);
}
END_TEST

START_TEST(waits_until_the_loss_has_paid_for_new_plans)
{
    struct simulation sim = machine(0, 0);
    sim.cost_s = 19.2; /* a step saves 0.384 - 0.192 s: 100 steps */
    begin(&sim, 256, 0);
    steps(&sim, 99);
    ck_assert_int_eq(sim.changes, 0);
    steps(&sim, 2);
    ck_assert_int_eq(sim.changes, 1);
}
END_TEST

/*
 * On devices that gain nothing by it little is tried, and ever less: with 64 steps to wait, 128,
 * and so on, in 66,000 steps it comes to about ten times there and back. Much noise lets one or
 * another change seem to have paid, which costs nothing, and ends.
 */
START_TEST(what_does_not_pay_is_reverted)
{
    struct simulation sim = {
        .devices = 2, .competing = true, .fixed_s = {0.2, 0.1}, .noise = noises[_i]};
    begin(&sim, 64, 1);
    long as_before = 0;
    for (int i = 0; i < 66000; i++) {
        steps(&sim, 1);
        as_before += sim.balance.shares[0] == 32;
    }
    ck_assert_int_ge(sim.returns, 5);
    ck_assert_int_le(sim.changes, sim.noise < 0.2 ? 24 : 48);
    ck_assert_int_ge(sim.balance.shares[0], 8);
    if (sim.noise < 0.2)
        ck_assert_msg(as_before > 65000, "other shares in %ld steps", 66000 - as_before);
}
END_TEST

START_TEST(reverting_is_explained)
{
    struct simulation sim = {.devices = 2, .competing = true, .fixed_s = {0.2, 0.1}};
    struct balance_advice advice;
    const double slower[] = {0.21, 0.1};
    begin(&sim, 64, 1);
    steps(&sim, BALANCE_SKIPPED + BALANCE_LEAST);
    ck_assert_int_eq(sim.changes, 1);
    ck_assert_int_lt(sim.balance.shares[0], 32);
    /* Even shares in proportion to speed, 1:2, would need 0.2 s / 1.5. */
    double promised = sim.balance.change.gain;
    ck_assert_double_lt(fabs(promised - 1.0 / 3), 0.03);
    for (int i = 0; !balance_propose(&sim.balance, 0, &advice); i++) {
        ck_assert_int_lt(i, BALANCE_SKIPPED + BALANCE_WINDOW);
        balance_measure(&sim.balance, slower);
    }
    ck_assert(advice.back);
    ck_assert_int_eq(advice.shares[0], 32);
    ck_assert_double_eq(advice.gain, promised);
    ck_assert_double_lt(fabs(advice.saved + 0.05), 1e-9);
    ck_assert_int_eq(advice.wait, BALANCE_PATIENCE);
}
END_TEST

/* Waiting ends: once a device is slow for itself, others help it, and patience starts at its first
 * length again. */
START_TEST(a_change_that_pays_after_some_that_did_not)
{
    struct simulation sim = {
        .devices = 2, .competing = true, .fixed_s = {0.2, 0.1}, .row_s = {3e-3, 1e-3}};
    begin(&sim, 64, 1);
    steps(&sim, 1000);
    ck_assert_int_ge(sim.returns, 3);
    ck_assert_int_gt(sim.balance.patience, BALANCE_PATIENCE);
    sim.competing = false;
    sim.fixed_s[0] = sim.fixed_s[1] = 0;
    steps(&sim, 2000);
    ck_assert_int_eq(sim.balance.shares[0], 16);
    ck_assert_int_eq(sim.balance.patience, BALANCE_PATIENCE);
}
END_TEST

START_TEST(everybody_keeps_a_row)
{
    struct simulation sim = {.devices = 3, .row_s = {1e-6, 10, 1e-6}};
    begin(&sim, 9, 0);
    steps(&sim, 50);
    ck_assert_int_eq(sim.balance.shares[1], 1);
    ck_assert_int_eq(sim.balance.shares[0] + sim.balance.shares[2], 8);
}
END_TEST

START_TEST(nothing_to_divide)
{
    struct simulation alone = {.devices = 1, .row_s = {1}};
    struct simulation few = {.devices = 4, .row_s = {1, 2, 3, 4}};
    struct simulation equal = {.devices = 4, .row_s = {1, 1, 1, 1}};
    struct simulation instant = {.devices = 2};
    begin(&alone, 16, 0);
    begin(&few, 3, 0);
    begin(&equal, 4, 0);
    begin(&instant, 16, 0);
    steps(&alone, 100);
    steps(&few, 100);
    steps(&equal, 100);
    steps(&instant, 100);
    ck_assert_int_eq(alone.changes + few.changes + equal.changes + instant.changes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("balance");
    TCase *tcase = tcase_create("balance");
    tcase_add_loop_test(tcase, settles_near_the_best_shares, 0, MACHINES * NOISES);
    tcase_add_test(tcase, one_change_without_noise);
    tcase_add_loop_test(tcase, noise_alone_moves_nothing, 0, NOISES);
    tcase_add_test(tcase, settles_where_time_is_not_proportional_to_rows);
    tcase_add_test(tcase, reacts_when_a_device_becomes_slow_and_fast_again);
    tcase_add_test(tcase, an_outlier_moves_nothing);
    tcase_add_test(tcase, waits_until_the_loss_has_paid_for_new_plans);
    tcase_add_loop_test(tcase, what_does_not_pay_is_reverted, 0, NOISES);
    tcase_add_test(tcase, reverting_is_explained);
    tcase_add_test(tcase, a_change_that_pays_after_some_that_did_not);
    tcase_add_test(tcase, everybody_keeps_a_row);
    tcase_add_test(tcase, nothing_to_divide);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
