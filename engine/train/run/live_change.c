/* SPDX-License-Identifier: MIT */
#include "engine/train/run/live_change.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "engine/train/run/state.h"

static bool is_ending(const struct run *run)
{
    return run_control_stop_asked(run->live.control) >= RUN_STOP_STEP;
}

static bool is_paused(const struct run *run)
{
    return atomic_load(&run->live.control->paused) && !is_ending(run);
}

static double share_of(const struct run *run, long steps)
{
    const struct lr_length length = {run->work.steps_per_epoch, run->live.total_steps};
    long last = length.total_steps > 0 ? length.total_steps - 1 : 0;
    return lr_share(&run->spec.schedule, length, steps < last ? steps : last);
}

double live_lr(const struct run *run, long steps)
{
    return run->live.lr * share_of(run, steps);
}

/* The next step has the new rate, and those after it are scaled as much. */
static bool take_lr(struct run *run, struct error *err)
{
    double lr = atomic_exchange(&run->live.control->lr, 0);
    if (!isfinite(lr) || lr <= 0 || lr == live_lr(run, run->metrics.steps + run->steps.pending))
        return true;
    if (!steps_drain(run, err))
        return false;
    double before = live_lr(run, run->metrics.steps);
    run->live.lr = fmin(lr / share_of(run, run->metrics.steps), SPEC_MAX_LR);
    return report_retune(run, "lr", json_real(before), json_real(live_lr(run, run->metrics.steps)),
                         err);
}

/* An epoch that has begun is trained to its end. */
static bool take_epochs(struct run *run, struct error *err)
{
    long before = run->spec.epochs, wanted = atomic_load(&run->live.control->epochs);
    if (wanted <= 0)
        return true;
    while (!atomic_compare_exchange_weak(&run->live.control->epochs, &wanted, 0))
        ;
    long epochs = wanted > run->metrics.epoch.epoch ? wanted : run->metrics.epoch.epoch;
    if (epochs == before)
        return true;
    if (!steps_drain(run, err))
        return false;
    run->spec.epochs = epochs;
    run->live.total_steps = workload_steps(&run->work, run->spec.epochs, run->spec.max_steps);
    return report_retune(run, "epochs", json_integer(before), json_integer(epochs), err);
}

static bool take_stop(struct run *run, struct error *err)
{
    enum run_stop asked = run_control_stop_asked(run->live.control);
    bool wanted = asked == RUN_STOP_EPOCH;
    if (asked >= RUN_STOP_STEP || wanted == run->live.stops_after_epoch)
        return true;
    if (!steps_drain(run, err))
        return false;
    run->live.stops_after_epoch = wanted;
    return report_retune(run, wanted ? "stop_after_epoch" : "go_on", NULL, NULL, err);
}

bool live_take_changes(struct run *run, struct error *err)
{
    /* The epochs first: they move the place in the schedule that a rate is given for. */
    return take_epochs(run, err) && take_lr(run, err) && take_stop(run, err);
}

bool live_wait_while_paused(struct run *run, double *paused_s, struct error *err)
{
    struct timespec nap = {.tv_nsec = 20000000L};
    if (!is_paused(run))
        return true;
    if (!steps_drain(run, err))
        return false;
    double begin = clock_seconds();
    run->live.paused = run->metrics.epoch.interrupted = true;
    bool ok = report_retune(run, "pause", NULL, NULL, err);
    progress_phase(run, run->progress.phase);
    while (ok && is_paused(run)) {
        nanosleep(&nap, NULL);
        ok = meet(run, err) && live_take_changes(run, err);
        progress_tick(run);
    }
    run->live.paused = false;
    *paused_s += clock_seconds() - begin;
    if (!ok || is_ending(run))
        return ok;
    return report_retune(run, "resume", NULL, NULL, err);
}

/* From here on no other number of epochs can be asked for, unless one has been: then *closed is
 * false. */
static bool close_epochs(struct run *run, bool *closed, struct error *err)
{
    long none = 0;
    *closed = meet_is_first(run) &&
              atomic_compare_exchange_strong(&run->meeting.asked->epochs, &none, RUN_EPOCHS_FINAL);
    return meet_share(run, closed, sizeof *closed, err);
}

/* From here on a stop after the epoch cannot be cancelled, if one has been asked for: *stops. */
static bool close_stop(struct run *run, bool *stops, struct error *err)
{
    int asked = RUN_STOP_EPOCH;
    *stops = meet_is_first(run) &&
             atomic_compare_exchange_strong(&run->meeting.asked->stop, &asked, RUN_STOP_STEP);
    if (!meet_share(run, stops, sizeof *stops, err))
        return false;
    if (*stops)
        run_control_stop(run->live.control, RUN_STOP_STEP);
    return true;
}

bool live_settle(struct run *run, bool *done, struct error *err)
{
    bool settled = false;
    while (!settled) {
        if (!live_take_changes(run, err))
            return false;
        *done = run->metrics.steps == run->live.total_steps || *run->best.reason;
        settled = !*done;
        if (*done && (!close_epochs(run, &settled, err) || (!settled && !meet(run, err))))
            return false;
    }
    return *done || close_stop(run, &run->stopped, err);
}
