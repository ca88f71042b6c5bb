/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/run/run.h"

/* The longest that a launcher takes to end after the run's "end" event. */
#define HOSTS_CLEARING_S 15

/*
 * As run_train, for a spec with hosts: has a launcher start dpartui-rank on each, and passes on
 * what is asked and reported. ERROR_LOST: a host has failed or is not heard from, and all that
 * belonged to the run has been ended; then there is no "end" event.
 */
bool hosts_train(const struct spec *spec, long run_number, const struct run_keep *keep,
                 struct run_control *control, const struct run_sink *sink, struct error *err);
