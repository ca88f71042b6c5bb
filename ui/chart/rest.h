/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/chart.h"
#include "ui/state/state.h"

/*
 * The learning rate of the steps that the running run has not made, as its schedule has them from
 * what the next step has: a live change has scaled all of them. From the step after `begin` others
 * to the end of the run, or of the epoch that it stops after; of these what lies in from..to on the
 * x axis, at most REST_MOST points, each with the rate since the point before. The caller frees
 * *points; returns how many, 0: the rate stays what it is, or too little is known; -1: memory ran
 * out.
 */
enum { REST_MOST = 1024 };
int rest_copy(const struct state_live *live, double begin, double from, double to,
              struct chart_point **points, struct error *err);
