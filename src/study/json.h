/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "experiment/study.h"

/* A study as its file has it; study_from_json checks everything, and names what is wrong. */
json_t *study_to_json(const struct study *study);
bool study_from_json(struct study *study, const json_t *object, struct error *err);

/* "devices", "strategies", or the names of the settings: "batch,lr". */
void study_kind_text(const struct study *study, char *buffer, size_t size);
/* "running" and so on. */
const char *study_state_name(enum study_state state);
