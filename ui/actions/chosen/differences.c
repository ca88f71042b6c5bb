/* SPDX-License-Identifier: MIT */
#include "ui/actions/chosen/differences.h"

static bool find_pair(const struct ui *ui, long *runs)
{
    long first = ui->mark_count > 0 ? ui->marked[0] : 0;
    long second = ui->mark_count > 1 ? ui->marked[1] : ui->selected_run;
    runs[0] = first < second ? first : second;
    runs[1] = first < second ? second : first;
    return ui->mark_count <= 2 && first != second && state_run(&ui->state, first) &&
           state_run(&ui->state, second);
}

bool differences_can(const struct ui *ui)
{
    long runs[2];
    return ui->link == LINK_UP && find_pair(ui, runs);
}

void differences_opened(struct ui *ui)
{
    long runs[2];
    if (find_pair(ui, runs))
        run_pair_begin(&ui->pair, runs[0], runs[1]);
    for (int k = 0; k < 2 && ui->pair.run[k] != 0 && ui->link == LINK_UP; k++)
        ui_request_run(ui, REQUEST_SHOW, ui->pair.run[k]);
}
