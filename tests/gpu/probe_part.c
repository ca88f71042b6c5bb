/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/gpu/probe.h"

void probe_say(const struct probe *probe, const char *pattern, ...)
{
    va_list args;
    va_start(args, pattern);
    vfprintf(probe->out, pattern, args);
    va_end(args);
    fputc('\n', probe->out);
    fflush(probe->out);
}

int probe_fail(const struct probe *probe, const char *pattern, ...)
{
    char text[600];
    va_list args;
    va_start(args, pattern);
    vsnprintf(text, sizeof text, pattern, args);
    va_end(args);
    probe_say(probe, "FAIL: %s", text);
    return 1;
}

bool probe_run(const struct probe *probe, const struct probe_part *part)
{
    const char *name = part->name;
    const double begin = clock_seconds();
    int status = 0;
    probe_say(probe, "--- %s", name);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGALRM, SIG_DFL); /* the caller may have had other plans */
        alarm(part->seconds);
        exit(part->run(probe) > 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return !probe_fail(probe, "%s: cannot be started", name);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return !probe_fail(probe, "%s: not done after %u s", name, part->seconds);
    if (WIFSIGNALED(status))
        return !probe_fail(probe, "%s: ended by signal %d: %s", name, WTERMSIG(status),
                           strsignal(WTERMSIG(status)));
    probe_say(probe, "--- %s: %s, %.1f s", name, WEXITSTATUS(status) == 0 ? "ok" : "FAILED",
              clock_seconds() - begin);
    return WEXITSTATUS(status) == 0;
}
