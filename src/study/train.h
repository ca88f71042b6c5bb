/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdio.h>

#include "study/source.h"

/*
 * Train what a study lacks, one run after the other in the background engine, so that what waits
 * there is never more than one run of ours, and others' runs take their turn between them. The
 * study's file is written after every change, so that the training can be resumed whatever happens.
 *
 * Ctrl-C once stops the current run after its step and ends the training, twice at once, a third
 * time leaves without waiting; SIGTERM and a hang-up leave too, and the current run continues.
 */
enum study_ending {
    STUDY_ENDED,  /* nothing is left to train */
    STUDY_BROKEN, /* stopped by the user */
    STUDY_LEFT,   /* left: the current run continues */
};

/*
 * `source` has an engine. `lines` gets a line per run; NULL: there is one live line on the terminal
 * at standard output. The runs of all entries are kept up to date.
 */
bool study_train(struct study *study, struct run_source *source, struct study_run *runs,
                 FILE *lines, enum study_ending *ending, struct error *err);
