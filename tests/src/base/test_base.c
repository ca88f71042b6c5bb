/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"
#include "tests/suites.h"

static char directory[] = "/tmp/dpartui-test-XXXXXX";
static struct error err;

static void setup(void)
{
    strcpy(strrchr(directory, '-'), "-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    err = (struct error)ERROR_INIT;
}

static void teardown(void)
{
    char *command = text_format("rm -rf '%s'", directory);
    ck_assert_ptr_nonnull(command);
    ck_assert_int_eq(system(command), 0);
    free(command);
}

START_TEST(errors_compose)
{
    errno = ENOENT;
    ck_assert(!error_errno(&err, "%s: cannot open", "x"));
    ck_assert_str_eq(err.text, "x: cannot open: No such file or directory");
    ck_assert(!error_prefix(&err, "run %d", 7));
    ck_assert_str_eq(err.text, "run 7: x: cannot open: No such file or directory");
    char big[3000];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    error_set(&err, ERROR_USAGE, "%s", big);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    error_prefix(&err, "%s", big);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
}
END_TEST

START_TEST(text_grows)
{
    struct text text = TEXT_INIT;
    ck_assert_str_eq(text_cstr(&text), "");
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "%d,", i);
    ck_assert_uint_eq(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    text_consume(&text, 2);
    ck_assert(strncmp(text_cstr(&text), "1,2,3,", 6) == 0);
    text_consume(&text, text.length);
    ck_assert_str_eq(text_cstr(&text), "");
    text_free(&text);
}
END_TEST

START_TEST(nouns_follow_their_counts)
{
    ck_assert_str_eq(plural(0), "s");
    ck_assert_str_eq(plural(1), "");
    ck_assert_str_eq(plural(2), "s");
}
END_TEST

START_TEST(numbers_are_whole_words)
{
    long number = 0;
    double real = 0;
    ck_assert(parse_long("-5", -10, 10, &number) && number == -5);
    ck_assert(!parse_long("", 0, 10, &number));
    ck_assert(!parse_long("5 ", 0, 10, &number));
    ck_assert(!parse_long("11", 0, 10, &number));
    ck_assert(parse_double("1e-400", 0, 1, &real));
    ck_assert(!parse_double("1e400", 0, 1e300, &real));
    ck_assert(!parse_double("0,5", 0, 1, &real));
}
END_TEST

START_TEST(written_whole_or_not_at_all)
{
    char *path = path_join(directory, "file");
    struct file_writer writer;
    ck_assert(file_writer_open(&writer, path, &err));
    ck_assert(file_writer_put(&writer, "hello", 5, &err));
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert(file_writer_commit(&writer, &err));
    char *data;
    size_t length;
    ck_assert(file_read(path, 100, &data, &length, &err));
    ck_assert_uint_eq(length, 5);
    ck_assert_str_eq(data, "hello");
    free(data);
    /* A full disk in the middle of the second version leaves the first. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 10;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    ck_assert(file_writer_open(&writer, path, &err));
    bool put = file_writer_put(&writer, "a longer text than fits", 23, &err);
    setrlimit(RLIMIT_FSIZE, &limit);
    ck_assert(!put);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot write"));
    file_writer_abort(&writer);
    ck_assert(file_read(path, 100, &data, &length, &err));
    ck_assert_str_eq(data, "hello");
    free(data);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(directory), 0); /* no temporary file is left */
    ck_assert_int_eq(mkdir(directory, 0700), 0);
    free(path);
}
END_TEST

START_TEST(written_over_regular_files_only)
{
    struct file_writer writer;
    struct stat info;
    char *path = path_join(directory, "pipe");
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!file_writer_open(&writer, path, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
    file_writer_abort(&writer);
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert(S_ISFIFO(info.st_mode));
    free(path);
}
END_TEST

START_TEST(reading_refuses)
{
    char *data;
    size_t length;
    ck_assert(!file_read(directory, 100, &data, &length, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
    char *path = path_join(directory, "big");
    FILE *file = fopen(path, "w");
    fputs("0123456789", file);
    fclose(file);
    ck_assert(!file_read(path, 9, &data, &length, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "more than"));
    free(path);
}
END_TEST

START_TEST(runtime_directory_is_private)
{
    setenv("XDG_RUNTIME_DIR", directory, 1);
    char *path = paths_runtime_dir(&err);
    ck_assert_msg(path != NULL, "%s", err.text);
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0700);
    ck_assert_int_eq(chmod(path, 0755), 0);
    ck_assert_ptr_null(paths_runtime_dir(&err));
    ck_assert_ptr_nonnull(strstr(err.text, "chmod 700"));
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(symlink("/tmp", path), 0);
    ck_assert_ptr_null(paths_runtime_dir(&err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a directory"));
    free(path);
}
END_TEST

START_TEST(models_are_found)
{
    char *path = path_join(directory, "mine.conf");
    FILE *file = fopen(path, "w");
    fclose(file);
    setenv("DPARTUI_MODEL_PATH", directory, 1);
    char *found = paths_find_model("mine", &err);
    ck_assert_str_eq(found, path);
    free(found);
    ck_assert_ptr_null(paths_find_model("absent", &err));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    /* What there is instead, each once: "min" is not the beginning of "mine" only. */
    char *other = path_join(directory, "min.conf");
    file = fopen(other, "w");
    fclose(file);
    char *twice = text_format("%s:%s", directory, directory);
    setenv("DPARTUI_MODEL_PATH", twice, 1);
    ck_assert_ptr_null(paths_find_model("absent", &err));
    ck_assert_msg(strncmp(err.text, "no model 'absent'; there are: min, mine", 39) == 0, "%s",
                  err.text);
    ck_assert_ptr_null(strstr(strstr(err.text, "mine") + 1, "mine"));
    free(twice);
    free(other);
    free(path);
}
END_TEST

START_TEST(pipes_are_not_waited_for)
{
    char *path = path_join(directory, "pipe"), *data;
    size_t length;
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert(!file_read(path, 100, &data, &length, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
    free(path);
}
END_TEST

START_TEST(files_have_the_mode_of_the_umask)
{
    char *path = path_join(directory, "file");
    struct file_writer writer;
    struct stat info;
    umask(027);
    ck_assert(file_writer_open(&writer, path, &err));
    ck_assert(file_writer_commit(&writer, &err));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0640);
    free(path);
}
END_TEST

START_TEST(json_members)
{
    json_t *object = json_loads("{\"n\":5,\"x\":0.5,\"s\":\"t\",\"b\":true,\"z\":null}", 0, NULL);
    long n = 0;
    double x = 0;
    bool b = false;
    const char *s = NULL;
    ck_assert(json_get_long(object, "n", 0, 10, &n, &err) && n == 5);
    ck_assert(json_get_double(object, "x", 0, 1, &x, &err) && x == 0.5);
    ck_assert(json_get_double(object, "n", 0, 9, &x, &err) && x == 5);
    ck_assert(json_get_bool(object, "b", &b, &err) && b);
    ck_assert(json_get_string(object, "s", &s, &err) && strcmp(s, "t") == 0);
    ck_assert(json_get_string(object, "z", &s, &err) && strcmp(s, "t") == 0);
    ck_assert(!json_get_long(object, "n", 6, 10, &n, &err));
    ck_assert(!json_get_long(object, "s", 0, 10, &n, &err));
    ck_assert(!json_get_string(object, "n", &s, &err));
    ck_assert(!json_get_bool(object, "n", &b, &err));
    json_decref(object);
}
END_TEST

START_TEST(json_as_text)
{
    static const size_t flags[] = {0, JSON_LINE, JSON_INDENT(1) | JSON_SORT_KEYS};
    char key[] = "key of member a";
    json_t *object = json_object(), *list = json_array();
    for (; key[14] <= 'z'; key[14]++)
        ck_assert_int_eq(json_object_set_new(object, key, json_real(0.1 * key[14])), 0);
    ck_assert_int_eq(json_object_set_new(object, "list", list), 0);
    ck_assert_int_eq(json_array_append_new(list, json_string("a\"\n\u00e4")), 0);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char *text = json_to_text(object, flags[i]), *expected = json_dumps(object, flags[i]);
        ck_assert_str_eq(text, expected);
        free(text);
        free(expected);
    }
    ck_assert_ptr_null(json_to_text(json_array_get(list, 0), 0)); /* no document by itself */
    json_decref(object);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tcase = tcase_create("base");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, errors_compose);
    tcase_add_test(tcase, text_grows);
    tcase_add_test(tcase, nouns_follow_their_counts);
    tcase_add_test(tcase, numbers_are_whole_words);
    tcase_add_test(tcase, written_whole_or_not_at_all);
    tcase_add_test(tcase, written_over_regular_files_only);
    tcase_add_test(tcase, reading_refuses);
    tcase_add_test(tcase, pipes_are_not_waited_for);
    tcase_add_test(tcase, files_have_the_mode_of_the_umask);
    tcase_add_test(tcase, runtime_directory_is_private);
    tcase_add_test(tcase, models_are_found);
    tcase_add_test(tcase, json_members);
    tcase_add_test(tcase, json_as_text);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
