/* SPDX-License-Identifier: MIT */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "store/update.h"
#include "system/process.h"

/* How often, a fiftieth of a second apart, a lock is tried; and one that is held only while the
 * store is brought up to date, since the last change of how far that is. */
#define LOCK_TRIES   10
#define UPDATE_TRIES 6000
/* The lock file always has this many bytes, so that it can be read while it is written. */
#define SIGN_BYTES 256

static const char updating[] = "brings it up to date:", listens[] = "listens on";

static void write_sign(int fd, const char *what)
{
    char text[SIGN_BYTES + 1];
    snprintf(text, sizeof text, "%-*.*s\n", SIGN_BYTES - 1, SIGN_BYTES - 1, what);
    /* Only for messages and for who waits: a full disk is no reason to fail here. */
    if (pwrite(fd, text, SIGN_BYTES, 0) != SIGN_BYTES)
        errno = 0;
}

/* The process that has the lock; *percent: how far bringing the store up to date is, -1 unless it
 * is for that.
 */
static long holder(int fd, int *percent)
{
    char text[SIGN_BYTES + 1] = "";
    ssize_t got = pread(fd, text, SIGN_BYTES, 0);
    const char *found = got > 0 ? strstr(text, updating) : NULL;
    *percent = found ? (int)strtol(found + sizeof updating - 1, NULL, 10) : -1;
    return got > 0 ? strtol(text, NULL, 10) : 0;
}

static bool try_lock(int fd, const struct store_progress *progress)
{
    int percent, shown = -1;
    bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    /* A reader that looks for a writer has it for a moment, too. */
    for (int i = 0;
         !locked && errno == EWOULDBLOCK &&
         (i < LOCK_TRIES || (i < UPDATE_TRIES && holder(fd, &percent) > 0 && percent >= 0));
         i++) {
        if (holder(fd, &percent) > 0 && percent > shown) {
            shown = percent;
            i = 0;
            if (progress && percent < 100)
                progress->show(progress->context, percent);
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000L}, NULL);
        locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    if (progress && locked && shown >= 0)
        progress->show(progress->context, 100);
    return locked;
}

void store_lock_sign(int fd, int percent)
{
    char what[SIGN_BYTES];
    if (percent >= 0)
        snprintf(what, sizeof what, "%ld %s %d %%", (long)getpid(), updating, percent);
    else
        snprintf(what, sizeof what, "%ld", (long)getpid());
    write_sign(fd, what);
}

static int open_lock(const char *store, int flags)
{
    char *path = text_format("%s.lock", store);
    const int fd = path ? open(path, flags | O_CLOEXEC | O_NOFOLLOW) : -1;
    free(path);
    return fd;
}

void store_lock_say_socket(const char *store, const char *socket)
{
    char what[SIGN_BYTES], host[HOST_NAME_MAX + 1] = "";
    const int fd = open_lock(store, O_WRONLY);
    if (fd < 0)
        return;
    (void)gethostname(host, sizeof host - 1);
    snprintf(what, sizeof what, "%ld %s %s %s", (long)getpid(), listens, host, socket);
    write_sign(fd, what);
    close(fd);
}

/* `place` is followed by the blanks of the file. */
static bool is_same_place(char *place, const char *socket)
{
    for (size_t length = strlen(place); length > 0 && place[length - 1] == ' ';)
        place[--length] = '\0';
    return strcmp(place, socket) == 0;
}

bool store_check_engine(const char *store, const char *socket, bool *ends, struct error *err)
{
    char text[SIGN_BYTES + 1] = "", host[HOST_NAME_MAX + 1] = "", theirs[SIGN_BYTES] = "",
                           place[SIGN_BYTES] = "";
    long pid = 0;
    const int fd = open_lock(store, O_RDONLY);
    const bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
                        pread(fd, text, SIGN_BYTES, 0) > 0;
    if (fd >= 0)
        close(fd);
    (void)gethostname(host, sizeof host - 1);
    if (!locked || sscanf(text, "%ld listens on %255s %255[^\n]", &pid, theirs, place) != 3 ||
        strcmp(theirs, host) != 0)
        return true;
    const bool same = is_same_place(place, socket);
    if (ends)
        *ends = process_has_ended((pid_t)pid);
    if (same && ends)
        return error_set(err, ERROR_USAGE,
                         "%s: another engine of yours, process %ld, keeps its runs there; its "
                         "socket was removed, and will be there again in a moment: try again",
                         store, pid);
    return same || error_set(err, ERROR_USAGE,
                             "%s: another engine of yours, process %ld, keeps its runs there; it "
                             "listens on %s: stop it, or set XDG_RUNTIME_DIR as it was for it",
                             store, pid, place);
}

bool store_lock(const char *store, int *fd, struct error *err)
{
    return store_lock_showing(store, NULL, fd, err);
}

bool store_lock_showing(const char *store, const struct store_progress *progress, int *fd,
                        struct error *err)
{
    int percent;
    char *path = text_format("%s.lock", store);
    if (!path)
        return error_memory(err, store);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = *fd >= 0 || error_errno(err, "%s: cannot be made", path);
    free(path);
    if (!ok)
        return false;
    if (!try_lock(*fd, progress)) {
        error_set(err, ERROR_FAILED, "%s: another engine keeps its runs there (pid %ld)", store,
                  holder(*fd, &percent));
        close(*fd);
        *fd = -1;
        return false;
    }
    store_lock_sign(*fd, -1);
    return true;
}

bool store_is_locked(const char *store)
{
    const int fd = open_lock(store, O_RDONLY);
    bool has = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return has;
}
