/* SPDX-License-Identifier: MIT */
#include "engine/model/layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/model/order.h"
#include "engine/model/text.h"
#include "engine/net/error.h"

#define MAX_NESTING 16 /* of groups of layers */

/* Where in the file and in the network the reader is. */
struct place {
    struct net_builder *builder;
    const char *prefix; /* of names: "" or "resnet_block1.0." */
    int depth;
};

struct group;

/* One entry of a list of layers: a group, or only the name of an operation or group. */
struct entry {
    const config_setting_t *setting;
    const char *type, *name;   /* name NULL: not given */
    const struct group *group; /* NULL: an operation, of `kind` */
    enum net_kind kind;
    int line, repeat; /* repeat 0: not given */
};

/* Layers that contain others. */
struct group {
    const char *type;
    bool (*read)(struct place *place, const struct entry *entry, const char *name, int *tensor,
                 struct error *err);
    const char *keys;
};

#define COMMON "type name repeat"

static bool read_sequence(struct place *place, const struct entry *entry, const char *name,
                          int *tensor, struct error *err);
static bool read_residual(struct place *place, const struct entry *entry, const char *name,
                          int *tensor, struct error *err);

static const struct group groups[] = {
    {"sequence", read_sequence, COMMON " layers order"},
    {"residual", read_residual, COMMON " layers shortcut after order"},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static bool find_type(struct entry *entry)
{
    for (int i = 0; i < GROUPS; i++)
        if (strcmp(groups[i].type, entry->type) == 0) {
            entry->group = &groups[i];
            return true;
        }
    for (int i = 0; i < NET_KINDS; i++) {
        entry->kind = (enum net_kind)i;
        if (net_operation(entry->kind)->inputs == 1 &&
            strcmp(net_kind_name(entry->kind), entry->type) == 0)
            return true;
    }
    return false;
}

static bool unknown_type(const struct place *place, const struct entry *entry, struct error *err)
{
    struct text list = TEXT_INIT;
    for (int i = 0; i < NET_KINDS; i++)
        if (net_operation((enum net_kind)i)->inputs == 1)
            text_printf(&list, "%s, ", net_kind_name((enum net_kind)i));
    for (int i = 0; i < GROUPS; i++)
        text_printf(&list, "%s%s", i ? ", " : "", groups[i].type);
    const char *known = text_cstr(&list);
    model_error(place->builder->file, entry->line, err,
                "no kind of layer is called '%.40s': there are %s", entry->type,
                known ? known : "others");
    text_free(&list);
    return false;
}

/* What a layer may have, separated by blanks. */
static bool known_keys(const struct place *place, const struct entry *entry, struct error *err)
{
    char what[64], keys[128];
    const struct net_setting *s = net_operation(entry->kind)->settings;
    int used = snprintf(keys, sizeof keys, "%s", entry->group ? entry->group->keys : COMMON);
    for (; !entry->group && s->key; s++)
        used += snprintf(keys + used, sizeof keys - (size_t)used, " %s", s->key);
    snprintf(what, sizeof what, "a %s layer", entry->type);
    return model_known_keys(place->builder->file, entry->setting, keys, what, err);
}

/* A size that may be given as the word "classes". */
static bool read_size(const struct place *place, const struct entry *entry, const char *key,
                      int *out, struct error *err)
{
    const config_setting_t *member = config_setting_get_member(entry->setting, key);
    const char *word = member ? config_setting_get_string(member) : NULL;
    if (word && strcmp(word, "classes") == 0) {
        *out = place->builder->net->classes;
        return true;
    }
    if (word)
        return model_error(place->builder->file, entry->line, err,
                           "'%s' must be a whole number or \"classes\"", key);
    return model_get_int(place->builder->file, entry->setting, key, true, 1, NET_MAX_SIZE, out,
                         err);
}

/* One number for both sides, or [down, across]. */
static bool read_pair(const struct place *place, const struct entry *entry,
                      const struct net_setting *s, int pair[2], struct error *err)
{
    int count;
    if (!model_get_ints(place->builder->file, entry->setting, s->key, (int)s->low, (int)s->high, 2,
                        pair, &count, err))
        return false;
    if (count == 0 && isnan(s->preset))
        return model_error(place->builder->file, entry->line, err, "'%s' is missing", s->key);
    if (count == 0)
        pair[0] = (int)s->preset;
    if (count <= 1)
        pair[1] = pair[0];
    return true;
}

static bool read_setting(const struct place *place, const struct entry *entry,
                         const struct net_setting *s, struct net_op *op, struct error *err)
{
    const char *file = place->builder->file;
    void *field = (char *)op + s->offset;
    switch (s->type) {
    case NET_SETTING_SIZE:
        return read_size(place, entry, s->key, field, err);
    case NET_SETTING_COUNT:
        *(int *)field = isnan(s->preset) ? 0 : (int)s->preset;
        return model_get_int(file, entry->setting, s->key, isnan(s->preset), (int)s->low,
                             (int)s->high, field, err);
    case NET_SETTING_PAIR:
        return read_pair(place, entry, s, field, err);
    case NET_SETTING_BOOL:
        *(bool *)field = s->preset != 0;
        return model_get_bool(file, entry->setting, s->key, field, err);
    case NET_SETTING_NUMBER:
        *(double *)field = s->preset;
        return model_get_double(file, entry->setting, s->key, s->low, s->high, field, err);
    case NET_SETTING_WORD:
        return model_get_word(file, entry->setting, s->key, s->words, field, err);
    }
    return false;
}

static bool read_layer(struct place *place, const struct entry *entry, const char *name,
                       int *tensor, struct error *err)
{
    struct net_op op = {.kind = entry->kind, .line = entry->line};
    for (const struct net_setting *s = net_operation(entry->kind)->settings; s->key; s++)
        if (!read_setting(place, entry, s, &op, err))
            return false;
    return net_builder_layer(place->builder, &op, name, *tensor, tensor, err);
}

/* Check the parts that every layer has. */
static bool read_entry(const struct place *place, const config_setting_t *setting,
                       struct entry *entry, struct error *err)
{
    const char *file = place->builder->file;
    *entry = (struct entry){.setting = setting, .line = (int)config_setting_source_line(setting)};
    if (config_setting_type(setting) == CONFIG_TYPE_STRING) {
        entry->type = config_setting_get_string(setting);
    } else if (!config_setting_is_group(setting)) {
        return model_error(file, entry->line, err,
                           "a layer is { type = \"...\"; ... } or only the name of its kind");
    } else {
        const config_setting_t *type = config_setting_get_member(setting, "type");
        entry->type = type ? config_setting_get_string(type) : NULL;
        if (!entry->type)
            return model_error(file, entry->line, err,
                               "this layer has no type: give it type = \"conv\" or another kind");
    }
    if (!find_type(entry))
        return unknown_type(place, entry, err);
    if (!config_setting_is_group(setting))
        return true;
    return known_keys(place, entry, err) &&
           model_get_name(file, setting, "name", &entry->name, err) &&
           model_get_int(file, setting, "repeat", false, 1, NET_MAX_OPS, &entry->repeat, err);
}

/* Append one layer or group under its whole name. */
static bool append(struct place *place, const struct entry *entry, const char *name, bool named,
                   int *tensor, struct error *err)
{
    char *whole = text_format("%s%s", place->prefix, named ? name : "");
    if (!whole)
        return error_memory(err, "model");
    if (!named)
        whole[0] = '\0';
    bool ok = (!named || net_builder_name(place->builder, whole, entry->line, err)) &&
              (entry->group ? entry->group->read : read_layer)(place, entry, whole, tensor, err);
    free(whole);
    return ok;
}

/*
 * Append an entry as often as it repeats. *index is its place in its list, and its name where it
 * has no other, after `role`; then that of the next entry. Layers without params go unnamed inside
 * a residual unit, where several lists count from 0.
 */
static bool read_copies(struct place *place, const struct entry *entry, const char *role,
                        bool in_unit, int *index, int *tensor, struct error *err)
{
    bool named = !in_unit || entry->name || entry->group || net_operation(entry->kind)->params;
    int copies = entry->repeat ? entry->repeat : 1;
    for (int copy = 0; copy < copies; copy++) {
        char name[128];
        if (!entry->name)
            snprintf(name, sizeof name, "%s%d", role, *index + copy);
        else if (entry->repeat)
            snprintf(name, sizeof name, "%s.%d", entry->name, copy);
        else
            snprintf(name, sizeof name, "%s", entry->name);
        if (!append(place, entry, name, named, tensor, err))
            return false;
    }
    *index += entry->name ? 1 : copies;
    return true;
}

static bool read_list(struct place *place, const config_setting_t *list, const char *role,
                      bool in_unit, struct model_order *order, int *tensor, struct error *err)
{
    struct net_builder *builder = place->builder;
    int line = (int)config_setting_source_line(list), index = 0;
    if (!config_setting_is_list(list) || config_setting_length(list) == 0)
        return model_error(builder->file, line, err,
                           "'%s' must be a list of layers: ( ..., ... ), not empty",
                           config_setting_name(list));
    for (int i = 0; i < config_setting_length(list); i++) {
        struct entry entry;
        char key[128]; /* what `order` calls it: its name, or the place of its first copy */
        if (!read_entry(place, config_setting_get_elem(list, (unsigned)i), &entry, err))
            return false;
        if (entry.name)
            snprintf(key, sizeof key, "%s", entry.name);
        else
            snprintf(key, sizeof key, "%s%d", role, index);
        int begin = builder->module_count;
        if (!read_copies(place, &entry, role, in_unit, &index, tensor, err) ||
            !model_order_add(order, key, begin, builder->module_count, err))
            return false;
    }
    return true;
}

static bool required_list(const struct place *place, const config_setting_t *group, int line,
                          const config_setting_t **list, struct error *err)
{
    *list = config_setting_get_member(group, "layers");
    if (!*list)
        return model_error(place->builder->file, line, err, "'layers' is missing");
    if (place->depth > MAX_NESTING)
        return model_error(place->builder->file, line, err, "layers nested deeper than %d",
                           MAX_NESTING);
    return true;
}

static bool read_sequence(struct place *place, const struct entry *entry, const char *name,
                          int *tensor, struct error *err)
{
    const config_setting_t *list;
    char *prefix = text_format("%s%s", name, *name ? "." : "");
    if (!prefix)
        return error_memory(err, "model");
    struct place inner = {place->builder, prefix, place->depth + 1};
    struct model_order order = MODEL_ORDER_INIT;
    bool ok = required_list(&inner, entry->setting, entry->line, &list, err) &&
              read_list(&inner, list, "", false, &order, tensor, err) &&
              model_order_apply(&order, place->builder, entry->setting, err);
    model_order_free(&order);
    free(prefix);
    return ok;
}

static bool read_unit(struct place *inner, const struct entry *entry, const char *name,
                      struct model_order *order, int *tensor, struct error *err)
{
    const config_setting_t *list;
    const config_setting_t *shortcut = config_setting_get_member(entry->setting, "shortcut");
    const config_setting_t *after = config_setting_get_member(entry->setting, "after");
    int left = *tensor, right = left;
    return required_list(inner, entry->setting, entry->line, &list, err) &&
           read_list(inner, list, "", true, order, &left, err) &&
           (!shortcut || read_list(inner, shortcut, "shortcut.", true, order, &right, err)) &&
           net_builder_sum(inner->builder, name, entry->line, left, right, tensor, err) &&
           (!after || read_list(inner, after, "after.", true, order, tensor, err));
}

static bool read_residual(struct place *place, const struct entry *entry, const char *name,
                          int *tensor, struct error *err)
{
    char *prefix = text_format("%s.", name);
    if (!prefix)
        return error_memory(err, "model");
    struct place inner = {place->builder, prefix, place->depth + 1};
    struct model_order order = MODEL_ORDER_INIT;
    bool ok = read_unit(&inner, entry, name, &order, tensor, err) &&
              model_order_apply(&order, place->builder, entry->setting, err);
    model_order_free(&order);
    free(prefix);
    return ok;
}

bool model_read_layers(struct net_builder *builder, const config_setting_t *root, int *output,
                       struct error *err)
{
    const struct entry whole = {.setting = root, .line = 1, .type = "sequence"};
    struct place place = {builder, "", 0};
    *output = 0;
    return read_sequence(&place, &whole, "", output, err);
}
