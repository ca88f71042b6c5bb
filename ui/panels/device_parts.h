/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/form/devices.h"
#include "ui/panels/panel.h"

/* What the list of devices, its compact form and the view of one device have in common. */

/* Fractions of the time of the running epoch; NAN: not known. */
struct device_times {
    double compute, all_reduce, wait;
};
struct device_times device_times(const struct state_device *device);
/* Them as one bar. */
void draw_times(struct surface *surface, int y, int x, int w, const struct device_times *times);

/* The load of a device in `w` cells of a row; a number needs none. */
void draw_load(struct surface *surface, int y, int x, int w, const struct state_device *device,
               enum load_style style);
/*
 * The loads of the past, a column each, at most STATE_HISTORY of them. The place of the newest goes
 * from left to right and then begins again, a blank column before it: nothing moves.
 */
void draw_history(struct surface *surface, struct rect area, const struct state_device *device);

/* "[x] cuda:3", or "x cuda:3" in less than 11 columns: x when the next run uses it. With '>' in
 * place of the blank it trains now, else with '!' others use it. */
void device_label(const struct form_device *device, int width, char *buffer, size_t size);
/* Why it has no values, in a style that says how bad that is; NULL: it has. */
const char *device_trouble(const struct form_device *device, enum style *style, char *buffer,
                           size_t size);
enum style device_state_style(const struct state_device *device);
/* How good its load is: low ones of a device that trains are a loss, others say nothing. */
enum style device_load_style(const struct state_device *device);

/* A line about a device: what it is and what it does. */
void device_hint(const struct form_device *device, char *buffer, size_t size);

/* Rows of the largest shard: those with fewer stand out. NAN: none is known. */
double device_most_rows(const struct form_device *devices, int count);

/* Figures with their units, or "-". */
const char *temperature_text(const struct state_device *device, char *buffer, size_t size);
const char *power_text(const struct state_device *device, char *buffer, size_t size);
/* In MHz, of the most. */
const char *clock_text(const struct state_device *device, char *buffer, size_t size);
/* What others have of a GPU's memory, or how many they are; "": nobody else uses it. */
const char *others_text(const struct state_device *device, char *buffer, size_t size);
/* "none" when nothing holds the clock back. */
const char *throttle_text(const struct state_device *device);
