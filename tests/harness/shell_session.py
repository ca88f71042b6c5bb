# SPDX-License-Identifier: MIT
"""An interactive bash or zsh with dpartui's completion, for tests that type."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time

PATIENCE = 60.0

# Each completion writes what it offers, and a line of "." after it, to $OUT; a command that is run
# writes its arguments there.
BASH_SETUP = r"""
unset HISTFILE
bind 'set enable-bracketed-paste off' 'set bell-style none' 2>/dev/null
PS1=
source "$SCRIPT"
tell() { _dpartui "$@"; printf '%s\n' "${COMPREPLY[@]}" . >>"$OUT"; }
complete -F tell dpartui
dpartui() {
    if [[ $1 == completion ]]; then command dpartui "$@"; else printf '%s\n' "$@" . >>"$OUT"; fi
}
cd "$FOLDER"
echo . >>"$OUT"
"""

ZSH_SETUP = r"""
unset HISTFILE zle_bracketed_paste
PS1= PS2= RPS1=
fpath=("${SCRIPT:h}" $fpath)
autoload -Uz compinit
compinit -u -D
unsetopt beep list_beep
LISTMAX=1000
# As compadd, which says what it adds, and after a bar what it shows.
compadd() {
    if (( ${argv[(I)-[OAD]]} )); then
        builtin compadd "$@"
        return
    fi
    local -a hits
    (( ! ${argv[(I)-d]} )) || print -rl -- "|"${(P)^argv[${argv[(i)-d]}+1]} >>"$OUT"
    builtin compadd -A hits "$@"
    (( ! $#hits )) || print -rl -- "$IPREFIX"$^hits >>"$OUT"
    builtin compadd "$@"
}
tell() { zle complete-word; print . >>"$OUT" }
zle -N tell
bindkey '^I' tell
bindkey '^U' kill-whole-line
dpartui() {
    if [[ $1 == completion ]]; then command dpartui "$@"; else print -rl -- "$@" . >>"$OUT"; fi
}
cd "$FOLDER"
print . >>"$OUT"
"""

SETUP = {"bash": BASH_SETUP, "zsh": ZSH_SETUP}


class Shell:
    """An interactive shell on a terminal, at whose prompt one types."""

    def __init__(self, command, script, env, folder):
        self.out = os.path.join(folder, "out")
        open(self.out, "w", encoding="utf8").close()
        self.folder = folder
        with open(os.path.join(folder, "setup"), "w", encoding="utf8") as file:
            file.write(SETUP[command[0]])
        env = dict(env, OUT=self.out, SCRIPT=script, FOLDER=os.path.join(folder, "files"),
                   SETUP=file.name, TERM="xterm", INPUTRC="/dev/null", ZDOTDIR=folder)
        self.master, slave = pty.openpty()
        # High enough that no list asks whether one wants to see it.
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 100, 200, 0, 0))
        self.child = subprocess.Popen(command, env=env, stdin=slave, stdout=slave, stderr=slave,
                                      cwd=folder, start_new_session=True)
        os.close(slave)
        self.shown = b""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.type(' . "$SETUP"\r')
        self.taken()

    def _read(self):
        while True:
            try:
                got = os.read(self.master, 65536)
            except OSError:
                return
            if not got:
                return
            self.shown = (self.shown + got)[-4000:]

    def type(self, keys):
        os.write(self.master, keys.encode())

    def taken(self):
        """The lines that were written to $OUT, once the one that ends them is there."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with open(self.out, encoding="utf8") as file:
                lines, end, _ = ("\n" + file.read()).partition("\n.\n")
            if end:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"the shell does not answer: {self.shown[-1000:]!r}")
            time.sleep(0.002)
        os.truncate(self.out, 0)
        return lines.splitlines()[1:]

    def offers(self, line, tabs=1):
        self.type("\x15" + line + "\t")
        for _ in range(1, tabs):
            self.taken()
            self.type("\t")
        offered = self.taken()
        self.type("\x15")
        return [word for word in offered if word]

    def arguments(self, line):
        """Those of the command after `line`, a Tab and Enter."""
        self.type("\x15" + line + "\t")
        self.taken()
        self.type("\r")
        return self.taken()

    def close(self):
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        os.close(self.master)
