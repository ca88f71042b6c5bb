/* SPDX-License-Identifier: MIT */
#include "system/shell.h"

#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <unistd.h>

/* The engine's threads block and ignore some signals. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int status = posix_spawnattr_setsigmask(attributes, &none);
    status = status ? status : posix_spawnattr_setsigdefault(attributes, &all);
    return status
               ? status
               : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                          POSIX_SPAWN_SETSIGDEF);
}

int shell_start(const char *command, const int fds[3], char *const *environment, pid_t *pid)
{
    char shell[] = "sh", option[] = "-c";
    char *argv[] = {shell, option, (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int status = posix_spawn_file_actions_init(&actions);
    if (status)
        return status;
    status = posix_spawnattr_init(&attributes);
    if (!status) {
        status = set_attributes(&attributes);
        for (int i = 0; !status && i < 3; i++)
            status = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
        if (!status)
            status = posix_spawnp(pid, "sh", &actions, &attributes, argv,
                                  environment ? environment : environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return status;
}
