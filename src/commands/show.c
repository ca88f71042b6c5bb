/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_number.h"
#include "commands/list.h"
#include "events/changes.h"
#include "events/device_names.h"
#include "experiment/noise.h"
#include "experiment/outcome.h"
#include "experiment/sentence.h"
#include "output/profile.h"
#include "output/stream.h"
#include "output/timeline.h"
#include "runs/epoch_table.h"
#include "runs/json.h"
#include "runs/pair.h"
#include "runs/source.h"

/* A run with all that defines it, where it ran, and all that it gave; or two side by side. */

static void print_setting(const json_t *spec, const char *key)
{
    const json_t *value = json_object_get(spec, key);
    const char *origin = json_string_value(json_object_get(json_object_get(spec, "origins"), key));
    struct figure text;
    char name[32];
    if (json_is_object(value))
        return;
    snprintf(name, sizeof name, "%s", key);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    print("  %-18s%s", name,
          json_is_boolean(value)  ? (json_is_true(value) ? "yes" : "no")
          : json_is_number(value) ? figure_json(&text, value)
                                  : member_text(spec, key));
    if (origin && strcmp(origin, "given") != 0)
        print("  (%s)", origin);
    putchar('\n');
}

/* A line for each row that is a retune or a change of the shares. */
static bool print_rows(const struct run_view *view, enum store_rows kind, bool *begun,
                       struct error *err)
{
    struct run_rows rows;
    char text[EVENT_TEXT_SIZE];
    run_rows_open(&rows, view, kind);
    while (run_rows_next(&rows)) {
        const char *name = member_text(rows.row, "event");
        bool shares = strcmp(name, "shares") == 0;
        if (!shares && strcmp(name, "retune") != 0)
            continue;
        if (!*begun)
            print("\nchanges while it ran\n");
        *begun = true;
        print("  %s\n", shares ? event_shares_text(text, sizeof text, rows.row)
                               : event_retune_text(text, sizeof text, rows.row));
    }
    return run_rows_close(&rows, err);
}

static bool print_changes(const struct run_view *view, struct error *err)
{
    bool begun = false;
    return print_rows(view, STORE_RETUNES, &begun, err) &&
           print_rows(view, STORE_OTHERS, &begun, err);
}

static void print_warnings(const json_t *warnings)
{
    if (json_array_size(warnings) > 0)
        print("\nwarnings\n");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *text = json_string_value(json_array_get(warnings, i));
        print("  %s\n", text ? text : "?");
    }
}

static void print_device(const json_t *device)
{
    struct figure memory;
    double cores = member_number(device, "cores");
    print("  %-18s%s", member_text(device, "device"), member_text(device, "name"));
    if (isfinite(cores))
        print(", %.0f core%s", cores, plural(cores));
    print(", %s\n", figure_bytes(&memory, member_number(device, "memory_total")));
}

static void print_environment(const json_t *environment)
{
    static const char *const keys[] = {"host", "system", "version"};
    const json_t *devices = json_object_get(environment, "devices");
    const json_t *libraries = json_object_get(environment, "libraries");
    if (!json_is_object(environment))
        return;
    print("\nenvironment\n");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        print("  %-18s%s\n", keys[i], member_text(environment, keys[i]));
    for (size_t i = 0; i < json_array_size(libraries); i++) {
        const char *library = json_string_value(json_array_get(libraries, i));
        if (library)
            print("  %-18s%s\n", i == 0 ? "libraries" : "", library);
    }
    for (size_t i = 0; i < json_array_size(devices); i++)
        print_device(json_array_get(devices, i));
}

static void print_time(const json_t *run, const char *key, const char *what)
{
    struct figure date;
    if (isfinite(member_number(run, key)))
        print("  %-18s%s\n", what, figure_date(&date, member_number(run, key)));
}

/* "test acc 0.853 (best 0.861)", or of validation rows, too. */
static void print_accuracy(const json_t *run)
{
    struct figure accuracy, best, test;
    const bool validates = json_is_number(json_object_get(run, "val_acc"));
    const char *member = validates ? "best_val_acc" : "best_test_acc";
    print("%s acc %s (best %s)", validates ? "validation" : "test",
          figure_fixed(&accuracy, member_score(run), 3),
          figure_fixed(&best, member_number(run, member), 3));
    if (validates)
        print(", test acc %s", figure_fixed(&test, member_number(run, "test_acc"), 3));
}

static void print_tags(const json_t *tags)
{
    if (json_array_size(tags) > 0)
        print("tags:");
    for (size_t i = 0; i < json_array_size(tags); i++) {
        const char *tag = json_string_value(json_array_get(tags, i));
        print(" %s", tag ? tag : "?");
    }
    if (json_array_size(tags) > 0)
        putchar('\n');
}

static void print_thinned(const json_t *thinned)
{
    struct figure kept, of;
    if (thinned)
        print("\nthinned: %s of %s epochs are kept, among them the first, the last and the best\n",
              figure_whole(&kept, member_number(thinned, "kept")),
              figure_whole(&of, member_number(thinned, "of")));
}

static void print_pipeline(const json_t *run)
{
    const json_t *event = json_object_get(run, "timeline");
    if (!event)
        return;
    const struct timeline timeline = timeline_read(event);
    timeline_print(&timeline);
}

/* Nothing where it was not measured. */
static void print_noise(double rows, double batch)
{
    char words[200];
    if (noise_sentence(rows, batch, words, sizeof words)[0])
        print("%s\n", words);
}

/* Nothing where no counter was read. */
static void print_energy(struct measured_energy energy)
{
    struct figure joules, rows;
    if (isfinite(energy.joules))
        print("energy: %s J/epoch, %s samples/J\n", figure_count(&joules, energy.joules),
              figure_count(&rows, energy.samples_per_j));
}

/* What its epochs measured: where the time of its devices went, by the rules of comparisons, and
 * the newest noise scale. */
static bool print_measured(const struct run_view *view, struct error *err)
{
    struct measure measure = {.count = 0};
    const struct measure *const only = &measure;
    double noise = NAN;
    struct outcome outcome;
    struct run_rows rows;
    char text[200] = "";
    bool ok = true;
    measure_read_devices(&measure, view->head);
    run_rows_open(&rows, view, STORE_EPOCHS);
    while (ok && run_rows_next(&rows)) {
        const double known = member_number(rows.row, "noise_scale");
        noise = isfinite(known) ? known : noise;
        ok = measure_add(&measure, rows.row, err);
    }
    ok = run_rows_close(&rows, ok ? err : &(struct error)ERROR_INIT) && ok &&
         outcome_make(&outcome, &only, 1, NAN, err);
    if (ok && sentence_of_resume(&measure, text, sizeof text)[0] != '\0')
        print("%s\n", text);
    if (ok && sentence_of_shares(&outcome, text, sizeof text)[0] != '\0')
        print("%s%s\n", text, outcome.warm_up ? " (a single epoch, which is warm-up)" : "");
    if (ok)
        print_energy(measure_energy(&measure));
    if (ok)
        print_noise(noise, member_number(view->head, "batch"));
    measure_free(&measure);
    return ok;
}

static bool print_run(const struct run_view *view, struct error *err)
{
    const json_t *run = view->head;
    struct figure time, rate;
    char devices[400];
    const char *key;
    json_t *value, *spec = json_object_get(run, "spec");
    bool stopping = json_is_true(json_object_get(run, "stop_after_epoch"));
    print("run %.0f: %s%s\n", member_number(run, "run"), member_text(run, "status"),
          stopping ? ", stops after this epoch" : "");
    if (json_is_string(json_object_get(run, "note")))
        print("note: %s\n", member_text(run, "note"));
    print_tags(json_object_get(run, "tags"));
    if (json_is_string(json_object_get(run, "error")))
        print("error: %s\n", member_text(run, "error"));
    if (json_is_string(json_object_get(run, "reason")))
        print("ended early: %s\n", member_text(run, "reason"));
    print_accuracy(run);
    print(", %s s/epoch, %s samples/s on %s\n",
          figure_seconds(&time, member_number(run, "s_per_epoch")),
          figure_count(&rate, member_number(run, "samples_per_s")),
          run_devices_short(devices, sizeof devices, run));
    if (!print_measured(view, err))
        return false;
    print("\nsettings\n");
    json_object_foreach(spec, key, value) print_setting(spec, key);
    print("\ntimes\n");
    print_time(run, "submitted_at", "submitted");
    print_time(run, "started_at", "started");
    print_time(run, "ended_at", "ended");
    print_environment(json_object_get(run, "environment"));
    print_warnings(json_object_get(run, "warnings"));
    if (!print_changes(view, err))
        return false;
    print_pipeline(run);
    print_thinned(json_object_get(run, "thinned"));
    return epoch_table_print(view, err);
}

/* The last step of a pipeline as a file. */
static bool write_step(const json_t *run, const char *path, struct error *err)
{
    const json_t *event = json_object_get(run, "timeline");
    struct stream out = STREAM_INIT;
    char title[64];
    if (!event)
        return error_set(err, ERROR_FAILED,
                         "run %.0f has no step to draw: only --strategy pipeline has stages",
                         member_number(run, "run"));
    const struct timeline timeline = timeline_read(event);
    if (!timeline.drawn)
        return error_set(
            err, ERROR_FAILED,
            "run %.0f has no step to draw: %.0f micro-batches on %zu stages are too many",
            member_number(run, "run"), timeline.micro_batches, timeline.stages);
    snprintf(title, sizeof title, "Run %.0f, step %.0f", member_number(run, "run"), timeline.step);
    bool ok = stream_open(&out, path, err);
    if (ok)
        timeline_svg(&timeline, title, &out.text);
    return stream_close(&out, ok, err);
}

/* Of a run that was trained with --profile. */
static bool print_profile(const json_t *run, const struct invocation *invocation, struct error *err)
{
    const json_t *profile = json_object_get(run, "profile");
    if (!profile)
        return error_set(err, ERROR_FAILED, "run %.0f has no profile: train with --profile",
                         member_number(run, "run"));
    if (!invocation_has(invocation, "json"))
        return profile_print(profile, profile_order_of(invocation_value(invocation, "profile")),
                             err);
    print_json(profile);
    return true;
}

static bool print_all(const struct run_view *view, struct error *err)
{
    struct stream out = STREAM_INIT;
    bool ok = run_json_put(view, 0, &out, err);
    text_puts(&out.text, "\n");
    return stream_close(&out, ok, err);
}

static const struct option options[] = {
    OPTION_PROFILE("only where the time went, if it was trained with --profile"),
    {"svg-step", OPTION_VALUE, "FILE", "draw the stages of a pipeline in its last step, as SVG"},
    OPTION_JSON,
    OPTIONS_END};

/* Put the events of live changes back into a run's head. */
static bool take_retunes(struct run_view *view, struct error *err)
{
    struct run_rows rows;
    json_t *list = json_array();
    bool ok = list != NULL;
    run_rows_open(&rows, view, STORE_RETUNES);
    while (ok && run_rows_next(&rows))
        ok = json_array_append(list, rows.row) == 0;
    ok = json_object_set_new(view->head, "retunes", list) == 0 && ok;
    return run_rows_close(&rows, err) && (ok || error_memory(err, "live changes"));
}

/* Two runs side by side, each with its live changes, but no other rows. */
static bool show_pair(struct run_source *source, const struct invocation *invocation,
                      struct error *err)
{
    const json_t *heads[2];
    struct run_view views[2];
    long numbers[2];
    int count = 0;
    bool ok = true;
    for (size_t i = 0; i < sizeof options / sizeof *options && options[i].name; i++)
        if (strcmp(options[i].name, "json") != 0 && invocation_has(invocation, options[i].name))
            return error_set(err, ERROR_USAGE, "--%s is about one run", options[i].name);
    for (; ok && count < 2; count += ok) {
        ok = run_number_parse(invocation->arguments[count], &numbers[count], err) &&
             run_source_view(source, numbers[count], &views[count], err);
        heads[count] = ok ? views[count].head : NULL;
    }
    ok = ok && take_retunes(&views[0], err) && take_retunes(&views[1], err);
    if (ok)
        ok = invocation_has(invocation, "json") ? run_pair_print_json(heads, err)
                                                : run_pair_print(heads, err);
    while (count > 0)
        run_view_free(&views[--count]);
    return ok;
}

/* Of one run. */
static bool check_options(const struct invocation *invocation, struct error *err)
{
    if (!invocation_has(invocation, "svg-step"))
        return true;
    for (size_t i = 0; options[i].name; i++)
        if (strcmp(options[i].name, "svg-step") != 0 && invocation_has(invocation, options[i].name))
            return error_set(err, ERROR_USAGE, "--svg-step and --%s exclude each other",
                             options[i].name);
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct run_source source;
    struct run_view view;
    long number;
    const bool pair = invocation->argument_count == 2;
    if (!run_number_parse(invocation->arguments[0], &number, err) ||
        !(pair || check_options(invocation, err)) || !run_source_open(&source, err))
        return false;
    bool ok =
        pair ? show_pair(&source, invocation, err) : run_source_view(&source, number, &view, err);
    if (ok && !pair) {
        const char *svg = invocation_value(invocation, "svg-step");
        ok = svg                                     ? write_step(view.head, svg, err)
             : invocation_has(invocation, "profile") ? print_profile(view.head, invocation, err)
             : invocation_has(invocation, "json")    ? print_all(&view, err)
                                                     : print_run(&view, err);
        run_view_free(&view);
    }
    run_source_close(&source);
    return ok;
}

const struct command command_show = {
    .name = "show",
    .place = PLACE_THERE,
    .arguments = "RUN...",
    .argument_min = 1,
    .argument_max = 2,
    .summary = "Show a run, epoch by epoch, or how two differ",
    .options = options,
    .run = run,
};
