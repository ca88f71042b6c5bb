/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SUITES_H
#define DPARTUI_TESTS_SUITES_H

#include <check.h>
#include <stdarg.h>

#ifdef DPARTUI_REAL_GPU
#include "tests/gpu/absent.h"
#endif

/*
 * Run the suites, up to a NULL, and report as the environment says (CK_VERBOSITY, CK_RUN_CASE,
 * ...). The exit status of a test program: 1 when a test failed; of one for a GPU (tests/gpu/run)
 * 77 where there is none.
 */
__attribute__((sentinel)) static inline int run_suites(Suite *first, ...)
{
#ifdef DPARTUI_REAL_GPU
    if (gpu_absent())
        return GPU_ABSENT;
#endif
    SRunner *runner = srunner_create(first);
    va_list others;
    Suite *suite;

    va_start(others, first);
    while ((suite = va_arg(others, Suite *)) != NULL)
        srunner_add_suite(runner, suite);
    va_end(others);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}

#endif
