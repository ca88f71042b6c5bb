/* SPDX-License-Identifier: MIT */
#include "engine/server/queue/announce.h"

#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/text.h"
#include "events/changes.h"
#include "events/strategy.h"
#include "spec/names.h"

static const char *or_unknown(const char *text)
{
    return text && *text ? text : "?";
}

char *announce_describe(const struct spec *spec)
{
    char *devices = device_list_text(&spec->devices);
    char *shape = lr_is_constant(&spec->schedule) ? NULL : lr_schedule_text(&spec->schedule);
    const char *strategy = strategy_worth_telling(strategy_name(spec->strategy));
    char *text = text_format(
        "%s on %s, %s%s%s, batch %ld, lr %g%s%s, %ld epoch%s", or_unknown(spec->model),
        or_unknown(spec->data), or_unknown(devices), *strategy ? ", " : "", strategy, spec->batch,
        spec->lr, shape ? ", " : "", shape ? shape : "", spec->epochs, plural(spec->epochs));
    free(shape);
    free(devices);
    return text;
}

static void announce_begin(struct engine_log *log, long run, const struct spec *spec,
                           const json_t *event)
{
    char *text = announce_describe(spec);
    engine_log(log, MESSAGE_INFO, run, "run %ld begins: %s, %lld parameters", run, or_unknown(text),
               (long long)json_integer_value(json_object_get(event, "params")));
    free(text);
}

/* ": test acc 0.912, 13.3 s/epoch, 4.51k samples/s", as far as they are known. */
static void add_figures(struct text *text, const json_t *event)
{
    static const struct {
        const char *key, *before, *after;
        const char *(*show)(struct figure *figure, double value);
    } figures[] = {{"val_acc", "validation acc ", "", figure_accuracy},
                   {"test_acc", "test acc ", "", figure_accuracy},
                   {"s_per_epoch", "", " s/epoch", figure_seconds},
                   {"samples_per_s", "", " samples/s", figure_count}};
    struct figure figure;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        const json_t *member = json_object_get(event, figures[i].key);
        if (json_is_number(member))
            text_printf(text, "%s%s%s%s", text->length ? ", " : ": ", figures[i].before,
                        figures[i].show(&figure, json_number_value(member)), figures[i].after);
    }
}

char *announce_end_text(long run, const json_t *event)
{
    struct text text = TEXT_INIT;
    const char *status = member_string(event, "status"), *reason = member_string(event, "reason");
    long long steps = (long long)json_integer_value(json_object_get(event, "steps"));
    if (strcmp(status, "failed") == 0)
        return text_format("run %ld failed after step %lld: %s", run, steps,
                           or_unknown(member_string(event, "error")));
    add_figures(&text, event);
    const char *figures = text_cstr(&text);
    char *line = strcmp(status, "done") == 0
                     ? text_format("run %ld is done%s%s%s", run, figures ? figures : "",
                                   *reason ? "; it ended early: " : "", reason)
                     : text_format("run %ld was %s after step %lld%s", run, or_unknown(status),
                                   steps, figures ? figures : "");
    text_free(&text);
    return line;
}

static void announce_end(struct engine_log *log, long run, const struct spec *spec,
                         const json_t *event)
{
    const char *log_error = member_string(event, "log_error");
    const bool failed = strcmp(member_string(event, "status"), "failed") == 0;
    char *text = announce_end_text(run, event);
    if (*log_error)
        engine_log(log, MESSAGE_WARNING, run, "run %ld: %s: %s", run, or_unknown(spec->log),
                   log_error);
    engine_log(log, failed ? MESSAGE_ERROR : MESSAGE_INFO, run, "%s", text ? text : "a run ended");
    free(text);
}

void announce_event(struct engine_log *log, long run, const struct spec *spec, const json_t *event)
{
    char words[400];
    const char *name = member_string(event, "event");
    if (strcmp(name, "run") == 0)
        announce_begin(log, run, spec, event);
    else if (strcmp(name, "retune") == 0)
        engine_log(log, MESSAGE_INFO, run, "run %ld: %s", run,
                   event_retune_text(words, sizeof words, event));
    else if (strcmp(name, "shares") == 0)
        engine_log(log, MESSAGE_INFO, run, "run %ld: %s", run,
                   event_shares_text(words, sizeof words, event));
    else if (strcmp(name, "warning") == 0)
        engine_log(log, MESSAGE_WARNING, run, "run %ld: %s", run, member_string(event, "text"));
    else if (strcmp(name, "end") == 0)
        announce_end(log, run, spec, event);
}
