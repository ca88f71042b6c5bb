#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures of the screen: dpartui screen from an engine, from a session that dpartui --record
wrote, and the key P of the workbench. All three show the same."""
import glob
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "harness"))
import plain_signals  # noqa: E402,F401
from fake_engine import FakeEngine  # noqa: E402
from terminal import Terminal  # noqa: E402

os.environ.pop('DPARTUI_DATA_DIR', None)  # the form would show it
PROGRAM = os.path.abspath(os.path.join(os.environ.get('top_builddir', '.'), 'dpartui'))
RECORDED = os.path.join(HERE, 'ui', 'recordings', 'train-2.jsonl')


class Pictures(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_program(self, *arguments, **options):
        env = dict(os.environ, DPARTUI_RECIPE='auto', XDG_RUNTIME_DIR=self.folder, LC_ALL='C.UTF-8', HOME=self.folder,
                   XDG_CONFIG_HOME=self.folder)
        return subprocess.run([PROGRAM, 'screen', *arguments], env=env, capture_output=True,
                              text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
                              cwd=self.folder, **options)

    def good(self, *arguments, **options):
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, '')
        return done.stdout

    def bad(self, status, *arguments, **options):
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        return done.stderr

    def training(self):
        engine = FakeEngine(self.folder)
        self.addCleanup(lambda: os.path.exists(engine.path) and engine.close())
        engine.submit({'devices': 'cpu:0-1', 'batch': 512, 'lr': 0.2, 'epochs': 10})
        engine.begin()
        for _ in range(4):
            engine.epoch()
        return engine

    def test_of_the_engine(self):
        engine = self.training()
        picture = self.good('--size', '100x30')
        lines = picture.splitlines()
        self.assertEqual(len(lines), 30)
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertIn('epoch 4/10', lines[0])
        self.assertIn('Test accuracy', picture)
        self.assertIn('1 run, by number', self.good('--view', 'runs'))
        # It asks, and changes nothing.
        self.good('--keys', 'sxyp<Esc>')
        self.assertLessEqual({method for method, _ in engine.requests},
                             {'hello', 'watch', 'runs', 'show', 'log'})

    def test_without_an_engine(self):
        self.assertIn('no engine', self.good('--size', '60x10'))
        self.assertFalse(os.path.exists(self.path('dpartui/engine.sock')))

    def test_of_a_recorded_session(self):
        picture = self.good('--replay', RECORDED)
        self.assertIn('epoch 4/10', picture)
        ascii_only = self.good('--replay', RECORDED, '--charset', 'ascii')
        self.assertTrue(ascii_only.isascii())
        self.assertIn('epoch 4/10', ascii_only)
        keyed = self.good('--replay', RECORDED, '--keys', '?')
        self.assertIn('start the next run', keyed)

    def test_readme(self):
        """Its picture is what the program draws; UPDATE_GOLDEN=1 puts that there."""
        path = os.path.join(HERE, '..', 'README.md')
        picture = self.good('--replay', os.path.join(HERE, 'ui', 'recordings', 'readme.jsonl'), '--size',
                            '100x30', '--charset', 'utf8', '--keys', '<Down> ')
        with open(path) as file:
            before = file.read()
        begin, _, rest = before.partition('<!-- picture: make update-pictures -->\n')
        _, _, end = rest.partition('<!-- end of the picture -->\n')
        self.assertTrue(end, 'README.md has no place for a picture')
        indented = ''.join(('    ' + line).rstrip() + '\n' for line in picture.splitlines())
        after = (begin + '<!-- picture: make update-pictures -->\n\n' + indented +
                 '\n<!-- end of the picture -->\n' + end)
        if os.environ.get('UPDATE_GOLDEN'):
            with open(path, 'w') as out:
                out.write(after)
        else:
            self.assertEqual(before, after, 'run make update-pictures')

    def golden(self, name, which):
        """A part of a file that the tests of the views write and compare."""
        with open(os.path.join(HERE, 'ui', 'golden', name)) as file:
            parts = file.read().split('== ')
        return next(part.partition('\n')[2] for part in parts if part.startswith(which + '\n'))

    def test_recordings_show_what_the_tests_of_the_views_saw(self):
        for recording, golden, view in (
                ('machine-2', 'matrix/dashboard-2.txt', 'dashboard'),
                ('machine-16', 'matrix/dashboard-16.txt', 'dashboard'),
                ('machine-8', 'matrix/compare-8.txt', 'compare'),
                ('machine-0', 'matrix/runs-0.txt', 'runs'),
                ('diverged', 'states/diverged.txt', 'dashboard'),
                ('engine-lost', 'states/engine-lost.txt', 'dashboard')):
            for charset in ('ascii', 'utf8'):
                with self.subTest(recording=recording, view=view, charset=charset):
                    picture = self.good('--replay', os.path.join(HERE, 'ui', 'recordings', recording + '.jsonl'),
                                        '--view', view, '--size', '80x24', '--charset', charset)
                    self.assertEqual(picture, self.golden(golden, '80x24 ' + charset))

    def test_colours(self):
        plain = self.good('--replay', RECORDED)
        for colours, pattern in (('256', r'38;5;\d+'), ('8', r'3[0-7]m'), ('0', r'\[0;1m')):
            with_codes = self.good('--replay', RECORDED, '--ansi', '--colours', colours)
            self.assertRegex(with_codes, pattern)
            bare = re.sub('\x1b\\[[0-9;]*m', '', with_codes)
            self.assertEqual([line.rstrip() for line in bare.splitlines()], plain.splitlines())
        self.assertNotRegex(self.good('--replay', RECORDED, '--ansi', '--colours', '0'),
                            r'\x1b\[[0-9;]*[34][0-9]')

    def test_record_and_replay(self):
        engine = self.training()
        session = self.path('session.jsonl')
        t = Terminal([PROGRAM, '--record', session, '--charset', 'utf8'], self.folder,
                     DPARTUI_RECIPE='auto')
        self.addCleanup(t.close)
        t.expect('epoch 4/10')
        t.expect('0.8')
        engine.epoch()
        t.expect('epoch 5/10')
        t.settle()
        seen = t.screen.dump()
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)
        self.assertEqual(self.good('--replay', session).rstrip(), seen.rstrip())
        with open(session) as file:
            times = [json.loads(line)['t'] for line in file]
        self.assertEqual(times, sorted(times))
        earlier = self.good('--replay', session, '--at', '0')
        self.assertNotIn('epoch 5/10', earlier)

    def test_a_recording_that_ends_is_told_once(self):
        engine = self.training()
        t = Terminal([PROGRAM, '--record', '/dev/full', '--charset', 'utf8'], self.folder)
        self.addCleanup(t.close)
        t.expect('/dev/full: the recording ends here: No space left on device')
        t.keys('L')
        t.expect('Log')
        engine.epoch()
        t.expect('epoch 5/10')
        view = t.screen.dump().splitlines()[:-2]  # the hint below may repeat the line in focus
        self.assertEqual('\n'.join(view).count('the recording ends here'), 1)
        t.escape('level     run  message')
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)

    def test_the_key(self):
        self.training()
        t = Terminal([PROGRAM, '--charset', 'utf8'], self.folder)
        self.addCleanup(t.close)
        t.expect('epoch 4/10')
        t.settle()
        seen = t.screen.dump().splitlines()
        target = self.path('picture.txt')
        t.keys('P')
        t.expect('Write this screen to')
        t.keys(target, 'Enter')
        t.expect('the screen is in')
        with open(target) as file:
            written = file.read().splitlines()
        # All but the line with the message and the keys below it.
        self.assertEqual(written[:22], seen[:22])
        t.keys('P')
        t.expect('Write this screen to')
        t.keys(target, 'Enter')
        t.expect('is there already')
        t.escape('is there already')
        t.keys('P')
        t.expect('Write this screen to: dpartui')
        t.keys(self.path('picture.ans'), 'Enter')
        t.expect('the screen is in')
        with open(self.path('picture.ans')) as file:
            self.assertIn('\x1b[', file.read())
        t.keys('P')
        t.expect('Write this screen to')
        t.keys('/nowhere/at/all.txt', 'Enter')
        t.expect('No such file')
        t.keys('q')
        self.assertEqual(t.exit_status(), 0)
        self.assertEqual(sorted(glob.glob(self.path('picture*'))),
                         [self.path('picture.ans'), target])

    def test_mistakes(self):
        self.assertIn('80x24', self.bad(2, '--size', '80'))
        self.assertIn('80x24', self.bad(2, '--size', '80x24x2'))
        self.bad(2, '--size', '0x5')
        self.bad(2, '--size', '9999x9999')
        self.assertIn('dashboard', self.bad(2, '--view', 'kitchen'))
        self.assertIn('--replay', self.bad(2, '--at', '3'))
        self.bad(2, '--replay', RECORDED, '--at', 'noon')
        self.bad(2, '--replay', RECORDED, '--colours', 'many')
        self.bad(2, '--replay', RECORDED, '--colours', '7')
        self.assertIn('<Hyper>', self.bad(2, '--replay', RECORDED, '--keys', '<Hyper>'))
        self.assertIn('/nowhere', self.bad(1, '--replay', '/nowhere.jsonl'))
        with open(self.path('text'), 'w') as file:
            file.write('{"method":"state","params":{}}\nhello\n')
        self.assertIn(':2: not a message', self.bad(2, '--replay', self.path('text')))

    def test_a_full_disk_leaves_nothing(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        target = self.path('out.txt')
        self.assertIn('out.txt', self.bad(1, '--replay', RECORDED, '--output', target,
                                          preexec_fn=small_files))
        self.assertEqual(glob.glob(self.path('*out*')), [])
        self.good('--replay', RECORDED, '--output', target)
        self.assertEqual(glob.glob(self.path('*out*')), [target])


if __name__ == '__main__':
    unittest.main()
