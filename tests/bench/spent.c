/* SPDX-License-Identifier: MIT */
/*
 * What a command takes: `spent COMMAND [ARGUMENT...]` prints milliseconds by the clock and of the
 * processor and the most KiB that it had resident, on one line of standard error, and ends with its
 * status. Its output goes nowhere.
 * (A process inherits its parent's peak through exec, so a large parent cannot measure a small
 * child; this one is small.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static double milliseconds_of(struct timeval time)
{
    return 1e3 * (double)time.tv_sec + 1e-3 * (double)time.tv_usec;
}

static void run(char **command)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        _exit(127);
    execvp(command[0], command);
    _exit(127);
}

int main(int count, char **arguments)
{
    int status;
    struct rusage usage;
    if (count < 2) {
        fprintf(stderr, "usage: spent COMMAND [ARGUMENT...]\n");
        return 2;
    }
    double begin = milliseconds();
    pid_t child = fork();
    if (child == 0)
        run(arguments + 1);
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("spent");
        return 2;
    }
    fprintf(stderr, "spent %.3f ms %.3f ms %ld KiB\n", milliseconds() - begin,
            milliseconds_of(usage.ru_utime) + milliseconds_of(usage.ru_stime), usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
