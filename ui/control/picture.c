/* SPDX-License-Identifier: MIT */
#include "ui/control/picture.h"

#include <stdio.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "ui/draw/ansi.h"

static bool accept(struct ui *ui, const char *path)
{
    if (!prompt_new_file(ui, path, sizeof ui->want_picture))
        return false;
    snprintf(ui->want_picture, sizeof ui->want_picture, "%s", path);
    return true;
}

static const struct prompt picture_prompt = {
    .label = "Write this screen to: ",
    .hint = ".ans: with colours",
    .accept = accept,
};

void picture_ask(struct ui *ui)
{
    char name[64] = "dpartui.txt";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(name, sizeof name, "dpartui-%Y%m%d-%H%M%S.txt", &local);
    ui_prompt(ui, &picture_prompt, 0, name);
}

void picture_write(struct ui *ui, const struct surface *surface, const struct theme *theme)
{
    struct error err = ERROR_INIT;
    struct text text = TEXT_INIT;
    if (text_ends_in(ui->want_picture, ".ans"))
        surface_dump_ansi(surface, theme, &text);
    else
        surface_dump(surface, &text);
    bool ok = file_write(ui->want_picture, &text, &err);
    if (ok) {
        ui_say(ui, false, "the screen is in %s", ui->want_picture);
    } else {
        ui_log_local(ui, LOG_ERROR, "the picture was not written: %s", err.text);
        ui_say(ui, true, "%s", err.text);
    }
    ui->want_picture[0] = '\0';
}
