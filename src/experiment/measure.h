/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* An epoch of a run: speed, and where the time of its devices went. NAN: not known. */
struct measured_epoch {
    double epoch, seconds, samples_per_s;
    double test_acc;                 /* on validation rows, where the run has some */
    double eval_s;                   /* not in `seconds` */
    bool partial;                    /* it was cut short */
    double device_s, sync_s, wait_s; /* sums over the devices: all, all-reduce, waiting */
    double device_rate;              /* rows that a device computes in a second, mean */
    double rows;                     /* of a device in a step, mean */
    double noise;                    /* gradient noise scale at its end, in rows; may be infinite */
    double energy_j, samples_per_j;  /* of its training part, as far as it is known */
    double network_s, network_bytes; /* sums over hosts under way, and what each sent for them */
    double network_steps;            /* in which it did */
};

/* Where the time of a run went: over the epochs that count, a mean over its devices. */
struct measured_time {
    double seconds, sync_s, wait_s; /* training, and in it all-reduce and waiting; 0: not known */
    double eval_s;                  /* besides */
    double network_s, network_bytes, network_steps; /* of the same epochs; 0: there is one host */
};

/* The epochs of a run, by rising number. */
struct measure {
    struct measured_epoch *epochs; /* owned */
    int count, capacity;
    double measured_from; /* the first epoch that counts as speed, see struct run_keep; 0: all do */
    bool validated;       /* on rows that are kept for it, not on the test rows */
    double memory;        /* bytes, of the device that needs most; 0: not known, nor is the next */
    double step_bytes;    /* that its devices tell each other in a step */
    double gradient_bytes; /* of the network; 0: not known */
    char type[8]; /* "f32" ..., what all its devices compute in; empty: not known, or several */
};

/* Add an "epoch" event; one of the same number is replaced. False: memory ran out. */
bool measure_add(struct measure *measure, const json_t *event, struct error *err);
/* Add an array of them, as `show` has it. */
bool measure_read(struct measure *measure, const json_t *epochs, struct error *err);
/* What a "run" event, or `show`, says of its devices. */
void measure_read_devices(struct measure *measure, const json_t *run);
void measure_free(struct measure *measure);

/*
 * Does the speed of an epoch count? The first one is warm-up: reading data and choosing algorithms
 * slow it down. Nor does one that was cut short, unless there is no other, and never one from
 * before a resume on other devices.
 */
bool measure_counts(const struct measure *measure, int index);
/* There is a single epoch, which counts although it is warm-up. */
bool measure_is_warm_up(const struct measure *measure);

/* Sums: each epoch stands for those before it that a thinned `show` leaves out. Means and medians
 * are over the epochs that are there. */
struct measured_time measure_time(const struct measure *measure);
/* Seconds of training in all its epochs. */
double measure_seconds(const struct measure *measure);

/* The gradient noise scale of a run as a whole: the harmonic mean over its epochs, as what batches
 * waste adds up (noise.h), in rows. NAN: not known. */
double measure_noise(const struct measure *measure);

/* What the devices use in an epoch, means over those that count and tell. NAN: not known. */
struct measured_energy {
    double joules, samples_per_j;
};
struct measured_energy measure_energy(const struct measure *measure);
/* Joules of training until an epoch reached the accuracy; NAN: none did, or not known, or several
 * choices of devices did it. */
double measure_energy_to(const struct measure *measure, double test_acc);

/* After the last epoch, on validation rows where there are some; NAN: not known. */
double measure_test_acc(const struct measure *measure);
/* Seconds of training, evaluation excluded, until an epoch reached the accuracy; NAN as above. */
double measure_seconds_to(const struct measure *measure, double test_acc);
