/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/* From the result of `show`. */
void read_setting(const json_t *show, struct run_setting *setting);
