/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_STUDY_SOURCE_H
#define DPARTUI_STUDY_SOURCE_H

#include "experiment/figures.h"
#include "runs/source.h"

/* What has become of a study's runs. */

/*
 * The measure of an entry, whose state and reason are set to what has become of its run. `measure`
 * holds nothing, and is released with study_measure_free.
 */
bool study_source_measure(struct run_source *source, const struct study *study,
                          struct study_entry *entry, struct study_measure *measure,
                          struct error *err);

/* Of all entries: a new array, released with study_measures_free. */
bool study_source_measures(struct run_source *source, struct study *study,
                           struct study_measure **measures, struct error *err);
void study_measures_free(const struct study *study, struct study_measure *measures);

#endif
