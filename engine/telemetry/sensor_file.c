/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/sensor_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No number of the system needs more. */
#define NUMBER_SIZE 64

void sensor_file_init(struct sensor_file *file, const char *format, ...)
{
    va_list args;
    file->fd = -1;
    va_start(args, format);
    vsnprintf(file->path, sizeof file->path, format, args);
    va_end(args);
}

void sensor_file_close(struct sensor_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

static int open_below(int root, const char *path, int flags)
{
    return openat(root, path[1] ? path + 1 : ".", flags | O_RDONLY | O_CLOEXEC);
}

/* An attribute of sysfs comes with one read. */
static int read_once(int fd, char *text, size_t size)
{
    ssize_t got;
    do
        got = pread(fd, text, size - 1, 0);
    while (got < 0 && errno == EINTR);
    text[got > 0 ? got : 0] = '\0';
    return got < 0 ? errno : got ? 0 : EINVAL;
}

int sensor_parse_number(const char *text, int64_t low, int64_t high, int64_t *number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || end[strspn(end, " \t\n")])
        return EINVAL;
    if (errno || value < low || value > high)
        return ERANGE;
    *number = value;
    return 0;
}

int sensor_file_number(struct sensor_file *file, int root, int64_t low, int64_t high,
                       int64_t *number)
{
    char text[NUMBER_SIZE];
    if (file->fd < 0 || read_once(file->fd, text, sizeof text) != 0) {
        /* Not open yet; or the driver went, and may be back under the same name. */
        sensor_file_close(file);
        file->fd = open_below(root, file->path, 0);
        int error = file->fd < 0 ? errno : read_once(file->fd, text, sizeof text);
        if (error) {
            sensor_file_close(file);
            return error;
        }
    }
    return sensor_parse_number(text, low, high, number);
}

int sensor_read_text(int root, const char *path, char *text, size_t size)
{
    text[0] = '\0';
    int fd = open_below(root, path, 0);
    if (fd < 0)
        return errno;
    int error = read_once(fd, text, size);
    close(fd);
    return error;
}

int sensor_read_word(int root, const char *path, char *word, size_t size)
{
    int error = sensor_read_text(root, path, word, size);
    word[strcspn(word, "\n")] = '\0';
    return error;
}

int sensor_read_number(int root, const char *path, int64_t low, int64_t high, int64_t *number)
{
    char text[NUMBER_SIZE];
    int error = sensor_read_text(root, path, text, sizeof text);
    return error ? error : sensor_parse_number(text, low, high, number);
}

/* The N of "PREFIX N SUFFIX", or -1. */
static int number_in(const char *name, const char *prefix, const char *suffix)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] < '0' || name[length] > '9')
        return -1;
    char *end;
    errno = 0;
    long number = strtol(name + length, &end, 10);
    return errno || number > INT_MAX || strcmp(end, suffix) != 0 ? -1 : (int)number;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int sensor_list(int root, const char *folder, const char *prefix, const char *suffix, int *numbers,
                int capacity)
{
    int count = 0;
    int fd = open_below(root, folder, O_DIRECTORY);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!entries) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (const struct dirent *entry; count < capacity && (entry = readdir(entries));) {
        int number = number_in(entry->d_name, prefix, suffix);
        if (number >= 0)
            numbers[count++] = number;
    }
    closedir(entries);
    qsort(numbers, (size_t)count, sizeof *numbers, ascending);
    return count;
}

void sensor_say(struct sensor_reason *reason, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
}

void sensor_say_error(struct sensor_reason *reason, const char *path, int error)
{
    char buffer[64];
    const char *why;
    switch (error) {
    case EACCES:
    case EPERM:
        why = geteuid() == 0 ? "not permitted here, not even to root" : "only root may read it";
        break;
    case ENOENT:
    case ENODEV:
        why = "no such file";
        break;
    case EINVAL:
        why = "does not hold a number";
        break;
    case ERANGE:
        why = "holds an impossible number";
        break;
    default:
        why = strerror_r(error, buffer, sizeof buffer);
    }
    sensor_say(reason, "%s: %s", path, why);
}
