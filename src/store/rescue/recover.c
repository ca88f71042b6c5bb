/* SPDX-License-Identifier: MIT */
#include "store/rescue/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

#define SHELL "sqlite3"
/* With the table of pages that SHELL's library may lack (dbpage.c). */
#define MODULE "dpartui-dbpage.so"

/* The exit status of what could not become SHELL. */
#define NO_SHELL 127

/* What the shells read and write: -1 for /dev/null. */
struct streams {
    int in, out, messages;
};

/* In the child: descriptor `as` becomes `fd`, or /dev/null. */
static bool redirect(int fd, int as)
{
    int from = fd >= 0 ? fd : open("/dev/null", O_RDWR);
    return from >= 0 && dup2(from, as) == as;
}

static bool start(const char *const *arguments, const struct streams *streams, pid_t *child,
                  struct error *err)
{
    *child = fork();
    if (*child < 0)
        return error_errno(err, "cannot start " SHELL);
    if (*child > 0)
        return true;
    if (redirect(streams->in, STDIN_FILENO) && redirect(streams->out, STDOUT_FILENO) &&
        redirect(streams->messages, STDERR_FILENO))
        execvp(SHELL, (char *const *)arguments);
    _exit(NO_SHELL);
}

/* The exit status; -1: ended by a signal. */
static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Does the shell have the table of pages by itself? */
static bool has_pages(bool *has, struct error *err)
{
    const char *const arguments[] = {SHELL,    "-init",    "/dev/null",
                                     "-batch", ":memory:", "SELECT 1 FROM sqlite_dbpage LIMIT 1",
                                     NULL};
    pid_t child;
    if (!start(arguments, &(struct streams){-1, -1, -1}, &child, err))
        return false;
    int status = wait_for(child);
    *has = status == 0;
    return status != NO_SHELL || error_set(err, ERROR_FAILED,
                                           "a damaged store is read by the program " SHELL
                                           ", which is not installed: apt install sqlite3");
}

/* The first line of what the shells had to say, or "". */
static void first_message(int messages, char *text, size_t size)
{
    ssize_t got = pread(messages, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

/* One shell writes the database as SQL, the other makes a database of it. */
static bool pipe_shells(const char *const *reader, const char *const *writer, int messages,
                        struct error *err)
{
    int ends[2];
    pid_t from = -1, to = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_errno(err, "cannot make a pipe for " SHELL);
    bool ok = start(reader, &(struct streams){-1, ends[1], messages}, &from, err) &&
              start(writer, &(struct streams){ends[0], -1, messages}, &to, err);
    close(ends[0]);
    close(ends[1]);
    int read = from > 0 ? wait_for(from) : -1;
    /* What it says is of rows that contradict each other, of which there may be some. */
    int written = to > 0 ? wait_for(to) : -1;
    if (ok && (read != 0 || written < 0)) {
        char text[200];
        first_message(messages, text, sizeof text);
        ok = error_set(err, ERROR_FAILED, "the pages cannot be read: " SHELL ": %s",
                       *text ? text : "it ended early");
    }
    return ok;
}

static bool run_shells(const char *copy, const char *recovered, int messages, struct error *err)
{
    bool own;
    if (!has_pages(&own, err))
        return false;
    char *module = own ? NULL : paths_own_file(MODULE, err);
    char *load = module ? text_format(".load \"%s\"", module) : NULL;
    if (!own && !load) {
        free(module);
        return err->kind != ERROR_NONE ? false : error_memory(err, MODULE);
    }
    const char *const reader[] = {SHELL,       "-init",
                                  "/dev/null", "-batch",
                                  "-cmd",      own ? ".bail on" : load,
                                  copy,        ".recover --ignore-freelist",
                                  NULL};
    /* -safe: what a hostile file has in the place of SQL may not start programs. */
    const char *const writer[] = {SHELL, "-init", "/dev/null", "-batch", "-safe", recovered, NULL};
    bool ok = pipe_shells(reader, writer, messages, err);
    free(load);
    free(module);
    return ok;
}

/* A missing file is copied as none. */
static bool copy_file(const char *from, const char *to, struct error *err)
{
    char buffer[65536];
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0)
        return errno == ENOENT || error_errno(err, "%s: cannot be read", from);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = out >= 0 || error_errno(err, "%s: cannot be made", to);
    ssize_t got = 1;
    while (ok && got != 0) {
        got = read(in, buffer, sizeof buffer);
        if (got < 0)
            ok = errno == EINTR || error_errno(err, "%s: cannot be read", from);
        else
            ok = write_fully(out, buffer, (size_t)got) ||
                 error_errno(err, "%s: cannot be written", to);
    }
    if (out >= 0)
        close(out);
    close(in);
    return ok;
}

/* What the log holds goes into the copy, if its header still says that it has one, which is seen
 * when it is read. */
static void take_in_log(const char *copy, const char *log)
{
    sqlite3 *db;
    if (sqlite3_open_v2(copy, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA writable_schema = ON; PRAGMA schema_version", NULL, NULL, NULL) ==
            SQLITE_OK)
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_close(db);
    unlink(log);
}

static bool copy_database(const char *damaged, const char *copy, struct error *err)
{
    char *from = text_format("%s-wal", damaged), *to = text_format("%s-wal", copy);
    bool ok = from && to ? copy_file(damaged, copy, err) && copy_file(from, to, err)
                         : error_memory(err, damaged);
    if (ok)
        take_in_log(copy, to);
    free(from);
    free(to);
    return ok;
}

bool store_recover(const char *damaged, const char *folder, struct error *err)
{
    struct stat info;
    char *copy = path_join(folder, "copy.db"), *recovered = path_join(folder, "recovered.db");
    char *said = path_join(folder, "messages");
    bool ok = (copy && recovered && said) || error_memory(err, damaged);
    int messages = ok ? open(said, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    ok = ok && (messages >= 0 || error_errno(err, "%s: cannot be made", said)) &&
         (stat(damaged, &info) == 0 || error_errno(err, "%s: cannot be read", damaged)) &&
         copy_database(damaged, copy, err) && run_shells(copy, recovered, messages, err);
    if (messages >= 0)
        close(messages);
    free(copy);
    free(recovered);
    free(said);
    return ok;
}
