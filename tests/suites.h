/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <stdarg.h>
#include <unistd.h>

#ifdef DPARTUI_REAL_GPU
#include "tests/gpu/absent.h"
#endif

#if defined CHECK_MAJOR_VERSION &&                                                                 \
    !defined DPARTUI_REAL_GPU /* tests/gpu/run has its own libraries */
#ifdef __cplusplus
extern "C" {
#endif
/*
 * Check writes to a file where a test is at each assertion that holds, for its report of a crash.
 * With an assertion for every number of a tensor that was most of some tests' time. This takes its
 * place (the linker's --wrap in CHECK_LIBS) and passes on what is not the same place again.
 */
void __real__mark_point(const char *file, int line);
__attribute__((weak)) void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line)
{
    static __thread const char *last_file;
    static __thread int last_line;
    if (file == last_file && line == last_line)
        return;
    last_file = file;
    last_line = line;
    __real__mark_point(file, line);
}
#ifdef __cplusplus
}
#endif
#endif

/*
 * Sanitizers see how results are made, not what they are: of long lists of cases that differ in
 * results, builds with them run every fifth, in which kinds that take turns by two, three or four
 * all occur.
 */
#ifdef __SANITIZE_ADDRESS__
enum { MANY_STEP = 5 };
#else
enum { MANY_STEP = 1 };
#endif

static inline void add_many(TCase *tc, const TTest *test, int count)
{
    for (int i = 0; i < count; i += MANY_STEP)
        tcase_add_loop_test(tc, test, i, i + 1);
}

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
#ifdef ONE_PROCESS
    srunner_set_fork_status(runner, CK_NOFORK);
    alarm(1800); /* as Check has no limits then */
#endif
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
