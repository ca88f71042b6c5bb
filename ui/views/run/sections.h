/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/draw/page.h"
#include "ui/session/ui.h"

/* What the details of a run consist of, each written to a page; all read `ui->details`, too. */
typedef void run_section(struct page *page, const struct ui *ui, const struct state_run *run);

run_section section_time, section_devices, section_changes, section_settings, section_epochs;
