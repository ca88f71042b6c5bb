/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/run/sections.h"

/* What a run is and what it has come to: the lines that the details of a run begin with. */
run_section section_summary;
