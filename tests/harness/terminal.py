# SPDX-License-Identifier: MIT
"""A program on a pseudo terminal, for tests/terminal/screen.py."""
import fcntl
import glob
import os
import pty
import select
import signal
import struct
import termios
import time

from vt import Screen

OPEN_OTHER_END = 0x5441  # TIOCGPTPEER of <asm-generic/ioctls.h>
PATIENCE = float(os.environ.get('SCREEN_PATIENCE', '40'))  # seconds before a test gives up
KEYS = {'Up': '\x1b[A', 'Down': '\x1b[B', 'Right': '\x1b[C', 'Left': '\x1b[D', 'Tab': '\t',
        'Enter': '\r', 'Esc': '\x1b', 'Ctrl-C': '\x03', 'Ctrl-L': '\x0c', 'Ctrl-Z': '\x1a',
        'Space': ' ', 'Home': '\x1b[H', 'End': '\x1b[F', 'Backspace': '\x7f'}
# In application mode, which curses switches on, arrows are sent like this.
KEYS.update({name: '\x1bO' + KEYS[name][-1] for name in ('Up', 'Down', 'Right', 'Left', 'Home',
                                                         'End')})


class Terminal:
    """A program on a pseudo terminal, with files in `folder`, started in `directory`. With `job`,
    below a shell-like parent that can stop it."""

    def __init__(self, command, folder, rows=24, columns=80, job=False, directory=None,
                 **environment):
        self.screen = Screen(rows, columns)
        env = dict(os.environ, XDG_RUNTIME_DIR=folder, TERM='xterm-256color', LC_ALL='C.UTF-8',
                   PATH='/usr/bin:/bin')
        env.update(environment)
        go, gone = os.pipe()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.close(gone)
                os.read(go, 1)  # until the modes of the terminal have been looked at
                os.close(go)
                # The size is there before the program looks.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
                if directory:
                    os.chdir(directory)
                if job:
                    run_as_job(command, env)
                os.execve(command[0], command, env)
            finally:
                os._exit(127)
        self.before = termios.tcgetattr(self.fd)
        os.close(go)
        os.close(gone)
        self.raw = b''

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds):
        """Take what comes within `seconds`; False when nothing did or the terminal is closed."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.screen.feed(data)
        return bool(data)

    def computes(self):
        """Whether a thread of the program runs, or waits for a processor or a disk."""
        for stat in glob.glob('/proc/%d/task/*/stat' % self.pid) if self.pid else ():
            try:
                with open(stat, encoding='ascii', errors='replace') as file:
                    if file.read().rpartition(')')[2].split()[0] in 'RD':
                        return True
            except OSError:
                pass  # it ended
        return False

    def settle(self, quiet=0.15):
        """Until nothing comes for so long, and the program is not merely delayed."""
        while self.read(quiet) or self.computes():
            pass

    def wait(self, predicate, what):
        deadline = time.monotonic() + PATIENCE
        while not predicate():
            if time.monotonic() > deadline:
                raise AssertionError('%s did not come:\n%s' % (what, self.screen.dump()))
            self.read(0.05)

    def expect(self, text):
        self.wait(lambda: text in self.screen.dump(), repr(text))

    def keys(self, *names):
        for name in names:
            os.write(self.fd, KEYS.get(name, name).encode())
            if name == 'Esc':
                self.settle(0.06)  # so that it is not taken for the start of an arrow key

    def escape(self, text):
        """Press Esc once `text` is there, and wait until it is gone: a key that came to the program
        together with the Esc would be Alt and that key."""
        self.expect(text)
        self.keys('Esc')
        self.wait(lambda: text not in self.screen.dump(), 'a screen without %r' % text)

    def hold(self, hold):
        """Stop the terminal, or start it again, as a program on it could."""
        other_end = fcntl.ioctl(self.fd, OPEN_OTHER_END, os.O_RDWR | os.O_NOCTTY)
        termios.tcflow(other_end, termios.TCOOFF if hold else termios.TCOON)
        os.close(other_end)

    def exit_status(self):
        """Of the program, once it is gone; what it wrote last is taken."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.settle(0.02)
                self.pid = 0
                return os.waitstatus_to_exitcode(status)
        raise AssertionError('the program does not end:\n' + self.screen.dump())

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def run_as_job(command, env):
    """As a shell does: the program in its own group; when it stops, wait for a line, then let
    it continue."""
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execve(command[0], command, env)
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        os.tcsetpgrp(0, os.getpgrp())
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status))
        os.write(1, b'[stopped]')
        os.read(0, 100)
        os.tcsetpgrp(0, child)
        os.kill(child, signal.SIGCONT)
