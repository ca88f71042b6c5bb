/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_BASE_FIGURE_H
#define DPARTUI_BASE_FIGURE_H

/*
 * Figures as commands and the workbench show them, short and of steady width, "-" for what is not
 * finite. Each writes into the caller's buffer, of FIGURE_SIZE bytes or more, and returns it.
 */
#define FIGURE_SIZE 32

/* Three digits: 0.45, 31.2, 845, 2.31k, 31.2k, 4.50M; below 0.1 two that count: 0.0010. */
const char *figure_text_count(char *buffer, double value);

/* Seconds, without a unit: 0.060, 0.45, 1.52, 13.3, 845, 2310. */
const char *figure_text_seconds(char *buffer, double seconds);

#endif
