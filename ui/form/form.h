/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "spec/spec.h"
#include "ui/state/state.h"

/*
 * The next run as the user edits it. Every change goes through spec_set, so the form accepts
 * exactly what the command line does.
 */

/* Its fields in their order, what most runs are told first: name, the setting (spec_set's key) and,
 * where that is too long for the form, a label. */
#define FORM_SETTINGS(X)                                                                           \
    X(MODEL, "model", NULL)                                                                        \
    X(DATA, "data", NULL)                                                                          \
    X(DEVICES, "devices", NULL)                                                                    \
    X(BATCH, "batch", NULL)                                                                        \
    X(LR, "lr", NULL)                                                                              \
    X(EPOCHS, "epochs", NULL)                                                                      \
    X(SCHEDULE, "lr-schedule", "schedule")                                                         \
    X(WARMUP, "warmup", NULL)                                                                      \
    X(OPTIMIZER, "optimizer", NULL)                                                                \
    X(MOMENTUM, "momentum", NULL)                                                                  \
    X(WEIGHT_DECAY, "weight-decay", "decay")                                                       \
    X(STRATEGY, "strategy", NULL)                                                                  \
    X(SPLIT, "split", NULL)                                                                        \
    X(SYNC, "sync", NULL)                                                                          \
    X(SYNC_BN, "sync-bn", NULL)                                                                    \
    X(MICRO_BATCHES, "micro-batches", "micro")                                                     \
    X(REPLICAS, "replicas", NULL)                                                                  \
    X(STAGES, "stages", NULL)                                                                      \
    X(STOP_AT_ACC, "stop-at-acc", "stop acc")                                                      \
    X(PATIENCE, "patience", NULL)                                                                  \
    X(VALIDATION, "validation", "val part")                                                        \
    X(SEED, "seed", NULL)                                                                          \
    X(DTYPE, "dtype", NULL)                                                                        \
    X(AUGMENT, "augment", NULL)                                                                    \
    X(NOTIFY, "notify", NULL)                                                                      \
    X(INIT, "init", NULL)                                                                          \
    X(RECIPE, "recipe", NULL)                                                                      \
    X(ORDER, "order", NULL)                                                                        \
    X(LABEL_SMOOTHING, "label-smoothing", "smoothing")                                             \
    X(CHECKPOINTS, "checkpoint-every", "checkpts")                                                 \
    X(NOISE_EVERY, "noise-every", "noise")                                                         \
    X(DETERMINISTIC, "deterministic", "determin.")                                                 \
    X(CPU_THREADS, "cpu-threads", "threads")                                                       \
    X(IMAGE_SIZE, "image-size", "img size")                                                        \
    X(IMAGE_COLOUR, "image-colour", "colour")                                                      \
    X(TEST_SHARE, "test-share", "test part")                                                       \
    X(SKIP_BROKEN, "skip-broken", "skip bad")                                                      \
    X(TRAIN_ROWS, "train-rows", "rows")                                                            \
    X(TEST_ROWS, "test-rows", "test rows")                                                         \
    X(MAX_STEPS, "max-steps", "max steps")                                                         \
    X(BETA1, "beta1", NULL)                                                                        \
    X(BETA2, "beta2", NULL)                                                                        \
    X(EPS, "eps", NULL)                                                                            \
    X(NO_DECAY, "no-decay", NULL)                                                                  \
    X(CLIP_NORM, "clip-norm", NULL)                                                                \
    X(EMA, "ema", NULL)                                                                            \
    X(MEMORY_LIMIT, "memory-limit", "memory")                                                      \
    X(SAVE, "save", NULL)                                                                          \
    X(SAVE_BEST, "save-best", NULL)                                                                \
    X(LOG, "log", NULL)                                                                            \
    X(TENSORBOARD, "tensorboard", "tensorbd.")                                                     \
    X(PROFILE, "profile", NULL)                                                                    \
    X(DATA_DIR, "data-dir", NULL)                                                                  \
    X(HOSTS, "hosts", NULL)                                                                        \
    X(LAUNCHER, "launcher", NULL)                                                                  \
    X(HOST_LIMIT, "host-limit", "host wait")                                                       \
    X(RESTARTS, "restarts", NULL)

#define FORM_NAME(name, key, label) FORM_##name,
enum form_field { FORM_SETTINGS(FORM_NAME) FORM_FIELDS };
#undef FORM_NAME

/* So many are always listed; the line after them unfolds the rest. */
enum { FORM_COMMON = FORM_NOTIFY + 1 };

struct form {
    struct spec spec;
    enum form_field field; /* the one in focus */
    bool unfolded;         /* all are listed */
    int cpu_top;           /* CPU devices are offered up to this index; -1: as the engine lists */
    /* What the user last chose together; what a suggestion is worked out from. */
    int base_devices;
    long base_batch;
    double base_lr;
};

/* What the engine says of the form before it is asked to start: by docs/protocol.md's `check`. */
struct form_check {
    bool asked;        /* an answer is on its way */
    unsigned long of;  /* digest of the spec that it was, or will be, about; 0: ask again */
    char problem[200]; /* why it would be refused; "": it would not, or it is not known */
    /* What those that were left open stand for; "": not known. */
    char model[STATE_NAME], data[STATE_NAME];
    long train_rows; /* 0: not known */
    double again;    /* on clock_seconds(): when a problem is asked about again */
};

bool form_init(struct form *form, const struct spec *spec, struct error *err);
void form_free(struct form *form);

/* Lines of the list, from the first field on. */
int form_lines(const struct form *form);
/* Is the line that unfolds the rest in focus? */
bool form_on_fold(const struct form *form);
void form_unfold(struct form *form);

const char *form_label(enum form_field field); /* "batch" */
/* Has it been given, as something else than the program's default? */
bool form_changed(const struct form *form, enum form_field field);
/* The setting that a label of the form is of, with '-' for a blank, or that has this name itself;
 * NULL: none. */
const char *form_key(const char *word);
const char *form_hint(enum form_field field); /* a line of explanation */
/* The field's value as text (spec_get's), a new string the caller frees; NULL: out of memory. */
char *form_text(const struct form *form, enum form_field field);
/* Whether left and right step this field's value. */
bool form_steps(enum form_field field);

/* Has the field a use with the others? Micro-batches, replicas and stages only in a pipeline. */
bool form_in_use(const struct form *form, enum form_field field);

/* Where a value is from that nobody gave: "smallnet's recipe"; false: given, or the program's. */
bool form_origin(const struct form *form, enum form_field field, const struct form_check *check,
                 char *buffer, size_t size);

/* Set a typed value; "": none is given any more. ERROR_USAGE says what is accepted. */
bool form_set(struct form *form, enum form_field field, const char *value, struct error *err);
/* The next value up (direction 1) or down (-1): batch doubles, lr goes 1-2-5, words cycle. */
bool form_step(struct form *form, enum form_field field, int direction, struct error *err);
/* Take over what the engine filled in of what nobody gave (spec_take_filled). */
bool form_take_filled(struct form *form, const struct spec *resolved, struct error *err);
/* Take over a whole spec (a former run's). */
bool form_take(struct form *form, const struct spec *spec, struct error *err);

/*
 * What stands in the way of starting this, or would surprise: one line in `buffer`. False when
 * there is nothing. What only the engine knows (names, files) is in `check`; NULL: not asked.
 */
bool form_problem(const struct form *form, const struct state *state,
                  const struct form_check *check, char *buffer, size_t size);
