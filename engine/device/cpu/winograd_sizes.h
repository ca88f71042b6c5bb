/* SPDX-License-Identifier: MIT */

/*
 * Sizes of Winograd's convolutions: F(4x4,3x3) for the passes that give 4x4 values and F(3x3,4x4)
 * for the one that gives 3x3 weights. Tiles of 3 leave a point out.
 */

#define WINOGRAD_TILE   6 /* pixels of the input in each direction */
#define WINOGRAD_OUT    4 /* of the output */
#define WINOGRAD_POINTS 36
