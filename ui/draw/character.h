/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <uchar.h>

/* Does a terminal show the character in one column of its own, and leave those beside it where they
 * are? Controls, invisible, combining and wide characters and those of scripts that run from right
 * to left are not plain. */
bool character_is_plain(char32_t character);
