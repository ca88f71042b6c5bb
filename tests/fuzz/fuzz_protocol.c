/* SPDX-License-Identifier: MIT */
/*
 * What a viewer may send: the bytes go to a running engine (with scripted runs, fake_run.c) over
 * its socket, and a request after them must be answered, unless the engine closed the connection
 * or was told to end. A new engine takes over now and then, so that runs do not pile up.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/fetch/fetch.h"
#include "engine/server/server.h"
#include "system/local_socket.h"
#include "tests/fuzz/fuzz.h"

#define PATIENCE          30.0
#define INPUTS_PER_ENGINE 64

static const char probe[] = "\n{\"jsonrpc\":\"2.0\",\"id\":\"the probe\",\"method\":\"status\"}\n";
static const char answer[] = "\"id\":\"the probe\"";
static const char the_end[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\",\"params\":{\"now\":true}}\n";

/* The engine that runs. */
static pthread_t thread;
static bool running;
static int inputs;

/* Nothing is fetched, whatever a viewer asks for. */
bool fetch_dataset(const char *name, const char *data_dir, const char *from, fetch_report *report,
                   void *context, struct error *err)
{
    (void)data_dir, (void)from, (void)report, (void)context;
    return error_set(err, ERROR_FAILED, "%s: no network here", name);
}

static void *serve(void *context)
{
    struct server_options options = {
        .log_fd = -1, .version = "test", .private_fd = -1, .signal_fd = -1};
    struct error err = ERROR_INIT;
    enum server_end end;
    (void)context;
    FUZZ_CHECK(server_run(&options, &end, &err) && end == SERVER_ENDED);
    return NULL;
}

/* -1: nobody listens. */
static int reach(void)
{
    struct error err = ERROR_INIT;
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(fd >= 0 && local_socket_address(&address, &err));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void begin(void)
{
    int fd;
    setenv("XDG_RUNTIME_DIR", fuzz_folder(), 1);
    setenv("HOME", fuzz_folder(), 1);
    setenv("DPARTUI_NVML", "none", 1);
    FUZZ_CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
    running = true;
    inputs = 0;
    for (double start = clock_seconds(); (fd = reach()) < 0; usleep(500))
        FUZZ_CHECK(clock_seconds() - start < PATIENCE);
    close(fd);
}

/* Wait for an answer with these words; false: the connection was closed without it. */
static bool hears(int fd, const char *words)
{
    struct text heard = TEXT_INIT;
    double start = clock_seconds();
    bool found = false;
    for (;;) {
        char bytes[16384];
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        FUZZ_CHECK(clock_seconds() - start < PATIENCE);
        if (poll(&wait, 1, 1000) <= 0)
            continue;
        ssize_t got = recv(fd, bytes, sizeof bytes, 0);
        if (got <= 0)
            break;
        text_append(&heard, bytes, (size_t)got);
        found = memmem(heard.data, heard.length, words, strlen(words));
        if (found)
            break;
        if (heard.length > strlen(words))
            text_consume(&heard, heard.length - strlen(words));
    }
    text_free(&heard);
    return found;
}

/* False: the engine has had enough of this connection. */
static bool tell(int fd, const void *bytes, size_t size)
{
    for (const char *next = bytes; size;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN | POLLOUT};
        char ignored[16384];
        FUZZ_CHECK(poll(&wait, 1, (int)PATIENCE * 1000) > 0);
        if (wait.revents & POLLIN && recv(fd, ignored, sizeof ignored, MSG_DONTWAIT) == 0)
            return false;
        ssize_t put = send(fd, next, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put < 0 && errno != EAGAIN)
            return false;
        if (put > 0) {
            next += put;
            size -= (size_t)put;
        }
    }
    return true;
}

/* Drop the engine, if it was told to end; end it when it is time to, or has a run to train. */
static void change_engines(bool trains)
{
    int fd = reach();
    bool over = fd < 0 || (tell(fd, probe, sizeof probe - 1) && !hears(fd, answer));
    if (!over && (trains || ++inputs == INPUTS_PER_ENGINE)) {
        tell(fd, the_end, sizeof the_end - 1);
        over = true;
    }
    if (fd >= 0)
        close(fd);
    if (over) {
        pthread_join(thread, NULL);
        running = false;
    }
}

static void end(void)
{
    int fd = running ? reach() : -1;
    if (fd >= 0) {
        tell(fd, the_end, sizeof the_end - 1);
        close(fd);
        pthread_join(thread, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool first = true;
    if (first) {
        fuzz_folder();
        FUZZ_CHECK(atexit(end) == 0); /* before the folder goes */
    }
    first = false;
    if (!running)
        begin();
    int fd = reach();
    FUZZ_CHECK(fd >= 0);
    if (tell(fd, data, size) && tell(fd, probe, sizeof probe - 1))
        hears(fd, answer);
    close(fd);
    change_engines(memmem(data, size, "submit", strlen("submit")));
    return 0;
}
