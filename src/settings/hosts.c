/* SPDX-License-Identifier: MIT */
#include "settings/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "remote/host.h"

void settings_free_hosts(struct settings *settings)
{
    for (char **host = settings->hosts; host && *host; host++)
        free(*host);
    free(settings->hosts);
    settings->hosts = NULL;
}

static bool take_ssh(struct settings *settings, const config_setting_t *member, struct error *err)
{
    const char *value = config_setting_get_string(member);
    if (!value || !value[strspn(value, " \t")])
        return error_set(err, ERROR_USAGE, "wants a command in quotes, such as \"ssh\"");
    char *copy = strdup(value);
    free(settings->ssh);
    settings->ssh = copy;
    return copy || error_memory(err, "configuration");
}

/* hosts = ( "user@gpu1", "gpu2" ); a later file's list takes the place of an earlier one's. */
static bool take_hosts(struct settings *settings, const config_setting_t *member, struct error *err)
{
    const int count = config_setting_length(member);
    if (!config_setting_is_list(member) && !config_setting_is_array(member))
        return error_set(err, ERROR_USAGE, "wants a list: hosts = ( \"user@gpu1\", \"gpu2\" );");
    if (count > SETTINGS_HOSTS_MOST)
        return error_set(err, ERROR_USAGE, "has %d hosts; %d is the most", count,
                         SETTINGS_HOSTS_MOST);
    settings_free_hosts(settings);
    settings->hosts = calloc((size_t)count + 1, sizeof *settings->hosts);
    if (!settings->hosts)
        return error_memory(err, "configuration");
    for (int i = 0; i < count; i++) {
        const char *host = config_setting_get_string_elem(member, i);
        if (!host)
            return error_set(err, ERROR_USAGE, "wants names in quotes, such as \"user@gpu1\"");
        if (!remote_check(host, err))
            return false;
        settings->hosts[i] = strdup(host);
        if (!settings->hosts[i])
            return error_memory(err, "configuration");
    }
    return true;
}

bool settings_take_hosts(struct settings *settings, const config_setting_t *member, bool *known,
                         struct error *err)
{
    const char *name = config_setting_name(member);
    const bool is_ssh = strcmp(name, "ssh") == 0;
    *known = is_ssh || strcmp(name, "hosts") == 0;
    if (!*known)
        return true;
    bool ok = is_ssh ? take_ssh(settings, member, err) : take_hosts(settings, member, err);
    return ok || error_prefix(err, "%s", name);
}
