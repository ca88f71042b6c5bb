/* SPDX-License-Identifier: MIT */
#include "remote/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "system/signals.h"

/* For a child to end by SIGTERM, before SIGKILL. */
#define TERM_SECONDS 0.1

/* Descriptors of this process close on exec; those that are dup'ed do not. */
static bool place(int from, int to)
{
    return from < 0 || dup2(from, to) == to;
}

/* In the child: become the program, or send errno. */
static void become(const struct process *process, char *const *arguments, pid_t parent, int report)
{
    if (process->alone)
        setsid();
    signals_reset();
    if (process->outlives_interrupts)
        signal(SIGINT, SIG_IGN);
    /* It would notice the end of its input, but not while it asks for a password. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && place(process->in, 0) &&
        place(process->out, 1) && place(process->errors, 2))
        execvp(arguments[0], arguments);
    int number = errno;
    ssize_t put = write(report, &number, sizeof number);
    _exit(put == sizeof number ? 127 : 126);
}

/* 0: the program runs. */
static int read_report(int report)
{
    int number = 0;
    ssize_t got;
    do
        got = read(report, &number, sizeof number);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return 0;
    return got == sizeof number ? number : EIO;
}

bool process_start(const struct process *process, char *const *arguments, pid_t *child,
                   struct error *err)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return error_errno(err, "cannot make a pipe to start %s", arguments[0]);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(process, arguments, parent, report[1]);
    int number = pid < 0 ? errno : 0;
    close(report[1]);
    if (pid > 0)
        number = read_report(report[0]);
    close(report[0]);
    if (number == 0) {
        *child = pid;
        return true;
    }
    if (pid > 0)
        process_wait(pid, false, 0);
    errno = number;
    return error_errno(err, "cannot start %s (ssh in dpartui.conf(5) names another)", arguments[0]);
}

/* False: it still runs. */
static bool reap(pid_t child, int options, int *status)
{
    pid_t got;
    do
        got = waitpid(child, status, options);
    while (got < 0 && errno == EINTR);
    return got != 0;
}

int process_wait(pid_t child, bool alone, double seconds)
{
    const double deadline = clock_seconds() + seconds;
    int status = 0;
    while (!reap(child, WNOHANG, &status)) {
        if (clock_seconds() >= deadline) {
            kill(alone ? -child : child, SIGKILL);
            reap(child, 0, &status);
            break;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000L}, NULL);
    }
    return status;
}

void process_end(pid_t child, bool alone, double seconds)
{
    if (seconds <= 0)
        kill(alone ? -child : child, SIGTERM);
    process_wait(child, alone, seconds > 0 ? seconds : TERM_SECONDS);
}
