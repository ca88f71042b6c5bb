/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/surface.h"

/*
 * A page of lines that may be longer than the screen. It is written line by line from its top;
 * lines out of sight are counted and not drawn, so that writing it with an area of no rows tells
 * its length.
 */
struct page {
    struct surface *surface; /* not touched while the area has no rows */
    struct rect area;
    int first; /* the page's line in the area's first row */
    int line;  /* that is written next */
};

/* The row of the next line on the screen, -1: out of sight. The page moves to the line below. */
int page_next(struct page *page);
/* A blank line unless this is the top, and a title. */
void page_title(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A label and after it a text of as many lines as it needs. */
void page_entry(struct page *page, const char *label, enum style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same without a label, over the whole width. */
void page_paragraph(struct page *page, enum style style, const char *text);
