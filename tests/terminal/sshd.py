#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workbench and commands over a real ssh, to a private sshd on a loopback port. Skipped, with the
reason, where there can be none."""
import os
import signal
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../harness'))
import plain_signals  # noqa: E402,F401
from fake_engine import FakeEngine  # noqa: E402
from private_sshd import PrivateSshd, Unavailable  # noqa: E402
from terminal import Terminal  # noqa: E402
from workbench_case import WorkbenchCase  # noqa: E402

BUILD = os.path.abspath(os.environ.get('top_builddir', '.'))
PROGRAM = os.path.join(BUILD, 'dpartui')
STATES = 6


class Case(WorkbenchCase):
    def setUp(self):
        super().setUp()
        os.environ.pop('DPARTUI_HOST', None)
        self.home = os.path.join(self.folder.name, 'there')
        os.mkdir(self.home, mode=0o700)
        try:
            self.sshd = PrivateSshd(self.folder.name, self.home, BUILD)
        except Unavailable as reason:
            self.skipTest(str(reason))
        self.addCleanup(self.sshd.close)
        self.sshd.trust()
        config = os.path.join(self.folder.name, 'config', 'dpartui')
        os.makedirs(config)
        with open(os.path.join(config, 'dpartui.conf'), 'w', encoding='ascii') as file:
            file.write('ssh = "ssh -F %s"; hosts = ( "gpu1" );\n' % self.sshd.config)
        self.env = {'HOME': self.folder.name, 'XDG_CONFIG_HOME': os.path.dirname(config)}

    def view(self, *arguments):
        t = Terminal([PROGRAM, *arguments], self.folder.name, **self.env)
        self.addCleanup(t.close)
        return t

    def run_program(self, *arguments):
        env = dict(os.environ, XDG_RUNTIME_DIR=self.folder.name, **self.env)
        return subprocess.run([PROGRAM, *arguments], env=env, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False)

    def training(self, folder):
        engine = FakeEngine(folder)
        self.addCleanup(lambda: os.path.exists(engine.path) and engine.close())
        engine.submit({'devices': 'cpu:0-1', 'batch': 512, 'lr': 0.2, 'epochs': 1000})
        engine.begin()
        for _ in range(5):
            engine.epoch()
        return engine

    def first_line(self, t):
        return t.screen.dump().split('\n')[0]

    def expect_first(self, t, *words):
        t.wait(lambda: all(word in self.first_line(t) for word in words), words)

    @staticmethod
    def ssh_of(parent):
        """Process IDs of the ssh that a process has started."""
        listed = subprocess.run(['ps', '--ppid', str(parent), '-o', 'pid=,comm='], check=False,
                                capture_output=True, text=True).stdout
        return [int(line.split()[0]) for line in listed.splitlines() if line.split()[1] == 'ssh']


class Workbench(Case):
    def test_ssh_is_killed_and_the_screen_comes_back(self):
        engine = self.training(self.home)
        t = self.view('--host', 'gpu1')
        self.expect_first(t, 'gpu1', 'run 1', 'epoch 5/')
        for epoch in 6, 7, 8:
            [ssh] = self.ssh_of(t.pid)
            os.kill(ssh, signal.SIGKILL)
            self.expect_first(t, 'gpu1', 'line down since')
            engine.epoch()
            self.expect_first(t, 'gpu1', 'run 1', 'epoch %d/' % epoch)
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)

    def test_a_host_that_is_not_reached_for_a_while(self):
        self.training(self.home)
        t = self.view('--host', 'gpu1')
        self.expect_first(t, 'run 1')
        self.sshd.close()
        for pid in self.ssh_of(t.pid):
            os.kill(pid, signal.SIGTERM)
        self.expect_first(t, 'line down since')
        t.wait(lambda: 'Connection refused' in ' '.join(t.screen.dump().split()), 'why')
        self.sshd.start()
        t.keys('e')
        self.expect_first(t, 'gpu1', 'run 1')

    def test_an_unknown_host_key_is_asked_about_before_the_screen(self):
        os.unlink(self.sshd.known)
        self.training(self.home)
        t = self.view('--host', 'gpu1')
        t.expect('Are you sure you want to continue connecting')
        self.assertNotIn(b'\x1b[?1049h', t.raw)
        t.keys('yes', 'Enter')
        self.expect_first(t, 'gpu1', 'run 1')
        # Under the screen nothing is asked: the key that is gone again is a reason to stay down.
        os.unlink(self.sshd.known)
        [ssh] = self.ssh_of(t.pid)
        os.kill(ssh, signal.SIGKILL)
        t.wait(lambda: 'Host key verification failed' in ' '.join(t.screen.dump().split()), 'why')
        self.assertNotIn('Are you sure', t.screen.dump())

    def test_the_page_of_hosts(self):
        self.training(self.home)
        self.engine(cpus=1)
        t = self.view()
        self.expect_first(t, 'idle')
        t.keys('H')
        t.wait(lambda: 'training' in t.screen.dump(), 'the line of gpu1')
        t.keys('Down', 'Enter')
        self.expect_first(t, 'gpu1', 'run 1')

    def bytes_a_state(self, folder, *arguments):
        engine = self.training(folder)
        t = self.view(*arguments)
        self.expect_first(t, 'run 1')
        t.settle()
        before = t.screen.bytes
        for _ in range(STATES):
            shown = t.screen.bytes
            engine.step(3)
            t.wait(lambda: t.screen.bytes > shown, 'the new state')
            t.settle()
        cost = (t.screen.bytes - before) / STATES
        t.keys('q')
        t.exit_status()
        engine.close()
        return cost

    def test_a_screen_costs_what_one_here_does(self):
        here = self.bytes_a_state(self.folder.name)
        there = self.bytes_a_state(self.home, '--host', 'gpu1')
        print('%.0f bytes a state here, %.0f over ssh' % (here, there), file=sys.stderr)
        self.assertLess(there, 1.2 * here)

    def test_first_frame(self):
        """Its time is only printed: that of the workbench less that of the same ssh without it."""
        self.training(self.home)
        begin = time.monotonic()
        subprocess.run(['ssh', '-F', self.sshd.config, 'gpu1', 'true'], check=True, timeout=60)
        plain = time.monotonic() - begin
        begin = time.monotonic()
        t = self.view('--host', 'gpu1')
        t.wait(lambda: 'run 1' in self.first_line(t), 'the first frame')
        print('first frame after %.0f ms, ssh alone takes %.0f ms' %
              (1e3 * (time.monotonic() - begin), 1e3 * plain), file=sys.stderr)


class Commands(Case):
    def there(self, *arguments):
        done = self.run_program('--host', 'gpu1', *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_commands(self):
        self.addCleanup(lambda: self.run_program('--host', 'gpu1', 'engine', 'stop', '--now'))
        self.there('train', '--model', 'linear', '--data', 'random:200x10', '--batch', '20',
                   '--epochs', '2', '--note', "it's; $HOME far")
        self.assertIn("it's; $HOME far", self.there('runs'))
        self.assertIn('run 1: done', self.there('show', '1'))
        self.assertIn('cpu:0', self.there('devices'))
        self.assertIn('test acc', self.there('eval', '--run', '1'))
        self.assertIn('idle', self.there('engine', 'status'))
        self.assertTrue(os.path.exists(self.home + '/.local/share/dpartui/runs.db'))
        done = self.run_program('--host', 'gpu1', 'show', '7')
        self.assertEqual((done.returncode, done.stderr.count('\n')), (1, 1), done.stderr)

    def test_a_host_that_is_not_reached(self):
        self.sshd.close()
        done = self.run_program('--host', 'gpu1', 'devices')
        self.assertEqual(done.returncode, 1)
        self.assertIn('Connection refused', done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1].split(':')[:2],
                         ['dpartui', ' gpu1 is not reached'])


if __name__ == '__main__':
    unittest.main()
