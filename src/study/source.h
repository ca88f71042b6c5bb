/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/table.h"
#include "runs/source.h"

/* What has become of a study's runs. */

/*
 * The run of an entry, whose state and reason are set to what has become of it. What `run` had is
 * released.
 */
bool study_source_run(struct run_source *source, struct study_entry *entry, struct study_run *run,
                      struct error *err);

/* Those of all entries: a new array, released with study_runs_free. */
bool study_source_runs(struct run_source *source, struct study *study, struct study_run **runs,
                       struct error *err);
void study_runs_free(const struct study *study, struct study_run *runs);
