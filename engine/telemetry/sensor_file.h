/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/telemetry/device_sensors.h"

/*
 * Files of /sys and /proc. `root` is a descriptor of the folder that holds them ("/" but in tests),
 * paths are absolute within it. Functions that read return 0 or an errno: EINVAL for what is no
 * number, ERANGE for a number that cannot be.
 */

#define SENSOR_PATH_SIZE 96

/* A file that is opened once and read again and again. */
struct sensor_file {
    int fd; /* -1: not open */
    char path[SENSOR_PATH_SIZE];
};

void sensor_file_init(struct sensor_file *file, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sensor_file_close(struct sensor_file *file);
/* What the file holds now; opened again when the descriptor does not answer. */
int sensor_file_number(struct sensor_file *file, int root, int64_t low, int64_t high,
                       int64_t *number);

/* The beginning of a file as a string, "" after an error. Opened for this once. */
int sensor_read_text(int root, const char *path, char *text, size_t size);
/* As above, without the newline at its end. */
int sensor_read_word(int root, const char *path, char *word, size_t size);
int sensor_read_number(int root, const char *path, int64_t low, int64_t high, int64_t *number);

/* The whole of `text` without the white space after it, as a decimal number. */
int sensor_parse_number(const char *text, int64_t low, int64_t high, int64_t *number);

/*
 * The N of all "PREFIX N SUFFIX" in a folder, ascending, at most `capacity` of them. 0 when there
 * is no such folder.
 */
int sensor_list(int root, const char *folder, const char *prefix, const char *suffix, int *numbers,
                int capacity);

/* Why `path` could not be read, for the user. */
void sensor_say_error(struct sensor_reason *reason, const char *path, int error);
void sensor_say(struct sensor_reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Files of one kind that are watched at most. */
#define SENSOR_MAX_PROBES 32
/* Files of single CPUs read in one update: what they cost shall not grow with the machine. */
#define SENSOR_CPUS_PER_UPDATE 64
