#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the workbench costs on a slow line and over a long session: bytes and memory, which are the
same on every machine. Times are measured by tests/bench and never asserted."""
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401
from workbench_case import WorkbenchCase  # noqa: E402

FIRST_FRAME = 3500  # bytes at 80x24
FRAME_200X50 = 12000
TRAINING = {(24, 80): 350, (50, 200): 600}  # bytes a state; states come once a second
VIEWS = {'dashboard': 'D', 'runs': 'R', 'compare': 'C', 'log': 'L', 'settings': 'S', 'help': '?'}
MACHINES = {1: {'cpus': 1}, 2: {'cpus': 2}, 8: {'cpus': 0, 'gpus': 8}, 16: {'cpus': 0, 'gpus': 16}}
SIZES = ((24, 80), (50, 200))
STATES = 12


def devices_of(machine):
    kind, count = ('cuda', machine['gpus']) if machine.get('gpus') else ('cpu', machine['cpus'])
    return '%s:0-%d' % (kind, count - 1)


class Budgets(WorkbenchCase):
    def training_engine(self, count, epochs=1000, past=2):
        """An engine in its third run, which has five epochs behind it."""
        engine = self.engine(**MACHINES[count])
        for i in range(past + 1):
            engine.submit({'devices': devices_of(MACHINES[count]), 'batch': 512, 'lr': 0.2,
                           'epochs': epochs})
            engine.begin()
            for _ in range(5):
                engine.epoch()
            if i < past:
                engine.end()
        return engine

    def watching(self, engine, rows, columns):
        t = self.start(rows=rows, columns=columns)
        t.expect('run %d' % engine.live['run'])
        t.settle()
        return t

    def test_first_frame(self):
        for count in MACHINES:
            for rows, columns in SIZES:
                with self.subTest(devices=count, size='%dx%d' % (columns, rows)):
                    engine = self.training_engine(count)
                    t = self.watching(engine, rows, columns)
                    first = t.screen.bytes
                    t.keys('Ctrl-L')
                    t.settle()
                    whole = t.screen.bytes - first
                    print('%d devices, %dx%d: first frame of %d bytes, the whole again: %d' %
                          (count, columns, rows, first, whole), file=sys.stderr)
                    # It comes in one piece, or in two when the machine is slow.
                    most = FIRST_FRAME if rows == 24 else FRAME_200X50
                    self.assertLess(whole, most)
                    self.assertLess(first, 2 * most)
                    t.close()
                    engine.close()

    def bytes_of_a_state(self, engine, t):
        before = t.screen.bytes
        for _ in range(STATES):
            engine.step(3)
            t.settle(0.03)
        return (t.screen.bytes - before) / STATES

    def test_training(self):
        for count in MACHINES:
            for rows, columns in SIZES:
                engine = self.training_engine(count)
                t = self.watching(engine, rows, columns)
                for view, key in VIEWS.items():
                    if view != 'dashboard' and count != 8:
                        continue  # the others show devices hardly or not at all
                    with self.subTest(devices=count, size='%dx%d' % (columns, rows), view=view):
                        before = t.screen.bytes
                        t.keys(key)
                        t.settle()
                        opened = t.screen.bytes - before
                        cost = self.bytes_of_a_state(engine, t)
                        print('%d devices, %dx%d, %s: opened with %d bytes, %.0f bytes a state' %
                              (count, columns, rows, view, opened, cost), file=sys.stderr)
                        self.assertLess(opened, FIRST_FRAME if rows == 24 else FRAME_200X50)
                        # Beyond eight devices there is no budget, but nor may all be lost.
                        self.assertLess(cost, TRAINING[rows, columns] * (1 if count <= 8 else 1.5))
                        t.keys('Esc' if view == 'help' else 'D')
                        t.settle()
                t.close()
                engine.close()

    def test_idle(self):
        engine = self.training_engine(2)
        engine.end()
        for view, key in VIEWS.items():
            with self.subTest(view=view):
                t = self.start()
                t.expect('engine 4242 idle')
                t.keys(key)
                t.settle()
                before = t.screen.bytes
                for _ in range(10):
                    engine.say_state()
                    t.settle(0.05)
                self.assertEqual(t.screen.bytes, before, 'an idle screen writes')
                t.close()

    def test_stopped_terminal_gets_one_fresh_frame(self):
        engine = self.training_engine(2)
        t = self.watching(engine, 24, 80)
        t.hold(True)
        for _ in range(50):
            engine.step(4)
        time.sleep(0.3)
        before = t.screen.bytes
        t.settle()
        self.assertEqual(t.screen.bytes, before, 'a stopped terminal is written to')
        t.hold(False)
        t.expect('step 200/235')
        t.settle()
        self.assertLess(t.screen.bytes - before, FIRST_FRAME, 'a backlog came')

    def fill(self, t):
        """Make the workbench write until the kernel takes no more of it; how much it has taken."""
        begin = size = self.written(t)
        same = 0
        while same < 5:
            t.keys('Ctrl-L')
            time.sleep(0.02)
            now = self.written(t)
            same = same + 1 if now == size else 0
            size = now
        return size - begin

    @staticmethod
    def written(t):
        with open('/proc/%d/io' % t.pid, encoding='ascii') as file:
            return next(int(line.split()[1]) for line in file if line.startswith('wchar:'))

    def test_unread_terminal_gets_one_fresh_frame(self):
        engine = self.training_engine(2)
        t = self.watching(engine, 24, 80)
        before = t.screen.bytes
        taken = self.fill(t)
        for _ in range(50):
            engine.step(4)
        time.sleep(0.3)
        t.expect('step 200/235')
        t.settle()
        # What the kernel had, the rest of the frame that was on its way, and a fresh one.
        self.assertLess(t.screen.bytes - before, taken + 2 * FIRST_FRAME, 'a backlog came')
        self.assertEqual(t.screen.unknown, [])
        picture = t.screen.dump()
        t.keys('Ctrl-L')
        t.settle()
        self.assertEqual(t.screen.dump(), picture)

    def test_unread_terminal_can_be_left(self):
        engine = self.training_engine(2)
        t = self.watching(engine, 24, 80)
        self.fill(t)
        os.kill(t.pid, signal.SIGTERM)
        begin = time.monotonic()
        while os.waitid(os.P_PID, t.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            self.assertLess(time.monotonic() - begin, 20, 'the workbench waits for its terminal')
            time.sleep(0.02)

    def resident(self, t):
        with open('/proc/%d/status' % t.pid, encoding='ascii') as file:
            return next(int(line.split()[1]) for line in file if line.startswith('VmRSS:'))

    @staticmethod
    def sanitized(t):
        with open('/proc/%d/maps' % t.pid, encoding='ascii', errors='replace') as file:
            return any('libasan' in line or 'libtsan' in line for line in file)

    def seconds_of(self, t):
        with open('/proc/%d/schedstat' % t.pid, encoding='ascii') as file:
            return int(file.read().split()[0]) / 1e9

    def long_session(self, engine, t, states, epochs):
        """The terminal is read all the time; figures of this much more of a run."""
        used = self.seconds_of(t)
        for i in range(states):
            engine.step(1)
            if i % 20 == 0:
                t.read(0)
        for i in range(epochs):
            engine.epoch()
            if i % 20 == 0:
                t.read(0)
        t.expect('epoch %d/' % engine.live['epoch'])
        t.settle()
        return self.seconds_of(t) - used

    def test_long_session(self):
        engine = self.training_engine(2, epochs=100000, past=0)
        t = self.watching(engine, 24, 80)
        early = self.long_session(engine, t, 500, 200)
        before = self.resident(t)
        late = self.long_session(engine, t, 5000, 2000)
        after = self.resident(t)
        print('5000 states and 2000 epochs: %d KiB before, %d after; %.2f s of CPU time, after '
              '%.2f s for a tenth of that' % (before, after, late, early), file=sys.stderr)
        if not self.sanitized(t):  # sanitizers keep freed memory for a while
            self.assertLess(after - before, 1024, 'memory grows')


if __name__ == '__main__':
    unittest.main()
