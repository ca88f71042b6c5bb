/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_VIEWS_RUN_PROFILE_H
#define DPARTUI_UI_VIEWS_RUN_PROFILE_H

#include "ui/views/run_sections.h"

/* Where the time of a step goes, of runs that were profiled. */
run_section section_profile;

#endif
