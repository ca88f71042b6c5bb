/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_BASE_EVENT_TEXT_H
#define DPARTUI_BASE_EVENT_TEXT_H

#include <jansson.h>
#include <stddef.h>

/*
 * A "retune" event in words: "lr 0.1 -> 0.05 after step 590", "paused after step 590". Into
 * `buffer` of `size` bytes, which is returned.
 */
const char *event_retune_text(char *buffer, size_t size, const json_t *event);

#endif
