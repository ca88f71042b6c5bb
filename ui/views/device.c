/* SPDX-License-Identifier: MIT */
#include "ui/views/device.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/figure.h"
#include "base/json.h"
#include "spec/names.h"
#include "ui/panels/device_parts.h"

/* Everything that is known of the device in focus, and why the rest is not. */

enum {
    LABEL_WIDTH = 13,
    TEXT_WIDTH = 70,   /* of labels and values with the chart beside them */
    BESIDE_FROM = 120, /* columns of the screen from which it stands there */
    CHART_LEAST = 4,   /* rows with its title */
    CHART_MOST = 14,
    BELOW_FROM = 8, /* rows left below them from which it stands there all the same */
    AXIS_WIDTH = 6, /* "100% " and the axis */
    LINES = 56,
};

struct line {
    const char *label;
    char value[200];
    enum style style;
};

struct device_page {
    const struct state_device *device;
    int width; /* for the values */
    struct line lines[LINES];
    int count;
};

/* A value takes as many lines as it needs. */
static void add(struct device_page *page, enum style style, const char *label, const char *value)
{
    while (page->count < LINES) {
        struct line *line = &page->lines[page->count++];
        size_t length = text_line_length(value, page->width);
        *line = (struct line){.label = label, .style = style};
        snprintf(line->value, sizeof line->value, "%.*s", (int)length, value);
        label = "";
        value += length;
        value += strspn(value, " ");
        if (*value == '\0')
            return;
    }
}

/* A value as text, or "-" and the engine's reason; `name` is that of docs/protocol.md. */
static void add_value(struct device_page *page, const char *label, const char *name,
                      const char *value, const char *unit)
{
    const char *reason = json_string_value(json_object_get(page->device->missing, name));
    char text[200];
    if (strcmp(value, "-") != 0) {
        snprintf(text, sizeof text, "%s%s", value, unit);
        add(page, STYLE_NORMAL, label, text);
        return;
    }
    snprintf(text, sizeof text, "-  %s", reason ? reason : "the engine does not say why");
    add(page, STYLE_LABEL, label, text);
}

static void add_hardware(struct device_page *page)
{
    const struct state_device *device = page->device;
    struct figure figure;
    char text[80];
    add_value(page, "load", "load", figure_percent(&figure, device->load), "");
    /* Only newer GPUs and engines have these. */
    if (isfinite(device->tensor_load) || json_object_get(device->missing, "tensor_load"))
        add_value(page, "tensor cores", "tensor_load", figure_percent(&figure, device->tensor_load),
                  "");
    if (isfinite(device->memory_load) || json_object_get(device->missing, "memory_load"))
        add_value(page, "bandwidth", "memory_load", figure_percent(&figure, device->memory_load),
                  " of the memory's");
    add_value(page, "memory", isfinite(device->memory_used) ? "memory_total" : "memory_used",
              figure_memory(&figure, device->memory_used, device->memory_total), "");
    add_value(page, "temperature", "temperature_c", temperature_text(device, text, sizeof text),
              "");
    add_value(page, "power", "power_w", power_text(device, text, sizeof text), "");
    add_value(page, "clock", "clock_mhz", clock_text(device, text, sizeof text), " MHz");
    add_value(page, "throttle", "throttle", throttle_text(device), "");
    if (device->throttle[0] != '\0')
        page->lines[page->count - 1].style = STYLE_WARNING;
    snprintf(text, sizeof text, "%s in, ", figure_count(&figure, device->pcie_rx));
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s out",
             figure_count(&figure, device->pcie_tx));
    add_value(page, "PCIe", "pcie_rx",
              isfinite(device->pcie_rx) || isfinite(device->pcie_tx) ? text : "-", " bytes/s");
}

/* A value of the run with its unit, and its share of the whole. */
static void add_part(struct device_page *page, const char *label, const char *name, double part,
                     const char *unit, double whole, const char *of)
{
    struct figure value, percent;
    char after[64];
    snprintf(after, sizeof after, "%s, %s of %s", unit, figure_percent(&percent, part / whole), of);
    add_value(page, label, name,
              unit[0] == '\0' ? figure_whole(&value, part) : figure_count(&value, part),
              whole > 0 ? after : unit);
}

/* Which part of the network it has, of a run that divides that. */
static void add_division(struct device_page *page, const struct state *state)
{
    static const struct {
        const char *what, *of;
    } parts[STRATEGIES] = {[STRATEGY_PIPELINE] = {"stage", "the network"},
                           [STRATEGY_TENSOR] = {"part", "every layer"},
                           [STRATEGY_MIXED] = {"its rows, then part", "every linear layer"}};
    const struct state_run *run = state_run(state, state->live.run);
    struct device_list list;
    struct error ignored = ERROR_INIT;
    enum strategy strategy;
    char text[80];
    if (!run || !strategy_find(run->strategy, &strategy) || strategy == STRATEGY_DATA ||
        !device_list_parse(run->devices, &list, &ignored))
        return;
    for (int i = 0; i < list.count; i++) {
        const struct device_id *id = &page->device->id;
        if (list.id[i].kind != id->kind || list.id[i].index != id->index ||
            list.count < run->replicas)
            continue;
        const int count = list.count / (run->replicas > 0 ? run->replicas : 1);
        snprintf(text, sizeof text, "%s %d of %d of %s", parts[strategy].what, i % count + 1, count,
                 parts[strategy].of);
        if (run->replicas > 1)
            snprintf(text + strlen(text), sizeof text - strlen(text), ", in pipeline %d of %d",
                     i / count + 1, run->replicas);
        add(page, STYLE_NORMAL, "computes", text);
        return;
    }
}

/* What it does in the running run, and its share of what all devices do. */
static void add_run(struct device_page *page, const struct state *state)
{
    const struct state_device *device = page->device;
    int working = 0;
    double rows = 0, speed = 0, time = device->compute_s + device->sync_s + device->wait_s;
    add(page, device_state_style(device), "state", device->state[0] != '\0' ? device->state : "-");
    if (!device->in_run)
        return;
    for (int i = 0; i < state->device_count; i++)
        if (state->devices[i].in_run) {
            working++;
            rows += state->devices[i].rows;
            speed += state->devices[i].samples_per_s;
        }
    add_part(page, "rows", "rows", device->rows, "", state_rows_together(state, rows, working),
             "the mini-batch");
    add_division(page, state);
    add_part(page, "speed", "samples_per_s", device->samples_per_s, " samples/s",
             state_divides_rows(state) ? speed : 0, "all devices'");
    add_part(page, "computing", "compute_s", device->compute_s, " s", time, "this epoch");
    add_part(page, "all-reduce", "sync_s", device->sync_s, " s", time, "it");
    add_part(page, "waiting", "wait_s", device->wait_s, " s", time, "it");
}

/* Hardware that cannot train may have values, too. */
static bool has_values(const struct state_device *device)
{
    if (!device || device->lost)
        return device && device->available;
    return device->available || isfinite(device->load) || isfinite(device->temperature_c) ||
           isfinite(device->power_w);
}

/* A line that is cut rather than broken: of a table. */
static void add_row(struct device_page *page, enum style style, const char *label,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add_row(struct device_page *page, enum style style, const char *label,
                    const char *format, ...)
{
    va_list args;
    if (page->count == LINES)
        return;
    struct line *line = &page->lines[page->count++];
    *line = (struct line){.label = label, .style = style};
    va_start(args, format);
    vsnprintf(line->value, sizeof line->value, format, args);
    va_end(args);
    utf8_trim(line->value);
}

static void add_process(struct device_page *page, const json_t *process)
{
    struct figure pid, memory, load;
    const char *why = json_string_value(json_object_get(process, "reason"));
    const bool own = json_is_true(json_object_get(process, "own"));
    const char *command = json_string_value(json_object_get(process, "command"));
    add_row(page, own ? STYLE_LABEL : STYLE_NORMAL, "", "%8s  %-8.8s %9s %5s  %s%s%s",
            figure_whole(&pid, member_number(process, "pid")), member_text(process, "user"),
            figure_bytes(&memory, member_number(process, "memory")),
            figure_percent(&load, member_number(process, "load")), own ? "(this engine) " : "",
            command ? command : "-  ", !command && why ? why : "");
}

/* What uses a GPU; nothing of devices that are none, and of those nothing uses. */
static void add_processes(struct device_page *page)
{
    const struct state_device *device = page->device;
    const int listed = (int)json_array_size(device->processes);
    if (!device->processes && json_object_get(device->missing, "processes"))
        add_value(page, "processes", "processes", "-", "");
    if (listed == 0)
        return;
    add_row(page, STYLE_LABEL, "processes", "%8s  %-8s %9s %5s  %s", "pid", "user", "memory",
            "load", "command");
    for (int i = 0; i < listed; i++)
        add_process(page, json_array_get(device->processes, (size_t)i));
    if (device->process_count > listed)
        add_row(page, STYLE_LABEL, "", "and %d more, with less memory",
                device->process_count - listed);
}

static void fill_page(const struct ui *ui, const struct form_device *focused,
                      struct device_page *page)
{
    const struct state_device *device = focused->known;
    enum style style;
    char text[200];
    const char *trouble = device_trouble(focused, &style, text, sizeof text);
    page->device = device;
    if (device && device->name[0] != '\0')
        add(page, STYLE_NORMAL, "hardware", device->name);
    if (trouble)
        add(page, style, device ? "not usable" : "hardware", trouble);
    if (device && !device->available)
        add(page, STYLE_LABEL, "what to do",
            device->lost ? "choose others; or repair it, end the engine (dpartui engine stop) and "
                           "start another"
                         : "choose other devices");
    if (!device && focused->id.kind == DEVICE_CPU)
        add(page, STYLE_LABEL, "details", "come with a run that uses it");
    add(page, focused->chosen ? STYLE_STRONG : STYLE_NORMAL, "next run",
        focused->chosen ? "uses it" : "does not use it");
    if (ui->state.no_gpus[0] != '\0') {
        snprintf(text, sizeof text, "none: %s", ui->state.no_gpus);
        add(page, STYLE_LABEL, "GPUs", text);
    }
    if (device && device->available)
        add_run(page, &ui->state);
    if (has_values(device)) {
        add_hardware(page);
        add_processes(page);
    }
}

/* The loads of the past, and the newest as a number. */
static void draw_chart(struct surface *surface, struct rect area, const struct state_device *device)
{
    int width = area.w - AXIS_WIDTH;
    struct rect inside = {area.y + 1, area.x + AXIS_WIDTH, area.h - 1, width};
    struct figure figure;
    if (area.h < CHART_LEAST || width < 10)
        return;
    surface_format(surface, area.y, area.x, area.w, STYLE_STRONG, "Load  %s",
                   figure_percent(&figure, device->load));
    for (int y = inside.y; y < inside.y + inside.h; y++)
        surface_glyph(surface, y, inside.x - 1, GLYPH_AXIS_SIDE, STYLE_TRACK);
    surface_text(surface, inside.y, area.x, 4, STYLE_LABEL, "100%");
    surface_text(surface, inside.y + inside.h - 1, area.x, 4, STYLE_LABEL, "  0%");
    draw_history(surface, inside, device);
}

int device_view_focused(const struct ui *ui, struct form_device *devices, int *count)
{
    *count = form_devices(&ui->form, &ui->state, devices);
    return ui->device_line < *count ? ui->device_line : *count - 1;
}

static void draw_lines(const struct device_page *page, struct surface *surface, struct rect area,
                       int first)
{
    for (int i = first; i < page->count && i - first < area.h; i++) {
        const struct line *line = &page->lines[i];
        int y = area.y + i - first;
        int label = LABEL_WIDTH < area.w ? LABEL_WIDTH : area.w;
        surface_text(surface, y, area.x, label - 1, STYLE_LABEL, line->label);
        surface_text(surface, y, area.x + label, area.w - label, line->style, line->value);
    }
}

/* The name of the device, which one of how many it is, and how to see more of it; the latter two in
 * as many words as there is room for. */
static void draw_title(const struct form_device *device, struct surface *surface, struct rect area,
                       int number, int count, bool more)
{
    static const char *const which[] = {"Up Down: device ", "", ""};
    char name[DEVICE_NAME], where[64];
    int used = 2 + surface_text(surface, area.y, area.x, area.w, STYLE_STRONG,
                                device_id_text(device->id, name));
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        snprintf(where, sizeof where, "%s%s%d of %d", more && i < 2 ? "PageDown: more  " : "",
                 which[i], number + 1, count);
        if (text_columns(where) <= area.w - used)
            break;
        where[0] = '\0';
    }
    surface_right(surface, area.y, area.x + used, area.w - used, STYLE_LABEL, where);
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct form_device devices[FORM_MAX_DEVICES];
    struct device_page page = {0};
    int count, focused = device_view_focused(ui, devices, &count);
    (void)err;
    if (focused < 0) {
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL,
                     "The devices are known when the engine is there.");
        return true;
    }
    struct rect text = {area.y + 1, area.x, area.h - 1, area.w}, chart = text;
    page.width = area.w - LABEL_WIDTH > 10 ? area.w - LABEL_WIDTH : 10;
    fill_page(ui, &devices[focused], &page);
    if (area.w >= BESIDE_FROM && text.h < page.count + BELOW_FROM) {
        page.count = 0;
        page.width = TEXT_WIDTH - LABEL_WIDTH - 1;
        fill_page(ui, &devices[focused], &page);
        text.w = TEXT_WIDTH;
        chart.x += text.w;
        chart.w -= text.w;
    } else {
        text.h = page.count < text.h ? page.count : text.h;
        chart.y += text.h + 1;
        chart.h -= text.h + 1;
    }
    chart.h = chart.h < CHART_MOST ? chart.h : CHART_MOST;
    int first = page.count - text.h < ui->line ? page.count - text.h : ui->line;
    first = first < 0 ? 0 : first;
    draw_title(&devices[focused], surface, area, focused, count, first + text.h < page.count);
    draw_lines(&page, surface, text, first);
    if (has_values(page.device))
        draw_chart(surface, chart, page.device);
    return true;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    struct form_device devices[FORM_MAX_DEVICES];
    int count, focused = device_view_focused(ui, devices, &count);
    if (focused >= 0)
        device_hint(&devices[focused], buffer, size);
}

int device_view_lines(const struct ui *ui, const struct form_device *focused)
{
    struct device_page page = {.width = TEXT_WIDTH};
    fill_page(ui, focused, &page);
    return page.count;
}

const struct view view_device = {draw, hint};
