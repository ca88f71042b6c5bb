/* SPDX-License-Identifier: MIT */
#include "engine/data/glyphs.h"

#include <stdlib.h>

#include "base/rng.h"
#include "engine/data/dataset.h"

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
#define TRAIN_ROWS 15000
#define TEST_ROWS  2500
#define UNIT       256 /* of a pixel */
#define ONE        4096
#define HALF_SIDE  (SIDE * UNIT / 2)

#define PERCENT(n) (ONE * (n) / 100)
#define MAX_TURN   PERCENT(40) /* sideways for one upwards: about 22 degrees */
#define MAX_SHEAR  PERCENT(20)
#define MAX_SHIFT  (9 * UNIT / 2)
#define MAX_WOBBLE (7 * UNIT / 8)
#define MAX_WEAR   PERCENT(30) /* of a stroke's length */

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

/* Index of the random stream: the rows of each part, and the order of its labels. */
enum { PART_TRAIN, PART_TEST, PART_ORDERS };

/* The random words of one row, one after the other. */
struct draws {
    struct rng_stream stream;
    uint32_t block, word[4];
    int left;
};

static struct draws draw_begin(uint64_t seed, uint32_t index, int row)
{
    return (struct draws){.stream = rng_stream(seed, RNG_GLYPHS, index, (uint32_t)row, 0)};
}

static uint32_t draw_word(struct draws *d)
{
    if (!d->left) {
        rng_block(&d->stream, d->block++, d->word);
        d->left = 4;
    }
    return d->word[--d->left];
}

/* Uniform in low..high, both included; the spans are far below 2^32, so the bias is nil. */
static int draw_range(struct draws *d, int low, int high)
{
    uint64_t span = (uint64_t)(high - low) + 1;
    return low + (int)(draw_word(d) * span >> 32);
}

/* As draw_range, with a peak in the middle. */
static int draw_middle(struct draws *d, int low, int high)
{
    int first = draw_range(d, low, high);
    return (first + draw_range(d, low, high)) / 2;
}

/* How a row's letter is bent and placed. */
struct pose {
    int xx, xy, yx, yy; /* in 1/4096: turn, shear and size */
    int bend_x, bend_y; /* in units: how far the ends lean away from the middle */
    int left, top;      /* in units: shift of the middle */
};

/*
 * Here and below every draw is a separate statement: C leaves the order of evaluation open inside
 * initialisers and argument lists, and another order would be another picture.
 */
static struct pose draw_pose(struct draws *d)
{
    struct pose pose;
    int turn = draw_middle(d, -MAX_TURN, MAX_TURN);
    int shear = draw_range(d, -MAX_SHEAR, MAX_SHEAR);
    int width = draw_range(d, PERCENT(65), PERCENT(110));
    int height = draw_range(d, PERCENT(65), PERCENT(105));
    pose.xx = width;
    pose.xy = (shear - turn) * height / ONE;
    pose.yx = turn * width / ONE;
    pose.yy = height;
    pose.bend_x = draw_range(d, -3 * UNIT, 3 * UNIT);
    pose.bend_y = draw_range(d, -2 * UNIT, 2 * UNIT);
    pose.left = draw_middle(d, -MAX_SHIFT, MAX_SHIFT);
    pose.top = draw_middle(d, -MAX_SHIFT, MAX_SHIFT);
    return pose;
}

/* Where a point of the letter's box comes to lie, by a shaky hand. */
static struct point place(struct draws *d, const struct pose *pose, struct point p)
{
    struct point at = {HALF_SIDE + pose->left, HALF_SIDE + pose->top};
    int x = p.x * UNIT + pose->bend_x * p.y * p.y / 64;
    int y = p.y * UNIT + pose->bend_y * p.x * p.x / 36;
    at.x += (x * pose->xx + y * pose->xy) / ONE;
    at.y += (x * pose->yx + y * pose->yy) / ONE;
    at.x += draw_range(d, -MAX_WOBBLE, MAX_WOBBLE);
    at.y += draw_range(d, -MAX_WOBBLE, MAX_WOBBLE);
    return at;
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
static void wear(struct draws *d, struct point *from, struct point *to)
{
    int gone = draw_range(d, 0, MAX_WEAR), first = draw_word(d) & 1;
    struct point *end = first ? from : to, *other = first ? to : from;
    end->x += (other->x - end->x) * gone / ONE;
    end->y += (other->y - end->y) * gone / ONE;
}

static void ink_letter(struct draws *d, uint8_t *ink, int label, int strength)
{
    const struct letter *letter = &letters[label];
    struct pose pose = draw_pose(d);
    int radius = draw_range(d, UNIT / 2, UNIT * 3 / 2);
    for (int i = 0; i < letter->count; i++) {
        struct point from = place(d, &pose, letter->strokes[i].from);
        struct point to = place(d, &pose, letter->strokes[i].to);
        wear(d, &from, &to);
        int share = draw_range(d, PERCENT(70), PERCENT(100));
        ink_stroke(ink, from, to, radius, strength * share / ONE);
    }
}

/* Up to three strokes that belong to no letter. */
static void ink_clutter(struct draws *d, uint8_t *ink, int strength)
{
    for (int count = draw_range(d, 0, 3); count; count--) {
        struct point from, to;
        from.x = draw_range(d, 0, SIDE * UNIT);
        from.y = draw_range(d, 0, SIDE * UNIT);
        to.x = from.x + draw_range(d, -8 * UNIT, 8 * UNIT);
        to.y = from.y + draw_range(d, -8 * UNIT, 8 * UNIT);
        int radius = draw_range(d, UNIT / 3, UNIT);
        int share = draw_range(d, PERCENT(30), PERCENT(90));
        ink_stroke(ink, from, to, radius, strength * share / ONE);
    }
}

static void draw_glyph(struct draws *d, int label, uint8_t *pixels)
{
    uint8_t ink[SIDE * SIDE] = {0};
    int ground = draw_range(d, 0, 60);
    int strength = draw_range(d, 110, 195);
    int noise = draw_range(d, 8, 44);
    ink_letter(d, ink, label, strength);
    /* Another letter shines through from the back of the page. */
    int behind = draw_range(d, 0, CLASSES - 1);
    int share = draw_range(d, 0, PERCENT(35));
    ink_letter(d, ink, behind, strength * share / ONE);
    ink_clutter(d, ink, strength);
    for (int i = 0; i < SIDE * SIDE; i += 2) {
        uint32_t word = draw_word(d);
        for (int j = 0; j < 2; j++, word >>= 16) {
            int grain = (int)(word & 255) + (int)(word >> 8 & 255) - 255; /* a triangle */
            pixels[i + j] = (uint8_t)clamp(ground + ink[i + j] + grain * noise / 128, 0, 255);
        }
    }
}

/* Every ten rows hold every class once, in their own order. */
static void draw_labels(struct draws *d, uint8_t labels[CLASSES])
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

static bool make_part(uint64_t seed, uint32_t part, int rows, struct dataset *set,
                      struct error *err)
{
    int test_rows;
    glyphs_describe(set, &test_rows);
    set->rows = rows;
    if (!dataset_allocate(set, false, "glyphs", err))
        return false;
    uint8_t labels[CLASSES];
    for (int row = 0; row < rows; row++) {
        if (row % CLASSES == 0) {
            struct draws order = draw_begin(seed, PART_ORDERS + part, row / CLASSES);
            draw_labels(&order, labels);
        }
        set->labels[row] = labels[row % CLASSES];
        struct draws draws = draw_begin(seed, part, row);
        draw_glyph(&draws, set->labels[row], set->pixels + (size_t)row * SIDE * SIDE);
    }
    return true;
}

void glyphs_describe(struct dataset *shape, int *test_rows)
{
    *test_rows = TEST_ROWS;
    *shape = (struct dataset){
        .rows = TRAIN_ROWS, .channels = 1, .height = SIDE, .width = SIDE, .classes = CLASSES};
}

static int first_rows(long wanted, int all)
{
    return wanted > 0 && wanted < all ? (int)wanted : all;
}

bool glyphs_make(uint64_t seed, struct data_rows wanted, struct dataset *train,
                 struct dataset *test, struct error *err)
{
    return make_part(seed, PART_TRAIN, first_rows(wanted.train, TRAIN_ROWS), train, err) &&
           make_part(seed, PART_TEST, first_rows(wanted.test, TEST_ROWS), test, err);
}
