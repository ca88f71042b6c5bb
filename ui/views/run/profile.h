/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/run/sections.h"

/* Where the time of a step goes, of runs that were profiled. */
run_section section_profile;
