/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <string.h>

#include "engine/train/pipeline/handover.h"
#include "tests/suites.h"

/* What stages hand over, in threads of their own. */

enum { STAGES = 3, SLOTS = 2, PASSES = 2000 };

static const char *const names[STAGES] = {"cpu:0", "cpu:1", "cpu:2"};
static struct barrier *barrier;
static struct handover *handover;

static void make(double limit_s)
{
    struct error err = ERROR_INIT;
    const struct handover_options options = {
        .stages = STAGES, .names = names, .limit_s = limit_s, .barrier = barrier};
    ck_assert(handover_create(&options, &handover, &err));
    for (int i = 0; i < STAGES - 1; i++)
        ck_assert(handover_open(handover, i, SLOTS, 10 * sizeof(float), NULL, &err));
}

static void setup(void)
{
    struct error err = ERROR_INIT;
    ck_assert(barrier_create(STAGES, names, 60, false, &barrier, &err));
    make(60);
}

static void teardown(void)
{
    handover_destroy(handover);
    barrier_destroy(barrier);
}

/* One after the other: what is read is what was written, plus one for each stage; answered by the
 * number times ten. */
static void *pass_on(void *context)
{
    const int stage = *(const int *)context;
    struct handover_counts counts = {0};
    struct error err = ERROR_INIT;
    for (long i = 0; i < PASSES; i++) {
        ck_assert(handover_take(handover, stage, &counts, NULL, &err));
        const float value =
            stage > 0 ? ((float *)handover_values(handover, stage - 1, i))[9] : (float)i;
        ck_assert(value == (float)(i + stage));
        if (stage < STAGES - 1) {
            ((float *)handover_values(handover, stage, i))[9] = value + 1;
            handover_give(handover, stage);
            /* An answer behind: both slots are used. */
            if (i > 0)
                ck_assert(handover_take_answer(handover, stage, &counts, &err));
            if (i > 0)
                ck_assert(((float *)handover_gradients(handover, stage, i - 1))[0] ==
                          (float)(10 * (i - 1)));
        }
        if (stage > 0)
            ((float *)handover_gradients(handover, stage - 1, i))[0] = (float)(10 * i);
        handover_answer(handover, stage);
    }
    return NULL;
}

START_TEST(every_stage_reads_what_its_neighbour_wrote)
{
    pthread_t threads[STAGES];
    int stage[STAGES];
    for (int i = 0; i < STAGES; i++) {
        stage[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, pass_on, &stage[i]), 0);
    }
    for (int i = 0; i < STAGES; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

START_TEST(values_end)
{
    struct handover_counts counts = {0};
    struct error err = ERROR_INIT;
    bool ended;
    handover_give(handover, 0);
    handover_end(handover);
    ck_assert(handover_take(handover, 1, &counts, &ended, &err) && !ended);
    ck_assert(handover_take(handover, 1, &counts, &ended, &err) && ended);
}
END_TEST

START_TEST(late_stage_is_named)
{
    struct handover_counts counts = {0};
    struct error err = ERROR_INIT, reason = ERROR_INIT;
    int culprit = -1;
    handover_destroy(handover);
    make(0.05);
    ck_assert(!handover_take(handover, 1, &counts, NULL, &err));
    ck_assert_str_eq(err.text, "cpu:1 gave up after 0 s of waiting for cpu:0");
    ck_assert(barrier_abort_reason(barrier, &culprit, &reason));
    ck_assert_int_eq(culprit, 0);
}
END_TEST

static void *abort_soon(void *context)
{
    struct error reason = ERROR_INIT;
    (void)context;
    error_set(&reason, ERROR_FAILED, "cpu:2 broke");
    barrier_abort(barrier, 2, &reason);
    return NULL;
}

START_TEST(nobody_waits_for_an_aborted_run)
{
    struct handover_counts counts = {0};
    struct error err = ERROR_INIT;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, abort_soon, NULL), 0);
    ck_assert(!handover_take_answer(handover, 1, &counts, &err));
    ck_assert_str_eq(err.text, "cpu:2 broke");
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(memory_is_kept_while_it_is_large_enough)
{
    struct error err = ERROR_INIT;
    float *first = handover_values(handover, 0, 0);
    ck_assert_ptr_ne(first, handover_values(handover, 0, 1));
    ck_assert_ptr_ne(first, handover_gradients(handover, 0, 0));
    ck_assert_ptr_eq(first, handover_values(handover, 0, SLOTS));
    ck_assert(handover_open(handover, 0, SLOTS, 20, NULL, &err));
    ck_assert_ptr_eq(first, handover_values(handover, 0, 0));
    ck_assert(handover_open(handover, 0, SLOTS, 4000, NULL, &err));
    ck_assert_uint_ge(handover_bytes(handover, 0), 4 * 1000 * sizeof(float));
    ck_assert_ptr_null(handover_values(handover, STAGES - 1, 0));
    ck_assert_uint_eq(handover_bytes(handover, STAGES - 1), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handover");
    TCase *tc = tcase_create("handover");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_stage_reads_what_its_neighbour_wrote);
    tcase_add_test(tc, values_end);
    tcase_add_test(tc, late_stage_is_named);
    tcase_add_test(tc, nobody_waits_for_an_aborted_run);
    tcase_add_test(tc, memory_is_kept_while_it_is_large_enough);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
