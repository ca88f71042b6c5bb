/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/options.h"
#include "commands/list.h"
#include "completion/bash.h"
#include "completion/fish.h"
#include "completion/words.h"
#include "completion/zsh.h"

static bool wrong(struct error *err, const char *text)
{
    return error_set(err, ERROR_USAGE, "completion '%.60s': it is bash, zsh or fish", text);
}

static bool run(struct invocation *invocation, struct error *err)
{
    static const struct {
        const char *shell;
        void (*print)(const struct command *const *commands);
    } scripts[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    const char *asked = invocation->arguments[0];
    if (invocation->argument_count == 2) {
        /* What the scripts ask for. */
        if (strcmp(asked, "words") == 0 &&
            words_print(invocation->arguments[1], &invocation->settings))
            return true;
        return wrong(err, invocation->arguments[1]);
    }
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(asked, scripts[i].shell) == 0) {
            scripts[i].print(commands);
            return true;
        }
    return wrong(err, asked);
}

static const struct option options[] = {OPTIONS_END};

const struct command command_completion = {
    .name = "completion",
    .place = PLACE_HERE,
    .arguments = "bash|zsh|fish",
    .argument_min = 1,
    .argument_max = 2,
    .summary = "Print a shell's script for completion",
    .details = "make install puts the scripts where the shells look for them. Elsewhere, in\n"
               "~/.bashrc:  source <(dpartui completion bash)\n",
    .options = options,
    .run = run,
};
