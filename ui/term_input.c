/* SPDX-License-Identifier: MIT */
#include "ui/term_input.h"

#include <curses.h>
#include <stdint.h>
#include <string.h>
#include <term.h>

#include "base/clock.h"
#include "ui/key.h"

enum { PASTE_BEGIN = KEY_MAX + 1, PASTE_END };

/* A terminal that forgets the second mark would otherwise swallow keys for ever. */
#define PASTE_SILENCE_S 5.0
#define DOUBLE_CLICK_S  0.4

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

void term_input_open(struct term_input *input)
{
    *input = (struct term_input){.click_y = -1};
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        if (key_defined(sequences[i].sequence) == 0)
            define_key(sequences[i].sequence, sequences[i].key);
    mouseinterval(0);
}

void term_input_marks(bool on)
{
    char *string = tigetstr(on ? "BE" : "BD");

    /* Descriptions of terminals came to know them late; whoever has a mouse has them. */
    if (string != NULL && string != (char *)(intptr_t)-1)
        putp(string);
    else if (key_mouse != NULL)
        putp(on ? "\033[?2004h" : "\033[?2004l");
}

void term_input_mouse(struct term_input *input, bool on)
{
    if (input->mouse != on)
        mousemask(on ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL);
    input->mouse = on;
}

/*
 * Behind an escape that comes with more: Alt and a key, or a sequence that nobody here knows. All
 * of it is one key without a meaning; taken apart it would be several with one.
 */
static int rest_of_escape(void)
{
    wint_t next;

    if (get_wch(&next) != OK)
        return KEYCODE_ESCAPE;
    if (next == KEYCODE_ESCAPE) {
        unget_wch((wchar_t)next);
        return KEYCODE_ESCAPE;
    }
    if (next == '[' || next == 'O')
        while (get_wch(&next) == OK && next >= 0x20 && next < 0x40)
            ;
    return KEYCODE_OTHER;
}

static int plain_key(wint_t key)
{
    switch (key) {
    case '\r':
        return KEYCODE_ENTER;
    case 127:
    case 8:
        return KEYCODE_BACKSPACE;
    case KEYCODE_ESCAPE:
        return rest_of_escape();
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

static void take_click(struct term_input *input, const MEVENT *mouse, struct term_event *event)
{
    double now = clock_seconds();
    bool again = mouse->y == input->click_y && mouse->x == input->click_x &&
                 now - input->clicked < DOUBLE_CLICK_S;

    event->mouse = again ? MOUSE_DOUBLE : MOUSE_CLICK;
    input->click_y = again ? -1 : mouse->y; /* a third one is a first one */
    input->click_x = mouse->x;
    input->clicked = now;
}

static void take_mouse(struct term_input *input, struct term_event *event)
{
    MEVENT mouse;

    *event = (struct term_event){.kind = TERM_KEY, .key = KEYCODE_OTHER};
    if (getmouse(&mouse) != OK)
        return;
    *event = (struct term_event){.kind = TERM_MOUSE, .y = mouse.y, .x = mouse.x};
    if (mouse.bstate & BUTTON1_PRESSED)
        take_click(input, &mouse, event);
    else
        event->mouse = mouse.bstate & BUTTON4_PRESSED ? MOUSE_WHEEL_UP : MOUSE_WHEEL_DOWN;
}

/* One more key of the pasted text; true when that was the last. */
static bool take_pasted(struct term_input *input, int status, wint_t key)
{
    char bytes[5];

    input->heard = clock_seconds();
    if (status == KEY_CODE_YES)
        return key == PASTE_END;
    size_t count = key <= 0x10ffff ? (size_t)text_encode((char32_t)key, bytes) : 0;
    if (input->length + count < sizeof input->pasted) {
        memcpy(input->pasted + input->length, bytes, count);
        input->length += count;
    }
    return false;
}

static void begin_paste(struct term_input *input)
{
    input->pasting = true;
    input->length = 0;
    input->heard = clock_seconds();
}

bool term_input_next(struct term_input *input, struct term_event *event)
{
    wint_t key;

    for (int status; (status = get_wch(&key)) != ERR;) {
        if (input->pasting && clock_seconds() - input->heard > PASTE_SILENCE_S)
            input->pasting = false;
        if (input->pasting) {
            if (!take_pasted(input, status, key))
                continue;
            input->pasting = false;
            input->pasted[input->length] = '\0';
            *event = (struct term_event){.kind = TERM_PASTE, .text = input->pasted};
            return true;
        }
        if (status == KEY_CODE_YES && key == PASTE_BEGIN) {
            begin_paste(input);
            continue;
        }
        if (status == KEY_CODE_YES && key == KEY_MOUSE)
            take_mouse(input, event);
        else
            *event = (struct term_event){.kind = TERM_KEY,
                                         .key = status == OK ? plain_key(key) : named_key(key)};
        return true;
    }
    return false;
}
