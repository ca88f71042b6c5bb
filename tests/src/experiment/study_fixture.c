/* SPDX-License-Identifier: MIT */
#include "tests/src/experiment/study_fixture.h"

#include <stdio.h>

void study_fixture_begin(struct study_fixture *fixture)
{
    *fixture = (struct study_fixture){.err = ERROR_INIT};
    spec_init(&fixture->spec);
}

void study_fixture_end(struct study_fixture *fixture)
{
    study_free(&fixture->study);
    spec_free(&fixture->spec);
}

bool study_fixture_plan(struct study_fixture *fixture, struct study_request request)
{
    struct device_list pool;
    ck_assert(device_list_parse("cpu:0-7", &pool, &fixture->err));
    request.spec = &fixture->spec;
    request.pool = &pool;
    request.repeats = request.repeats ? request.repeats : 1;
    request.cores = request.cores ? request.cores : 8;
    study_free(&fixture->study);
    bool ok = study_plan(&fixture->study, &request, &fixture->err);
    snprintf(fixture->study.id, sizeof fixture->study.id, "7");
    return ok;
}
