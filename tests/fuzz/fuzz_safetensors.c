/* SPDX-License-Identifier: MIT */
/* One file as weights, as momentum, as something with a note, and as a checkpoint of two files. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "engine/device/optimizer.h"
#include "engine/model/file.h"
#include "engine/train/checkpoint/checkpoint.h"
#include "engine/weights/file.h"
#include "engine/weights/normalization.h"
#include "tests/fuzz/fuzz.h"

static const char model[] = "input = [1, 2, 2];\n"
                            "classes = 2;\n"
                            "layers = (\n"
                            "  { type = \"conv\"; channels = 2; kernel = 1; bias = false; },\n"
                            "  { type = \"batchnorm\"; },\n"
                            "  { type = \"linear\"; outputs = \"classes\"; });\n";

static const char *const names[] = {"step-00000001.safetensors",
                                    "step-00000001.momentum.safetensors"};

/* The network, read once: a separate file, because folders are emptied. */
static const struct net *network(void)
{
    static struct net *net;
    struct error err = ERROR_INIT;
    if (!net) {
        fuzz_put("small.conf", model, sizeof model - 1);
        char *path = path_join(fuzz_folder(), "small.conf");
        FUZZ_CHECK(net_load(path, (struct net_shape){1, 2, 2}, 2, &net, &err));
        free(path);
    }
    return net;
}

/* Without momentum, and with. */
static const struct state_arrays arrays[] = {{0}, {1, {"momentum_buffer"}}};

static void read_checkpoint(bool momentum)
{
    struct error err = ERROR_INIT;
    struct checkpoint checkpoint;
    long steps;
    FUZZ_CHECK(checkpoint_create(network(), &arrays[momentum], &checkpoint, &err));
    FUZZ_CHECK(checkpoint_find(fuzz_folder(), &steps, &err) && steps == 1);
    if (checkpoint_read(network(), fuzz_folder(), steps, &checkpoint, &err)) {
        FUZZ_CHECK(checkpoint.place.batch > 0 && checkpoint.place.steps >= 0);
        /* What can be read is whole; the momentum may only be there for a run that has some. */
        FUZZ_CHECK(!momentum || checkpoint_verify_steps(fuzz_folder(), steps, &err));
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    checkpoint_free(&checkpoint);
}

/* All numbers that are taken, or none. */
static void read_normalization(const char *path)
{
    struct error err = ERROR_INIT;
    struct net net = *network();
    net.mean_of_data = net.std_of_data = true;
    if (!normalization_read(path, &net, &err))
        FUZZ_CHECK(err.text[0]);
    FUZZ_CHECK(net.mean_count == 0 || isfinite(net.mean[0]));
    FUZZ_CHECK(net.std_count == 0 || net.std[0] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct weights weights;
    bool found[STATE_ARRAYS];
    const struct net *net = network();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fuzz_put(names[i], data, size);
    char *path = path_join(fuzz_folder(), names[0]), *note = NULL;
    FUZZ_CHECK(weights_create(net, &weights, &err));
    if (!weights_read(net, path, &weights, &err))
        FUZZ_CHECK(err.text[0]);
    if (!state_read(net, path, &arrays[1], weights.values, found, &err))
        FUZZ_CHECK(err.text[0]);
    if (weights_read_note(path, &note, &err))
        FUZZ_CHECK(note && strlen(note) <= size);
    err = (struct error)ERROR_INIT;
    if (!checkpoint_verify(path, &err))
        FUZZ_CHECK(err.text[0]);
    read_normalization(path);
    read_checkpoint(false);
    read_checkpoint(true);
    free(note);
    free(path);
    weights_free(&weights);
    return 0;
}
