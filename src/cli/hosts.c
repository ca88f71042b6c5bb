/* SPDX-License-Identifier: MIT */
#include "cli/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "spec/hosts.h"
#include "spec/origin.h"

static bool give_hosts(struct spec *spec, const struct host_list *list, struct error *err)
{
    free(spec->hosts);
    spec->hosts = host_list_text(list);
    spec_give(spec, "hosts");
    return spec->hosts || error_memory(err, "names of hosts");
}

/* Slurm's own way to write many names short is for its own program to read. */
static bool read_allocation(struct host_list *list, struct error *err)
{
    FILE *names = popen("exec scontrol show hostnames", "re");
    struct text text = TEXT_INIT;
    char name[HOST_NAME + 2];
    if (!names)
        return error_errno(err, "scontrol show hostnames");
    while (fgets(name, sizeof name, names)) {
        name[strcspn(name, "\n")] = '\0';
        text_printf(&text, "%s%s", text.length ? "," : "", name);
    }
    const int status = pclose(names);
    const char *all = text_cstr(&text);
    bool ok = status == 0 && all && *all ? host_list_parse(all, list, err)
                                         : error_set(err, ERROR_FAILED,
                                                     "scontrol show hostnames, which tells the "
                                                     "hosts of this Slurm job, has failed: name "
                                                     "them with --hosts");
    text_free(&text);
    return ok;
}

/* A job's script, or the shell of salloc; a task of a step has its own host only. */
bool hosts_are_allocated(void)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES");
    long count;
    return getenv("SLURM_JOB_ID") && getenv("SLURM_JOB_NODELIST") && nodes &&
           parse_long(nodes, 2, 1000000, &count);
}

static bool take_allocation(struct invocation *invocation, struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    struct host_list list;
    if (!hosts_are_allocated())
        return true;
    if (!read_allocation(&list, err) || !give_hosts(spec, &list, err))
        return false;
    invocation->job_hosts = true;
    if (spec->launcher)
        return true;
    spec->launcher = text_format("srun:%s", getenv("SLURM_JOB_ID"));
    spec_give(spec, "launcher");
    return spec->launcher || error_memory(err, "the launcher");
}

bool hosts_take_job(struct invocation *invocation, struct error *err)
{
    return spec_has_hosts(&invocation->settings.spec) || invocation_value(invocation, "hosts") ||
           take_allocation(invocation, err);
}

bool hosts_take(struct invocation *invocation, struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    const char *path = invocation_value(invocation, "hosts-file");
    struct host_list list;
    if (path)
        return host_list_read(path, &list, err) && give_hosts(spec, &list, err);
    /* None, too, can be what is wanted; and whether a run to resume goes over hosts only the engine
     * knows. */
    return invocation_value(invocation, "resume") || hosts_take_job(invocation, err);
}
