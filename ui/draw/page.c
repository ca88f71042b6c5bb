/* SPDX-License-Identifier: MIT */
#include "ui/draw/page.h"

#include <stdarg.h>
#include <stdio.h>

enum { LABEL_WIDTH = 11 };

int page_next(struct page *page)
{
    int row = page->line++ - page->first;
    return row >= 0 && row < page->area.h ? page->area.y + row : -1;
}

void page_title(struct page *page, const char *format, ...)
{
    char text[160];
    va_list arguments;
    if (page->line > 0)
        page_next(page);
    int y = page_next(page);
    if (y < 0)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    surface_text(page->surface, y, page->area.x, page->area.w, STYLE_STRONG, text);
}

/* Text from column `indent` on; `label` before its first line. */
static void write_lines(struct page *page, const char *label, int indent, enum style style,
                        const char *text)
{
    int width = page->area.w > indent + 1 ? page->area.w - indent : 1;
    bool first = true;
    do {
        size_t length = text_line_length(text, width);
        char line[1024];
        int y = page_next(page);
        if (y >= 0) {
            snprintf(line, sizeof line, "%.*s", (int)length, text);
            if (first)
                surface_text(page->surface, y, page->area.x, page->area.w, STYLE_LABEL, label);
            surface_text(page->surface, y, page->area.x + indent, page->area.w - indent, style,
                         line);
        }
        first = false;
        for (text += length; *text == ' '; text++)
            ;
    } while (*text != '\0');
}

void page_entry(struct page *page, const char *label, enum style style, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    write_lines(page, label, LABEL_WIDTH, style, text);
}

void page_paragraph(struct page *page, enum style style, const char *text)
{
    write_lines(page, "", 0, style, text);
}
