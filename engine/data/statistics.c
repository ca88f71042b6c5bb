/* SPDX-License-Identifier: MIT */
#include "engine/data/statistics.h"

#include <math.h>

enum { VALUES = 256 };

/* How often each value occurs in a channel. Two counters: neighbours are often equal, and the
 * second would wait for the first. */
static void count_values(const struct dataset *set, const uint32_t *rows, long count, int channel,
                         uint64_t counts[VALUES])
{
    const size_t pixels = (size_t)set->height * (size_t)set->width;
    const size_t row = (size_t)set->channels * pixels;
    uint64_t odd[VALUES] = {0};
    for (long i = 0; i < count; i++) {
        const uint8_t *p =
            set->pixels + (rows ? rows[i] : (size_t)i) * row + (size_t)channel * pixels;
        for (size_t k = 0; k + 1 < pixels; k += 2) {
            counts[p[k]]++;
            odd[p[k + 1]]++;
        }
        if (pixels % 2)
            counts[p[pixels - 1]]++;
    }
    for (int v = 0; v < VALUES; v++)
        counts[v] += odd[v];
}

void dataset_statistics(const struct dataset *set, const uint32_t *rows, long count, double *mean,
                        double *std)
{
    const double pixels = (double)count * set->height * set->width;
    for (int c = 0; c < set->channels; c++) {
        uint64_t counts[VALUES] = {0}, sum = 0;
        double squares = 0;
        count_values(set, rows, count, c, counts);
        for (unsigned v = 0; v < VALUES; v++)
            sum += v * counts[v];
        const double centre = (double)sum / pixels;
        for (int v = 0; v < VALUES; v++)
            squares += (double)counts[v] * (v - centre) * (v - centre);
        mean[c] = centre / 255;
        std[c] = sqrt(squares / pixels) / 255;
    }
}
