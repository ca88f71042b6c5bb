/* SPDX-License-Identifier: MIT */
#include "client/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "system/affinity.h"
#include "system/signals.h"

/* engine.log is moved to engine.log.1 before a start that would find it longer than this. */
#define LOG_LIMIT 262144

static const char engine_program[] = "dpartui-engine";

/* Everything the child needs, made before fork(): between fork and exec of a program that may have
 * threads only async-signal-safe calls are allowed. */
struct launch {
    char *path;
    char *argv[4];
    char **environment;
    int log_fd;  /* background: what becomes stderr; else -1 */
    int pass_fd; /* private: the socket to hand down; else -1 */
    int report[2];
};

/*
 * OpenMP's variables would pin all devices to the same cores (see leave_openmp_settings there). The
 * data folder goes with each request: an engine that outlives this terminal must not keep the one
 * that happened to be set when it was started.
 */
static bool is_left_out(const char *entry)
{
    static const char *const names[] = {"OMP_PROC_BIND=", "OMP_PLACES=", "GOMP_CPU_AFFINITY=",
                                        "OMP_NUM_THREADS=", "DPARTUI_DATA_DIR="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* A copy of the pointers of `environ` (the strings are shared) as the engine wants it. */
static char **engine_environment(struct error *err)
{
    static char passive[] = "OMP_WAIT_POLICY=passive";
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    if (!copy) {
        error_memory(err, "environment");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_left_out(environ[i]))
            copy[kept++] = environ[i];
    if (!getenv("OMP_WAIT_POLICY"))
        copy[kept] = passive;
    return copy;
}

static void launch_free(struct launch *launch)
{
    free(launch->path);
    free(launch->environment);
    if (launch->log_fd >= 0)
        close(launch->log_fd);
    for (int i = 0; i < 2; i++)
        if (launch->report[i] >= 0)
            close(launch->report[i]);
}

/* An engine without a CPU would end at once, with its reason in the log. */
static bool check_cpus(struct error *err)
{
    int *cpus, count;
    if (!affinity_cpus(&cpus, &count, err))
        return error_prefix(err, "cannot start %s", engine_program);
    free(cpus);
    return true;
}

static bool launch_init(struct launch *launch, struct error *err)
{
    *launch = (struct launch){.log_fd = -1, .pass_fd = -1, .report = {-1, -1}};
    if (!check_cpus(err))
        return false;
    launch->path = paths_sibling_program(engine_program, err);
    if (!launch->path)
        return false;
    launch->argv[0] = launch->path;
    launch->environment = engine_environment(err);
    if (!launch->environment)
        return false;
    if (pipe2(launch->report, O_CLOEXEC) != 0)
        return error_errno(err, "cannot make a pipe to start %s", engine_program);
    return true;
}

static void close_on_exec_from(int first)
{
#ifdef SYS_close_range
    const unsigned flag_cloexec = 1U << 2; /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */
    if (syscall(SYS_close_range, (unsigned)first, ~0U, flag_cloexec) == 0)
        return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd < (limit > 0 && limit < 4096 ? limit : 4096); fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* In the child: become the engine, or send errno through the report pipe. */
static void exec_engine(struct launch *launch)
{
    signals_reset();
    if (launch->log_fd >= 0) {
        int null = open("/dev/null", O_RDWR);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(launch->log_fd, 2) < 0 ||
            chdir("/") != 0)
            goto failed;
    }
    close_on_exec_from(3);
    if (launch->pass_fd >= 0 && fcntl(launch->pass_fd, F_SETFD, 0) != 0)
        goto failed;
    environ = launch->environment;
    execvp(launch->path, launch->argv);
failed:;
    int number = errno;
    ssize_t put = write(launch->report[1], &number, sizeof number);
    _exit(put == sizeof number ? 127 : 126);
}

/* The pipe closes when exec succeeded, after minus the process number if there was somebody to tell
 * it. */
static bool read_report(struct launch *launch, pid_t *pid, struct error *err)
{
    int number = 0;
    ssize_t got;
    close(launch->report[1]);
    launch->report[1] = -1;
    *pid = 0;
    do {
        got = read(launch->report[0], &number, sizeof number);
        if (got == sizeof number && number < 0)
            *pid = -number;
    } while ((got < 0 && errno == EINTR) || (got == sizeof number && number < 0));
    if (got == 0)
        return true;
    if (got == sizeof number)
        errno = number;
    return error_errno(err, "cannot start %s (install it beside dpartui or in PATH)", launch->path);
}

static void reap(pid_t child)
{
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* The state home; without one that can be written (no HOME, a read-only one), the engine's private
 * directory. */
static char *log_folder(struct error *err)
{
    struct error ignored = ERROR_INIT;
    char *directory = paths_state_home(&ignored);
    if (directory && make_directories(directory, 0700, &ignored) && access(directory, W_OK) == 0)
        return directory;
    free(directory);
    return paths_runtime_dir(err);
}

char *spawn_log_path(struct error *err)
{
    return path_below(log_folder(err), "engine.log", err);
}

static bool open_log(int *fd, struct error *err)
{
    char *path = spawn_log_path(err);
    struct stat info;
    bool ok = path != NULL;
    if (ok && stat(path, &info) == 0 && info.st_size > LOG_LIMIT) {
        char *old = text_format("%s.1", path);
        if (!old || rename(path, old) != 0)
            unlink(path);
        free(old);
    }
    if (ok) {
        *fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*fd < 0)
            ok = error_errno(err, "%s: cannot open the engine's log", path);
    }
    free(path);
    return ok;
}

char *spawn_log_end(void)
{
    char text[1000];
    struct error ignored = ERROR_INIT;
    char *path = spawn_log_path(&ignored);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    free(path);
    if (fd < 0)
        return NULL;
    const off_t length = lseek(fd, 0, SEEK_END), most = sizeof text - 1;
    ssize_t got = pread(fd, text, (size_t)most, length > most ? length - most : 0);
    close(fd);
    while (got > 0 && text[got - 1] == '\n')
        got--;
    if (got <= 0)
        return NULL;
    text[got] = '\0';
    const char *before = strrchr(text, '\n');
    return strdup(before ? before + 1 : text);
}

bool spawn_background_engine(pid_t *engine_pid, struct error *err)
{
    struct launch launch;
    *engine_pid = 0;
    bool ok = launch_init(&launch, err) && open_log(&launch.log_fd, err);
    if (ok) {
        pid_t middle = fork();
        if (middle < 0)
            ok = error_errno(err, "cannot start %s", engine_program);
        if (middle == 0) {
            /* The session's leader leaves at once: its child belongs to init, is nobody's zombie
             * and can never acquire a controlling terminal. */
            setsid();
            pid_t engine = fork();
            if (engine == 0)
                exec_engine(&launch);
            int number = engine < 0 ? errno : -(int)engine;
            _exit(write(launch.report[1], &number, sizeof number) < 0 ? 126 : 0);
        }
        if (middle > 0) {
            ok = read_report(&launch, engine_pid, err);
            reap(middle);
        }
    }
    launch_free(&launch);
    return ok;
}

bool spawn_private_engine(int fd, pid_t *child, struct error *err)
{
    struct launch launch;
    char option[] = "--private";
    char number[16];
    bool ok = launch_init(&launch, err);
    if (ok) {
        snprintf(number, sizeof number, "%d", fd);
        launch.argv[1] = option;
        launch.argv[2] = number;
        launch.pass_fd = fd;
        pid_t pid = fork();
        if (pid < 0)
            ok = error_errno(err, "cannot start %s", engine_program);
        if (pid == 0) {
            setsid();
            exec_engine(&launch);
        }
        if (pid > 0) {
            pid_t ignored;
            ok = read_report(&launch, &ignored, err);
            if (ok)
                *child = pid;
            else
                reap(pid);
        }
    }
    launch_free(&launch);
    return ok;
}
