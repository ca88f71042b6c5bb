/* SPDX-License-Identifier: MIT */
/* Which GPUs are the least used ones, and what is said of it. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/server/devices/free_gpus.h"
#include "tests/engine/server/devices/free_gpus.h"

enum { GPUS = 4 };

static struct device_info info[GPUS];
static struct gpu_list *driver;
static struct gpus_known known;
static struct error err;

static void begin(void)
{
    err = (struct error)ERROR_INIT;
    driver = calloc(1, sizeof *driver);
    ck_assert_ptr_nonnull(driver);
    driver->count = GPUS;
    for (int i = 0; i < GPUS; i++) {
        struct gpu_figures *gpu = &driver->gpu[i];
        info[i] = (struct device_info){.id = {DEVICE_CUDA, i}, .available = true};
        snprintf(info[i].uuid, sizeof info[i].uuid, "GPU-%d", i);
        *gpu = (struct gpu_figures){.working = true, .memory_total = 80ULL << 30};
        snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%d", i);
    }
    known = (struct gpus_known){info, GPUS, "no driver here", driver};
}

static void end(void)
{
    free(driver);
}

static void use(int gpu, double load, double gib, bool own)
{
    struct gpu_figures *figures = &driver->gpu[gpu];
    const uint64_t bytes = (uint64_t)(gib * (1 << 30));
    figures->load = load;
    figures->memory_used += bytes;
    figures->process[figures->processes++] =
        (struct gpu_process){.pid = 1, .own = own, .memory = bytes};
}

static void picks(int wanted, const char *devices, const char *words)
{
    struct device_list list;
    char *why = NULL;
    ck_assert_msg(free_gpus_pick(&known, wanted, &list, &why, &err), "%s", err.text);
    char *text = device_list_text(&list);
    ck_assert_str_eq(text, devices);
    ck_assert_str_eq(why, words);
    free(text);
    free(why);
}

static void refuses(int wanted, const char *words)
{
    struct device_list list;
    char *why = NULL;
    ck_assert(!free_gpus_pick(&known, wanted, &list, &why, &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_str_eq(err.text, words);
    ck_assert_ptr_null(why);
}

START_TEST(the_least_used)
{
    use(0, 0.97, 61, false);
    use(2, 0.4, 2, false);
    use(2, 0.4, 2, false);
    driver->gpu[1].memory_used = 400 << 20;
    picks(2, "free:2=cuda:1,cuda:3",
          "free:2: cuda:1 (0% load, 400 MiB used), cuda:3 (0%, 0 B used); left out: cuda:0 (97%, "
          "61.0 GiB used by 1 process), cuda:2 (40%, 4.0 GiB used by 2 processes)");
    picks(1, "free:1=cuda:1",
          "free:1: cuda:1 (0% load, 400 MiB used); left out: cuda:0 (97%, 61.0 GiB used by 1 "
          "process), cuda:2 (40%, 4.0 GiB used by 2 processes), cuda:3 (0%, 0 B used)");
    /* What others use is taken where there is nothing else, and told. */
    picks(4, "free:4=cuda:0-3",
          "free:4: cuda:0 (97% load, 61.0 GiB used by 1 process), cuda:1 (0%, 400 MiB used), "
          "cuda:2 (40%, 4.0 GiB used by 2 processes), cuda:3 (0%, 0 B used); no freer GPU than "
          "cuda:0, which others use heavily");
}
END_TEST

/* Memory that is held counts as load does. */
START_TEST(memory_counts)
{
    use(0, 0, 70, false);
    use(1, 0.3, 8, false);
    use(2, 0.3, 40, false);
    use(3, 0.9, 1, false);
    picks(1, "free:1=cuda:1",
          "free:1: cuda:1 (30% load, 8.0 GiB used by 1 process); left out: cuda:0 (0%, 70.0 GiB "
          "used by 1 process), cuda:2 (30%, 40.0 GiB used by 1 process), cuda:3 (90%, 1.0 GiB used "
          "by 1 process)");
}
END_TEST

/* The run before has only just left. */
START_TEST(its_own_use_is_free)
{
    use(0, 0.95, 20, true);
    use(1, 0.2, 1, false);
    use(2, 0.2, 1, false);
    use(3, 0.2, 1, false);
    use(3, 0.2, 1, true);
    picks(1, "free:1=cuda:0",
          "free:1: cuda:0 (0% load, 0 B used); left out: cuda:1 (20%, 1.0 GiB used by 1 process), "
          "cuda:2 (20%, 1.0 GiB used by 1 process), cuda:3 (20%, 1.0 GiB used by 1 process)");
}
END_TEST

START_TEST(gpus_that_cannot_be_used)
{
    info[1].available = false;
    driver->gpu[2].working = false;
    use(0, 0.97, 61, false);
    picks(1, "free:1=cuda:3",
          "free:1: cuda:3 (0% load, 0 B used); left out: cuda:0 (97%, 61.0 GiB used by 1 process)");
    refuses(3, "free:3: the NVIDIA driver reports 2 of 3 GPUs (nothing of the others); name them, "
               "or use --gpus 3");
    refuses(4, "free:4: the NVIDIA driver reports 2 of 3 GPUs (nothing of the others); name them, "
               "or use --gpus 4");
    driver->gpu[2].working = true;
    refuses(4, "free:4: 4 GPUs asked for, 3 can be used here");
    driver->count = 0;
    snprintf(driver->none.text, sizeof driver->none.text, "no library");
    refuses(
        1,
        "free:1: the NVIDIA driver reports 0 of 3 GPUs (no library); name them, or use --gpus 1");
    known.count = 0;
    refuses(2, "free:2: no GPU to train on (no driver here), and free:N is of GPUs; use --devices "
               "cpu:0");
}
END_TEST

/* As of a MIG instance before Hopper: after all others; among themselves the memory decides. */
START_TEST(a_load_that_is_not_known)
{
    driver->gpu[0].load = driver->gpu[1].load = NAN;
    driver->gpu[0].memory_used = 60ULL << 30;
    snprintf(driver->gpu[0].no_processes.text, sizeof driver->gpu[0].no_processes.text, "hidden");
    use(2, 0.97, 61, false);
    known.count = 2;
    picks(1, "free:1=cuda:1",
          "free:1: cuda:1 (load not known, 0 B used); left out: cuda:0 (load not known, 60.0 GiB "
          "used)");
    known.count = 3;
    picks(1, "free:1=cuda:2",
          "free:1: cuda:2 (97% load, 61.0 GiB used by 1 process); left out: cuda:0 (load not "
          "known, 60.0 GiB used), cuda:1 (load not known, 0 B used); no freer GPU than cuda:2, "
          "which others use heavily");
    picks(3, "free:3=cuda:0-2",
          "free:3: cuda:0 (load not known, 60.0 GiB used), cuda:1 (load not known, 0 B used), "
          "cuda:2 (97%, 61.0 GiB used by 1 process); no freer GPU than cuda:2, which others use "
          "heavily");
}
END_TEST

Suite *free_gpus_suite(void)
{
    Suite *suite = suite_create("free GPUs");
    TCase *tests = tcase_create("choice");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, the_least_used);
    tcase_add_test(tests, memory_counts);
    tcase_add_test(tests, its_own_use_is_free);
    tcase_add_test(tests, gpus_that_cannot_be_used);
    tcase_add_test(tests, a_load_that_is_not_known);
    suite_add_tcase(suite, tests);
    return suite;
}
