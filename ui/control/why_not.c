/* SPDX-License-Identifier: MIT */
#include "ui/control/why_not.h"

bool runs_say_why_not(struct ui *ui, enum action action)
{
    const struct state_run *run = state_run(&ui->state, ui->selected_run);
    bool of_runs = ui->view == VIEW_RUNS || ui->view == VIEW_RUN || ui->view == VIEW_COMPARE;
    bool controls = action == ACTION_STOP || action == ACTION_PAUSE || action == ACTION_RETUNE ||
                    action == ACTION_EPOCHS;
    bool needs_engine = controls || action == ACTION_NOTE || action == ACTION_DELETE ||
                        action == ACTION_CONFUSION || action == ACTION_COPY ||
                        action == ACTION_EARLIER || action == ACTION_LATER ||
                        action == ACTION_TAGS || action == ACTION_RESUME ||
                        action == ACTION_EXPORT || action == ACTION_DIFFERENCES;
    if (action == ACTION_START || (needs_engine && ui->link != LINK_UP))
        ui_say(ui, true, "there is no engine that could do that");
    else if (action == ACTION_DELETE && ui_runs_chosen(ui).count > 1)
        ui_say(ui, false, "none of the marked runs has ended: stop them first");
    else if (action == ACTION_DIFFERENCES)
        ui_say(ui, false, "mark two runs, or one and select another: %d marked", ui->mark_count);
    else if (!run &&
             ((needs_engine && !controls) || action == ACTION_MARK || action == ACTION_DETAILS))
        ui_say(ui, false,
               ui->state.run_count > 0 ? "no run is selected: Up and Down select one"
                                       : "there are no runs yet");
    else if (action == ACTION_RESUME)
        ui_say(ui, false, "run %ld has not ended", run->run);
    else if (action == ACTION_DELETE)
        ui_say(ui, false, "run %ld has not ended: stop it first", ui_runs_chosen(ui).run[0]);
    else if ((action == ACTION_EARLIER || action == ACTION_LATER) && run->status == RUN_QUEUED)
        ui_say(ui, false, "run %ld is the %s of the queue already", run->run,
               action == ACTION_EARLIER ? "first" : "last");
    else if (action == ACTION_EARLIER || action == ACTION_LATER)
        ui_say(ui, false, "run %ld does not wait", run->run);
    else if (action == ACTION_MARK && run)
        ui_say(ui, false, "run %ld waits: it has no curve yet", run->run);
    else if (controls && of_runs && run && run_has_ended(run))
        ui_say(ui, false, "run %ld has ended", run->run);
    else if (action == ACTION_PAUSE && run && run->status == RUN_QUEUED)
        ui_say(ui, false, "run %ld waits: there is nothing to pause", run->run);
    else if (controls)
        ui_say(ui, false, "no run is running");
    else
        return false;
    return true;
}

void say_nothing_to_do(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_BACK:
        break;
    case ACTION_ENGINE:
        ui_say(ui, false, "the engine is there already");
        break;
    case ACTION_SCALE:
        ui_say(ui, false, "nothing is suggested: choose other devices or another batch first");
        break;
    case ACTION_MORE:
    case ACTION_LESS:
        ui_say(ui, false, "this value has no steps: type it");
        break;
    case ACTION_CONFUSION:
        ui_say(ui, false, "the engine is testing the network already");
        break;
    case ACTION_CURSOR_LEFT:
    case ACTION_CURSOR_RIGHT:
        ui_say(ui, false, "all columns are in sight");
        break;
    case ACTION_ZOOM_OUT:
    case ACTION_ZOOM_ALL:
        ui_say(ui, false, "all epochs are in sight");
        break;
    default:
        ui_say(ui, false, "there is nothing to do that with");
        break;
    }
}

void say_unbound(struct ui *ui, int key)
{
    char name[KEY_NAME_SIZE], help[KEY_NAME_SIZE];
    /* An escape sequence that is none of a key known here was not typed as such. */
    if (key <= 0 || key >= KEYCODE_OTHER || key == KEYCODE_ESCAPE)
        return;
    keymap_first(&ui->keymap, ACTION_HELP, help);
    ui_say(ui, false, "%s does nothing here%s%s%s", key_text(key, name),
           help[0] != '\0' ? "; " : "", help, help[0] != '\0' ? " shows the keys that do" : "");
}
