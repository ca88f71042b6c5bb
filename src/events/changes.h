/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* Room for most texts about a run's events. */
#define EVENT_TEXT_SIZE 4200

/* What a change without figures means: "unpaused" for "resume"; an unknown one, and one with
 * figures, is its own word. */
const char *retune_words(const char *what);
/*
 * A change of a run in words: "lr 0.1 -> 0.05 after step 590", "paused after step 590", where it
 * scales the rest of a schedule with " (schedule x 0.5)" at the end; NAN for figures that mean
 * nothing. Into `buffer` of `size` bytes, which is returned.
 */
struct retune_figures {
    double from, to, scale, step;
};
const char *retune_text(char *buffer, size_t size, const char *what,
                        const struct retune_figures *figures);
/*
 * A "retune" event in the same words. Into `buffer` of `size` bytes, which is returned.
 */
const char *event_retune_text(char *buffer, size_t size, const json_t *event);

/* A "shares" event: "shares 192,64 after step 20: by the measured speeds ...". Likewise. */
const char *event_shares_text(char *buffer, size_t size, const json_t *event);
