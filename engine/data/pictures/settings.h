/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Whether rows have three channels or one. AUTO: three if any picture has colours. */
enum image_colour { IMAGE_COLOUR_AUTO, IMAGE_COLOUR_NO, IMAGE_COLOUR_YES };

/* How a folder of pictures becomes rows of a data set. */
struct picture_settings {
    int width, height; /* of all of them; 0: as they are, and all the same */
    enum image_colour colour;
    double test_share; /* of each class, where there is no test/ */
    bool skip_broken;  /* else the first broken picture ends it */
};

#define PICTURES_MOST_SIDE 4096
