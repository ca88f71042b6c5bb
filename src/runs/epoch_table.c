/* SPDX-License-Identifier: MIT */
#include "runs/epoch_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"

/* A column of width 0 is left out. */
enum { LR = 1, COLUMNS = 8 };

static const struct figure titles[COLUMNS] = {{"EPOCH"},     {"LR"},        {"TRAIN LOSS"},
                                              {"TRAIN ACC"}, {"TEST LOSS"}, {"TEST ACC"},
                                              {"SECONDS"},   {"SAMPLES/S"}};

/* Of a run with validation rows, whose epochs are not tested. */
static const struct figure validation_titles[COLUMNS] = {
    {"EPOCH"},    {"LR"},      {"TRAIN LOSS"}, {"TRAIN ACC"},
    {"VAL LOSS"}, {"VAL ACC"}, {"SECONDS"},    {"SAMPLES/S"}};

static const struct figure *titles_of(const struct run_view *view)
{
    return json_is_number(json_object_get(view->head, "val_acc")) ? validation_titles : titles;
}

static void make_cells(struct figure cells[COLUMNS], const json_t *epoch)
{
    static const char *const tested[] = {"train_loss", "train_acc", "test_loss", "test_acc"};
    static const char *const validated[] = {"train_loss", "train_acc", "val_loss", "val_acc"};
    const char *const *losses =
        json_is_number(json_object_get(epoch, "val_acc")) ? validated : tested;
    figure_whole(&cells[0], member_number(epoch, "epoch"));
    figure_digits(&cells[LR], member_number(epoch, "lr"), 4);
    for (int i = 0; i < 4; i++)
        figure_fixed(&cells[i + 2], member_number(epoch, losses[i]), i % 2 ? 3 : 4);
    figure_seconds(&cells[6], member_number(epoch, "seconds"));
    figure_count(&cells[7], member_number(epoch, "samples_per_s"));
}

static void widen(int widths[COLUMNS], const struct figure cells[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        int width = (int)strlen(cells[i].text);
        widths[i] = width > widths[i] ? width : widths[i];
    }
}

static void print_line(const int widths[COLUMNS], const struct figure cells[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        if (widths[i] > 0)
            print("%s%*s", i > 0 ? "  " : "", widths[i], cells[i].text);
    putchar('\n');
}

static bool measure(const struct run_view *view, int widths[COLUMNS], bool *any, struct error *err)
{
    struct figure cells[COLUMNS];
    struct run_rows rows;
    double first = NAN;
    bool varies = false;
    *any = false;
    widen(widths, titles_of(view));
    run_rows_open(&rows, view, STORE_EPOCHS);
    while (run_rows_next(&rows)) {
        make_cells(cells, rows.row);
        widen(widths, cells);
        const double lr = member_number(rows.row, "lr");
        first = *any ? first : lr;
        varies |= lr < first || lr > first;
        *any = true;
    }
    if (!varies)
        widths[LR] = 0; /* the settings say it */
    return run_rows_close(&rows, err);
}

bool epoch_table_print(const struct run_view *view, struct error *err)
{
    struct figure cells[COLUMNS];
    int widths[COLUMNS] = {0};
    struct run_rows rows;
    bool any, ok = measure(view, widths, &any, err);
    if (!ok || !any)
        return ok;
    putchar('\n');
    print_line(widths, titles_of(view));
    run_rows_open(&rows, view, STORE_EPOCHS);
    while (run_rows_next(&rows)) {
        make_cells(cells, rows.row);
        print_line(widths, cells);
    }
    return run_rows_close(&rows, err);
}
