/* SPDX-License-Identifier: MIT */
#include "engine/train/run/command.h"

#include <math.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/train/pipeline/pipeline.h"
#include "engine/train/step/rank.h"

/* How often the calling thread checks while the devices work. */
static const double LOOK_S = 0.1;

/* The slowest device worth waiting for: a hundredth of one core of a small computer. */
static const double SLOWEST_FLOPS = 1e8;

/* For which a device may go on when another host is lost: its process ends with the run, and who it
 * was has to be told soon. */
static const double LOST_GRACE_S = 1;

/* Stages wait for each other outside of the barrier. */
static bool is_waiting(struct ranks *ranks, int index)
{
    return barrier_waiting(ranks->barrier, index - ranks->first) ||
           atomic_load(&ranks->ends[index - ranks->first].waits) ||
           (ranks->pipeline && handover_waiting(pipeline_handover(&ranks->rank[index]),
                                                ranks->rank[index].stage_index));
}

/* Blame the devices that are inside a task and not waiting for others. */
static void abort_stalled(struct ranks *ranks, double limit_s)
{
    struct error reason = ERROR_INIT;
    struct text text = TEXT_INIT;
    int culprit = -1;
    for (int i = ranks->first + ranks->here - 1; i >= ranks->first; i--) {
        if (workers_finished(ranks->workers, i - ranks->first) || is_waiting(ranks, i))
            continue;
        text_printf(&text, "%s%s", culprit < 0 ? "" : ", ", ranks->names[i]);
        culprit = i;
    }
    const char *list = text_cstr(&text);
    if (culprit < 0 && ranks->link) {
        text_free(&text);
        return; /* all wait for other hosts, which have limits of their own */
    }
    error_set(&reason, ERROR_FAILED,
              "%s: no sign of progress for %.0f s: the device or its driver hangs; check the "
              "machine and start the run again",
              culprit >= 0 && list ? list : "devices", limit_s);
    text_free(&text);
    if (culprit >= 0)
        atomic_store(&ranks->rank[culprit].activity, ACTIVITY_FAILED);
    barrier_abort(ranks->barrier, culprit < 0 ? -1 : culprit - ranks->first, &reason);
}

/* What the calling thread watches while a task runs. */
struct watch {
    double limit_s; /* without a sign of progress */
    unsigned signs;
    double last_sign;
    double give_up; /* when to stop waiting for an aborted task; 0: it is not aborted */
};

static void look(struct run *run, struct watch *watch)
{
    struct error reason = ERROR_INIT;
    int culprit;
    double now = clock_seconds();
    unsigned signs = atomic_load(&run->ranks.signs);
    struct host_link *link = run->ranks.link;
    enum run_stop stop = run_control_stop_asked(run->meeting.asked);
    if (signs != watch->signs) {
        watch->signs = signs;
        watch->last_sign = now;
    }
    if (stop >= RUN_STOP_STEP && link)
        link->cut(link->context);
    if (stop >= RUN_STOP_STEP || (link && link->is_cut(link->context)))
        atomic_store(&run->ranks.cut, true);
    if (watch->give_up == 0) {
        if (stop == RUN_STOP_NOW) {
            error_set(&reason, ERROR_CANCELLED, "stopped");
            barrier_abort(run->ranks.barrier, -1, &reason);
        } else if (link && !link->check(link->context, &reason)) {
            barrier_abort(run->ranks.barrier, -1, &reason);
            run->limits.grace_s = fmin(run->limits.grace_s, LOST_GRACE_S);
        } else if (now - watch->last_sign > watch->limit_s) {
            abort_stalled(&run->ranks, watch->limit_s);
        }
        if (barrier_abort_reason(run->ranks.barrier, &culprit, &reason)) {
            watch->give_up = now + run->limits.grace_s;
            /* One of the ranks here may be waiting for other hosts, which wait for this one. */
            if (link)
                link->fail(link->context, &reason);
        }
    }
    progress_tick(run);
}

bool run_task(struct run *run, worker_task task, double work_flops, struct error *err)
{
    int culprit;
    struct watch watch = {
        .limit_s = run->limits.stall_s + work_flops / SLOWEST_FLOPS,
        .signs = atomic_load(&run->ranks.signs),
        .last_sign = clock_seconds(),
    };
    workers_post(run->ranks.workers, task);
    while (!workers_wait(run->ranks.workers, LOOK_S)) {
        look(run, &watch);
        if (watch.give_up > 0 && clock_seconds() > watch.give_up)
            break;
    }
    return !barrier_abort_reason(run->ranks.barrier, &culprit, err);
}

bool run_command(struct run *run, worker_task task, double work_flops, struct error *err)
{
    return run_task(run, task, work_flops, err) && meet(run, err);
}

bool run_swap_average(struct run *run, struct error *err)
{
    return !(run->spec.ema > 0) || run_command(run, rank_swap_average, 0, err);
}
