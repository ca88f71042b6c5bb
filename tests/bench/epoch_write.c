/* SPDX-License-Identifier: MIT */
/*
 * What writing one epoch costs in a given store: `epoch_write STORE EPOCHS` adds a run with EPOCHS
 * epochs as the engine does, each as a transaction, and prints the median in milliseconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/store.h"
#include "store/write.h"

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static json_t *run_object(long run, long epoch)
{
    return json_pack("{s:I, s:s, s:s, s:s, s:[s], s:i, s:f, s:f, s:f, s:I}", "run", (json_int_t)run,
                     "status", "running", "model", "smallnet", "data", "glyphs", "devices", "cpu:0",
                     "batch", 256, "lr", 0.1, "submitted_at", 1.8e9, "test_acc",
                     1 - 1.0 / (double)(epoch + 1), "epochs_done", (json_int_t)epoch);
}

static bool write_epoch(struct store *store, long run, long epoch, struct error *err)
{
    char text[700];
    json_t *object = run_object(run, epoch);
    snprintf(text, sizeof text, "{\"event\":\"epoch\",\"epoch\":%ld,\"filler\":\"%0500d\"}", epoch,
             0);
    bool ok = (object || error_memory(err, "run")) && store_begin(store, err) &&
              store_put_run(store, object, NULL, NULL, err) &&
              store_add_event(store, run, "epoch", text, err) && store_commit(store, err);
    json_decref(object);
    return ok;
}

static bool measure(struct store *store, long epochs, double *took, struct error *err)
{
    long run;
    bool ok = store_last_number(store, &run, err);
    for (long i = 0; ok && i < epochs; i++) {
        double begin = clock_seconds();
        ok = write_epoch(store, run + 1, i + 1, err);
        took[i] = 1e3 * (clock_seconds() - begin);
    }
    return ok && store_delete_run(store, run + 1, err);
}

int main(int count, char **arguments)
{
    struct error err = ERROR_INIT;
    struct store *store = NULL;
    char notice[700];
    long epochs = count == 3 ? strtol(arguments[2], NULL, 10) : 0;
    double *took = epochs > 0 ? calloc((size_t)epochs, sizeof *took) : NULL;
    if (!took) {
        fprintf(stderr, "usage: epoch_write STORE EPOCHS\n");
        return 2;
    }
    bool ok = store_open(arguments[1], &store, notice, sizeof notice, &err) &&
              measure(store, epochs, took, &err);
    store_close(store);
    if (ok) {
        qsort(took, (size_t)epochs, sizeof *took, by_value);
        printf("%.4f\n", took[epochs / 2]);
    } else {
        fprintf(stderr, "epoch_write: %s\n", err.text);
    }
    free(took);
    return ok ? 0 : 1;
}
