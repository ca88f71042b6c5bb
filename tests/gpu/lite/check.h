/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Stand-in for the Check library, with what the tests use, for machines that have a GPU but not the
 * library (tests/gpu/run). Every test runs in its own process; CK_RUN_CASE and CK_RUN_SUITE
 * choose, CK_FORK=no keeps all in one process. See Check's manual for the rest.
 */
typedef struct Suite Suite;
typedef struct TCase TCase;
typedef struct SRunner SRunner;
typedef void (*TFun)(int);
typedef void (*SFun)(void);
typedef struct TTest {
    const char *name;
    TFun run;
} TTest;
enum print_output { CK_SILENT, CK_MINIMAL, CK_NORMAL, CK_VERBOSE, CK_ENV };

#define START_TEST(NAME)                                                                           \
    static void NAME##_run(int _i);                                                                \
    static const TTest NAME##_test = {#NAME, NAME##_run};                                          \
    static const TTest *NAME = &NAME##_test;                                                       \
    static void NAME##_run(int _i __attribute__((unused)))
#define END_TEST

Suite *suite_create(const char *name);
TCase *tcase_create(const char *name);
void suite_add_tcase(Suite *suite, TCase *tcase);
void tcase_set_timeout(TCase *tcase, double seconds);
void tcase_add_checked_fixture(TCase *tcase, SFun setup, SFun teardown);
#define tcase_add_test(TCASE, TEST)                  check_add(TCASE, TEST, 0, 1)
#define tcase_add_loop_test(TCASE, TEST, BEGIN, END) check_add(TCASE, TEST, BEGIN, END)
void check_add(TCase *tcase, const TTest *test, int begin, int end);

SRunner *srunner_create(Suite *suite);
void srunner_add_suite(SRunner *runner, Suite *suite);
void srunner_run_all(SRunner *runner, enum print_output output);
int srunner_ntests_failed(SRunner *runner);
void srunner_free(SRunner *runner);

_Noreturn void check_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define ck_abort_msg(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define ck_assert_msg(CONDITION, ...)                                                              \
    ((CONDITION) ? (void)0 : check_fail(__FILE__, __LINE__, __VA_ARGS__))
#define ck_assert(CONDITION) ck_assert_msg(CONDITION, "not so: %s", #CONDITION)

#define CHECK_COMPARE(TYPE, FORMAT, X, OP, Y)                                                      \
    do {                                                                                           \
        TYPE ck_x = (X), ck_y = (Y);                                                               \
        ck_assert_msg(ck_x OP ck_y, "not so: %s %s %s: " FORMAT ", " FORMAT, #X, #OP, #Y, ck_x,    \
                      ck_y);                                                                       \
    } while (0)
#define ck_assert_int_eq(X, Y)    CHECK_COMPARE(intmax_t, "%jd", X, ==, Y)
#define ck_assert_int_ne(X, Y)    CHECK_COMPARE(intmax_t, "%jd", X, !=, Y)
#define ck_assert_int_lt(X, Y)    CHECK_COMPARE(intmax_t, "%jd", X, <, Y)
#define ck_assert_int_le(X, Y)    CHECK_COMPARE(intmax_t, "%jd", X, <=, Y)
#define ck_assert_int_gt(X, Y)    CHECK_COMPARE(intmax_t, "%jd", X, >, Y)
#define ck_assert_int_ge(X, Y)    CHECK_COMPARE(intmax_t, "%jd", X, >=, Y)
#define ck_assert_uint_eq(X, Y)   CHECK_COMPARE(uintmax_t, "%ju", X, ==, Y)
#define ck_assert_uint_lt(X, Y)   CHECK_COMPARE(uintmax_t, "%ju", X, <, Y)
#define ck_assert_uint_le(X, Y)   CHECK_COMPARE(uintmax_t, "%ju", X, <=, Y)
#define ck_assert_uint_gt(X, Y)   CHECK_COMPARE(uintmax_t, "%ju", X, >, Y)
#define ck_assert_uint_ge(X, Y)   CHECK_COMPARE(uintmax_t, "%ju", X, >=, Y)
#define ck_assert_double_eq(X, Y) CHECK_COMPARE(double, "%g", X, ==, Y)
#define ck_assert_double_ne(X, Y) CHECK_COMPARE(double, "%g", X, !=, Y)
#define ck_assert_double_lt(X, Y) CHECK_COMPARE(double, "%g", X, <, Y)
#define ck_assert_double_le(X, Y) CHECK_COMPARE(double, "%g", X, <=, Y)
#define ck_assert_double_gt(X, Y) CHECK_COMPARE(double, "%g", X, >, Y)
#define ck_assert_double_ge(X, Y) CHECK_COMPARE(double, "%g", X, >=, Y)
#define ck_assert_float_eq(X, Y)  CHECK_COMPARE(double, "%g", (double)(X), ==, (double)(Y))
#define ck_assert_ptr_eq(X, Y)    CHECK_COMPARE(const void *, "%p", X, ==, Y)
#define ck_assert_ptr_nonnull(X)  ck_assert_msg((X) != NULL, "%s is NULL", #X)
#define ck_assert_ptr_null(X)     ck_assert_msg((X) == NULL, "%s is not NULL", #X)
#define ck_assert_double_nan(X)   ck_assert_msg(isnan(X), "%s is a number", #X)
#define ck_assert_double_eq_tol(X, Y, T)                                                           \
    do {                                                                                           \
        double ck_x = (X), ck_y = (Y), ck_t = (T);                                                 \
        ck_assert_msg(fabs(ck_x - ck_y) <= ck_t, "%s is %.9g, %s %.9g, %g allowed", #X, ck_x, #Y,  \
                      ck_y, ck_t);                                                                 \
    } while (0)
#define ck_assert_str_eq(X, Y)                                                                     \
    do {                                                                                           \
        const char *ck_x = (X), *ck_y = (Y);                                                       \
        ck_assert_msg(ck_x &&ck_y &&strcmp(ck_x, ck_y) == 0, "%s is \"%s\", not \"%s\"", #X,       \
                      ck_x ? ck_x : "(null)", ck_y ? ck_y : "(null)");                             \
    } while (0)
#define ck_assert_mem_eq(X, Y, SIZE)                                                               \
    ck_assert_msg(memcmp(X, Y, SIZE) == 0, "%s and %s are not the same bytes", #X, #Y)
#define ck_assert_mem_ne(X, Y, SIZE)                                                               \
    ck_assert_msg(memcmp(X, Y, SIZE) != 0, "%s and %s are the same bytes", #X, #Y)
