/* SPDX-License-Identifier: MIT */
#include "ui/draw/theme.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first eight colours of every terminal that has any. OWN is the terminal's own: nothing is
 * ever written in black. */
enum { OWN, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN };

enum { LIGHTER = 8 }; /* from a colour of the first eight to its bright sister of 16 */

struct colours {
    uint8_t both, dark, light; /* of 256, by enum background */
    uint8_t few, few_light;    /* of 8, on a dark or unknown background, and on a light one */
};

/*
 * Blue and orange for curves stay apart for all eyes. The second palette is that of Okabe and Ito
 * ("Color Universal Design", 2008), by the nearest of the 256 colours: bluish green, orange and
 * vermilion instead of green, yellow and red.
 */
static const struct colours colours_of[STYLE_COUNT][2] = {
    [STYLE_LABEL] = {{243, 246, 241, OWN, OWN}, {243, 246, 241, OWN, OWN}},
    [STYLE_GOOD] = {{28, 71, 28, GREEN, GREEN}, {29, 36, 29, CYAN, BLUE}},
    [STYLE_WARNING] = {{130, 214, 130, YELLOW, MAGENTA}, {136, 220, 94, YELLOW, MAGENTA}},
    [STYLE_BAD] = {{167, 203, 160, RED, RED}, {166, 202, 160, RED, RED}},
    [STYLE_FILL] = {{28, 71, 28, GREEN, GREEN}, {29, 36, 29, CYAN, BLUE}},
    [STYLE_TRACK] = {{241, 241, 245, OWN, OWN}, {241, 241, 245, OWN, OWN}},
    [STYLE_SERIES] = {{32, 39, 26, CYAN, BLUE}, {32, 74, 25, CYAN, BLUE}},
    [STYLE_SERIES_MARKED] = {{130, 208, 130, YELLOW, MAGENTA}, {136, 214, 130, YELLOW, MAGENTA}},
    [STYLE_SERIES_COMPANION] = {{30, 80, 23, GREEN, CYAN}, {29, 36, 29, GREEN, CYAN}},
    [STYLE_SERIES_MARKED_2] = {{133, 176, 127, MAGENTA, RED}, {133, 175, 127, MAGENTA, RED}},
    [STYLE_SERIES_MARKED_3] = {{64, 113, 28, GREEN, GREEN}, {25, 227, 236, GREEN, GREEN}},
    [STYLE_SERIES_MARKED_4] = {{167, 210, 160, RED, RED}, {166, 202, 160, RED, RED}},
    [STYLE_SERIES_PAST] = {{245, 245, 245, OWN, OWN}, {245, 245, 245, OWN, OWN}},
};

static const struct {
    uint8_t coloured, mono;
} attributes_of[STYLE_COUNT] = {
    [STYLE_STRONG] = {LOOK_BOLD, LOOK_BOLD},
    [STYLE_FOCUS] = {LOOK_BOLD | LOOK_UNDERLINE, LOOK_BOLD | LOOK_UNDERLINE},
    [STYLE_CURSOR] = {LOOK_REVERSE, LOOK_REVERSE},
    [STYLE_EDIT] = {LOOK_UNDERLINE | LOOK_BOLD, LOOK_UNDERLINE | LOOK_BOLD},
    [STYLE_WARNING] = {0, LOOK_BOLD},
    [STYLE_BAD] = {LOOK_BOLD, LOOK_BOLD},
    [STYLE_KEY] = {LOOK_BOLD, LOOK_BOLD},
    [STYLE_FILL] = {0, LOOK_BOLD},
    [STYLE_TRACK] = {0, LOOK_DIM},
    [STYLE_SERIES] = {LOOK_BOLD, LOOK_BOLD},
    [STYLE_SERIES_PAST] = {LOOK_DIM, LOOK_DIM},
};

enum background theme_background(const char *colorfgbg)
{
    const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
    char *end;
    if (!last || last[1] < '0' || last[1] > '9')
        return BACKGROUND_AUTO;
    long index = strtol(last + 1, &end, 10);
    if (*end != '\0' || index > 15)
        return BACKGROUND_AUTO;
    /* White, and all bright ones but the grey that is bright black. */
    return index == 7 || index > 8 ? BACKGROUND_LIGHT : BACKGROUND_DARK;
}

struct theme theme_make(const struct preferences *preferences, int colours)
{
    struct theme theme = {
        .colours = preferences->colour ? colours : 0,
        .palette = preferences->palette,
        .background = preferences->background,
    };
    if (theme.background == BACKGROUND_AUTO)
        theme.background = theme_background(getenv("COLORFGBG"));
    return theme;
}

static int few_colour(const struct theme *theme, const struct colours *colours)
{
    if (theme->background == BACKGROUND_LIGHT)
        return colours->few_light;
    if (theme->background == BACKGROUND_DARK && theme->colours >= 16 && colours->few != OWN)
        return colours->few + LIGHTER;
    return colours->few;
}

static int many_colour(const struct theme *theme, const struct colours *colours)
{
    return theme->background == BACKGROUND_DARK    ? colours->dark
           : theme->background == BACKGROUND_LIGHT ? colours->light
                                                   : colours->both;
}

struct look theme_look(const struct theme *theme, enum style style)
{
    const struct colours *colours = &colours_of[style][theme->palette];
    struct look look = {.colour = -1, .attributes = attributes_of[style].mono};
    if (theme->colours < 8)
        return look;
    int colour = theme->colours >= 256 ? many_colour(theme, colours) : few_colour(theme, colours);
    look.attributes = attributes_of[style].coloured;
    if (colour == OWN)
        return look;
    look.colour = colour;
    look.attributes &= ~(unsigned)LOOK_DIM; /* grey is dim; terminals would darken it once more */
    return look;
}

int theme_sgr(const struct theme *theme, enum style style, char *buffer)
{
    struct look look = theme_look(theme, style);
    char colour[16] = "";
    if (look.colour >= 16)
        snprintf(colour, sizeof colour, ";38;5;%d", look.colour);
    else if (look.colour >= 8)
        snprintf(colour, sizeof colour, ";%d", 90 + look.colour - 8);
    else if (look.colour >= 0)
        snprintf(colour, sizeof colour, ";%d", 30 + look.colour);
    return snprintf(buffer, THEME_SGR, "\033[0%s%s%s%s%sm", look.attributes & LOOK_BOLD ? ";1" : "",
                    look.attributes & LOOK_DIM ? ";2" : "",
                    look.attributes & LOOK_UNDERLINE ? ";4" : "",
                    look.attributes & LOOK_REVERSE ? ";7" : "", colour);
}
