#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workbench far from its engine: the line to another host, which a script in the place of ssh
makes of a folder, comes, is lost and comes back."""
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../harness'))
import plain_signals  # noqa: E402,F401
from fake_engine import FakeEngine  # noqa: E402
from fake_ssh import FakeSsh  # noqa: E402
from terminal import Terminal  # noqa: E402
from workbench_case import WorkbenchCase  # noqa: E402

BUILD = os.path.abspath(os.environ.get('top_builddir', '.'))
PROGRAM = os.path.join(BUILD, 'dpartui')
DOWN = r'down since \d\d:\d\d:\d\d'


class RemoteCase(WorkbenchCase):
    def setUp(self):
        super().setUp()
        os.environ.pop('DPARTUI_HOST', None)
        self.ssh = FakeSsh(self.folder.name, BUILD)
        self.config = os.path.join(self.folder.name, 'config')
        self.homes = {}
        self.add('gpu1')
        self.ssh.configure(self.config, ['me@gpu1'])

    def add(self, name):
        self.homes[name] = self.ssh.add(name)

    def engine_on(self, name, **machine):
        engine = FakeEngine(self.homes[name], **machine)
        self.addCleanup(lambda: os.path.exists(engine.path) and engine.close())
        return engine

    def view(self, *arguments, **options):
        t = Terminal([PROGRAM, *(arguments or ('--host', 'me@gpu1'))], self.folder.name,
                     HOME=self.folder.name, XDG_CONFIG_HOME=self.config, **options)
        self.addCleanup(t.close)
        return t

    def first_line(self, t):
        return t.screen.dump().split('\n')[0]

    @staticmethod
    def text(t):
        """The screen without the ends of its lines."""
        return ' '.join(t.screen.dump().split())

    def expect_first(self, t, *words):
        t.wait(lambda: all(word in self.first_line(t) for word in words), words)

    def training(self, name='gpu1'):
        engine = self.engine_on(name)
        engine.submit({'devices': 'cpu:0-1', 'batch': 512, 'lr': 0.2, 'epochs': 1000})
        engine.begin()
        for _ in range(5):
            engine.epoch()
        return engine


class Line(RemoteCase):
    def test_the_screen_is_that_of_the_other_host(self):
        self.training()
        t = self.view()
        self.expect_first(t, 'gpu1', 'run 1')
        self.assertNotIn('BatchMode', self.ssh.calls()[0])
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)
        self.assertIn('run 1 continues in the engine (gpu1, pid 4242): `dpartui --host me@gpu1` shows',
                      t.screen.dump().replace('\n', ''))

    def test_a_line_that_is_killed_comes_back_with_all_that_was(self):
        engine = self.training()
        t = self.view()
        self.expect_first(t, 'run 1')
        self.ssh.set_down('gpu1')
        self.ssh.kill('gpu1')
        self.expect_first(t, 'gpu1', 'line down since')
        t.wait(lambda: 'ssh was ended by signal 9' in self.text(t), 'why')
        t.wait(lambda: re.search('line to gpu1 ' + DOWN + r', next try in \d s', self.text(t)),
               'when it is tried again')
        # The next attempt fails, which does not change since when.
        since = self.first_line(t).split('since ')[1].split()[0]
        t.wait(lambda: 'No route to host' in self.text(t), 'why')
        self.assertIn(since, self.first_line(t))
        self.assertTrue(all('BatchMode=yes' in call for call in self.ssh.calls()[1:]))
        for _ in range(3):
            engine.epoch()
        self.ssh.set_down('gpu1', False)
        self.expect_first(t, 'gpu1', 'run 1')
        self.assertNotIn('down since', t.screen.dump())
        t.wait(lambda: [m for m, _ in engine.requests].count('watch') == 2, 'another watch')
        # None of the attempts may start an engine: it could have been ended on purpose.
        self.assertTrue(all(call.endswith('dial --running') for call in self.ssh.calls()[1:]))
        t.keys('L')
        t.expect('the line to gpu1 is lost')
        t.expect('connected to an engine again')

    def test_a_key_tries_at_once(self):
        self.training()
        t = self.view()
        self.expect_first(t, 'run 1')
        self.ssh.set_down('gpu1')
        self.ssh.kill('gpu1')
        for count in range(2, 6):  # so that the pauses have grown
            self.ssh.wait_calls(count, 60)
            t.wait(lambda: 'next try in' in t.screen.dump(), 'a pause')
            t.keys('e')
        self.ssh.set_down('gpu1', False)
        t.keys('e')
        self.expect_first(t, 'gpu1', 'run 1')

    def test_keys_work_and_nothing_waits_while_it_is_down(self):
        self.training()
        t = self.view()
        self.expect_first(t, 'run 1')
        self.ssh.set_down('gpu1')
        self.ssh.kill('gpu1')
        self.expect_first(t, 'line down since')
        for key, title in ('R', 'Runs'), ('L', 'Log'), ('S', 'Settings'), ('?', 'Help'):
            t.keys(key)
            self.expect_first(t, title)
        t.escape('Help')
        t.keys('D', 'q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)

    def test_an_engine_that_ends_is_not_started_again_unasked(self):
        engine = self.training()
        t = self.view()
        self.expect_first(t, 'run 1')
        engine.close()
        self.expect_first(t, 'engine lost')
        self.ssh.wait_calls(3, 60)
        self.assertFalse(os.path.exists(engine.path))
        t.keys('e')
        self.expect_first(t, 'gpu1', 'idle')
        self.assertTrue(self.ssh.calls()[-1].endswith('engine dial'))
        t.keys('q')
        t.exit_status()
        self.stop('gpu1')

    def stop(self, name):
        env = dict(os.environ, HOME=self.homes[name], XDG_RUNTIME_DIR=self.homes[name],
                   XDG_CONFIG_HOME=self.config)
        os.spawnve(os.P_WAIT, PROGRAM, [PROGRAM, 'engine', 'stop', '--now'], env)

    def test_an_engine_is_started_over_there(self):
        t = self.view()
        self.expect_first(t, 'gpu1', 'idle')
        t.keys('q')
        t.exit_status()
        self.stop('gpu1')


class Hosts(RemoteCase):
    """The page with a line for each host."""

    def setUp(self):
        super().setUp()
        for name in ('gpu2', 'gpu3', 'gpu4'):
            self.add(name)
        self.ssh.configure(self.config, ['me@gpu1', 'gpu2', 'gpu3', 'gpu4', 'gpu9'])
        self.here = self.engine(cpus=1)
        self.first = self.training('gpu1')
        self.second = self.engine_on('gpu2', cpus=0, gpus=8)
        self.ssh.replace_program('gpu3', None)

    def open_page(self):
        t = self.view('--host', 'local')
        self.expect_first(t, 'idle')
        t.keys('H')
        self.expect_first(t, 'Hosts')
        return t

    def line(self, t, name):
        lines = [line for line in t.screen.dump().split('\n') if line[2:].startswith(name + ' ')]
        return lines[0] if lines else ''

    def expect_line(self, t, name, *words):
        t.wait(lambda: all(word in self.line(t, name) for word in words), (name, words))

    def test_each_host_has_a_line(self):
        t = self.open_page()
        self.expect_line(t, 'this machine', 'idle', '1 CPU')
        self.expect_line(t, 'me@gpu1', 'training', '2 CPU', '%', '1 smallnet', 'running', '5/1000',
                         '0.900')
        self.expect_line(t, 'gpu2', 'idle', '8 GPU')
        self.expect_line(t, 'gpu3', 'down', 'no dpartui')
        self.expect_line(t, 'gpu4', 'no engine')
        self.expect_line(t, 'gpu9', 'down', 'Could not resolve')
        self.assertTrue(all('BatchMode=yes' in call and call.endswith('--running')
                            for call in self.ssh.calls()), self.ssh.calls())
        # What happens there is seen here.
        self.first.epoch()
        self.expect_line(t, 'me@gpu1', '6/1000')
        self.first.end()
        self.expect_line(t, 'me@gpu1', 'idle', 'done')
        self.second.close()
        self.expect_line(t, 'gpu2', 'no engine')
        self.ssh.kill('gpu1')
        self.expect_line(t, 'me@gpu1', 'down', 'signal 9')
        self.expect_line(t, 'me@gpu1', 'idle', 'done')

    def test_connections_end_with_the_page(self):
        t = self.open_page()
        self.expect_line(t, 'me@gpu1', 'training')
        t.wait(lambda: len(self.first.clients) == 1, 'a connection')
        t.keys('D')
        t.wait(lambda: not self.first.clients, 'its end')

    def test_enter_opens_a_host_and_the_way_back(self):
        t = self.open_page()
        self.expect_line(t, 'gpu2', 'idle')
        t.keys('Down', 'Enter')
        self.expect_first(t, 'gpu1', 'run 1')
        t.keys('H')
        self.expect_first(t, 'Hosts')
        self.assertTrue(self.line(t, 'me@gpu1').startswith('*'))
        t.keys('Down', 'Enter')
        self.expect_first(t, 'gpu2', 'idle')
        t.expect('cuda:7')
        t.keys('H', 'Home', 'Enter')
        t.wait(lambda: 'gpu' not in self.first_line(t) and 'idle' in self.first_line(t),
               'this machine')
        t.wait(lambda: not self.second.clients, 'the end of the other connection')

    def test_a_host_that_is_down_may_be_opened_all_the_same(self):
        t = self.open_page()
        t.keys('End', 'Enter')
        self.expect_first(t, 'gpu9', 'line down since')
        t.keys('H', 'Home', 'Down', 'Enter')
        self.expect_first(t, 'gpu1', 'run 1')


class Refusals(RemoteCase):
    def refused(self, words, t=None):
        """One line, and never a screen."""
        t = t or self.view()
        self.assertEqual(t.exit_status(), 1)
        self.assertIn(words, t.screen.dump().replace('\n', ''))
        self.assertNotIn(b'\x1b[?1049h', t.raw)
        self.assert_restored(t)
        lines = [line for line in t.raw.split(b'\r\n') if line.startswith(b'dpartui: ')]
        self.assertEqual(len(lines), 1, t.raw)

    def test_a_host_that_is_not_reached(self):
        self.ssh.set_down('gpu1')
        self.refused('dpartui: gpu1 is not reached: ssh: connect to host gpu1')

    def test_a_host_without_the_program(self):
        self.ssh.replace_program('gpu1', None)
        self.refused('dpartui: gpu1: there is no dpartui in the PATH')

    def test_a_program_that_is_too_old(self):
        self.ssh.replace_program('gpu1', '#!/bin/sh\nexit 2\n')
        self.refused("dpartui: gpu1: its dpartui has no 'engine dial'")

    def test_another_version(self):
        engine = self.engine_on('gpu1')
        engine.do_hello = lambda params: {'version': '9.8.7', 'pid': 1, 'protocol': 2}
        t = self.view()
        t.expect('the engine over there is of version 9.8.7')

    def test_another_version_that_is_understood(self):
        engine = self.engine_on('gpu1')
        engine.do_hello = lambda params: {'version': '9.8.7', 'pid': 1, 'protocol': 1}
        t = self.view()
        t.expect('gpu1 has version 9.8.7, this host')

    def test_what_ssh_asks_comes_before_the_screen(self):
        """The script asks on the terminal as ssh does, and is answered there."""
        with open(self.ssh.script, encoding='ascii') as file:
            script = file.read()
        ask = ('case $* in *BatchMode*) ;; *)\n'
               'printf "me@gpu1 password: " >/dev/tty; read -r word </dev/tty\n'
               'test "$word" = secret || exit 255;; esac\n')
        with open(self.ssh.script, 'w', encoding='ascii') as file:
            file.write(script.replace('#!/bin/sh\n', '#!/bin/sh\n' + ask))
        self.training()
        t = self.view()
        t.expect('password:')
        self.assertNotIn(b'\x1b[?1049h', t.raw)
        t.keys('secret', 'Enter')
        self.expect_first(t, 'run 1')

    def test_ctrl_c_at_a_question_ends_both(self):
        with open(self.ssh.script, 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\necho $$ >"%s/pid"; printf "password: " >/dev/tty\n'
                       'read -r word </dev/tty\n' % self.folder.name)
        t = self.view()
        t.expect('password:')
        t.keys('Ctrl-C')
        self.assertEqual(t.exit_status(), -2)
        with open(self.folder.name + '/pid', encoding='ascii') as file:
            pid = int(file.read())
        t.wait(lambda: not os.path.exists('/proc/%d' % pid), 'the end of ssh')


if __name__ == '__main__':
    unittest.main()
