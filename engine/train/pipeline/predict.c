/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/predict.h"

#include <math.h>
#include <stdlib.h>

#include "engine/train/pipeline/schedule.h"

struct simulation {
    const double *task_s[2]; /* forward, backward; per stage */
    const double *finish_s;  /* likewise; NULL: nothing */
    int stages, micro_batches;
    struct pipeline_task *tasks; /* [stage][place] */
    double *ends[2];             /* [stage][micro-batch]; negative: not done */
    int next[SPEC_MAX_DEVICES];
    double clock[SPEC_MAX_DEVICES];
};

static double *end_of(const struct simulation *s, int backward, int stage, int micro_batch)
{
    return &s->ends[backward][(size_t)stage * (size_t)s->micro_batches + (size_t)micro_batch];
}

/* When what a task reads is there; negative: not yet. */
static double ready_at(const struct simulation *s, int stage, const struct pipeline_task *task)
{
    const int from = task->backward ? stage + 1 : stage - 1;
    return from < 0 || from == s->stages ? 0 : *end_of(s, task->backward, from, task->micro_batch);
}

/* Run the stage's next task if it can; false: it waits, or has done all. */
static bool run_task(struct simulation *s, int stage)
{
    const int tasks = 2 * s->micro_batches;
    if (s->next[stage] == tasks)
        return false;
    const struct pipeline_task *task = &s->tasks[stage * tasks + s->next[stage]];
    const double ready = ready_at(s, stage, task);
    if (ready < 0)
        return false;
    s->clock[stage] = fmax(s->clock[stage], ready) + s->task_s[task->backward][stage];
    *end_of(s, task->backward, stage, task->micro_batch) = s->clock[stage];
    if (s->finish_s && task->backward && pipeline_window_ends(s->micro_batches, task->micro_batch))
        s->clock[stage] += s->finish_s[stage] / pipeline_windows(s->micro_batches);
    s->next[stage]++;
    return true;
}

static void play(struct simulation *s)
{
    bool moved = true;
    for (int i = 0; i < s->stages; i++)
        pipeline_schedule(i, s->stages, s->micro_batches, &s->tasks[2 * i * s->micro_batches]);
    for (int i = 0; i < s->stages * s->micro_batches; i++)
        s->ends[0][i] = s->ends[1][i] = -1;
    while (moved) {
        moved = false;
        for (int i = 0; i < s->stages; i++)
            while (run_task(s, i))
                moved = true;
    }
}

static void sum_up(const struct simulation *s, struct pipeline_prediction *out)
{
    double busy[SPEC_MAX_DEVICES], most = 0;
    *out = (struct pipeline_prediction){.step_s = 0};
    for (int i = 0; i < s->stages; i++) {
        const double finish_s = s->finish_s ? s->finish_s[i] : 0;
        busy[i] = s->micro_batches * (s->task_s[0][i] + s->task_s[1][i]) + finish_s;
        most = fmax(most, busy[i]);
        out->step_s = fmax(out->step_s, s->clock[i]);
    }
    if (!(out->step_s > 0))
        return;
    out->fill_drain = 1 - most / out->step_s;
    for (int i = 0; i < s->stages; i++) {
        out->imbalance[i] = (most - busy[i]) / out->step_s;
        out->bubble += (out->fill_drain + out->imbalance[i]) / s->stages;
    }
}

bool pipeline_predict(const double *forward_s, const double *backward_s, const double *finish_s,
                      int stages, int micro_batches, struct pipeline_prediction *out,
                      struct error *err)
{
    const size_t passes = (size_t)stages * (size_t)micro_batches;
    struct simulation s = {
        .task_s = {forward_s, backward_s},
        .finish_s = finish_s,
        .stages = stages,
        .micro_batches = micro_batches,
        .tasks = calloc(2 * passes, sizeof *s.tasks),
        .ends = {calloc(passes, sizeof(double)), calloc(passes, sizeof(double))}};
    const bool ok = s.tasks && s.ends[0] && s.ends[1];
    if (ok) {
        play(&s);
        sum_up(&s, out);
    } else {
        error_memory(err, "predicting a pipeline's step");
    }
    free(s.tasks);
    free(s.ends[0]);
    free(s.ends[1]);
    return ok;
}
