/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/form/form.h"

/* One device that can be chosen: the engine's, or a CPU device beyond those. */
struct form_device {
    struct device_id id;
    const struct state_device *known; /* NULL: the engine does not list it */
    bool chosen;
};

enum { FORM_MAX_DEVICES = STATE_MAX_DEVICES + 2 * SPEC_MAX_DEVICES };

/*
 * What can be chosen, in the engine's order, CPU devices beyond its list last; returns the
 * count, at most FORM_MAX_DEVICES. With the default choice the devices it comes to are chosen.
 */
int form_devices(const struct form *form, const struct state *state, struct form_device *devices);
/* Choose a device or drop it again; the last one stays (ERROR_USAGE). */
bool form_toggle(struct form *form, const struct state *state, struct device_id id,
                 struct error *err);
/* Offer one more CPU device and choose it; remove the last such one. */
bool form_add_cpu(struct form *form, const struct state *state, struct error *err);
bool form_remove_cpu(struct form *form, const struct state *state, struct error *err);
/* How many devices the next run would use. */
int form_device_count(const struct form *form, const struct state *state);
