/* SPDX-License-Identifier: MIT */
#include "engine/train/run/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "engine/train/profile/json.h"
#include "engine/train/resolve/inspect.h"
#include "engine/train/run/state.h"
#include "engine/train/step/outcome.h"
#include "engine/weights/normalization.h"
#include "spec/json.h"
#include "spec/names.h"

/*
 * The events. json_pack gives NULL when memory runs out (or a part is NULL), which is checked
 * once per event.
 */

/* To the sink and the log. */
static void hand_out(struct report *report, json_t *event)
{
    event_log_put(&report->log, event);
    if (report->sink->event)
        report->sink->event(report->sink->context, event);
}

static json_t *warning_of(const char *text)
{
    return json_pack("{s:s, s:o}", "event", "warning", "text", json_any_text(text));
}

/* Training matters more than what TensorBoard shows of it: a failure is only reported. */
static bool show_on_board(struct report *report, const json_t *event, struct error *err)
{
    struct error failure = ERROR_INIT;
    if (!report->board || board_take(report->board, event, clock_date(), &failure))
        return true;
    json_t *warning = warning_of(failure.text);
    if (!warning)
        return error_memory(err, "event");
    hand_out(report, warning);
    json_decref(warning);
    return true;
}

bool report_emit(struct report *report, json_t *event, struct error *err)
{
    if (!event)
        return error_memory(err, "event");
    bool ok = show_on_board(report, event, err);
    hand_out(report, event);
    json_decref(event);
    return ok;
}

/* What something is on device i; `context` is the list's. NULL: no memory. */
typedef json_t *list_item(const struct run *run, int i, const void *context);

/* An array of `count` items, of the first devices. NULL: no memory. */
static json_t *list_of(const struct run *run, int count, list_item *item, const void *context)
{
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++)
        if (json_array_append_new(list, item(run, i, context)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *name_of(const struct run *run, int i, const void *unused)
{
    (void)unused;
    return json_string(run->ranks.names[i]);
}

static json_t *device_names(const struct run *run)
{
    return list_of(run, run->ranks.count, name_of, NULL);
}

/* What it is, in words; null where the backend cannot say. */
static json_t *model_of(const struct run *run, int i, const void *unused)
{
    const char *model = run->ranks.rank[i].model;
    (void)unused;
    return *model ? json_any_text(model) : json_null();
}

/* What it computes in. */
static json_t *type_of(const struct run *run, int i, const void *unused)
{
    (void)unused;
    return json_string(number_type_name(run->ranks.rank[i].facts.type));
}

static json_t *rows_of(const struct run *run, int i, const void *size)
{
    return json_integer(run->ranks.rank[i].train[*(const enum pass_size *)size].rows);
}

/* Without the devices at the end that have no rows: 10 rows over 8 devices are 2,2,2,2,2. */
static json_t *shards(const struct run *run, const struct step *step)
{
    int count = run->ranks.count;
    while (count > 1 && run->ranks.rank[count - 1].train[step->size].rows == 0)
        count--;
    return list_of(run, count, rows_of, &step->size);
}

static json_t *memory_of(const struct run *run, int i, const void *unused)
{
    (void)unused;
    return json_integer((json_int_t)atomic_load(&run->ranks.rank[i].memory_bytes));
}

bool report_warning(struct report *report, const char *text, struct error *err)
{
    return report_emit(report, warning_of(text), err);
}

bool report_failures(struct report *report, const char *about, const char *what,
                     const struct failures *failures, struct error *err)
{
    char text[1200], times[96] = "", first[CLOCK_DATE_TEXT], last[CLOCK_DATE_TEXT];
    if (failures->count > 1)
        snprintf(times, sizeof times, " (%ld times from %s to %s)", failures->count,
                 clock_date_text(first, failures->first), clock_date_text(last, failures->last));
    snprintf(text, sizeof text, "%s: %s%s", what, failures->reason, times);
    return report_emit(report,
                       json_pack("{s:s, s:o, s:s, s:I, s:f, s:f}", "event", "warning", "text",
                                 json_any_text(text), "about", about, "count",
                                 (json_int_t)failures->count, "first", failures->first, "last",
                                 failures->last),
                       err);
}

bool report_keep_warning(void *context, const char *text, struct error *err)
{
    struct report *report = context;
    if (report->warning_count == RUN_WARNINGS)
        return true;
    char *copy = strdup(text);
    if (!copy)
        return error_memory(err, "warning");
    report->warnings[report->warning_count++] = copy;
    return true;
}

/* What has been found before the run. */
static bool report_warnings(struct run *run, struct error *err)
{
    struct report *report = &run->report;
    const struct checkpoints *checkpoints = &run->checkpoints;
    const char *const *kept = checkpoints->keep.warnings;
    for (int i = 0; i < report->warning_count; i++)
        if (!report_warning(report, report->warnings[i], err))
            return false;
    for (size_t i = 0; i < sizeof checkpoints->keep.warnings / sizeof *kept; i++)
        if (kept[i] && !report_warning(report, kept[i], err))
            return false;
    if (checkpoints_begin_state(checkpoints) &&
        !report_warning(report,
                        "what this optimizer remembers begins at zero: the checkpoint has not "
                        "all of it",
                        err))
        return false;
    const struct error *damage = &checkpoints->damage;
    return damage->kind == ERROR_NONE || report_warning(report, damage->text, err);
}

bool report_notes(struct report *report, struct ranks *ranks, enum pass_size size,
                  struct error *err)
{
    for (int i = 0; i < ranks->count; i++) {
        struct rank *rank = &ranks->rank[i];
        const struct plan *plan = rank->train[size].plan, *micro = rank->micro[size][0].plan;
        char text[256];
        plan = plan ? plan : micro;
        const char *note =
            rank->noted || !plan || !rank->backend->plan_note ? "" : rank->backend->plan_note(plan);
        if (!*note)
            continue;
        rank->noted = true;
        snprintf(text, sizeof text, "%s: %s", rank->name, note);
        if (!report_warning(report, text, err))
            return false;
    }
    return true;
}

/* The type of the GPUs where there are any: the setting is about those. */
static const char *main_type(const struct run *run)
{
    const struct rank *rank = run->ranks.rank;
    for (int i = 0; i < run->ranks.count; i++)
        if (run->ranks.rank[i].options.id.kind == DEVICE_CUDA)
            rank = &run->ranks.rank[i];
    return number_type_name(rank->facts.type);
}

bool report_run(struct run *run, struct error *err)
{
    const struct dataset *train = &run->work.data.train;
    const struct strategy_tasks *strategy = run->ranks.strategy;
    const char *how = run->ranks.count > 1 ? strategy->how(&run->ranks) : "one device: none";
    const char *choice = run->checkpoints.keep.choice;
    const long measured_from = run->checkpoints.keep.measured_from;
    json_t *event = json_pack(
        "{s:s, s:I, s:o, s:o, s:o, s:o, s:I, s:[iii], s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:o, "
        "s:s, s:o, s:s, s:o, s:o*, s:o*}",
        "event", "run", "run", (json_int_t)run->report.number, "model",
        json_any_text(run->spec.model), "data", json_any_text(run->work.data.name), "devices",
        device_names(run), "hardware", list_of(run, run->ranks.count, model_of, NULL), "params",
        (json_int_t)run->work.net->trainable_count, "input", train->channels, train->height,
        train->width, "classes", train->classes, "steps_per_epoch",
        (json_int_t)run->work.steps_per_epoch, "total_steps", (json_int_t)run->live.total_steps,
        "train_rows", (json_int_t)run->work.train_rows, "test_rows",
        (json_int_t)run->work.test.rows, "validation_rows", (json_int_t)run->work.validation.rows,
        "data_source", json_any_text(run->work.data.source), "sync_bytes_per_step",
        strategy->step_bytes(&run->ranks), "memory",
        list_of(run, run->ranks.count, memory_of, NULL), "dtype", main_type(run), "types",
        list_of(run, run->ranks.count, type_of, NULL), "sync_algorithm", how, "resumed_at",
        run->checkpoints.keep.resumes ? json_integer(run->checkpoints.resumed.place.steps)
                                      : json_null(),
        "choice", choice ? json_any_text(choice) : NULL, "measured_from",
        measured_from > 0 ? json_integer(measured_from) : NULL);
    /* The settings as well, except those that the event already has. */
    json_t *settings = event ? spec_to_json(&run->spec) : NULL;
    bool ok = settings && json_object_update_missing(event, settings) == 0 &&
              normalization_add(run->work.net, event);
    json_decref(settings);
    return report_emit(&run->report, json_kept_if(ok, event), err) && report_warnings(run, err);
}

bool report_step(struct run *run, const struct step *step, const struct step_part *parts,
                 double loss, double seconds, struct error *err)
{
    const struct metrics *metrics = &run->metrics;
    long correct = 0;
    for (int i = 0; i < run->ranks.count; i++)
        correct += parts[i].result.correct;
    return report_emit(&run->report,
                       json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:I, s:f, s:f}", "event", "step",
                                 "epoch", (json_int_t)metrics->epoch.epoch, "step",
                                 (json_int_t)metrics->steps, "rows", (json_int_t)step->rows,
                                 "shards", shards(run, step), "loss", json_finite(loss), "correct",
                                 (json_int_t)correct, "lr", live_lr(run, metrics->steps - 1),
                                 "seconds", seconds),
                       err);
}

/* The three times add up to the epoch's seconds on every device, or to those since the run was
 * resumed within it. */
static json_t *metrics_of(const struct run *run, int i, const void *unused)
{
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    const struct device_metrics *device = &epoch->devices[i];
    (void)unused;
    return json_pack("{s:s, s:I, s:o, s:f, s:f, s:f}", "device", run->ranks.names[i], "rows",
                     (json_int_t)device->rows, "samples_per_s",
                     json_finite(metrics_ratio((double)device->rows, device->compute_s)),
                     "compute_s", device->compute_s, "sync_s", device->sync_s, "wait_s",
                     metrics_wait(epoch, i));
}

/* Of the last step, before it was clipped; NULL: the run does not clip. */
static json_t *gradient_norm(const struct run *run)
{
    const float *norm = run->ranks.rank[run->ranks.first].replica->grad_norm;
    return run->spec.clip_norm > 0 && norm ? json_finite((double)*norm) : NULL;
}

bool report_epoch(struct run *run, struct error *err)
{
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    const int partial = epoch->steps < run->work.steps_per_epoch;
    const double joules = epoch->energy_j > 0 ? epoch->energy_j : NAN;
    double rows = (double)epoch->rows;
    double bytes = (double)epoch->steps * run->ranks.strategy->step_bytes(&run->ranks);
    double reduced = run->spec.strategy == STRATEGY_DATA ? bytes : 0; /* others move more */
    json_t *event = json_pack(
        "{s:s, s:I, s:I, s:I, s:b, s:I, s:f, s:o, s:o, s:o, s:o, s:f, s:o, s:f, s:f, s:f, s:f, "
        "s:f, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*}",
        "event", "epoch", "epoch", (json_int_t)epoch->epoch, "step", (json_int_t)run->metrics.steps,
        "steps", (json_int_t)epoch->steps, "partial", partial, "rows", (json_int_t)epoch->rows,
        "lr", live_lr(run, run->metrics.steps - 1), "train_loss",
        json_finite(metrics_ratio(epoch->loss_sum, rows)), "train_acc",
        json_finite(metrics_ratio((double)epoch->correct, rows)), "test_loss",
        json_finite(epoch->test_loss), "test_acc", json_finite(epoch->test_acc), "seconds",
        epoch->seconds, "samples_per_s", json_finite(metrics_ratio(rows, epoch->seconds)), "wait_s",
        fmax(0, epoch->seconds - epoch->compute_s - epoch->sync_s), "compute_s", epoch->compute_s,
        "sync_s", epoch->sync_s, "eval_s", epoch->eval_s, "sync_bytes", bytes, "sync_bandwidth",
        json_finite(sync_algorithm_bandwidth(reduced, epoch->reduce_s)), "sync_bus_bandwidth",
        json_finite(sync_bus_bandwidth(reduced, epoch->reduce_s, run->ranks.count)), "devices",
        list_of(run, run->ranks.count, metrics_of, NULL), "grad_norm", gradient_norm(run),
        "noise_scale", noise_json(&run->metrics), "energy_j", json_if_finite(joules),
        "samples_per_j", json_if_finite(rows / joules));
    bool ok = event && outcome_add_epoch(&run->work, &run->metrics, event) &&
              meet_add_network(run, event);
    return report_emit(&run->report, json_kept_if(ok, event), err);
}

bool report_profile(struct run *run, struct error *err)
{
    if (!run->profiler.profile || run->profiler.profile->steps == 0)
        return true;
    json_t *event = profile_json(run->profiler.profile, run->ranks.names, run->ranks.count);
    bool ok = event &&
              json_object_set_new(event, "epoch", json_integer(run->metrics.epoch.epoch)) == 0 &&
              json_object_set_new(event, "step", json_integer(run->metrics.steps)) == 0;
    return report_emit(&run->report, json_kept_if(ok, event), err);
}

/* What a schedule is multiplied with from here on; NULL: there is none, or it is no rate. */
static json_t *scale_of(const struct run *run, const json_t *from, const json_t *to)
{
    bool scales = json_is_real(from) && !lr_is_constant(&run->spec.schedule);
    return scales ? json_real(json_real_value(to) / json_real_value(from)) : NULL;
}

bool report_retune(struct run *run, const char *what, json_t *from, json_t *to, struct error *err)
{
    json_t *scale = scale_of(run, from, to);
    return report_emit(&run->report,
                       json_pack("{s:s, s:I, s:I, s:I, s:s, s:o*, s:o*, s:o*}", "event", "retune",
                                 "epoch", (json_int_t)run->metrics.epoch.epoch, "step",
                                 (json_int_t)run->metrics.steps, "total_steps",
                                 (json_int_t)run->live.total_steps, "what", what, "from", from,
                                 "to", to, "scale", scale),
                       err);
}

static json_t *speed_of(const struct run *run, int i, const void *advice)
{
    (void)run;
    return json_real(((const struct balance_advice *)advice)->rows_per_s[i]);
}

bool report_shares(struct run *run, const struct balance_advice *advice, double seconds,
                   struct error *err)
{
    const enum pass_size full = PASS_FULL;
    char reason[160];
    if (advice->back)
        snprintf(reason, sizeof reason,
                 "back: a step computed %.0f%% %s, not %.0f%% shorter; no other try for %ld steps",
                 100 * fabs(advice->saved), advice->saved < 0 ? "longer" : "shorter",
                 100 * advice->gain, advice->wait);
    else
        snprintf(reason, sizeof reason, "by the measured speeds a step computes %.0f%% less time",
                 100 * advice->gain);
    return report_emit(&run->report,
                       json_pack("{s:s, s:I, s:I, s:o, s:o, s:s, s:f}", "event", "shares", "epoch",
                                 (json_int_t)run->metrics.epoch.epoch, "step",
                                 (json_int_t)run->metrics.steps, "shares",
                                 list_of(run, run->ranks.count, rows_of, &full), "rows_per_s",
                                 list_of(run, run->ranks.count, speed_of, advice), "reason", reason,
                                 "seconds", seconds),
                       err);
}

void report_end(struct run *run, const struct error *err)
{
    const struct metrics *metrics = &run->metrics;
    struct error ignored = ERROR_INIT;
    const char *status = !err                           ? "done"
                         : err->kind == ERROR_CANCELLED ? "stopped"
                         : err->kind == ERROR_LOST      ? "interrupted"
                                                        : "failed";
    bool failed = err && err->kind != ERROR_CANCELLED;
    json_t *event =
        json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:f}", "event", "end", "status", status, "epochs",
                  (json_int_t)metrics->epochs, "steps", (json_int_t)metrics->steps, "test_loss",
                  json_finite(metrics->test_loss), "test_acc", json_finite(metrics->test_acc),
                  "train_s", metrics->train_s);
    /* Without the reason it is of no use: run_train's caller has it. */
    bool ok =
        event && (!failed || json_object_set_new(event, "error", json_any_text(err->text)) == 0);
    ok = ok && outcome_add_end(&run->work, metrics, &run->best, &run->spec, event);
    event = json_kept_if(ok, event);
    if (event && run->report.log.failure.kind != ERROR_NONE)
        json_object_set_new(event, "log_error", json_any_text(run->report.log.failure.text));
    report_emit(&run->report, event, &ignored);
}

void report_close(struct report *report)
{
    struct error ignored = ERROR_INIT;
    event_log_close(&report->log);
    board_close(report->board, &ignored);
    for (int i = 0; i < report->warning_count; i++)
        free(report->warnings[i]);
}
