/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "engine/data/draw.h"
#include "engine/data/sets.h"

/*
 * `glyphs`: ten capital letters as crooked strokes on a noisy ground, drawn from a seed, for
 * machines without any data. Letters that share strokes (E and F, H and A, K and X, X and Y, N and
 * Z) are bent, turned, worn and cluttered until some are hard to tell apart, so that the accuracy
 * of a small network climbs over epochs.
 *
 * Everything is integer arithmetic, so the same seed gives the same bytes on every machine.
 * Lengths are in 1/256 of a pixel ("units"), shares in 1/4096. Each row is a pure function of
 * (seed, part, row).
 */

#define SIDE       28
#define CLASSES    10
#define TRAIN_ROWS 12000
#define TEST_ROWS  2000
#define UNIT       256 /* of a pixel */
#define ONE        4096
#define HALF_SIDE  (SIDE * UNIT / 2)

struct point {
    int x, y;
};

struct stroke {
    struct point from, to;
};

/* In a box of 12x16 around the middle of the letter; x to the right, y downwards. */
struct letter {
    int count;
    struct stroke strokes[4];
};

static const struct letter letters[CLASSES] = {
    {3, {{{-6, 8}, {0, -8}}, {{0, -8}, {6, 8}}, {{-4, 2}, {4, 2}}}},                       /* A */
    {4, {{{-5, -8}, {-5, 8}}, {{-5, -8}, {6, -8}}, {{-5, 0}, {4, 0}}, {{-5, 8}, {6, 8}}}}, /* E */
    {3, {{{-5, -8}, {-5, 8}}, {{-5, -8}, {6, -8}}, {{-5, 0}, {4, 0}}}},                    /* F */
    {3, {{{-6, -8}, {-6, 8}}, {{6, -8}, {6, 8}}, {{-6, 0}, {6, 0}}}},                      /* H */
    {3, {{{-5, -8}, {-5, 8}}, {{6, -8}, {-5, 0}}, {{-5, 0}, {6, 8}}}},                     /* K */
    {3, {{{-6, 8}, {-6, -8}}, {{-6, -8}, {6, 8}}, {{6, 8}, {6, -8}}}},                     /* N */
    {2, {{{-7, -8}, {7, -8}}, {{0, -8}, {0, 8}}}},                                         /* T */
    {2, {{{-6, -8}, {6, 8}}, {{6, -8}, {-6, 8}}}},                                         /* X */
    {3, {{{-6, -8}, {0, 0}}, {{6, -8}, {0, 0}}, {{0, 0}, {0, 8}}}},                        /* Y */
    {3, {{{-6, -8}, {6, -8}}, {{6, -8}, {-6, 8}}, {{-6, 8}, {6, 8}}}},                     /* Z */
};

/* How a row's letter is bent and placed. */
struct pose {
    int xx, xy, yx, yy; /* in 1/4096: turn, shear and size */
    int bend_x, bend_y; /* in units: how far the ends lean away from the middle */
    int left, top;      /* in units: shift of the middle */
};

static struct pose draw_pose(struct draws *d)
{
    int turn = draw_middle(d, -ONE * 45 / 100, ONE * 45 / 100),
        shear = draw_range(d, -ONE / 5, ONE / 5);
    int width = draw_range(d, ONE * 60 / 100, ONE * 110 / 100);
    int height = draw_range(d, ONE * 65 / 100, ONE * 105 / 100);
    return (struct pose){
        .xx = width,
        .xy = (shear - turn) * height / ONE,
        .yx = turn * width / ONE,
        .yy = height,
        .bend_x = draw_range(d, -3 * UNIT, 3 * UNIT),
        .bend_y = draw_range(d, -2 * UNIT, 2 * UNIT),
        .left = draw_middle(d, -5 * UNIT, 5 * UNIT),
        .top = draw_middle(d, -5 * UNIT, 5 * UNIT),
    };
}

/* Where a point of the letter's box comes to lie; `wobble` units of a shaky hand at most. */
static struct point place(struct draws *d, const struct pose *pose, struct point p, int wobble)
{
    int x = p.x * UNIT, y = p.y * UNIT;
    x += pose->bend_x * p.y * p.y / 64;
    y += pose->bend_y * p.x * p.x / 36;
    return (struct point){
        HALF_SIDE + pose->left + (x * pose->xx + y * pose->xy) / ONE +
            draw_range(d, -wobble, wobble),
        HALF_SIDE + pose->top + (x * pose->yx + y * pose->yy) / ONE +
            draw_range(d, -wobble, wobble),
    };
}

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/*
 * Draw a stroke of radius `radius` units and ink 0..255 into the picture, darker ink winning. The
 * edge fades over one pixel, linearly in the squared distance, which needs no square root.
 */
static void ink_stroke(uint8_t *ink, struct point a, struct point b, int radius, int strength)
{
    int reach = radius + UNIT / 2, core = radius > UNIT / 2 ? radius - UNIT / 2 : 0;
    int outer = reach * reach, inner = core * core;
    int64_t dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    int left = clamp(((a.x < b.x ? a.x : b.x) - reach) / UNIT, 0, SIDE - 1);
    int right = clamp(((a.x < b.x ? b.x : a.x) + reach) / UNIT, 0, SIDE - 1);
    int top = clamp(((a.y < b.y ? a.y : b.y) - reach) / UNIT, 0, SIDE - 1);
    int bottom = clamp(((a.y < b.y ? b.y : a.y) + reach) / UNIT, 0, SIDE - 1);
    for (int row = top; row <= bottom; row++) {
        for (int column = left; column <= right; column++) {
            int64_t px = column * UNIT + UNIT / 2 - a.x, py = row * UNIT + UNIT / 2 - a.y;
            int64_t along = px * dx + py * dy;
            along = along < 0 ? 0 : along > length ? length : along;
            int64_t ex = length ? px - along * dx / length : px;
            int64_t ey = length ? py - along * dy / length : py;
            int64_t distance = ex * ex + ey * ey;
            if (distance >= outer)
                continue;
            int value = distance <= inner ? strength
                                          : (int)(strength * (outer - distance) / (outer - inner));
            uint8_t *at = ink + row * SIDE + column;
            if (*at < value)
                *at = (uint8_t)value;
        }
    }
}

/* A worn stroke: it begins or ends late. */
static void wear(struct draws *d, struct point *from, struct point *to, int most)
{
    int gone = draw_range(d, 0, most), first = draw_word(d) & 1;
    struct point *end = first ? from : to, *other = first ? to : from;
    end->x += (other->x - end->x) * gone / ONE;
    end->y += (other->y - end->y) * gone / ONE;
}

static void ink_letter(struct draws *d, uint8_t *ink, int label, int strength)
{
    const struct letter *letter = &letters[label];
    struct pose pose = draw_pose(d);
    int radius = draw_range(d, UNIT * 50 / 100, UNIT * 160 / 100);
    for (int i = 0; i < letter->count; i++) {
        struct point from = place(d, &pose, letter->strokes[i].from, UNIT);
        struct point to = place(d, &pose, letter->strokes[i].to, UNIT);
        wear(d, &from, &to, ONE * 35 / 100);
        ink_stroke(ink, from, to, radius, strength * draw_range(d, 70, 100) / 100);
    }
}

/* Strokes that belong to no letter. */
static void ink_clutter(struct draws *d, uint8_t *ink, int strength)
{
    for (int count = draw_range(d, 0, 3); count; count--) {
        struct point from = {draw_range(d, 0, SIDE * UNIT), draw_range(d, 0, SIDE * UNIT)};
        struct point to = {from.x + draw_range(d, -8 * UNIT, 8 * UNIT),
                           from.y + draw_range(d, -8 * UNIT, 8 * UNIT)};
        ink_stroke(ink, from, to, draw_range(d, UNIT * 40 / 100, UNIT),
                   strength * draw_range(d, 30, 90) / 100);
    }
}

static void draw_glyph(struct draws *d, int label, uint8_t *pixels)
{
    uint8_t ink[SIDE * SIDE] = {0};
    int ground = draw_range(d, 0, 70), strength = draw_range(d, 80, 185);
    int noise = draw_range(d, 10, 60);
    ink_letter(d, ink, label, strength);
    /* A letter that shines through from the back of the page. */
    ink_letter(d, ink, draw_range(d, 0, CLASSES - 1), strength * draw_range(d, 0, 45) / 100);
    ink_clutter(d, ink, strength);
    for (int i = 0; i < SIDE * SIDE; i += 2) {
        uint32_t word = draw_word(d);
        for (int j = 0; j < 2; j++, word >>= 16) {
            int grain = (int)(word & 255) + (int)(word >> 8 & 255) - 255; /* a triangle */
            pixels[i + j] = (uint8_t)clamp(ground + ink[i + j] + grain * noise / 128, 0, 255);
        }
    }
}

/* Every ten rows hold every class once, in an order of their own. */
static void draw_labels(struct draws *d, uint8_t *labels)
{
    for (int i = 0; i < CLASSES; i++)
        labels[i] = (uint8_t)i;
    for (int i = CLASSES - 1; i > 0; i--) {
        int j = draw_range(d, 0, i);
        uint8_t kept = labels[i];
        labels[i] = labels[j];
        labels[j] = kept;
    }
}

static bool make_part(uint64_t seed, enum draw_stream stream, enum draw_stream order, int rows,
                      struct dataset *set, struct error *err)
{
    glyphs_describe(set);
    set->rows = rows;
    if (!dataset_allocate(set, false, "glyphs", err))
        return false;
    for (int row = 0; row < rows; row++) {
        if (row % CLASSES == 0) {
            struct draws draws = draw_begin(seed, order, (uint32_t)(row / CLASSES));
            draw_labels(&draws, set->labels + row);
        }
        struct draws draws = draw_begin(seed, stream, (uint32_t)row);
        draw_glyph(&draws, set->labels[row], set->pixels + (size_t)row * SIDE * SIDE);
    }
    return true;
}

void glyphs_describe(struct dataset *shape)
{
    *shape = (struct dataset){
        .rows = TRAIN_ROWS, .channels = 1, .height = SIDE, .width = SIDE, .classes = CLASSES};
}

bool glyphs_make(uint64_t seed, struct dataset *train, struct dataset *test, struct error *err)
{
    return make_part(seed, DRAW_GLYPHS_TRAIN, DRAW_GLYPHS_TRAIN_ORDER, TRAIN_ROWS, train, err) &&
           make_part(seed, DRAW_GLYPHS_TEST, DRAW_GLYPHS_TEST_ORDER, TEST_ROWS, test, err);
}
