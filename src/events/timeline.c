/* SPDX-License-Identifier: MIT */
#include "events/timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"

static const char *const names[] = {
    [TIMELINE_FORWARD] = "forward", [TIMELINE_BACKWARD] = "backward", [TIMELINE_UPDATE] = "update"};

bool timeline_pass(const struct timeline *timeline, size_t stage, enum timeline_task task,
                   size_t index, double *from, double *to)
{
    const json_t *list = json_object_get(json_array_get(timeline->list, stage), names[task]);
    if (2 * index + 1 >= json_array_size(list))
        return false;
    *from = json_number_value(json_array_get(list, 2 * index)) / 1e6;
    *to = json_number_value(json_array_get(list, 2 * index + 1)) / 1e6;
    return true;
}

/* Share of the step in which the stage computes. */
static double busy_of(const struct timeline *timeline, size_t stage)
{
    const json_t *object = json_array_get(timeline->list, stage);
    const double passes = timeline->micro_batches * (member_positive(object, "forward_s") +
                                                     member_positive(object, "backward_s"));
    double from, to, busy = passes;
    for (size_t i = 0; timeline_pass(timeline, stage, TIMELINE_UPDATE, i, &from, &to); i++)
        busy += fmax(0, to - from);
    return timeline->seconds > 0 ? fmin(1, busy / timeline->seconds) : 0;
}

/* The end of the last pass that has ended by `from`, 0 if none has since the first *index of them,
 * which grows by those that have. */
static double last_before(const struct timeline *timeline, size_t stage, enum timeline_task task,
                          double from, size_t *index)
{
    double begin, end, last = 0;
    while (timeline_pass(timeline, stage, task, *index, &begin, &end) && end <= from) {
        last = end;
        ++*index;
    }
    return last;
}

/*
 * Share of the step in which the stage has nothing else to do and what its next pass reads has been
 * made: what it takes to hand that over. Passes of one direction are in their order.
 */
static double transfer_of(const struct timeline *timeline, size_t stage, enum timeline_task task)
{
    const bool forward = task == TIMELINE_FORWARD;
    const enum timeline_task other = forward ? TIMELINE_BACKWARD : TIMELINE_FORWARD;
    const size_t neighbour = forward ? stage - 1 : stage + 1;
    double from, to, begin, made, end = 0, sum = 0;
    size_t others = 0, updates = 0; /* that have ended */
    if (neighbour >= timeline->stages)
        return 0;
    for (size_t i = 0; timeline_pass(timeline, stage, task, i, &from, &to); i++) {
        end = fmax(end, last_before(timeline, stage, other, from, &others));
        end = fmax(end, last_before(timeline, stage, TIMELINE_UPDATE, from, &updates));
        if (timeline_pass(timeline, neighbour, task, i, &begin, &made))
            sum += fmax(0, from - fmax(made, end));
        end = fmax(end, to);
    }
    return timeline->seconds > 0 ? fmin(1, sum / timeline->seconds) : 0;
}

static double transfers_of(const struct timeline *timeline, size_t stage)
{
    return transfer_of(timeline, stage, TIMELINE_FORWARD) +
           transfer_of(timeline, stage, TIMELINE_BACKWARD);
}

static double small_of(const struct timeline *timeline, size_t stage)
{
    const double fixed = member_positive(json_array_get(timeline->list, stage), "fixed_s");
    return timeline->seconds > 0
               ? fmin(1, fmax(0, timeline->micro_batches - 1) * fixed / timeline->seconds)
               : 0;
}

struct timeline timeline_read(const json_t *event)
{
    struct timeline timeline = {
        .step = member_positive(event, "step"),
        .seconds = member_positive(event, "seconds"),
        .micro_batches = member_positive(event, "micro_batches"),
        .pipelines = member_positive(event, "pipelines"),
        .predicted_bubble = member_positive(event, "predicted_bubble"),
        .list = json_object_get(event, "stages"),
    };
    double most = 0, from, to;
    timeline.stages = json_array_size(timeline.list);
    timeline.drawn = timeline_pass(&timeline, 0, TIMELINE_FORWARD, 0, &from, &to);
    for (size_t i = 0; i < timeline.stages; i++) {
        const double busy = busy_of(&timeline, i), transfer = transfers_of(&timeline, i);
        timeline.bubble += (1 - busy) / (double)timeline.stages;
        timeline.transfer += transfer / (double)timeline.stages;
        timeline.small += small_of(&timeline, i) / (double)timeline.stages;
        most = fmax(most, busy + transfer);
    }
    timeline.fill_drain = timeline.drawn ? fmax(0, 1 - most) : 0;
    return timeline;
}

struct timeline_stage timeline_stage(const struct timeline *timeline, size_t index)
{
    const json_t *object = json_array_get(timeline->list, index);
    return (struct timeline_stage){
        .device = member_string(object, "device"),
        .last_layer = member_string(object, "last_layer"),
        .busy = busy_of(timeline, index),
    };
}

enum timeline_task timeline_at(const struct timeline *timeline, size_t stage, double from,
                               double to, size_t *micro_batch)
{
    enum timeline_task found = TIMELINE_WAIT;
    double begin, end, most = 0, busy = 0;
    bool middle = false;
    *micro_batch = 0;
    for (enum timeline_task task = TIMELINE_FORWARD; task <= TIMELINE_UPDATE; task++)
        for (size_t i = 0; timeline_pass(timeline, stage, task, i, &begin, &end); i++) {
            const double common = fmax(0, fmin(end, to) - fmax(begin, from));
            busy += common;
            middle = middle || (begin + end >= 2 * from && begin + end < 2 * to);
            if (common <= most)
                continue;
            most = common;
            found = task;
            *micro_batch = i;
        }
    return middle || busy >= (to - from) / 2 ? found : TIMELINE_WAIT;
}

void timeline_row(const struct timeline *timeline, size_t stage, int columns, char *text,
                  enum timeline_task *tasks)
{
    for (int i = 0; i < columns; i++) {
        size_t micro_batch;
        const enum timeline_task task =
            timeline_at(timeline, stage, timeline->seconds * i / columns,
                        timeline->seconds * (i + 1) / columns, &micro_batch);
        text[i] = task == TIMELINE_FORWARD    ? (char)('0' + micro_batch % 10)
                  : task == TIMELINE_BACKWARD ? (char)('a' + micro_batch % 10)
                  : task == TIMELINE_UPDATE   ? '+'
                                              : '.';
        if (tasks)
            tasks[i] = task;
    }
    if (!timeline->drawn)
        memset(text, ' ', (size_t)columns);
    text[columns] = '\0';
}

void timeline_summary(const struct timeline *timeline, char *buffer, size_t size)
{
    struct figure seconds, bubble, predicted, fill, rest, transfer, cost;
    char first[48] = "", small[48] = "", parts[96] = "too many passes to draw";
    if (timeline->small > 0)
        snprintf(small, sizeof small, "; small micro-batches cost %s",
                 figure_percent(&cost, timeline->small));
    if (timeline->pipelines > 1)
        snprintf(first, sizeof first, " of the first of %.0f pipelines", timeline->pipelines);
    if (timeline->drawn)
        snprintf(parts, sizeof parts, "%s fill and drain, %s imbalance, %s transfer",
                 figure_percent(&fill, timeline->fill_drain),
                 figure_percent(
                     &rest, fmax(0, timeline->bubble - timeline->fill_drain - timeline->transfer)),
                 figure_percent(&transfer, timeline->transfer));
    snprintf(buffer, size, "step %.0f%s: %s s, %s bubble (predicted %s): %s%s", timeline->step,
             first, figure_seconds(&seconds, timeline->seconds),
             figure_percent(&bubble, timeline->bubble),
             figure_percent(&predicted, timeline->predicted_bubble), parts, small);
}
