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

/* In the order of the form: what most runs are told first. */
enum form_field {
    FORM_MODEL,
    FORM_DATA,
    FORM_DEVICES,
    FORM_BATCH,
    FORM_LR,
    FORM_EPOCHS,
    FORM_SCHEDULE,
    FORM_WARMUP,
    FORM_OPTIMIZER,
    FORM_MOMENTUM,
    FORM_WEIGHT_DECAY,
    FORM_STRATEGY,
    FORM_SPLIT,
    FORM_SYNC,
    FORM_SYNC_BN,
    FORM_MICRO_BATCHES,
    FORM_REPLICAS,
    FORM_STAGES,
    FORM_STOP_AT_ACC,
    FORM_PATIENCE,
    FORM_VALIDATION,
    FORM_SEED,
    FORM_DTYPE,
    FORM_AUGMENT,
    FORM_NOTIFY,
    FORM_INIT,
    FORM_RECIPE,
    FORM_ORDER,
    FORM_LABEL_SMOOTHING,
    FORM_CHECKPOINTS,
    FORM_NOISE_EVERY,
    FORM_DETERMINISTIC,
    FORM_CPU_THREADS,
    FORM_IMAGE_SIZE,
    FORM_IMAGE_COLOUR,
    FORM_TEST_SHARE,
    FORM_SKIP_BROKEN,
    FORM_TRAIN_ROWS,
    FORM_TEST_ROWS,
    FORM_MAX_STEPS,
    FORM_BETA1,
    FORM_BETA2,
    FORM_EPS,
    FORM_NO_DECAY,
    FORM_CLIP_NORM,
    FORM_EMA,
    FORM_MEMORY_LIMIT,
    FORM_SAVE,
    FORM_SAVE_BEST,
    FORM_LOG,
    FORM_TENSORBOARD,
    FORM_PROFILE,
    FORM_DATA_DIR,
    FORM_HOSTS,
    FORM_LAUNCHER,
    FORM_HOST_LIMIT,
    FORM_RESTARTS,
    FORM_FIELDS
};

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
    bool asked;               /* an answer is on its way */
    unsigned long of;         /* digest of the spec that it was, or will be, about */
    char problem[200];        /* why it would be refused; "": it would not, or it is not known */
    char model[64], data[64]; /* what those that were left open stand for; "": not known */
    long train_rows;          /* 0: not known */
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
/* Take over a whole spec (a former run's). */
bool form_take(struct form *form, const struct spec *spec, struct error *err);

/*
 * What stands in the way of starting this, or would surprise: one line in `buffer`. False when
 * there is nothing. What only the engine knows (names, files) is in `check`; NULL: not asked.
 */
bool form_problem(const struct form *form, const struct state *state,
                  const struct form_check *check, char *buffer, size_t size);
