/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "experiment/study.h"

/* A study of settings as the notes of its runs say it (study_entry_note), whoever trains it. */

enum { NOTED_VALUE = 80 };

struct noted_run {
    char label[100]; /* "batch 256, lr 0.1" */
    int varied_count;
    char varied[STUDY_VARIED][20], value[STUDY_VARIED][NOTED_VALUE];
};

/* False: the note is of no study, or of one whose devices vary. */
bool noted_read(struct noted_run *run, const char *note);

/*
 * Which variant of `study`, which begins zeroed, has this run; a new one when it is the first. It
 * has a label, and its values are those of the run. -1: it varies other settings, or there are too
 * many variants.
 */
int noted_variant(struct study *study, const struct noted_run *run);
