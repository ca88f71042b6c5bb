#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A storm over the workbench: 10,000 keys and 300 sizes at random on a real terminal, while the
engine trains, is changed, refuses, goes away and comes back. Afterwards what many small changes
have left on the terminal is what one fresh picture shows."""
import os
import random
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "harness"))
import plain_signals  # noqa: E402,F401
from fake_engine import FakeEngine  # noqa: E402
from terminal import Terminal  # noqa: E402

PROGRAM = os.path.join(os.environ.get('top_builddir', '.'), 'dpartui')
# q leaves. A slash would let the name of a picture lead out of the folder; see Storm.filter.
PLAIN = [chr(c) for c in range(0x20, 0x7f) if chr(c) not in 'q/'] + ['\x7f', '\x12']
OFTEN = list('sxprnyfeuwX+-RCLSD:1') + ['\t', '\r', '\r', '\r', '\r']
NAMED = ['Up', 'Down', 'Left', 'Right', 'Home', 'End']
SEQUENCES = ['\x1b[5~', '\x1b[6~', '\x1b[3~', '\x1b[Z',                  # pages, Delete, backtab
             '\x1bOP', '\x1b[15~', '\x1b[17~', '\x1b[18~', '\x1b[19~',   # F1, F5 to F8
             '\x1b[200~17\x1b[201~', '\x1b[99~', '\x1b[I']               # pasted, unknown
MOST_RUNS = 40


class Storm:
    def __init__(self, test, seed, charset):
        self.chance = random.Random(seed)
        holder = tempfile.TemporaryDirectory()
        test.addCleanup(holder.cleanup)
        self.test, self.charset, self.folder = test, charset, holder.name
        # In a folder of its own it finds no engine that it could start.
        self.program = shutil.copy(PROGRAM, os.path.join(self.folder, 'workbench'))
        os.mkdir(os.path.join(self.folder, 'dpartui'), 0o700)
        with open(os.path.join(self.folder, 'dpartui', 'dpartui.conf'), 'w') as out:
            out.write('screen = { mouse = true; };\n')
        self.engine = FakeEngine(self.folder, cpus=4, steps=60)
        test.addCleanup(lambda: self.gone or self.engine.close())
        self.gone = False
        self.left = 0
        self.submit()
        self.open()

    def open(self):
        self.terminal = Terminal([self.program, '--charset', self.charset], self.folder,
                                 directory=self.folder, HOME=self.folder,
                                 XDG_CONFIG_HOME=self.folder)
        self.test.addCleanup(self.terminal.close)

    # --- the engine

    def submit(self):
        with self.engine.lock:
            self.engine.submit({'devices': 'cpu:0-%d' % self.chance.randint(0, 3), 'batch': 512,
                                'lr': 0.2, 'epochs': 5})

    def go(self):
        self.engine.close()
        self.gone = True

    def come_back(self):
        self.engine.listen()
        self.gone = False
        self.terminal.wait(lambda: self.engine.clients, 'the workbench at the engine')

    def train(self):
        """Something happens in the engine."""
        engine, chance = self.engine, self.chance
        if self.gone and chance.random() < 0.1:
            self.come_back()
        elif not self.gone and chance.random() < 0.01:
            self.go()
        with engine.lock:
            engine.refusal = 'there are runs enough' if len(engine.runs) > MOST_RUNS else None
            if chance.random() < 0.02:
                engine.say('warning', None, 'cpu:%d is slower' % chance.randint(0, 3))
            elif chance.random() < 0.02:
                engine.lose('cpu:3', 'somebody took it away')
            elif chance.random() < 0.02:
                engine.machine[3] = engine._device('cpu:3')
            elif engine.live is None and engine.queue:
                engine.begin()
            elif engine.live is None:
                self.submit()
            elif engine.live['epoch'] >= engine.live['epochs'] or chance.random() < 0.05:
                engine.end(*chance.choice([('done',), ('stopped',), ('failed', 'disk full')]))
            elif chance.random() < 0.2:
                engine.epoch()
            else:
                engine.step(7)

    # --- the user

    def filter(self):
        """The one key that is no part of names, where it opens a filter."""
        self.type('\x1b')
        self.type('\x1b')
        self.type(self.chance.choice('RL') + '/' + self.chance.choice(['run', '1 ', 'lr>0', 'no']))

    def click(self):
        return '\x1b[<%d;%d;%dM' % (self.chance.choice([0, 0, 64, 65]),
                                    self.chance.randint(1, self.terminal.screen.columns),
                                    self.chance.randint(1, self.terminal.screen.rows))

    def key(self):
        which = self.chance.random()
        if which < 0.15:
            return self.chance.choice(PLAIN)
        if which < 0.6:
            return self.chance.choice(OFTEN)
        if which < 0.63:
            return self.click()
        return self.chance.choice(SEQUENCES if which < 0.75 else NAMED)

    def type(self, *keys):
        t = self.terminal
        try:
            t.keys(*keys)
        except OSError:
            pass  # it has just left, see look()
        if keys[-1:] == ('\x1b',):
            t.read(0.06)  # Escape alone, no sequence
        while t.read(0.003):  # a moment for it to draw
            pass

    def look(self):
        """Is it still there? Choosing `leave` from the palette is allowed; in good order then."""
        t = self.terminal
        pid, status = os.waitpid(t.pid, os.WNOHANG)
        if pid == 0:
            return
        t.pid = 0
        t.settle(0.02)
        self.test.assertEqual(os.waitstatus_to_exitcode(status), 0, t.raw[-3000:])
        self.test.assertFalse(t.screen.alternate, 'the normal screen is not back')
        self.test.assertEqual(t.screen.unknown, [])
        self.left += 1
        self.open()

    def blow(self, resizes, keys):
        while resizes or keys:
            if self.chance.random() < resizes / (resizes + keys / 3):
                self.terminal.resize(self.chance.randint(1, 60), self.chance.randint(1, 200))
                resizes -= 1
            burst = [self.key() for _ in range(min(keys, self.chance.randint(1, 8)))]
            keys -= len(burst)
            if self.chance.random() < 0.08:
                burst.append('\x1b')
            self.type(*burst)
            if self.chance.random() < 0.02:
                self.filter()
            if self.chance.random() < 0.2:
                self.train()
            self.look()

    def calm(self):
        """The engine is there and idle, the dashboard is shown."""
        if self.gone:
            self.come_back()
        self.engine.refusal = 'enough'
        t = self.terminal
        t.resize(24, 80)
        for _ in range(3):
            t.keys('Esc')
            t.settle(0.1)
        self.look()
        t = self.terminal
        t.wait(lambda: 'engine lost' not in t.screen.dump() and 'no engine' not in t.screen.dump(),
               'the engine')
        t.settle()


class Storms(unittest.TestCase):
    def weather(self, seed, resizes, keys, charset):
        storm = Storm(self, seed, charset)
        storm.terminal.expect('dpartui')
        storm.blow(resizes, keys)
        storm.calm()
        t = storm.terminal
        picture = t.screen.dump()
        t.keys('Ctrl-L')
        t.settle()
        self.assertEqual(t.screen.dump(), picture)
        self.assertEqual(t.screen.unknown, [])
        # Twice where settings are not saved. On the normal screen it would be the terminal's signal.
        t.keys('Ctrl-C')
        t.wait(lambda: not t.screen.alternate or 'not saved' in t.screen.dump(), 'its end')
        if t.screen.alternate:
            t.keys('Ctrl-C')
        self.assertEqual(t.exit_status(), 0)
        methods = [method for method, _ in storm.engine.requests]
        print('asked: %s; left %d times' % (', '.join('%s %d' % (m, methods.count(m))
                                                      for m in sorted(set(methods))), storm.left),
              file=sys.stderr)
        self.assertGreater(len(set(methods)), 10, 'a storm in a teacup')

    def test_random_keys_and_resizes(self):
        self.weather(1, 300, 10000, 'utf8')


if __name__ == '__main__':
    unittest.main()
