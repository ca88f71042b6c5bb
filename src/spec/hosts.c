/* SPDX-License-Identifier: MIT */
#include "spec/hosts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "spec/spec.h"

bool host_name_is_valid(const char *name, size_t length)
{
    if (length == 0 || length >= HOST_NAME || name[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
            return false;
    return true;
}

static int find(const struct host_list *list, const char *name, size_t length)
{
    for (int i = 0; i < list->count; i++)
        if (strlen(list->name[i]) == length && memcmp(list->name[i], name, length) == 0)
            return i;
    return -1;
}

static bool add(struct host_list *list, const char *name, size_t length, struct error *err)
{
    if (!host_name_is_valid(name, length))
        return error_set(err, ERROR_USAGE,
                         "'%.*s' is no name of a host: names have letters, digits, '.', '_' and "
                         "'-', and at most %d of them",
                         (int)(length < 200 ? length : 200), name, HOST_NAME - 1);
    if (list->count == SPEC_MAX_HOSTS)
        return error_set(err, ERROR_USAGE, "there are more than %d hosts", SPEC_MAX_HOSTS);
    char *to = list->name[list->count++];
    memcpy(to, name, length);
    to[length] = '\0';
    return true;
}

bool host_list_parse(const char *text, struct host_list *list, struct error *err)
{
    *list = (struct host_list){0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (find(list, at, length) >= 0)
            return error_set(err, ERROR_USAGE, "hosts '%s': %.*s is named twice", text, (int)length,
                             at);
        if (!add(list, at, length, err))
            return error_prefix(err, "hosts");
        at += length;
        if (*at == '\0')
            return true;
    }
}

char *host_list_text(const struct host_list *list)
{
    struct text text = TEXT_INIT;
    for (int i = 0; i < list->count; i++)
        text_printf(&text, "%s%s", i ? "," : "", list->name[i]);
    return text_take(&text);
}

/* What a line of a hosts file names, if it names a host. */
static bool read_line(char *line, struct host_list *list, struct error *err)
{
    line[strcspn(line, "#")] = '\0';
    const char *name = line + strspn(line, " \t\r\n");
    const size_t length = strcspn(name, " \t\r\n:");
    return length == 0 || find(list, name, length) >= 0 || add(list, name, length, err);
}

bool host_list_read(const char *path, struct host_list *list, struct error *err)
{
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    *list = (struct host_list){0};
    FILE *file = fopen(path, "re");
    if (!file)
        return error_errno(err, "hosts file %s", path);
    for (int number = 1; ok && getline(&line, &size, file) >= 0; number++)
        ok = read_line(line, list, err) || error_prefix(err, "%s:%d", path, number);
    if (ok && ferror(file))
        ok = error_errno(err, "hosts file %s", path);
    free(line);
    fclose(file);
    return ok && (list->count > 0 || error_set(err, ERROR_USAGE, "%s names no hosts", path));
}

bool launcher_check(const char *launcher, struct error *err)
{
    if (!launcher || strcmp(launcher, "mpirun") == 0 || strcmp(launcher, "srun") == 0 ||
        strncmp(launcher, "srun:", 5) == 0)
        return true;
    bool program = false;
    for (const char *at = strchr(launcher, '%'); at; at = strchr(at + 2, '%')) {
        if (!at[1] || !strchr("nhHp%", at[1]))
            return error_set(err, ERROR_USAGE,
                             "launcher '%.200s': after %% only n, h, H, p and %% have a meaning",
                             launcher);
        program |= at[1] == 'p';
    }
    return program ||
           error_set(err, ERROR_USAGE,
                     "launcher '%.200s': %%p, the program to start on each host, is missing",
                     launcher);
}

bool spec_has_hosts(const struct spec *spec)
{
    return spec->hosts || device_list_names_hosts(&spec->devices);
}

/* The hosts that devices name, each in one piece. */
static bool of_devices(const struct device_list *devices, struct host_list *list, struct error *err)
{
    *list = (struct host_list){0};
    for (int i = 0; i < devices->count; i++) {
        const char *host = devices->id[i].host;
        if (!*host)
            return error_set(err, ERROR_USAGE,
                             "devices: name a host for each of them, or for none of them");
        const int place = find(list, host, strlen(host));
        if (place >= 0 && place != list->count - 1)
            return error_set(err, ERROR_USAGE, "devices: list those of %s one after the other",
                             host);
        if (place < 0 && !add(list, host, strlen(host), err))
            return false;
    }
    return true;
}

/* Do both have the same hosts? In the order of the devices, which is that of rows. */
static bool check_devices(const struct host_list *given, const struct host_list *list,
                          struct error *err)
{
    for (int i = 0; i < list->count; i++)
        if (find(given, list->name[i], strlen(list->name[i])) < 0)
            return error_set(err, ERROR_USAGE, "devices: %s is none of the hosts", list->name[i]);
    for (int i = 0; i < given->count; i++)
        if (find(list, given->name[i], strlen(given->name[i])) < 0)
            return error_set(err, ERROR_USAGE, "hosts: no device of %s is listed", given->name[i]);
    return true;
}

bool device_list_names_hosts(const struct device_list *devices)
{
    for (int i = 0; devices->choice == DEVICES_LISTED && i < devices->count; i++)
        if (*devices->id[i].host)
            return true;
    return false;
}

bool spec_hosts(const struct spec *spec, struct host_list *list, struct error *err)
{
    struct host_list given = {0};
    if (spec->hosts && !host_list_parse(spec->hosts, &given, err))
        return false;
    if (!device_list_names_hosts(&spec->devices)) {
        *list = given;
        return true;
    }
    return of_devices(&spec->devices, list, err) &&
           (!spec->hosts || check_devices(&given, list, err));
}

bool spec_spread_devices(struct spec *spec, struct error *err)
{
    struct host_list hosts;
    const struct device_list one = spec->devices;
    if (!spec_hosts(spec, &hosts, err))
        return false;
    if (device_list_names_hosts(&one))
        return true;
    if (one.count * hosts.count > SPEC_MAX_DEVICES)
        return error_set(err, ERROR_USAGE, "%d devices on each of %d hosts are more than %d",
                         one.count, hosts.count, SPEC_MAX_DEVICES);
    for (int h = 0; h < hosts.count; h++)
        for (int i = 0; i < one.count; i++) {
            struct device_id *id = &spec->devices.id[h * one.count + i];
            *id = one.id[i];
            memcpy(id->host, hosts.name[h], HOST_NAME);
        }
    spec->devices.count = one.count * hosts.count;
    return true;
}

/* Those of each host, where all have the same, else 0. */
static int devices_of_each(const struct device_list *devices, const struct host_list *hosts)
{
    const int each = hosts->count > 0 ? devices->count / hosts->count : 0;
    for (int i = 0; i < devices->count; i++)
        if (each * hosts->count != devices->count ||
            devices->id[i].kind != devices->id[i % each].kind ||
            devices->id[i].index != devices->id[i % each].index ||
            strcmp(devices->id[i].host, hosts->name[i / each]) != 0)
            return 0;
    return each;
}

static bool same_hosts(const struct host_list *a, const struct host_list *b)
{
    for (int i = 0; i < a->count; i++)
        if (find(b, a->name[i], strlen(a->name[i])) < 0)
            return false;
    return a->count == b->count;
}

bool spec_move_to_hosts(struct spec *spec, const char *hosts, struct error *err)
{
    struct host_list before, after;
    if (!spec_hosts(spec, &before, err) || !host_list_parse(hosts, &after, err))
        return false;
    if (same_hosts(&before, &after))
        return true;
    if (device_list_names_hosts(&spec->devices)) {
        const int each = devices_of_each(&spec->devices, &before);
        if (each == 0)
            return error_set(err, ERROR_USAGE,
                             "the run's hosts have different devices: give --devices for %s",
                             hosts);
        spec->devices.count = each;
        for (int i = 0; i < each; i++)
            spec->devices.id[i].host[0] = '\0';
        if (spec->thread_count > 0)
            spec->cpu_threads = spec->thread_count = 0;
    }
    char *copy = strdup(hosts);
    if (!copy)
        return error_memory(err, "names of hosts");
    free(spec->hosts);
    spec->hosts = copy;
    return true;
}
