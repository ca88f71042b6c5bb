/* SPDX-License-Identifier: MIT */
#include "ui/views/confusion.h"

#include <stdio.h>

#include "ui/views/confusion_sections.h"
#include "ui/views/dashboard.h"

/* What the network of the selected run takes for what: one page to scroll, or on a wide screen two
 * side by side, the matrix on the right. */

enum { LEFT_LEAST = 45, GAP = 3 };

/* All that is drawn, and where; without columns at the right the matrix is on the page, too. */
struct pages {
    struct confusion_table table; /* without classes: there is no answer */
    struct rect left, right;
    int left_last, right_last; /* the first lines when they are scrolled to their ends */
};

static int write_left(const struct ui *ui, const struct pages *pages, struct surface *surface,
                      struct rect area, int first)
{
    struct page page = {surface, area, first, 0};
    confusion_summary(&page, ui);
    if (pages->table.classes > 0) {
        confusion_pairs(&page, &pages->table);
        confusion_classes(&page, &pages->table);
        if (pages->right.w == 0)
            confusion_matrix(&page, &pages->table, ui->evaluation.column);
    }
    return page.line;
}

static int write_right(const struct ui *ui, const struct pages *pages, struct surface *surface,
                       struct rect area, int first)
{
    struct page page = {surface, area, first, 0};
    confusion_matrix(&page, &pages->table, ui->evaluation.column);
    return page.line;
}

/* A page scrolls until its last line stands in the last row. */
static int last_line(int lines, int rows)
{
    return lines > rows ? lines - rows : 0;
}

/* Released by confusion_table_free of its table, on failure, too. */
static bool prepare(const struct ui *ui, struct rect area, struct pages *pages, struct error *err)
{
    *pages = (struct pages){.left = area};
    if (ui->evaluation.answer && !confusion_table_read(&pages->table, ui->evaluation.answer, err))
        return false;
    const int needed = pages->table.classes > 0 ? confusion_matrix_width(&pages->table) : 0;
    if (needed > 0 && area.w >= LEFT_LEAST + GAP + needed) {
        pages->left.w = area.w - needed - GAP;
        pages->right = (struct rect){area.y, area.x + area.w - needed, area.h, needed};
    }
    const struct rect nothing_left = {0, 0, 0, pages->left.w};
    const struct rect nothing_right = {0, 0, 0, pages->right.w};
    pages->left_last = last_line(write_left(ui, pages, NULL, nothing_left, 0), area.h);
    if (pages->right.w > 0)
        pages->right_last = last_line(write_right(ui, pages, NULL, nothing_right, 0), area.h);
    return true;
}

/* For what is asked about the page between two frames. Without memory it has nothing. */
static void prepare_screen(const struct ui *ui, struct pages *pages)
{
    struct layout layout = dashboard_layout(ui, ui->rows, ui->columns);
    struct error ignored = ERROR_INIT;
    if (!prepare(ui, (struct rect){1, 0, layout.status.y - 1, ui->columns}, pages, &ignored))
        pages->table.classes = 0;
}

int confusion_view_last_line(const struct ui *ui)
{
    struct pages pages;
    prepare_screen(ui, &pages);
    confusion_table_free(&pages.table);
    return pages.left_last > pages.right_last ? pages.left_last : pages.right_last;
}

bool confusion_view_columns(const struct ui *ui, int *seen, int *all)
{
    struct pages pages;
    prepare_screen(ui, &pages);
    const int classes = pages.table.classes;
    const int width = pages.right.w > 0 ? pages.right.w : pages.left.w;
    *seen = classes > 0 ? confusion_matrix_columns(&pages.table, width) : 0;
    *all = classes;
    confusion_table_free(&pages.table);
    return *seen < *all;
}

static bool draw(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    struct pages pages;
    if (ui->evaluation.run == 0) {
        surface_text(surface, area.y, area.x, area.w, STYLE_LABEL, "no run is selected");
        return true;
    }
    bool ok = prepare(ui, area, &pages, err);
    if (ok)
        write_left(ui, &pages, surface, pages.left, view_first_line(ui, pages.left_last));
    for (int y = area.y; ok && pages.right.w > 0 && y < area.y + area.h; y++)
        surface_glyph(surface, y, pages.right.x - 2, GLYPH_RULE, STYLE_TRACK);
    if (ok && pages.right.w > 0)
        write_right(ui, &pages, surface, pages.right, view_first_line(ui, pages.right_last));
    confusion_table_free(&pages.table);
    return ok;
}

static void hint(const struct ui *ui, char *buffer, size_t size)
{
    view_hint_lines(ui, confusion_view_last_line(ui), buffer, size);
}

const struct view view_confusion = {draw, hint};
