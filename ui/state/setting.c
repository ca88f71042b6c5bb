/* SPDX-License-Identifier: MIT */
#include "ui/state/setting.h"

#include <stdio.h>

#include "spec/json.h"
#include "spec/likeness.h"
#include "spec/names.h"
#include "ui/state/read.h"

/* What a run has to have in common with those that it is compared with. */

void read_setting(const json_t *run, struct run_setting *setting)
{
    double likeness = read_amount(run, "likeness"), threads = read_amount(run, "threads");
    setting->digest = likeness <= 0xffffffffu ? (unsigned long)likeness : 0;
    setting->threads = threads <= 1e6 ? (int)threads : 0;
    read_text(run, "strategy", setting->strategy, sizeof setting->strategy);
}

void read_setting_of_spec(const json_t *spec, struct run_setting *setting)
{
    struct error ignored = ERROR_INIT;
    struct spec read;
    *setting = (struct run_setting){0};
    if (json_object_size(spec) == 0 || !spec_from_json(&read, spec, &ignored))
        return;
    setting->digest = spec_likeness(&read);
    setting->threads = read.thread_count == 0 ? read.cpu_threads : 0;
    snprintf(setting->strategy, sizeof setting->strategy, "%s", strategy_name(read.strategy));
    spec_free(&read);
}
