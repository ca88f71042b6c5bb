/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/*
 * Sessions on record: what passed between a workbench and its engine, one JSON object a line, with
 * `t`, the seconds since its beginning. Requests have id and method, answers an id, notifications a
 * method, as on the socket; {"connection":"up"} and {"connection":"lost","advice":TEXT} say
 * whether there was an engine.
 */
struct recording;

/* An existing file is replaced. */
bool recording_open(struct recording **out, const char *path, struct error *err);
void recording_close(struct recording *recording);
/* Write down a message. False with *err the first time that fails; nothing is written after it. */
bool recording_put(struct recording *recording, const json_t *message, struct error *err);
bool recording_put_connection(struct recording *recording, const char *advice, struct error *err);
