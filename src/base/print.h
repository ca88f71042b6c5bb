/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * How both programs write text for people: printf(), but every string argument appears escaped
 * (base/escape.h), whoever it came from; their widths count columns. Only the
 * format itself breaks lines and moves cursors. Conversions: d, u, f and g with l, ll and z, flags,
 * widths and precisions, s with flags and a width, and %%.
 */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_to(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Columns that an escaped text takes on a terminal of this locale; its bytes where it is not of the
 * locale's character set. */
size_t print_width(const char *text);
