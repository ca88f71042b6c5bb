/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/loss.h"
#include "experiment/noise.h"
#include "experiment/outcome.h"
#include "experiment/series.h"
#include "experiment/table.h"

/*
 * What a comparison would measure on numbers of devices that it has no runs on: predict.h, asked
 * with its outcomes. Pure.
 */

enum { FORECAST_POINTS = STUDY_VARIANTS };

/* What there is to predict from: outcomes of devices that are alike, with strategy data. */
struct forecast_basis {
    int count;
    struct forecast_point {
        const struct outcome *outcome; /* the caller's; must outlive this */
        double batch;                  /* of all devices together */
        int hosts;                     /* 0: the run is not over hosts */
    } points[FORECAST_POINTS];
    const struct outcome *base; /* speed-up is against it; NULL: none has a speed yet */
    enum scaling scaling;
    double batch;      /* strong: of all devices together; weak: of one */
    int cores;         /* of the machine; 0: not known */
    double bandwidth;  /* of the link, bytes per second; NAN: what all-reduce needed says */
    double noise;      /* gradient noise scale in rows; NAN: not known */
    double target_acc; /* NAN: none */
    bool planned;      /* nothing was trained yet: only forecast_check makes sense */
};

/* ERROR_USAGE where a comparison varies something else than devices, or the batch on one number of
 * them, for which the largest batch is predicted. `planned`: with what will be trained. */
bool forecast_of_study(struct forecast_basis *basis, const struct study_table *table,
                       double bandwidth, bool planned, struct error *err);
/* Rows with other threads than the base are left out, and speeds that are warm-up. */
void forecast_of_series(struct forecast_basis *basis, const struct series *series, int cores);

/* Are these hosts that are counted, each with as many devices? */
bool forecast_counts_hosts(const struct forecast_basis *basis);
/* The most of them that there is an outcome of. */
int forecast_most(const struct forecast_basis *basis);

struct forecast {
    int count;              /* devices; hosts, where those are counted */
    double batch;           /* of all devices together */
    struct outcome outcome; /* speeds with a range; accuracy is not known */
    enum cause limit;       /* what takes most of the time that is lost; CAUSES: nothing does */
};

/*
 * Can `count` devices be predicted? ERROR_USAGE, with what to train instead, where too little is
 * known or CPU devices would share cores. What was measured on as many devices with the same batch
 * is not made use of, so that predictions can be compared with it.
 */
bool forecast_check(const struct forecast_basis *basis, int count, struct error *err);
/* The same, and the forecast. */
bool forecast_make(const struct forecast_basis *basis, int count, struct forecast *forecast,
                   struct error *err);

/* Into `buffer`, which is returned. "Predicted for 8 devices: 3.10 s/epoch (2.90-3.40), 5.20x,
 * efficiency 65%; all-reduce limits" */
const char *forecast_sentence(const struct forecast_basis *basis, const struct forecast *forecast,
                              char *buffer, size_t size);
/* How much sooner than the base they are at the same accuracy, by the noise scale; all NAN where
 * that or the base is not known. */
struct noise_reach forecast_reach(const struct forecast_basis *basis,
                                  const struct forecast *forecast);
/* The same in words (noise.h). */
const char *forecast_reach_sentence(const struct forecast_basis *basis,
                                    const struct forecast *forecast, char *buffer, size_t size);
/* What is taken for granted. */
const char *forecast_assumptions(const struct forecast_basis *basis, char *buffer, size_t size);
