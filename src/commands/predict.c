/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "cli/saved.h"
#include "client/session.h"
#include "commands/list.h"
#include "spec/json.h"

/* Bytes of names in one request, whose line may have 1 MiB. */
#define MOST_NAMES ((size_t)700 << 10)
#define MOST_TOP   256

/* What pictures are taken for, asked of an engine of the command's own in requests of many names.
 * Answers are printed as they come. */
struct predicting {
    struct client *client;
    const struct spec *spec;
    const struct remote *remote;
    const char *const *files; /* as they were given */
    int count, next;          /* the first that has not been asked about */
    int *asked;               /* which they are, in the request; room for all */
    size_t asked_count;
    long top;
    bool json;
    bool ranks;      /* --top was given */
    json_t *classes; /* their names; NULL or null: they are numbers */
    bool failed;     /* for any file */
    bool lost;       /* nobody reads what is printed */
};

/* Steals the object; false: there is none, as memory ran out. */
static bool print_object_line(json_t *object)
{
    bool made = object;
    if (made && json_to_file(object, stdout, JSON_LINE))
        putchar('\n');
    json_decref(object);
    return made;
}

static void print_failure(struct predicting *p, const char *file, const char *why)
{
    p->failed = true;
    if (p->json) {
        json_t *object =
            json_pack("{s:o, s:o}", "file", json_any_text(file), "error", json_any_text(why));
        print_object_line(object);
    }
    fflush(stdout);
    print_to(stderr, "dpartui: %s\n", why);
}

/* "class", "label" and "probability" of one of a ranking. */
static json_t *guess_json(const struct predicting *p, const json_t *guess)
{
    const json_t *label = json_array_get(guess, 0);
    json_t *name = json_array_get(p->classes, (size_t)json_integer_value(label));
    return json_pack("{s:o, s:I, s:O}", "class", name ? json_incref(name) : json_null(), "label",
                     json_integer_value(label), "probability", json_array_get(guess, 1));
}

/* False: memory ran out. */
static bool print_object(const struct predicting *p, const char *file, const json_t *ranking)
{
    json_t *object = json_pack("{s:o}", "file", json_any_text(file));
    json_t *best = guess_json(p, json_array_get(ranking, 0)), *top = json_array();
    bool ok = object && top && best && json_object_update(object, best) == 0;
    for (size_t i = 0; ok && i < json_array_size(ranking); i++)
        ok = json_array_append_new(top, guess_json(p, json_array_get(ranking, i))) == 0;
    if (ok && p->ranks)
        ok = json_object_set(object, "top", top) == 0;
    json_decref(best);
    json_decref(top);
    if (ok)
        return print_object_line(object);
    json_decref(object);
    return false;
}

static void print_line(const struct predicting *p, const char *file, const json_t *ranking)
{
    size_t i;
    const json_t *guess;
    struct figure label, probability;
    print("%s:", file);
    json_array_foreach(ranking, i, guess)
    {
        const json_int_t k = json_integer_value(json_array_get(guess, 0));
        const char *name = json_string_value(json_array_get(p->classes, (size_t)k));
        print("%s %s %s", i ? "," : "", name ? name : figure_whole(&label, (double)k),
              figure_fixed(&probability, json_number_value(json_array_get(guess, 1)), 4));
    }
    print("\n");
}

static bool take_answers(struct predicting *p, const json_t *params, struct error *err)
{
    const size_t first = (size_t)json_integer_value(json_object_get(params, "first"));
    size_t i;
    const json_t *answer;
    json_array_foreach(json_object_get(params, "answers"), i, answer)
    {
        if (first >= p->asked_count || i >= p->asked_count - first)
            return error_set(err, ERROR_FAILED, "the engine answers what was not asked");
        const char *file = p->files[p->asked[first + i]];
        if (json_is_string(answer))
            print_failure(p, file, json_string_value(answer));
        else if (!p->json)
            print_line(p, file, answer);
        else if (!print_object(p, file, answer))
            return error_memory(err, "predictions");
    }
    p->lost = fflush(stdout) != 0 || ferror(stdout);
    return !p->lost;
}

/* session_notified */
static bool take_notification(void *context, const char *method, const json_t *params,
                              struct error *err)
{
    struct predicting *p = context;
    json_t *classes = json_object_get(params, "class_names");
    if (strcmp(method, "predict") != 0)
        return true;
    if (!classes)
        return take_answers(p, params, err);
    json_decref(p->classes);
    p->classes = json_incref(classes);
    return true;
}

/* The names of a request, from p->next on. NULL: *err; an empty array: there are none left. */
static json_t *next_names(struct predicting *p, struct error *err)
{
    json_t *names = json_array();
    size_t bytes = 0;
    p->asked_count = 0;
    while (names && p->next < p->count && bytes < MOST_NAMES) {
        const char *file = p->files[p->next];
        char *path = run_spec_absolute_path(file, p->remote, err);
        json_t *name = path ? json_string(path) : NULL;
        struct error why = ERROR_INIT;
        if (path && !name) {
            error_set(&why, ERROR_FAILED, "%s: the name is not UTF-8: rename the file", path);
            print_failure(p, file, why.text);
        }
        free(path);
        bytes += name ? json_length(name, JSON_ENCODE_ANY) + 1 : 0;
        if (!path || (name && json_array_append_new(names, name) != 0)) {
            json_decref(names);
            names = NULL;
        } else if (name) {
            p->asked[p->asked_count++] = p->next;
        }
        p->next++;
    }
    if (!names && err->kind == ERROR_NONE)
        error_memory(err, "names of pictures");
    return names;
}

/* One request; Ctrl-C ends us, and with the connection what the engine does. */
static bool ask(struct predicting *p, json_t *names, struct error *err)
{
    json_t *params = spec_to_json(p->spec), *result = NULL;
    long id;
    if (!params) {
        json_decref(names);
        return spec_json_failed(p->spec, err);
    }
    if (json_object_set_new(params, "files", names) != 0 ||
        json_object_set_new(params, "top", json_integer(p->top)) != 0) {
        json_decref(params);
        return error_memory(err, "names of pictures");
    }
    bool ok = client_send(p->client, "predict", params, &id, err) &&
              session_wait(p->client, id, take_notification, p, &result, err);
    json_decref(result);
    return ok;
}

static bool predict_all(struct predicting *p, struct error *err)
{
    bool ok = true;
    while (ok && p->next < p->count) {
        json_t *names = next_names(p, err);
        if (!names)
            return false;
        if (p->asked_count > 0)
            ok = ask(p, names, err);
        else
            json_decref(names);
    }
    return ok;
}

/* Which weights, and which of the arguments are pictures; NULL: *err. */
static json_t *take_arguments(struct invocation *invocation, struct predicting *p,
                              struct error *err)
{
    const char *top = invocation_value(invocation, "top");
    const int weights = invocation_has(invocation, "run") ? 0 : 1;
    p->json = invocation_has(invocation, "json");
    p->ranks = top;
    p->top = 1;
    p->spec = &invocation->settings.spec;
    p->remote = &invocation->remote;
    p->files = invocation->arguments + weights;
    p->count = invocation->argument_count - weights;
    if (top && !parse_long(top, 1, MOST_TOP, &p->top)) {
        error_set(err, ERROR_USAGE, "--top '%.60s' must be a whole number from 1 to %d", top,
                  MOST_TOP);
        return NULL;
    }
    if (p->count < 1) {
        error_set(err, ERROR_USAGE, "predict needs pictures, after a file of weights or --run");
        return NULL;
    }
    return saved_which(invocation, weights ? invocation->arguments[0] : NULL, err);
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct predicting p = {.client = NULL};
    json_t *which = take_arguments(invocation, &p, err);
    if (!which)
        return false;
    p.asked = malloc((size_t)p.count * sizeof *p.asked);
    bool ok = (p.asked || error_memory(err, "names of pictures")) &&
              session_open_private(&invocation->remote, &p.client, err);
    if (!ok)
        json_decref(which);
    ok = ok && saved_take(p.client, invocation, which, err) && predict_all(&p, err);
    client_close(p.client);
    json_decref(p.classes);
    free(p.asked);
    /* The end of the program says why, if anybody is there to be told. */
    if (p.lost)
        return true;
    return ok && !p.failed;
}

static const struct option options[] = {
    {"run", OPTION_VALUE, "RUN", "the newest checkpoint of this run instead of WEIGHTS"},
    {"best", OPTION_FLAG, NULL, "with --run: the checkpoint of its best epoch"},
    {"top", OPTION_VALUE, "N", "the N most probable classes of each picture"},
    {"model", OPTION_SETTING, "NAME|FILE", "network; weights that dpartui saved know theirs"},
    {"data", OPTION_SETTING, "NAME|DIR",
     "what it was trained on; weights that dpartui saved know theirs"},
    OPTION_DATA_DIR,
    OPTIONS_PICTURES,
    OPTION_DEVICES,
    OPTION_GPUS,
    OPTION_CPU_THREADS,
    {"batch", OPTION_SETTING, "N", "pictures at a time"},
    OPTION_DTYPE,
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_predict = {
    .name = "predict",
    .arguments = "WEIGHTS FILE...",
    .argument_max = ARGUMENTS_ANY,
    .summary = "What saved weights take pictures for: the class of each PNG or JPEG file",
    .details =
        "WEIGHTS is a .safetensors file with the names PyTorch gives. One that --save has written\n"
        "and a run's checkpoint know their network and data. Of the data only the size of the\n"
        "pictures, their colour and the names of the classes are looked at.\n",
    .options = options,
    .run = run,
};
