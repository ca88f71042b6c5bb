/* SPDX-License-Identifier: MIT */
#include "engine/server/devices/free_gpus.h"

#include <stdlib.h>

#include "base/figure.h"
#include "base/text.h"
#include "engine/backends/registry.h"
#include "spec/gpu_use.h"
#include "spec/hosts.h"

/* Seconds that the driver may take to tell the load. */
#define PATIENCE 10

/* Others use at least this much of a GPU that is worth a warning. */
#define HEAVY 0.5

/* As many that were left out are named. */
enum { NAMED = 8 };

struct candidate {
    struct device_id id;
    double load, memory; /* of others, bytes; load NAN: not known */
    int others;          /* processes; -1: not known */
    double use;
    bool taken;
};

struct candidates {
    int count;
    struct candidate of[SPEC_MAX_DEVICES];
};

/* What this engine has of a GPU is free for its next run; its load is not known apart, so that of a
 * GPU that nobody else is on counts as nothing. */
static struct candidate look_at(const struct device_info *info, const struct gpu_figures *gpu)
{
    struct candidate candidate = {.id = info->id,
                                  .load = gpu->load,
                                  .memory = (double)gpu->memory_used,
                                  .others = *gpu->no_processes.text ? -1 : gpu->processes};
    for (int i = 0; i < gpu_processes_listed(gpu); i++) {
        if (!gpu->process[i].own)
            continue;
        candidate.others--;
        candidate.memory -= fmin((double)gpu->process[i].memory, candidate.memory);
        if (candidate.others == 0)
            candidate.load = 0;
    }
    candidate.use = gpu_use(candidate.load, candidate.memory, (double)gpu->memory_total);
    return candidate;
}

/* Those that can be used and that the driver reports. */
static void find(const struct gpus_known *known, struct candidates *found)
{
    found->count = 0;
    for (int i = 0; i < known->count; i++) {
        const struct gpu_figures *gpu = gpu_list_find(known->driver, known->info[i].uuid);
        if (known->info[i].available && gpu && gpu->working)
            found->of[found->count++] = look_at(&known->info[i], gpu);
    }
}

static bool too_few(const struct gpus_known *known, int found, int wanted, struct error *err)
{
    int usable = 0;
    for (int i = 0; i < known->count; i++)
        usable += known->info[i].available;
    if (usable == 0)
        return error_set(err, ERROR_USAGE,
                         "free:%d: no GPU to train on (%s), and free:N is of GPUs; use --devices "
                         "cpu:0",
                         wanted, known->count > 0 ? known->info[0].reason : known->none);
    if (found < usable && found < wanted)
        return error_set(
            err, ERROR_USAGE,
            "free:%d: the NVIDIA driver reports %d of %d GPUs (%s); name them, or use --gpus %d",
            wanted, found, usable,
            *known->driver->none.text ? known->driver->none.text : "nothing of the others", wanted);
    return error_set(err, ERROR_USAGE, "free:%d: %d GPU%s asked for, %d can be used here", wanted,
                     wanted, plural(wanted), found);
}

static void describe(struct text *text, const struct candidate *candidate, bool first)
{
    char name[DEVICE_NAME];
    struct figure load, memory;
    const bool known = !isnan(candidate->load);
    text_printf(text, "%s (%s%s, %s used", device_id_text(candidate->id, name),
                known ? figure_percent(&load, candidate->load) : "load not known",
                first && known ? " load" : "", figure_bytes(&memory, candidate->memory));
    if (candidate->others > 0)
        text_printf(text, " by %d process%s", candidate->others, candidate->others > 1 ? "es" : "");
    text_puts(text, ")");
}

/* Those that were taken, or those that were not. */
static void describe_all(struct text *text, const struct candidates *found, bool taken, int most)
{
    int told = 0, more = 0;
    for (int i = 0; i < found->count; i++) {
        if (found->of[i].taken != taken)
            continue;
        if (told == most) {
            more++;
            continue;
        }
        if (told > 0)
            text_puts(text, ", ");
        describe(text, &found->of[i], taken && told == 0);
        told++;
    }
    if (more > 0)
        text_printf(text, " and %d more", more);
}

static char *explain(const struct candidates *found, int wanted)
{
    struct text text = TEXT_INIT;
    char name[DEVICE_NAME];
    const char *before = "; no freer GPU than ";
    text_printf(&text, "free:%d: ", wanted);
    describe_all(&text, found, true, SPEC_MAX_DEVICES);
    if (found->count > wanted) {
        text_puts(&text, "; left out: ");
        describe_all(&text, found, false, NAMED);
    }
    for (int i = 0; i < found->count; i++) {
        const struct candidate *candidate = &found->of[i];
        if (!candidate->taken || candidate->others == 0 || isnan(candidate->load) ||
            candidate->use < HEAVY)
            continue;
        text_printf(&text, "%s%s", before, device_id_text(candidate->id, name));
        before = ", ";
    }
    if (*before == ',')
        text_puts(&text, ", which others use heavily");
    return text_take(&text);
}

/* The first of those that are used least. */
static struct candidate *least_used(struct candidates *found)
{
    struct candidate *least = NULL;
    for (int i = 0; i < found->count; i++)
        if (!found->of[i].taken && (!least || found->of[i].use < least->use))
            least = &found->of[i];
    return least;
}

bool free_gpus_pick(const struct gpus_known *known, int wanted, struct device_list *list,
                    char **why, struct error *err)
{
    struct candidates found;
    find(known, &found);
    if (found.count < wanted)
        return too_few(known, found.count, wanted, err);
    for (int i = 0; i < wanted; i++)
        least_used(&found)->taken = true;
    *list = (struct device_list){.choice = DEVICES_LISTED, .free = wanted};
    for (int i = 0; i < found.count; i++)
        if (found.of[i].taken)
            list->id[list->count++] = found.of[i].id;
    *why = explain(&found, wanted);
    return true;
}

static bool choose(struct nvml *nvml, int wanted, struct device_list *list, char **why,
                   struct error *err)
{
    struct device_info info[SPEC_MAX_DEVICES];
    const char *missing = "";
    char none[160] = "none found";
    int count = 0;
    const struct backend *backend = backend_find(DEVICE_CUDA, &missing);
    struct gpu_list *driver = calloc(1, sizeof *driver);
    bool ok = driver || error_memory(err, "list of GPUs");
    if (ok && backend)
        ok = backend->enumerate(info, SPEC_MAX_DEVICES, &count, none, sizeof none, err);
    if (ok && count > 0 && !nvml_renew(nvml, PATIENCE))
        ok = error_set(err, ERROR_USAGE,
                       "free:%d: the NVIDIA driver does not answer; name devices, or use --gpus %d",
                       wanted, wanted);
    if (ok) {
        nvml_read(nvml, driver);
        const struct gpus_known known = {info, count, backend ? none : missing, driver};
        ok = free_gpus_pick(&known, wanted, list, why, err);
    }
    free(driver);
    return ok;
}

bool free_gpus_settle(struct nvml *nvml, struct spec *spec, char **why, struct error *err)
{
    const struct device_list *asked = &spec->devices;
    const int wanted = asked->choice == DEVICES_FREE_GPUS ? asked->count : asked->free;
    char *text = NULL;
    if (why)
        *why = NULL;
    if (wanted == 0)
        return true;
    if (spec_has_hosts(spec))
        return error_set(err, ERROR_USAGE,
                         "free:%d: the load of other hosts' GPUs is not known: name the devices",
                         wanted);
    if (!choose(nvml, wanted, &spec->devices, &text, err))
        return false;
    if (why)
        *why = text;
    else
        free(text);
    return true;
}
