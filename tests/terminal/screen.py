#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The workbench on a terminal, as a user sees it: scripted keys, screens compared with
tests/ui/golden/screen.*.txt, signals. UPDATE_GOLDEN=1 rewrites those files."""
import difflib
import os
import re
import signal
import subprocess
import sys
import termios
import time
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "harness"))
import plain_signals  # noqa: E402,F401
from terminal import PATIENCE, Terminal  # noqa: E402
from workbench_case import WorkbenchCase  # noqa: E402

PROGRAM = os.path.join(os.environ.get('top_builddir', '.'), 'dpartui')
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
        t.expect('To start with')
        take('help')
        t.escape('To start with')
        t.keys('x')
        t.expect('Stop run 1')
        t.keys('n', 'q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)
        self.assertIn('run 1 continues in the engine', t.screen.dump())
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

    def test_an_engine_that_was_stopped_is_not_lost(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        engine.leave()
        t.expect('engine stopped')
        t.expect('the engine was stopped. Press e to start it again')
        engine.listen()
        t.expect('engine 4242 idle')
        engine.close()
        t.expect('engine lost')
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
        t.expect('To start with')
        t.expect('engine silent')
        t.keys('Esc')
        t.expect('the engine (process 4242) does not answer')
        engine.stalled.clear()
        t.wait(lambda: 'silent' not in t.screen.dump(), 'the answer')
        t.keys('q')
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

    def rings_of_an_end(self, *arguments):
        engine = self.engine()
        t = self.start('utf8', *arguments)
        t.expect('engine 4242 idle')
        t.keys('s')
        self.asked(engine, t, 'submit')
        engine.begin()
        engine.end()
        t.expect('run 1 is done')
        t.settle()
        return re.sub(rb'\x1b\][^\x07\x1b]*\x07', b'', t.raw).count(b'\x07')

    def test_the_bell_rings_once_when_asked(self):
        self.assertEqual(self.rings_of_an_end('notify=bell'), 1)

    def test_no_bell_rings_unasked(self):
        self.assertEqual(self.rings_of_an_end(), 0)

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

    def test_stop_and_continue(self):
        self.engine()
        t = self.start('utf8', 'mouse=yes', job=True)
        t.expect('engine 4242 idle')
        t.settle()
        picture = t.screen.dump()
        t.keys('Ctrl-Z')
        t.expect('[stopped]')
        self.assertFalse(t.screen.alternate)
        self.assertEqual(t.screen.modes, set())
        self.assertTrue(t.screen.cursor_shown)
        os.write(t.fd, b'fg\n')
        t.wait(lambda: t.screen.alternate, 'the screen')
        t.settle()
        self.assertEqual(t.screen.dump(), picture)
        self.assertEqual(t.screen.modes, {1000, 1006, 2004})
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
            said = t.screen.dump().replace('\n', '')
            self.assertIn('dpartui train', said)
            self.assertIn('dpartui screen', said)
            self.assertNotIn(b'\x1b', t.raw)

    def test_ctrl_s_does_not_stop_the_screen(self):
        engine = self.engine()
        t = self.start(job=True)
        t.expect('engine 4242 idle')
        t.keys('\x13')  # Ctrl-S
        engine.submit({'devices': 'cpu:0', 'batch': 256, 'lr': 0.1, 'epochs': 10})
        engine.begin()
        t.expect('running')
        # Nor after the shell had its own modes for a while.
        t.keys('Ctrl-Z')
        t.expect('[stopped]')
        self.assertTrue(termios.tcgetattr(t.fd)[0] & termios.IXON)
        os.write(t.fd, b'fg\n')
        t.wait(lambda: t.screen.alternate, 'the screen')
        t.keys('\x13', '?')
        t.expect('To start with')
        t.keys('q', 'q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)

    def test_stopped_terminal_can_be_left(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        t.settle()
        t.hold(True)
        engine.submit({'devices': 'cpu:0', 'batch': 256, 'lr': 0.1, 'epochs': 10})
        engine.begin()
        time.sleep(0.2)
        os.kill(t.pid, signal.SIGTERM)
        self.assertEqual(t.exit_status(), 1)
        self.assertEqual(termios.tcgetattr(t.fd)[:4], t.before[:4])

    def test_other_terminals(self):
        self.engine()
        for name in ('vt100', 'ansi', 'linux', 'screen', 'screen-256color', 'tmux',
                     'tmux-256color', 'rxvt', 'xterm'):
            t = self.start('ascii', TERM=name)
            t.expect('engine 4242 idle')
            t.keys('q')
            self.assertEqual(t.exit_status(), 0)

    def sixteen_colours(self):
        """A description of an xterm with so many, which few machines have."""
        source = os.path.join(self.folder.name, 'source')
        with open(source, 'w') as out:
            out.write('xterm-16color|xterm with 16 colours,\n'
                      '\tcolors#16, pairs#256,\n'
                      '\tsetaf=\\E[%?%p1%{8}%<%t%p1%{30}%+%e%p1%{82}%+%;%dm,\n'
                      '\tsetab=\\E[%?%p1%{8}%<%t%p1%{40}%+%e%p1%{92}%+%;%dm,\n'
                      '\tuse=xterm-256color,\n')
        subprocess.run(['tic', '-x', '-o', self.folder.name, source], check=True)
        return {'TERMINFO': self.folder.name}

    def busy_engine(self):
        engine = self.engine()
        engine.submit({'devices': 'cpu:0-1', 'batch': 512, 'lr': 0.2, 'epochs': 10})
        engine.begin()
        engine.step(10)
        return engine

    def test_colours_are_those_of_the_terminal(self):
        self.busy_engine()
        colour = re.compile(rb'\x1b\[[0-9;]*(?:3[1-7]|38;5;\d+|9[0-7])(?:;[0-9;]*)?m')
        for name, options, wanted, never in (
                ('xterm-256color', ['background=dark'], rb'38;5;71m', None),
                ('xterm-256color', ['background=light'], rb'38;5;28m', rb'38;5;71m'),
                ('xterm-256color', ['background=light', 'palette=colour-blind'], rb'38;5;29m',
                 rb'38;5;28m'),
                ('xterm-16color', ['background=dark'], rb'92m', rb'38;5'),
                ('xterm', [], rb'32m', rb'38;5'),
                ('linux', [], rb'32m', rb'38;5'),
                ('vt100', [], None, colour),
                ('xterm-256color', ['mono'], None, colour)):
            with self.subTest(terminal=name, options=options):
                where = self.sixteen_colours() if name == 'xterm-16color' else {}
                t = self.start('ascii', *options, TERM=name, COLORFGBG='', **where)
                t.expect('step 10/')
                t.settle()
                if wanted:
                    self.assertRegex(t.raw, rb'\x1b\[[0-9;]*' + wanted)
                if never:
                    self.assertNotRegex(t.raw, never)
                t.keys('q')
                self.assertEqual(t.exit_status(), 0)

    def test_the_terminal_names_its_background(self):
        self.busy_engine()
        t = self.start('ascii', COLORFGBG='0;15')
        t.expect('step 10/')
        t.settle()
        self.assertIn(b'38;5;28m', t.raw)
        self.assertNotIn(b'38;5;71m', t.raw)

    # --- keys

    def test_keys_that_the_description_lacks(self):
        """A terminal may send more than its name promises."""
        self.engine()
        t = self.program(TERM='vt100')
        t.expect('engine 4242 idle')
        t.keys('\x1b[19~')  # F8
        t.expect('charset')
        t.keys('\x1b[6~')  # PageDown
        t.expect('devices: ')
        t.keys('\x1b[5~')
        t.expect('charset: ')
        t.keys('\x1bOP')  # F1
        t.expect('To start with')

    def test_unknown_sequences_are_no_keys(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        t.settle()
        picture = t.screen.dump()
        for sequence in ('\x1bs', '\x1bq', '\x1b[1;5s', '\x1b[99~', '\x1bOx', '\x1b[2~',
                         '\x1b[?1;2c', '\x1b[1;3A'):
            t.keys(sequence)
            t.settle(0.06)
        self.assertEqual(t.screen.dump(), picture)
        self.assertNotIn('submit', [m for m, _ in engine.requests])
        t.keys('?')
        t.expect('start the next run')
        started = time.monotonic()
        t.keys('\x1b')
        t.wait(lambda: t.screen.dump() == picture, 'the dashboard')
        self.assertLess(time.monotonic() - started, 1.0)

    def test_pasted_text_is_no_keys(self):
        engine = self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        self.assertIn(2004, t.screen.modes)
        t.keys('\x1b[200~sq\rx\x1b[201~')
        t.expect('pasted text is only taken where a value is typed')
        self.assertNotIn('submit', [m for m, _ in engine.requests])
        t.keys('Tab', 'Down', 'Down', 'Down', 'Enter', '\x1b[200~ 7\x1b[201~',
               '\x1b[200~7\r\x1b[201~')
        t.expect('batch     77')
        t.keys('Enter')
        t.settle()
        t.keys('s')
        self.asked(engine, t, 'submit')
        self.assertEqual(engine.runs[0]['batch'], 77)
        # One that comes in parts, and one that is too long.
        t.keys('Enter', '\x1b[200~12')
        t.settle()
        t.keys('3\x1b[201~')
        t.expect('batch     123')
        t.keys('\x1b[200~' + '9' * 3000 + '\x1b[201~', 'Esc')
        t.expect('batch     77')
        t.keys('Ctrl-C')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)

    # --- the mouse

    def click(self, t, text, button=0):
        t.expect(text)
        rows = t.screen.dump().split('\n')
        y = next(i for i, row in enumerate(rows) if text in row)
        x = rows[y].index(text)
        place = '\x1b[<%d;%d;%d' % (button, x + 1, y + 1)
        t.keys(place + 'M')
        t.settle(0.05)
        t.keys(place + 'm')  # which nobody wants to hear of
        t.settle(0.05)

    def test_mouse(self):
        self.engine()
        t = self.start('ascii', 'mouse=yes')
        t.expect('engine 4242 idle')
        self.assertIn(1000, t.screen.modes)
        self.click(t, '? help')
        t.expect('start the next run')
        self.click(t, 'Esc back')
        t.expect('epochs    10')
        self.click(t, 'epochs')
        t.expect('epochs: ')
        self.click(t, 'warmup', 65)
        t.expect('schedule: ')
        time.sleep(0.5)
        self.click(t, 'epochs')
        self.click(t, 'epochs')
        t.expect('cancel')
        self.click(t, 'Esc cancel')
        t.keys('Ctrl-C')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)

    def test_a_key_switches_the_mouse(self):
        self.engine()
        t = self.start()
        t.expect('engine 4242 idle')
        self.assertIn(1000, t.screen.modes)
        t.keys('M')
        t.expect('the mouse is off')
        t.wait(lambda: 1000 not in t.screen.modes, 'the mouse to be off')
        t.keys('M')
        t.expect('the mouse is on')
        t.wait(lambda: 1000 in t.screen.modes, 'the mouse')

    # --- settings

    def program(self, *arguments, **options):
        """The whole program, which has files."""
        command = [PROGRAM, *(arguments or ('--charset', 'ascii'))]
        terminal = Terminal(command, self.folder.name, XDG_CONFIG_HOME=self.folder.name,
                            HOME=self.folder.name, **options)
        self.addCleanup(terminal.close)
        return terminal

    def test_settings_act_and_are_found_again(self):
        self.engine()
        saved = os.path.join(self.folder.name, 'dpartui', 'settings.conf')
        t = self.program(COLORFGBG='')
        t.expect('engine 4242 idle')
        t.keys('3', 'l')  # a loss, on a logarithmic axis
        t.expect('Train loss, log')
        t.keys('S', 'Down', 'Down', '+')  # palette
        t.expect('* palette        colour-blind')
        t.keys('Down', '+')  # background: dark
        t.expect('* background     dark')
        t.settle()
        self.assertIn(b'38;5;220m', t.raw)  # the sign of what is not saved
        t.keys('Down', 'Down', 'Down', 'Down', 'Down', 'Down', '+')  # mouse
        t.expect('* mouse          no')
        t.wait(lambda: 1000 not in t.screen.modes, 'the mouse to be off')
        t.keys('Esc')
        t.expect('4 settings are not saved')
        t.keys('q')
        t.expect('save first (s)')
        t.keys('n', 'S', 'w')
        t.expect('saved in ')
        self.assertTrue(os.path.exists(saved))
        t.keys('q', 'q')
        self.assertEqual(t.exit_status(), 0)
        self.assert_restored(t)
        t = self.program('--charset', 'ascii', '--background', 'light', DPARTUI_BATCH='64')
        t.expect('engine 4242 idle')
        t.keys('S')
        t.expect('palette        colour-blind       saved')
        t.expect('background     light              command line')
        t.expect('y_axis         log                saved')
        t.keys(*22 * ['Down'])
        t.expect('batch          64                 environment')
        t.keys('Home')
        t.wait(lambda: 1000 not in t.screen.modes, 'the mouse to be off')
        # Ctrl-C twice leaves even with changes that are not saved.
        t.keys('+', '+')
        t.expect('* charset        utf8')
        t.expect('…')  # the locale has it
        t.keys('Ctrl-C')
        t.expect('1 setting is not saved')
        t.keys('Ctrl-C')
        self.assertEqual(t.exit_status(), 0)
        with open(saved, 'w') as out:
            out.write('screen = {\n    palette = "pink";\n};\n')
        t = self.program()
        self.assertEqual(t.exit_status(), 2)
        said = t.screen.dump().replace('\n', '')
        self.assertIn('settings.conf:2: screen.palette: palette', said)
        self.assertIn('remove it', said)

    def test_marked_runs_are_exported_and_deleted(self):
        engine = self.engine(steps=100)
        for _ in range(3):
            engine.submit({'devices': 'cpu:0', 'epochs': 2})
            engine.begin()
            engine.epoch()
            engine.epoch()
            engine.end()
        t = self.program()
        t.expect('idle')
        t.keys('R', ' ', 'Down', 'Down', ' ')
        t.expect('2 marked')
        t.keys('E')
        t.expect('Write the epochs to: runs.csv')
        t.keys(*['Backspace'] * len('runs.csv'), *os.path.join(self.folder.name, 'two.csv'), 'Enter')
        t.expect('the epochs of 2 runs are in')
        with open(os.path.join(self.folder.name, 'two.csv'), encoding='ascii') as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[0].startswith('run,epoch,step,'), lines[0])
        self.assertEqual([line.split(',')[:2] for line in lines[1:]],
                         [['1', '1'], ['1', '2'], ['3', '1'], ['3', '2']])
        t.keys('X')
        t.expect('Delete 2 runs (#1, #3) with their curves, epochs and 4 checkpoints of 41.2 MiB?')
        t.keys('y')
        t.expect('1 run,')
        self.assertEqual([run['run'] for run in engine.runs], [2])

    def test_changes_by_commands_are_seen(self):
        engine = self.engine(steps=100)
        engine.edits = 0
        for _ in range(2):
            engine.submit({'devices': 'cpu:0', 'epochs': 1})
            engine.begin()
            engine.epoch()
            engine.end()
        t = self.program(rows=30, columns=120)
        t.expect('idle')
        t.keys('R')
        t.expect('2 runs,')
        environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder.name, HOME=self.folder.name)
        for words in (['note', '1', 'warm start'], ['tag', '1', 'thesis'], ['delete', '2', '--yes']):
            subprocess.run([PROGRAM, 'runs', *words], env=environment, check=True)
        t.expect('1 run,')
        t.expect('#thesis warm start')

    def test_characters_can_be_changed(self):
        """To those that the locale does not have, too."""
        self.engine()
        t = self.program('--charset', 'auto', LC_ALL='C')
        t.expect('engine 4242 idle')
        t.keys('S')
        t.expect('what to draw with; auto: by t~')
        t.keys('+')
        t.expect('* charset        utf8')
        t.expect('what to draw with; auto: by t…')
        t.keys('-')
        t.expect('what to draw with; auto: by t~')
        self.assertEqual(t.screen.unknown, [])
        t.keys('q', 'q')
        self.assertEqual(t.exit_status(), 0)


if __name__ == '__main__':
    unittest.main()
