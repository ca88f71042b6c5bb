/* SPDX-License-Identifier: MIT */
#include "ui/views/run/sections.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "events/changes.h"
#include "experiment/sentence.h"
#include "ui/draw/list.h"
#include "ui/draw/page.h"

struct time_part {
    const char *name;
    double seconds, share; /* of training */
};

/* "88% computing, 3% all-reduce, 9% waiting for the slowest device, cpu:1; 8% more evaluating" */
static void write_reading(struct page *page, const struct run_details *details,
                          const struct time_part *parts, int count)
{
    int slowest = details_slowest(details);
    char waiting[64] = "waiting for data or other devices", text[256] = "";
    const char *const words[] = {"computing", "all-reduce", waiting, "more evaluating"};
    size_t used = 0;
    if (slowest >= 0)
        snprintf(waiting, sizeof waiting, "waiting for the slowest device, %s",
                 details->devices[slowest].name);
    for (int i = 0; i < count && used < sizeof text; i++) {
        struct figure share;
        const char *separator = used == 0 ? "" : i == count - 1 ? "; " : ", ";
        if (parts[i].share >= 0.005)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", separator,
                                     figure_percent(&share, parts[i].share), words[i]);
    }
    page_paragraph(page, STYLE_NORMAL, text);
}

static void write_network(struct page *page, const struct measured_time *time)
{
    struct figure busy, hidden, sent, speed;
    char text[200];
    snprintf(text, sizeof text,
             "network: busy %s, %s hidden behind computing; each host sends %s a step, %s/s",
             figure_percent(&busy, time->network_s / time->seconds),
             figure_percent(&hidden, fmax(0, time->network_s - time->sync_s) / time->seconds),
             figure_bytes(&sent, time->network_bytes / time->network_steps),
             figure_bytes(&speed, time->network_bytes / time->network_s));
    page_paragraph(page, STYLE_NORMAL, text);
}

void section_time(struct page *page, const struct ui *ui, const struct state_run *run)
{
    (void)run;
    const struct measure *measure = &ui->details.measure;
    const struct measured_time time = measure_time(measure);
    struct time_part parts[] = {
        {"computing", time.seconds - time.sync_s - time.wait_s, 0},
        {"all-reduce", time.sync_s, 0},
        {"waiting", time.wait_s, 0},
        {"evaluating", time.eval_s, 0},
    };
    enum { PARTS = sizeof parts / sizeof parts[0] };
    char note[200], after[40] = "";
    if (measure->measured_from > 0)
        snprintf(after, sizeof after, " after epoch %.0f", measure->measured_from);
    else if (measure->count > 0 && !measure_is_warm_up(measure))
        snprintf(after, sizeof after, " after the first epoch");
    page_title(page, "Where the time went%s", after);
    if (sentence_of_resume(measure, note, sizeof note)[0] != '\0')
        page_paragraph(page, STYLE_NORMAL, note);
    if (!(time.seconds > 0)) {
        page_paragraph(page, STYLE_LABEL,
                       measure->measured_from > 0 ? "- no epoch has ended since"
                                                  : "- no epoch has ended yet");
        return;
    }
    for (int i = 0; i < PARTS; i++)
        parts[i].share = parts[i].seconds / time.seconds;
    write_reading(page, &ui->details, parts, PARTS);
    if (time.network_s > 0 && time.network_steps > 0)
        write_network(page, &time);
    for (int i = 0; i < PARTS; i++) {
        int y = page_next(page), x = page->area.x, w = page->area.w;
        struct figure f;
        if (y < 0)
            continue;
        surface_text(page->surface, y, x, w, STYLE_LABEL, parts[i].name);
        surface_right(page->surface, y, x + 11, w < 20 ? 0 : 8, STYLE_NORMAL,
                      figure_seconds(&f, parts[i].seconds));
        surface_text(page->surface, y, x + 20, w < 22 ? 0 : 1, STYLE_LABEL, "s");
        surface_right(page->surface, y, x + 22, w < 28 ? 0 : 5, STYLE_NORMAL,
                      figure_percent(&f, parts[i].share));
        surface_bar(page->surface, y, x + 29, w < 80 ? w - 29 : 51, parts[i].share);
    }
}

/* Computing full, all-reduce '=', waiting empty. */
static void draw_shares(struct surface *surface, int y, int x, int w, const double *share)
{
    for (int i = 0; i < w; i++) {
        double at = (i + 0.5) / w;
        if (at < share[0])
            surface_glyph(surface, y, x + i, GLYPH_FILL, STYLE_FILL);
        else if (at < share[0] + share[1])
            surface_put(surface, y, x + i, '=', STYLE_WARNING);
        else
            surface_glyph(surface, y, x + i, GLYPH_TRACK, STYLE_TRACK);
    }
}

static const struct list_column device_columns[] = {
    {"device", 8, 9, false, 0},   {"rows", 6, 8, true, 3},        {"samples/s", 9, 0, true, 2},
    {"compute", 7, 0, true, 0},   {"all-reduce", 10, 0, true, 0}, {"wait", 5, 0, true, 0},
    {"shares", 10, 30, false, 1},
};

enum { DEVICE_COLUMNS = sizeof device_columns / sizeof device_columns[0] };

static void draw_device(const struct page *page, int y, const struct column_place *places,
                        const struct detail_device *device)
{
    double whole = device->compute_s + device->sync_s + device->wait_s;
    double share[] = {device->compute_s / whole, device->sync_s / whole, device->wait_s / whole};
    struct figure f[DEVICE_COLUMNS];
    const char *text[] = {
        device->name,
        figure_whole(&f[1], device->rows),
        figure_count(&f[2], device->samples_per_s),
        figure_percent(&f[3], share[0]),
        figure_percent(&f[4], share[1]),
        figure_percent(&f[5], share[2]),
    };
    for (int i = 0; i < DEVICE_COLUMNS - 1; i++)
        list_cell(page->surface, page->area, y, &device_columns[i], &places[i], STYLE_NORMAL,
                  text[i]);
    if (isfinite(share[0] + share[1]))
        draw_shares(page->surface, y, page->area.x + places[DEVICE_COLUMNS - 1].x,
                    places[DEVICE_COLUMNS - 1].w, share);
}

static void write_headings(struct page *page, const struct list_column *columns,
                           const struct column_place *places, int count)
{
    int y = page_next(page);
    for (int i = 0; y >= 0 && i < count; i++)
        list_cell(page->surface, page->area, y, &columns[i], &places[i], STYLE_LABEL,
                  columns[i].title);
}

void section_devices(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const struct run_details *details = &ui->details;
    struct column_place places[DEVICE_COLUMNS];
    struct figure epoch;
    (void)run;
    if (details->device_count == 0 || details->epoch_count == 0) {
        page_title(page, "Devices");
        page_paragraph(page, STYLE_LABEL, "- no epoch has ended yet");
        return;
    }
    page_title(page, "Devices in epoch %s",
               figure_whole(&epoch, details->epochs[details->epoch_count - 1].epoch));
    columns_place(device_columns, DEVICE_COLUMNS, page->area.w, places);
    write_headings(page, device_columns, places, DEVICE_COLUMNS);
    for (int i = 0; i < details->device_count; i++) {
        int y = page_next(page);
        if (y >= 0)
            draw_device(page, y, places, &details->devices[i]);
    }
}

static void change_text(const struct retune *retune, char *buffer, size_t size)
{
    struct figure from, to;
    if (isfinite(retune->from) && isfinite(retune->to))
        snprintf(buffer, size, "%s from %s to %s", retune_words(retune->what),
                 figure_digits(&from, retune->from, 4), figure_digits(&to, retune->to, 4));
    else
        snprintf(buffer, size, "%s", retune_words(retune->what));
}

/* "step 20, epoch 1: rows 192 + 64, by the measured speeds a step computes 50% less time" */
static void write_shares(struct page *page, const json_t *event)
{
    const json_t *shares = json_object_get(event, "shares");
    const char *reason = json_string_value(json_object_get(event, "reason"));
    char rows[160] = "", text[400];
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(shares) && used < sizeof rows; i++)
        used += (size_t)snprintf(rows + used, sizeof rows - used, "%s%lld", i > 0 ? " + " : "",
                                 (long long)json_integer_value(json_array_get(shares, i)));
    snprintf(text, sizeof text, "step %lld, epoch %lld: rows %s, %.160s",
             (long long)json_integer_value(json_object_get(event, "step")),
             (long long)json_integer_value(json_object_get(event, "epoch")), rows,
             reason ? reason : "-");
    page_paragraph(page, STYLE_NORMAL, text);
}

void section_changes(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const json_t *shares = ui->details.shares;
    if (run->retune_count == 0 && json_array_size(shares) == 0)
        return;
    page_title(page, "Changes during the run");
    for (int i = 0; i < run->retune_count; i++) {
        const struct retune *retune = &run->retunes[i];
        char what[80], where[80];
        struct figure step, epoch;
        change_text(retune, what, sizeof what);
        snprintf(where, sizeof where, "step %s, epoch %s: %s", figure_whole(&step, retune->step),
                 figure_whole(&epoch, retune->epoch), what);
        page_paragraph(page, STYLE_NORMAL, where);
    }
    for (size_t i = 0; i < json_array_size(shares); i++)
        write_shares(page, json_array_get(shares, i));
}

/* As many settings beside each other as there is room for, reading down the columns. */
void section_settings(struct page *page, const struct ui *ui, const struct state_run *run)
{
    enum { NAME_WIDTH = 17, WIDTH = 38 }; /* "checkpoint-every" is the longest */
    const struct run_details *details = &ui->details;
    int across = page->area.w / WIDTH > 1 ? page->area.w / WIDTH : 1;
    int width = page->area.w / across, count = details->setting_count;
    int down = (count + across - 1) / across;
    (void)run;
    page_title(page, "Settings");
    if (!details->known)
        page_paragraph(page, STYLE_LABEL,
                       ui->link == LINK_UP ? "- asked for" : "- not known without the engine");
    for (int row = 0; row < down; row++) {
        int y = page_next(page);
        for (int i = row; y >= 0 && i < count; i += down) {
            const struct detail_setting *setting = &details->settings[i];
            int x = page->area.x + i / down * width;
            surface_text(page->surface, y, x, width < NAME_WIDTH ? width : NAME_WIDTH - 1,
                         STYLE_LABEL, setting->name);
            surface_text(page->surface, y, x + NAME_WIDTH, width - NAME_WIDTH - 1, STYLE_NORMAL,
                         setting->value[0] != '\0' ? setting->value : "-");
        }
    }
}

static const struct list_column epoch_columns[] = {
    {"epoch", 6, 0, true, 0},     {"lr", 8, 0, true, 4},        {"train loss", 10, 0, true, 5},
    {"train acc", 9, 0, true, 3}, {"test loss", 9, 0, true, 2}, {"test acc", 8, 0, true, 0},
    {"s/epoch", 7, 0, true, 1},   {"samples/s", 9, 0, true, 2},
};

enum { LR = 1, TEST_LOSS = 4, EPOCH_COLUMNS = sizeof epoch_columns / sizeof epoch_columns[0] };

/* With as many digits as its column holds: a cut exponent would be another number. */
static const char *rate_text(struct figure *figure, double rate)
{
    for (int digits = 4; digits > 0; digits--)
        if (text_columns(figure_digits(figure, rate, digits)) <= epoch_columns[LR].width)
            break;
    return figure->text;
}

static void draw_epoch(const struct page *page, int y, const struct column_place *places,
                       const struct run_details *details, int at, bool best)
{
    const struct epoch_point *epoch = &details->epochs[at];
    const double *value = epoch->value;
    struct figure f[EPOCH_COLUMNS];
    char number[40];
    const char *text[] = {
        number,
        rate_text(&f[1], value[METRIC_LR]),
        figure_fixed(&f[2], value[METRIC_TRAIN_LOSS], 4),
        figure_fixed(&f[3], value[METRIC_TRAIN_ACC], 4),
        figure_fixed(&f[4], value[METRIC_TEST_LOSS], 4),
        figure_fixed(&f[5], value[METRIC_TEST_ACC], 4),
        figure_seconds(&f[6], details->measure.epochs[at].seconds),
        figure_count(&f[7], value[METRIC_SPEED]),
    };
    snprintf(number, sizeof number, "%s%s", best ? "*" : "", figure_whole(&f[0], epoch->epoch));
    for (int i = 0; i < EPOCH_COLUMNS; i++)
        list_cell(page->surface, page->area, y, &epoch_columns[i], &places[i],
                  best ? STYLE_GOOD : STYLE_NORMAL, text[i]);
}

void section_epochs(struct page *page, const struct ui *ui, const struct state_run *run)
{
    const struct run_details *details = &ui->details;
    struct column_place places[EPOCH_COLUMNS];
    int best = details_best(details);
    struct figure f;
    struct list_column shown[EPOCH_COLUMNS];
    const bool validated = details->measure.validated;
    const char *best_words =
        validated ? ", * the best on validation rows" : ", * the best on the test data";
    (void)run;
    memcpy(shown, epoch_columns, sizeof shown);
    if (validated) {
        shown[TEST_LOSS].title = "val loss";
        shown[TEST_LOSS + 1].title = "val acc";
    }
    page_title(page, "Epochs%s", best >= 0 ? best_words : "");
    columns_place(epoch_columns, EPOCH_COLUMNS, page->area.w, places);
    write_headings(page, shown, places, EPOCH_COLUMNS);
    if (details->epoch_count == 0)
        page_paragraph(page, STYLE_LABEL, "- none has ended yet");
    if (details->epochs_of > 0) {
        char text[80];
        struct figure of;
        snprintf(text, sizeof text, "thinned: %s of %s", figure_whole(&f, details->epochs_kept),
                 figure_whole(&of, details->epochs_of));
        page_paragraph(page, STYLE_LABEL, text);
    }
    for (int i = 0; i < details->epoch_count; i++) {
        int y = page_next(page);
        if (y >= 0)
            draw_epoch(page, y, places, details, i, i == best);
    }
}
