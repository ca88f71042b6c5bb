/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/groups.h"

#define MANY 4 /* groups of a thread: one more of them makes each a little smaller only */

/* The tiles of a side as runs of one size. */
static int cut_side(int out, struct winograd_run runs[2])
{
    const struct winograd_cut cut = winograd_cut(out);
    int count = 0;
    if (cut.fours > 0)
        runs[count++] = (struct winograd_run){4, 0, cut.fours};
    if (cut.threes > 0)
        runs[count++] = (struct winograd_run){3, 4 * cut.fours, cut.threes};
    return count;
}

/* As few rows as fill groups of each pair; at most `most`. */
static int band_rows(const struct winograd_groups *g, int most)
{
    int rows = 1;
    for (int i = 0; i < g->pair_count; i++)
        while (rows * g->pairs[i].h.count * g->pairs[i].w.count % most != 0)
            rows++;
    return rows;
}

void winograd_groups_make(struct winograd_groups *g, int rows, int h, int w, int most, int threads)
{
    struct winograd_run down[2], across[2];
    const int downs = cut_side(h, down), acrosses = cut_side(w, across);
    *g = (struct winograd_groups){.rows = rows, .bands = 1};
    for (int i = 0; i < downs * acrosses; i++) {
        g->pairs[g->pair_count].h = down[i / acrosses];
        g->pairs[g->pair_count++].w = across[i % acrosses];
    }
    if (g->pair_count > 1) {
        const int each = band_rows(g, most);
        g->bands = (rows + each - 1) / each;
        if (rows >= threads)
            g->bands = (g->bands + threads - 1) / threads * threads;
        if (g->bands > rows)
            g->bands = rows;
    }
    for (int i = 0; i < g->pair_count; i++) {
        const long longest = (rows + g->bands - 1) / g->bands;
        const long tiles = longest * g->pairs[i].h.count * g->pairs[i].w.count;
        g->pairs[i].groups = (int)((tiles + most - 1) / most);
        if (g->bands == 1 && g->pairs[i].groups > MANY * threads) /* as many for each */
            g->pairs[i].groups = (g->pairs[i].groups + threads - 1) / threads * threads;
        g->band_groups += g->pairs[i].groups;
    }
    g->count = g->bands * g->band_groups;
}

struct winograd_group winograd_group_at(const struct winograd_groups *g, int index)
{
    const int band = index / g->band_groups;
    const long from = (long)g->rows * band / g->bands, to = (long)g->rows * (band + 1) / g->bands;
    int i = index % g->band_groups, pair = 0;
    while (i >= g->pairs[pair].groups)
        i -= g->pairs[pair++].groups;
    struct winograd_group group = {.h = g->pairs[pair].h, .w = g->pairs[pair].w};
    const long row = (long)group.h.count * group.w.count, tiles = (to - from) * row;
    const long first = tiles * i / g->pairs[pair].groups;
    group.first = from * row + first;
    group.tiles = (int)(tiles * (i + 1) / g->pairs[pair].groups - first);
    return group;
}
