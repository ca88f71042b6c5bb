/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/state/state.h"

/* From a run object; without a digest when the engine is an older one, which does not tell it. */
void read_setting(const json_t *run, struct run_setting *setting);
/* The same from the spec in the result of `show`. A member that is missing is as by default, as in
 * a run of an older version. */
void read_setting_of_spec(const json_t *spec, struct run_setting *setting);
