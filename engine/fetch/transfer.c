/* SPDX-License-Identifier: MIT */
#include "engine/fetch/transfer.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "config.h"
#include "engine/fetch/address.h"
#include "engine/fetch/reporter.h"

/* One transfer over as many attempts as it takes. */
struct transfer {
    const char *url, *path;
    char *shown; /* the address in messages */
    int fd;
    int64_t size;              /* expected */
    int64_t start;             /* where this attempt began */
    int64_t have;              /* bytes in the file */
    double stall_s, last_byte; /* when something arrived last */
    bool stalled;
    struct fetch_reporter *reporter;
    struct error *err; /* filled by a callback that gave up; kind ERROR_NONE otherwise */
    CURL *curl;
    char reason[CURL_ERROR_SIZE];
};

/* How an attempt ended. */
enum outcome {
    OUTCOME_DONE,
    OUTCOME_BROKEN,     /* may be tried again; `reason` says why it broke */
    OUTCOME_START_OVER, /* the server cannot continue in the middle of a file */
    OUTCOME_FAILED,     /* *err is filled */
};

/* libcurl's write callback: anything but `length` ends the transfer. */
static size_t take_bytes(char *data, size_t one, size_t length, void *context)
{
    struct transfer *t = context;
    (void)one; /* always 1 */
    t->last_byte = clock_seconds();
    curl_off_t offered = -1;
    if (t->have == t->start &&
        curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &offered) == CURLE_OK &&
        offered >= 0 && t->start + offered != t->size) {
        error_set(
            t->err, ERROR_FAILED,
            "%s: the server offers %lld bytes, but the file has %lld: use --from with another "
            "mirror",
            t->shown, (long long)(t->start + offered), (long long)t->size);
        return 0;
    }
    if ((int64_t)length > t->size - t->have) {
        error_set(t->err, ERROR_FAILED,
                  "%s: the server sends more than the %lld bytes of the file: use --from with "
                  "another mirror",
                  t->shown, (long long)t->size);
        return 0;
    }
    if (!write_fully(t->fd, data, length)) {
        error_errno(t->err, "%s: cannot write", t->path);
        return 0;
    }
    t->have += (int64_t)length;
    return length;
}

/* libcurl's progress callback, called about once a second even when nothing arrives. */
static int tell_progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up_total,
                         curl_off_t up_now)
{
    struct transfer *t = context;
    (void)total, (void)now, (void)up_total, (void)up_now;
    t->stalled = clock_seconds() - t->last_byte > t->stall_s;
    if (t->stalled)
        return 1;
    return reporter_update(t->reporter, t->have, t->err) ? 0 : 1;
}

static bool set_options(struct transfer *t, const struct fetch_patience *patience)
{
    CURL *c = t->curl;
    bool ok = true;
    ok &= curl_easy_setopt(c, CURLOPT_URL, t->url) == CURLE_OK;
#if CURL_AT_LEAST_VERSION(7, 85, 0)
    ok &= curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https,ftp,file") == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    ok &= curl_easy_setopt(c, CURLOPT_PROTOCOLS,
                           (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS | CURLPROTO_FTP |
                                  CURLPROTO_FILE)) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) ==
          CURLE_OK;
#endif
    ok &= curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_MAXREDIRS, 5L) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, patience->connect_s) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->start) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->reason) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_WRITEDATA, t) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, tell_progress) == CURLE_OK;
    ok &= curl_easy_setopt(c, CURLOPT_XFERINFODATA, t) == CURLE_OK;
    return ok;
}

/* The server's answer was an error status. */
static enum outcome judge_status(struct transfer *t, struct error *err)
{
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 416 && t->start)
        return OUTCOME_START_OVER;
    if (status == 408 || status == 429 || status >= 500)
        return OUTCOME_BROKEN;
    const char *word = status == 404                    ? " (not found)"
                       : status == 401 || status == 403 ? " (access denied)"
                                                        : "";
    error_set(err, ERROR_FAILED, "%s: the server answers %ld%s: use --from with another mirror",
              t->shown, status, word);
    return OUTCOME_FAILED;
}

static enum outcome judge(struct transfer *t, CURLcode code, struct error *err)
{
    if (t->stalled) {
        snprintf(t->reason, sizeof t->reason, "nothing arrived for %g s", t->stall_s);
        return OUTCOME_BROKEN;
    }
    switch (code) {
    case CURLE_OK:
        if (t->have == t->size)
            return OUTCOME_DONE;
        error_set(err, ERROR_FAILED, "%s: only %lld of %lld bytes are there", t->shown,
                  (long long)t->have, (long long)t->size);
        return OUTCOME_FAILED;
    case CURLE_HTTP_RETURNED_ERROR:
        return judge_status(t, err);
    case CURLE_RANGE_ERROR:
    case CURLE_BAD_DOWNLOAD_RESUME:
        if (t->start)
            return OUTCOME_START_OVER;
        break;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return OUTCOME_BROKEN;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
        error_set(err, ERROR_FAILED,
                  "%s: host not found (%s): check the network, or use --from with a mirror",
                  t->shown, t->reason);
        return OUTCOME_FAILED;
    default:
        break;
    }
    error_set(err, ERROR_FAILED, "%s: cannot fetch: %s", t->shown,
              *t->reason ? t->reason : curl_easy_strerror(code));
    return OUTCOME_FAILED;
}

static enum outcome attempt(struct transfer *t, const struct fetch_patience *patience,
                            struct error *err)
{
    t->start = t->have;
    t->reason[0] = '\0';
    t->stalled = false;
    t->stall_s = patience->stall_s;
    t->last_byte = clock_seconds();
    t->err = err;
    err->kind = ERROR_NONE; /* the callbacks' sign that they gave up */
    t->curl = curl_easy_init();
    enum outcome outcome = OUTCOME_FAILED;
    if (!t->curl) {
        error_memory(err, "libcurl");
    } else if (!set_options(t, patience)) {
        error_set(err, ERROR_FAILED, "%s: libcurl cannot be set up for this address", t->shown);
    } else {
        CURLcode code = curl_easy_perform(t->curl);
        if (err->kind == ERROR_NONE)
            outcome = judge(t, code, err);
        if (outcome == OUTCOME_BROKEN && !*t->reason)
            strncat(t->reason, curl_easy_strerror(code), sizeof t->reason - 1);
    }
    curl_easy_cleanup(t->curl);
    return outcome;
}

/* Wait before the next attempt, still listening for a cancel. */
static bool pause_for(struct transfer *t, double seconds, struct error *err)
{
    const struct timespec slice = {.tv_nsec = 20000000};
    for (double end = clock_seconds() + seconds; clock_seconds() < end;) {
        nanosleep(&slice, NULL);
        if (!reporter_update(t->reporter, t->have, err))
            return false;
    }
    return true;
}

static bool set_length(struct transfer *t, int64_t length, struct error *err)
{
    if (ftruncate(t->fd, length) != 0 || lseek(t->fd, length, SEEK_SET) < 0)
        return error_errno(err, "%s: cannot cut to %lld bytes", t->path, (long long)length);
    t->have = length;
    return true;
}

static bool transfer_all(struct transfer *t, const struct fetch_patience *patience, bool *resumed,
                         struct error *err)
{
    int tries = 0;
    for (double pause = patience->pause_s; t->have < t->size; pause *= 2) {
        switch (attempt(t, patience, err)) {
        case OUTCOME_DONE:
            break;
        case OUTCOME_FAILED:
            return false;
        case OUTCOME_START_OVER:
            *resumed = false;
            if (!set_length(t, 0, err))
                return false;
            break;
        case OUTCOME_BROKEN:
            if (++tries >= patience->attempts)
                return error_set(err, ERROR_FAILED,
                                 "%s: gave up after %d attempt%s (%s); the partial file is kept, "
                                 "and the next fetch resumes it",
                                 t->shown, tries, plural(tries), t->reason);
            if (!pause_for(t, pause, err))
                return false;
            break;
        }
    }
    if (fsync(t->fd) != 0)
        return error_errno(err, "%s: cannot sync", t->path);
    return true;
}

static void initialise_curl(void)
{
    /* A failure shows again in curl_easy_init, which tries the same. */
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool transfer_file(const char *url, const char *path, int64_t size,
                   const struct fetch_patience *patience, struct fetch_reporter *reporter,
                   bool *resumed, struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct transfer t = {.url = url, .path = path, .size = size, .reporter = reporter};
    struct stat info;
    pthread_once(&once, initialise_curl);
    t.shown = address_shown(url);
    if (!t.shown)
        return error_memory(err, path);
    t.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (t.fd < 0) {
        free(t.shown);
        return error_errno(err, "%s: cannot create", path);
    }
    bool ok = fstat(t.fd, &info) == 0;
    if (!ok)
        error_errno(err, "%s: cannot stat", path);
    else /* More than the whole file is not the beginning of it. */
        ok = set_length(&t, info.st_size > size ? 0 : info.st_size, err);
    *resumed = t.have > 0;
    ok = ok && reporter_begin(reporter, "download", t.have, size, err) &&
         transfer_all(&t, patience, resumed, err);
    if (close(t.fd) != 0 && ok)
        ok = error_errno(err, "%s: cannot close", path);
    free(t.shown);
    return ok;
}
