/* SPDX-License-Identifier: MIT */
#include "study/train.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "client/session.h"
#include "events/status.h"
#include "output/bar.h"
#include "study/file.h"
#include "study/json.h"
#include "system/signals.h"

struct trainer {
    struct study *study;
    struct run_source *source;
    struct study_run *runs;
    struct signals signals;
    struct study_entry *entry; /* the current one */
    FILE *lines;               /* NULL: a live line */
    struct bar_line line;
    json_t *state; /* the engine's newest, or NULL */
    int interrupts, stops;
    bool leave, ended;
};

/* Of the current run, as the newest state has it; NULL: it waits, or nothing is known. */
static const json_t *running(const struct trainer *trainer)
{
    const json_t *run = json_object_get(trainer->state, "run");
    return trainer->entry && member_number(run, "run") == (double)trainer->entry->run ? run : NULL;
}

static double seconds_left(const struct trainer *trainer)
{
    double eta = member_number(running(trainer), "eta_s");
    return study_seconds_left(trainer->study, trainer->runs, eta);
}

static void draw(struct trainer *trainer)
{
    struct bar bar = {.count = 0};
    const struct study *study = trainer->study;
    const json_t *run = running(trainer);
    struct figure text;
    if (trainer->lines || !trainer->entry)
        return;
    double share = member_number(run, "step") / member_number(run, "total_steps");
    int number = (int)(trainer->entry - study->entries) + 1;
    int finished = study_count(study, STUDY_DONE) + study_count(study, STUDY_FAILED);
    snprintf(bar.left, sizeof bar.left, "%d/%d %.40s", number, study->entry_count,
             study->variants[trainer->entry->variant].label);
    bar.share = (finished + (isfinite(share) ? share : 0)) / study->entry_count;
    bar_add(&bar, 3, "seed %llu", (unsigned long long)trainer->entry->seed);
    if (trainer->stops > 0)
        bar_add(&bar, 0, "stopping");
    else if (!run && json_is_object(json_object_get(trainer->state, "run")))
        bar_add(&bar, 1, "waits for run %.0f",
                member_number(json_object_get(trainer->state, "run"), "run"));
    else if (run)
        bar_add(&bar, 2, "epoch %.0f/%.0f", member_number(run, "epoch"),
                member_number(run, "epochs"));
    if (trainer->stops == 0 && isfinite(seconds_left(trainer)))
        bar_add(&bar, 0, "%s left", figure_duration(&text, seconds_left(trainer)));
    bar_draw(&trainer->line, &bar);
    fflush(stdout);
}

/* A line about the entry that has just ended, above the live one. */
static bool print_ended(struct trainer *trainer, const struct study_run *run, struct error *err)
{
    FILE *out = trainer->lines ? trainer->lines : stdout;
    const struct study *study = trainer->study;
    const struct study_entry *entry = trainer->entry;
    const struct measure *measure = &run->measure;
    struct figure time, rate, accuracy, left;
    struct outcome outcome;
    if (!outcome_make(&outcome, &measure, 1, NAN, err))
        return false;
    if (!trainer->lines)
        bar_clear(&trainer->line);
    print_to(out, "%d/%d %s, seed %llu", (int)(entry - study->entries) + 1, study->entry_count,
             study->variants[entry->variant].label, (unsigned long long)entry->seed);
    if (entry->run > 0)
        print_to(out, ", run %ld", entry->run);
    print_to(out, ": ");
    if (entry->state == STUDY_DONE) {
        print_to(out, "%s s/epoch, %s samples/s, %s acc %s",
                 figure_seconds(&time, outcome.s_per_epoch.median),
                 figure_count(&rate, outcome.samples_per_s.median),
                 outcome.validated ? "validation" : "test",
                 figure_fixed(&accuracy, outcome.test_acc.mean, 3));
    } else {
        print_to(out, "%s%s%s", study_state_name(entry->state), entry->reason[0] ? ": " : "",
                 entry->reason);
    }
    double seconds = seconds_left(trainer);
    if (study_unfinished(study) > 0 && isfinite(seconds))
        print_to(out, "; %s left", figure_duration(&left, seconds));
    print_to(out, "\n");
    fflush(out);
    return true;
}

static void remark(struct trainer *trainer, const char *text)
{
    if (!trainer->lines) {
        bar_clear(&trainer->line);
        fflush(stdout);
    }
    print_to(stderr, "dpartui: %s\n", text);
    draw(trainer);
}

static bool send_stops(struct trainer *trainer, struct error *err)
{
    const char *text;
    while (trainer->stops < trainer->interrupts && trainer->stops < 2) {
        if (!session_stop(trainer->source->client, trainer->entry->run, trainer->stops++, &text,
                          err))
            return false;
        remark(trainer, text);
    }
    return true;
}

static void take_signals(struct trainer *trainer)
{
    for (int number; (number = signals_next(&trainer->signals)) != 0;) {
        if (number == SIGINT)
            trainer->interrupts++;
        else if (number == SIGTERM || number == SIGHUP)
            trainer->leave = true;
        else if (number == SIGTSTP)
            signals_stop_here();
        else
            draw(trainer);
    }
    trainer->leave |= trainer->interrupts > 2;
}

static void take_message(struct trainer *trainer, json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    json_t *params = json_object_get(message, "params");
    if (!method)
        return;
    if (strcmp(method, "state") == 0) {
        json_decref(trainer->state);
        trainer->state = json_incref(params);
        draw(trainer);
    } else if (strcmp(method, "event") == 0 &&
               member_number(params, "run") == (double)trainer->entry->run) {
        trainer->ended |= strcmp(member_text(params, "event"), "end") == 0;
    }
}

/* Until the entry's run has ended, or we leave. */
static bool wait_for_end(struct trainer *trainer, struct error *err)
{
    struct client *client = trainer->source->client;
    while (!trainer->leave) {
        json_t *message;
        take_signals(trainer);
        if (!send_stops(trainer, err) || !client_next(client, &message, err))
            return false;
        if (message) {
            take_message(trainer, message);
            json_decref(message);
            continue;
        }
        if (trainer->ended)
            return true;
        struct pollfd wait[] = {{.fd = trainer->signals.fd, .events = POLLIN}, client_poll(client)};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return error_errno(err, "cannot wait for the engine");
    }
    return true;
}

/* Its run's number is kept before anything else is done. */
static bool take_number(struct trainer *trainer, long run, struct error *err)
{
    char tag[32];
    trainer->entry->run = run;
    trainer->entry->state = STUDY_RUNNING;
    study_tag(trainer->study, tag, sizeof tag);
    return study_save(trainer->study, err) &&
           client_call(trainer->source->client, "tag",
                       json_pack("{s:I, s:[s]}", "run", (json_int_t)run, "add", tag),
                       SESSION_SECONDS, NULL, err);
}

/* A run that the engine refuses is a failed one: *refused. */
static bool submit(struct trainer *trainer, bool *refused, struct error *err)
{
    char note[200];
    json_t *result = NULL, *params = study_entry_spec(trainer->study, trainer->entry);
    *refused = false;
    study_entry_note(trainer->study, trainer->entry, note, sizeof note);
    if (!params || json_object_set_new(params, "note", json_string(note)) != 0) {
        json_decref(params);
        return error_memory(err, "run");
    }
    if (!client_call(trainer->source->client, "submit", params, SUBMIT_SECONDS, &result, err)) {
        if (err->kind != ERROR_USAGE)
            return false;
        snprintf(trainer->entry->reason, sizeof trainer->entry->reason, "%.*s", STUDY_REASON - 1,
                 err->text);
        trainer->entry->run = 0;
        trainer->entry->state = STUDY_FAILED;
        *err = (struct error)ERROR_INIT;
        *refused = true;
        return true;
    }
    long run = (long)json_integer_value(json_object_get(result, "run"));
    json_decref(result);
    return take_number(trainer, run, err);
}

static bool follow(struct trainer *trainer, struct error *err)
{
    trainer->ended = false;
    return client_call(trainer->source->client, "follow",
                       json_pack("{s:I, s:b}", "run", (json_int_t)trainer->entry->run, "steps", 0),
                       SESSION_SECONDS, NULL, err) &&
           wait_for_end(trainer, err);
}

static bool train_entry(struct trainer *trainer, int index, struct error *err)
{
    struct study_run *run = &trainer->runs[index];
    bool refused = false;
    trainer->entry = &trainer->study->entries[index];
    draw(trainer);
    if (trainer->entry->state != STUDY_RUNNING && !submit(trainer, &refused, err))
        return false;
    if (!refused && !follow(trainer, err))
        return false;
    if (trainer->leave)
        return true;
    return study_source_run(trainer->source, trainer->entry, run, err) &&
           study_save(trainer->study, err) && print_ended(trainer, run, err);
}

/* A run of this study that was submitted although its number was never written down. */
static long find_by_note(const struct study *study, const struct study_entry *entry,
                         const json_t *runs)
{
    char note[200];
    size_t index;
    json_t *run;
    long found = 0;
    study_entry_note(study, entry, note, sizeof note);
    json_array_foreach(runs, index, run)
    {
        const enum run_status status = run_status_find(member_text(run, "status"));
        if (strcmp(member_text(run, "note"), note) == 0 &&
            member_number(run, "submitted_at") >= study->created - 1 && status != RUN_STOPPED &&
            status != RUN_CANCELLED && status != RUN_INTERRUPTED)
            found = (long)member_number(run, "run");
    }
    return found;
}

/* Continue with what a killed command had submitted. */
static bool adopt(struct trainer *trainer, struct error *err)
{
    json_t *runs = NULL;
    bool ok = client_call(trainer->source->client, "runs", NULL, SESSION_SECONDS, &runs, err);
    for (int i = 0; ok && i < trainer->study->entry_count; i++) {
        struct study_entry *entry = &trainer->study->entries[i];
        if (entry->state == STUDY_DONE || entry->state == STUDY_FAILED ||
            entry->state == STUDY_RUNNING)
            continue;
        long run = find_by_note(trainer->study, entry, runs);
        if (run == 0 || run == entry->run)
            continue;
        trainer->entry = entry;
        ok = take_number(trainer, run, err) &&
             study_source_run(trainer->source, entry, &trainer->runs[i], err);
    }
    json_decref(runs);
    return ok;
}

static bool train_all(struct trainer *trainer, struct error *err)
{
    if (!adopt(trainer, err))
        return false;
    if (!trainer->lines &&
        !client_call(trainer->source->client, "watch",
                     json_pack("{s:f}", "interval", WATCH_SECONDS), SESSION_SECONDS, NULL, err))
        return false;
    for (int i = 0; i < trainer->study->entry_count; i++) {
        enum study_state state = trainer->study->entries[i].state;
        take_signals(trainer);
        if (trainer->leave || trainer->interrupts > 0)
            return true;
        if (state != STUDY_DONE && state != STUDY_FAILED && !train_entry(trainer, i, err))
            return false;
    }
    return true;
}

bool study_train(struct study *study, struct run_source *source, struct study_run *runs,
                 FILE *lines, enum study_ending *ending, struct error *err)
{
    struct trainer trainer = {.study = study, .source = source, .runs = runs, .lines = lines};
    if (!signals_open(&trainer.signals, err))
        return false;
    bool ok = train_all(&trainer, err);
    bar_clear(&trainer.line);
    signals_close(&trainer.signals);
    json_decref(trainer.state);
    *ending = trainer.leave ? STUDY_LEFT : trainer.interrupts > 0 ? STUDY_BROKEN : STUDY_ENDED;
    return ok;
}
