# SPDX-License-Identifier: MIT
"""Import this in a test that sends signals to the programs it starts.

A build that runs in the background (`nohup`, or `&` in a script) ignores SIGHUP, SIGINT and
SIGQUIT, and hands that down to everything it starts; programs respect it.
"""

import signal

for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
