/* SPDX-License-Identifier: MIT */
#include "remote/line.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/print.h"
#include "remote/process.h"

/* Between its end of file and its end as a process. */
#define END_SECONDS 0.5

/* What ssh and shells mean by an exit status. */
enum { STATUS_REFUSED = 1, STATUS_USAGE = 2, STATUS_NO_PROGRAM = 127, STATUS_SSH = 255 };

bool line_open(struct line *line, const struct remote *remote, enum line_use use, bool running,
               struct error *err)
{
    const char *const command[] = {"dpartui", "engine", "dial", running ? "--running" : NULL, NULL};
    const bool alone = use == LINE_UNDER_SCREEN, keeps = use != LINE_TO_COMMAND;
    int pair[2], errors[2] = {-1, -1};
    *line = (struct line){.fd = -1, .errors = -1, .alone = alone};
    remote_name(remote->host, line->host);
    char **arguments = remote_arguments(remote, alone ? REMOTE_SILENT : REMOTE_ASKS, command, err);
    if (!arguments)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        remote_arguments_free(arguments);
        return error_errno(err, "cannot make a socket for ssh");
    }
    bool ok = !keeps || pipe2(errors, O_CLOEXEC) == 0 || error_errno(err, "cannot make a pipe");
    ok = ok && (!keeps || fcntl(errors[0], F_SETFL, O_NONBLOCK) == 0 ||
                error_errno(err, "cannot set up a pipe"));
    const struct process process = {.in = pair[1],
                                    .out = pair[1],
                                    .errors = errors[1],
                                    .alone = alone,
                                    .outlives_interrupts = !alone};
    ok = ok && process_start(&process, arguments, &line->pid, err);
    remote_arguments_free(arguments);
    close(pair[1]);
    if (keeps && errors[1] >= 0)
        close(errors[1]);
    line->fd = pair[0];
    line->errors = errors[0];
    if (!ok)
        line_close(line, 0);
    return ok;
}

void line_close(struct line *line, double seconds)
{
    if (line->fd >= 0)
        close(line->fd);
    if (line->pid > 0)
        process_end(line->pid, line->alone, seconds);
    if (line->errors >= 0)
        close(line->errors);
    line->fd = line->errors = -1;
    line->pid = 0;
}

/* One byte of what was said. */
static void hear(struct line *line, char byte, bool echo)
{
    if (byte != '\n' && byte != '\r') {
        if (line->length < sizeof line->saying - 1)
            line->saying[line->length++] = byte;
        return;
    }
    line->saying[line->length] = '\0';
    if (line->length > 0) {
        memcpy(line->said, line->saying, line->length + 1);
        if (echo)
            print_to(stderr, "%s\n", line->said);
    }
    line->length = 0;
}

void line_listen(struct line *line, bool echo)
{
    char bytes[1024];
    ssize_t got;
    if (line->errors < 0)
        return;
    while ((got = read(line->errors, bytes, sizeof bytes)) > 0 || (got < 0 && errno == EINTR)) {
        for (ssize_t i = 0; i < got; i++)
            hear(line, bytes[i], echo);
    }
}

/* What the command over there complained of, without its name. */
static const char *complaint(const struct line *line)
{
    static const char name[] = "dpartui: ";
    return strncmp(line->said, name, sizeof name - 1) == 0 ? line->said + sizeof name - 1
                                                           : line->said;
}

static void find_why(struct line *line, int status)
{
    if (WIFSIGNALED(status))
        snprintf(line->why, sizeof line->why, "ssh was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (line->said[0])
        snprintf(line->why, sizeof line->why, "%s", line->said);
    else
        snprintf(line->why, sizeof line->why, "%s",
                 line->heard ? "ssh has lost it; what runs over there continues"
                             : "the same ssh by hand shows what is wrong");
}

enum line_end line_ended(struct line *line, struct error *err)
{
    int status = process_wait(line->pid, line->alone, END_SECONDS);
    line->pid = 0;
    line_listen(line, false);
    switch (WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SSH) {
    case 0:
        error_set(err, ERROR_FAILED, "the engine on %s has closed the connection", line->host);
        return LINE_HUNG_UP;
    case STATUS_REFUSED:
        if (line->said[0])
            error_set(err, ERROR_ABSENT, "%s: %s", line->host, complaint(line));
        else
            error_set(err, ERROR_ABSENT, "%s: its engine is not reached there", line->host);
        return LINE_NO_ENGINE;
    case STATUS_USAGE:
        error_set(err, ERROR_FAILED,
                  "%s: its dpartui has no 'engine dial': install the version of this host there",
                  line->host);
        return LINE_NO_PROGRAM;
    case STATUS_NO_PROGRAM:
        error_set(err, ERROR_FAILED,
                  "%s: there is no dpartui in the PATH of commands by ssh: install it there",
                  line->host);
        return LINE_NO_PROGRAM;
    default:
        find_why(line, status);
        error_set(err, ERROR_FAILED,
                  line->heard ? "the line to %s is down: %s" : "%s is not reached: %s", line->host,
                  line->why);
        return LINE_DOWN;
    }
}
