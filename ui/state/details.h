/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/*
 * Everything about one run beyond its line in the list, from `show` and the events after it. As in
 * ui/state/state.h, what is missing or wrong is NAN, 0 or "".
 */

enum { DETAILS_SETTINGS = 64, DETAILS_DEVICES = 64 };

struct detail_setting {
    char name[24]; /* as the options of dpartui.1 */
    char *value;   /* "": none */
};

struct detail_device {
    char name[DEVICE_NAME];
    double rows, samples_per_s, compute_s, sync_s, wait_s; /* of one epoch */
};

struct run_details {
    long run;   /* which run these are, or will be, about; 0: none */
    bool known; /* `show` has answered */
    char *error;
    json_t *warnings; /* array of strings, or NULL */
    char types[96];   /* what they compute in: "bf16", "bf16 from cuda:0 on, f32 from cpu:0 on" */
    double params;
    double checkpoint_steps, checkpoint_at; /* of the newest one; NAN: there is none */
    json_t *shares;                         /* array of "shares" events, or NULL */
    json_t *profile;                        /* "profile" event, or NULL */
    json_t *timeline;                       /* newest "timeline" event, or NULL */
    struct detail_setting settings[DETAILS_SETTINGS];
    int setting_count;
    struct epoch_point *epochs; /* by rising number */
    int epoch_count, epoch_capacity;
    struct measure measure;                        /* of the same epochs, where the time went */
    double epochs_kept, epochs_of;                 /* of a thinned run: how many of how many */
    struct detail_device devices[DETAILS_DEVICES]; /* in the last epoch */
    int device_count;
};

/* Drop what is known, and be about `run` from now on. */
void details_begin(struct run_details *details, long run);
void details_free(struct run_details *details);
/* The result of `show`; nothing happens when it is about another run. False: memory ran out. */
bool details_show(struct run_details *details, const json_t *result, struct error *err);
/* A `timeline` event of this run. */
bool details_timeline(struct run_details *details, const json_t *event, struct error *err);
/* An `epoch` event of this run. */
bool details_epoch(struct run_details *details, const json_t *event, struct error *err);

/* Which epoch (an index) has the best accuracy, on validation rows where there are some, the first
 * of equal ones; -1: none is known. */
int details_best(const struct run_details *details);
/* The newest noise scale, in rows; NAN: none is known. */
double details_noise(const struct run_details *details);
/* The device that computed longest in the last epoch, by more than 2 % of the mean; -1: none did.
 */
int details_slowest(const struct run_details *details);
