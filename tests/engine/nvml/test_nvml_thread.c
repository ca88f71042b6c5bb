/* SPDX-License-Identifier: MIT */
/* The thread that asks NVML, with drivers that hang, and the choice of CUDA_VISIBLE_DEVICES. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/nvml/nvml.h"
#include "tests/engine/nvml/nvml_fixture.h"

#define MOST 30.0

/* As usual, but a hundred times as fast. */
static const struct nvml_pace pace = {.read = 0.02, .look = 0.3, .patience = 0.2, .wanted = 1e9};
static struct gpu_list list;
static struct nvml *nvml;

static void begin(void)
{
    fake_load(false);
}

static void end(void)
{
    fake_unload();
}

static void start_at(const struct nvml_pace *with, const char *library)
{
    struct nvml_options options = {.pace = with, .library = library};
    struct error err = ERROR_INIT;
    ck_assert_msg(nvml_start(&nvml, &options, &err), "%s", err.text);
}

static void start(int gpus)
{
    fake->gpus = gpus;
    start_at(&pace, fake_path);
    ck_assert(nvml_wait(nvml, fake->stalled < 0 ? MOST : 0.1) == (fake->stalled < 0));
    nvml_read(nvml, &list);
}

static void stop(void)
{
    ck_assert(nvml_stop(nvml));
    ck_assert_int_eq(fake->open, 0);
    ck_assert_int_eq(fake->samples, 0);
}

/* Read until it is so. */
#define UNTIL(condition)                                                                           \
    for (double from = clock_seconds(); !(condition); usleep(2000), nvml_read(nvml, &list))        \
    ck_assert_msg(clock_seconds() - from < MOST, "never: %s", #condition)

START_TEST(figures_move)
{
    start(8);
    ck_assert_int_eq(list.count, 8);
    ck_assert_double_eq(list.gpu[0].sensors.figure[SENSOR_TEMPERATURE], 50);
    uint64_t version = list.version;
    fake->celsius = 71;
    UNTIL(list.gpu[7].sensors.figure[SENSOR_TEMPERATURE] == 71);
    ck_assert_uint_gt(list.version, version);
    ck_assert_uint_eq(nvml_version(nvml), list.version);
    fake->gpus = 16;
    UNTIL(list.count == 16);
    fake->gpus = 0;
    UNTIL(list.count == 0);
    ck_assert_str_eq(list.none.text, "the NVIDIA driver has found no GPU");
    stop();
}
END_TEST

/* Whoever needs the present does not wait for the next round, nor takes the one before. */
START_TEST(asked_once_more)
{
    static const struct nvml_pace slow = {.read = 1e6, .look = 1e6, .patience = 0.2, .wanted = 1e9};
    fake->gpus = 1;
    start_at(&slow, fake_path);
    ck_assert(nvml_wait(nvml, MOST));
    fake->celsius = 71;
    ck_assert(nvml_renew(nvml, MOST));
    nvml_read(nvml, &list);
    ck_assert_double_eq(list.gpu[0].sensors.figure[SENSOR_TEMPERATURE], 71);
    fake->stalled = FAKE_POWER;
    ck_assert(!nvml_renew(nvml, 0.05));
    fake->stalled = -1;
    stop();
    start_at(&slow, NULL);
    ck_assert(nvml_renew(nvml, 0));
    ck_assert(nvml_stop(nvml));
}
END_TEST

START_TEST(a_driver_that_hangs_and_recovers)
{
    start(16);
    fake->stalled = FAKE_POWER;
    UNTIL(!list.gpu[0].working);
    for (int i = 0; i < 16; i++) {
        const struct gpu_figures *gpu = &list.gpu[i];
        ck_assert_str_eq(gpu->broken.text, "the NVIDIA driver does not answer");
        ck_assert_str_eq(gpu->sensors.missing[SENSOR_TEMPERATURE].text, gpu->broken.text);
        ck_assert_double_nan(gpu->sensors.figure[SENSOR_TEMPERATURE]);
        ck_assert_double_nan(gpu->load);
        ck_assert_str_eq(gpu->name, "NVIDIA Made-up 80GB");
    }
    uint64_t version = list.version;
    nvml_read(nvml, &list);
    ck_assert_uint_eq(list.version, version);
    fake->stalled = -1;
    UNTIL(list.gpu[15].working);
    ck_assert_double_eq(list.gpu[15].sensors.figure[SENSOR_POWER], 415);
    stop();
}
END_TEST

START_TEST(a_driver_that_hangs_from_the_beginning)
{
    fake->stalled = FAKE_INIT;
    start(8);
    ck_assert_int_eq(list.count, 0);
    UNTIL(*list.none.text);
    ck_assert_str_eq(list.none.text, "the NVIDIA driver does not answer");
    fake->stalled = -1;
    UNTIL(list.count == 8);
    ck_assert_str_eq(list.none.text, "");
    stop();
}
END_TEST

/* The end does not wait for the driver; the thread releases what it has when it comes back. */
START_TEST(an_end_while_the_driver_hangs)
{
    start(1);
    fake->stalled = FAKE_CLOCK;
    UNTIL(!list.gpu[0].working);
    ck_assert(!nvml_stop(nvml));
    fake->stalled = -1;
    for (double from = clock_seconds(); fake->open; usleep(2000))
        ck_assert(clock_seconds() - from < MOST);
    usleep(50000); /* for its last steps, before leaks are looked for */
}
END_TEST

START_TEST(a_driver_that_is_restarted)
{
    start(2);
    fake->code[FAKE_TEMPERATURE] = NVML_UNINITIALIZED;
    fake->code[FAKE_INIT] = NVML_DRIVER_NOT_LOADED;
    UNTIL(list.count == 0);
    ck_assert_ptr_nonnull(strstr(list.none.text, "not loaded"));
    fake->code[FAKE_TEMPERATURE] = fake->code[FAKE_INIT] = NVML_SUCCESS;
    UNTIL(list.count == 2);
    stop();
}
END_TEST

START_TEST(nobody_looks)
{
    static const struct nvml_pace short_of_breath = {
        .read = 0.02, .look = 30, .patience = 10, .wanted = 0.3};
    fake->gpus = 4;
    start_at(&short_of_breath, fake_path);
    for (double from = clock_seconds(); fake->calls == 0 || fake->open; usleep(5000))
        ck_assert(clock_seconds() - from < MOST);
    int calls = fake->calls;
    usleep(100000);
    ck_assert_int_eq(fake->calls, calls);
    /* The GPUs are still known, nothing else is; then somebody looks again. */
    nvml_read(nvml, &list);
    ck_assert_int_eq(list.count, 4);
    ck_assert(list.gpu[0].working);
    UNTIL(list.gpu[0].sensors.figure[SENSOR_POWER] == 400);
    stop();
}
END_TEST

START_TEST(no_library)
{
    start_at(&pace, "/no/such.so");
    nvml_wait(nvml, MOST);
    nvml_read(nvml, &list);
    ck_assert_int_eq(list.count, 0);
    ck_assert_str_eq(list.none.text,
                     "no NVIDIA driver is installed, or not all of it: /no/such.so was not found");
    ck_assert(nvml_stop(nvml));
    start_at(&pace, NULL);
    nvml_wait(nvml, MOST);
    nvml_read(nvml, &list);
    ck_assert_int_eq(list.count, 0);
    ck_assert_str_eq(list.none.text, "");
    ck_assert(nvml_stop(nvml));
    ck_assert(nvml_stop(NULL));
}
END_TEST

static void *read_for_a_while(void *context)
{
    struct gpu_list *mine = calloc(1, sizeof *mine);
    (void)context;
    for (int i = 0; mine && i < 300; i++) {
        nvml_read(nvml, mine);
        nvml_version(nvml);
        usleep(500);
    }
    free(mine);
    return NULL;
}

START_TEST(many_readers)
{
    pthread_t readers[4];
    start(16);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_for_a_while, NULL), 0);
    for (int i = 0; i < 10; i++, usleep(10000)) {
        fake->celsius = 60 + i;
        fake->lost = i % 3;
    }
    for (int i = 0; i < 4; i++)
        pthread_join(readers[i], NULL);
    stop();
}
END_TEST

START_TEST(the_environment_names_the_library)
{
    unsetenv("DPARTUI_NVML");
    unsetenv("CUDA_VISIBLE_DEVICES");
    ck_assert_str_eq(nvml_environment().library, NVML_LIBRARY);
    ck_assert_ptr_null(nvml_environment().visible);
    setenv("DPARTUI_NVML", "none", 1);
    setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
    ck_assert_ptr_null(nvml_environment().library);
    ck_assert_str_eq(nvml_environment().visible, "1,0");
    setenv("DPARTUI_NVML", "/lib/x.so", 1);
    ck_assert_str_eq(nvml_environment().library, "/lib/x.so");
}
END_TEST

START_TEST(cuda_visible_devices)
{
    static const struct gpu_name names[] = {
        {.gpu = 0, .gpu_uuid = "GPU-8932f937-d72c"},
        {.gpu = 1, .gpu_uuid = "GPU-8932aaaa-0000"},
        {.gpu = 2, .gpu_uuid = "GPU-44444444", .mig_uuid = "MIG-aa000000"},
        {.gpu = 2, .gpu_uuid = "GPU-44444444", .mig_uuid = "MIG-ab000000"},
        {.gpu = 3, .gpu_uuid = "GPU-55555555", .mig_uuid = "MIG-GPU-55555555/1/0"}};
    static const struct {
        const char *visible, *order;
    } of[] = {{NULL, "01234"},
              {"", ""},
              {"0", "0"},
              {"1,0", "10"},
              {" 1 , 0 ", "10"},
              {"2", "2"},
              {"3,0", "40"},
              {"0,-1,1", "0"},
              {"0,9,1", "0"},
              {"0,,1", "0"},
              {"1x", ""},
              {"NoDevFiles", ""},
              {"0,1,0", ""},
              {"GPU-8932f937-d72c", "0"},
              {"gpu-8932F", "0"},
              {"GPU-8932", ""},
              {"GPU-", ""},
              {"GPU-8932a,0", "10"},
              {"GPU-4", "2"},
              {"MIG-ab,MIG-aa", "32"},
              {"MIG-a", ""},
              {"MIG-GPU-55555555/1/0", "4"},
              {"MIG-GPU-55555555/2/0", ""},
              {"1,GPU-8932a", ""},
              {"99999999999999999999", ""}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int order[5];
        char text[8] = "";
        int count = gpus_visible(of[i].visible, names, 5, order);
        for (int j = 0; j < count; j++)
            snprintf(text + j, sizeof text - (size_t)j, "%d", order[j]);
        ck_assert_msg(strcmp(text, of[i].order) == 0, "'%s' chooses '%s'",
                      of[i].visible ? of[i].visible : "(none)", text);
    }
}
END_TEST

START_TEST(gpus_are_found_by_uuid)
{
    memset(&list, 0, sizeof list);
    list.count = 2;
    strcpy(list.gpu[1].uuid, "GPU-1");
    ck_assert_ptr_eq(gpu_list_find(&list, "GPU-1"), &list.gpu[1]);
    ck_assert_ptr_null(gpu_list_find(&list, "GPU-2"));
    ck_assert_ptr_null(gpu_list_find(&list, ""));
}
END_TEST

Suite *nvml_thread_suite(void)
{
    Suite *suite = suite_create("NVML's thread");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, figures_move);
    tcase_add_test(tests, asked_once_more);
    tcase_add_test(tests, a_driver_that_hangs_and_recovers);
    tcase_add_test(tests, a_driver_that_hangs_from_the_beginning);
    tcase_add_test(tests, an_end_while_the_driver_hangs);
    tcase_add_test(tests, a_driver_that_is_restarted);
    tcase_add_test(tests, nobody_looks);
    tcase_add_test(tests, no_library);
    tcase_add_test(tests, many_readers);
    tcase_add_test(tests, the_environment_names_the_library);
    tcase_add_test(tests, cuda_visible_devices);
    tcase_add_test(tests, gpus_are_found_by_uuid);
    suite_add_tcase(suite, tests);
    return suite;
}
