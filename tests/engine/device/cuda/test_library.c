/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/device/cuda/libraries/loader.h"
#include "tests/suites.h"

/* How libraries are looked for, and what is said when none will do. */

#define FILE_NAME "libdpartui_fake.so.2"

struct fake_api {
    int (*version)(void);
    int (*seven)(void);
};

static const char *const symbols[] = {"fake_version", "fake_seven"};

static struct error err;
static char root[PATH_MAX];
static struct fake_api api;

static void setup(void)
{
    const char *temporary = getenv("TMPDIR");
    err = (struct error)ERROR_INIT;
    memset(&api, 0xff, sizeof api);
    snprintf(root, sizeof root, "%s/library-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

/* Put a library of the build, or an empty file, into a folder below the root. */
static void place(const char *folder, const char *library)
{
    char path[PATH_MAX], target[PATH_MAX];
    const char *build = getenv("top_builddir");
    snprintf(path, sizeof path, "mkdir -p '%.2000s/%s'", root, folder);
    ck_assert_int_eq(system(path), 0);
    snprintf(path, sizeof path, "%.2000s/%s/" FILE_NAME, root, folder);
    ck_assert_ptr_nonnull(realpath(build ? build : ".", target));
    snprintf(target + strlen(target), sizeof target - strlen(target), "/tests/fakes/%s", library);
    if (*library)
        ck_assert_int_eq(symlink(target, path), 0);
    else
        ck_assert_int_eq(close(creat(path, 0644)), 0);
}

static int version_of(const void *table)
{
    return ((const struct fake_api *)table)->version();
}

static bool open_in(const char *folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.2000s/%s", root, folder);
    struct library_request wish = {.name = "Fake",
                                   .file = FILE_NAME,
                                   .folder = path,
                                   .symbols = symbols,
                                   .symbol_count = 2,
                                   .version = 20500,
                                   .version_of = version_of};
    return library_open(&wish, &api, &err);
}

static void fails_with(const char *folder, const char *words)
{
    ck_assert(!open_in(folder));
    ck_assert_int_eq(err.kind, ERROR_FAILED);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
    ck_assert_msg(strstr(err.text, "install Fake 2.5 or a later 2.x") != NULL, "%s", err.text);
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(api.seven);
}

START_TEST(a_good_one)
{
    place("lib", "fake_library.so");
    ck_assert_msg(open_in("lib"), "%s", err.text);
    ck_assert_int_eq(api.seven(), 7);
}
END_TEST

START_TEST(none)
{
    fails_with("lib", FILE_NAME " was not found by the loader nor in /");
}
END_TEST

START_TEST(too_old)
{
    place("lib", "fake_library_old.so");
    fails_with("lib", "/lib/" FILE_NAME " is of version 2.4;");
}
END_TEST

START_TEST(another_major)
{
    place("lib", "fake_library_next.so");
    fails_with("lib", "/lib/" FILE_NAME " is of version 3.0;");
}
END_TEST

START_TEST(lacks_a_function)
{
    place("lib", "fake_library_poor.so");
    fails_with("lib", "/lib/" FILE_NAME " has no function fake_seven;");
}
END_TEST

START_TEST(not_a_library)
{
    place("lib", "");
    fails_with("lib", "/lib/" FILE_NAME " cannot be opened: ");
}
END_TEST

START_TEST(packages_of_python)
{
    place("nvidia/other/lib", "fake_library.so");
    ck_assert_msg(open_in("nvidia/this/lib"), "%s", err.text);
    ck_assert_int_eq(api.seven(), 7);
    /* Only there does it look next to the folder. */
    place("opt/other/lib", "fake_library.so");
    fails_with("opt/this/lib", "was not found");
}
END_TEST

START_TEST(goes_on_behind_a_bad_one)
{
    place("nvidia/this/lib", "fake_library_old.so");
    place("nvidia/other/lib", "fake_library.so");
    ck_assert_msg(open_in("nvidia/this/lib"), "%s", err.text);
    ck_assert_int_eq(api.version(), 20501);
}
END_TEST

START_TEST(a_failure_is_not_kept)
{
    static struct library_once once = LIBRARY_ONCE_INIT;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.2000s/lib", root);
    struct library_request wish = {.name = "Fake",
                                   .file = FILE_NAME,
                                   .folder = path,
                                   .symbols = symbols,
                                   .symbol_count = 2,
                                   .version = 20500,
                                   .version_of = version_of};
    ck_assert(!library_open_once(&once, &wish, &api, &err));
    place("lib", "fake_library.so");
    ck_assert(library_open_once(&once, &wish, &api, &err));
    /* Once open it is not looked for again. */
    wish.file = "libdpartui_nothing.so.2";
    ck_assert(library_open_once(&once, &wish, &api, &err));
    ck_assert_int_eq(api.seven(), 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_library");
    TCase *tc = tcase_create("library");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_good_one);
    tcase_add_test(tc, none);
    tcase_add_test(tc, too_old);
    tcase_add_test(tc, another_major);
    tcase_add_test(tc, lacks_a_function);
    tcase_add_test(tc, not_a_library);
    tcase_add_test(tc, packages_of_python);
    tcase_add_test(tc, goes_on_behind_a_bad_one);
    tcase_add_test(tc, a_failure_is_not_kept);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}
