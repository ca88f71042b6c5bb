/* SPDX-License-Identifier: MIT */
#include "ui/session/log_lines.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/text.h"
#include "ui/session/ui.h"
#include "ui/state/log.h"

const char *log_level_name(enum log_level level)
{
    static const char *const names[] = {
        [LOG_INFO] = "info", [LOG_WARNING] = "warning", [LOG_ERROR] = "error"};
    return names[level];
}

/* The next word, in `size` bytes; what is left. */
static const char *next_word(const char *words, char *word, size_t size)
{
    const size_t length = strcspn(words, " ");
    snprintf(word, size, "%.*s", (int)length, words);
    words += length;
    return words + strspn(words, " ");
}

/* Is it of that run, or does it name it? */
static bool is_about(const struct log_line *line, long run)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "run %ld", run);
    const char *at = line->text;
    while ((at = strcasestr(at, name)) && isdigit((unsigned char)at[length]))
        at += length;
    return line->run == run || at;
}

bool log_matches(const struct log_line *line, const char *words)
{
    char before[48], word[64], next[64];
    long run;
    snprintf(before, sizeof before, line->run != 0 ? "%s run %ld" : "%s",
             log_level_name(line->level), line->run);
    for (words += strspn(words, " "); *words != '\0';) {
        words = next_word(words, word, sizeof word);
        const char *after = next_word(words, next, sizeof next);
        if (strcasecmp(word, "run") == 0 && parse_long(next, 0, LONG_MAX, &run)) {
            if (!is_about(line, run))
                return false;
            words = after;
        } else if (!strcasestr(line->text, word) && !strcasestr(before, word)) {
            return false;
        }
    }
    return true;
}

int log_shown(const struct ui *ui, int lines[STATE_MAX_LOG])
{
    int count = 0;
    for (int i = 0; i < ui->state.log_count; i++)
        if (log_matches(&ui->state.log[i], ui->log.filter))
            lines[count++] = i;
    return count;
}

void log_arrived(struct ui *ui)
{
    int count = ui->state.log_count;
    if (ui->log.back > 0 && count > 0 && log_matches(&ui->state.log[count - 1], ui->log.filter))
        ui->log.back++;
}

void ui_log_local(struct ui *ui, enum log_level level, const char *format, ...)
{
    struct error err = ERROR_INIT;
    struct timespec now = {0};
    va_list arguments;
    char text[700];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    clock_gettime(CLOCK_REALTIME, &now);
    if (state_log_local(&ui->state, (double)now.tv_sec + (double)now.tv_nsec / 1e9, level, text,
                        &err))
        log_arrived(ui);
    else
        ui_say(ui, true, "%s", err.text);
}

void log_lost_devices(struct ui *ui)
{
    char name[DEVICE_NAME];
    for (int i = 0; i < ui->state.device_count; i++) {
        struct state_device *device = &ui->state.devices[i];
        if (!device->lost || device->lost_told)
            continue;
        device->lost_told = true;
        const char *reason = device->reason[0] != '\0' ? device->reason : "no reason is known";
        device_id_text(device->id, name);
        ui_log_local(ui, LOG_ERROR, "%s %s: %s", name, device->available ? "failed" : "is lost",
                     reason);
        ui_say(ui, true, "%s %s: %s", name, device->available ? "failed" : "is lost", reason);
    }
}
