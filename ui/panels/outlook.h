/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "experiment/noise.h"
#include "ui/session/ui.h"

/*
 * What the devices and the batch of the form would bring, against the run that tells the noise of
 * gradients (ui/form/suggestion.h): speed as runs like that one had it on as many devices with that
 * batch, else as it is predicted (experiment/forecast.h); epochs by the noise scale.
 */
struct outlook {
    const struct state_run *base; /* the state's */
    int devices;
    long batch;
    struct noise_reach reach; /* but for `epochs` NAN where the speed cannot be told */
    bool predicted;           /* the speed was not measured */
};

/* False where devices and batch are the base's, there is none, or devices do not divide the rows.
 */
bool outlook_of_form(const struct ui *ui, struct outlook *outlook);

/* "2 devices, batch 512: 1.4x as fast to the same accuracy as #7 (1.9x per epoch, 1.4x the
 * epochs)". Into `buffer`, which is returned. */
const char *outlook_text(const struct outlook *outlook, char *buffer, size_t size);
