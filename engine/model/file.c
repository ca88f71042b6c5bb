/* SPDX-License-Identifier: MIT */
#include "engine/model/file.h"

#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "engine/model/layers.h"
#include "engine/model/recipe.h"
#include "engine/model/text.h"
#include "engine/net/builder.h"
#include "engine/net/error.h"
#include "engine/net/net.h"

#define MAX_SIDE    (1 << 20) /* channels, height, width of an input */
#define MAX_CLASSES 65536

struct wanted {
    bool given; /* else the file's own */
    struct net_shape input;
    int classes;
};

static int line_of(const config_setting_t *group, const char *key)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    return (int)config_setting_source_line(member ? member : group);
}

/* Exactly one of the two settings: a fixed value, or one for use without data. */
static bool fixed_or_default(const char *path, const config_setting_t *root, const char *fixed,
                             const char *fallback, const char **key, struct error *err)
{
    bool has_fixed = config_setting_get_member(root, fixed) != NULL;
    bool has_fallback = config_setting_get_member(root, fallback) != NULL;
    *key = has_fixed ? fixed : fallback;
    if (has_fixed && has_fallback)
        return model_error(path, line_of(root, fallback), err,
                           "both '%s' and '%s': a model has one of them", fixed, fallback);
    if (!has_fixed && !has_fallback)
        return model_error(path, 1, err, "neither '%s' nor '%s': a model needs one of them", fixed,
                           fallback);
    return true;
}

static bool choose_input(const char *path, const config_setting_t *root,
                         const struct wanted *wanted, struct net_shape *out, struct error *err)
{
    const char *key;
    int side[3], count;
    if (!fixed_or_default(path, root, "input", "default_input", &key, err) ||
        !model_get_ints(path, root, key, 1, MAX_SIDE, 3, side, &count, err))
        return false;
    int line = line_of(root, key);
    if (count != 3)
        return model_error(path, line, err, "'%s' must be [channels, height, width]", key);
    struct net_shape own = {side[0], side[1], side[2]}, asked = wanted->input;
    bool fixed = strcmp(key, "input") == 0;
    *out = wanted->given ? asked : own;
    if (wanted->given && fixed && (own.c != asked.c || own.h != asked.h || own.w != asked.w))
        return model_error(path, line, err,
                           "this model is for inputs of %dx%dx%d, the data are %dx%dx%d", own.c,
                           own.h, own.w, asked.c, asked.h, asked.w);
    return true;
}

static bool choose_classes(const char *path, const config_setting_t *root,
                           const struct wanted *wanted, int *out, struct error *err)
{
    const char *key;
    int own = 0;
    if (!fixed_or_default(path, root, "classes", "default_classes", &key, err) ||
        !model_get_int(path, root, key, true, 1, MAX_CLASSES, &own, err))
        return false;
    *out = wanted->given ? wanted->classes : own;
    if (wanted->given && strcmp(key, "classes") == 0 && own != wanted->classes)
        return model_error(path, line_of(root, key), err,
                           "this model is for %d classes, the data have %d", own, wanted->classes);
    return true;
}

/* "data" in place of numbers; *of_data is false where the setting is none or no text. */
static bool read_of_data(const char *path, const config_setting_t *root, const char *key,
                         int channels, bool *of_data, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(root, key);
    const char *word = member ? config_setting_get_string(member) : NULL;
    *of_data = word;
    if (word && strcmp(word, "data") != 0)
        return model_error(path, line_of(root, key), err,
                           "'%s' must be a number, an array of numbers, or \"data\"", key);
    return !word || channels <= NET_MOST_NORMALIZED ||
           model_error(path, line_of(root, key), err,
                       "'%s': \"data\" is for up to %d channels, the input has %d", key,
                       NET_MOST_NORMALIZED, channels);
}

static bool read_channel_values(const char *path, const config_setting_t *root, const char *key,
                                double low, int channels, bool *of_data, float *out, int *count,
                                struct error *err)
{
    double values[NET_MOST_NORMALIZED];
    if (!read_of_data(path, root, key, channels, of_data, err))
        return false;
    if (*of_data)
        return true;
    if (!model_get_doubles(path, root, key, low, NET_MOST_MEAN, NET_MOST_NORMALIZED, values, count,
                           err))
        return false;
    if (*count > 1 && *count != channels)
        return model_error(path, line_of(root, key), err,
                           "'%s' has %d values, the input %d channel%s: give one, or one each", key,
                           *count, channels, plural(channels));
    for (int i = 0; i < *count; i++)
        out[i] = (float)values[i];
    return true;
}

/* "DIR/resnet18.conf" -> "resnet18" */
static char *name_from_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    return strndup(base, text_ends_in(base, ".conf") ? length - strlen(".conf") : length);
}

static bool read_head(const char *path, const config_setting_t *root, struct net *net,
                      struct error *err)
{
    const char *name = NULL;
    if (!model_get_name(path, root, "name", &name, err) ||
        !read_channel_values(path, root, "mean", -NET_MOST_MEAN, net->input.c, &net->mean_of_data,
                             net->mean, &net->mean_count, err) ||
        !read_channel_values(path, root, "std", NET_LEAST_STD, net->input.c, &net->std_of_data,
                             net->std, &net->std_count, err))
        return false;
    net->source = strdup(path);
    net->name = name ? strdup(name) : name_from_path(path);
    return (net->source && net->name) || error_memory(err, "network");
}

static bool read_model(const char *path, const config_setting_t *root, const struct wanted *wanted,
                       struct net **out, struct error *err)
{
    struct net_builder builder = {0};
    struct net_shape input;
    int classes, output;
    bool ok = model_known_keys(path, root,
                               "name input default_input classes default_classes mean std layers "
                               "order training",
                               "a model", err) &&
              choose_input(path, root, wanted, &input, err) &&
              choose_classes(path, root, wanted, &classes, err) &&
              net_builder_start(&builder, path, input, classes, err) &&
              read_head(path, root, builder.net, err) &&
              model_read_layers(&builder, root, &output, err) &&
              net_builder_finish(&builder, output, out, err);
    net_builder_free(&builder);
    return ok;
}

/* The file's text, parsed; config_destroy after any outcome. */
static bool parse(const char *path, config_t *config, struct error *err)
{
    char *text;
    size_t length;
    if (!file_read(path, MODEL_FILE_LIMIT, &text, &length, err)) {
        config_init(config);
        err->kind = ERROR_USAGE;
        return false;
    }
    bool ok = model_text_parse(path, text, length, config, err);
    free(text);
    return ok;
}

static bool load(const char *path, const struct wanted *wanted, struct net **out, struct error *err)
{
    config_t config;
    struct spec recipe;
    *out = NULL;
    spec_init(&recipe);
    bool ok = parse(path, &config, err) &&
              model_read_recipe(path, config_root_setting(&config), &recipe, err) &&
              read_model(path, config_root_setting(&config), wanted, out, err);
    spec_free(&recipe);
    config_destroy(&config);
    return ok;
}

bool net_load_recipe(const char *path, struct spec *recipe, struct error *err)
{
    config_t config;
    spec_init(recipe);
    bool ok = parse(path, &config, err) &&
              model_read_recipe(path, config_root_setting(&config), recipe, err);
    config_destroy(&config);
    return ok;
}

bool net_load(const char *path, struct net_shape input, int classes, struct net **out,
              struct error *err)
{
    struct wanted wanted = {.given = true, .input = input, .classes = classes};
    *out = NULL;
    if (input.c < 1 || input.h < 1 || input.w < 1 || classes < 1)
        return error_set(err, ERROR_USAGE, "%s: no network for inputs of %dx%dx%d and %d classes",
                         path, input.c, input.h, input.w, classes);
    return load(path, &wanted, out, err);
}

bool net_load_default(const char *path, struct net **out, struct error *err)
{
    struct wanted wanted = {.given = false};
    return load(path, &wanted, out, err);
}
