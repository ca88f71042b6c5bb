/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "cli/run_number.h"
#include "client/session.h"
#include "commands/list.h"

static bool stop(long number, const char *when, struct error *err)
{
    struct client *client;
    if (!session_open_running(&client, err))
        return false;
    if (!client)
        return error_set(err, ERROR_FAILED, "no engine is running, so there is no run %ld to stop",
                         number);
    bool ok = client_call(client, "stop",
                          json_pack("{s:I, s:s}", "run", (json_int_t)number, "when", when),
                          SESSION_SECONDS, NULL, err);
    client_close(client);
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    bool now = invocation_has(invocation, "now");
    bool after_epoch = invocation_has(invocation, "after-epoch");
    long number;
    if (now && after_epoch)
        return error_set(err, ERROR_USAGE, "--now and --after-epoch exclude each other");
    return run_number_parse(invocation->arguments[0], &number, err) && stop(number,
                                                                            now           ? "now"
                                                                            : after_epoch ? "epoch"
                                                                                          : "step",
                                                                            err);
}

static const struct option options[] = {
    {"after-epoch", OPTION_FLAG, NULL, "finish the current epoch and evaluate it"},
    {"now", OPTION_FLAG, NULL, "do not wait for the current step, save nothing"},
    OPTIONS_END,
};

const struct command command_stop = {
    .name = "stop",
    .place = PLACE_THERE,
    .arguments = "RUN",
    .argument_min = 1,
    .argument_max = 1,
    .live_run = true,
    .summary = "Stop a run, or take it out of the queue",
    .options = options,
    .run = run,
};
