/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_EVENTS_FORMAT_H
#define DPARTUI_EVENTS_FORMAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Figures as people read them. Each writes into `buffer` of FORMAT_SIZE bytes and returns it; what
 * is not known (NAN, a null or missing member) becomes "-".
 */
#define FORMAT_SIZE 48

const char *format_bytes(char *buffer, double bytes);     /* "17.2 GiB" */
const char *format_count(char *buffer, double count);     /* "11.2M", "4.51k", "640" */
const char *format_flop(char *buffer, double operations); /* "2.7 GFLOP", "60 FLOP" */
const char *format_time(char *buffer, double seconds);    /* "4m12s", "2h05m", "38s" */
const char *format_seconds(char *buffer, double seconds); /* "13.3", "1.52", "0.0007" */
const char *format_fixed(char *buffer, double value, int decimals);
const char *format_date(char *buffer, double seconds);  /* "2026-11-20 14:30", since 1970 */
const char *format_general(char *buffer, double value); /* "0.1", "1e-05" */

/* A number member of a JSON object; NAN when it is missing or null. */
double member_number(const json_t *object, const char *key);
/* A string member; "-" when it is missing or null. */
const char *member_text(const json_t *object, const char *key);

/* Room for most texts about a run's events. */
#define FORMAT_TEXT 4200

/* "cpu:0-1", as --devices takes it, from a run's "devices"; a new string, NULL: that cannot be. */
char *run_devices_text(const json_t *run);
/* The same in a buffer; long lists are cut. */
const char *format_devices(char *buffer, size_t size, const json_t *run);
/* "[cpu:0, cpu:1]" from an array of strings, as results name them; long lists are shortened. */
const char *format_device_names(char *buffer, size_t size, const json_t *list);

/* A JSON value on standard output, with a newline behind it. */
void print_json(const json_t *value);

#endif
