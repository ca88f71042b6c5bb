/* SPDX-License-Identifier: MIT */
#include "output/plot.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ui/draw/surface.h"

bool plot_print(const struct chart *chart, int rows, int columns, struct error *err)
{
    struct surface surface = {.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0};
    struct text text = TEXT_INIT;
    bool ok = surface_resize(&surface, rows, columns, err) &&
              chart_draw(chart, &surface, (struct rect){0, 0, rows, columns}, err);
    if (ok) {
        surface_dump(&surface, &text);
        const char *drawn = text_cstr(&text);
        ok = drawn || error_memory(err, "chart");
        if (ok)
            fputs(drawn, stdout);
    }
    text_free(&text);
    surface_free(&surface);
    return ok;
}
