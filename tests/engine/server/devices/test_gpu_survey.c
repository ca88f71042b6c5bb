/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/server/devices/table.h"
#include "tests/engine/server/devices/free_gpus.h"
#include "tests/suites.h"

/* A driver that answers, one that hangs, and what becomes of both's GPUs in the list. */

static struct error err;
static struct engine_log engine_messages;
static struct gpu_survey *survey;
static atomic_bool stalled;
static atomic_int asked, gpus;

static bool enumerate(struct device_info *list, int capacity, int *count, char *why,
                      size_t why_size, struct error *error)
{
    (void)error;
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_fetch_add(&asked, 1);
    while (atomic_load(&stalled))
        nanosleep(&moment, NULL);
    *count = atomic_load(&gpus) < capacity ? atomic_load(&gpus) : capacity;
    snprintf(why, why_size, "%s", *count ? "" : "no driver");
    for (int i = 0; i < *count; i++) {
        list[i] = (struct device_info){.id = {DEVICE_CUDA, i}, .available = true};
        snprintf(list[i].name, sizeof list[i].name, "Made-up");
        snprintf(list[i].uuid, sizeof list[i].uuid, "GPU-%d", i);
    }
    return true;
}

static const struct backend fake = {.kind = DEVICE_CUDA, .enumerate = enumerate};

static void changed(void *context)
{
    (void)context;
}

static void setup(void)
{
    err = (struct error)ERROR_INIT;
    atomic_store(&stalled, false);
    atomic_store(&asked, 0);
    atomic_store(&gpus, 2);
    engine_log_begin(&engine_messages, -1, changed, NULL);
    ck_assert(gpu_survey_start(&survey, &fake, "", &engine_messages, &err));
}

static void teardown(void)
{
    atomic_store(&stalled, false);
    ck_assert(gpu_survey_stop(survey));
    engine_log_end(&engine_messages);
}

START_TEST(asks_when_somebody_looks)
{
    struct gpu_findings findings;
    ck_assert_int_eq(atomic_load(&asked), 0);
    gpu_survey_read(survey, &findings);
    ck_assert(gpu_survey_wait(survey, 30));
    gpu_survey_read(survey, &findings);
    ck_assert(findings.answered);
    ck_assert_int_eq(findings.count, 2);
    ck_assert_str_eq(findings.info[1].uuid, "GPU-1");
    ck_assert_uint_eq(gpu_survey_version(survey), 1);
    ck_assert_uint_eq(engine_log_next(&engine_messages), 2);
    ck_assert_int_eq(atomic_load(&asked), 1);
}
END_TEST

START_TEST(asks_again_when_told)
{
    struct gpu_findings findings;
    gpu_survey_ask(survey);
    ck_assert(gpu_survey_wait(survey, 30));
    atomic_store(&gpus, 0);
    gpu_survey_ask(survey);
    ck_assert(gpu_survey_wait(survey, 30));
    gpu_survey_read(survey, &findings);
    ck_assert_int_eq(findings.count, 0);
    ck_assert_str_eq(findings.why, "no driver");
    ck_assert_uint_eq(gpu_survey_version(survey), 2);
    /* The same answer is no news. */
    gpu_survey_ask(survey);
    ck_assert(gpu_survey_wait(survey, 30));
    ck_assert_uint_eq(gpu_survey_version(survey), 2);
    ck_assert_uint_eq(engine_log_next(&engine_messages), 3);
}
END_TEST

START_TEST(nobody_waits_for_a_driver_that_hangs)
{
    struct gpu_findings findings;
    atomic_store(&stalled, true);
    gpu_survey_read(survey, &findings);
    gpu_survey_ask(survey);
    ck_assert(!gpu_survey_wait(survey, 0.05));
    gpu_survey_read(survey, &findings);
    ck_assert(!findings.answered);
    ck_assert_str_eq(findings.why, "the NVIDIA driver has not answered yet");
    ck_assert(!gpu_survey_stop(survey));
    /* The thread that is inside the driver gives the survey back when it ever comes out. */
    atomic_store(&stalled, false);
    setup();
}
END_TEST

START_TEST(builds_without_a_backend)
{
    struct gpu_survey *none;
    struct gpu_findings findings;
    ck_assert(gpu_survey_start(&none, NULL, "no backend", &engine_messages, &err));
    gpu_survey_ask(none);
    ck_assert(gpu_survey_wait(none, 0));
    gpu_survey_read(none, &findings);
    ck_assert(findings.answered);
    ck_assert_str_eq(findings.why, "no backend");
    ck_assert(gpu_survey_stop(none));
    ck_assert(gpu_survey_stop(NULL));
}
END_TEST

/* What the driver's telemetry knows, and what the backend does. */
static struct gpu_list told(int count, const char *broken)
{
    struct gpu_list list = {.count = count};
    for (int i = 0; i < count; i++) {
        snprintf(list.gpu[i].uuid, sizeof list.gpu[i].uuid, "GPU-%d", i);
        snprintf(list.gpu[i].name, sizeof list.gpu[i].name, "Told");
        list.gpu[i].working = !*broken;
        snprintf(list.gpu[i].broken.text, sizeof list.gpu[i].broken.text, "%s", broken);
    }
    return list;
}

START_TEST(gpus_come_before_cpus)
{
    struct device_table table = {.count = 1, .info = {{.id = {DEVICE_CPU, 0}}}};
    struct gpu_findings findings = {.answered = true};
    struct gpu_list list = told(2, "lost");
    char why[100];
    ck_assert(enumerate(findings.info, SPEC_MAX_DEVICES, &findings.count, why, sizeof why, &err));
    list.gpu[0].working = true;
    device_table_add_gpus(&table, &findings, &list);
    ck_assert_int_eq(table.count, 3);
    ck_assert_str_eq(table.info[0].name, "Made-up");
    ck_assert(table.info[0].available);
    ck_assert(!table.info[1].available);
    ck_assert_str_eq(table.info[1].reason, "lost");
    ck_assert_int_eq(table.info[2].id.kind, DEVICE_CPU);
}
END_TEST

START_TEST(gpus_that_only_the_driver_knows)
{
    struct device_table table = {.count = 1, .info = {{.id = {DEVICE_CPU, 0}}}};
    struct gpu_findings findings = {.answered = true, .why = "too old"};
    struct gpu_list list = told(2, "");
    device_table_add_gpus(&table, &findings, &list);
    ck_assert_int_eq(table.count, 3);
    ck_assert_str_eq(table.info[1].name, "Told");
    ck_assert(!table.info[1].available);
    ck_assert_str_eq(table.info[1].reason, "too old");
    json_t *none = no_gpus_json(&findings, &list);
    ck_assert(json_is_null(none));
    json_decref(none);
    list = told(0, "");
    none = no_gpus_json(&findings, &list);
    ck_assert_str_eq(json_string_value(none), "too old");
    json_decref(none);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_survey");
    TCase *tc = tcase_create("survey");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, asks_when_somebody_looks);
    tcase_add_test(tc, asks_again_when_told);
    tcase_add_test(tc, nobody_waits_for_a_driver_that_hangs);
    tcase_add_test(tc, builds_without_a_backend);
    tcase_add_test(tc, gpus_come_before_cpus);
    tcase_add_test(tc, gpus_that_only_the_driver_knows);
    suite_add_tcase(suite, tc);
    return run_suites(suite, free_gpus_suite(), NULL);
}
