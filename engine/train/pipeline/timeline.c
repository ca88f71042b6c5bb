/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/timeline.h"

#include <math.h>

#include "base/json.h"
#include "engine/train/pipeline/predict.h"

/* More passes than a picture could show are summed up only. */
enum { MOST_PASSES = 4096 };

/* Micro-batches with this share of the rows of others tell what does not depend on rows. */
static const double LESS_ROWS = 0.8;

static json_int_t microseconds(double seconds)
{
    return (json_int_t)llround(1e6 * seconds);
}

static bool add_span(json_t *list, double begin, const struct pipeline_span *span)
{
    return json_array_append_new(list, json_integer(microseconds(span->begin - begin))) == 0 &&
           json_array_append_new(list, json_integer(microseconds(span->end - begin))) == 0;
}

/* The passes of one direction: begins and ends in turn. */
static json_t *passes_json(const struct pipeline *pipeline, int index, bool backward)
{
    const struct pipeline_stage *stage = &pipeline->stage[index];
    const int count = 2 * pipeline->split[0][PASS_FULL].count;
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++)
        if (stage->tasks[PASS_FULL][i].backward == backward &&
            !add_span(list, pipeline->begin, &stage->spans[i])) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* What is done once for several micro-batches: gradients, and the update. */
static json_t *update_json(const struct pipeline *pipeline, int index)
{
    const struct pipeline_stage *stage = &pipeline->stage[index];
    const int windows = pipeline_windows(pipeline->split[0][PASS_FULL].count);
    json_t *list = json_array();
    bool ok = list;
    for (int i = 0; ok && i < windows; i++)
        ok = stage->finish[i].end <= 0 || add_span(list, pipeline->begin, &stage->finish[i]);
    if (ok && add_span(list, pipeline->begin, &stage->update))
        return list;
    json_decref(list);
    return NULL;
}

/* What the passes of a direction take, on the mean. */
static double mean_seconds(const struct pipeline *pipeline, int index, bool backward)
{
    const struct pipeline_stage *stage = &pipeline->stage[index];
    const int count = pipeline->split[0][PASS_FULL].count;
    double sum = 0;
    for (int i = 0; i < 2 * count; i++)
        if (stage->tasks[PASS_FULL][i].backward == backward)
            sum += stage->spans[i].end - stage->spans[i].begin;
    return sum / count;
}

static double finish_seconds(const struct pipeline_stage *stage, int windows)
{
    double sum = 0;
    for (int i = 0; i < windows; i++)
        sum += stage->finish[i].end - stage->finish[i].begin;
    return sum;
}

/* What of a micro-batch's passes does not depend on its rows, from those of full and of short
 * mini-batches; null where those have about as many rows, or there has been none. */
static json_t *fixed_json(const struct pipeline *pipeline, int index, double full_s)
{
    const struct pipeline_stage *stage = &pipeline->stage[index];
    const double rows = (double)pipeline->ranks->rank[index].train[PASS_FULL].rows /
                        pipeline->split[0][PASS_FULL].count;
    if (stage->short_s <= 0 || stage->short_rows > LESS_ROWS * rows)
        return json_null();
    const double fixed =
        (stage->short_s * rows - full_s * stage->short_rows) / (rows - stage->short_rows);
    return json_real(fmin(fmax(fixed, 0), full_s));
}

static json_t *stage_json(const struct pipeline *pipeline, int index)
{
    const struct ranks *ranks = pipeline->ranks;
    const struct rank *rank = &ranks->rank[index];
    const double forward_s = mean_seconds(pipeline, index, false);
    const double backward_s = mean_seconds(pipeline, index, true);
    const bool shown = 2 * pipeline->stages * pipeline->split[0][PASS_FULL].count <= MOST_PASSES;
    char name[NET_STAGE_NAME];
    return json_pack("{s:s, s:o, s:f, s:f, s:o, s:o, s:o, s:o}", "device", rank->name, "last_layer",
                     json_any_text(net_stage_name(ranks->work->net, &rank->stage, name)),
                     "forward_s", forward_s, "backward_s", backward_s, "fixed_s",
                     fixed_json(pipeline, index, forward_s + backward_s), "update",
                     update_json(pipeline, index), "forward",
                     shown ? passes_json(pipeline, index, false) : json_array(), "backward",
                     shown ? passes_json(pipeline, index, true) : json_array());
}

static json_t *stages_json(const struct pipeline *pipeline)
{
    json_t *list = json_array();
    for (int i = 0; list && i < pipeline->stages; i++)
        if (json_array_append_new(list, stage_json(pipeline, i)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *timeline_json(const struct pipeline *pipeline, struct error *err)
{
    double forward[SPEC_MAX_DEVICES], backward[SPEC_MAX_DEVICES], finish[SPEC_MAX_DEVICES], end = 0;
    struct pipeline_prediction expected;
    const int stages = pipeline->stages, count = pipeline->split[0][PASS_FULL].count;
    if (pipeline->step == 0)
        return NULL;
    for (int i = 0; i < stages; i++) {
        forward[i] = mean_seconds(pipeline, i, false);
        backward[i] = mean_seconds(pipeline, i, true);
        finish[i] = finish_seconds(&pipeline->stage[i], pipeline_windows(count));
        end = fmax(end, pipeline->stage[i].update.end);
    }
    if (!pipeline_predict(forward, backward, finish, stages, count, &expected, err))
        return NULL;
    json_t *event = json_pack("{s:s, s:I, s:f, s:i, s:i, s:I, s:f, s:f, s:o}", "event", "timeline",
                              "step", (json_int_t)pipeline->step, "seconds", end - pipeline->begin,
                              "pipelines", pipeline->count, "micro_batches", count, "rows",
                              (json_int_t)pipeline->ranks->rank[0].train[PASS_FULL].rows,
                              "predicted_s", expected.step_s, "predicted_bubble", expected.bubble,
                              "stages", stages_json(pipeline));
    if (!event)
        error_memory(err, "event");
    return event;
}
