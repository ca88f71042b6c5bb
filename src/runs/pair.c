/* SPDX-License-Identifier: MIT */
#include "runs/pair.h"

#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "output/table.h"
#include "spec/difference.h"

/* What a run gave; validation accuracies stand only where one of the two has them. */
static const struct {
    const char *name, *member;
    enum { WORD, COUNT, ACCURACY, SECONDS, RATE } kind;
    bool optional;
} results[] = {
    {"status", "status", WORD, false},
    {"epochs done", "epochs_done", COUNT, false},
    {"validation acc", "val_acc", ACCURACY, true},
    {"best validation acc", "best_val_acc", ACCURACY, true},
    {"test acc", "test_acc", ACCURACY, false},
    {"best test acc", "best_test_acc", ACCURACY, true},
    {"s/epoch", "s_per_epoch", SECONDS, false},
    {"samples/s", "samples_per_s", RATE, false},
    {"J/epoch", "energy_j", RATE, true},
    {"samples/J", "samples_per_j", RATE, true},
};
enum { RESULTS = sizeof results / sizeof results[0] };

static bool is_known(const json_t *run, size_t result)
{
    return json_is_number(json_object_get(run, results[result].member));
}

static bool is_shown(const json_t *const *runs, size_t result)
{
    return !results[result].optional || is_known(runs[0], result) || is_known(runs[1], result);
}

static const char *result_text(const json_t *run, size_t result, struct figure *figure)
{
    double value = member_number(run, results[result].member);
    switch (results[result].kind) {
    case WORD:
        return member_text(run, results[result].member);
    case COUNT:
        return figure_whole(figure, value);
    case ACCURACY:
        return figure_fixed(figure, value, 3);
    case SECONDS:
        return figure_seconds(figure, value);
    default:
        return figure_count(figure, value);
    }
}

static void add_results(struct table *table, const json_t *const *runs)
{
    for (size_t i = 0; i < RESULTS; i++) {
        struct figure figure;
        if (!is_shown(runs, i))
            continue;
        table_cell(table, results[i].name);
        table_cell(table, result_text(runs[0], i, &figure));
        table_cell(table, result_text(runs[1], i, &figure));
    }
}

static void add_settings(struct table *table, const struct spec_differences *differences)
{
    for (int i = 0; i < differences->count; i++) {
        const struct spec_difference *setting = &differences->list[i];
        table_cell(table, setting->key);
        for (int k = 0; k < 2; k++)
            table_cell(table, setting->value[k][0] != '\0' ? setting->value[k] : "-");
    }
}

static bool find(struct spec_differences *differences, const json_t *const *runs, struct error *err)
{
    const json_t *const specs[] = {json_object_get(runs[0], "spec"),
                                   json_object_get(runs[1], "spec")};
    const json_t *const retunes[] = {json_object_get(runs[0], "retunes"),
                                     json_object_get(runs[1], "retunes")};
    return spec_differences_find(differences, specs, retunes, err);
}

bool run_pair_print(const json_t *const *runs, struct error *err)
{
    struct spec_differences differences;
    struct table table;
    char titles[2][32];
    bool ok = find(&differences, runs, err);
    for (int k = 0; k < 2; k++)
        snprintf(titles[k], sizeof titles[k], "RUN %.0f", member_number(runs[k], "run"));
    const struct column columns[] = {{"", false}, {titles[0], false}, {titles[1], false}};
    if (ok) {
        table_begin(&table, columns, 3);
        add_results(&table, runs);
        add_settings(&table, &differences);
        ok = table_end(&table, err);
        if (ok && differences.count == 0)
            print("all settings are the same\n");
    }
    spec_differences_free(&differences);
    return ok;
}

/* The values of a member in both objects. */
static json_t *both(const json_t *first, const json_t *second, const char *member)
{
    return json_pack("[O?, O?]", json_object_get(first, member), json_object_get(second, member));
}

static json_t *results_json(const json_t *const *runs)
{
    json_t *object = json_object();
    bool ok = object != NULL;
    for (size_t i = 0; ok && i < RESULTS; i++)
        ok = !is_shown(runs, i) ||
             json_object_set_new(object, results[i].member,
                                 both(runs[0], runs[1], results[i].member)) == 0;
    return json_kept_if(ok, object);
}

/* By the members of the spec, which have '_' where options have '-'. */
static json_t *settings_json(const struct spec_differences *differences, const json_t *const *runs)
{
    const json_t *first = json_object_get(runs[0], "spec"),
                 *second = json_object_get(runs[1], "spec");
    json_t *object = json_object();
    bool ok = object != NULL;
    for (int i = 0; ok && i < differences->count; i++) {
        char member[32];
        snprintf(member, sizeof member, "%s", differences->list[i].key);
        for (char *at = member; *at; at++)
            *at = *at == '-' ? '_' : *at;
        ok = json_object_set_new(object, member, both(first, second, member)) == 0;
    }
    return json_kept_if(ok, object);
}

bool run_pair_print_json(const json_t *const *runs, struct error *err)
{
    struct spec_differences differences;
    bool ok = find(&differences, runs, err);
    if (ok) {
        ok = print_json_made(json_pack("{s:o, s:o, s:o, s:o}", "runs",
                                       both(runs[0], runs[1], "run"), "results", results_json(runs),
                                       "settings", settings_json(&differences, runs), "retunes",
                                       both(runs[0], runs[1], "retunes")),
                             "runs", err);
    }
    spec_differences_free(&differences);
    return ok;
}
