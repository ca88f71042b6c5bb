/* SPDX-License-Identifier: MIT */
#include "engine/train/run/learning.h"

#include <stdlib.h>

#include "base/text.h"
#include "engine/train/run/state.h"
#include "engine/train/step/chance.h"
#include "spec/fields.h"
#include "spec/text.h"

static bool has_norms(const struct net *net)
{
    for (int i = 0; i < net->op_count; i++)
        if (net->ops[i].kind == NET_BATCHNORM || net->ops[i].kind == NET_GROUPNORM)
            return true;
    return false;
}

/* What may help this run: a new string, NULL when memory ran out. */
static char *advice(const struct run *run)
{
    const struct spec *spec = &run->spec;
    char *init = spec_field_text(spec, spec_find_field("init"));
    struct text text = TEXT_INIT;
    text_printf(&text, "a lower lr than %g", run->live.lr);
    if (init && spec->init != INIT_FILE)
        text_printf(&text, "; another init than %s", init);
    if (!has_norms(run->work.net))
        text_puts(&text, "; BatchNorm in the network");
    if (spec->recipe == RECIPE_NONE)
        text_puts(&text, "; the model's recipe");
    free(init);
    if (text_cstr(&text))
        return text.data;
    text_free(&text);
    return NULL;
}

static bool warn(struct run *run, const struct chance_result *result, struct error *err)
{
    char *help = advice(run);
    char *text =
        help ? text_format("after epoch %ld the network is no better than guessing: %s "
                           "accuracy %.3f, loss %.4f, where the same answer for all rows "
                           "has %.4f; try %s",
                           run->metrics.epoch.epoch,
                           run->work.evaluated == &run->work.validation ? "validation" : "test",
                           result->accuracy, result->loss, chance_loss(result), help)
             : NULL;
    bool ok = text ? report_warning(&run->report, text, err) : error_memory(err, "warning");
    free(help);
    free(text);
    return ok;
}

bool learning_check(struct run *run, struct error *err)
{
    const struct epoch_metrics *epoch = &run->metrics.epoch;
    const struct row_set *set = run->work.evaluated;
    const bool validation = set == &run->work.validation;
    const struct chance_result result = {
        .labels = set->data->labels,
        .order = set->order,
        .rows = set->rows,
        .accuracy = validation ? epoch->val_acc : epoch->test_acc,
        .loss = validation ? epoch->val_loss : epoch->test_loss,
    };
    long when = chance_epoch(run->work.steps_per_epoch, run->spec.schedule.warmup);
    return run->live.lr == 0 || epoch->epoch != when || !chance_is_reached(&result) ||
           warn(run, &result, err);
}
