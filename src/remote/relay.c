/* SPDX-License-Identifier: MIT */
#include "remote/relay.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

/* Once the viewer has ended: for the engine to answer what it was still asked. */
#define LAST_ANSWERS_S 2.0

/* One direction. */
struct stream {
    int from, to;
    bool ended; /* nothing more comes from there */
    size_t begin, end;
    char bytes[65536];
};

/*
 * Standard output may be a pipe, a socket or a terminal, and shared with other processes, so that
 * it is not made non-blocking: a pipe that poll() calls writable takes PIPE_BUF bytes.
 */
static ssize_t put(int fd, const char *bytes, size_t count)
{
    ssize_t sent = send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0 || errno != ENOTSOCK)
        return sent;
    return write(fd, bytes, count < PIPE_BUF ? count : PIPE_BUF);
}

static bool is_over(int number)
{
    return number != EINTR && number != EAGAIN && number != EWOULDBLOCK;
}

/* False: the reader is gone. */
static bool write_on(struct stream *stream)
{
    ssize_t sent = put(stream->to, stream->bytes + stream->begin, stream->end - stream->begin);
    if (sent < 0)
        return !is_over(errno);
    stream->begin += (size_t)sent;
    if (stream->begin == stream->end)
        stream->begin = stream->end = 0;
    return true;
}

static void read_on(struct stream *stream)
{
    ssize_t got = read(stream->from, stream->bytes, sizeof stream->bytes);
    if (got > 0)
        stream->end = (size_t)got;
    else if (got == 0 || is_over(errno))
        stream->ended = true;
}

/* For poll(): wait for what `stream` can do next. */
static void wait_for(const struct stream *stream, struct pollfd *from, struct pollfd *to)
{
    const bool full = stream->begin < stream->end;
    *from = (struct pollfd){.fd = full || stream->ended ? -1 : stream->from, .events = POLLIN};
    *to = (struct pollfd){.fd = full || !stream->ended ? stream->to : -1,
                          .events = full ? POLLOUT : 0};
}

/* False: nobody reads what is written any more. */
static bool step(struct stream *stream, const struct pollfd *from, const struct pollfd *to)
{
    if (to->revents & (POLLERR | POLLNVAL))
        return false;
    if ((to->revents & (POLLOUT | POLLHUP)) && stream->begin < stream->end && !write_on(stream))
        return false;
    if (from->revents)
        read_on(stream);
    return true;
}

static bool join(struct stream *in, struct stream *out, struct error *err)
{
    double deadline = INFINITY;
    while (!out->ended || out->begin < out->end) {
        struct pollfd fds[4];
        wait_for(in, &fds[0], &fds[1]);
        wait_for(out, &fds[2], &fds[3]);
        if (in->ended && in->begin == in->end && isinf(deadline)) {
            shutdown(in->to, SHUT_WR);
            deadline = clock_seconds() + LAST_ANSWERS_S;
        }
        double left = deadline - clock_seconds();
        if (left <= 0)
            return true;
        if (poll(fds, 4, isinf(left) ? -1 : (int)ceil(left * 1000)) < 0) {
            if (errno != EINTR)
                return error_errno(err, "cannot wait for viewer and engine");
            continue;
        }
        /* An engine that takes no more may still have said why. */
        if (!step(in, &fds[0], &fds[1])) {
            in->ended = true;
            in->begin = in->end = 0;
        }
        if (!step(out, &fds[2], &fds[3]))
            return true;
    }
    return true;
}

bool relay_run(int viewer_in, int viewer_out, int engine, struct error *err)
{
    struct stream in = {.from = viewer_in, .to = engine};
    struct stream out = {.from = engine, .to = viewer_out};
    return join(&in, &out, err);
}
