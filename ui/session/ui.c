/* SPDX-License-Identifier: MIT */
#include "ui/session/ui.h"

#include <math.h>

#include "spec/set.h"

bool ui_init(struct ui *ui, const struct spec *spec, struct error *err)
{
    *ui = (struct ui){.link = LINK_STARTING,
                      .rows = 24,
                      .columns = 80,
                      .hosts.wanted = -1,
                      .compare.target_acc = NAN,
                      .compare.grid_metric = COMPARE_ACCURACY};
    keymap_init(&ui->keymap);
    preferences_init(&ui->preferences);
    state_init(&ui->state);
    return form_init(&ui->form, spec, err);
}

bool ui_start_over(struct ui *ui, struct error *err)
{
    struct ui fresh;
    struct spec *spec = &ui->form.spec;
    if (!spec_set(spec, "devices", "default", err) || !spec_set(spec, "data-dir", "", err) ||
        !ui_init(&fresh, spec, err))
        return false;
    hosts_free(&fresh.hosts);
    fresh.hosts = ui->hosts;
    fresh.keymap = ui->keymap;
    fresh.preferences = ui->preferences;
    fresh.settings_source = ui->settings_source;
    fresh.requester = ui->requester;
    fresh.exported.write = ui->exported.write;
    fresh.rows = ui->rows;
    fresh.columns = ui->columns;
    ui->hosts = (struct hosts){.wanted = -1};
    ui_free(ui);
    *ui = fresh;
    return true;
}

void ui_free(struct ui *ui)
{
    hosts_free(&ui->hosts);
    form_free(&ui->form);
    run_list_free(&ui->list);
    details_free(&ui->details);
    run_pair_free(&ui->pair);
    json_decref(ui->evaluation.answer);
    run_export_end(&ui->exported);
    sweep_free(&ui->compare.sweep);
    study_free(&ui->compare.grid);
    state_free(&ui->state);
}
