/* SPDX-License-Identifier: MIT */
#include "remote/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "remote/process.h"

/* What of the environment decides how output looks; ssh takes none of it along. */
static const char *const variables[] = {"NO_COLOR",           "COLORFGBG",      "DPARTUI_CHARSET",
                                        "DPARTUI_PALETTE",    "DPARTUI_CANVAS", "DPARTUI_LOAD",
                                        "DPARTUI_X_AXIS",     "DPARTUI_Y_AXIS", "DPARTUI_SMOOTHING",
                                        "DPARTUI_BACKGROUND", "COLUMNS"};
enum { VARIABLES = sizeof variables / sizeof *variables };

/* The words of the shell over there. */
struct words {
    const char **word;
    size_t count;
    char *settings[VARIABLES]; /* NAME=VALUE */
};

static void words_free(struct words *words)
{
    for (size_t i = 0; i < VARIABLES; i++)
        free(words->settings[i]);
    free(words->word);
}

static bool words_make(struct words *words, const char *const *arguments, struct error *err)
{
    size_t count = 0;
    while (arguments[count])
        count++;
    *words = (struct words){.word = calloc(count + VARIABLES + 5, sizeof *words->word)};
    if (!words->word)
        return error_memory(err, "command");
    for (size_t i = 0; i < VARIABLES; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value)
            continue;
        words->settings[i] = text_format("%s=%s", variables[i], value);
        if (!words->settings[i])
            return error_memory(err, "command");
        if (words->count == 0)
            words->word[words->count++] = "env"; /* which works in shells of all kinds */
        words->word[words->count++] = words->settings[i];
    }
    /* DPARTUI_HOST may be set over there, too. */
    const char *const begin[] = {"dpartui", "--host", "local"};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        words->word[words->count++] = begin[i];
    for (size_t i = 0; i < count; i++)
        words->word[words->count++] = arguments[i];
    return true;
}

/* Ctrl-C is for ssh, as for a command that a shell runs; what it says is waited for. */
static bool run(char *const *arguments, int in, int *status, struct error *err)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, interrupt, quit;
    pid_t child;
    sigaction(SIGINT, &ignored, &interrupt);
    sigaction(SIGQUIT, &ignored, &quit);
    bool ok =
        process_start(&(struct process){.in = in, .out = -1, .errors = -1}, arguments, &child, err);
    while (ok && waitpid(child, status, 0) < 0)
        if (errno != EINTR)
            ok = error_errno(err, "cannot wait for ssh");
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    return ok;
}

static bool judge(const struct remote *remote, int ended, int *status, struct error *err)
{
    char name[REMOTE_NAME_SIZE];
    remote_name(remote->host, name);
    *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 255;
    if (*status == 255)
        return error_set(err, ERROR_FAILED,
                         "%s is not reached, or the line to it was lost: the same ssh by hand "
                         "shows what is wrong",
                         name);
    if (*status == 126 || *status == 127)
        return error_set(err, ERROR_FAILED,
                         "%s: there is no dpartui in the PATH of commands by ssh: install it there",
                         name);
    return true;
}

bool remote_command(const struct remote *remote, const char *const *arguments, bool terminal,
                    int *status, struct error *err)
{
    struct words words;
    int ended = 0, null = -1;
    const bool through =
        terminal && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    char **ssh =
        words_make(&words, arguments, err)
            ? remote_arguments(remote, through ? REMOTE_THROUGH : REMOTE_ASKS, words.word, err)
            : NULL;
    bool ok = ssh != NULL;
    /* What waits on our input is not for a command that does not read. */
    if (ok && !through && (null = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 0)
        ok = error_errno(err, "/dev/null: cannot be opened");
    ok = ok && run(ssh, null, &ended, err) && judge(remote, ended, status, err);
    if (null >= 0)
        close(null);
    remote_arguments_free(ssh);
    words_free(&words);
    return ok;
}
