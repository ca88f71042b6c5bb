/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/data/pictures/list.h"
#include "tests/suites.h"
#include "tests/support.h"

/* What a folder of pictures holds, by names, sizes and times; what is in the files does not matter
 * here. */

enum { CATS = 1025, DOGS = 3 }; /* several of what is looked at together */

static char *folder, *pets;
static struct error err;
static struct picture_list list;

static void setup(void)
{
    folder = temporary_folder();
    pets = format("%s/pets", folder);
    err = (struct error)ERROR_INIT;
}

static void teardown(void)
{
    picture_list_free(&list);
    remove_tree(folder);
    free(pets);
}

/* Their number is their size, and, in nanoseconds, their time. */
static void put_class(const char *class, int count)
{
    char bytes[CATS];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < count; i++) {
        const struct timespec times[2] = {{.tv_sec = 5, .tv_nsec = i}, {.tv_sec = 5, .tv_nsec = i}};
        char *name = format("%s/%d.png", class, i), *path = format("%s/%s", pets, name);
        put_file(pets, name, bytes, (size_t)i);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
        free(path);
        free(name);
    }
}

static void read_list(void)
{
    picture_list_free(&list);
    ck_assert_msg(picture_list_read(pets, 0.2, &list, &err), "%s", err.text);
}

static void link_to(const char *target, const char *name)
{
    char *path = format("%s/%s", pets, name);
    ck_assert_int_eq(symlink(target, path), 0);
    free(path);
}

START_TEST(every_file_has_its_size_and_time)
{
    bool seen[2][CATS] = {{false}};
    put_class("train/cat", CATS);
    put_class("train/dog", DOGS);
    read_list();
    ck_assert_uint_eq(list.count, CATS + DOGS);
    for (size_t i = 0; i < list.count; i++) {
        const struct picture_file *file = &list.files[i];
        const int number = atoi(strrchr(file->name, '/') + 1);
        ck_assert(!seen[file->label][number]);
        seen[file->label][number] = true;
        ck_assert_int_eq(strncmp(file->name, file->label ? "train/dog/" : "train/cat/", 10), 0);
        ck_assert_int_eq(file->size, number);
        ck_assert_int_eq(file->time_ns, INT64_C(5000000000) + number);
    }
}
END_TEST

/* Of any file, wherever it is among them. */
START_TEST(the_digest_is_of_sizes_and_times)
{
    static const int numbers[] = {0, 511, 512, CATS - 1};
    put_class("cat", CATS);
    put_class("dog", DOGS);
    read_list();
    uint64_t before = list.digest;
    read_list();
    ck_assert_uint_eq(list.digest, before);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *name = format("cat/%d.png", numbers[i]), *path = format("%s/%s", pets, name);
        const struct timespec times[2] = {{.tv_sec = 6}, {.tv_sec = 6}};
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
        read_list();
        ck_assert_uint_ne(list.digest, before);
        before = list.digest;
        ck_assert_int_eq(truncate(path, 2000), 0);
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
        read_list();
        ck_assert_uint_ne(list.digest, before);
        before = list.digest;
        free(path);
        free(name);
    }
}
END_TEST

START_TEST(links_are_followed_and_folders_are_no_pictures)
{
    put_class("train/cat", 2);
    put_class("elsewhere/dog", DOGS);
    link_to("../elsewhere/dog", "train/dog");
    put_file(pets, "train/cat/folder.png/x", "", 0);
    link_to("folder.png", "train/cat/link.png");
    link_to("1.png", "train/cat/one-more.png");
    read_list();
    ck_assert_int_eq(list.class_count, 2);
    ck_assert_uint_eq(list.count, 2 + 1 + DOGS);
    for (size_t i = 0; i < list.count; i++)
        if (strstr(list.files[i].name, "one-more"))
            ck_assert_int_eq(list.files[i].size, 1);
}
END_TEST

START_TEST(a_link_to_nothing_is_named)
{
    put_class("cat", CATS);
    put_class("dog", DOGS);
    link_to("nothing", "cat/lost.png");
    ck_assert(!picture_list_read(pets, 0.2, &list, &err));
    ck_assert_msg(strstr(err.text, "/pets/cat/lost.png: cannot stat: No such file") != NULL, "%s",
                  err.text);
    ck_assert_ptr_null(list.files);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("list");
    TCase *tcase = tcase_create("folders");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, every_file_has_its_size_and_time);
    tcase_add_test(tcase, the_digest_is_of_sizes_and_times);
    tcase_add_test(tcase, links_are_followed_and_folders_are_no_pictures);
    tcase_add_test(tcase, a_link_to_nothing_is_named);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
