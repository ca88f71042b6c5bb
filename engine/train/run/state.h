/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/profile/metrics.h"
#include "engine/train/run/checkpoints.h"
#include "engine/train/run/live_change.h"
#include "engine/train/run/load_balance.h"
#include "engine/train/run/meet.h"
#include "engine/train/run/profiler.h"
#include "engine/train/run/progress.h"
#include "engine/train/run/report.h"
#include "engine/train/run/run.h"
#include "engine/train/run/steps.h"
#include "engine/train/step/best.h"

/*
 * The inside of a run: parts, each written by the file whose header declares it. It is on the heap
 * because threads that hang outlive the call (see workers_dismiss); so ranks never touch what the
 * caller owns, the sink and the control.
 */
struct run {
    struct spec spec; /* its epochs may change while it trains */
    struct run_limits limits;
    struct workload work;
    struct ranks ranks;
    struct steps steps;
    struct metrics metrics;
    struct live_settings live;
    struct meeting meeting;
    struct load_balance load_balance;
    struct profiler profiler;
    struct best best;
    struct checkpoints checkpoints;
    struct report report;
    struct progress progress;
    bool stopped; /* before everything was trained */
};
