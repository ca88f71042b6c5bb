/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/conv/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/device/cuda/dnn/conv/autotune.h"
#include "engine/device/cuda/dnn/conv/choices.h"
#include "engine/device/cuda/dnn/conv/order.h"
#include "engine/device/cuda/dnn/conv/store.h"

/* A compiled engine of which two kernels take this many times as long as the best is skipped. */
#define HOPELESS 1.5

struct search {
    struct conv_maker *maker;
    const struct conv_request *request;
    struct dnn_target target;
    cudnnBackendDescriptor_t graph;
    unsigned forbidden;
    const char *key;
    bool autotunes;
    bool first;     /* that gives the right results will do */
    bool remembers; /* choices */
    bool narrowed;  /* something was not compiled because the time for it was used up */
    /* The best so far. */
    struct conv_found best;
    bool have, loaded; /* loaded: it was not built but read from the store */
    /* What was tried: parallel to the candidates. */
    double seconds[CONV_OFFERED];
    char fault[96]; /* of the last result that was not as asked for; empty: none was */
};

static unsigned forbidden_notes(const struct conv_request *request)
{
    /* All types: sums are f32. */
    unsigned notes = DNN_NOTE(REDUCED_PRECISION_REDUCTION);
    if (request->deterministic)
        notes |= DNN_NOTE(NONDETERMINISTIC);
    /* Factors in f32 may be rounded to TF32 where the type says so, to nothing shorter. */
    if (request->type != TYPE_BF16)
        notes |= DNN_NOTE(DOWN_CONVERT_INPUTS);
    /* f32 without TF32 is for those who compare: no rounded factors, and no transforms, whose
     * rounding errors grow with their size. Its compiled engines are not worth the wait, which is
     * the longest of all. */
    if (request->type == TYPE_F32)
        notes |= DNN_NOTE(TENSOR_CORE) | DNN_NOTE(FFT) | DNN_NOTE(WINOGRAD) |
                 DNN_NOTE(WINOGRAD_TILE_4x4) | DNN_NOTE(WINOGRAD_TILE_6x6) |
                 DNN_NOTE(WINOGRAD_TILE_13x13) | DNN_NOTE_COMPILED;
    return notes;
}

/* A pattern that there is another way for: by its parts. */
static bool is_fused(const struct conv_request *request)
{
    return request->pattern == CONV_FORWARD_STATS || request->pattern == CONV_FORWARD_BIAS;
}

static char *store_key(const struct search *search, const struct dnn_choice *choice)
{
    char name[256];
    return text_format("%s\t%s", search->key, dnn_choice_text(choice, name, sizeof name));
}

/* A compiled plan from the store. */
static bool load_way(const struct search *search, const struct dnn_choice *choice,
                     struct dnn_plan *out)
{
    struct conv_maker *maker = search->maker;
    /* A text that cuDNN does not take, of another driver or build, is compiled again and replaced.
     */
    struct error err = ERROR_INIT, refusal = ERROR_INIT;
    size_t length = 0;
    if (!maker->store_path || !maker->handle)
        return false;
    char *key = store_key(search, choice);
    char *text = key ? conv_store_read(maker->store_path, key, &length, &err) : NULL;
    const bool ok = text && dnn_plan_load(out, maker->api, &search->target, text, length, &refusal);
    free(text);
    free(key);
    if (err.kind != ERROR_NONE)
        maker->cache_error = err;
    return ok;
}

/* Keep what was compiled. */
static void store_way(const struct search *search, const struct dnn_choice *choice,
                      const struct dnn_plan *way)
{
    struct conv_maker *maker = search->maker;
    struct error err = ERROR_INIT;
    size_t length = 0;
    if (!maker->store_path || !way->runnable || !(way->notes & DNN_NOTE_COMPILED))
        return;
    char *key = store_key(search, choice);
    char *text = key ? dnn_plan_text(way, &length, &err) : NULL;
    if (text && !conv_store_write(maker->store_path, key, text, length, &err))
        maker->cache_error = err;
    free(text);
    free(key);
}

static bool build_way(const struct search *search, const struct dnn_choice *choice,
                      struct dnn_plan *out, struct error *err)
{
    const struct conv_maker *maker = search->maker;
    const double begin = clock_seconds();
    const bool ok = dnn_plan_build(out, maker->api, search->graph, &search->target, choice,
                                   search->forbidden, err);
    if (maker->compile_left && (!ok || (out->notes & DNN_NOTE_COMPILED)))
        *maker->compile_left -= clock_seconds() - begin;
    return ok;
}

/* Read from the store, or built; *loaded says which. */
static bool make_way(const struct search *search, const struct dnn_choice *choice, bool compiled,
                     struct dnn_plan *out, bool *loaded, struct error *err)
{
    *loaded = compiled && load_way(search, choice, out);
    if (!*loaded && !build_way(search, choice, out, err))
        return false;
    if (out->workspace <= search->maker->workspace_limit)
        return true;
    error_set(err, ERROR_FAILED, "needs a workspace of %zu bytes, more than the %zu allowed",
              out->workspace, search->maker->workspace_limit);
    dnn_plan_free(out);
    return false;
}

static void remember(const struct search *search, const struct conv_choice *choice)
{
    struct conv_maker *maker = search->maker;
    struct error err = ERROR_INIT;
    if (search->remembers && !conv_choices_put(maker->cache_path, search->key, choice, &err))
        maker->cache_error = err;
}

/* Whether to leave candidate `i` out: compiling it takes time that is used up, or that others of
 * its engine were not worth. */
static bool leave_out(struct search *search, const struct dnn_candidate *candidates, int i)
{
    const double *left = search->maker->compile_left;
    double least = INFINITY;
    int timed = 0;
    if (!(candidates[i].notes & DNN_NOTE_COMPILED))
        return false;
    for (int k = 0; k < i; k++)
        if (candidates[k].choice.engine == candidates[i].choice.engine &&
            !isnan(search->seconds[k])) {
            least = fmin(least, search->seconds[k]);
            timed++;
        }
    if (timed >= 2 && least > HOPELESS * search->best.seconds)
        return true;
    if (!left || *left > 0 || (!is_fused(search->request) && !search->have))
        return false;
    search->narrowed = true;
    return true;
}

/* Build and time candidate `i`, and keep it where it is the best. */
static bool try_candidate(struct search *search, struct conv_autotune *autotune,
                          const struct dnn_candidate *candidates, int i, struct error *err)
{
    const struct dnn_choice *choice = &candidates[i].choice;
    struct dnn_plan way;
    bool loaded;
    const char *wrong = NULL;
    double seconds = NAN;
    const double best = isnan(search->best.seconds) ? INFINITY : search->best.seconds;
    if (!make_way(search, choice, candidates[i].notes & DNN_NOTE_COMPILED, &way, &loaded, err))
        return true; /* err: in case that none can be */
    const bool ok =
        !autotune ||
        conv_autotune_time(autotune, &way, search->first ? -INFINITY : best, &seconds, &wrong);
    search->seconds[i] = seconds;
    if (wrong)
        snprintf(search->fault, sizeof search->fault, "%s", wrong);
    if (ok && (!search->have || seconds < best)) {
        dnn_plan_free(&search->best.way);
        search->best = (struct conv_found){way, *choice, seconds};
        search->have = true;
        search->loaded = loaded;
    } else {
        dnn_plan_free(&way);
    }
    return ok;
}

bool conv_search_candidates(const struct conv_maker *maker, const struct conv_request *request,
                            cudnnBackendDescriptor_t graph, const struct dnn_target *target,
                            struct dnn_candidate *candidates, int *count, struct error *err)
{
    if (!dnn_candidates(maker->api, graph, target, forbidden_notes(request), candidates,
                        CONV_OFFERED, count, err))
        return false;
    if (!*count)
        return error_set(err, ERROR_FAILED, "cuDNN offers no engine for it");
    if (maker->autotune && !request->deterministic) {
        *count = conv_order_extend(request->pattern, candidates, *count, CONV_OFFERED);
        *count = conv_order(candidates, *count);
    }
    return true;
}

static bool is_found(const struct search *search, const struct conv_autotune *autotune)
{
    return search->have && (!autotune || (search->first && !isnan(search->best.seconds)));
}

static bool try_all(struct search *search, struct conv_autotune *autotune, struct error *err)
{
    struct dnn_candidate candidates[CONV_OFFERED];
    int count = 0;
    if (!conv_search_candidates(search->maker, search->request, search->graph, &search->target,
                                candidates, &count, err))
        return false;
    for (int i = 0; i < count && !is_found(search, autotune); i++) {
        search->seconds[i] = NAN;
        if (!leave_out(search, candidates, i) &&
            !try_candidate(search, autotune, candidates, i, err))
            return false;
    }
    if (!search->have && search->narrowed)
        error_set(err, ERROR_FAILED, "the time for compiling at this start is used up");
    return true;
}

static void tell_doubt(const struct search *search)
{
    char text[256], name[256];
    error_set(
        &search->maker->cache_error, ERROR_FAILED,
        "no engine of cuDNN's was seen to compute %s accurately (last: %s); %s is used unchecked",
        conv_request_text(search->request, text, sizeof text), search->fault,
        dnn_choice_text(&search->best.choice, name, sizeof name));
}

/*
 * What was tried and timed, remembered. A fused pattern that no engine was seen to compute right is
 * not done; of a convolution as such the first that can be built is taken all the same, since it is
 * likelier that the check is wrong than that all engines are.
 */
static bool conclude(struct search *search, const struct conv_autotune *autotune, struct error *err)
{
    const struct conv_found *best = &search->best;
    const bool timed = search->have && !isnan(best->seconds);
    struct conv_choice choice = {.way.engine = CONV_CHOICE_NONE};
    if (search->have && autotune && !timed && is_fused(search->request)) {
        dnn_plan_free(&search->best.way);
        search->have = false;
        error_set(err, ERROR_FAILED, "no engine gives the right results");
    }
    if (search->have && !timed && search->fault[0])
        tell_doubt(search);
    if (timed)
        choice = (struct conv_choice){best->choice, best->way.workspace, best->seconds};
    if (autotune && !search->first && !search->narrowed && (timed || !search->have))
        remember(search, &choice);
    if (search->have && !search->loaded)
        store_way(search, &best->choice, &best->way);
    return search->have;
}

static bool find_way(struct search *search, struct error *err)
{
    struct conv_autotune *autotune = NULL;
    if (search->autotunes && !conv_autotune_open(search->maker, search->request, &autotune, err))
        return false;
    if (search->autotunes && !autotune && is_fused(search->request))
        return error_set(err, ERROR_FAILED, "the memory is too small to check it");
    const bool tried = try_all(search, autotune, err);
    const bool ok = tried && conclude(search, autotune, err);
    if (!ok && search->have)
        dnn_plan_free(&search->best.way);
    conv_autotune_close(autotune);
    return ok;
}

/* As it was chosen before. False: it was not, or cannot be built so any more; or *none: there is
 * nothing to be found. */
static bool recall_way(struct search *search, bool *none)
{
    struct conv_choice choice;
    struct error ignored = ERROR_INIT;
    bool loaded;
    if (!search->remembers || !conv_choices_find(search->maker->cache_path, search->key, &choice))
        return false;
    *none = choice.way.engine == CONV_CHOICE_NONE;
    if (*none)
        return false;
    if (!make_way(search, &choice.way, true, &search->best.way, &loaded, &ignored)) {
        remember(search, NULL);
        return false;
    }
    search->best.choice = choice.way;
    search->best.seconds = choice.seconds > 0 ? choice.seconds : NAN;
    if (!loaded)
        store_way(search, &choice.way, &search->best.way);
    return true;
}

static char *key_of(const struct conv_maker *maker, const struct conv_request *request)
{
    char text[256];
    return conv_choices_key(maker->api->GetVersion(), maker->device_name ? maker->device_name : "?",
                            conv_request_text(request, text, sizeof text));
}

static bool choose(struct search *search, struct error *err)
{
    bool none = false;
    if (recall_way(search, &none))
        return true;
    if (none)
        return error_set(err, ERROR_FAILED, "no engine was found to do it when it was autotuned");
    return find_way(search, err);
}

bool conv_search(struct conv_maker *maker, const struct conv_request *request,
                 cudnnBackendDescriptor_t graph, struct conv_found *out, struct error *err)
{
    struct search search = {
        .maker = maker,
        .request = request,
        .target.handle = maker->handle,
        .graph = graph,
        .forbidden = forbidden_notes(request),
        .best.seconds = NAN,
    };
    search.first = !maker->autotune || request->deterministic;
    /* cuDNN 9.14 offers fused plans for an H200 that leave their results unwritten: TF32 with sums.
     */
    search.autotunes = maker->handle && (!search.first || is_fused(request));
    search.remembers = maker->cache_path && maker->handle && !request->deterministic;
    char *key = key_of(maker, request);
    if (!key)
        return error_memory(err, "a convolution's name");
    search.key = key;
    if (!maker->handle)
        search.target.described = dnn_described_device(maker->api, maker->description, err);
    const bool ok = (maker->handle || search.target.described) && choose(&search, err);
    if (search.target.described)
        dnn_release(maker->api, &search.target.described, 1);
    free(key);
    if (ok)
        *out = search.best;
    return ok;
}

double conv_search_remembered(const struct conv_maker *maker, const struct conv_request *request)
{
    struct conv_choice choice = {.seconds = NAN};
    char *key = maker->cache_path && !request->deterministic ? key_of(maker, request) : NULL;
    const bool found = key && conv_choices_find(maker->cache_path, key, &choice);
    free(key);
    if (!found)
        return NAN;
    if (choice.way.engine == CONV_CHOICE_NONE)
        return INFINITY;
    return choice.seconds > 0 ? choice.seconds : NAN;
}
