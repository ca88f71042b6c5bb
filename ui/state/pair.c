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
    json_decref(pair->spec[0]);
    json_decref(pair->spec[1]);
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
        pair->known = false;
    }
    if (pair->known || !pair->spec[0] || !pair->spec[1])
        return true;
    spec_differences_free(&pair->settings);
    pair->known = spec_differences_find(&pair->settings, pair->spec[0], pair->spec[1], err);
    return pair->known;
}
