/* SPDX-License-Identifier: MIT */
#pragma once

#include "events/confusion.h"
#include "ui/draw/page.h"
#include "ui/session/ui.h"

/* What the page of a confusion matrix consists of. */

/* Which run and weights, and how far the engine is with them or what it says. */
void confusion_summary(struct page *page, const struct ui *ui);
/* The pairs of classes that are confused, the worst first. */
void confusion_pairs(struct page *page, const struct confusion_table *table);
/* Accuracy and precision of each class. */
void confusion_classes(struct page *page, const struct confusion_table *table);
/* The matrix from column `first` on. */
void confusion_matrix(struct page *page, const struct confusion_table *table, int first);

/* Columns of the screen that the whole matrix takes, and how many of its own fit into `width`. */
int confusion_matrix_width(const struct confusion_table *table);
int confusion_matrix_columns(const struct confusion_table *table, int width);
