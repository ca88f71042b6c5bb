/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"

/*
 * Changes from outside take effect between two steps, and in the same breath become an event; so
 * the log says exactly which steps were done under which settings. Steps that the devices have been
 * given already come first.
 */

long run_count_steps(const struct run *run)
{
    long steps = run->spec.epochs * run->steps_per_epoch, limit = run->spec.max_steps;
    return limit > 0 && limit < steps ? limit : steps;
}

static bool take_lr(struct run *run, struct error *err)
{
    double before = run->lr, lr = atomic_exchange(&run->control->lr, 0);
    if (!isfinite(lr) || lr <= 0 || lr == before)
        return true;
    if (!run_drain(run, err))
        return false;
    run->lr = lr;
    return report_retune(run, "lr", json_real(before), json_real(lr), err);
}

/* An epoch that has begun is trained to its end. */
static bool take_epochs(struct run *run, struct error *err)
{
    long before = run->spec.epochs, wanted = atomic_load(&run->control->epochs);
    if (wanted <= 0)
        return true;
    while (!atomic_compare_exchange_weak(&run->control->epochs, &wanted, 0))
        ;
    long epochs = wanted > run->figures.epoch.epoch ? wanted : run->figures.epoch.epoch;
    if (epochs == before)
        return true;
    if (!run_drain(run, err))
        return false;
    run->spec.epochs = epochs;
    run->total_steps = run_count_steps(run);
    return report_retune(run, "epochs", json_integer(before), json_integer(epochs), err);
}

static bool take_stop(struct run *run, struct error *err)
{
    enum run_stop asked = run_stop_asked(run);
    bool wanted = asked == RUN_STOP_EPOCH;
    if (asked >= RUN_STOP_STEP || wanted == run->stops_after_epoch)
        return true;
    if (!run_drain(run, err))
        return false;
    run->stops_after_epoch = wanted;
    return report_retune(run, wanted ? "stop_after_epoch" : "go_on", NULL, NULL, err);
}

bool run_take_changes(struct run *run, struct error *err)
{
    return take_lr(run, err) && take_epochs(run, err) && take_stop(run, err);
}

bool run_wait_while_paused(struct run *run, double *paused_s, struct error *err)
{
    struct timespec nap = {.tv_nsec = 20000000L};
    if (!atomic_load(&run->control->paused) || run_stop_asked(run) >= RUN_STOP_STEP)
        return true;
    if (!run_drain(run, err))
        return false;
    double begin = clock_seconds();
    run->paused = true;
    bool ok = report_retune(run, "pause", NULL, NULL, err);
    progress_phase(run, run->phase);
    while (ok && atomic_load(&run->control->paused) && run_stop_asked(run) < RUN_STOP_STEP) {
        nanosleep(&nap, NULL);
        ok = run_take_changes(run, err);
        progress_tick(run);
    }
    run->paused = false;
    *paused_s += clock_seconds() - begin;
    if (!ok || run_stop_asked(run) >= RUN_STOP_STEP)
        return ok;
    return report_retune(run, "resume", NULL, NULL, err);
}

bool run_settle(struct run *run, bool *done, struct error *err)
{
    long none;
    do {
        if (!run_take_changes(run, err))
            return false;
        *done = run->figures.steps == run->total_steps;
        none = 0;
    } while (*done &&
             !atomic_compare_exchange_strong(&run->control->epochs, &none, RUN_EPOCHS_FINAL));
    int asked = RUN_STOP_EPOCH;
    /* From here on it cannot be taken back. */
    run->stopped =
        !*done && atomic_compare_exchange_strong(&run->control->stop, &asked, RUN_STOP_STEP);
    return true;
}
