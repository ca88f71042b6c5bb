/* SPDX-License-Identifier: MIT */
/* A model description, laid out for two kinds of data and for none. */
#include "base/file.h"
#include "engine/model/file.h"
#include "engine/net/net.h"
#include "tests/fuzz/fuzz.h"

static void check(bool loaded, struct net *net, const struct error *err)
{
    if (!loaded) {
        FUZZ_CHECK(err->text[0]);
        return;
    }
    FUZZ_CHECK(net->output < net->tensor_count);
    FUZZ_CHECK(net->tensors[net->output].shape.c == net->classes);
    for (int i = 0; i < net->param_count; i++)
        FUZZ_CHECK(net->params[i].offset + net->params[i].count <= net->value_count);
    FUZZ_CHECK(net_training_flops(net) >= 0);
    net_free(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct net_shape shapes[] = {{1, 28, 28}, {3, 32, 32}};
    fuzz_put("model.conf", data, size);
    char *path = path_join(fuzz_folder(), "model.conf");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct error err = ERROR_INIT;
        struct net *net = NULL;
        bool loaded = net_load(path, shapes[i], 10, &net, &err);
        check(loaded, net, &err);
    }
    struct error err = ERROR_INIT;
    struct net *net = NULL;
    bool loaded = net_load_default(path, &net, &err);
    check(loaded, net, &err);
    free(path);
    return 0;
}
