/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "events/status.h"
#include "experiment/measure.h"
#include "spec/spec.h"

/*
 * What the engine has said so far, as plain values for drawing (docs/protocol.md). Everything comes
 * from outside: a missing member, a wrong type or a number out of bounds is "not known" (NAN, 0, an
 * empty string), never a failure; text is kept as it came and made harmless when drawn.
 */

enum {
    STATE_MAX_DEVICES = 256,
    STATE_MAX_RUNS = 10000,    /* of the newest */
    STATE_MAX_POINTS = 100000, /* epochs of one curve */
    STATE_MAX_FINE = 1024,     /* points between epochs; the engine sends no more */
    STATE_MAX_RETUNES = 1000,  /* of one run */
    STATE_MAX_CURVES = 160,    /* known at a time: more than a comparison and the chart show */
    STATE_MAX_QUEUE = 1000,
    STATE_MAX_LOG = 500, /* messages, the newest */
    STATE_HISTORY = 256, /* samples of a device's load */
    STATE_NAME = 256,    /* bytes of the name or path of a network or data set */
};

struct state_device {
    struct device_id id;
    char name[80], reason[160];
    bool available;
    int cores;
    double load, memory_used, memory_total; /* 0..1; bytes */
    double tensor_load, memory_load;        /* of a GPU's tensor cores and memory bandwidth */
    bool in_run;
    double rows, samples_per_s;
    double compute_s, sync_s, wait_s; /* of the running epoch */
    double temperature_c, power_w, power_limit_w, clock_mhz, clock_max_mhz;
    double pcie_rx, pcie_tx; /* bytes a second */
    char throttle[48];       /* what holds the clock back; empty: nothing, or not known */
    bool throttle_known;
    char state[16];
    json_t *processes;    /* array: what uses a GPU, as the engine lists it; NULL: not known */
    int process_count;    /* also those that are not listed */
    int others;           /* of them that are not the engine's */
    double others_memory; /* what these have of the GPU's, bytes; 0: not known, too */
    json_t *missing; /* object: the reason for each value that is not known; NULL: none given */
    bool lost;       /* failed, or gone while we watched */
    bool lost_told;  /* the user has been told */
    /*
     * Load, a sample a state while a run trains or loads change, the same number for all: a ring
     * whose next place is history_count % STATE_HISTORY.
     */
    float history[STATE_HISTORY];
    long history_count;
};

/* What the chart can show of a run: X(id, member of the events of epochs and points). */
#define METRICS(X)                                                                                 \
    X(METRIC_TEST_ACC, "test_acc")                                                                 \
    X(METRIC_TRAIN_ACC, "train_acc")                                                               \
    X(METRIC_TRAIN_LOSS, "train_loss")                                                             \
    X(METRIC_TEST_LOSS, "test_loss")                                                               \
    X(METRIC_SPEED, "samples_per_s")                                                               \
    X(METRIC_LR, "lr")                                                                             \
    X(METRIC_NOISE, "noise_scale")                                                                 \
    X(METRIC_ENERGY, "energy_j")                                                                   \
    X(METRIC_SAMPLES_PER_J, "samples_per_j")

#define METRIC_ID(id, member) id,
enum metric { METRICS(METRIC_ID) METRIC_COUNT };
#undef METRIC_ID

/* An epoch's metrics, or those at a point between epochs (no test then): NAN is not known. In a run
 * with validation rows those of the test are of these (struct measure says so). */
struct epoch_point {
    double epoch, step, value[METRIC_COUNT];
};

/* The newest value of a metric; NAN: none is known. */
double points_newest(const struct epoch_point *points, int count, enum metric metric);

/* A live change of a running run. */
struct retune {
    double epoch, step, from, to; /* NAN where they mean nothing */
    double scale;                 /* of the rest of the learning rate's schedule; NAN: none */
    char what[20];                /* "lr", "epochs", "pause", ... of docs/protocol.md */
};

/* What runs that are compared have in common; 0: not known. */
struct run_setting {
    unsigned long digest; /* src/spec/likeness.h */
    int threads;          /* of each CPU device; 0: there are none, too */
    char strategy[12];    /* "data", "pipeline", ...; "": not known */
};

struct state_run {
    long run;
    enum run_status status;
    char model[STATE_NAME], data[STATE_NAME];
    char devices[64], split[48], sync[24], error[200];
    char strategy[12]; /* "data", "pipeline", ...; "": not known */
    int replicas;      /* of a pipeline: that divide the rows */
    char note[401];
    char tags[200]; /* with blanks between; those that do not fit are left out whole */
    double submitted_at, started_at, ended_at; /* seconds since 1970 */
    bool stop_after_epoch;
    int device_count;
    int warnings; /* that were found before it began */
    double batch, lr, epochs, epochs_done;
    double train_rows, test_rows; /* the first ones that it uses; NAN: all */
    double test_acc, s_per_epoch, samples_per_s;
    double energy_j, samples_per_j; /* of training, per epoch; NAN: not measured */
    double val_acc;             /* NAN: it has no validation rows, or none has been evaluated yet */
    double best_acc;            /* on validation rows, where it has some, else on test rows */
    char reason[160];           /* why it ended early; "": it did not */
    long base;                  /* the run that speed_up is against; 0: none */
    double speed_up;            /* may be 1: it is its own base */
    struct epoch_point *points; /* by rising epoch */
    int point_count, point_capacity;
    struct epoch_point *fine; /* between epochs, by rising epoch */
    int fine_count, fine_capacity;
    struct retune *retunes; /* by rising step */
    int retune_count, retune_capacity;
    struct run_setting setting;
    struct measure measure;   /* speed and times of its epochs, as long as its curve is known */
    bool curve_known;         /* what was before we watched has been asked for or is here */
    unsigned long curve_used; /* state->curve_uses when it was last looked at */
};

/* The running run. */
struct state_live {
    long run; /* 0: none */
    enum run_status status;
    char phase[16], model[STATE_NAME], data[STATE_NAME];
    double read, to_read; /* pictures, while they are read */
    double epoch, epochs, step, total_steps, epoch_step, steps_per_epoch;
    double lr, samples_per_s, elapsed_s, eta_s;
    bool scheduled;              /* the learning rate changes by itself ... */
    struct lr_schedule schedule; /* ... like this; constant: it is not known how */
    bool stop_after_epoch, stopping;
};

enum log_level { LOG_INFO, LOG_WARNING, LOG_ERROR };

/* A message of the engine, or of the workbench about the engine. */
struct log_line {
    double time; /* seconds since 1970 */
    enum log_level level;
    long run;   /* 0: about none */
    bool local; /* the workbench's own */
    char *text;
};

struct state {
    bool known; /* a state has arrived on this connection */
    long pid;
    char host[64], version[32];
    bool store_trouble; /* something is wrong with the run store; the log says what */
    char no_gpus[160];  /* why there are none; empty: there are, or it is not known */
    int queued;
    long queue[STATE_MAX_QUEUE]; /* the `queued` waiting runs, the next one first */
    struct state_live live;
    struct state_device *devices;
    int device_count;
    struct state_run *runs; /* oldest first: by rising number */
    int run_count;
    unsigned long runs_version; /* rises with every change to the runs */
    bool runs_stale;            /* something happened that only a new `runs` has */
    long older;                 /* runs that the engine has besides, which it does not list */
    double edits;               /* grows with changes of the list of runs; NAN: not known */
    int retuned; /* states to come after which `runs` has it: what a run was changed to */
    unsigned long curve_uses; /* counts state_use_curve */
    struct log_line *log;     /* oldest first */
    int log_count;
};

void state_init(struct state *state);
void state_free(struct state *state);
/* The connection is gone: what was live is not known any more; runs and curves stay, those that had
 * not ended as RUN_LOST. */
void state_disconnected(struct state *state);

/* A notification's method and params. False only when memory ran out. */
bool state_notification(struct state *state, const char *method, const json_t *params,
                        struct error *err);
/* Results of `runs` and `show`. */
bool state_runs(struct state *state, const json_t *result, struct error *err);
bool state_show(struct state *state, const json_t *result, struct error *err);

/* NULL: no such run is known. */
struct state_run *state_run(const struct state *state, long run);
/* Do the devices of the running run divide the rows of a mini-batch? With other strategies all
 * devices, or those of a pipeline, compute the same. */
bool state_divides_rows(const struct state *state);
/* The rows of the mini-batch, where those of `devices` devices add up to `sum`. */
double state_rows_together(const struct state *state, double sum, int devices);
/* Is it known neither to wait nor to train any more? */
bool run_has_ended(const struct state_run *run);
/* The place of a waiting run in the queue, 0: the next one; -1: it does not wait. */
int state_queue_place(const struct state *state, long run);
