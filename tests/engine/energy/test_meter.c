/* SPDX-License-Identifier: MIT */
/* The energy of devices by the counters of a made-up machine and a made-up driver. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "engine/energy/meter.h"
#include "tests/engine/nvml/nvml_fixture.h"
#include "tests/fakes/made_up_machine.h"
#include "tests/suites.h"
#include "tests/support.h"

static const struct device_id cpus[] = {{.kind = DEVICE_CPU, .index = 0},
                                        {.kind = DEVICE_CPU, .index = 1}};
static const struct device_id gpus[] = {{.kind = DEVICE_CUDA, .index = 0},
                                        {.kind = DEVICE_CUDA, .index = 1}};
static const struct device_id both[] = {{.kind = DEVICE_CUDA, .index = 0},
                                        {.kind = DEVICE_CPU, .index = 0}};

static bool hangs; /* a thread that opens a meter */

static struct energy_options options(void)
{
    return (struct energy_options){.root = machine.folder,
                                   .gpus = {.library = fake ? fake_path : NULL},
                                   .open_s = 30,
                                   .patience = 30};
}

static void count(int package, long long microjoules)
{
    char *path = format(RAPL "%d/energy_uj", package), *text = format("%lld\n", microjoules);
    set(path, text);
    free(text);
    free(path);
}

static struct energy_meter *open_meter(const struct device_id *ids, int many)
{
    const struct energy_options with = options();
    struct energy_meter *meter = energy_meter_open(&with, ids, many, &hangs);
    ck_assert_ptr_nonnull(meter);
    return meter;
}

/* No driver hangs either. */
static void assert_none(const struct device_id *ids, int many)
{
    const struct energy_options with = options();
    ck_assert_ptr_null(energy_meter_open(&with, ids, many, &hangs));
    ck_assert(!hangs);
}

START_TEST(cpu_devices_have_all_packages)
{
    add_intel();
    struct energy_meter *meter = open_meter(cpus, 2);
    count(0, 1000000);
    count(1, 5000000);
    energy_meter_begin(meter);
    count(0, 1250000);
    count(1, 5500000);
    ck_assert_double_eq_tol(energy_meter_end(meter), 0.75, 1e-9);
    count(0, 9000000);
    ck_assert(isnan(energy_meter_end(meter)));
    energy_meter_begin(meter);
    count(0, 9000001);
    ck_assert_double_eq_tol(energy_meter_end(meter), 1e-6, 1e-12);
    energy_meter_close(meter);
}
END_TEST

START_TEST(a_counter_that_begins_again)
{
    add_intel();
    set(RAPL "0/max_energy_range_uj", "10000000\n");
    count(0, 0);
    struct energy_meter *meter = open_meter(cpus, 1);
    count(0, 9500000);
    energy_meter_begin(meter);
    count(0, 200000);
    ck_assert_double_eq_tol(energy_meter_end(meter), 0.7, 1e-9);
    energy_meter_close(meter);
    /* A wrap is told from a reset by what would have been used: 62 kJ, and nearly all of a range.
     */
    static const long again[] = {1000000, 199999000000};
    for (int i = 0; i < 2; i++) {
        set(RAPL "0/max_energy_range_uj", "262143328850\n");
        count(0, 200000000000);
        meter = open_meter(cpus, 1);
        energy_meter_begin(meter);
        count(0, again[i]);
        ck_assert(isnan(energy_meter_end(meter)));
        energy_meter_close(meter);
    }
    count(0, 200000);
    /* Nobody says where: then nobody knows. */
    vanish(RAPL "0/max_energy_range_uj");
    meter = open_meter(cpus, 1);
    energy_meter_begin(meter);
    count(0, 100000);
    ck_assert(isnan(energy_meter_end(meter)));
    energy_meter_close(meter);
}
END_TEST

START_TEST(what_cannot_be_read_is_not_known)
{
    assert_none(cpus, 1);
    assert_none(cpus, 0);
    add_intel();
    struct energy_meter *meter = open_meter(cpus, 1);
    energy_meter_begin(meter);
    set(RAPL "1/energy_uj", "rubbish\n");
    ck_assert(isnan(energy_meter_end(meter)));
    energy_meter_begin(meter);
    ck_assert(isnan(energy_meter_end(meter)));
    count(1, 77000000);
    energy_meter_begin(meter);
    count(1, 78000000);
    ck_assert_double_eq_tol(energy_meter_end(meter), 1, 1e-9);
    energy_meter_close(meter);
    set(RAPL "1/energy_uj", "rubbish\n");
    assert_none(cpus, 1);
    energy_meter_begin(NULL);
    ck_assert(isnan(energy_meter_end(NULL)));
    energy_meter_close(NULL);
}
END_TEST

START_TEST(gpus_have_counters_of_their_own)
{
    if (!fake_is_there())
        return;
    fake_load(false);
    fake->gpus = 3;
    fake->millijoules = 1000;
    struct energy_meter *meter = open_meter(gpus, 2);
    energy_meter_begin(meter);
    fake->millijoules += 250;
    ck_assert_double_eq_tol(energy_meter_end(meter), 0.5, 1e-9);
    energy_meter_begin(meter);
    fake->millijoules = 10; /* the driver was loaded again */
    ck_assert(isnan(energy_meter_end(meter)));
    energy_meter_begin(meter);
    fake->lost = 1;
    ck_assert(isnan(energy_meter_end(meter)));
    ck_assert(energy_meter_close(meter));
    fake->lost = -1;
    /* A GPU that is there twice has one counter. */
    const struct device_id twice[] = {gpus[0], gpus[0]};
    meter = open_meter(twice, 2);
    energy_meter_begin(meter);
    fake->millijoules += 250;
    ck_assert_double_eq_tol(energy_meter_end(meter), 0.25, 1e-9);
    ck_assert(energy_meter_close(meter));
    ck_assert_int_eq(fake->open, 0);
    fake_unload();
    fake = NULL;
}
END_TEST

START_TEST(gpus_that_do_not_tell)
{
    if (!fake_is_there())
        return;
    fake_load(false);
    fake->gpus = 1;
    assert_none(gpus, 2);
    fake->mig = 2; /* the counter is of the whole GPU */
    assert_none(gpus, 1);
    fake->mig = 0;
    fake->code[FAKE_ENERGY] = NVML_NOT_SUPPORTED;
    assert_none(gpus, 1);
    fake->code[FAKE_ENERGY] = NVML_SUCCESS;
    /* A GPU that is known does not stand for a CPU that is not. */
    assert_none(both, 2);
    add_intel();
    struct energy_meter *meter = open_meter(both, 2);
    energy_meter_begin(meter);
    fake->millijoules += 2000;
    count(0, 900000000);
    ck_assert(energy_meter_end(meter) > 2);
    energy_meter_close(meter);
    ck_assert_int_eq(fake->open, 0);
    fake_unload();
    fake = NULL;
}
END_TEST

/* Until `fake->waiting` is this. */
static void wait_waiting(int waiting)
{
    for (int i = 0; i < 10000 && fake->waiting != waiting; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ck_assert_int_eq(fake->waiting, waiting);
}

START_TEST(a_driver_that_hangs_costs_a_figure)
{
    if (!fake_is_there())
        return;
    fake_load(false);
    fake->gpus = 2;
    struct energy_options with = options();
    with.patience = 0.1;
    struct energy_meter *meter = energy_meter_open(&with, gpus, 1, &hangs);
    ck_assert_ptr_nonnull(meter);
    double before = clock_seconds();
    fake->stalled = FAKE_ENERGY;
    energy_meter_begin(meter);
    ck_assert(isnan(energy_meter_end(meter)));
    energy_meter_begin(meter);
    ck_assert(isnan(energy_meter_end(meter)));
    ck_assert_double_lt(clock_seconds() - before, 20);
    wait_waiting(1);
    fake->stalled = -1;
    /* What began late is not what was meant. */
    wait_waiting(0);
    ck_assert(isnan(energy_meter_end(meter)));
    fake->stalled = FAKE_ENERGY;
    energy_meter_begin(meter);
    ck_assert(!energy_meter_close(meter));
    fake->stalled = -1;
    wait_waiting(0);
    with.open_s = 0.1;
    fake->stalled = FAKE_INIT;
    ck_assert(!hangs);
    ck_assert_ptr_null(energy_meter_open(&with, gpus, 1, &hangs));
    ck_assert(hangs);
    fake->stalled = -1;
    wait_waiting(0);
}
END_TEST

START_TEST(the_environment_may_have_none)
{
    setenv("DPARTUI_ENERGY_ROOT", "none", 1);
    ck_assert_ptr_null(energy_environment().root);
    setenv("DPARTUI_ENERGY_ROOT", "/made/up", 1);
    ck_assert_str_eq(energy_environment().root, "/made/up");
    unsetenv("DPARTUI_ENERGY_ROOT");
    ck_assert_str_eq(energy_environment().root, "/");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("energy");
    TCase *tc = tcase_create("meter");
    tcase_add_checked_fixture(tc, machine_begin, machine_end);
    tcase_add_test(tc, cpu_devices_have_all_packages);
    tcase_add_test(tc, a_counter_that_begins_again);
    tcase_add_test(tc, what_cannot_be_read_is_not_known);
    tcase_add_test(tc, gpus_have_counters_of_their_own);
    tcase_add_test(tc, gpus_that_do_not_tell);
    tcase_add_test(tc, a_driver_that_hangs_costs_a_figure);
    tcase_add_test(tc, the_environment_may_have_none);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
