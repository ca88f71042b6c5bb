/* SPDX-License-Identifier: MIT */
#include "engine/hosts/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "system/shell.h"

/* Ranks are in the order of the hosts. Processes are not bound to cores: each host's devices choose
 * theirs (system/affinity.h). */
static const char mpirun[] = "mpirun -n %n --host %H --map-by ppr:1:node --bind-to none %p";
static const char srun[] =
    "srun %j -N %n -n %n --ntasks-per-node=1 -w %h -m arbitrary --mpi=pmix --input=0 -u -K "
    "--cpu-bind=none %p";

static void put_hosts(struct text *text, const struct host_list *hosts, const char *after)
{
    for (int i = 0; i < hosts->count; i++)
        text_printf(text, "%s%s%s", i ? "," : "", hosts->name[i], after);
}

/* In single quotes, as a shell takes it for one word. */
static void put_word(struct text *text, const char *word)
{
    text_puts(text, "'");
    for (; *word; word++)
        text_printf(text, *word == '\'' ? "'\\''" : "%c", *word);
    text_puts(text, "'");
}

/*
 * The daemons of Open MPI's mpirun live until their line to it is closed; one that is down says
 * nothing. So they look for it after half of `limit_s`, and have given it up after all of it.
 */
static void put_keepalive(struct text *text, double limit_s)
{
    const int first = limit_s > 2 ? (int)(limit_s / 2) : 1, next = first > 2 ? first / 2 : 1;
    text_printf(text,
                "export OMPI_MCA_oob_tcp_keepalive_time=${OMPI_MCA_oob_tcp_keepalive_time-%d} "
                "OMPI_MCA_oob_tcp_keepalive_intvl=${OMPI_MCA_oob_tcp_keepalive_intvl-%d} "
                "OMPI_MCA_oob_tcp_keepalive_probes=${OMPI_MCA_oob_tcp_keepalive_probes-2}; ",
                first, next);
}

/* What Slurm told the engine is of the job that it was started in, if of any; but where Slurm's
 * configuration is stays true. */
static void put_job(struct text *text, const char *job)
{
    text_puts(text, "test \"${SLURM_JOB_ID-}\" = ");
    put_word(text, job);
    text_puts(text, " || unset $(env | sed -n "
                    "'/^SLURM_CONF=/!s/^\\(SLURM_[A-Z0-9_]*\\)=.*/\\1/p'); ");
}

static const char *find_template(const char *template)
{
    if (!template || strcmp(template, "mpirun") == 0)
        return mpirun;
    return strcmp(template, "srun") == 0 || strncmp(template, "srun:", 5) == 0 ? srun : template;
}

/* What stands for `place`, the letter after a %, of those that launcher_check() allows, and j. */
static void put_place(struct text *text, char place, const struct host_list *hosts,
                      const char *program, const char *job)
{
    switch (place) {
    case 'n':
        text_printf(text, "%d", hosts->count);
        break;
    case 'h':
        put_hosts(text, hosts, "");
        break;
    case 'H':
        put_hosts(text, hosts, ":1");
        break;
    case 'p':
        put_word(text, program);
        break;
    case 'j':
        text_printf(text, "%s%s", *job ? "--jobid=" : "", job);
        break;
    default:
        text_puts(text, "%");
        break;
    }
}

char *launcher_command(const char *template, const struct host_list *hosts, const char *program,
                       double limit_s, struct error *err)
{
    struct text text = TEXT_INIT;
    const char *job = template && strncmp(template, "srun:", 5) == 0 ? template + 5 : "";
    const char *at = find_template(template);
    if (!launcher_check(template, err))
        return NULL;
    put_keepalive(&text, limit_s);
    if (*job)
        put_job(&text, job);
    text_puts(&text, "exec ");
    for (; *at; at++) {
        if (*at == '%')
            put_place(&text, *++at, hosts, program, job);
        else
            text_printf(&text, "%c", *at);
    }
    char *command = text_take(&text);
    if (!command)
        error_memory(err, "the launcher");
    return command;
}

static void close_all(int *fds, int count)
{
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

bool launcher_start(const char *command, struct launcher *launcher, struct error *err)
{
    int fds[] = {-1, -1, -1, -1, -1, -1};
    *launcher = (struct launcher){.input = -1, .output = -1, .errors = -1};
    errno = 0;
    for (int i = 0; i < 6 && !errno; i += 2)
        if (pipe2(fds + i, O_CLOEXEC) != 0)
            break;
    /* What this process reads does not block. */
    if (!errno && fcntl(fds[2], F_SETFL, O_NONBLOCK) == 0 &&
        fcntl(fds[4], F_SETFL, O_NONBLOCK) == 0)
        errno = shell_start(command, (int[]){fds[0], fds[3], fds[5]}, NULL, &launcher->pid);
    if (errno) {
        error_errno(err, "cannot start the launcher");
        close_all(fds, 6);
        return false;
    }
    close_all((int[]){fds[0], fds[3], fds[5]}, 3);
    launcher->input = fds[1];
    launcher->output = fds[2];
    launcher->errors = fds[4];
    return true;
}

bool launcher_has_ended(struct launcher *launcher)
{
    siginfo_t info = {.si_pid = 0};
    /* It stays a zombie until launcher_end: its group keeps its number. */
    if (!launcher->ended &&
        waitid(P_PID, (id_t)launcher->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == launcher->pid) {
        launcher->ended = true;
        launcher->exited = info.si_code == CLD_EXITED;
        launcher->status = info.si_status;
    }
    return launcher->ended;
}

static bool ends_within(struct launcher *launcher, double seconds)
{
    const struct timespec moment = {.tv_nsec = 20000000L};
    const double end = clock_seconds() + seconds;
    while (!launcher_has_ended(launcher) && clock_seconds() < end)
        nanosleep(&moment, NULL);
    return launcher->ended;
}

void launcher_ask_to_end(struct launcher *launcher)
{
    if (launcher_has_ended(launcher))
        return;
    kill(-launcher->pid, SIGTERM);
    kill(-launcher->pid, SIGCONT);
}

void launcher_end(struct launcher *launcher, double polite_s)
{
    close_all((int[]){launcher->input, launcher->output, launcher->errors}, 3);
    launcher->input = launcher->output = launcher->errors = -1;
    launcher_ask_to_end(launcher);
    (void)ends_within(launcher, polite_s);
    /* What it has started here, and what is left of itself. */
    kill(-launcher->pid, SIGKILL);
    while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}
