/* SPDX-License-Identifier: MIT */
#include "ui/views/compare/grid_chart.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "ui/chart/chart.h"
#include "ui/views/compare/chart.h"

/* Rows with the same first value, by rising x; low and high are over the seeds, or epochs. */
struct curve_of_value {
    const char *name;
    int count;
    struct chart_point mean[STUDY_VARIANTS], low[STUDY_VARIANTS], high[STUDY_VARIANTS];
};

/* The values on the x axis, each once; none where all are numbers. */
struct words {
    const char *word[STUDY_VARIANTS];
    int count;
};

static int find_word(const struct words *words, const char *word)
{
    int i = 0;
    while (i < words->count && strcmp(words->word[i], word) != 0)
        i++;
    return i;
}

static void gather_words(const struct grid *grid, struct words *words)
{
    const int last = grid->study.varied_count - 1;
    bool numbers = true;
    double number;
    words->count = 0;
    for (int i = 0; i < grid->study.variant_count; i++) {
        const char *value = grid->value[i][last];
        numbers = numbers && parse_double(value, -1e12, 1e12, &number);
        if (find_word(words, value) == words->count)
            words->word[words->count++] = value;
    }
    if (numbers)
        words->count = 0;
}

/* The value on the x axis as a number; words stand at 1, 2, 3 in their order. */
static double x_of(const struct grid *grid, const struct words *words, int line)
{
    const char *value = grid->value[line][grid->study.varied_count - 1];
    double number = NAN;
    if (words->count > 0)
        return find_word(words, value) + 1;
    parse_double(value, -1e12, 1e12, &number);
    return number;
}

static void insert(struct curve_of_value *curve, double x, double mean, double low, double high)
{
    int at = curve->count++;
    while (at > 0 && curve->mean[at - 1].x > x) {
        curve->mean[at] = curve->mean[at - 1];
        curve->low[at] = curve->low[at - 1];
        curve->high[at] = curve->high[at - 1];
        at--;
    }
    curve->mean[at] = (struct chart_point){x, mean};
    curve->low[at] = (struct chart_point){x, low};
    curve->high[at] = (struct chart_point){x, high};
}

/* All lines with the first value of `line`; of a single setting all lines. */
static void gather(const struct grid *grid, const struct words *words, enum compare_metric metric,
                   int line, struct curve_of_value *curve)
{
    bool two = grid->study.varied_count > 1;
    *curve = (struct curve_of_value){.name = two ? grid->value[line][0] : ""};
    for (int i = 0; i < grid->table.count; i++) {
        const struct study_row *row = &grid->table.rows[i];
        const struct spread *band = row->done > 1 ? compare_band(&row->outcome, metric) : NULL;
        if (!two || strcmp(grid->value[i][0], grid->value[line][0]) == 0)
            insert(curve, x_of(grid, words, i), compare_value(&row->outcome, metric),
                   band ? band->low : NAN, band ? band->high : NAN);
    }
}

static struct chart_series series_of(const struct chart_point *points, int count,
                                     enum series_rank rank, int look, const char *name,
                                     char32_t mark)
{
    return (struct chart_series){.points = points,
                                 .count = count,
                                 .rank = rank,
                                 .look = look,
                                 .name = name,
                                 .mark = mark,
                                 .last = NAN,
                                 .best = NAN};
}

/* The first lines of the curves, one of each, that of the line in focus last. */
static int choose_curves(const struct ui *ui, const struct grid *grid, int *lines, int most)
{
    int focus = grid_line(ui, grid), count = 0;
    focus = focus < 0 ? 0 : focus;
    for (int i = 0; i < grid->table.count && grid->study.varied_count > 1; i++) {
        bool is_new = strcmp(grid->value[i][0], grid->value[focus][0]) != 0;
        for (int j = 0; j < i && is_new; j++)
            is_new = strcmp(grid->value[i][0], grid->value[j][0]) != 0;
        if (is_new && count < most - 1)
            lines[count++] = i;
    }
    lines[count++] = focus;
    return count;
}

enum { CURVES = 8 };

bool compare_grid_chart_draw(const struct ui *ui, const struct grid *grid, struct surface *surface,
                             struct rect area, struct error *err)
{
    enum compare_metric metric = ui->compare.grid_metric;
    const struct compare_look *look = compare_look(metric);
    struct curve_of_value curves[CURVES];
    struct chart_series series[CURVES + 2];
    int lines[CURVES], count = 0, chosen = choose_curves(ui, grid, lines, CURVES);
    double low = INFINITY, high = -INFINITY;
    struct words words;
    gather_words(grid, &words);
    for (int i = 0; i < chosen; i++)
        gather(grid, &words, metric, lines[i], &curves[i]);
    const struct curve_of_value *front = &curves[chosen - 1];
    series[count++] = series_of(front->low, front->count, SERIES_PAST, 0, "min", 'v');
    series[count++] = series_of(front->high, front->count, SERIES_PAST, 0, "max", '^');
    for (int i = 0; i < chosen; i++)
        series[count++] =
            series_of(curves[i].mean, curves[i].count, i < chosen - 1 ? SERIES_MARKED : SERIES_MAIN,
                      i, curves[i].name, i < chosen - 1 ? '+' : 'o');
    for (int i = 0; i < grid->table.count; i++) {
        low = fmin(low, x_of(grid, &words, i));
        high = fmax(high, x_of(grid, &words, i));
    }
    const struct chart chart = {
        .title = metric == COMPARE_ACCURACY && grid->table.rows[0].outcome.validated
                     ? "Validation accuracy"
                     : look->title,
        .advice = "the first values come with the first run that is done",
        .x_label = grid->study.varied[grid->study.varied_count - 1],
        /* Before the first value there is room for its tick, after the last one for the names. */
        .x_low = low - 0.04 * (high - low),
        .x_high = high > low ? high + 0.08 * (high - low) : low + 1,
        .x_fractions = words.count == 0,
        .x_names = words.count > 0 ? words.word : NULL,
        .x_name_count = words.count,
        .y_floor = 0,
        .y_top = look->top,
        .decimals = look->decimals,
        .canvas = ui->preferences.canvas,
        .series = series,
        .count = count,
    };
    return grid->table.count == 0 || chart_draw(&chart, surface, area, err);
}
