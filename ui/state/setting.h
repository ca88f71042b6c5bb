/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_STATE_SETTING_H
#define DPARTUI_UI_STATE_SETTING_H

#include "ui/state/state.h"

/* From the result of `show`. */
void read_setting(const json_t *show, struct run_setting *setting);

#endif
