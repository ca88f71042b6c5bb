/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "ui/state/state.h"

/* What the chart shows of the curves. */
struct chart_choice {
    enum metric metric;
    bool companion;  /* training and test curve together; where they are, of two charts: one */
    bool reading;    /* the cursor is shown ... */
    double cursor;   /* ... at this epoch */
    double from, to; /* epochs in sight; both 0: all */
    bool follow;     /* a part was in sight with the newest point: it stays in sight */
    long front;      /* the run that this is about */
    bool fixed;      /* the y axis stays as values from low to high made it */
    double low, high;
};

struct ui;

/*
 * The runs whose curves the chart shows, from the back to the front; returns how many. Earlier ones
 * of the same model and data, the first marked and the selected ones, and in front the running one
 * (or the newest).
 */
enum { UI_CHART_RUNS = 12 };
int ui_chart_runs(const struct ui *ui, const struct state_run **runs);
/* The one in front; NULL: there is no run to show. */
const struct state_run *ui_chart_front(const struct ui *ui);
