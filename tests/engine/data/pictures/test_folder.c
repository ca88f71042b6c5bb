/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/data/data.h"
#include "engine/data/pictures/list.h"
#include "engine/data/pictures/pictures.h"
#include "tests/engine/data/pictures/write_jpeg.h"
#include "tests/suites.h"
#include "tests/support.h"

/* Folders of pictures: their rows, their order, and the cache. */

static char *folder, *pets;
static struct error err;
static struct picture_settings settings;

static void setup(void)
{
    folder = temporary_folder();
    pets = format("%s/pets", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
    err = (struct error)ERROR_INIT;
    settings = (struct picture_settings){.test_share = 0.25};
}

static void teardown(void)
{
    remove_tree(folder);
    free(pets);
}

/* A grey or coloured picture whose pixels are all `value`, which JPEG keeps. */
static void put_picture(const char *name, int value, int side, enum jpeg_kind kind)
{
    size_t size = (size_t)side * (size_t)side * (size_t)jpeg_channels(kind);
    uint8_t *pixels = malloc(size);
    memset(pixels, value, size);
    uint8_t *bytes = write_jpeg(pixels, side, side, kind, 0, &size);
    put_file(pets, name, bytes, size);
    free(bytes);
    free(pixels);
}

/* `count` pictures of a class; that of number i is all first + i. */
static void put_class(const char *class, int count, int first)
{
    for (int i = 0; i < count; i++) {
        char *name = format("%s/%d.jpg", class, i);
        put_picture(name, first + i, 8, KIND_GREY);
        free(name);
    }
}

static void load(struct pictures *out)
{
    ck_assert_msg(pictures_load(pets, &settings, NULL, out, &err), "%s", err.text);
}

static void check_refused(const char *words)
{
    struct pictures pictures;
    err = (struct error)ERROR_INIT;
    ck_assert(!pictures_load(pets, &settings, NULL, &pictures, &err));
    ck_assert_msg(strstr(err.text, words) != NULL, "'%s' lacks '%s'", err.text, words);
    ck_assert_ptr_null(strchr(err.text, '\n'));
}

static int cache_files(void)
{
    char *command = format("test $(ls '%s/dpartui/pictures' | wc -l) = 2", folder);
    int status = system(command);
    free(command);
    return status;
}

START_TEST(rows_are_the_pictures)
{
    struct pictures a, b;
    put_class("train/cat", 3, 10);
    put_class("train/dog", 5, 100);
    put_class("test/cat", 2, 50);
    put_class("test/dog", 1, 200);
    put_file(pets, "train/dog/notes.txt", "x", 1);
    put_file(pets, "train/dog/.hidden.png", "x", 1);
    load(&a);
    ck_assert_int_eq(a.train_rows, 8);
    ck_assert_int_eq(a.test_rows, 3);
    ck_assert_int_eq(a.channels, 1);
    ck_assert_int_eq(a.height, 8);
    ck_assert_int_eq(a.width, 8);
    ck_assert_str_eq(a.classes[0], "cat");
    ck_assert_str_eq(a.classes[1], "dog");
    ck_assert_str_eq(a.choices, "grey; 1 other file left out");
    ck_assert_ptr_null(a.remarks[0]);
    int seen[256] = {0};
    for (int row = 0; row < 11; row++) {
        int value = a.pixels[64 * row];
        for (int i = 0; i < 64; i++)
            ck_assert_int_eq(a.pixels[64 * row + i], value);
        seen[value]++;
        int wanted = row < 8 ? value >= 100 : value >= 200;
        ck_assert_int_eq(a.labels[row], wanted);
        ck_assert_int_eq(row < 8, (value >= 10 && value < 13) || (value >= 100 && value < 105));
    }
    for (int i = 0; i < 256; i++)
        ck_assert_int_le(seen[i], 1);
    ck_assert_int_eq(cache_files(), 0); /* the scan and the rows */
    load(&b);
    ck_assert_int_eq(memcmp(a.pixels, b.pixels, 11 * 64), 0);
    ck_assert_int_eq(memcmp(a.labels, b.labels, 11), 0);
    pictures_free(&a);
    pictures_free(&b);
}
END_TEST

/* Beside train/ alone: without it val/ is a class. */
START_TEST(a_folder_may_have_validation_pictures)
{
    static const char *const names[] = {"validation", "val"};
    struct pictures pictures;
    char *cat = format("%s/cat", names[_i]), *dog = format("%s/dog", names[_i]);
    put_class("train/cat", 4, 10);
    put_class("train/dog", 4, 100);
    put_class(cat, 2, 50);
    check_refused("one class alone");
    put_class(dog, 1, 200);
    load(&pictures);
    ck_assert_int_eq(pictures.train_rows, 6);
    ck_assert_int_eq(pictures.validation_rows, 3);
    ck_assert_int_eq(pictures.test_rows, 2);
    ck_assert_str_eq(pictures.choices,
                     "grey; 25% of each class are test rows; 3 pictures for validation");
    for (int row = 0; row < 11; row++) {
        int value = pictures.pixels[64 * row];
        bool own = (value >= 50 && value < 52) || value >= 200;
        ck_assert_int_eq(own, row >= 6 && row < 9);
        ck_assert_int_eq(pictures.labels[row], value >= 100);
    }
    pictures_free(&pictures);
    put_class(_i ? "validation/cat" : "val/cat", 1, 1);
    check_refused("has validation/ and val/");
    free(cat);
    free(dog);
}
END_TEST

START_TEST(any_beginning_has_its_share_of_each_class)
{
    struct picture_list list;
    for (int class = 0; class < 3; class ++)
        for (int i = 0; i < 40 * (class + 1); i++) {
            char *name = format("%d/%d.png", class, i);
            put_file(pets, name, "", 0);
            free(name);
        }
    ck_assert_msg(picture_list_read(pets, 0.25, &list, &err), "%s", err.text);
    ck_assert_int_eq(list.rows[PICTURE_TRAIN], 180);
    ck_assert_int_eq(list.rows[PICTURE_TEST], 60);
    int rows[2][3] = {{0}};
    for (int i = 0; i < 240; i++) {
        int part = list.files[i].part == PICTURE_TEST, before = part ? i - 180 : i;
        ck_assert_int_eq(part, i >= 180);
        rows[part][list.files[i].label]++;
        for (int class = 0; class < 3; class ++) {
            double wanted = (before + 1) * (class + 1) / 6.0;
            ck_assert_double_le(rows[part][class] - wanted, 1.0);
            ck_assert_double_le(wanted - rows[part][class], 1.0);
        }
    }
    picture_list_free(&list);
}
END_TEST

/* So that an evaluation much later tests on no picture that was trained on. */
START_TEST(test_rows_stay_test_rows_as_pictures_are_added)
{
    struct picture_list few, many;
    bool tested[400] = {false};
    put_class("a", 2, 0);
    for (int i = 0; i < 400; i++) {
        char *name = format("b/%d.png", i);
        put_file(pets, name, "", 0);
        free(name);
        if (i != 199)
            continue;
        ck_assert(picture_list_read(pets, 0.25, &few, &err));
        for (size_t k = 0; k < few.count; k++)
            if (few.files[k].label == 1)
                tested[atoi(few.files[k].name + 2)] = few.files[k].part == PICTURE_TEST;
        picture_list_free(&few);
    }
    ck_assert(picture_list_read(pets, 0.25, &many, &err));
    int moved = 0;
    for (size_t k = 0; k < many.count; k++) {
        int i = atoi(many.files[k].name + 2);
        moved += many.files[k].label == 1 && i < 200 &&
                 (many.files[k].part == PICTURE_TEST) != tested[i];
    }
    ck_assert_int_le(moved, 20); /* a few at the border; a new choice would move 75 */
    picture_list_free(&many);
}
END_TEST

START_TEST(a_changed_folder_is_read_again)
{
    struct pictures pictures;
    put_class("a", 4, 10);
    put_class("b", 4, 60);
    load(&pictures);
    pictures_free(&pictures);
    put_picture("a/0.jpg", 33, 8, KIND_GREY);
    struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 5}};
    char *path = format("%s/a/0.jpg", pets);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    load(&pictures);
    bool there = false;
    for (int row = 0; row < 8; row++)
        there = there || pictures.pixels[64 * row] == 33;
    ck_assert(there);
    pictures_free(&pictures);
    ck_assert_int_eq(cache_files(), 0); /* what was out of date is replaced */
    put_picture("b/4.jpg", 99, 8, KIND_YCC);
    load(&pictures);
    ck_assert_int_eq(pictures.channels, 3);
    ck_assert_int_eq(pictures.train_rows + pictures.test_rows, 9);
    pictures_free(&pictures);
    free(path);
}
END_TEST

START_TEST(damaged_entries_are_made_again)
{
    struct pictures pictures;
    put_class("a", 4, 10);
    put_class("b", 4, 60);
    settings.width = settings.height = 8;
    settings.colour = IMAGE_COLOUR_NO;
    load(&pictures);
    char *path = strdup(pictures.cache.path);
    pictures_free(&pictures);
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    for (int turn = 0; turn < 3; turn++) {
        int fd = open(path, O_RDWR);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(turn == 0   ? ftruncate(fd, info.st_size / 2)
                         : turn == 1 ? ftruncate(fd, 0)
                                     : (int)pwrite(fd, "?", 1, 3) - 1,
                         0);
        close(fd);
        load(&pictures);
        ck_assert_int_eq(pictures.train_rows + pictures.test_rows, 8);
        pictures_free(&pictures);
        struct stat now;
        ck_assert_int_eq(stat(path, &now), 0);
        ck_assert_int_eq(now.st_size, info.st_size);
    }
    free(path);
}
END_TEST

static bool end_after_a_while(void *context, long done, long total)
{
    (void)done;
    return total > 0 || ++*(int *)context < 3;
}

START_TEST(processes_wait_for_each_other_and_not_for_the_dead)
{
    struct pictures pictures;
    int turns = 0;
    const struct data_watch watch = {end_after_a_while, &turns};
    put_class("a", 4, 10);
    put_class("b", 4, 60);
    settings.width = settings.height = 8;
    settings.colour = IMAGE_COLOUR_NO;
    load(&pictures);
    char *path = strdup(pictures.cache.path), *temporary = strdup(path);
    strcpy(strrchr(temporary, '.'), ".new");
    pictures_free(&pictures);
    unlink(path);
    int fd = open(temporary, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    ck_assert(!pictures_load(pets, &settings, &watch, &pictures, &err));
    ck_assert_int_eq(err.kind, ERROR_CANCELLED);
    ck_assert_int_eq(turns, 3);
    ck_assert_int_ne(access(path, F_OK), 0);
    close(fd); /* it died, and left its file */
    load(&pictures);
    pictures_free(&pictures);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_ne(access(temporary, F_OK), 0);
    /* Many at once. */
    unlink(path);
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(!pictures_load(pets, &settings, NULL, &pictures, &err) ||
                  pictures.train_rows != 6);
    for (int i = 0; i < 4; i++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    free(path);
    free(temporary);
}
END_TEST

START_TEST(without_a_cache_memory_is_enough)
{
    struct pictures pictures;
    put_class("a", 2, 10);
    put_class("b", 2, 60);
    put_file(folder, "file", "", 0);
    char *nowhere = format("%s/file", folder);
    setenv("XDG_CACHE_HOME", nowhere, 1);
    load(&pictures);
    ck_assert_int_eq(pictures.train_rows, 2);
    ck_assert_ptr_nonnull(strstr(pictures.remarks[0], "not kept for the next start"));
    ck_assert_ptr_nonnull(strstr(pictures.remarks[0], nowhere));
    pictures_free(&pictures);
    free(nowhere);
}
END_TEST

START_TEST(broken_pictures_end_it_or_are_skipped)
{
    struct pictures pictures;
    put_class("a", 8, 10);
    put_class("b", 8, 60);
    put_file(pets, "a/3.jpg", "GIF89a..", 8);
    put_file(pets, "b/5.jpg", "", 0);
    check_refused("a/3.jpg: holds GIF, neither PNG nor JPEG");
    settings.skip_broken = true;
    for (int turn = 0; turn < 2; turn++) { /* decoded, then from the cache */
        load(&pictures);
        ck_assert_int_eq(pictures.train_rows + pictures.test_rows, 14);
        ck_assert_ptr_nonnull(strstr(pictures.remarks[0], "2 of 16 pictures broken"));
        for (int row = 0; row < 14; row++)
            ck_assert_int_eq(pictures.pixels[64 * row] >= 60, pictures.labels[row]);
        pictures_free(&pictures);
    }
    for (int i = 0; i < 8; i++) {
        char *name = format("b/%d.jpg", i);
        put_file(pets, name, "?", 1);
        free(name);
    }
    check_refused("no training picture of class b can be read");
}
END_TEST

START_TEST(what_makes_no_data_set_is_named)
{
    put_class("a", 2, 10);
    check_refused("one class alone, a: two are the least");
    put_file(pets, "b/readme", "", 0);
    check_refused("b: no pictures in it: .png, .jpg or .jpeg");
    put_picture("b/0.jpg", 1, 9, KIND_GREY);
    check_refused("not all of one size: --image-size 32");
    settings.width = settings.height = 4;
    struct pictures pictures;
    load(&pictures);
    ck_assert_int_eq(pictures.height, 4);
    pictures_free(&pictures);
    put_picture("test/a/0.jpg", 1, 9, KIND_GREY);
    check_refused("has test/, but no train/");
    put_picture("train/a/0.jpg", 1, 9, KIND_GREY);
    put_picture("train/b/0.jpg", 1, 9, KIND_GREY);
    put_picture("test/c/0.jpg", 1, 9, KIND_GREY);
    check_refused("class b is in train, but not in test");
    put_picture("test/b/0.jpg", 1, 9, KIND_GREY);
    check_refused("class c is in test, but not in train");
}
END_TEST

START_TEST(more_classes_than_labels_are_named)
{
    for (int i = 0; i <= PICTURES_MOST_CLASSES; i++) {
        char *name = format("%d/0.png", i);
        put_file(pets, name, "", 0);
        free(name);
    }
    check_refused("more than 256 folders");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("folders of pictures");
    TCase *tcase = tcase_create("folders");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, rows_are_the_pictures);
    tcase_add_loop_test(tcase, a_folder_may_have_validation_pictures, 0, 2);
    tcase_add_test(tcase, any_beginning_has_its_share_of_each_class);
    tcase_add_test(tcase, test_rows_stay_test_rows_as_pictures_are_added);
    tcase_add_test(tcase, a_changed_folder_is_read_again);
    tcase_add_test(tcase, damaged_entries_are_made_again);
    tcase_add_test(tcase, processes_wait_for_each_other_and_not_for_the_dead);
    tcase_add_test(tcase, without_a_cache_memory_is_enough);
    tcase_add_test(tcase, broken_pictures_end_it_or_are_skipped);
    tcase_add_test(tcase, what_makes_no_data_set_is_named);
    tcase_add_test(tcase, more_classes_than_labels_are_named);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}
