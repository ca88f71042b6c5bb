/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/pictures/list.h"

/* Of a file, by its class and name. */
uint64_t rows_key(const char *class, const char *name);

/* Choose the test rows where the folder does not, and put all files into the order of rows. */
void rows_arrange(struct picture_list *list, double test_share);
