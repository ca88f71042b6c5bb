/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "engine/train/resolve/preflight.h"
#include "tests/suites.h"

/* What the preflight check says of devices, each as it would say it of itself. */

static const uint64_t GIB = UINT64_C(1) << 30;

static struct preflight_device devices[8];
static struct preflight preflight;
static char said[8][400];
static int said_count;
static bool deaf;

static bool hear(void *context, const char *text, struct error *err)
{
    ck_assert_ptr_eq(context, said);
    ck_assert_int_lt(said_count, 8);
    ck_assert_ptr_null(strchr(text, '\n'));
    snprintf(said[said_count++], sizeof said[0], "%s", text);
    return !deaf || error_set(err, ERROR_FAILED, "deaf");
}

/* `gpus` GPUs that want for nothing. */
static void begin(int gpus)
{
    said_count = 0;
    deaf = false;
    for (int i = 0; i < gpus; i++)
        devices[i] = (struct preflight_device){
            .id = {DEVICE_CUDA, i},
            .model = "NVIDIA H200",
            .facts = {.type = TYPE_BF16,
                      .multiprocessors = 132,
                      .clock_mhz = 1980,
                      .memory_free = 140 * GIB,
                      .memory_total = 140 * GIB + GIB / 2,
                      .reads = ~UINT64_C(0),
                      .driver = 13000,
                      .runtime = 13000},
            .memory_bytes = 20 * GIB,
        };
    preflight = (struct preflight){
        .count = gpus, .devices = devices, .split = SPLIT_CHUNK, .shared_memory = GIB};
}

static bool check(struct error *err)
{
    const struct preflight_sink sink = {hear, said};
    *err = (struct error)ERROR_INIT;
    return preflight_check(&preflight, &sink, err);
}

/* Nothing but this. */
static void check_says(const char *one, const char *other)
{
    struct error err;
    ck_assert_msg(check(&err), "%s", err.text);
    ck_assert_msg(said_count == 1, "%d findings: %s; %s", said_count, said[0], said[1]);
    ck_assert_msg(strstr(said[0], one) && strstr(said[0], other), "%s", said[0]);
}

static void check_silent(void)
{
    struct error err;
    ck_assert_msg(check(&err), "%s", err.text);
    ck_assert_msg(said_count == 0, "%s", said[0]);
}

START_TEST(good_devices_are_no_news)
{
    for (int gpus = 1; gpus <= 8; gpus++) {
        begin(gpus);
        check_silent();
    }
}
END_TEST

START_TEST(cpu_devices_are_no_news)
{
    begin(0);
    for (int i = 0; i < 4; i++)
        devices[i] =
            (struct preflight_device){.id = {DEVICE_CPU, i}, .model = "", .memory_bytes = GIB};
    preflight.count = 4;
    preflight.shared_memory = 1;
    check_silent();
}
END_TEST

START_TEST(a_gpu_named_twice)
{
    begin(3);
    devices[2].id.index = 0;
    check_says("cuda:0 is named 2 times", "no faster");
}
END_TEST

START_TEST(too_little_memory)
{
    struct error err;
    begin(2);
    devices[1].facts.memory_free = 19 * GIB;
    ck_assert(!check(&err));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(err.text, "cuda:1") && strstr(err.text, "needs 20.0 GiB") &&
                      strstr(err.text, "19.0 of 140.5 GiB") && strstr(err.text, "smaller batch"),
                  "%s", err.text);
    ck_assert_int_eq(said_count, 0);
}
END_TEST

/* Replicas on one GPU share its memory. The second may have seen what the first had left. */
START_TEST(memory_of_a_gpu_named_twice)
{
    struct error err;
    begin(2);
    devices[1].id.index = 0;
    devices[1].facts.memory_free = 10 * GIB;
    devices[0].facts.memory_free = 40 * GIB;
    check_says("named 2 times", "cuda:0");
    begin(2);
    devices[1].id.index = 0;
    devices[0].facts.memory_free = 39 * GIB;
    devices[1].facts.memory_free = 30 * GIB;
    ck_assert(!check(&err));
    ck_assert_msg(strstr(err.text, "needs 40.0 GiB"), "%s", err.text);
}
END_TEST

START_TEST(memory_that_is_not_known)
{
    begin(2);
    devices[0].facts.memory_free = devices[0].facts.memory_total = 0;
    check_silent();
}
END_TEST

START_TEST(a_gpu_that_others_use)
{
    begin(2);
    devices[1].facts.memory_free = 100 * GIB;
    check_says("cuda:1: other programs hold 40.5 GiB", "nvidia-smi");
}
END_TEST

START_TEST(an_older_driver_is_named_once)
{
    begin(3);
    for (int i = 0; i < 3; i++)
        devices[i].facts.driver = 12080;
    check_says("driver is for CUDA 12.8", "13.0");
}
END_TEST

START_TEST(without_nccl)
{
    begin(2);
    snprintf(devices[0].facts.collective_error, sizeof devices[0].facts.collective_error,
             "libnccl.so.2 is missing");
    check_says("without NCCL", "libnccl.so.2 is missing");
    preflight.count = 1; /* nobody to reduce with */
    said_count = 0;
    check_silent();
    preflight.count = 2;
    for (int i = 0; i < 2; i++)
        snprintf(devices[i].id.host, sizeof devices[i].id.host, "h%d", i + 1);
    check_silent(); /* hosts say it themselves */
}
END_TEST

START_TEST(small_shared_memory)
{
    begin(2);
    preflight.shared_memory = GIB / 32;
    check_says("/dev/shm has 32 MiB", "--shm-size");
    said_count = 0;
    preflight.shared_memory = 0; /* not known */
    check_silent();
}
END_TEST

START_TEST(no_peer_access)
{
    begin(4);
    devices[1].facts.reads &= ~(UINT64_C(1) << 3);
    check_says("cuda:1 cannot read the memory of cuda:3", "through the host");
    said_count = 0;
    devices[1].facts.reads = 0; /* not known */
    check_silent();
}
END_TEST

/* 25 % are borne, more is said, and rules that give each what it can do need no advice. */
START_TEST(unequal_gpus)
{
    begin(2);
    devices[1].facts.clock_mhz = 1584; /* 1.25 times slower */
    check_silent();
    devices[1].facts.clock_mhz = 1583;
    devices[1].model = "NVIDIA T4";
    check_says("cuda:0 (NVIDIA H200) is about 1.3 times as fast as cuda:1 (NVIDIA T4)",
               "--split auto");
    static const enum split_rule fitting[] = {SPLIT_AUTO, SPLIT_WEIGHTED};
    for (int i = 0; i < 2; i++) {
        said_count = 0;
        preflight.split = fitting[i];
        check_silent();
    }
}
END_TEST

START_TEST(a_cpu_beside_a_gpu)
{
    begin(2);
    devices[1] = (struct preflight_device){.id = {DEVICE_CPU, 0}, .model = "Xeon"};
    check_says("cpu:0 gets as many rows as cuda:0", "--split auto");
    said_count = 0;
    preflight.split = SPLIT_AUTO;
    check_silent();
}
END_TEST

START_TEST(a_batchnorm_of_single_values)
{
    begin(2);
    devices[0].least_rows = 4;
    devices[1].least_rows = 1;
    check_silent();
    preflight.lone_norm = "head.bn";
    check_says("'head.bn'", "cuda:1");
    ck_assert_ptr_null(strstr(said[0], "--sync-bn"));
    said_count = 0;
    preflight.may_sync_bn = true;
    check_says("'head.bn'", "--sync-bn");
    begin(2);
    preflight.lone_norm = "head.bn";
    devices[1].least_rows = 2;
    check_silent();
}
END_TEST

START_TEST(who_cannot_be_told_ends_it)
{
    struct error err;
    begin(3);
    devices[2].id.index = 0;
    deaf = true;
    ck_assert(!check(&err));
    ck_assert_str_eq(err.text, "deaf");
    ck_assert_int_eq(said_count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("preflight");
    TCase *tcase = tcase_create("preflight");
    tcase_add_test(tcase, good_devices_are_no_news);
    tcase_add_test(tcase, cpu_devices_are_no_news);
    tcase_add_test(tcase, a_gpu_named_twice);
    tcase_add_test(tcase, too_little_memory);
    tcase_add_test(tcase, memory_of_a_gpu_named_twice);
    tcase_add_test(tcase, memory_that_is_not_known);
    tcase_add_test(tcase, a_gpu_that_others_use);
    tcase_add_test(tcase, an_older_driver_is_named_once);
    tcase_add_test(tcase, without_nccl);
    tcase_add_test(tcase, small_shared_memory);
    tcase_add_test(tcase, no_peer_access);
    tcase_add_test(tcase, unequal_gpus);
    tcase_add_test(tcase, a_cpu_beside_a_gpu);
    tcase_add_test(tcase, a_batchnorm_of_single_values);
    tcase_add_test(tcase, who_cannot_be_told_ends_it);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
