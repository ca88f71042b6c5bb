# SPDX-License-Identifier: MIT
"""What tests of the workbench on a terminal have in common."""
import os
import tempfile
import termios
import unittest

from fake_engine import FakeEngine
from terminal import Terminal

WORKBENCH = os.path.join(os.environ.get('top_builddir', '.'), 'tests', 'terminal', 'workbench')


class WorkbenchCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.terminals = []

    def engine(self, **machine):
        engine = FakeEngine(self.folder.name, **machine)
        self.addCleanup(lambda: os.path.exists(engine.path) and engine.close())
        return engine

    def start(self, *arguments, **options):
        command = [WORKBENCH, *(arguments or ('utf8',))]
        terminal = Terminal(command, self.folder.name, **options)
        self.addCleanup(terminal.close)
        return terminal

    def asked(self, engine, terminal, method, count=1):
        terminal.wait(lambda: [m for m, _ in engine.requests].count(method) >= count,
                      'the request ' + method)

    def assert_restored(self, terminal):
        self.assertEqual(termios.tcgetattr(terminal.fd)[:4], terminal.before[:4])
        self.assertFalse(terminal.screen.alternate, 'the normal screen is not back')
        self.assertTrue(terminal.screen.cursor_shown, 'the cursor is not back')
        self.assertEqual(terminal.screen.modes, set(), 'the terminal still reports')
