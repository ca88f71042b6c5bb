#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hidden characters in every text from outside: none comes out of the programs as it is."""

import csv
import glob
import gzip
import io
import json
import os
import re
import struct
import subprocess
import sys
import unicodedata
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "harness"))
import cli  # noqa: E402
from fake_engine import FakeEngine  # noqa: E402
from terminal import Terminal  # noqa: E402

ROOT = os.environ.get("top_srcdir", os.path.dirname(HERE))

# Python knows no Default_Ignorable_Code_Point: those that are no format characters (Cf), after
# DerivedCoreProperties.txt of Unicode 15.0; and the characters that are visible although they are
# Cf (Prepended_Concatenation_Mark in PropList.txt).
IGNORABLE = {0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, *range(0x180b, 0x1810), 0x2065, 0x3164,
             *range(0xfe00, 0xfe10), 0xffa0, *range(0xfff0, 0xfff9), *range(0xe0000, 0xe1000)}
VISIBLE = {*range(0x600, 0x606), 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd}
NONCHARACTERS = {*range(0xfdd0, 0xfdf0), *(plane << 16 | low for plane in range(17)
                                           for low in (0xfffe, 0xffff))}
LATER = set(range(0x13439, 0x13440))  # in Unicode 15.0; older Pythons do not have them

# The same of characters that later versions than 14.0 added or made wide.
NEWLY_REFUSED = {0x897, 0xcf3, 0xece, *range(0x2630, 0x2638), *range(0x268a, 0x2690),
                 *range(0x2ffc, 0x3000), 0x31e4, 0x31e5, 0x31ef, *range(0x4dc0, 0x4e00)}
# Blocks of scripts that run from right to left, and letters of Hangul that join the one before.
BLOCKS = {*range(0x590, 0x900), *range(0xfb1d, 0xfe00), *range(0xfe70, 0xff00),
          *range(0x1160, 0x1200), *range(0xd7b0, 0xd800)}

COUNT = 4326  # as docs/reliability.md says

# One of each kind, without controls, which notes and tags must not hold.
HIDDEN = "\u061c\u200e\u202e\u2066\u200b\u200d\u00ad\u034f\u115f\u17b4\u180e\u2060\u3164" \
    "\ufe0f\ufeff\uffa0\ufff9\U000e0041\u2028\u2029\ufffe"
SHORT = "\u202e\u200b\u2028\u00ad\U000e0041"
CONTROLS = "\x1b[2J\r\n\x07\x7f\x9b"


def is_hidden(character):
    code, category = ord(character), unicodedata.category(character)
    return (category in ("Cc", "Cs", "Zl", "Zp") or (category == "Cf" and code not in VISIBLE) or
            code in IGNORABLE or code in NONCHARACTERS or code in LATER)


def is_refused(character):
    return (unicodedata.category(character)[0] == "M" or ord(character) in BLOCKS or
            unicodedata.east_asian_width(character) in "WF" or
            unicodedata.bidirectional(character) in ("R", "AL", "AN"))


def read_ranges(path, name):
    with open(os.path.join(ROOT, path), encoding="utf8") as file:
        table = file.read().partition("} %s[] = {" % name)[2].partition("};")[0]
    ranges = [(int(first, 16), int(last, 16)) for first, last in
              re.findall(r"\{(0x[0-9a-f]+), (0x[0-9a-f]+)\}", table)]
    return ranges, table.count("{")


def shown(text):
    """As docs/design.md says it: the escapes of base/escape.h."""
    out = ""
    for byte_or_character in text:
        code = ord(byte_or_character)
        if 0xdc80 <= code <= 0xdcff:  # a byte that is no UTF-8, as Python has it in names of files
            out += f"\\x{code - 0xdc00:02x}"
        elif not is_hidden(byte_or_character):
            out += byte_or_character
        else:
            out += f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 \
                else f"\\U{code:08x}"
    return out


class Table(unittest.TestCase):
    def test_it_is_that_of_unicode(self):
        ranges, count = read_ranges("src/base/escape.c", "hidden")
        self.assertEqual(ranges, sorted(ranges))
        self.assertEqual(len(ranges), count)
        found = {code for first, last in ranges for code in range(first, last + 1)} | NONCHARACTERS
        wanted = {code for code in range(0x110000)
                  if not 0xd800 <= code < 0xe000 and is_hidden(chr(code))}
        self.assertEqual(sorted(map(hex, found - wanted)), [])
        self.assertEqual(sorted(map(hex, wanted - found)), [])
        self.assertEqual(len(found), COUNT)

    def test_a_cell_holds_one_column(self):
        ranges, count = read_ranges("ui/draw/character.c", "refused")
        self.assertEqual(ranges, sorted(ranges))
        self.assertEqual(len(ranges), count)
        found = {code for first, last in ranges for code in range(first, last + 1)}
        self.assertLessEqual(NEWLY_REFUSED, found)
        wrong = [hex(code) for code in range(0x10000)
                 if unicodedata.category(chr(code)) not in ("Cn", "Cs") and
                 not is_hidden(chr(code)) and code not in NEWLY_REFUSED and
                 (code in found) != is_refused(chr(code))]
        self.assertEqual(wrong, [])

    def test_nothing_else_writes_for_people(self):
        """All text goes through print() or print_to(), which escape their arguments."""
        raw = re.compile(r"\b(?:v?f?printf|vprintf|dprintf|puts|perror)\s*\([^;]*|"
                         r"\b(?:fputs|fwrite|putc|fputc)\s*\([^;]*\bstd(?:out|err)\b")
        # Fixed text, and what is safe in itself: SVG, CSV, JSON, the screen, scripts for shells.
        scripts = ["src/completion/quote.c", "src/completion/bash.c", "src/completion/fish.c",
                   "src/completion/zsh.c"]
        fixed = [("src/cli/command.c", "fputs(command->details, stdout"),
                 ("src/commands/compare.c", "fputs(lines, stdout"),
                 ("src/output/plot.c", "fputs(drawn, stdout"),
                 ("src/output/stream.c", "fwrite(text->data, 1, text->length, stdout"),
                 ("src/commands/screen.c", "fwrite(text->data, 1, text->length, stdout"),
                 ("engine/main.c", "fputs(help, stdout"),
                 ("engine/device/cuda/collective/nccl_guard.c", 'fprintf(stderr, "NCCL cannot end its ')]
        found = []
        for folder in ("src", "ui", "engine"):
            for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True):
                name = os.path.relpath(path, ROOT)
                with open(path, encoding="utf8") as file:
                    text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
                found += [(name, call) for call in raw.findall(text) if name not in scripts and not
                          any(name == where and call.startswith(what) for where, what in fixed)]
        self.assertEqual(found, [])


class Case(cli.Case):
    def setUp(self):
        super().setUp()
        self.home = self.path("h" + SHORT + CONTROLS)
        os.mkdir(self.home)
        self.env.update(LC_ALL="C.UTF-8", HOME=self.home,
                        XDG_CONFIG_HOME=os.path.join(self.home, "c"),
                        XDG_DATA_HOME=os.path.join(self.home, "d"),
                        XDG_STATE_HOME=os.path.join(self.home, "s"))

    def check(self, data, breaks="\n"):
        text = data.decode("utf8")
        for number, line in enumerate(re.split("[" + breaks + "]", text), 1):
            hidden = sorted({f"U+{ord(c):04X}" for c in line if is_hidden(c)})
            self.assertEqual(hidden, [], f"line {number}: {line!r}")
        return text

    def run_bytes(self, *arguments, program=cli.PROGRAM):
        return subprocess.run([program, *arguments], env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=cli.PATIENCE, check=False)

    def say(self, *arguments):
        """All that a command writes, standard output and error, after a look at every character."""
        done = self.run_bytes(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.check(done.stdout) + self.check(done.stderr)

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" + ("b" if isinstance(text, bytes) else ""),
                  **({} if isinstance(text, bytes) else {"encoding": "utf8"})) as file:
            file.write(text)


class Runs(Case):
    """With a real engine."""

    def setUp(self):
        super().setUp()
        self.model = self.path("m" + SHORT + CONTROLS + ".conf")
        with open(os.path.join(ROOT, "etc/models/linear.conf"), encoding="utf8") as file:
            self.write(self.model, file.read())
        self.data = self.path("x" + SHORT + "\x1b")
        for part, rows in (("train", 20), ("t10k", 10)):
            pictures = struct.pack(">IIII", 2051, rows, 28, 28) + bytes(784 * rows)
            labels = struct.pack(">II", 2049, rows) + bytes(row % 2 for row in range(rows))
            for name, content in (("images-idx3", pictures), ("labels-idx1", labels)):
                self.write(f"{self.data}/{part}-{name}-ubyte.gz", gzip.compress(content))
        self.write(self.data + "/classes.txt", "a" + HIDDEN + "\nb\n")
        self.note, self.tag = "n" + HIDDEN + " \u6f22 e\u0301", "t" + SHORT
        self.train = ["train", "--model", self.model, "--data", self.data, "--batch", "10",
                      "--epochs", "2", "--note", self.note]

    def test_commands_and_logs(self):
        log = self.path("log" + SHORT)
        self.say(*self.train, "--log", log, "--save", self.path("w" + SHORT + ".safetensors"))
        with open(log, "rb") as file:
            lines = self.check(file.read())
        begin = [json.loads(line) for line in lines.splitlines()][0]
        self.assertIn(SHORT, begin["model"])
        self.say(*self.train, "--json")
        self.say("runs", "tag", "1", self.tag)
        self.say("runs", "note", "2", self.note + "2")
        table = self.say("runs")
        self.assertIn(shown(self.note), table)
        self.assertIn(shown("m" + SHORT + CONTROLS), table)
        self.assertIn("\u6f22 e\u0301", table)
        rows = json.loads(self.say("runs", "--json"))
        self.assertEqual([run["note"] for run in rows], [self.note, self.note + "2"])
        self.assertEqual(rows[0]["tags"], [self.tag])
        text = self.say("show", "1")
        for words in (self.note, self.tag, self.model, self.data):
            self.assertIn(shown(words), text)
        self.assertEqual(json.loads(self.say("show", "1", "--json"))["spec"]["data"], self.data)
        self.say("runs", "--tag", self.tag, "--model", self.model)
        self.say("engine", "status")
        self.say("model", self.model)
        self.assertIn(SHORT, json.loads(self.say("model", self.model, "--json"))["source"])
        self.say("eval", "--run", "1")
        self.say("eval", "--run", "1", "--json")
        self.say("eval", self.path("w" + SHORT + ".safetensors"), "--model", self.model,
                 "--data", self.data)
        self.exports()
        self.screens("2 runs")
        self.say("engine", "stop")
        self.check_log()
        self.assertIn(shown(self.note), self.say("runs"))  # from the file, without an engine

    def exports(self):
        tree = xml.etree.ElementTree.fromstring(self.say("export", "1", "2", "--svg"))
        self.assertIn(shown(self.note), "".join(tree.itertext()))
        self.assertEqual(len(list(csv.reader(io.StringIO(self.say("export", "1", "--csv"))))), 3)
        self.assertEqual(json.loads(self.say("export", "1", "--json"))[0]["note"], self.note)

    def screens(self, found):
        for view in ("dashboard", "runs", "run", "compare", "log", "settings"):
            for options in ([], ["--charset", "ascii"]):
                picture = self.say("screen", "--view", view, "--size", "220x60", *options)
                self.assertEqual(picture.count("\n"), 60)
                self.assertLessEqual(max(map(len, picture.splitlines())), 220)
        picture = self.say("screen", "--view", "runs", "--size", "220x60")
        self.assertIn(shown(self.note)[:20], picture)
        self.assertIn(found, picture)

    def check_log(self):
        logs = glob.glob(glob.escape(self.env["XDG_STATE_HOME"]) + "/**/*.log", recursive=True)
        self.assertEqual(len(logs), 1)
        with open(logs[0], "rb") as file:
            self.assertIn(shown(self.model), self.check(file.read()))

    def test_comparisons(self):
        common = ["compare", "--model", self.model, "--data", self.data, "--epochs", "1",
                  "--devices-counts", "1,2", "--batch", "10"]
        picture = self.path("p" + SHORT + ".svg")
        self.assertIn(shown(os.path.basename(self.model)), self.say(*common, "--svg", picture))
        with open(picture, "rb") as file:
            xml.etree.ElementTree.fromstring(self.check(file.read()))
        self.say("compare", "--list")
        self.say("compare", "--show", "1", "--csv")
        json.loads(self.say("compare", "--show", "1", "--json"))

    def test_a_host_name(self):
        """Of a machine that this test makes up, where the system lets it."""
        script = 'printf %s "$0" > /proc/sys/kernel/hostname && exec "$@"'
        command = ["unshare", "--map-root-user", "--uts", "sh", "-c", script, "h" + SHORT]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
            self.skipTest("no name spaces here")
        done = subprocess.run([*command, cli.PROGRAM, *self.train], env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=cli.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(done.stdout + done.stderr)
        self.assertIn("h" + shown(SHORT), self.say("show", "1"))
        self.say("screen", "--view", "settings", "--size", "220x60")
        self.say("screen", "--view", "dashboard", "--size", "220x60")


class Mistakes(Case):
    """What is refused is quoted."""

    def test_arguments(self):
        word = "a" + HIDDEN + CONTROLS
        for arguments in ([word], ["--" + word], ["runs", "--sort", word],
                          ["runs", "--limit", word], ["runs", "--status", word],
                          ["runs", "--since", word], ["show", word], ["export", word, "--csv"],
                          ["stop", word], ["engine", word], ["train", "--lr", word],
                          ["train", "--devices", word], ["compare", "--lr", word],
                          ["completion", word], ["screen", "--keys", "<" + word + ">"],
                          ["screen", "--view", word], ["fetch", word],
                          ["screen", "--replay", word], ["compare", "--show", word]):
            done = self.run_bytes(*arguments)
            with self.subTest(arguments[:2]):
                self.assertIn(done.returncode, (1, 2))
                self.assertEqual(self.check(done.stdout), "")
                text = self.check(done.stderr)
                self.assertEqual(text.count("\n"), 1, text)
                self.assertIn("a\\u061c", text)

    def test_of_the_engine_program(self):
        for argument in ("--a" + SHORT, "a" + SHORT, "--private=" + SHORT):
            done = self.run_bytes(argument, program=cli.ENGINE)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(self.check(done.stderr).count("\n"), 1)

    def test_names_of_files(self):
        """Also those that no text can hold."""
        data = ["--data", "random:200x10", "--batch", "20", "--epochs", "1"]
        for name in ("a" + HIDDEN + CONTROLS, "b\udcff\udce4"):
            path = os.path.join(self.home, name)
            for arguments in (["train", "--model", path, *data], ["model", path],
                              ["train", "--model", "linear", "--data", path],
                              ["train", "--foreground", "--model", "linear", *data, "--log",
                               path + "/log"],
                              ["eval", path], ["export", "1", "--csv", "--output", path + "/x"],
                              ["train", "--foreground", "--model", "linear", *data, "--save",
                               path + "/w.safetensors"],
                              ["screen", "--replay", path]):
                with self.subTest(arguments):
                    done = self.run_bytes(*arguments)
                    self.assertNotEqual(done.returncode, 0)
                    self.check(done.stdout)
                    self.assertGreater(len(self.check(done.stderr)), 20)

    def test_settings(self):
        for text in ('model = "a' + HIDDEN + '";', 'a' + HIDDEN + ' = 1;', 'lr = "' + HIDDEN + '";',
                     'keys = { a' + SHORT + ' = "x"; };', 'x' + CONTROLS, 'batch = 1\u202e0;',
                     'keys = { quit = "' + SHORT + '"; };', 'palette = "' + SHORT + '";'):
            with self.subTest(text):
                self.write(os.path.join(self.env["XDG_CONFIG_HOME"], "dpartui", "dpartui.conf"),
                           text)
                for arguments in (["train", "--data", "random:200x10"], ["screen"]):
                    done = self.run_bytes(*arguments)
                    self.check(done.stdout)
                    self.check(done.stderr)
                self.assertNotEqual(self.run_bytes("train", "--data", "random:200x10").stderr, b"")


class Engines(Case):
    """What an engine says, which may be anything."""

    def setUp(self):
        super().setUp()
        self.engine = FakeEngine(self.folder, gpus=1)
        word = HIDDEN + CONTROLS
        self.engine.machine[0].update(name="gpu" + word, throttle="hot" + word)
        self.engine.machine[2].update(name="cpu" + word)
        self.engine.machine[1].update(available=False, reason="why" + word)
        self.engine.no_gpus = "none" + word
        self.engine.submit({"devices": "cuda:0", "batch": 512, "lr": 0.2, "epochs": 10,
                            "model": "model" + word, "data": "data" + word, "note": "note" + word,
                            "data_dir": word})
        self.engine.runs[0]["tags"] = ["tag" + word]
        self.engine.begin()
        self.engine.epoch()
        self.engine.warn("warning" + word)
        self.engine.say("error", 1, "message" + word)
        self.engine.run(1)["retunes"].append({"event": "retune", "step": 7, "what": "what" + word})
        state = self.engine._state

        def with_host():
            message = state()
            message["params"]["host"] = "host" + word
            return message
        self.engine._state = with_host

    def tearDown(self):
        self.engine.close()
        super().tearDown()

    def test_screens(self):
        text = ""
        for view in ("dashboard", "runs", "run", "compare", "log", "settings", "device"):
            for keys in ("", "<Enter>", "n", "/"):
                text += self.say("screen", "--view", view, "--size", "200x60", "--keys", keys)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 200)
            data = self.run_bytes("screen", "--view", view, "--ansi").stdout
            self.check(re.sub(rb"\x1b\[[0-9;:]*m", b"", data))
        for word in ("gpu", "cpu", "why", "model", "note", "tag", "warning", "message"):
            self.assertTrue(word + shown(HIDDEN[0]) in text, word)

    def test_the_terminal(self):
        """The same over the wire: after the control sequences nothing hidden is left."""
        terminal = Terminal([cli.PROGRAM], self.folder, rows=50, columns=160, **{
            name: self.env[name] for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME",
                                              "XDG_DATA_HOME")})
        self.addCleanup(terminal.close)
        for key in "DRCLSD":
            terminal.keys(key)
            terminal.settle()
        self.assertIn("\\u061c", terminal.screen.dump())
        plain = re.sub(rb"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[ -/]*[0-~])", b"",
                       terminal.raw)
        self.check(plain.replace(b"\x0f", b""), "\r\n\b\t")
        terminal.close()  # before the folder that it may still write to

    def test_commands(self):
        for arguments in (["devices"], ["engine", "status"], ["runs"], ["show", "1"],
                          ["export", "1", "--svg"], ["runs", "--json"], ["show", "1", "--json"],
                          ["export", "1", "--json"], ["devices", "--json"]):
            with self.subTest(arguments):
                text = self.say(*arguments)
                if "--json" in arguments:
                    text = json.dumps(json.loads(text), ensure_ascii=False)
                    self.assertIn(HIDDEN, text)
                elif arguments[0] != "engine":
                    self.assertIn(shown(HIDDEN)[:12], text)

    def test_columns_stay_in_line(self):
        head, *rows = self.say("devices").splitlines()
        for row in rows[:3]:
            self.assertRegex(row[head.index("STATE") - 1:], "^ (ready|why)")


if __name__ == "__main__":
    unittest.main()
