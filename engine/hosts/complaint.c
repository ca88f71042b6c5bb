/* SPDX-License-Identifier: MIT */
#include "engine/hosts/complaint.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { TELLS_NOTHING, TELLS_SOMETHING, TELLS_REASON, TELLS_HOST };

static bool is_rule(const char *line)
{
    return strspn(line, "-*=") == strlen(line) && *line;
}

/* Whoever has lost a host ends after it. */
static int weight_of(const char *line)
{
    if (!*line || strstr(line, "arning:") || strstr(line, "WARNING:"))
        return TELLS_NOTHING;
    if (strstr(line, "exited on signal") || strstr(line, "srun: error:"))
        return TELLS_HOST;
    return strstr(line, "dpartui-rank:") || strstr(line, "not found") || strstr(line, "ssh: ")
               ? TELLS_REASON
               : TELLS_SOMETHING;
}

static bool has_address(const char *host, const char *address)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char text[NI_MAXHOST];
    bool is = false;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    for (const struct addrinfo *at = found; at && !is; at = at->ai_next)
        is = getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) ==
                 0 &&
             strcmp(text, address) == 0;
    freeaddrinfo(found);
    return is;
}

/* Open MPI ends a process that has lost another one, and names the latter by its address. */
static bool take_peer(struct complaint *complaint, const struct host_list *hosts, const char *line)
{
    char address[256];
    const char *at = strstr(line, "connect() to ");
    if (!at || sscanf(at, "connect() to %255[^ ]", address) != 1)
        return false;
    char *port = strrchr(address, ':');
    if (port)
        *port = '\0';
    for (int h = 0; h < hosts->count && !*complaint->peer; h++)
        if (has_address(hosts->name[h], address))
            snprintf(complaint->peer, sizeof complaint->peer,
                     "%s (rank %d) does not answer any more: %s", hosts->name[h], h, at);
    return *complaint->peer;
}

/* The first of those that tell most, with the rest of its paragraph: mpirun puts each between
 * rules. */
void complaint_take(struct complaint *complaint, const struct host_list *hosts, const char *line)
{
    line += strspn(line, " \t");
    if (is_rule(line)) {
        complaint->continues = false;
        complaint->begins = true;
        return;
    }
    const bool first = complaint->begins;
    const int weight = weight_of(line);
    const size_t length = strlen(complaint->text);
    complaint->begins = false;
    if (!*complaint->crash && strstr(line, "Segmentation fault"))
        snprintf(complaint->crash, sizeof complaint->crash, "%s", line);
    if (take_peer(complaint, hosts, line))
        return;
    if (weight > complaint->weight) {
        snprintf(complaint->text, sizeof complaint->text, "%s", line);
        complaint->weight = weight;
        complaint->continues = first;
    } else if (complaint->continues && *line) {
        snprintf(complaint->text + length, sizeof complaint->text - length, " %s", line);
    }
}

bool complaint_names_host(const struct complaint *complaint)
{
    return complaint->weight == TELLS_HOST || *complaint->peer;
}

bool complaint_say(const struct complaint *complaint, enum error_kind kind, struct error *err)
{
    const enum error_kind own = strstr(complaint->text, "exited on signal") ? ERROR_LOST : kind;
    if (complaint->weight < TELLS_HOST && *complaint->peer)
        return error_set(err, ERROR_LOST, "%s", complaint->peer);
    /* Without the full stop of a sentence. */
    const size_t length = strlen(complaint->text);
    const int shown = (int)length - (length > 0 && complaint->text[length - 1] == '.');
    return shown == 0 ||
           error_set(err, own, "the launcher has ended: %.*s", shown, complaint->text);
}

bool host_is_silent(const char *name, int rank, double seconds, struct error *err)
{
    return error_set(err, ERROR_LOST,
                     "%s (rank %d) has not been heard from for %.0f s: its process hangs, or the "
                     "network is down",
                     name, rank, seconds);
}
