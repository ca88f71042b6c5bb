/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/print.h"
#include "commands/list.h"
#include "config.h"
#include "remote/command.h"

enum exit_status { STATUS_DONE, STATUS_FAILED, STATUS_USAGE };

static int complain(const struct error *err)
{
    fflush(stdout);
    print_to(stderr, "dpartui: %s\n", err->text);
    return err->kind == ERROR_USAGE ? STATUS_USAGE : STATUS_FAILED;
}

/* Also long after the write that said so. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* No output may be lost silently, unless its reader is gone. */
static int finish_output(int status)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || status != STATUS_DONE)
        return status;
    if (errno != EPIPE && !reader_is_gone())
        print_to(stderr, "dpartui: cannot write the output: %s\n",
                 errno ? strerror(errno) : "the disk is full, or the device failed");
    return STATUS_FAILED;
}

static void print_help(void)
{
    print("Usage: dpartui [option ...]\n"
          "       dpartui [--host USER@HOST] COMMAND [option ...] [argument]\n\n"
          "A workbench for training networks on several devices. Without a command it opens on\n"
          "the terminal; training itself runs in a background engine.\n\nCommands:\n");
    for (size_t i = 1; commands[i]; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s%s", commands[i]->name, commands[i]->arguments ? " " : "",
                 commands[i]->arguments ? commands[i]->arguments : "");
        print("  %-30s%s\n", name, commands[i]->summary);
    }
    print("\n'dpartui COMMAND --help' lists a command's options. Those of the workbench, most of\n"
          "which fill in its form:\n");
    command_print_options(&command_workbench);
    print("\nManual: dpartui(1), dpartui.conf(5), dpartui-model(5), dpartui-engine(8)\n");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 1; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static bool unknown_command(const char *typed, struct error *err)
{
    const char *names[COMMANDS_MAX];
    size_t count = 0;
    for (size_t i = 1; commands[i]; i++)
        names[count++] = commands[i]->name;
    const char *near = nearest_name(typed, names, count);
    if (near)
        return error_set(err, ERROR_USAGE, "there is no command '%.60s': did you mean '%s'?", typed,
                         near);
    return error_set(err, ERROR_USAGE, "there is no command '%.60s' (see dpartui --help)", typed);
}

/* --version anywhere before "--", as --help. */
static bool wants_version(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--version") == 0)
            return true;
    return false;
}

/* The command line without --host, whatever is to the left of the command, for the other host. */
static bool run_over_there(const struct invocation *invocation, int argc, char *const *argv,
                           int *status, struct error *err)
{
    const int from = invocation->host_at, count = invocation->host_words;
    const char **words = calloc((size_t)argc + 2, sizeof *words), **next = words;
    if (!words)
        return error_memory(err, "arguments");
    *next++ = invocation->command->name;
    for (int i = 0; i < argc; i++)
        if (i < from || i >= from + count)
            *next++ = argv[i];
    bool ok = remote_command(&invocation->remote, words,
                             invocation_place(invocation) == PLACE_THERE_TERMINAL, status, err);
    free(words);
    return ok;
}

/* What it comes to: here, or on the host that is named. */
static bool run_parsed(struct invocation *invocation, int argc, char *const *argv, int *status,
                       struct error *err)
{
    const enum command_place place = invocation_place(invocation);
    if (!invocation_find_host(invocation, err))
        return false;
    if (invocation->remote.host && (place == PLACE_THERE || place == PLACE_THERE_TERMINAL))
        return run_over_there(invocation, argc, argv, status, err);
    return invocation->command->run(invocation, err);
}

/* Errors are the caller's to print. */
static bool run_with(const struct command *command, struct invocation *invocation, int argc,
                     char **argv, int *status, struct error *err)
{
    bool help;
    settings_init(&invocation->settings);
    /* Help must work with any configuration. */
    bool ok = command_parse(command, argc, argv, invocation, &help, err);
    settings_free(&invocation->settings);
    if (!ok)
        return false;
    if (help) {
        if (command->name)
            command_print_help(command);
        else
            print_help();
        return true;
    }
    if (!settings_load(&invocation->settings, err))
        return false;
    ok = command_parse(command, argc, argv, invocation, &help, err) &&
         run_parsed(invocation, argc, argv, status, err);
    settings_free(&invocation->settings);
    return ok;
}

/* `host`: of a --host before the command; NULL: none. */
static int run_command(const struct command *command, const char *host, int argc, char **argv)
{
    struct error err = ERROR_INIT;
    struct invocation invocation = {.arguments = calloc((size_t)argc + 1, sizeof(char *)),
                                    .host = host};
    int status = STATUS_DONE;
    bool ok = invocation.arguments ? run_with(command, &invocation, argc, argv, &status, &err)
                                   : error_memory(&err, "arguments");
    free(invocation.arguments);
    if (err.kind != ERROR_NONE)
        return finish_output(complain(&err));
    return finish_output(ok ? status : STATUS_FAILED);
}

/* --host before the command. Returns how many words it is; 0: there is none. */
static int take_first_host(int argc, char **argv, const char **host)
{
    static const char name[] = "--host";
    const size_t length = sizeof name - 1;
    if (argc < 1 || strncmp(argv[0], name, length) != 0)
        return 0;
    if (argv[0][length] == '=') {
        *host = argv[0] + length + 1;
        return 1;
    }
    if (argv[0][length] != '\0' || argc < 2)
        return 0; /* another option, or one that lacks its argument, as the parser will say */
    *host = argv[1];
    return 2;
}

int main(int argc, char **argv)
{
    struct error err = ERROR_INIT;
    const struct command *command = &command_workbench;
    setlocale(LC_ALL, "");
    /* Numbers are read and printed the same everywhere. */
    setlocale(LC_NUMERIC, "C");
    /* A failed write is an error to report, not the end of the program. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    json_begin();
    if (wants_version(argc - 1, argv + 1)) {
        print("dpartui " PACKAGE_VERSION "\n");
        return finish_output(STATUS_DONE);
    }
    const char *host = NULL;
    int skip = 1 + take_first_host(argc - 1, argv + 1, &host);
    if (argc > skip && argv[skip][0] != '-') {
        command = find_command(argv[skip]);
        if (!command) {
            unknown_command(argv[skip], &err);
            return complain(&err);
        }
        skip++;
    }
    return run_command(command, host, argc - skip, argv + skip);
}
