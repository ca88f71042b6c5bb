/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define PICTURES_MOST         10000000 /* of a folder */
#define PICTURES_MOST_CLASSES 256      /* labels are bytes */

/* What rows are for, in the order of rows. */
enum picture_part { PICTURE_TRAIN, PICTURE_VALIDATION, PICTURE_TEST, PICTURE_PARTS };

/* A file of a folder of pictures. */
struct picture_file {
    char *name; /* from the folder on: "train/cat/1.png" */
    int64_t size, time_ns;
    uint64_t key;        /* a pure function of class and name, all of them equally likely */
    double place;        /* where it comes among the rows of its part */
    uint8_t label, part; /* enum picture_part */
};

/*
 * What is in a folder of pictures: train/CLASS/ and test/CLASS/, or CLASS/ alone; beside train/
 * also validation/CLASS/, which may be called val/CLASS/. Classes are in the order of their names'
 * bytes, as torchvision's ImageFolder has them. Pictures are the files whose names end in .png,
 * .jpg or .jpeg; hidden files and folders are left out, links followed.
 *
 * Files are in the order of rows, part by part, and in each part the classes are mixed so that any
 * beginning has its share of each. Where the folder has no
 * test/, `test_share` of each class are test rows. Order and split are functions of the names
 * alone: the same in every run, whatever its seed, and so in an evaluation long after it.
 */
struct picture_list {
    char *dir;
    int class_count;
    char **classes;
    struct picture_file *files;
    size_t count;
    int capacity;
    long rows[PICTURE_PARTS];
    bool own_test;   /* has test/ */
    long others;     /* files in the classes that are no pictures by their names */
    uint64_t digest; /* of names, sizes and times */
};

/* Does the folder have folders in it? */
bool picture_list_any(const char *dir);

bool picture_list_read(const char *dir, double test_share, struct picture_list *out,
                       struct error *err);
void picture_list_free(struct picture_list *list);

/* A digest, continued over more bytes; begin with PICTURE_DIGEST. */
#define PICTURE_DIGEST UINT64_C(0xcbf29ce484222325)
uint64_t picture_digest(uint64_t digest, const void *bytes, size_t size);
