#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workbench on a terminal, as a user sees it: scripted keys, screens compared with
tests/ui/golden/screen.*.txt, signals, resizes. UPDATE_GOLDEN=1 writes those files anew."""
import difflib
import os
import random
import signal
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import plain_signals  # noqa: E402,F401
from terminal import PATIENCE  # noqa: E402
from workbench_case import WorkbenchCase  # noqa: E402

GOLDEN = os.path.join(HERE, 'ui', 'golden')


class Workbench(WorkbenchCase):
    # --- the tour

    def tour(self, rows, columns, charset):
        """Everything a new user does; the screens on the way, by name."""
        engine = self.engine(steps=100)
        t = self.start(charset, rows=rows, columns=columns)
        screens = []

        def take(name):
            t.settle()
            self.assertEqual(t.screen.unknown, [])
            screens.append('== %s\n%s' % (name, t.screen.dump()))

        t.expect('engine 4242 idle')
        t.expect('none yet')
        take('start')
        t.keys('Down', ' ')
        t.expect('press g')
        take('two devices ticked')
        t.keys('g', 'Tab', 'Down', 'Down', 'Down', '+')
        t.expect('1024')
        t.keys('Down', 'Enter', '0', '.', '3', 'Enter')
        t.expect('0.3')
        take('form edited')
        t.keys('s')
        t.expect('run 1 starts')
        engine.begin()
        engine.step(40)
        t.expect('step 40/100')
        take('training')
        for _ in range(4):
            engine.epoch()
        t.expect('epoch 4/10')
        t.expect('step 100/100')
        take('four epochs')
        t.keys('r', '0', '.', '0', '5')
        t.expect('Learning rate of run 1')
        t.keys('Enter')
        t.expect('run 1 has the new learning rate')
        self.assertEqual(engine.live['lr'], 0.05)
        t.keys('3')
        t.expect('Train loss')
        take('train loss')
        t.keys('1')
        t.resize(15, 48)
        t.settle()
        t.expect('Next run')
        take('48x15')
        t.resize(rows, columns)
        t.settle()
        t.keys('?')
        t.expect('scale batch and lr')
        take('help')
        t.keys('Esc', 'x')
        t.expect('Stop run 1')
        t.keys('n', 'q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)
        self.assertIn('run 1 goes on', t.screen.dump())
        self.assertEqual([m for m, _ in engine.requests].count('stop'), 0)
        # And back: the run and its curve are there.
        t = self.start(charset, rows=rows, columns=columns)
        t.expect('epoch 4/10')
        t.wait(lambda: [m for m, _ in engine.requests].count('show') >= 2, 'the curve')
        take('come back')
        engine.end()
        t.expect('run 1 is done')
        take('done')
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)
        return ''.join(screens)

    def compare(self, name, actual):
        path = os.path.join(GOLDEN, name + '.txt')
        if os.environ.get('UPDATE_GOLDEN'):
            with open(path, 'w') as out:
                out.write(actual)
            return
        with open(path) as file:
            expected = file.read()
        if actual != expected:
            self.fail('\n' + ''.join(difflib.unified_diff(
                expected.splitlines(True), actual.splitlines(True), path, 'actual')))

    def test_tour_80x24(self):
        self.compare('screen.80x24.utf8', self.tour(24, 80, 'utf8'))

    def test_tour_100x30(self):
        self.compare('screen.100x30.utf8', self.tour(30, 100, 'utf8'))

    def test_tour_200x50_ascii(self):
        self.compare('screen.200x50.ascii', self.tour(50, 200, 'ascii'))

    # --- the engine

    def test_no_engine_is_a_state(self):
        t = self.start()
        t.expect('no engine')
        t.expect('press e to')
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)

    def test_lost_engine_comes_back(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        engine.close()
        t.expect('engine lost')
        engine.listen()
        t.expect('engine 4242 idle')
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)

    def test_keys_work_while_the_engine_is_stalled(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        engine.stalled.set()
        self.addCleanup(engine.stalled.clear)
        t.keys('s', 's', 's', 's')
        t.expect('submitted')
        t.keys('Tab')
        t.expect('model: a name')
        t.keys('?')
        t.expect('scale batch and lr')
        t.keys('Esc', 'q')
        self.assertEqual(t.exit_status(), 0)

    def test_refused_request_is_explained(self):
        self.engine()
        t = self.start('utf8', 'batch=13')
        t.expect('engine 4242 idle')
        t.keys('s')
        t.expect('batch 13 is unlucky')

    def test_start_at_once(self):
        engine = self.engine()
        t = self.start('utf8', 'start', 'batch=77')
        self.asked(engine, t, 'submit')
        self.assertEqual(engine.runs[0]['batch'], 77)
        t.expect('queued')

    # --- the terminal

    def ended_by(self, send, status):
        self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        self.assertTrue(t.screen.alternate)
        send(t)
        self.assertEqual(t.exit_status(), status)
        self.assert_restored(t)

    def test_ctrl_c_restores(self):
        self.ended_by(lambda t: t.keys('Ctrl-C'), 0)

    def test_sigterm_restores(self):
        self.ended_by(lambda t: os.kill(t.pid, signal.SIGTERM), 1)

    def test_sighup_restores(self):
        self.ended_by(lambda t: os.kill(t.pid, signal.SIGHUP), 1)

    def test_stop_and_go_on(self):
        self.engine()
        t = self.start('utf8', job=True)
        t.expect('engine 4242 idle')
        t.settle()
        picture = t.screen.dump()
        t.keys('Ctrl-Z')
        t.expect('[stopped]')
        self.assertFalse(t.screen.alternate)
        self.assertTrue(t.screen.cursor_shown)
        os.write(t.fd, b'fg\n')
        t.wait(lambda: t.screen.alternate, 'the screen')
        t.settle()
        self.assertEqual(t.screen.dump(), picture)
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)

    def test_closed_terminal_ends_the_viewer(self):
        self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        os.close(t.fd)
        t.fd = -1
        started = time.monotonic()
        pid, status, usage = 0, 0, None
        while pid == 0 and time.monotonic() < started + PATIENCE:
            pid, status, usage = os.wait4(t.pid, os.WNOHANG)
            time.sleep(0.01)
        self.assertEqual(pid, t.pid, 'the viewer outlives its terminal')
        t.pid = 0
        self.assertNotEqual(os.waitstatus_to_exitcode(status), 0)
        self.assertLess(usage.ru_utime + usage.ru_stime, 1.0, 'it spins')

    def test_unusable_terminals_are_refused(self):
        for name in ('dumb', 'no-such-terminal', ''):
            t = self.start(TERM=name)
            self.assertEqual(t.exit_status(), 2)
            self.assertIn('dpartui train', t.screen.dump().replace('\n', ''))
            self.assertNotIn(b'\x1b', t.raw)

    def test_stopped_terminal_can_be_left(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        t.settle()
        t.keys('\x13')  # Ctrl-S
        time.sleep(0.1)
        engine.submit({'devices': 'cpu:0', 'batch': 256, 'lr': 0.1, 'epochs': 10})
        engine.begin()
        time.sleep(0.2)
        os.kill(t.pid, signal.SIGTERM)
        self.assertEqual(t.exit_status(), 1)
        self.assert_restored(t)

    def test_other_terminals(self):
        self.engine()
        for name in ('vt100', 'ansi', 'linux', 'screen', 'xterm'):
            t = self.start('ascii', TERM=name)
            t.expect('engine 4242 idle')
            t.keys('q')
            self.assertEqual(t.exit_status(), 0)

    def storm(self, seed, resizes, keys, charset):
        chance = random.Random(seed)
        engine = self.engine(cpus=4)
        engine.submit({'devices': 'cpu:0-3', 'batch': 512, 'lr': 0.2, 'epochs': 50})
        engine.begin()
        t = self.start(charset)
        t.expect('run 1')
        plain = 'sxrgeuyn +-1234c?hjk509.' + '\t\r\x7f'
        while resizes or keys:
            if chance.random() < resizes / (resizes + keys):
                t.resize(chance.randint(1, 60), chance.randint(1, 200))
                resizes -= 1
            else:
                t.keys(chance.choice(list(plain) + ['Up', 'Down', 'Left', 'Right', 'Home', 'End']))
                keys -= 1
            if chance.random() < 0.05:
                engine.step(7)
            if chance.random() < 0.01 and engine.live['epoch'] < 50:
                engine.epoch()
            t.read(0)
        t.resize(24, 80)
        t.settle()
        t.keys('Esc', 'Esc')
        t.settle()
        self.assertEqual(os.waitpid(t.pid, os.WNOHANG)[0], 0, 'the workbench died')
        # What many small changes have left is what one fresh picture shows.
        picture = t.screen.dump()
        t.keys('Ctrl-L')
        t.settle()
        self.assertEqual(t.screen.dump(), picture)
        self.assertEqual(t.screen.unknown, [])
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)

    def test_random_keys_and_resizes(self):
        self.storm(1, 300, 2000, 'utf8')


if __name__ == '__main__':
    unittest.main()
