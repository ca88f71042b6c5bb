/* SPDX-License-Identifier: MIT */
#include "ui/panels/pair.h"

#include <stdio.h>
#include <string.h>

#include "ui/panels/run_cells.h"

enum { LABEL_WIDTH = 19, VALUE_MOST = 60, GAP = 2 };

/* A label and the values of both runs; long ones are cut. */
static void write_row(struct page *page, enum style style, const char *label, const char *first,
                      const char *second)
{
    int y = page_next(page), x = page->area.x, end = x + page->area.w;
    int width = (page->area.w - LABEL_WIDTH - GAP) / 2;
    if (y < 0)
        return;
    width = width > VALUE_MOST ? VALUE_MOST : width;
    surface_text(page->surface, y, x, page->area.w, STYLE_LABEL, label);
    x += LABEL_WIDTH;
    if (width > 0 && x < end)
        surface_text(page->surface, y, x, width, style, first);
    x += width + GAP;
    if (width > 0 && x < end)
        surface_text(page->surface, y, x, width, style, second);
}

static void write_results(const struct ui *ui, struct page *page)
{
    static const struct {
        enum run_column column;
        const char *label;
    } rows[] = {
        {RUN_COLUMN_STATUS, "status"},       {RUN_COLUMN_EPOCHS, "epochs done"},
        {RUN_COLUMN_TEST_ACC, "test acc"},   {RUN_COLUMN_BEST_ACC, "best acc"},
        {RUN_COLUMN_S_PER_EPOCH, "s/epoch"}, {RUN_COLUMN_SPEED, "samples/s"},
        {RUN_COLUMN_ENERGY, "J/epoch"},      {RUN_COLUMN_SAMPLES_PER_J, "samples/J"},
        {RUN_COLUMN_SPEED_UP, "speed-up"},   {RUN_COLUMN_NOTE, "note"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2][RUN_WORDS] = {"-", "-"};
        for (int k = 0; k < 2; k++) {
            const struct state_run *run = state_run(&ui->state, ui->pair.run[k]);
            if (run)
                run_cell(ui, run, rows[i].column, text[k], sizeof text[k]);
        }
        const bool of_energy =
            rows[i].column == RUN_COLUMN_ENERGY || rows[i].column == RUN_COLUMN_SAMPLES_PER_J;
        /* Energy is measured on few machines. */
        const char *nothing = of_energy ? "-" : "";
        if (strcmp(text[0], nothing) != 0 || strcmp(text[1], nothing) != 0)
            write_row(page, STYLE_NORMAL, rows[i].label, text[0], text[1]);
    }
}

static const char *value_text(const char *value)
{
    return value[0] != '\0' ? value : "-";
}

void panel_pair(const struct ui *ui, struct page *page)
{
    const struct run_pair *pair = &ui->pair;
    char titles[2][32];
    if (pair->run[0] == 0) {
        page_paragraph(page, STYLE_LABEL, "no two runs are marked");
        return;
    }
    for (int k = 0; k < 2; k++)
        snprintf(titles[k], sizeof titles[k], "run %ld", pair->run[k]);
    write_row(page, STYLE_STRONG, "", titles[0], titles[1]);
    write_results(ui, page);
    page_title(page, pair->known && pair->settings.count == 0 ? "All settings are the same"
                                                              : "Settings that differ");
    if (!pair->known)
        page_paragraph(page, STYLE_LABEL, "- the engine has not told them yet");
    for (int i = 0; i < pair->settings.count; i++) {
        const struct spec_difference *setting = &pair->settings.list[i];
        write_row(page, STYLE_NORMAL, setting->key, value_text(setting->value[0]),
                  value_text(setting->value[1]));
    }
}

int panel_pair_lines(const struct ui *ui)
{
    struct page page = {.area = {0, 0, 0, ui->columns}};
    panel_pair(ui, &page);
    return page.line;
}
