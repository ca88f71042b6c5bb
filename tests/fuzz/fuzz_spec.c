/* SPDX-License-Identifier: MIT */
/*
 * What defines a run, from outside: an object of JSON, or lines KEY=VALUE. Either way, what was
 * taken must be the same after it was written and read again. Paths that are no UTF-8 cannot be
 * written as JSON, which the command line says.
 */
#include <string.h>

#include "spec/json.h"
#include "spec/set.h"
#include "spec/spec.h"
#include "spec/text.h"
#include "tests/fuzz/fuzz.h"

static bool is_utf8(const uint8_t *data, size_t size)
{
    json_t *string = json_stringn((const char *)data, size);
    json_decref(string);
    return string;
}

static void check_again(const struct spec *spec, bool utf8)
{
    struct error err = ERROR_INIT;
    struct spec again;
    json_t *first = spec_to_json(spec);
    FUZZ_CHECK(first || !utf8);
    if (!first)
        return;
    spec_init(&again);
    if (!spec_from_json(&again, first, &err)) {
        fprintf(stderr, "%s\n", err.text);
        FUZZ_CHECK(!"a spec that was written can be read");
    }
    json_t *second = spec_to_json(&again);
    FUZZ_CHECK(json_equal(first, second));
    json_decref(first);
    json_decref(second);
    spec_free(&again);
}

static void take_lines(struct spec *spec, char *text)
{
    struct error err = ERROR_INIT;
    for (char *line; (line = strsep(&text, "\n"));) {
        char *value = strchr(line, '=');
        if (!value)
            continue;
        *value++ = '\0';
        if (!spec_set(spec, line, value, &err)) {
            FUZZ_CHECK(err.text[0]);
            continue;
        }
        char *got = spec_get(spec, line, &err);
        FUZZ_CHECK(got);
        FUZZ_CHECK(spec_set(spec, line, got, &err));
        free(got);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = ERROR_INIT;
    struct spec spec;
    char *text = fuzz_string(data, size);
    json_t *object = json_loadb(text, size, 0, NULL);
    spec_init(&spec);
    if (!object)
        take_lines(&spec, text);
    if (!object || spec_from_json(&spec, object, &err)) {
        if (spec_validate(&spec, &err))
            check_again(&spec, is_utf8(data, size));
    } else {
        FUZZ_CHECK(err.text[0]);
    }
    json_decref(object);
    spec_free(&spec);
    free(text);
    return 0;
}
