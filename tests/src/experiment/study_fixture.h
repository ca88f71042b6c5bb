/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>

#include "experiment/plan.h"

/* Plans of comparisons to test with, of numbers of devices out of eight CPU devices. */
struct study_fixture {
    struct error err;
    struct spec spec; /* what the plan starts from; the defaults at first */
    struct study study;
};

void study_fixture_begin(struct study_fixture *fixture);
void study_fixture_end(struct study_fixture *fixture);

/* Plan again: one repeat and eight cores unless the request has others. */
bool study_fixture_plan(struct study_fixture *fixture, struct study_request request);

Suite *study_table_suite(void);
Suite *range_suite(void);
Suite *strategies_suite(void);
Suite *forecast_suite(void);
