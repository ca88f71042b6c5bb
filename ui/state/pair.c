/* SPDX-License-Identifier: MIT */
#include "ui/state/pair.h"

void run_pair_begin(struct run_pair *pair, long first, long second)
{
    run_pair_free(pair);
    pair->run[0] = first;
    pair->run[1] = second;
}

void run_pair_free(struct run_pair *pair)
{
    for (int k = 0; k < 2; k++) {
        json_decref(pair->spec[k]);
        json_decref(pair->retunes[k]);
    }
    spec_differences_free(&pair->settings);
    *pair = (struct run_pair){.known = false};
}

bool run_pair_show(struct run_pair *pair, const json_t *result, struct error *err)
{
    long run = (long)json_integer_value(json_object_get(result, "run"));
    for (int k = 0; k < 2; k++) {
        if (run == 0 || pair->run[k] != run)
            continue;
        json_decref(pair->spec[k]);
        pair->spec[k] = json_incref(json_object_get(result, "spec"));
        json_decref(pair->retunes[k]);
        pair->retunes[k] = json_incref(json_object_get(result, "retunes"));
        pair->known = false;
    }
    if (pair->known || !pair->spec[0] || !pair->spec[1])
        return true;
    spec_differences_free(&pair->settings);
    const json_t *const specs[] = {pair->spec[0], pair->spec[1]};
    const json_t *const retunes[] = {pair->retunes[0], pair->retunes[1]};
    pair->known = spec_differences_find(&pair->settings, specs, retunes, err);
    return pair->known;
}
