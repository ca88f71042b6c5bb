/* SPDX-License-Identifier: MIT */
#include "ui/app/term_input.h"

#include <curses.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <term.h>

#include "base/clock.h"
#include "ui/draw/key.h"

enum { PASTE_BEGIN = KEY_MAX + 1, PASTE_END };

/* Without a limit a terminal that never sends the end would swallow all keys. */
#define PASTE_SILENCE_S    5.0
#define SEQUENCE_SILENCE_S 0.5
#define DOUBLE_CLICK_S     0.4

enum { X10_BYTES = 3, X10_BASE = 32 };

/*
 * What terminals send that call themselves something simpler: editing keys of the VT220 and of
 * xterm, function keys of both, of the console of Linux and of rxvt, arrows in both modes.
 */
static const struct {
    const char *sequence;
    int key;
} sequences[] = {
    {"\033[A", KEY_UP},      {"\033OA", KEY_UP},         {"\033[B", KEY_DOWN},
    {"\033OB", KEY_DOWN},    {"\033[C", KEY_RIGHT},      {"\033OC", KEY_RIGHT},
    {"\033[D", KEY_LEFT},    {"\033OD", KEY_LEFT},       {"\033[H", KEY_HOME},
    {"\033OH", KEY_HOME},    {"\033[1~", KEY_HOME},      {"\033[7~", KEY_HOME},
    {"\033[F", KEY_END},     {"\033OF", KEY_END},        {"\033[4~", KEY_END},
    {"\033[8~", KEY_END},    {"\033[2~", KEY_IC},        {"\033[3~", KEY_DC},
    {"\033[5~", KEY_PPAGE},  {"\033[6~", KEY_NPAGE},     {"\033[Z", KEY_BTAB},
    {"\033OM", KEY_ENTER},   {"\033OP", KEY_F(1)},       {"\033OQ", KEY_F(2)},
    {"\033OR", KEY_F(3)},    {"\033OS", KEY_F(4)},       {"\033[[A", KEY_F(1)},
    {"\033[[B", KEY_F(2)},   {"\033[[C", KEY_F(3)},      {"\033[[D", KEY_F(4)},
    {"\033[[E", KEY_F(5)},   {"\033[11~", KEY_F(1)},     {"\033[12~", KEY_F(2)},
    {"\033[13~", KEY_F(3)},  {"\033[14~", KEY_F(4)},     {"\033[15~", KEY_F(5)},
    {"\033[17~", KEY_F(6)},  {"\033[18~", KEY_F(7)},     {"\033[19~", KEY_F(8)},
    {"\033[20~", KEY_F(9)},  {"\033[21~", KEY_F(10)},    {"\033[23~", KEY_F(11)},
    {"\033[24~", KEY_F(12)}, {"\033[200~", PASTE_BEGIN}, {"\033[201~", PASTE_END},
};

static const struct {
    wint_t curses;
    int key;
} names[] = {
    {KEY_UP, KEYCODE_UP},         {KEY_DOWN, KEYCODE_DOWN},    {KEY_LEFT, KEYCODE_LEFT},
    {KEY_RIGHT, KEYCODE_RIGHT},   {KEY_BTAB, KEYCODE_BACKTAB}, {KEY_BACKSPACE, KEYCODE_BACKSPACE},
    {KEY_DC, KEYCODE_DELETE},     {KEY_HOME, KEYCODE_HOME},    {KEY_END, KEYCODE_END},
    {KEY_PPAGE, KEYCODE_PAGE_UP}, {KEY_ENTER, KEYCODE_ENTER},  {KEY_NPAGE, KEYCODE_PAGE_DOWN},
};

void term_input_open(struct term_input *input, struct _win_st *keys, bool mouse)
{
    *input = (struct term_input){.keys = keys, .mouse = mouse, .click_y = -1};
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        if (key_defined(sequences[i].sequence) == 0)
            define_key(sequences[i].sequence, sequences[i].key);
    /* Given a click that it did not ask for, curses would wait for more. */
    keyok(KEY_MOUSE, FALSE);
}

/* Unlike all that curses writes this goes through stdio. */
static void write_modes(const char *sequence)
{
    putp(sequence);
    fflush(stdout);
}

static void report_mouse(bool on)
{
    if (key_mouse)
        write_modes(on ? "\033[?1000h\033[?1006h" : "\033[?1006l\033[?1000l");
}

void term_input_report(const struct term_input *input, bool on)
{
    const char *marks = tigetstr(on ? "BE" : "BD");
    /* Descriptions of terminals came to know them late; whoever has a mouse has them. */
    if (marks && marks != (const char *)(intptr_t)-1)
        write_modes(marks);
    else if (key_mouse)
        write_modes(on ? "\033[?2004h" : "\033[?2004l");
    if (input->mouse)
        report_mouse(on);
}

void term_input_mouse(struct term_input *input, bool on)
{
    if (input->mouse != on)
        report_mouse(on);
    input->mouse = on;
}

/*
 * Behind an escape that comes with more: Alt and a key, or a sequence that curses does not know.
 * All of it is one key without a meaning, or the mouse; taken apart it would be keys with one.
 */
static int behind_escape(struct term_input *input)
{
    wint_t next;
    if (wget_wch(input->keys, &next) != OK)
        return KEYCODE_ESCAPE;
    if (next == KEYCODE_ESCAPE) {
        unget_wch((wchar_t)next);
        return KEYCODE_ESCAPE;
    }
    if (next == '[' || next == 'O') {
        input->sequence = next == '[' ? SEQUENCE_CSI : SEQUENCE_SS3;
        input->length = 0;
        input->heard = clock_seconds();
    }
    return KEYCODE_OTHER;
}

static int plain_key(struct term_input *input, wint_t key)
{
    switch (key) {
    case '\r':
        return KEYCODE_ENTER;
    case 127:
    case 8:
        return KEYCODE_BACKSPACE;
    case KEYCODE_ESCAPE:
        return behind_escape(input);
    default:
        return key > 0x10ffff ? KEYCODE_OTHER : (int)key;
    }
}

static int named_key(wint_t key)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].curses == key)
            return names[i].key;
    if (key >= KEY_F(1) && key <= KEY_F(12))
        return KEYCODE_F1 + (int)(key - KEY_F(1));
    return KEYCODE_OTHER;
}

static enum mouse_event click(struct term_input *input, int y, int x)
{
    double now = clock_seconds();
    bool again =
        y == input->click_y && x == input->click_x && now - input->clicked < DOUBLE_CLICK_S;
    input->click_y = again ? -1 : y; /* a third one is a first one */
    input->click_x = x;
    input->clicked = now;
    return again ? MOUSE_DOUBLE : MOUSE_CLICK;
}

/* A button at a place that counts from 1; true when it is one that does something. */
static bool take_button(struct term_input *input, int button, int x, int y,
                        struct term_event *event)
{
    enum { SHIFT_META_CONTROL = 4 | 8 | 16, WHEEL_UP = 64, WHEEL_DOWN = 65 };
    *event = (struct term_event){.kind = TERM_MOUSE, .y = y - 1, .x = x - 1};
    switch (button & ~SHIFT_META_CONTROL) {
    case 0:
        event->mouse = click(input, y, x);
        return true;
    case WHEEL_UP:
    case WHEEL_DOWN:
        event->mouse = button & 1 ? MOUSE_WHEEL_DOWN : MOUSE_WHEEL_UP;
        return true;
    default:
        return false;
    }
}

/* The sequence is whole; true when it makes an event. */
static bool end_sequence(struct term_input *input, wint_t last, struct term_event *event)
{
    int button, x, y;
    input->sequence = SEQUENCE_NONE;
    input->text[input->length] = '\0';
    if (last == 'M' && input->mouse && input->length == 0) {
        input->sequence = SEQUENCE_X10;
        return false;
    }
    return last == 'M' && sscanf(input->text, "<%4d;%4d;%4d", &button, &x, &y) == 3 &&
           take_button(input, button, x, y, event);
}

static void keep(struct term_input *input, wint_t key)
{
    char bytes[5];
    size_t count = key <= 0x10ffff ? (size_t)text_encode((char32_t)key, bytes) : 0;
    if (input->length + count < sizeof input->text) {
        memcpy(input->text + input->length, bytes, count);
        input->length += count;
    }
}

/* One more character of a sequence; true when it makes an event. */
static bool take_sequence(struct term_input *input, wint_t key, struct term_event *event)
{
    const char *text = input->text;
    input->heard = clock_seconds();
    switch (input->sequence) {
    case SEQUENCE_X10:
        keep(input, key < 0x80 ? key : '~');
        if (input->length < X10_BYTES)
            return false;
        input->sequence = SEQUENCE_NONE;
        return take_button(input, text[0] - X10_BASE, text[1] - X10_BASE, text[2] - X10_BASE,
                           event);
    case SEQUENCE_CSI:
        if (key >= '@' && key <= '~')
            return end_sequence(input, key, event);
        keep(input, key);
        return false;
    default:
        input->sequence = SEQUENCE_NONE;
        return false;
    }
}

/* One more key of the pasted text; true when that was the last. */
static bool take_pasted(struct term_input *input, int status, wint_t key, struct term_event *event)
{
    input->heard = clock_seconds();
    if (status == OK)
        keep(input, key);
    if (status != KEY_CODE_YES || key != PASTE_END)
        return false;
    input->pasting = false;
    input->text[input->length] = '\0';
    *event = (struct term_event){.kind = TERM_PASTE, .text = input->text};
    return true;
}

static void begin_paste(struct term_input *input)
{
    input->pasting = true;
    input->length = 0;
    input->heard = clock_seconds();
}

/* What is no longer happening. */
static void give_up(struct term_input *input)
{
    double silence = clock_seconds() - input->heard;
    if (silence > PASTE_SILENCE_S)
        input->pasting = false;
    if (silence > SEQUENCE_SILENCE_S)
        input->sequence = SEQUENCE_NONE;
}

/* One key from curses; true when it makes an event. */
static bool take(struct term_input *input, int status, wint_t key, struct term_event *event)
{
    give_up(input);
    if (input->pasting)
        return take_pasted(input, status, key, event);
    if (status == OK && input->sequence != SEQUENCE_NONE && key >= ' ')
        return take_sequence(input, key, event);
    input->sequence = SEQUENCE_NONE;
    if (status == KEY_CODE_YES && key == PASTE_BEGIN) {
        begin_paste(input);
        return false;
    }
    *event = (struct term_event){.kind = TERM_KEY,
                                 .key = status == OK ? plain_key(input, key) : named_key(key)};
    return input->sequence == SEQUENCE_NONE;
}

bool term_input_next(struct term_input *input, struct term_event *event)
{
    wint_t key;
    for (int status; (status = wget_wch(input->keys, &key)) != ERR;)
        if (take(input, status, key, event))
            return true;
    return false;
}
