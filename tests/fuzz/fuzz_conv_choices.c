/* SPDX-License-Identifier: MIT */
/* The file of kept choices of cuDNN's ways: whatever it holds, a new choice is found in it. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "engine/device/cuda/dnn/conv/choices.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    const struct conv_choice choice = {
        .way = {.engine = 3, .knob_count = 1, .knobs = {{2, 4}}}, .workspace = 7, .seconds = 0.5};
    struct conv_choice found;
    fuzz_put("choices", data, size);
    char *path = path_join(fuzz_folder(), "choices");
    char *key = conv_choices_key(91900, "NVIDIA H200", "conv 1 2 3");
    FUZZ_CHECK(key);
    if (conv_choices_find(path, key, &found))
        FUZZ_CHECK(found.way.knob_count >= 0 && found.way.knob_count <= DNN_KNOBS &&
                   isfinite(found.seconds));
    FUZZ_CHECK(conv_choices_put(path, key, &choice, &err));
    FUZZ_CHECK(conv_choices_find(path, key, &found));
    FUZZ_CHECK(found.way.engine == 3 && found.way.knob_count == 1 && found.workspace == 7);
    FUZZ_CHECK(conv_choices_put(path, key, NULL, &err) && !conv_choices_find(path, key, &found));
    free(key);
    free(path);
    return 0;
}
