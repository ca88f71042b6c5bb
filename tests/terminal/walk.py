#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A new user's way through the workbench, with a real engine: by the key bar and the help page alone.

A key that does something may be pressed only when the screen names it for what the user wants: in the
key bar, else on the help page, which the key bar names in turn; arrows, what is typed into a field and
Enter after it are taken for granted. The screens on the way are printed, to be read.
"""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, 'harness'))
import plain_signals  # noqa: E402,F401
from terminal import Terminal  # noqa: E402

PROGRAM = os.path.join(os.environ.get('top_builddir', '.'), 'dpartui')
RUN = ['--model', 'smallnet', '--data', 'glyphs', '--train-rows', '500', '--test-rows', '100',
       '--devices', 'cpu:0', '--cpu-threads', '1', '--batch', '64', '--lr', '0.05',
       '--epochs', '9999']
COLOUR = rb'\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7])[;m]'
MOST_PAGES = 9  # of help


class Walk(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        self.home = {'XDG_' + name: self.folder for name in ('CONFIG_HOME', 'DATA_HOME',
                                                             'STATE_HOME', 'CACHE_HOME')}
        self.home.update(HOME=self.folder, XDG_RUNTIME_DIR=self.folder)
        self.addCleanup(subprocess.run, [PROGRAM, 'engine', 'stop', '--now'],
                        env={**os.environ, **self.home}, stdout=subprocess.DEVNULL, check=False)

    def open(self, rows, columns, *options):
        self.t = Terminal([PROGRAM, *options, *RUN], self.folder, rows=rows, columns=columns,
                          **self.home)
        self.addCleanup(self.t.close)
        self.t.expect('idle')

    def settle(self):
        """Until the screen shows what was asked for; while a run trains it never stands still."""
        end = time.monotonic() + 4
        while (self.t.read(0.15) or self.t.computes()) and time.monotonic() < end:
            pass

    # --- the rule

    def key_bar(self):
        return self.t.screen.dump().rstrip('\n').split('\n')[-1]

    def offered(self, does):
        """The key that the key bar has for what `does` matches."""
        return re.search(r'(?:^|  )(\S+) (?:%s)(?=  |$)' % does, self.key_bar())

    def in_help(self, does):
        """The key that a line of the help page has for what `does` matches."""
        self.assertTrue(self.offered('help'), self.key_bar())
        self.t.keys('?')
        self.t.expect('To start with')
        for _ in range(MOST_PAGES):
            self.settle()
            found = re.search(r'^(\w\S*) .*(?:%s)' % does, self.t.screen.dump(), re.MULTILINE)
            if found:
                break
            page = self.t.screen.dump()
            self.t.keys('\x1b[6~')
            self.t.wait(lambda page=page: self.t.screen.dump() != page, f'help for {does!r}')
        self.assertTrue(found, f'no help for {does!r}:\n{self.t.screen.dump()}')
        self.t.escape('Help')
        self.settle()
        return found

    def press(self, does, helped=None):
        """What the key bar calls `does`, or the help page `helped`."""
        self.settle()
        found = self.offered(does) or self.in_help(helped or does)
        self.t.keys(found.group(1))
        self.settle()

    def see(self, what, *texts):
        """`texts` come to be on the screen, which is then printed."""
        for text in texts:
            self.t.wait(lambda: re.search(text, self.t.screen.dump(), re.MULTILINE),
                        f'{what}: {text!r}')
        self.settle()
        self.assertEqual(self.t.screen.unknown, [])
        print(f'== {self.id().rpartition(".")[2]}: {what}\n{self.t.screen.dump()}', flush=True)

    # --- the way

    def walk(self):
        self.see('the first screen', r'\[x\] cpu:0', r'none yet')
        self.t.keys('Down')
        self.press('select')
        self.see('a second device', r'\[x\] cpu:1', r'devices +cpu:0-1')
        self.press('panel')
        for _ in range(3):
            self.t.keys('Down')
        self.press('more')
        self.see('a larger batch', r'batch +128')
        self.press('start')
        self.see('it trains', r'run 1 .*epoch (?:[2-9]|\d\d+)/9999')
        self.press('retune')
        self.t.keys('0', '.', '0', '2', 'Enter')
        self.see('another learning rate', r'run 1 has the new learning rate')
        self.press('stop', 'stop a run')
        self.see('a question before it is stopped', r'Stop run 1')
        self.press('yes')
        self.see('it is stopped', r'1 .*stopped')
        self.t.keys('Down', 'Down')
        self.press('type')
        self.t.keys('2', 'Enter')
        self.see('fewer epochs', r'epochs +2')
        self.press('start')
        self.see('a second run has ended', r'2 .*done')
        self.press('runs')
        self.see('all runs', r'2 runs', r'smallnet')
        self.press('mark')
        self.see('one marked', r'1 marked')
        self.t.keys('Down')
        self.press('mark')
        self.see('two marked', r'2 marked')
        self.press('differ.*', 'beside each other|differ')
        self.see('two beside each other', r'^epochs +(?:9999 +2|2 +9999)')
        self.press('back')
        self.press('details')
        self.see('one in detail', r'^status', r'Where the time went')
        self.press('back')
        self.press('delete', 'delete')
        self.see('a question before anything is lost', r'Delete 2 runs')
        self.press('no')
        self.press('compare')
        self.see('compare', r'^Same in all runs: smallnet')
        self.press('back')
        while not self.offered('leave'):
            self.press('back')
        self.press('leave')
        self.assertEqual(self.t.exit_status(), 0)

    def test_80x24(self):
        self.open(24, 80, '--charset', 'utf8', '--background', 'dark')
        self.walk()
        self.assertRegex(self.t.raw, COLOUR)

    def test_80x24_in_ascii_without_colours(self):
        self.open(24, 80, '--charset', 'ascii', '--mono')
        self.walk()
        self.assertNotRegex(self.t.raw, COLOUR)
        self.t.raw.decode('ascii')

    def test_200x50_on_light_background(self):
        self.open(50, 200, '--charset', 'utf8', '--background', 'light')
        self.walk()
        self.assertRegex(self.t.raw, COLOUR)


if __name__ == '__main__':
    unittest.main()
