/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/json.h"
#include "base/print.h"
#include "cli/options.h"
#include "cli/run_spec.h"
#include "client/session.h"
#include "commands/display.h"
#include "commands/list.h"
#include "output/bar.h"

struct fetching {
    struct client *client;
    enum display_kind kind;
    struct bar_line line;
    char file[256]; /* the last one reported in a pipe */
};

static void show_bar(struct fetching *fetching, const json_t *progress)
{
    struct bar bar = {.share = NAN};
    struct figure done, total, text;
    double have = member_number(progress, "done"), all = member_number(progress, "total");
    double rate = member_number(progress, "bytes_per_s");
    const char *phase = member_text(progress, "phase");
    snprintf(bar.left, sizeof bar.left, "%.0f/%.0f %.40s", member_number(progress, "index") + 1,
             member_number(progress, "count"), member_text(progress, "file"));
    if (all > 0)
        bar.share = have / all;
    if (strcmp(phase, "download") != 0)
        bar_add(&bar, 0, "%s", phase);
    bar_add(&bar, 2, "%s of %s", figure_bytes(&done, have),
            figure_bytes(&total, all > 0 ? all : NAN));
    if (strcmp(phase, "download") == 0) {
        bar_add(&bar, 1, "%s/s", figure_bytes(&text, rate));
        bar_add(&bar, 0, "%s left", figure_duration(&text, rate > 0 ? (all - have) / rate : NAN));
    }
    bar_draw(&fetching->line, &bar);
}

/* In a pipe: each file that is downloaded, once. */
static void show_line(struct fetching *fetching, const json_t *progress)
{
    const char *file = member_text(progress, "file");
    if (strcmp(file, fetching->file) == 0 ||
        strcmp(member_text(progress, "phase"), "download") != 0)
        return;
    snprintf(fetching->file, sizeof fetching->file, "%s", file);
    print("%.0f/%.0f %s\n", member_number(progress, "index") + 1, member_number(progress, "count"),
          file);
}

static void show_progress(struct fetching *fetching, const json_t *progress)
{
    if (fetching->kind == DISPLAY_TERMINAL)
        show_bar(fetching, progress);
    else
        show_line(fetching, progress);
    fflush(stdout);
}

/* session_notified */
static bool take_progress(void *context, const char *method, const json_t *params,
                          struct error *err)
{
    struct fetching *fetching = context;
    (void)err;
    if (strcmp(method, "fetch") == 0)
        show_progress(fetching, params);
    return true;
}

static json_t *request(struct invocation *invocation, struct error *err)
{
    struct spec *spec = &invocation->settings.spec;
    if (!run_spec_make_absolute(spec, &invocation->remote, err))
        return NULL;
    const char *from = invocation_value(invocation, "from");
    json_t *params = json_pack("{s:s, s:s?, s:s?}", "dataset", invocation->arguments[0], "data_dir",
                               spec->data_dir, "from", from);
    if (!params)
        error_set(err, ERROR_USAGE, "--data-dir or --from is not UTF-8: '%s', '%s'",
                  spec->data_dir ? spec->data_dir : "", from ? from : "");
    return params;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct fetching fetching = {.kind = display_choose(false)};
    json_t *params = request(invocation, err), *result = NULL;
    long id;
    if (!params)
        return false;
    if (!session_open_private(&invocation->remote, &fetching.client, err)) {
        json_decref(params);
        return false;
    }
    /* Ctrl-C ends us, and with the connection the fetching. */
    bool ok = client_send(fetching.client, "fetch", params, &id, err) &&
              session_wait(fetching.client, id, take_progress, &fetching, &result, err);
    bar_clear(&fetching.line);
    if (ok)
        print("%s is in %s\n", invocation->arguments[0], member_text(result, "folder"));
    json_decref(result);
    client_close(fetching.client);
    return ok;
}

static const struct option options[] = {
    {"from", OPTION_VALUE, "URL", "another place that has the files: http, https, ftp or file"},
    {"data-dir", OPTION_SETTING, "DIR", "put them into a folder below DIR"},
    OPTIONS_END,
};

const struct command command_fetch = {
    .name = "fetch",
    .arguments = "DATASET",
    .argument_min = 1,
    .argument_max = 1,
    .summary = "Download fashion-mnist, mnist or cifar10",
    .details = "An interrupted download continues where it ended; sizes and SHA-256 sums are\n"
               "checked before anything is put into its place.\n",
    .options = options,
    .run = run,
};
