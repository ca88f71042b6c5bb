/* SPDX-License-Identifier: MIT */
#include "engine/fetch/fetch.h"

#include <string.h>

#include "engine/fetch/set.h"

#define CIFAR_BATCH_BYTES 30730000 /* 10,000 records of 3073 bytes */

static const struct fetch_set known_sets[] = {
    {.name = "fashion-mnist",
     .base = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
     .file_count = 4,
     .files = {{"train-images-idx3-ubyte.gz", 26421880,
                "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
               {"train-labels-idx1-ubyte.gz", 29515,
                "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
               {"t10k-images-idx3-ubyte.gz", 4422102,
                "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
               {"t10k-labels-idx1-ubyte.gz", 5148,
                "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}}},
    {.name = "mnist",
     .base = "https://ossci-datasets.s3.amazonaws.com/mnist/",
     .file_count = 4,
     .files = {{"train-images-idx3-ubyte.gz", 9912422,
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
               {"train-labels-idx1-ubyte.gz", 28881,
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
               {"t10k-images-idx3-ubyte.gz", 1648877,
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
               {"t10k-labels-idx1-ubyte.gz", 4542,
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}}},
    {.name = "cifar10",
     .base = "https://www.cs.toronto.edu/~kriz/",
     .file_count = 1,
     .files = {{"cifar-10-binary.tar.gz", 170052171,
                "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}},
     .folder = "cifar-10-batches-bin",
     .member_count = 6,
     .members = {{"data_batch_1.bin", CIFAR_BATCH_BYTES, NULL},
                 {"data_batch_2.bin", CIFAR_BATCH_BYTES, NULL},
                 {"data_batch_3.bin", CIFAR_BATCH_BYTES, NULL},
                 {"data_batch_4.bin", CIFAR_BATCH_BYTES, NULL},
                 {"data_batch_5.bin", CIFAR_BATCH_BYTES, NULL},
                 {"test_batch.bin", CIFAR_BATCH_BYTES, NULL}}},
};

bool fetch_dataset(const char *name, const char *data_dir, const char *from, fetch_report *report,
                   void *context, struct error *err)
{
    for (size_t i = 0; i < sizeof known_sets / sizeof *known_sets; i++)
        if (strcmp(name, known_sets[i].name) == 0)
            return fetch_set(&known_sets[i], data_dir, from, &fetch_patience_default, report,
                             context, err);
    return error_set(err, ERROR_USAGE,
                     "no data set '%s' to fetch: there are fashion-mnist, mnist and cifar10", name);
}
