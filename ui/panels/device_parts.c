/* SPDX-License-Identifier: MIT */
#include "ui/panels/device_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"

/* From here on a device that trains is used well; below the other it is hardly used. */
#define LOAD_GOOD 0.8
#define LOAD_POOR 0.5

enum { FULL_LABEL = 11 }; /* columns of "[x] cuda:12" */

struct device_times device_times(const struct state_device *device)
{
    double all = device->compute_s + device->sync_s + device->wait_s;
    if (!(all > 0))
        return (struct device_times){NAN, NAN, NAN};
    return (struct device_times){device->compute_s / all, device->sync_s / all,
                                 device->wait_s / all};
}

void draw_times(struct surface *surface, int y, int x, int w, const struct device_times *times)
{
    const struct bar_part parts[] = {
        {times->compute, GLYPH_COMPUTE, STYLE_FILL},
        {times->all_reduce, GLYPH_ALL_REDUCE, STYLE_WARNING},
        {times->wait, GLYPH_WAIT, STYLE_TRACK},
    };
    if (w > 0 && !isfinite(times->compute))
        surface_text(surface, y, x, w, STYLE_LABEL, "-");
    else
        surface_parts(surface, y, x, w, parts, 3);
}

void draw_load(struct surface *surface, int y, int x, int w, const struct state_device *device,
               enum load_style style)
{
    if (style == LOAD_SPARKLINE)
        draw_history(surface, (struct rect){y, x, 1, w}, device);
    else if (style == LOAD_BAR)
        surface_bar(surface, y, x, w, device->load);
}

void draw_history(struct surface *surface, struct rect area, const struct state_device *device)
{
    long width = area.w < STATE_HISTORY ? area.w : STATE_HISTORY,
         newest = device->history_count - 1;
    for (long column = 0; column < width; column++) {
        /* The newest sample whose place is this column. */
        long age = (newest - column) % width;
        long sample = newest - (age < 0 ? age + width : age);
        struct rect place = {area.y, area.x + (int)column, area.h, 1};
        /* Blanks of the curve's own style, so that a new sample changes no style on its way. */
        surface_fill(surface, place, STYLE_FILL);
        if (sample >= 0 && column != (newest + 1) % width)
            surface_column(surface, place, (double)device->history[sample % STATE_HISTORY]);
    }
}

void device_label(const struct form_device *device, int width, char *buffer, size_t size)
{
    char name[DEVICE_NAME];
    const struct state_device *known = device->known;
    const char mark = known && known->in_run ? '>' : known && known->others > 0 ? '!' : ' ';
    snprintf(buffer, size, width < FULL_LABEL ? "%c%c%s" : "[%c]%c%s", device->chosen ? 'x' : ' ',
             mark, device_id_text(device->id, name));
}

const char *device_trouble(const struct form_device *device, enum style *style, char *buffer,
                           size_t size)
{
    const struct state_device *known = device->known;
    bool cpu = device->id.kind == DEVICE_CPU;
    *style = cpu ? STYLE_LABEL : STYLE_WARNING;
    if (!known)
        return cpu ? "shared cores" : "not on this machine";
    if (known->lost) {
        *style = STYLE_BAD;
        snprintf(buffer, size, "%s: %s", known->available ? "failed" : "lost",
                 known->reason[0] != '\0' ? known->reason : "no reason is known");
        return buffer;
    }
    if (known->available)
        return NULL;
    return known->reason[0] != '\0' ? known->reason : "not available";
}

enum style device_state_style(const struct state_device *device)
{
    if (device->lost)
        return STYLE_BAD;
    return strcmp(device->state, "train") == 0 || strcmp(device->state, "eval") == 0 ? STYLE_GOOD
                                                                                     : STYLE_LABEL;
}

enum style device_load_style(const struct state_device *device)
{
    if (!device->in_run)
        return STYLE_LABEL;
    if (strcmp(device->state, "train") != 0 || !isfinite(device->load))
        return STYLE_NORMAL;
    return device->load >= LOAD_GOOD   ? STYLE_GOOD
           : device->load >= LOAD_POOR ? STYLE_WARNING
                                       : STYLE_BAD;
}

void device_hint(const struct form_device *device, char *buffer, size_t size)
{
    struct figure compute, all_reduce, wait;
    enum style style;
    char name[DEVICE_NAME], text[200], power[80];
    const char *trouble = device_trouble(device, &style, text, sizeof text);
    device_id_text(device->id, name);
    if (trouble) {
        snprintf(buffer, size, "%s: %s", name, trouble);
        return;
    }
    struct device_times times = device_times(device->known);
    int length = !device->known->in_run
                     ? snprintf(buffer, size, "%s %s", name, device->known->name)
                     : snprintf(buffer, size, "%s trains now (>), %s for the next run", name,
                                device->chosen ? "and is ticked" : "but is not ticked");
    if (isfinite(times.compute) && (size_t)length < size)
        length += snprintf(
            buffer + length, size - (size_t)length, "; compute %s, all-reduce %s, wait %s",
            figure_percent(&compute, times.compute), figure_percent(&all_reduce, times.all_reduce),
            figure_percent(&wait, times.wait));
    if (device->known->others > 0 && (size_t)length < size)
        length += snprintf(buffer + length, size - (size_t)length, "; others use %s (!)",
                           others_text(device->known, text, sizeof text));
    if (isfinite(device->known->temperature_c) && (size_t)length < size)
        length += snprintf(buffer + length, size - (size_t)length, "; %s",
                           temperature_text(device->known, text, sizeof text));
    if (isfinite(device->known->power_w) && (size_t)length < size)
        snprintf(buffer + length, size - (size_t)length, "; %s",
                 power_text(device->known, power, sizeof power));
}

double device_most_rows(const struct form_device *devices, int count)
{
    double most = NAN;
    for (int i = 0; i < count; i++)
        if (devices[i].known)
            most = fmax(most, devices[i].known->rows);
    return most;
}

const char *temperature_text(const struct state_device *device, char *buffer, size_t size)
{
    struct figure figure;
    snprintf(buffer, size, isfinite(device->temperature_c) ? "%s C" : "%s",
             figure_whole(&figure, device->temperature_c));
    return buffer;
}

/* "120/300 W", of which the second may not be known. */
static const char *of_most(double now, double most, const char *unit, char *buffer, size_t size)
{
    struct figure first, second;
    if (!isfinite(now))
        return "-";
    if (isfinite(most))
        snprintf(buffer, size, "%s/%s%s", figure_whole(&first, now), figure_whole(&second, most),
                 unit);
    else
        snprintf(buffer, size, "%s%s", figure_whole(&first, now), unit);
    return buffer;
}

const char *power_text(const struct state_device *device, char *buffer, size_t size)
{
    return of_most(device->power_w, device->power_limit_w, " W", buffer, size);
}

const char *clock_text(const struct state_device *device, char *buffer, size_t size)
{
    return of_most(device->clock_mhz, device->clock_max_mhz, "", buffer, size);
}

const char *others_text(const struct state_device *device, char *buffer, size_t size)
{
    struct figure figure;
    buffer[0] = '\0';
    if (device->others > 0 && device->others_memory > 0)
        snprintf(buffer, size, "%s", figure_bytes(&figure, device->others_memory));
    else if (device->others > 0)
        snprintf(buffer, size, "%d proc.", device->others);
    return buffer;
}

const char *throttle_text(const struct state_device *device)
{
    if (!device->throttle_known)
        return "-";
    return device->throttle[0] != '\0' ? device->throttle : "none";
}
