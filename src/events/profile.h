/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reading "profile" events, for those who show them: where the time of a run's steps went. What is
 * missing or wrong is 0 or "".
 */

/* Part of the steps' time: an operation of the network in one direction, or what is outside. */
struct profile_row {
    const char *layer, *kind, *direction, *method; /* the event's */
    double calls;
    double seconds;                  /* per step */
    double share;                    /* of the steps' time */
    double flops, bytes;             /* per second; 0: it has none */
    double flops_limit, bytes_limit; /* of each device meant, per second; 0: not known */
};

enum profile_order { PROFILE_BY_TIME, PROFILE_BY_PLACE };

#define PROFILE_ALL_DEVICES SIZE_MAX

/* How many steps it is about, what one took in seconds, and how many devices it has. */
double profile_event_steps(const json_t *event);
double profile_event_step_s(const json_t *event);
/* What a step took whose passes were not profiled; 0: none was looked at. *steps: how many were. */
double profile_event_unprofiled_s(const json_t *event, double *steps);
size_t profile_event_devices(const json_t *event);
/* The limits of a device, or of all if they are equal; false: neither is known. */
bool profile_event_limits(const json_t *event, size_t device, double *flops, double *bytes);

/*
 * The operations on one device, or on all of them (PROFILE_ALL_DEVICES: the devices' seconds are
 * added, and so is the step's time that shares are of). A new array of *count rows that the caller
 * frees; its texts are the event's. NULL: memory ran out.
 */
struct profile_row *profile_event_rows(const json_t *event, size_t device, enum profile_order order,
                                       size_t *count);

/* What is outside of the operations, one row for each `index` from 0; false after the last. */
bool profile_event_outside(const json_t *event, size_t device, size_t index,
                           struct profile_row *row);
