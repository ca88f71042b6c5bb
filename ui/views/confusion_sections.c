/* SPDX-License-Identifier: MIT */
#include "ui/views/confusion_sections.h"

#include <math.h>
#include <stdio.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"
#include "ui/draw/list.h"

/* The most pairs that are listed, and columns of a class's name before the matrix. */
enum { PAIRS = 8, NAME_MOST = 14, PROGRESS_WIDTH = 51 };

/* Of a class's rows: from here on a mistake stands out. */
static const double MANY = 0.05;

static const char *which_weights(bool best)
{
    return best ? "its best checkpoint" : "its newest checkpoint";
}

static void write_progress(struct page *page, const struct ui *ui)
{
    const struct evaluation *evaluation = &ui->evaluation;
    const double share = evaluation->done / evaluation->total;
    char text[200], key[KEY_NAME_SIZE];
    struct figure done, total;
    if (isfinite(share))
        snprintf(text, sizeof text, "the engine tests %s: %s of %s row%s",
                 which_weights(evaluation->best), figure_whole(&done, evaluation->done),
                 figure_whole(&total, evaluation->total), plural(evaluation->total));
    else
        snprintf(text, sizeof text, "the engine prepares to test %s",
                 which_weights(evaluation->best));
    page_paragraph(page, STYLE_NORMAL, text);
    int y = page_next(page), w = page->area.w;
    if (y >= 0)
        surface_bar(page->surface, y, page->area.x, w < PROGRESS_WIDTH ? w : PROGRESS_WIDTH, share);
    snprintf(text, sizeof text, "%s cancels it", keymap_first(&ui->keymap, ACTION_BACK, key));
    page_paragraph(page, STYLE_LABEL, text);
}

/* Why there is no matrix. */
static void write_absence(struct page *page, const struct ui *ui)
{
    const struct evaluation *evaluation = &ui->evaluation;
    char text[100], key[KEY_NAME_SIZE];
    if (evaluation->asked_run != 0) {
        write_progress(page, ui);
    } else if (evaluation->failure[0] != '\0') {
        page_paragraph(page, STYLE_BAD, evaluation->failure);
        snprintf(text, sizeof text, "%s tries again",
                 keymap_first(&ui->keymap, ACTION_CONFUSION, key));
        page_paragraph(page, STYLE_LABEL, text);
    } else {
        page_paragraph(page, STYLE_LABEL,
                       ui->link == LINK_UP ? "- not computed" : "- not known without the engine");
    }
}

static void write_result(struct page *page, const struct evaluation *evaluation)
{
    const json_t *answer = evaluation->answer;
    const json_t *checkpoint = json_object_get(answer, "checkpoint");
    struct figure f[4];
    size_t i;
    const json_t *warning;
    page_entry(page, "trained", STYLE_NORMAL, "%s on %s", member_text(answer, "model"),
               member_text(answer, "data"));
    page_entry(page, "weights", STYLE_NORMAL, "%s, after step %s (epochs: %s)",
               which_weights(evaluation->best),
               figure_whole(&f[0], member_number(checkpoint, "steps")),
               figure_whole(&f[1], member_number(checkpoint, "epochs")));
    page_entry(page, "test acc", STYLE_NORMAL, "%s of %s row%s, tested in %s s",
               figure_fixed(&f[0], member_number(answer, "test_acc"), 4),
               figure_whole(&f[1], member_number(answer, "test_rows")),
               plural(member_number(answer, "test_rows")),
               figure_seconds(&f[2], member_number(answer, "seconds")));
    json_array_foreach(json_object_get(answer, "warnings"), i, warning)
        page_entry(page, "warning", STYLE_WARNING, "%s",
                   json_string_value(warning) ? json_string_value(warning) : "-");
}

void confusion_summary(struct page *page, const struct ui *ui)
{
    const struct evaluation *evaluation = &ui->evaluation;
    page_title(page, "Run %ld: what its network takes for what", evaluation->run);
    if (evaluation->answer)
        write_result(page, evaluation);
    else
        write_absence(page, ui);
}

void confusion_pairs(struct page *page, const struct confusion_table *table)
{
    const size_t shown = table->pair_count < PAIRS ? table->pair_count : PAIRS;
    long others = table->rows - table->right;
    char text[200];
    page_title(page, "Most often mistaken");
    if (shown == 0)
        page_paragraph(page, STYLE_LABEL, "- nothing: all rows are recognized");
    for (size_t i = 0; i < shown; i++) {
        const struct confusion_pair *pair = &table->pairs[i];
        char label[CONFUSION_NAME], predicted[CONFUSION_NAME];
        snprintf(text, sizeof text, "%.64s taken for %.64s: %ld of %ld",
                 confusion_name(table, pair->label, label),
                 confusion_name(table, pair->predicted, predicted), pair->rows,
                 table->class[pair->label].rows);
        page_paragraph(page, STYLE_NORMAL, text);
        others -= pair->rows;
    }
    snprintf(text, sizeof text, "and %ld row%s of %zu other pair%s", others, plural(others),
             table->pair_count - shown, plural(table->pair_count - shown));
    if (others > 0)
        page_paragraph(page, STYLE_LABEL, text);
}

enum { CLASS_BAR = 2 };
static const struct list_column class_columns[] = {
    {"class", 10, 24, false, 0},  {"accuracy", 8, 0, true, 0}, {"", 10, 40, false, 1},
    {"precision", 9, 0, true, 2}, {"rows", 6, 0, true, 3},
};
enum { CLASS_COLUMNS = sizeof class_columns / sizeof class_columns[0] };

static void write_class(const struct page *page, int y, const struct column_place *places,
                        const struct confusion_table *table, int class)
{
    const struct confusion_class *c = &table->class[class];
    const struct column_place *bar = &places[CLASS_BAR];
    char name[CONFUSION_NAME];
    struct figure f[CLASS_COLUMNS];
    const char *const text[CLASS_COLUMNS] = {
        confusion_name(table, class, name), figure_fixed(&f[1], c->recall, 3), "",
        figure_fixed(&f[3], c->precision, 3), figure_whole(&f[4], (double)c->rows)};
    for (int i = 0; i < CLASS_COLUMNS; i++)
        list_cell(page->surface, page->area, y, &class_columns[i], &places[i], STYLE_NORMAL,
                  text[i]);
    surface_bar(page->surface, y, page->area.x + bar->x, bar->w, c->recall);
}

static void write_class_headings(const struct page *page, int y, const struct column_place *places)
{
    for (int i = 0; i < CLASS_COLUMNS; i++)
        list_cell(page->surface, page->area, y, &class_columns[i], &places[i], STYLE_LABEL,
                  class_columns[i].title);
}

/* Headings stay in the top row while the lines under them are scrolled. */
void confusion_classes(struct page *page, const struct confusion_table *table)
{
    struct column_place places[CLASS_COLUMNS];
    page_title(page, "Accuracy of each class");
    columns_place(class_columns, CLASS_COLUMNS, page->area.w, places);
    int y = page_next(page);
    if (y >= 0)
        write_class_headings(page, y, places);
    for (int k = 0; k < table->classes; k++) {
        y = page_next(page);
        if (y == page->area.y)
            write_class_headings(page, y, places);
        else if (y > 0)
            write_class(page, y, places, table, k);
    }
}

static int digits(long number)
{
    return number < 10 ? 1 : 1 + digits(number / 10);
}

/* Of a number in the matrix, with a blank before it. */
static int cell_width(const struct confusion_table *table)
{
    int count = digits(table->most), number = digits(table->classes - 1);
    return 1 + (count > number ? count : number);
}

/* Of what stands before a line: the number of the class and its name. */
static int label_width(const struct confusion_table *table)
{
    int most = 0;
    for (int k = 0; k < table->classes; k++) {
        int width = text_columns(table->class[k].name);
        most = width > most ? width : most;
    }
    return digits(table->classes - 1) + 1 + (most < NAME_MOST ? most : NAME_MOST);
}

int confusion_matrix_width(const struct confusion_table *table)
{
    return label_width(table) + table->classes * cell_width(table);
}

int confusion_matrix_columns(const struct confusion_table *table, int width)
{
    int columns = (width - label_width(table)) / cell_width(table);
    return columns < 1 ? 1 : columns < table->classes ? columns : table->classes;
}

static enum style cell_style(const struct confusion_table *table, int label, int predicted)
{
    const long count = confusion_at(table, label, predicted);
    if (count == 0)
        return STYLE_TRACK;
    if (label == predicted)
        return STYLE_STRONG;
    return (double)count >= MANY * (double)table->class[label].rows ? STYLE_BAD : STYLE_NORMAL;
}

static void write_line(const struct page *page, int y, const struct confusion_table *table,
                       int label, int first, int columns)
{
    const int before = label_width(table), number = digits(table->classes - 1);
    const int cell = cell_width(table), x = page->area.x, w = page->area.w;
    struct figure f;
    surface_right(page->surface, y, x, number < w ? number : w, STYLE_LABEL,
                  figure_whole(&f, label));
    surface_text(page->surface, y, x + number + 1,
                 before < w ? before - number - 1 : w - number - 1, STYLE_LABEL,
                 table->class[label].name);
    for (int i = 0; i < columns && before + (i + 1) * cell <= w; i++) {
        const long count = confusion_at(table, label, first + i);
        surface_right(page->surface, y, x + before + i * cell, cell,
                      cell_style(table, label, first + i),
                      count > 0 ? figure_whole(&f, (double)count) : ".");
    }
}

static void write_numbers(const struct page *page, int y, const struct confusion_table *table,
                          int first, int columns)
{
    const int before = label_width(table), cell = cell_width(table);
    struct figure f;
    for (int i = 0; i < columns && before + (i + 1) * cell <= page->area.w; i++)
        surface_right(page->surface, y, page->area.x + before + i * cell, cell, STYLE_LABEL,
                      figure_whole(&f, first + i));
}

void confusion_matrix(struct page *page, const struct confusion_table *table, int first)
{
    const int columns = confusion_matrix_columns(table, page->area.w);
    first = first + columns > table->classes ? table->classes - columns : first;
    if (columns < table->classes)
        page_title(page, "Taken for classes %d to %d of %d", first, first + columns - 1,
                   table->classes);
    else
        page_title(page, "Class, and what it is taken for");
    int y = page_next(page);
    if (y >= 0)
        write_numbers(page, y, table, first, columns);
    for (int label = 0; label < table->classes; label++) {
        y = page_next(page);
        if (y == page->area.y)
            write_numbers(page, y, table, first, columns);
        else if (y > 0)
            write_line(page, y, table, label, first, columns);
    }
}
