# SPDX-License-Identifier: MIT
"""A small terminal: takes what a program writes for xterm and keeps the picture, so that tests can
look at the screen as a user would. What it does not know it counts in `unknown`."""
import re

ESCAPE = re.compile(
    rb'\x1b\[([<=>?]?)([0-9;]*)([ !"$\']?)([@-~])'  # CSI
    rb'|\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)'        # OSC
    rb'|\x1b[()*+](.)'                              # character sets
    rb'|\x1b([=>78MDEHc])')


class Screen:
    def __init__(self, rows, columns):
        self.unknown = []
        self.pending = b''
        self.alternate = False
        self.cursor_shown = True
        self.modes = set()  # of the mouse, and of marks around pasted text
        self.bytes = 0
        self.saved = (0, 0)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        old = getattr(self, 'cells', [])
        self.rows, self.columns = rows, columns
        self.cells = [[(old[y][x] if y < len(old) and x < len(old[y]) else ' ')
                       for x in range(columns)] for y in range(rows)]
        self.top, self.bottom = 0, rows - 1
        self.y = min(getattr(self, 'y', 0), rows - 1)
        self.x = min(getattr(self, 'x', 0), columns - 1)
        self.wrap = False
        self.last = ' '

    def dump(self):
        return '\n'.join(''.join(row).rstrip() for row in self.cells) + '\n'

    def feed(self, data):
        self.bytes += len(data)
        data = self.pending + data
        self.pending = b''
        at = 0
        while at < len(data):
            byte = data[at]
            if byte == 0x1b:
                match = ESCAPE.match(data, at)
                if match is None:
                    if len(data) - at < 32:
                        self.pending = data[at:]
                        return
                    self.unknown.append(data[at:at + 8])
                    at += 1
                    continue
                self._escape(match)
                at = match.end()
            elif byte < 0x20 or byte == 0x7f:
                self._control(byte)
                at += 1
            else:
                size = 1 if byte < 0x80 else 2 if byte < 0xe0 else 3 if byte < 0xf0 else 4
                if at + size > len(data):
                    self.pending = data[at:]
                    return
                self._put(data[at:at + size].decode())
                at += size

    def _control(self, byte):
        if byte == 8:
            self.x, self.wrap = max(self.x - 1, 0), False
        elif byte == 13:
            self.x, self.wrap = 0, False
        elif byte == 10:
            self._line_feed()
        elif byte == 9:
            self.x = min((self.x // 8 + 1) * 8, self.columns - 1)
        elif byte not in (0, 7, 14, 15):
            self.unknown.append(bytes([byte]))

    def _line_feed(self):
        self.wrap = False
        if self.y == self.bottom:
            self._scroll(1)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def _scroll(self, count):
        blank = [[' '] * self.columns for _ in range(abs(count))]
        part = self.cells[self.top:self.bottom + 1]
        part = part[count:] + blank if count > 0 else blank + part[:count]
        self.cells[self.top:self.bottom + 1] = part[:self.bottom + 1 - self.top]

    def _put(self, character):
        if self.wrap:
            self.x = 0
            self._line_feed()
        self.cells[self.y][self.x] = self.last = character
        if self.x == self.columns - 1:
            self.wrap = True
        else:
            self.x += 1

    def _escape(self, match):
        mark, numbers, middle, final, _, charset, single = match.groups()
        if final is not None:
            self._csi(mark.decode(), [int(n) if n else 0 for n in numbers.split(b';')],
                      middle.decode() + final.decode())
        elif single == b'M':
            if self.y == self.top:
                self._scroll(-1)
            else:
                self.y -= 1
        elif single == b'7':
            self.saved = (self.y, self.x)
        elif single == b'8':
            self.y, self.x = self.saved
        elif single == b'c':
            self.resize(self.rows, self.columns)

    def _blank(self, y, first, last):
        for x in range(max(first, 0), min(last + 1, self.columns)):
            self.cells[y][x] = ' '

    def _erase_display(self, how):
        self._erase_line(how)
        rows = range(self.y + 1, self.rows) if how == 0 else range(self.y) if how == 1 \
            else range(self.rows)
        for y in rows:
            self._blank(y, 0, self.columns)

    def _erase_line(self, how):
        self._blank(self.y, self.x if how == 0 else 0, self.x if how == 1 else self.columns)

    def _lines(self, count):
        """Insert (or with a negative count delete) lines at the cursor."""
        top, self.top = self.top, self.y
        self._scroll(-count)
        self.top = top

    def _csi(self, mark, numbers, final):
        n = max(numbers[0], 1)
        row = self.cells[self.y]
        if mark:
            if mark == '?' and final in 'hl':
                self._mode(numbers, final == 'h')
            elif final not in 'cmnu':
                self.unknown.append((mark, numbers, final))
            return
        if final not in 'mhl':
            self.wrap = False
        moves = {'A': (-n, 0), 'B': (n, 0), 'C': (0, n), 'D': (0, -n)}
        if final in moves:
            self.y = min(max(self.y + moves[final][0], 0), self.rows - 1)
            self.x = min(max(self.x + moves[final][1], 0), self.columns - 1)
        elif final in 'Hf':
            self.y = min(n, self.rows) - 1
            self.x = min(max(numbers[1], 1) if len(numbers) > 1 else 1, self.columns) - 1
        elif final in 'G`':
            self.x = min(n, self.columns) - 1
        elif final == 'd':
            self.y = min(n, self.rows) - 1
        elif final == 'J':
            self._erase_display(numbers[0])
        elif final == 'K':
            self._erase_line(numbers[0])
        elif final == 'X':
            self._blank(self.y, self.x, self.x + n - 1)
        elif final == 'P':
            self.cells[self.y] = (row[:self.x] + row[self.x + n:] + [' '] * n)[:self.columns]
        elif final == '@':
            self.cells[self.y] = (row[:self.x] + [' '] * n + row[self.x:])[:self.columns]
        elif final == 'L':
            self._lines(n)
        elif final == 'M':
            self._lines(-n)
        elif final == 'S':
            self._scroll(n)
        elif final == 'T':
            self._scroll(-n)
        elif final == 'b':
            for _ in range(n):
                self._put(self.last)
        elif final == 'r':
            self.top = n - 1
            self.bottom = (numbers[1] if len(numbers) > 1 and numbers[1] else self.rows) - 1
            self.y = self.x = 0
        elif final not in ('m', 'h', 'l', 't', 'c', '!p'):
            self.unknown.append((mark, numbers, final))

    def _mode(self, numbers, on):
        for number in numbers:
            if number == 25:
                self.cursor_shown = on
            elif number in (47, 1047, 1049):
                self.alternate = on
            elif number in (1000, 1002, 1003, 1006, 2004):
                (self.modes.add if on else self.modes.discard)(number)
