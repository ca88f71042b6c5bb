/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* What a network takes for what: the page of a run, and what the engine computes for it. */
struct evaluation {
    long run;  /* of the page; 0: none has been opened */
    bool best; /* its checkpoint with the best validation or test accuracy, else the newest */
    /* What the engine was asked for last and has not answered; run 0: nothing. */
    long asked_run;
    bool asked_best;
    double done, total; /* rows of it so far; NAN: it is being prepared */
    /* Of the page; both empty while it is computed, or cannot be asked for. */
    json_t *answer;
    char failure[400];
    int column; /* of the matrix, the first in sight */
};
