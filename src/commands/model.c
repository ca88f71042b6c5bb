/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "commands/list.h"
#include "output/table.h"
#include "spec/json.h"
#include "spec/set.h"

/* Planning tries the algorithms of a device, which takes its time. */
#define MODEL_SECONDS 600.0

/* "64x14x14", or "512" for a vector. */
static const char *shape_text(struct figure *figure, const json_t *shape)
{
    long c = (long)json_integer_value(json_array_get(shape, 0));
    long h = (long)json_integer_value(json_array_get(shape, 1));
    long w = (long)json_integer_value(json_array_get(shape, 2));
    if (h == 1 && w == 1)
        snprintf(figure->text, sizeof figure->text, "%ld", c);
    else
        snprintf(figure->text, sizeof figure->text, "%ldx%ldx%ld", c, h, w);
    return figure->text;
}

/* "3", or "3x1" where the two differ. */
static void add_pair(struct figure *figure, const char *word, const json_t *pair)
{
    long a = (long)json_integer_value(json_array_get(pair, 0));
    long b = (long)json_integer_value(json_array_get(pair, 1));
    size_t used = strlen(figure->text);
    if (a == b)
        snprintf(figure->text + used, sizeof figure->text - used, " %s %ld", word, a);
    else
        snprintf(figure->text + used, sizeof figure->text - used, " %s %ldx%ld", word, a, b);
}

static void add_groups(struct figure *figure, const json_t *layer)
{
    const size_t used = strlen(figure->text);
    const json_t *groups = json_object_get(layer, "groups");
    if (groups)
        snprintf(figure->text + used, sizeof figure->text - used, "%sgroups %ld", used ? " " : "",
                 (long)json_integer_value(groups));
}

/* "3x3 stride 2 pad 1", and "dilation 2", "groups 4" where there are any */
static const char *window_text(struct figure *figure, const json_t *layer)
{
    const json_t *kernel = json_object_get(layer, "kernel");
    figure->text[0] = '\0';
    if (!kernel) {
        add_groups(figure, layer);
        return figure->text;
    }
    snprintf(figure->text, sizeof figure->text, "%ldx%ld",
             (long)json_integer_value(json_array_get(kernel, 0)),
             (long)json_integer_value(json_array_get(kernel, 1)));
    add_pair(figure, "stride", json_object_get(layer, "stride"));
    add_pair(figure, "pad", json_object_get(layer, "pad"));
    if (json_object_get(layer, "dilation"))
        add_pair(figure, "dilation", json_object_get(layer, "dilation"));
    add_groups(figure, layer);
    return figure->text;
}

static bool print_layers(const json_t *layers, struct error *err)
{
    static const struct column columns[] = {{"LAYER", false},  {"KIND", false},  {"WINDOW", false},
                                            {"OUTPUT", false}, {"PARAMS", true}, {"FLOP", true}};
    struct table table;
    size_t index;
    json_t *layer;
    struct figure text;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(layers, index, layer)
    {
        double params = member_number(layer, "params");
        table_cell(&table, member_text(layer, "name"));
        table_cell(&table, member_text(layer, "kind"));
        table_cell(&table, window_text(&text, layer));
        table_cell(&table, shape_text(&text, json_object_get(layer, "output")));
        table_cell(&table, params > 0 ? figure_whole(&text, params) : "");
        table_cell(&table, figure_count(&text, member_number(layer, "flops")));
    }
    return table_end(&table, err);
}

/* Rows of a pass, and what it needs while it runs. */
static void add_pass(struct table *table, const json_t *pass)
{
    struct figure text;
    double sum = member_number(pass, "activations") + member_number(pass, "scratch") +
                 member_number(pass, "input");
    table_cell(table, figure_whole(&text, member_number(pass, "rows")));
    table_cell(table, figure_bytes(&text, sum));
}

static bool print_memory(const json_t *memory, struct error *err)
{
    static const struct column columns[] = {
        {"DEVICE", false},    {"THREADS", true},   {"PARAMETERS", true}, {"ROWS", true},
        {"TRAINING", true},   {"LAST ROWS", true}, {"TRAINING", true},   {"EVAL ROWS", true},
        {"EVALUATION", true}, {"IN ALL", true}};
    struct table table;
    size_t index;
    json_t *device;
    struct figure text;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(memory, index, device)
    {
        table_cell(&table, member_text(device, "device"));
        table_cell(&table, figure_whole(&text, member_number(device, "threads")));
        table_cell(&table, figure_bytes(&text, member_number(device, "parameters")));
        add_pass(&table, json_object_get(device, "full"));
        add_pass(&table, json_object_get(device, "last"));
        add_pass(&table, json_object_get(device, "eval"));
        table_cell(&table, figure_bytes(&text, member_number(device, "total")));
    }
    return table_end(&table, err);
}

/* "conv1 to resnet_block2.1" */
static void add_layers(struct table *table, const json_t *layers, const json_t *stage)
{
    char text[320];
    size_t at = (size_t)member_number(stage, "first");
    const size_t end = (size_t)member_number(stage, "end");
    while (at + 1 < end && !*member_text(json_array_get(layers, at), "name"))
        at++;
    snprintf(text, sizeof text, "%s to %s", member_text(json_array_get(layers, at), "name"),
             member_text(stage, "last_layer"));
    table_cell(table, text);
}

static bool print_stages(const json_t *layers, const json_t *pipeline, struct error *err)
{
    static const struct column columns[] = {{"DEVICE", false},
                                            {"STAGE", false},
                                            {"FLOPS", true},
                                            {"IMBALANCE", true},
                                            {"HANDS OVER", true}};
    struct table table;
    size_t index;
    json_t *stage;
    struct figure text;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(pipeline, "stages"), index, stage)
    {
        const double bytes = member_number(stage, "bytes");
        table_cell(&table, member_text(stage, "device"));
        add_layers(&table, layers, stage);
        table_cell(&table, figure_percent(&text, member_number(stage, "share")));
        table_cell(&table, figure_percent(&text, member_number(stage, "imbalance")));
        table_cell(&table, bytes > 0 ? figure_bytes(&text, bytes) : "");
    }
    return table_end(&table, err);
}

/* What is known of a pipeline before its run. */
static bool print_pipeline(const json_t *model, struct error *err)
{
    const json_t *pipeline = json_object_get(model, "pipeline");
    const double replicas = pipeline ? member_number(pipeline, "replicas") : 0;
    struct figure bubble, fill, batch;
    char count[40] = "";
    if (!pipeline)
        return true;
    if (replicas > 1)
        snprintf(count, sizeof count, " over %.0f pipelines, each", replicas);
    const double parts = member_number(pipeline, "micro_batches");
    print("\npipeline: mini-batches of %s row%s%s in %.0f micro-batch%s of %.0f\n",
          figure_whole(&batch, member_number(model, "batch")),
          plural(member_number(model, "batch")), count, parts, parts == 1 ? "" : "es",
          member_number(pipeline, "rows"));
    if (!print_stages(json_object_get(model, "layers"), pipeline, err))
        return false;
    print("by FLOPs %.2f times one device: %s of a step is bubble, %s to fill and drain the "
          "pipeline, the rest imbalance\n",
          member_number(pipeline, "speedup"),
          figure_percent(&bubble, member_number(pipeline, "bubble")),
          figure_percent(&fill, member_number(pipeline, "fill_drain")));
    return true;
}

/* What is known of layers that are divided before the run. */
static bool print_slices(const json_t *model, struct error *err)
{
    static const struct column columns[] = {{"DEVICE", false}, {"ROWS", true}, {"FLOPS", true}};
    const json_t *tensor = json_object_get(model, "tensor"),
                 *mixed = json_object_get(model, "mixed");
    struct table table;
    size_t index;
    json_t *device;
    struct figure text, batch;
    if (!tensor && !mixed)
        return true;
    print(tensor ? "\ntensor: all %s rows on each device, with a part of every layer's channels\n"
                 : "\nmixed: the %s rows are divided before the first linear layer; from it on "
                   "each device has all of them, with a part of every linear layer's outputs\n",
          figure_whole(&batch, member_number(model, "batch")));
    tensor = tensor ? tensor : mixed;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(tensor, "devices"), index, device)
    {
        table_cell(&table, member_text(device, "device"));
        table_cell(&table, figure_whole(&text, member_number(device, "rows")));
        table_cell(&table, figure_percent(&text, member_number(device, "share")));
    }
    if (!table_end(&table, err))
        return false;
    print("a step all-gathers values in %.0f place%s; with %sgradients the devices read %s of each "
          "other\n",
          member_number(tensor, "gathers"), plural(member_number(tensor, "gathers")),
          mixed ? "all-reduced and other " : "their ",
          figure_bytes(&text, member_number(tensor, "bytes")));
    return true;
}

static void print_recipe(const json_t *recipe)
{
    const char *key, *comma = "";
    json_t *value;
    struct figure text;
    if (json_object_size(recipe) > 0)
        print("\nrecipe (--recipe none leaves it out): ");
    json_object_foreach((json_t *)(uintptr_t)recipe, key, value)
    {
        print("%s%s %s", comma, key,
              json_is_number(value)    ? figure_json(&text, value)
              : json_is_boolean(value) ? (json_is_true(value) ? "yes" : "no")
                                       : member_text(recipe, key));
        comma = ", ";
    }
    if (json_object_size(recipe) > 0)
        putchar('\n');
}

static bool print_model(const json_t *model, const struct spec *spec, struct error *err)
{
    struct figure input, params, forward, training;
    print("%s from %s\n", member_text(model, "model"), member_text(model, "source"));
    print("input %s, %.0f classes%s%s\n\n", shape_text(&input, json_object_get(model, "input")),
          member_number(model, "classes"),
          json_is_string(json_object_get(model, "data")) ? ", for " : "",
          json_is_string(json_object_get(model, "data")) ? member_text(model, "data") : "");
    if (!print_layers(json_object_get(model, "layers"), err))
        return false;
    print("\n%s parameters (%.0f); %s forward, %s to train, per row\n",
          figure_count(&params, member_number(model, "params")), member_number(model, "params"),
          figure_flop(&forward, member_number(model, "forward_flops")),
          figure_flop(&training, member_number(model, "training_flops")));
    print_recipe(json_object_get(model, "training"));
    if (!print_pipeline(model, err) || !print_slices(model, err))
        return false;
    print("\nmemory for batch %.0f%s\n", member_number(model, "batch"),
          spec->split == SPLIT_AUTO ? ", as split auto begins: balanced; more where it moves rows"
                                    : "");
    if (!print_memory(json_object_get(model, "memory"), err))
        return false;
    if (json_object_get(model, "over_limit"))
        print("\n%s\n", member_text(model, "over_limit"));
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct client *client;
    struct spec *spec = &invocation->settings.spec;
    json_t *model = NULL;
    /* Data only when asked for: the model's file says what it is for otherwise. */
    if (!invocation_has(invocation, "data") && !spec_set(spec, "data", "", err))
        return false;
    if (!spec_set(spec, "model", invocation->arguments[0], err) ||
        !run_spec_finish(invocation, err) ||
        !session_open_to_ask(&invocation->remote, &client, err))
        return false;
    json_t *params = spec_given_to_json(spec);
    bool ok = params ? client_call(client, "model", params, MODEL_SECONDS, &model, err)
                     : spec_json_failed(spec, err);
    if (ok && invocation_has(invocation, "json"))
        print_json(model);
    else if (ok)
        ok = print_model(model, spec, err);
    json_decref(model);
    client_close(client);
    return ok;
}

static const struct option options[] = {
    {"data", OPTION_SETTING, "NAME|DIR", "lay it out for these data"},
    OPTION_DATA_DIR,
    OPTIONS_PICTURES,
    OPTION_BATCH,
    OPTION_RECIPE,
    OPTION_DEVICES,
    OPTION_CPU_THREADS,
    OPTIONS_STRATEGY,
    OPTION_SPLIT,
    OPTION_DTYPE,
    OPTION_DETERMINISTIC,
    OPTION_TRAIN_ROWS,
    OPTION_JSON,
    OPTIONS_END,
};

const struct command command_model = {
    .name = "model",
    .arguments = "NAME|FILE",
    .argument_min = 1,
    .argument_max = 1,
    .summary = "Show a network's layers, parameters, FLOPs and memory",
    .options = options,
    .run = run,
};
