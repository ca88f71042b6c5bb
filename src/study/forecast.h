/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "experiment/forecast.h"

/* What `compare --predict` asks for, and what is foreseen. */
enum { STUDY_FORECASTS = 16 };

struct study_forecast {
    int count; /* 0: nothing is asked for */
    int counts[STUDY_FORECASTS];
    double bandwidth; /* bytes per second; NAN: none was given */
    struct forecast_basis basis;
    struct forecast forecasts[STUDY_FORECASTS]; /* of each count */
};

/* Numbers of devices or hosts, "4,8", and a bandwidth, "450GB/s" or "25Gbit/s"; both may be NULL.
 */
bool study_forecast_read(struct study_forecast *asked, const char *counts, const char *link,
                         struct error *err);

/* Before anything is trained: will the study's runs be enough? ERROR_USAGE. */
bool study_forecast_check(struct study_forecast *asked, const struct study *study,
                          struct error *err);

/* From what was measured; the table must outlive it. ERROR_USAGE where it is not enough. */
bool study_forecast_make(struct study_forecast *asked, const struct study_table *table,
                         struct error *err);

/* For people, on standard output. */
bool study_forecast_print(const struct study_forecast *made, struct error *err);
/* The object of a study's results with "predictions" and "assumptions" in it, where some were asked
 * for; released, and NULL, when memory ran out. */
json_t *study_forecast_put(const struct study_forecast *made, json_t *object);
