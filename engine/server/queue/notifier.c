/* SPDX-License-Identifier: MIT */
#include "engine/server/queue/notifier.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/text.h"
#include "system/shell.h"

enum {
    WAITING_LIMIT = 100,
    VARIABLES = 4,
    OUTPUT_BYTES = 200,
    LOOK_MS = 20, /* a shell that has ended is seen this late */
    REAP_S = 1,   /* which one that was killed has to end */
};

/* What one command is told. */
struct notice {
    long run;
    char *command;
    char *variables[VARIABLES]; /* "NAME=VALUE"; NULL after the last */
    struct notice *next;
};

struct notifier {
    struct engine_log *log;
    double limit_s;
    pthread_t thread;
    pthread_cond_t wake;
    pthread_mutex_t lock; /* guards the rest */
    struct notice *first;
    int waiting;
    bool leaving;
    double leave_by;
};

static void free_notice(struct notice *notice)
{
    for (int i = 0; i < VARIABLES; i++)
        free(notice->variables[i]);
    free(notice->command);
    free(notice);
}

/* This process's environment, with the notice's variables in place of its own of these names: an
 * array the caller frees; NULL: memory ran out. */
static char **environment_with(const struct notice *notice)
{
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **all = malloc((count + VARIABLES + 1) * sizeof *all);
    if (!all)
        return NULL;
    for (; kept < VARIABLES && notice->variables[kept]; kept++)
        all[kept] = notice->variables[kept];
    static const char *const names[] = {
        "DPARTUI_RUN=", "DPARTUI_STATUS=", "DPARTUI_ACCURACY=", "DPARTUI_TEXT="};
    for (size_t i = 0; i < count; i++) {
        bool own = false;
        for (size_t j = 0; j < VARIABLES; j++)
            own |= strncmp(environ[i], names[j], strlen(names[j])) == 0;
        if (!own)
            all[kept++] = environ[i];
    }
    all[kept] = NULL;
    return all;
}

/* Start it with nothing to read; *output: what it prints. 0 or an errno. */
static int start(const struct notice *notice, int *output, pid_t *pid)
{
    int ends[2], status = 0;
    char **environment = environment_with(notice);
    if (!environment)
        return ENOMEM;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        status = errno;
    } else {
        status = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
        if (!status)
            status =
                shell_start(notice->command, (int[]){nothing, ends[1], ends[1]}, environment, pid);
        close(ends[1]);
        *output = ends[0];
        if (status)
            close(ends[0]);
    }
    if (nothing >= 0)
        close(nothing);
    free(environment);
    return status;
}

/* Keep the beginning of what comes, up to its first line's end. False: nothing more will come. */
static bool take_output(int fd, char text[OUTPUT_BYTES])
{
    char more[OUTPUT_BYTES];
    ssize_t got = read(fd, more, sizeof more);
    if (got <= 0)
        return got < 0 && (errno == EAGAIN || errno == EINTR);
    size_t length = strlen(text);
    if (strchr(text, '\n'))
        return true;
    for (ssize_t i = 0; i < got && length < OUTPUT_BYTES - 1; i++)
        text[length++] = more[i] != '\0' ? more[i] : '?';
    text[length] = '\0';
    return true;
}

/* Is this less than what take_output keeps? */
static bool wants_more(const char text[OUTPUT_BYTES])
{
    return strlen(text) < OUTPUT_BYTES - 1 && !strchr(text, '\n');
}

/* Wait until the shell has ended, not longer than until `end`; false: it has not. It stays a
 * zombie, so that its group keeps its number. What it has left running may write for ever: of that
 * no more is read than is kept. */
static bool ends_before(pid_t pid, int output, double end, char text[OUTPUT_BYTES])
{
    struct pollfd wait = {.fd = output, .events = POLLIN};
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != pid) {
        if (clock_seconds() >= end)
            return false;
        if (poll(&wait, 1, LOOK_MS) > 0 && !take_output(output, text))
            wait.fd = -1;
    }
    while (wait.fd >= 0 && wants_more(text) && poll(&wait, 1, 0) > 0 && take_output(output, text))
        ;
    return true;
}

/* Wait for its status until `end`: a process that hangs in the kernel outlives its SIGKILL. */
static void reap(pid_t pid, double end, int *status)
{
    while (waitpid(pid, status, WNOHANG) == 0 && clock_seconds() < end)
        poll(NULL, 0, LOOK_MS);
}

/* With enough of the command to know it by. */
static void warn(struct engine_log *log, long run, const char *command, const char *what,
                 const char *why)
{
    char shown[81];
    snprintf(shown, sizeof shown, "%s", command);
    utf8_trim(shown);
    engine_log(log, MESSAGE_WARNING, run, "run %ld: notify '%s' %s%s", run, shown, what, why);
}

static void complain(struct notifier *notifier, const struct notice *notice, bool ended, int status,
                     char *output)
{
    struct text text = TEXT_INIT;
    output[strcspn(output, "\n")] = '\0';
    utf8_trim(output);
    if (!ended)
        text_printf(&text, "has not ended within %g s and was killed", notifier->limit_s);
    else if (WIFSIGNALED(status))
        text_printf(&text, "was ended by signal %d", WTERMSIG(status));
    else
        text_printf(&text, "ended with status %d", WEXITSTATUS(status));
    if (*output)
        text_printf(&text, ": %s", output);
    const char *what = text_cstr(&text);
    warn(notifier->log, notice->run, notice->command, what ? what : "failed", "");
    text_free(&text);
}

static void run_command(struct notifier *notifier, const struct notice *notice, double end)
{
    char output[OUTPUT_BYTES] = "";
    int fd = -1, status = 0;
    pid_t pid = 0;
    int failure = start(notice, &fd, &pid);
    if (failure) {
        warn(notifier->log, notice->run, notice->command, "cannot be started: ", strerror(failure));
        return;
    }
    bool ended = ends_before(pid, fd, end, output);
    if (!ended)
        kill(-pid, SIGKILL);
    reap(pid, clock_seconds() + REAP_S, &status);
    close(fd);
    if (!ended || status != 0)
        complain(notifier, notice, ended, status, output);
}

/* With the lock held: the next one, or NULL when the thread is to end. */
static struct notice *take_next(struct notifier *notifier)
{
    while (!notifier->first && !notifier->leaving)
        pthread_cond_wait(&notifier->wake, &notifier->lock);
    struct notice *notice = notifier->first;
    if (!notice || (notifier->leaving && clock_seconds() >= notifier->leave_by))
        return NULL;
    notifier->first = notice->next;
    notifier->waiting--;
    return notice;
}

static void *run_all(void *context)
{
    struct notifier *notifier = context;
    struct notice *notice;
    pthread_mutex_lock(&notifier->lock);
    while ((notice = take_next(notifier))) {
        double end = clock_seconds() + notifier->limit_s;
        if (notifier->leaving && end > notifier->leave_by)
            end = notifier->leave_by;
        pthread_mutex_unlock(&notifier->lock);
        run_command(notifier, notice, end);
        free_notice(notice);
        pthread_mutex_lock(&notifier->lock);
    }
    pthread_mutex_unlock(&notifier->lock);
    return NULL;
}

struct notifier *notifier_start(struct engine_log *log, double limit_s, struct error *err)
{
    struct notifier *notifier = calloc(1, sizeof *notifier);
    if (!notifier) {
        error_memory(err, "notifications");
        return NULL;
    }
    notifier->log = log;
    notifier->limit_s = limit_s;
    pthread_mutex_init(&notifier->lock, NULL);
    pthread_cond_init(&notifier->wake, NULL);
    errno = pthread_create(&notifier->thread, NULL, run_all, notifier);
    if (!errno)
        return notifier;
    error_errno(err, "cannot start the thread that notifies");
    pthread_cond_destroy(&notifier->wake);
    pthread_mutex_destroy(&notifier->lock);
    free(notifier);
    return NULL;
}

void notifier_end(struct notifier *notifier)
{
    if (!notifier)
        return;
    pthread_mutex_lock(&notifier->lock);
    notifier->leaving = true;
    notifier->leave_by = clock_seconds() + notifier->limit_s;
    pthread_cond_signal(&notifier->wake);
    pthread_mutex_unlock(&notifier->lock);
    pthread_join(notifier->thread, NULL);
    for (struct notice *next, *notice = notifier->first; notice; notice = next) {
        next = notice->next;
        warn(notifier->log, notice->run, notice->command, "was left out, as the engine ends", "");
        free_notice(notice);
    }
    pthread_cond_destroy(&notifier->wake);
    pthread_mutex_destroy(&notifier->lock);
    free(notifier);
}

/* The accuracy that the run is judged by. */
static const json_t *accuracy_of(const json_t *event)
{
    const json_t *validation = json_object_get(event, "val_acc");
    return json_is_number(validation) ? validation : json_object_get(event, "test_acc");
}

static struct notice *make_notice(const char *command, long run, const json_t *event,
                                  const char *text)
{
    struct notice *notice = calloc(1, sizeof *notice);
    const json_t *accuracy = accuracy_of(event);
    if (!notice)
        return NULL;
    notice->run = run;
    notice->command = strdup(command);
    notice->variables[0] = text_format("DPARTUI_RUN=%ld", run);
    notice->variables[1] = text_format("DPARTUI_STATUS=%s", member_string(event, "status"));
    notice->variables[2] = text_format("DPARTUI_TEXT=%s", text);
    bool ok =
        notice->command && notice->variables[0] && notice->variables[1] && notice->variables[2];
    if (json_is_number(accuracy)) {
        notice->variables[3] = text_format("DPARTUI_ACCURACY=%.4f", json_number_value(accuracy));
        ok = ok && notice->variables[3];
    }
    if (ok)
        return notice;
    free_notice(notice);
    return NULL;
}

/* With the lock held: behind those that wait; false: too many do. */
static bool append(struct notifier *notifier, struct notice *notice)
{
    struct notice **last = &notifier->first;
    if (notifier->waiting >= WAITING_LIMIT)
        return false;
    while (*last)
        last = &(*last)->next;
    *last = notice;
    notifier->waiting++;
    pthread_cond_signal(&notifier->wake);
    return true;
}

void notifier_post(struct notifier *notifier, const char *command, long run, const json_t *event,
                   const char *text)
{
    if (!command || strcmp(command, "bell") == 0 ||
        strcmp(member_string(event, "status"), "cancelled") == 0)
        return;
    struct notice *notice = make_notice(command, run, event, text);
    pthread_mutex_lock(&notifier->lock);
    bool ok = notice && append(notifier, notice);
    pthread_mutex_unlock(&notifier->lock);
    if (ok)
        return;
    warn(notifier->log, run, command,
         "was left out: ", notice ? "too many wait" : "memory ran out");
    if (notice)
        free_notice(notice);
}
