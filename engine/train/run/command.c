/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include "base/clock.h"
#include "base/text.h"

/* How often the calling thread looks up while the devices work. */
static const double LOOK_S = 0.1;

/* The slowest device worth waiting for: a hundredth of one core of a small computer. */
static const double SLOWEST_FLOPS = 1e8;

enum run_stop run_stop_asked(const struct run *run)
{
    return (enum run_stop)atomic_load(&run->control->stop);
}

/* Blame the devices that are inside a task and not waiting for others. */
static void call_off_stalled(struct run *run, double limit_s)
{
    struct error reason = ERROR_INIT;
    struct text text = TEXT_INIT;
    int culprit = -1;
    for (int i = run->rank_count - 1; i >= 0; i--) {
        if (workers_finished(run->workers, i) || barrier_waiting(run->barrier, i))
            continue;
        text_printf(&text, "%s%s", culprit < 0 ? "" : ", ", run->names[i]);
        culprit = i;
    }
    const char *list = text_cstr(&text);
    error_set(&reason, ERROR_FAILED,
              "%s: no sign of progress for %.0f s: the device or its driver hangs; check the "
              "machine and start the run again",
              culprit >= 0 && list ? list : "devices", limit_s);
    text_free(&text);
    if (culprit >= 0)
        atomic_store(&run->ranks[culprit].activity, ACTIVITY_FAILED);
    barrier_abort(run->barrier, culprit, &reason);
}

/* What the calling thread keeps an eye on while a task runs. */
struct watch {
    double limit_s; /* without a sign of progress */
    unsigned signs;
    double last_sign;
    double give_up; /* when a called-off task is left to itself; 0: not called off */
};

static void look(struct run *run, struct watch *watch)
{
    struct error reason = ERROR_INIT;
    int culprit;
    double now = clock_seconds();
    unsigned signs = atomic_load(&run->signs);
    enum run_stop stop = run_stop_asked(run);
    if (signs != watch->signs) {
        watch->signs = signs;
        watch->last_sign = now;
    }
    if (stop >= RUN_STOP_STEP)
        atomic_store(&run->cut, true);
    if (watch->give_up == 0) {
        if (stop == RUN_STOP_NOW) {
            error_set(&reason, ERROR_CANCELLED, "stopped");
            barrier_abort(run->barrier, -1, &reason);
        } else if (now - watch->last_sign > watch->limit_s) {
            call_off_stalled(run, watch->limit_s);
        }
        if (barrier_aborted(run->barrier, &culprit, &reason))
            watch->give_up = now + run->limits.grace_s;
    }
    progress_tick(run);
}

bool run_command(struct run *run, worker_task task, double work_flops, struct error *err)
{
    int culprit;
    struct watch watch = {
        .limit_s = run->limits.stall_s + work_flops / SLOWEST_FLOPS,
        .signs = atomic_load(&run->signs),
        .last_sign = clock_seconds(),
    };
    workers_post(run->workers, task);
    while (!workers_wait(run->workers, LOOK_S)) {
        look(run, &watch);
        if (watch.give_up > 0 && clock_seconds() > watch.give_up)
            break;
    }
    return !barrier_aborted(run->barrier, &culprit, err);
}
