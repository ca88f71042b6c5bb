/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "cli/options.h"
#include "client/session.h"
#include "commands/list.h"
#include "output/table.h"

static bool print_devices(const json_t *list, struct error *err)
{
    static const struct column columns[] = {
        {"DEVICE", false}, {"CORES", true}, {"MEMORY", true}, {"NAME", false}, {"STATE", false}};
    struct table table;
    size_t index;
    json_t *device;
    struct figure text;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(list, index, device)
    {
        bool available = json_is_true(json_object_get(device, "available"));
        table_cell(&table, member_text(device, "device"));
        table_cell(&table, figure_whole(&text, member_number(device, "cores")));
        table_cell(&table, figure_bytes(&text, member_number(device, "memory_total")));
        table_cell(&table, member_text(device, "name"));
        table_cell(&table, available ? "ready" : member_text(device, "reason"));
    }
    return table_end(&table, err);
}

static void put_process(struct table *table, const char *device, const json_t *process)
{
    const char *command = member_text(process, "command");
    const char *why = json_string_value(json_object_get(process, "reason"));
    const bool own = json_is_true(json_object_get(process, "own"));
    struct figure text;
    char line[300];
    snprintf(line, sizeof line, "%s%s%s%s", command,
             why   ? " ("
             : own ? " (this engine)"
                   : "",
             why ? why : "", why ? ")" : "");
    table_cell(table, device);
    table_cell(table, figure_whole(&text, member_number(process, "pid")));
    table_cell(table, member_text(process, "user"));
    table_cell(table, figure_bytes(&text, member_number(process, "memory")));
    table_cell(table, figure_percent(&text, member_number(process, "load")));
    table_cell(table, line);
}

/* What uses the GPUs; nothing where nothing does, or no driver tells. */
static bool print_processes(const json_t *list, struct error *err)
{
    static const struct column columns[] = {{"DEVICE", false}, {"PID", true},  {"USER", false},
                                            {"MEMORY", true},  {"LOAD", true}, {"COMMAND", false}};
    struct table table;
    size_t index, which, count = 0;
    json_t *device, *process;
    table_begin(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(list, index, device)
    {
        const json_t *processes = json_object_get(device, "processes");
        count += json_array_size(processes);
        json_array_foreach(processes, which, process)
            put_process(&table, member_text(device, "device"), process);
    }
    if (count > 0)
        print("\n");
    else
        table_free(&table);
    return count == 0 || table_end(&table, err);
}

static bool print_why_no_gpus(struct client *client, struct error *err)
{
    json_t *status = NULL;
    if (!client_call(client, "status", NULL, SESSION_SECONDS, &status, err))
        return false;
    const char *why = json_string_value(json_object_get(status, "no_gpus"));
    if (why)
        print("No GPUs: %s\n", why);
    json_decref(status);
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct client *client;
    json_t *list = NULL;
    if (!session_open_to_ask(&invocation->remote, &client, err))
        return false;
    bool ok = client_call(client, "devices", NULL, SESSION_SECONDS, &list, err);
    if (ok && invocation_has(invocation, "json"))
        print_json(list);
    else if (ok)
        ok = print_devices(list, err) && print_processes(list, err) &&
             print_why_no_gpus(client, err);
    json_decref(list);
    client_close(client);
    return ok;
}

static const struct option options[] = {OPTION_JSON, OPTIONS_END};

const struct command command_devices = {
    .name = "devices",
    .summary = "List the devices of this machine, and what uses its GPUs",
    .options = options,
    .run = run,
};
