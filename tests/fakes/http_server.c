/* SPDX-License-Identifier: MIT */
#include "tests/fakes/http_server.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support.h"

/* A client that went away is not the server's trouble. */
static void send_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t put = send(fd, data, length, MSG_NOSIGNAL);
        if (put <= 0)
            return;
        data += put;
        length -= (size_t)put;
    }
}

static void send_text(int fd, char *text)
{
    send_all(fd, text, strlen(text));
    free(text);
}

/* Read up to the empty line after the header. */
static bool read_request(int fd, char *request, size_t size)
{
    size_t have = 0;
    while (have + 1 < size) {
        ssize_t got = recv(fd, request + have, size - 1 - have, 0);
        if (got <= 0)
            return false;
        have += (size_t)got;
        request[have] = '\0';
        if (strstr(request, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void send_body(struct http_server *server, int fd, const char *data, long start, long length)
{
    char *size =
        server->no_length ? format("%s", "") : format("Content-Length: %ld\r\n", length - start);
    if (start)
        send_text(fd, format("HTTP/1.1 206 Partial Content\r\nConnection: close\r\n%s"
                             "Content-Range: bytes %ld-%ld/%ld\r\n\r\n",
                             size, start, length - 1, length));
    else
        send_text(fd, format("HTTP/1.1 200 OK\r\nConnection: close\r\n%s\r\n", size));
    free(size);
    long sent = length - start;
    if (server->breaks > 0) {
        server->breaks--;
        sent = sent < server->break_after ? sent : server->break_after;
        send_all(fd, data + start, (size_t)sent);
        while (server->stall && !server->stopping)
            poll(NULL, 0, 10);
        return;
    }
    send_all(fd, data + start, (size_t)sent);
}

static void answer(struct http_server *server, int fd, const char *request)
{
    char name[128], *data = NULL;
    size_t length = 0;
    struct error err = ERROR_INIT;
    if (sscanf(request, "GET /moved/%127[^ /]", name) == 1) {
        send_text(fd, format("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
                             "Location: %s%s\r\n\r\n",
                             server->redirect, name));
        return;
    }
    if (server->unavailable > 0) {
        server->unavailable--;
        send_text(fd,
                  format("HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
        return;
    }
    char *path =
        sscanf(request, "GET /%127[^ /]", name) == 1 ? format("%s/%s", server->folder, name) : NULL;
    if (!path || !file_read(path, 1 << 26, &data, &length, &err)) {
        free(path);
        send_text(fd, format("HTTP/1.1 404 Not Found\r\nConnection: close\r\n"
                             "Content-Length: 6\r\n\r\nnothin"));
        return;
    }
    free(path);
    const char *range = strstr(request, "Range: bytes=");
    long start = range && !server->no_ranges ? atol(range + strlen("Range: bytes=")) : 0;
    server->last_start = start;
    if (start && start >= (long)length)
        send_text(fd, format("HTTP/1.1 416 Range Not Satisfiable\r\nConnection: close\r\n"
                             "Content-Length: 0\r\n\r\n"));
    else
        send_body(server, fd, data, start, (long)length);
    free(data);
}

static void *serve(void *context)
{
    struct http_server *server = context;
    char request[4096];
    while (!server->stopping) {
        struct pollfd waiting = {.fd = server->listener, .events = POLLIN};
        if (poll(&waiting, 1, 20) <= 0)
            continue;
        int fd = accept(server->listener, NULL, NULL);
        if (fd < 0)
            continue;
        if (read_request(fd, request, sizeof request)) {
            server->requests++;
            answer(server, fd, request);
        }
        close(fd);
    }
    return NULL;
}

void http_server_start(struct http_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(server->listener, 0);
    ck_assert_int_eq(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(server->listener, 8), 0);
    ck_assert_int_eq(getsockname(server->listener, (struct sockaddr *)&address, &length), 0);
    server->port = ntohs(address.sin_port);
    ck_assert_int_eq(pthread_create(&server->thread, NULL, serve, server), 0);
}

void http_server_stop(struct http_server *server)
{
    server->stopping = true;
    ck_assert_int_eq(pthread_join(server->thread, NULL), 0);
    close(server->listener);
}
