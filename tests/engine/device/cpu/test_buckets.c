/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"

/*
 * Gradients that are said to be ready in the middle of a pass are what they are at its end, bit by
 * bit: others sum them meanwhile. For every network, by every way to compute it.
 */

enum { MOST_BUCKETS = 64 };

struct listener {
    const struct rig *rig;
    int count, told;
    size_t ends[MOST_BUCKETS];
    float *grads; /* each bucket as it was when it was said to be ready */
    bool early;   /* others had still to come then */
};

/* What no pass leaves: whoever writes nothing is found out. */
static const float SPOILT = 1e30F;

static bool hear(void *context, int bucket, struct error *err)
{
    struct listener *l = context;
    const size_t begin = bucket == 0 ? 0 : l->ends[bucket - 1];
    (void)err;
    ck_assert_int_eq(bucket, l->told++);
    l->early = l->early || l->rig->replica->grads[l->ends[l->count - 1] - 1] == SPOILT;
    memcpy(l->grads + begin, l->rig->replica->grads + begin,
           (l->ends[bucket] - begin) * sizeof *l->grads);
    return true;
}

/* As many as there may be, each of whole cache lines. */
static void divide(struct listener *l, size_t count)
{
    const size_t lines = (count + 15) / 16;
    l->count = 0;
    for (size_t i = 1; i <= MOST_BUCKETS; i++) {
        const size_t end = i == MOST_BUCKETS ? count : 16 * (lines * i / MOST_BUCKETS);
        if (end > 0 && end <= count && (l->count == 0 || end > l->ends[l->count - 1]))
            l->ends[l->count++] = end;
    }
}

static void spoil(const struct rig *rig, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rig->replica->grads[i] = SPOILT;
}

static bool check_rows(struct rig *rig, const struct trial *trial, int rows)
{
    const size_t count = rig->replica->count;
    struct listener listener = {.rig = rig};
    divide(&listener, count);
    listener.grads = calloc(count + 1, sizeof *listener.grads);
    ck_assert_ptr_nonnull(listener.grads);
    const struct plan_request request = {
        .mode = PLAN_TRAIN,
        .rows = rows,
        .buckets = {
            .count = listener.count, .ends = listener.ends, .ready = hear, .context = &listener}};
    struct plan *plan = rig_plan(rig, &request);
    for (int pass = 0; pass < 2; pass++) {
        struct outcome out;
        listener.told = 0;
        spoil(rig, count);
        rig_run(rig, plan, trial, 0, rows, &out);
        ck_assert_int_eq(listener.told, listener.count);
        for (int i = 0; i < listener.count; i++) {
            const size_t begin = i == 0 ? 0 : listener.ends[i - 1];
            ck_assert_msg(memcmp(listener.grads + begin, rig->replica->grads + begin,
                                 (listener.ends[i] - begin) * sizeof(float)) == 0,
                          "%s, %d rows: bucket %d of %d was not final", trial->net->name, rows, i,
                          listener.count);
        }
        outcome_free(&out);
    }
    rig->backend->plan_destroy(rig->device, plan);
    free(listener.grads);
    return listener.early;
}

/* All rows, half of them, none. Was any bucket ready before the end? */
static bool check(const struct trial *trial)
{
    bool early = false;
    const struct trial_device ways[] = {trial_cpu(2), trial_cpu_by_layers(2),
                                        trial_cpu_by_own_kernels(2)};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct rig rig;
        rig_open(&rig, trial, &ways[i]);
        early = check_rows(&rig, trial, trial->rows) || early;
        check_rows(&rig, trial, trial->rows / 2);
        check_rows(&rig, trial, 0);
        rig_close(&rig);
    }
    return early;
}

START_TEST(buckets_of_every_operation_are_final)
{
    struct trial trial;
    conformance_net_make(&trial, _i, 17);
    check(&trial);
    trial_free(&trial);
}
END_TEST

START_TEST(buckets_of_shipped_models_are_final)
{
    struct trial trial;
    conformance_model_make(&trial, _i);
    ck_assert(check(&trial) || trial.net->param_count <= 2);
    trial_free(&trial);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("buckets");
    TCase *tc = tcase_create("buckets");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, buckets_of_every_operation_are_final, 0, conformance_nets);
    tcase_add_loop_test(tc, buckets_of_shipped_models_are_final, 0, conformance_models);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
