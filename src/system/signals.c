/* SPDX-License-Identifier: MIT */
#include "system/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

bool signals_open(struct signals *signals, struct error *err)
{
    static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH};
    sigemptyset(&signals->watched);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaddset(&signals->watched, watched[i]);
    signals->fd = signalfd(-1, &signals->watched, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd < 0)
        return error_errno(err, "signals cannot be watched");
    if (sigprocmask(SIG_BLOCK, &signals->watched, &signals->before) != 0) {
        error_errno(err, "signals cannot be blocked");
        close(signals->fd);
        return false;
    }
    return true;
}

void signals_close(struct signals *signals)
{
    /* What arrived on the way out would end the program in the middle of its last words. */
    while (signals_next(signals) != 0)
        ;
    close(signals->fd);
    sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

int signals_next(struct signals *signals)
{
    struct signalfd_siginfo info;
    if (read(signals->fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return (int)info.ssi_signo;
}

void signals_stop_here(void)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL);
    raise(SIGTSTP);
    sigprocmask(SIG_BLOCK, &stop, NULL);
}

void signals_reset(void)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
