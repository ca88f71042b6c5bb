/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/views/run/sections.h"

/* What the stages of a pipeline did in its last step. */
run_section section_timeline;
