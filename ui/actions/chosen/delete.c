/* SPDX-License-Identifier: MIT */
#include "ui/actions/chosen/delete.h"

#include <stdio.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"

/* Those of the chosen runs that have ended, and in *rest, unless it is NULL, the others. */
static struct run_group ended_ones(const struct ui *ui, struct run_group *rest)
{
    struct run_group all = ui_runs_chosen(ui), ended = {.count = 0};
    for (int i = 0; i < all.count; i++) {
        const struct state_run *run = state_run(&ui->state, all.run[i]);
        struct run_group *group = run && run_has_ended(run) ? &ended : rest;
        if (group)
            group->run[group->count++] = all.run[i];
    }
    return ended;
}

bool delete_can(const struct ui *ui)
{
    return ended_ones(ui, NULL).count > 0;
}

static void answer(struct ui *ui, enum action action)
{
    const struct run_group *group = &ui->chosen;
    (void)action;
    if (ui->deletion.asked == 0)
        ui->deletion = (struct run_deletion){.answered = 0};
    ui->deletion.run = group->run[0];
    for (int i = 0; i < group->count; i++) {
        if (!ui_request_run(ui, REQUEST_DELETE, group->run[i]))
            return;
        ui->deletion.asked++;
    }
    if (group->count == 1)
        ui_say(ui, false, "run %ld is being deleted", group->run[0]);
    else
        ui_say(ui, false, "%d runs are being deleted", group->count);
}

static const struct question delete_runs = {.answers = {ACTION_YES}, .answer = answer};

/* How many of the chosen runs nobody sees, as they are marked but filtered out. */
static int count_hidden(const struct ui *ui)
{
    int hidden = 0;
    for (int i = 0; i < ui->chosen.count; i++)
        hidden += run_list_find(&ui->list, &ui->state, ui->chosen.run[i]) < 0;
    return hidden;
}

/* "Delete 3 runs (#4, #7, #9) with their curves, epochs and 6 checkpoints of 41.2 MiB?"; of those
 * that are left out says `rest`. */
static void ask(struct ui *ui, const struct run_group *rest, const char *checkpoints)
{
    const char *and = checkpoints[0] != '\0' ? ", " : " and ";
    const int hidden = count_hidden(ui);
    char numbers[64], left[40], kept[80] = "", filtered[40] = "";
    run_group_text(&ui->chosen, "#", numbers, sizeof numbers);
    run_group_text(rest, "", left, sizeof left);
    if (rest->count > 0)
        snprintf(kept, sizeof kept,
                 rest->count > 1 ? " Runs %s have not ended and stay."
                                 : " Run %s has not ended and stays.",
                 left);
    if (hidden > 0)
        snprintf(filtered, sizeof filtered, "; the filter hides %d", hidden);
    if (ui->chosen.count == 1)
        ui_ask(ui, &delete_runs, ui->chosen.run[0], "Delete run %ld%s with its curve%sepochs%s?%s",
               ui->chosen.run[0], hidden ? ", which the filter hides," : "", and, checkpoints,
               kept);
    else
        ui_ask(ui, &delete_runs, 0, "Delete %d runs (%s%s) with their curves%sepochs%s?%s",
               ui->chosen.count, numbers, filtered, and, checkpoints, kept);
}

void delete_ask(struct ui *ui)
{
    struct run_group rest = {.count = 0};
    ui->chosen = ended_ones(ui, &rest);
    ask(ui, &rest, "");
    ui_request(ui, REQUEST_CHECKPOINTS, run_group_json(&ui->chosen));
}

/* On a slow line an earlier question's answer may come while another one is open. */
static bool is_of_chosen(const struct ui *ui, const json_t *result)
{
    json_t *asked = run_group_json(&ui->chosen);
    bool same = json_equal(json_object_get(asked, "runs"), json_object_get(result, "runs"));
    json_decref(asked);
    return same;
}

void delete_measured(struct ui *ui, const json_t *result)
{
    double count = member_number(result, "count");
    struct run_group all = ui_runs_chosen(ui), rest = {.count = 0};
    struct figure bytes;
    char checkpoints[64] = "";
    if (ui->question != &delete_runs || !is_of_chosen(ui, result))
        return;
    for (int i = 0; i < all.count; i++)
        if (!run_group_has(&ui->chosen, all.run[i]))
            rest.run[rest.count++] = all.run[i];
    if (count > 0)
        snprintf(checkpoints, sizeof checkpoints, " and %.0f checkpoint%s of %s", count,
                 plural(count), figure_bytes(&bytes, member_number(result, "bytes")));
    ask(ui, &rest, checkpoints);
}

/* After the answer to the last request. Of a single run the engine's refusal says all. */
static void say_deleted(struct ui *ui, const struct error *failure)
{
    const struct run_deletion *deletion = &ui->deletion;
    const int deleted = deletion->asked - deletion->failed;
    if (deletion->failed > 0 && deletion->asked > 1)
        ui_say(ui, true, "%d of %d runs are deleted%s%s", deleted, deletion->asked,
               failure ? ": " : "; the log says why the others are not",
               failure ? failure->text : "");
    else if (deleted == 1)
        ui_say(ui, false, "run %ld is deleted", deletion->run);
    else if (deleted > 1)
        ui_say(ui, false, "%d runs are deleted", deleted);
}

void delete_answered(struct ui *ui, const struct error *failure)
{
    struct run_deletion *deletion = &ui->deletion;
    deletion->answered++;
    deletion->failed += failure != NULL;
    if (deletion->answered < deletion->asked)
        return;
    if (deletion->asked > 0)
        say_deleted(ui, failure);
    *deletion = (struct run_deletion){.asked = 0};
    ui->state.runs_stale = true;
}
