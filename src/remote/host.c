/* SPDX-License-Identifier: MIT */
#include "remote/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"

#define HOST_MOST    255 /* bytes of a name */
#define FIRST_PAUSE  1.0
#define PAUSE_FACTOR 2.0

bool remote_check(const char *host, struct error *err)
{
    if (host[0] == '-')
        return error_set(err, ERROR_USAGE, "host '%.60s': a name does not begin with '-'", host);
    if (!host[0] || strlen(host) > HOST_MOST || strpbrk(host, " \t") || escape_needed(host))
        return error_set(err, ERROR_USAGE,
                         "host '%.60s' is no name that ssh takes, such as gpu1 or user@gpu1", host);
    return true;
}

const char *remote_name(const char *host, char name[REMOTE_NAME_SIZE])
{
    static const char scheme[] = "ssh://";
    const bool address = strncmp(host, scheme, sizeof scheme - 1) == 0;
    const char *begin = address ? host + sizeof scheme - 1 : host, *at = strrchr(begin, '@');
    begin = at ? at + 1 : begin;
    /* An IPv6 address in brackets has colons of its own. */
    size_t length = address && begin[0] != '[' ? strcspn(begin, ":/") : strcspn(begin, "/");
    snprintf(name, REMOTE_NAME_SIZE, "%.*s", (int)length, begin);
    return name;
}

/* Words of a list under way; after one that failed no more are added. */
struct words {
    char **word;
    size_t count;
    bool failed;
};

/* Takes over `word`. */
static void add(struct words *words, char *word)
{
    char **more = word ? realloc(words->word, (words->count + 2) * sizeof *more) : NULL;
    if (!more) {
        free(word);
        words->failed = true;
        return;
    }
    words->word = more;
    words->word[words->count++] = word;
    words->word[words->count] = NULL;
}

static void add_options(struct words *words, enum remote_terminal terminal)
{
    /* A dead line is noticed within 15 seconds, also by ssh's own means. */
    static const char *const settings[] = {"ServerAliveInterval=5", "ServerAliveCountMax=3",
                                           "ConnectTimeout=10", "BatchMode=yes"};
    size_t count = sizeof settings / sizeof *settings - (terminal != REMOTE_SILENT);
    add(words, strdup(terminal == REMOTE_THROUGH ? "-t" : "-T"));
    for (size_t i = 0; i < count; i++) {
        add(words, strdup("-o"));
        add(words, strdup(settings[i]));
    }
}

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-./:,@%+=";
    return word[0] && !word[strspn(word, plain)];
}

/* In single quotes, which shells of all kinds take as they are. */
static char *quoted(const char *word)
{
    struct text text = TEXT_INIT;
    if (is_plain(word))
        return strdup(word);
    text_puts(&text, "'");
    for (; *word; word++)
        if (*word == '\'')
            text_puts(&text, "'\\''");
        else
            text_append(&text, word, 1);
    text_puts(&text, "'");
    return text_take(&text);
}

char **remote_arguments(const struct remote *remote, enum remote_terminal terminal,
                        const char *const *command, struct error *err)
{
    struct words words = {.count = 0};
    const char *at = remote->ssh ? remote->ssh : "ssh";
    for (size_t length; (length = strcspn(at += strspn(at, " \t"), " \t")) > 0; at += length)
        add(&words, strndup(at, length));
    if (words.count == 0 && !words.failed) {
        error_set(err, ERROR_USAGE, "ssh: the configuration names no command");
        return NULL;
    }
    add_options(&words, terminal);
    add(&words, strdup(remote->host));
    for (; *command; command++)
        add(&words, quoted(*command));
    if (!words.failed)
        return words.word;
    remote_arguments_free(words.word);
    error_memory(err, "command line of ssh");
    return NULL;
}

void remote_arguments_free(char **arguments)
{
    for (size_t i = 0; arguments && arguments[i]; i++)
        free(arguments[i]);
    free(arguments);
}

double remote_pause(double before)
{
    double pause = before > 0 ? PAUSE_FACTOR * before : FIRST_PAUSE;
    return pause < REMOTE_PAUSE_MOST ? pause : REMOTE_PAUSE_MOST;
}
