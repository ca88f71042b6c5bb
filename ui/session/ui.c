/* SPDX-License-Identifier: MIT */
#include "ui/session/ui.h"

#include <math.h>

bool ui_init(struct ui *ui, const struct spec *spec, struct error *err)
{
    *ui = (struct ui){.link = LINK_STARTING,
                      .rows = 24,
                      .columns = 80,
                      .compare.target_acc = NAN,
                      .compare.grid_metric = COMPARE_ACCURACY};
    keymap_init(&ui->keymap);
    preferences_init(&ui->preferences);
    state_init(&ui->state);
    return form_init(&ui->form, spec, err);
}

void ui_free(struct ui *ui)
{
    form_free(&ui->form);
    run_list_free(&ui->list);
    details_free(&ui->details);
    json_decref(ui->evaluation.answer);
    sweep_free(&ui->compare.sweep);
    study_free(&ui->compare.grid);
    state_free(&ui->state);
}
