/* SPDX-License-Identifier: MIT */
#include "engine/weights/normalization.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "engine/weights/safetensors.h"

/* Ours alone: files of other programs may have a note of their own. */
#define NORMALIZATION_KEY "dpartui_normalization"

static bool add_values(json_t *object, const char *key, const float *values, int count)
{
    json_t *list = json_array();
    bool ok = list;
    for (int i = 0; ok && i < count; i++)
        ok = json_array_append_new(list, json_real((double)values[i])) == 0;
    if (ok)
        return json_object_set_new(object, key, list) == 0;
    json_decref(list);
    return false;
}

bool normalization_add(const struct net *net, json_t *object)
{
    return (!net->mean_of_data || net->mean_count == 0 ||
            add_values(object, "mean", net->mean, net->mean_count)) &&
           (!net->std_of_data || net->std_count == 0 ||
            add_values(object, "std", net->std, net->std_count));
}

bool normalization_note(const struct net *net, json_t *metadata)
{
    json_t *object = json_object();
    bool ok = object && normalization_add(net, object);
    if (ok && json_object_size(object) > 0) {
        /* All digits: who reads them must find the same numbers. */
        char *text = json_to_text(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
        ok = text && json_object_set_new(metadata, NORMALIZATION_KEY, json_string(text)) == 0;
        free(text);
    }
    json_decref(object);
    return ok;
}

/* `count` stays 0 where the object has no such member. */
static bool take_values(const char *path, const json_t *object, const char *key, double low,
                        int channels, float *out, int *count, struct error *err)
{
    const json_t *list = json_object_get(object, key);
    bool ok = !list || json_array_size(list) == (size_t)channels;
    for (int c = 0; ok && list && c < channels; c++) {
        const json_t *value = json_array_get(list, (size_t)c);
        const double number = json_number_value(value);
        ok = json_is_number(value) && number >= low && number <= NET_MOST_MEAN;
        out[c] = (float)(ok ? number : 0);
    }
    if (!ok)
        return error_set(err, ERROR_FAILED,
                         "%s: its normalization has no valid %s for an input of %d channel%s", path,
                         key, channels, plural(channels));
    *count = list ? channels : 0;
    return true;
}

static bool take(const char *path, const char *text, struct net *net, struct error *err)
{
    json_t *object = json_read(text, strlen(text), 0, NULL);
    const int channels = net->input.c;
    bool ok = json_is_object(object) ||
              error_set(err, ERROR_FAILED, "%s: its normalization cannot be read", path);
    if (ok && net->mean_of_data)
        ok = take_values(path, object, "mean", -NET_MOST_MEAN, channels, net->mean,
                         &net->mean_count, err);
    if (ok && net->std_of_data)
        ok = take_values(path, object, "std", NET_LEAST_STD, channels, net->std, &net->std_count,
                         err);
    json_decref(object);
    return ok;
}

bool normalization_read(const char *path, struct net *net, struct error *err)
{
    struct safetensors file = SAFETENSORS_INIT;
    if (!net->mean_of_data && !net->std_of_data)
        return true;
    bool ok = safetensors_open(&file, path, err);
    if (ok) {
        const json_t *metadata = json_object_get(file.header, "__metadata__");
        const char *text = json_string_value(json_object_get(metadata, NORMALIZATION_KEY));
        ok = !text || take(path, text, net, err);
    }
    safetensors_close(&file);
    return ok;
}
