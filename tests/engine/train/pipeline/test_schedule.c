/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "engine/train/pipeline/predict.h"
#include "engine/train/pipeline/schedule.h"
#include "tests/suites.h"

/* The order of work in pipelines, and what it makes of a step. */

enum { MOST_STAGES = 6, MOST_MICRO_BATCHES = 14 };

/* Each stage does each pass of each micro-batch once, forward before backward, and holds values of
 * no more micro-batches than it should. */
START_TEST(each_pass_comes_once)
{
    const int stages = _i;
    for (int m = 1; m <= MOST_MICRO_BATCHES; m++)
        for (int s = 0; s < stages; s++) {
            struct pipeline_task tasks[2 * MOST_MICRO_BATCHES];
            int next[2] = {0, 0}, held = 0, most = 0;
            ck_assert_int_eq(pipeline_schedule(s, stages, m, tasks), 2 * m);
            for (int i = 0; i < 2 * m; i++) {
                ck_assert_int_eq(tasks[i].micro_batch, next[tasks[i].backward]++);
                held += tasks[i].backward ? -1 : 1;
                ck_assert_int_ge(held, 0);
                most = held > most ? held : most;
            }
            ck_assert_int_eq(most, pipeline_depth(s, stages, m));
            const int depth = s < stages - 1 ? stages - s + 1 : 1;
            ck_assert_int_eq(most, m < depth ? m : depth);
        }
}
END_TEST

START_TEST(one_forward_then_one_backward)
{
    struct pipeline_task tasks[8];
    static const struct pipeline_task expected[] = {{false, 0}, {false, 1}, {false, 2}, {true, 0},
                                                    {false, 3}, {true, 1},  {true, 2},  {true, 3}};
    ck_assert_int_eq(pipeline_schedule(1, 3, 4, tasks), 8);
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(tasks[i].backward, expected[i].backward);
        ck_assert_int_eq(tasks[i].micro_batch, expected[i].micro_batch);
    }
}
END_TEST

/* Windows are small and none is larger than a plan has room for. */
START_TEST(windows_hold_all_micro_batches)
{
    static const enum split_rule rules[] = {SPLIT_CHUNK, SPLIT_BALANCED};
    for (int m = 1; m <= 3 * MOST_MICRO_BATCHES; m++)
        for (int rows = m; rows < 3 * m; rows++) {
            struct error err = ERROR_INIT;
            struct micro_split split;
            long window = 0, sum = 0, most = 0;
            int windows = 0;
            ck_assert(micro_split(rules[rows % 2], rows, m, &split, &err));
            for (int i = 0; i < split.count; i++) {
                window += micro_rows(&split, i);
                if (!pipeline_window_ends(split.count, i))
                    continue;
                windows++;
                sum += window;
                most = window > most ? window : most;
                window = 0;
            }
            ck_assert_int_eq(sum, rows);
            ck_assert_int_eq(windows, pipeline_windows(split.count));
            ck_assert_int_le(pipeline_window(m), 4);
            ck_assert_int_eq(most, pipeline_window_rows(&split));
        }
}
END_TEST

static void predict(const double *forward_s, const double *backward_s, const double *finish_s,
                    int stages, int m, struct pipeline_prediction *out)
{
    struct error err = ERROR_INIT;
    ck_assert_msg(pipeline_predict(forward_s, backward_s, finish_s, stages, m, out, &err), "%s",
                  err.text);
}

/* Of two stages, whose second is the slower; all in seconds. */
static void check(const struct pipeline_prediction *p, double step_s, double fill_drain,
                  double first_waits, double bubble)
{
    ck_assert_double_eq_tol(p->step_s, step_s, 1e-9);
    ck_assert_double_eq_tol(p->fill_drain, fill_drain / step_s, 1e-9);
    ck_assert_double_eq_tol(p->imbalance[0], first_waits / step_s, 1e-9);
    ck_assert_double_eq_tol(p->imbalance[1], 0, 1e-9);
    ck_assert_double_eq_tol(p->bubble, bubble / step_s, 1e-9);
}

START_TEST(equal_stages_lose_what_gpipe_says)
{
    const int stages = _i;
    double forward[MOST_STAGES], backward[MOST_STAGES];
    for (int s = 0; s < stages; s++) {
        forward[s] = 0.3;
        backward[s] = 0.7;
    }
    for (int m = 1; m <= MOST_MICRO_BATCHES; m++) {
        struct pipeline_prediction p;
        const double share = (double)(stages - 1) / (m + stages - 1);
        predict(forward, backward, NULL, stages, m, &p);
        ck_assert_double_eq_tol(p.step_s, m + stages - 1, 1e-9);
        ck_assert_double_eq_tol(p.bubble, share, 1e-9);
        ck_assert_double_eq_tol(p.fill_drain, share, 1e-9);
        for (int s = 0; s < stages; s++)
            ck_assert_double_eq_tol(p.imbalance[s], 0, 1e-9);
    }
}
END_TEST

/* Worked out by hand, forward and backward passes of 1 and 2, then 2 and 4:
 *   stage 0   0 1 . . . . . 0 0 . . . . 1 1         F 0-1, 1-2, B 7-9, 13-15
 *   stage 1   . 0 0 0 0 0 0 1 1 1 1 1 1             F 1-3, B 3-7, F 7-9, B 9-13 */
START_TEST(unequal_stages_wait_for_the_slowest)
{
    struct pipeline_prediction p;
    predict((const double[]){1, 2}, (const double[]){2, 4}, NULL, 2, 2, &p);
    check(&p, 15, 3, 6, 6);
}
END_TEST

/* The same, and then 3 and 1 for what the passes leave: the first stage ends at 18, the second,
 * which waits for less, at 14. */
START_TEST(what_is_left_comes_after_the_passes)
{
    struct pipeline_prediction p;
    predict((const double[]){1, 2}, (const double[]){2, 4}, (const double[]){3, 1}, 2, 2, &p);
    check(&p, 18, 5, 4, 7);
}
END_TEST

/* Half of what is left comes after the second of four micro-batches, *:
 *   stage 0   0 1 2 0 0 3 1 1 . . 2 2 3 3           F 0-3, B 3-5, F 5-6, B 6-8, 10-14
 *   stage 1   . 0 0 1 1 * * * 2 2 3 3 * * *         F and B 1-5, * 5-8, F and B 8-12, * 12-15 */
START_TEST(what_is_left_comes_after_each_window)
{
    struct pipeline_prediction p;
    predict((const double[]){1, 1}, (const double[]){2, 1}, (const double[]){0, 6}, 2, 4, &p);
    check(&p, 15, 1, 2, 2);
}
END_TEST

/* Bounds that hold for all schedules: no step is shorter than the slowest stage's work with the
 * first pass through the stages before it and back, nor longer than if one stage worked at once. */
START_TEST(steps_lie_between_bounds)
{
    unsigned short state[3] = {1, 2, 3};
    for (int round = 0; round < 500; round++) {
        const int stages = 1 + (int)(erand48(state) * MOST_STAGES);
        const int m = 1 + (int)(erand48(state) * MOST_MICRO_BATCHES);
        double forward[MOST_STAGES], backward[MOST_STAGES], least = 0, all = 0, before = 0;
        struct pipeline_prediction p;
        for (int s = 0; s < stages; s++) {
            forward[s] = erand48(state);
            backward[s] = erand48(state);
            const double passes = forward[s] + backward[s];
            least = fmax(least, before + m * passes);
            before += passes;
            all += m * passes;
        }
        predict(forward, backward, NULL, stages, m, &p);
        ck_assert_double_ge(p.step_s, least - 1e-9);
        ck_assert_double_le(p.step_s, all + 1e-9);
        double busy = 0;
        for (int s = 0; s < stages; s++)
            busy += m * (forward[s] + backward[s]) / p.step_s / stages;
        ck_assert_double_eq_tol(busy + p.bubble, 1, 1e-9);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedules of pipelines");
    TCase *tc = tcase_create("schedule");
    tcase_add_loop_test(tc, each_pass_comes_once, 1, MOST_STAGES + 1);
    tcase_add_test(tc, one_forward_then_one_backward);
    tcase_add_loop_test(tc, equal_stages_lose_what_gpipe_says, 1, MOST_STAGES + 1);
    tcase_add_test(tc, unequal_stages_wait_for_the_slowest);
    tcase_add_test(tc, what_is_left_comes_after_the_passes);
    tcase_add_test(tc, what_is_left_comes_after_each_window);
    tcase_add_test(tc, windows_hold_all_micro_batches);
    tcase_add_test(tc, steps_lie_between_bounds);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
