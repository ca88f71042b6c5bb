/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RUN_RUN_STATE_H
#define DPARTUI_ENGINE_TRAIN_RUN_RUN_STATE_H

#include <stdatomic.h>

#include "base/clock.h"
#include "engine/board/board.h"
#include "engine/train/checkpoint/writer.h"
#include "engine/train/profile/profile.h"
#include "engine/train/run/event_log.h"
#include "engine/train/profile/figures.h"
#include "engine/train/run/run.h"
#include "engine/train/split/balance.h"
#include "engine/train/split/shares.h"
#include "engine/train/step/worker.h"
#include "engine/train/sync/barrier.h"
#include "engine/train/sync/sync.h"

/*
 * The inside of a run, shared by the files that make it up: resolve.c, prepare.c, rank.c and
 * plans.c (what a device's thread does), connect.c (how they keep together), command.c (having it
 * done), epoch.c, steps.c, evaluate.c, retune.c (changes from outside), load_balance.c (`split
 * auto`), profiling.c, report.c, progress.c and run.c.
 *
 * The calling thread prepares and directs; the workers compute. They take turns: between
 * workers_post and the end of the task the calling thread leaves alone everything here except
 * atomics, the barrier and its own figures. A run is on the heap of its own because threads that
 * hang outlive the call (see workers_dismiss); so workers never touch `control` and `sink`.
 */

/* How long things may take, and by what that is told. */
struct run_limits {
    double stall_s; /* a device that shows no sign of progress for so long hangs; time for the
                       work itself is added */
    double grace_s; /* for the devices to answer once the run is being ended */
    double (*clock)(void); /* what the passes of a device are timed with, on its thread */
};

#define RUN_LIMITS_DEFAULT                                                                         \
    {                                                                                              \
        .stall_s = 600, .grace_s = 30, .clock = clock_seconds                                      \
    }

enum activity {
    ACTIVITY_PREPARE,
    ACTIVITY_TRAIN,
    ACTIVITY_EVAL,
    ACTIVITY_WAIT,
    ACTIVITY_IDLE,
    ACTIVITY_FAILED,
};

/* A plan, one of its device's kept ones, and its number of rows. */
struct pass {
    struct plan *plan;
    int rows;
    bool warm; /* it has been run: the device's libraries have loaded all that it needs */
};

/* Most batches of an epoch are full; the last may be shorter. The same goes for evaluation. */
enum pass_size { PASS_FULL, PASS_SHORT, PASS_SIZES };

/*
 * How many plans a device keeps: at most four are needed at a time, the others may be wanted again.
 * They cost memory of their own for the library's compiled code and small tables; the activations
 * lie in the workspace, which is one for all.
 */
enum { PLANS_KEPT = 12 };

struct kept_plan {
    struct plan *plan; /* NULL: an empty place */
    enum plan_mode mode;
    int rows;
    long used; /* when last, in uses of plans */
};

/* As many does the preflight check find at most worth keeping. */
enum { RUN_WARNINGS = 32 };

/* One device of a run. */
struct rank {
    struct run *run;
    int index;
    char name[16];
    const struct backend *backend;
    struct device_options options;
    struct device *device;
    struct device_facts facts; /* before the run took anything */
    struct pass train[PASS_SIZES], eval[PASS_SIZES];
    bool trains_short; /* short batches occur */
    long eval_begin, eval_rows;
    struct kept_plan kept[PLANS_KEPT];
    long plans_used;
    bool noted;                           /* what its plans go on without has been told */
    size_t bucket_ends[SYNC_MAX_BUCKETS]; /* of the gradients, where devices reduce by themselves */
    int bucket_count;
    double plan_s;                 /* to make the newest plan */
    uint64_t plan_bytes;           /* the largest plan so far */
    _Atomic uint64_t memory_bytes; /* all in all */
    /* Of the task just done; of steps when they are queued, and complete when they are taken. */
    struct batch_result result;
    struct step_times times;
    struct step_part parts[PASSES_QUEUED]; /* of steps that are queued, by their number */
    atomic_int activity;                   /* enum activity */
};

/* A step, as the workers are to do it. */
struct step {
    long number; /* of the run, from 1 */
    enum pass_size size;
    long begin, rows; /* of the epoch's order */
    uint32_t epoch;
    struct sgd_step sgd;
    double begin_s; /* when it was given to them, on clock_seconds */
};

/*
 * Steps that are queued on the devices before the one in front of them is done. Where every device
 * computes beside the host, and reduces without it, a step is given to the devices and its outcome
 * taken later: so they always have work. Elsewhere a step is done when its task is.
 */
struct ahead {
    bool queues;                      /* the devices queue, and their own clocks tell the times */
    int most;                         /* steps queued behind the one that is being waited for */
    int pending;                      /* queued and not taken: those behind figures.steps */
    bool takes;                       /* the posted task takes the oldest of them */
    struct step steps[PASSES_QUEUED]; /* by their number */
    /* Passes trained with the present plans: the first loads code, the second is captured, and
     * nothing else may run beside them. */
    long passes[PASS_SIZES];
    double last_end; /* when the last step was taken, on clock_seconds */
};

/* What failed at checkpoints. */
struct failures {
    long count, reported; /* so many, and so many when last reported */
    double first, last;   /* seconds since 1970 */
    double report_at;     /* when to report again, by clock_seconds() */
    double pause;         /* until then, in seconds */
    char reason[1024];    /* of the last */
};

/* Checkpoints of a run. */
struct saving {
    struct checkpoint_writer *writer;       /* NULL: none are written */
    struct checkpoint *buffer; /* that is being filled */
    struct checkpoint resumed; /* what the run resumes from */
    double last;               /* when the last one was begun */
    double best_acc;           /* of all evaluations, NAN: none */
    long best_steps;           /* of its checkpoint, -1: none */
    struct error damage;       /* of a newer one than `resumed`; ERROR_NONE: there is none */
    struct failures writes;    /* that failed */
    struct failures syncs;     /* of the run's history before one */
};

struct run {
    struct spec spec;
    long number;
    struct run_keep keep;
    struct saving saving;
    int64_t tracked_before; /* batches that BatchNorms had counted before the run's first step */
    struct run_limits limits;
    struct run_control *control;
    const struct run_sink *sink;
    struct event_log log;
    struct board *board; /* NULL: no TensorBoard */

    struct data data;
    struct net *net;
    struct weights weights;
    int *cpus;
    long train_rows, test_rows, steps_per_epoch, total_steps;
    uint32_t *order;      /* of the running epoch: train_rows row numbers */
    uint32_t *test_order; /* 0..test_rows-1 */

    int rank_count;
    struct rank ranks[SPEC_MAX_DEVICES];
    const char *names[SPEC_MAX_DEVICES];
    struct replica *replicas[SPEC_MAX_DEVICES];
    int statistics_from; /* the rank whose running statistics count: the first that has rows */
    struct sync_end ends[SPEC_MAX_DEVICES];
    struct sync_group group;
    struct error refusals[SPEC_MAX_DEVICES]; /* why a rank could not join the others */
    struct barrier *barrier;
    struct workers *workers;
    struct step step; /* the newest */
    struct ahead ahead;
    atomic_uint signs; /* of progress, counted by the workers */
    atomic_bool cut;   /* leave the evaluation at the next chance */

    int warning_count; /* for the run's owner, not yet reported */
    char *warnings[RUN_WARNINGS];

    enum run_phase phase;
    bool prepared, paused, stopped;
    bool stops_after_epoch; /* as asked, and may be taken back */
    int exploded;           /* steps in a row with a loss that is far too large */
    double lr;
    double epoch_spent_s; /* of the running epoch, without pauses; 0 between epochs */
    double last_progress;
    struct figures figures;
    struct profile *profile; /* NULL: nobody wants to know */
    int unprofiled_left;     /* steps that run as without it, this one included */
    struct balance balance;  /* with `split auto` */
    bool advised;            /* by what it has measured, shares are to change as `advice` says */
    struct balance_advice advice;
    double change_s; /* what a change of the shares costs, by the last one */
    struct run_device shown[SPEC_MAX_DEVICES];
};

/* run_train with other limits, for tests of what happens when they are met. */
bool run_train_within(const struct run_limits *limits, const struct spec *spec, long run_number,
                      const struct run_keep *keep, struct run_control *control,
                      const struct run_sink *sink, struct error *err);

/* prepare.c: all that must be there before the first step; called once. */
bool run_prepare(struct run *run, struct error *err);
/* Have the devices' passes fit these shares; they have the plans for it only when they got them. */
void run_take_shares(struct run *run, const struct row_shares *shares);
/* Release what run_prepare got on the calling thread's side. */
void run_release(struct run *run);

/* rank.c: tasks for the workers; `context` is the run. */
bool rank_prepare(void *context, int index, struct error *err);
bool rank_change_shares(void *context, int index, struct error *err); /* plans for other shares */
bool rank_step(void *context, int index, struct error *err);
bool rank_take(void *context, int index, struct error *err); /* the oldest step queued */
bool rank_evaluate(void *context, int index, struct error *err);
bool rank_export(void *context, int index, struct error *err); /* rank 0 into run->weights */
bool rank_export_momentum(void *context, int index, struct error *err); /* into saving.buffer */
bool rank_join(void *context, int index, struct error *err);  /* what sync_choose has chosen */
bool rank_leave(void *context, int index, struct error *err); /* that, if some could not */
void rank_close(void *context, int index);

/* struct gradient_buckets: a bucket of the gradients is complete. */
bool rank_bucket_ready(void *context, int bucket, struct error *err);

/* connect.c: decide how the devices, all prepared, keep their replicas equal, and begin. */
bool run_connect(struct run *run, struct error *err);

/* struct device_allreduce: BatchNorm sums over all devices, in the middle of a pass. */
bool rank_allreduce(void *context, double *values, size_t count, struct error *err);
bool rank_queue_allreduce(void *context, const double *own, double *all, size_t count, bool *queued,
                          struct error *err);

/* plans.c: plans for the rows of all passes of the device, on its thread. */
bool plans_get(struct rank *rank, struct error *err);
void plans_release(struct rank *rank);

/*
 * command.c: have every worker run a task and wait for it, showing progress, heeding stop requests
 * and giving up on devices that hang. `work_flops` is the work of the busiest device. After a
 * failure no further task can be run.
 */
bool run_command(struct run *run, worker_task task, double work_flops, struct error *err);
/* Has anybody asked for the run's end? */
enum run_stop run_stop_asked(const struct run *run);

/*
 * retune.c: between steps, let the changes take effect that others have asked for. A stop for now
 * or after this step is none of them (run_stop_asked).
 */
bool run_take_changes(struct run *run, struct error *err);
/* Return once the run is not paused (any more). Adds the seconds to *paused_s. */
bool run_wait_while_paused(struct run *run, double *paused_s, struct error *err);
/*
 * After an evaluation, with all changes taken: *done if nothing is left to train, and then nothing
 * can be added any more; run->stopped if the run was to end with this epoch.
 */
bool run_settle(struct run *run, bool *done, struct error *err);
/* Steps of the whole run, by its epochs and limits. */
long run_count_steps(const struct run *run);

/*
 * load_balance.c: `split auto`. Begin to measure, with the shares that the run was prepared for;
 * then after every step: other shares from the next step on if they pay.
 */
void run_begin_load_balance(struct run *run);
bool run_balance_load(struct run *run, const struct step *step, struct error *err);

/*
 * epoch.c: train epoch `epoch`, from 1. Ends early, and still returns true, when max_steps is
 * reached or a stop is asked for (run->stopped).
 */
bool run_epoch(struct run *run, long epoch, struct error *err);
/* steps.c: whether steps can be queued ahead; when the devices are connected. */
void run_begin_steps(struct run *run);
/* Give the devices the step whose rows begin at `begin` of the epoch's order, and take those that
 * are due: figures, events, and whether the run can continue. */
bool run_step(struct run *run, long begin, struct error *err);
/* Take all steps that are queued. To be called before anything that is to happen between steps. */
bool run_drain(struct run *run, struct error *err);
/* The oldest step that is queued. */
const struct step *run_oldest_step(const struct run *run);

/*
 * saving.c: checkpoints. Begin, when the network is known; write one, at the end of an epoch or
 * between steps if one is due, or (run_checkpoint) now: without `wait` it is left out while the one
 * before is still being written.
 */
bool run_begin_saving(struct run *run, struct error *err);
bool run_checkpoint(struct run *run, bool wait, struct error *err);
bool run_checkpoint_epoch(struct run *run, struct error *err);
bool run_checkpoint_step(struct run *run, struct error *err);
/* Wait for what is being written, and warn where that failed. */
bool run_end_saving(struct run *run, struct error *err);
/* Going on: the weights, before the devices are prepared; what was done, before the first epoch;
 * and in an epoch that had begun: returns the seconds it had taken. All do nothing in a fresh run.
 */
bool run_read_checkpoint(struct run *run, struct error *err);
bool run_resume_figures(struct run *run, struct error *err);
double run_resume_epoch(struct run *run);

/* evaluate.c: figures.test_loss and test_acc; *done is false when a stop cut it short. */
bool run_evaluate(struct run *run, bool *done, struct error *err);

/*
 * inspect.c: the preflight check, of devices that are prepared. What it finds is reported behind
 * the "run" event, if it does not stop the run.
 */
bool run_inspect(struct run *run, struct error *err);
/* models[0..ranks-1]: what the machine calls the devices, "" where that is not known; the texts
 * lie in `infos`. */
void run_models(const struct run *run, struct device_info infos[2 * SPEC_MAX_DEVICES],
                const char **models);

/* Rows of one device in the training pass of this size, and those of the devices before it. */
void run_shard(const struct run *run, int index, enum pass_size size, long *before, long *rows);

/*
 * profiling.c: where the time goes, if anybody wants to know. Begin before the devices make their
 * plans; then in front of each step and behind it, and in the end the event.
 */
bool run_begin_profile(struct run *run, struct error *err);
bool run_profile_begin(struct run *run, struct error *err);
void run_profile_step(struct run *run, double begin, double joined, const struct step_part *parts);
bool run_end_profile(struct run *run, struct error *err);
/* Take the times of a plan: on its device's thread before it is given up, or between commands. */
bool rank_profile_plan(struct rank *rank, struct plan *plan, struct error *err);

/* report.c: the events of the command line's contract, to the sink and the log. */
bool report_run(struct run *run, struct error *err);
/* Something about the run that its owner should know, which does not stop it. */
bool report_warning(struct run *run, const char *text, struct error *err);
/* Likewise, that `what` has failed so often; takes the place of the one before about the same. */
bool report_failures(struct run *run, const char *about, const char *what,
                     const struct failures *failures, struct error *err);
/* Behind a step: what the devices' plans go on without, once for each device. */
bool report_notes(struct run *run, const struct step *step, struct error *err);
bool report_step(struct run *run, const struct step *step, const struct step_part *parts,
                 double loss, double seconds, struct error *err);
bool report_epoch(struct run *run, struct error *err);
/* Where the steps' time went. */
bool report_profile(struct run *run, struct error *err);
/* A change that takes effect now; `from` and `to` (stolen) are NULL where it has none. */
bool report_retune(struct run *run, const char *what, json_t *from, json_t *to, struct error *err);
/* Other shares from the next step on, which took `seconds` to prepare. */
bool report_shares(struct run *run, const struct balance_advice *advice, double seconds,
                   struct error *err);
/* The last event; err is NULL for a run that is done. */
void report_end(struct run *run, const struct error *err);

/* progress.c: snapshots for the sink, now, or when one is due. */
void progress_phase(struct run *run, enum run_phase phase);
void progress_tick(struct run *run);

#endif
