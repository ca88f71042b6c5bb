#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in shells: the scripts are those that the program prints, and interactive shells on a
terminal complete with them what one would type. zsh and fish where they are installed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "harness"))
import fake_engine  # noqa: E402
import plain_signals  # noqa: E402,F401
import shell_session  # noqa: E402

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
SOURCE = os.path.abspath(os.environ.get("top_srcdir", os.path.dirname(HERE)))
SCRIPTS = os.path.join(SOURCE, "etc", "completions")
PROGRAM = os.path.join(BUILD, "dpartui")
SCRIPT = {"bash": os.path.join(SCRIPTS, "bash", "dpartui"),
          "zsh": os.path.join(SCRIPTS, "zsh", "_dpartui"),
          "fish": os.path.join(SCRIPTS, "fish", "dpartui.fish")}
PATIENCE = 60.0
MODELS = ["alexnet", "cifar-cnn", "lenet", "linear", "mobilenet-small", "resnet18", "smallnet"]
RUNS = {"1": "linear on cpu:0, batch 64, done", "2": "lenet on cpu:0-1, batch 64, running",
        "3": "a:model on cpu:0-1, batch 64, queued"}


class Case(unittest.TestCase):
    """With an engine that has three runs, two CPU devices and a GPU, unless `engine` is False."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.files = os.path.join(self.folder, "files")
        for name in ("models", "my folder"):
            os.makedirs(os.path.join(self.files, name))
        for name in ("my net.conf", "it's.log", "start.safetensors", "models/deep.conf",
                     "models/deep.txt", "10:30.txt"):
            open(os.path.join(self.files, name), "w", encoding="utf8").close()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        HOME=self.folder, XDG_CONFIG_HOME=self.folder,
                        XDG_DATA_HOME=self.folder,
                        DPARTUI_MODEL_PATH=os.path.join(SOURCE, "etc", "models"),
                        LC_ALL="C.UTF-8",
                        PATH=BUILD + os.pathsep + os.environ["PATH"])
        self.engine = None

    def start_engine(self):
        self.engine = fake_engine.FakeEngine(self.folder, gpus=1)
        self.addCleanup(self.engine.close)
        for model, devices in ("linear", "cpu:0"), ("lenet", "cpu:0-1"), ("a:model", "cpu:0-1"):
            self.engine.submit({"model": model, "devices": devices, "batch": 64, "lr": 0.1,
                                "epochs": 3})
        self.engine.begin()
        self.engine.end()
        self.engine.begin()

    def open_shell(self, *command):
        shell = shell_session.Shell(command, SCRIPT[command[0]], self.env, self.folder)
        self.addCleanup(shell.close)
        return shell

    def words(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, "completion", *arguments], env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def commands(self):
        """Every command with its options, as --help has them; the workbench is ''."""
        found = {}
        names = [""]
        for name in names:
            text = subprocess.run([PROGRAM, *([name] if name else []), "--help"], env=self.env,
                                  check=True, capture_output=True, text=True).stdout
            if not name:
                part = text.split("Commands:\n")[1].split("\n\n")[0]
                names += [line.split()[0] for line in part.splitlines()]
            lines = text.split("\nOptions:\n")[-1].splitlines()
            found[name] = [re.match(r"--[a-z0-9-]+", line.strip())[0] for line in lines
                           if line.startswith("  --")]
        return found


class Program(Case):
    def test_scripts_are_up_to_date(self):
        for shell, path in SCRIPT.items():
            with open(path, encoding="utf8") as file:
                self.assertEqual(file.read(), self.words(shell),
                                 f"{path} is not what the program prints: options or commands "
                                 "have changed. 'make update-completions' rewrites it")

    def test_runs(self):
        self.start_engine()
        self.assertEqual(self.words("words", "runs"),
                         "".join(f"{n}\t{RUNS[n]}\n" for n in ("3", "2", "1")))
        self.assertEqual(self.words("words", "live-runs"),
                         "".join(f"{n}\t{RUNS[n]}\n" for n in ("3", "2")))

    def test_what_an_engine_says_cannot_break_a_line(self):
        self.start_engine()
        self.engine.run(3)["model"] = "\x1b[2J\n9\tevil"
        self.engine.run(2)["devices"] = ["nowhere", 7]
        self.assertEqual(self.words("words", "runs"),
                         "3\t\\x1b[2J\\x0a9\\x09evil on cpu:0-1, batch 64, queued\n"
                         f"2\tlenet on -, batch 64, running\n1\t{RUNS['1']}\n")

    def test_hosts(self):
        os.mkdir(os.path.join(self.folder, "dpartui"), mode=0o700)
        with open(os.path.join(self.folder, "dpartui", "dpartui.conf"), "w", encoding="utf8") as file:
            file.write('hosts = ( "me@gpu1", "gpu2" );\n')
        names = [line.split("\t")[0] for line in self.words("words", "hosts").splitlines()]
        self.assertEqual(names, ["me@gpu1", "gpu2", "local"])
        self.start_engine()
        self.env["DPARTUI_HOST"] = "gpu1"
        self.assertEqual(self.words("words", "runs"), "")
        self.assertEqual(self.words("words", "devices"), "")

    def test_without_an_engine(self):
        self.assertEqual(self.words("words", "runs"), "")
        self.assertIn("cpu:0-1\t", self.words("words", "devices"))
        self.assertNotIn("engine.sock", os.listdir(os.path.join(self.folder, "dpartui")))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "dpartui", "engine.log")))

    def test_an_engine_that_does_not_answer(self):
        self.start_engine()
        self.engine.stalled.set()
        self.addCleanup(self.engine.stalled.clear)
        self.assertEqual(self.words("words", "runs"), "")
        self.assertIn("cpu:0\t", self.words("words", "devices"))

    def test_devices(self):
        self.start_engine()
        self.assertIn("cuda:0\tNVIDIA H200\n", self.words("words", "devices"))

    def test_models(self):
        own = os.path.join(self.folder, "own")
        os.mkdir(own)
        for name in "mine.conf", "linear.conf", "two words.conf", "none.txt", "bad\nname.conf":
            open(os.path.join(own, name), "w", encoding="utf8").close()
        self.env["DPARTUI_MODEL_PATH"] = own + ":" + self.env["DPARTUI_MODEL_PATH"]
        lines = self.words("words", "models").splitlines()
        names = [line.split("\t")[0] for line in lines]
        self.assertEqual(sorted(names), sorted(MODELS + ["mine", "two words"]))
        self.assertIn(f"linear\t{own}", lines)

    def test_wrong_usage(self):
        for arguments in ["tcsh"], ["words", "secrets"], ["bash", "zsh"], ["words"]:
            self.words(*arguments, status=2)


class Bash(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("bash"):
            self.skipTest("bash is not installed")
        self.start_engine()
        self.shell = self.open_shell("bash", "--norc", "--noprofile", "-i")

    def check(self, line, *expected, tabs=1):
        with self.subTest(line=line):
            self.assertEqual(sorted(self.shell.offers(line, tabs)), sorted(expected))

    def check_run(self, line, *expected):
        with self.subTest(line=line):
            self.assertEqual(self.shell.arguments(line), list(expected))

    def test_commands_and_their_options(self):
        found = self.commands()
        self.check("dpartui ", *[name for name in found if name])
        for name, options in found.items():
            self.check(f"dpartui {name}{' ' if name else ''}--", *options)
        self.check("dpartui tr", "train")
        self.check("dpartui nonsense ")
        self.check("dpartui nonsense --")
        self.check("dpartui train --spl", "--split")
        self.check("dpartui --mono --charset utf8 --mo", "--model", "--momentum", "--mono")
        self.check("dpartui --mono tr")

    def test_fixed_words(self):
        rules = ["chunk", "even", "balanced", "auto", "weighted:"]
        self.check("dpartui train --split ", *rules)
        self.check("dpartui train --split=", *rules)
        self.check("dpartui train --split=ch", "chunk")
        self.check("dpartui train --split 'ch", "chunk")
        self.check("dpartui --charset u", "utf8")
        self.check("dpartui train --sync-bn=", "yes", "no")
        self.check("dpartui train --profile=", "time", "order")
        self.check("dpartui train --sync-bn ")
        self.check("dpartui train --dtype=", "default", "f32", "tf32", "bf16")
        self.check("dpartui train --order s", "shuffle", "sequential")
        self.check("dpartui train --recipe=", "auto", "none")
        self.check("dpartui train --strategy=", "data", "pipeline", "tensor", "mixed")
        self.check("dpartui compare --strategies ", "data,pipeline,tensor,mixed")
        self.check("dpartui train --micro-batches ")
        self.check("dpartui train --stages ")
        self.check("dpartui train --batch ")
        self.check("dpartui train --batch=")
        self.check("dpartui train --batch 5 --sync c", "central")
        self.check("dpartui --host gpu1 tr", "train")
        self.check("dpartui --host=gpu1 engine st", "start", "stop", "status")
        self.check("dpartui --host gpu1 show ")
        self.check("dpartui show --host gpu1 ")
        self.check("dpartui train --host ", "local")
        self.check("dpartui engine st", "start", "stop", "status")
        self.check("dpartui engine start ")
        self.check("dpartui completion ", "bash", "zsh", "fish")
        self.check("dpartui fetch ", "fashion-mnist", "mnist", "cifar10")
        self.check("dpartui train --data g", "glyphs")
        self.check_run("dpartui train --split=wei", "train", "--split=weighted:")
        self.check_run("dpartui train --split=weighted:", "train", "--split=weighted:")
        self.check_run("dpartui train --split=ch", "train", "--split=chunk")

    def test_runs(self):
        self.check("dpartui show ", "3", "2", "1")
        self.check("dpartui stop ", "3", "2")
        self.check("dpartui stop --now ", "3", "2")
        self.check("dpartui stop -- ", "3", "2")
        self.check("dpartui stop -- --")
        self.check("dpartui show 1 ", "3", "2", "1")
        self.check("dpartui show 1 2 ")
        self.check("dpartui runs ", "delete", "note", "repair", "tag")
        self.check("dpartui runs tag ", "3", "2", "1")
        self.check("dpartui runs --status inter", "interrupted")
        self.check("dpartui runs --sort sp", "speed")
        self.check("dpartui export 1 ", "3", "2", "1")
        self.check("dpartui export --figure test", "test_acc", "test_loss")
        self.check("dpartui show --json 1 2 ")
        self.check("dpartui show ", *[f"{n}  {RUNS[n]}" for n in RUNS], tabs=2)
        self.check_run("dpartui show --json 2", "show", "--json", "2")

    def test_devices(self):
        self.check("dpartui train --devices a", "all")
        self.check("dpartui train --devices cu", "cuda:0")
        self.check("dpartui train --devices cuda:", "0")
        self.check("dpartui train --devices=cuda:", "0")
        self.check("dpartui train --devices cpu:0,cuda:", "0")
        self.check("dpartui train --devices cpu:0,cu", "0,cuda:0")
        self.check("dpartui train --devices cpu:0,a")
        self.check_run("dpartui train --devices cpu:0,cuda", "train", "--devices", "cpu:0,cuda:0")
        self.check_run("dpartui train --devices=cpu:0,cuda", "train", "--devices=cpu:0,cuda:0")
        self.assertIn("cpu:0-1", self.shell.offers("dpartui model --devices "))

    def test_models(self):
        self.check("dpartui model ", *MODELS, "models", "my folder", "my net.conf")
        self.check("dpartui model --batch 64 res", "resnet18")
        self.check("dpartui model --batch=64 res", "resnet18")
        self.check("dpartui train --model=models/", "models/deep.conf")
        self.check("dpartui train --model re", "resnet18")
        self.check_run("dpartui model my\\ n", "model", "my net.conf")
        self.check_run("dpartui model 'my n", "model", "my net.conf")

    def test_files(self):
        self.check_run("dpartui train --save my\\ n", "train", "--save", "my net.conf")
        self.check_run("dpartui train --save \"my n", "train", "--save", "my net.conf")
        self.check_run("dpartui train --save=my\\ n", "train", "--save=my net.conf")
        self.check_run("dpartui train --save=\"my n", "train", "--save=my net.conf")
        self.check_run("dpartui train --log it\\'", "train", "--log", "it's.log")
        self.check_run("dpartui train --log 10", "train", "--log", "10:30.txt")
        self.check_run("dpartui train --log=10:", "train", "--log=10:30.txt")
        self.check_run("dpartui train --log ~/fil", "train", "--log", self.files + "/")
        self.check("dpartui train --data-dir ", "models", "my folder")
        self.check_run("dpartui train --data-dir my", "train", "--data-dir", "my folder/")
        self.check("dpartui train --init s", "start.safetensors")
        self.check("dpartui train --init ", "default", "kaiming-normal", "kaiming-uniform", "normal:",
                   "start.safetensors", "uniform:", "xavier-normal", "xavier-uniform", "models",
                   "my folder")
        self.check("dpartui devices ")
        self.check("dpartui show my")

    def test_other_ways_to_call_it(self):
        self.check("X=1 dpartui tr", "train")
        self.check("true; dpartui tr", "train")
        self.check("  dpartui   show   1", "1")
        self.check(shlex.quote(PROGRAM) + " stop ", "3", "2")
        self.check("dpartui train --split ch --epochs 3\x01\x1bf\x1bf\x1bf\x1bf", "chunk")

    def test_bash_that_does_not_break_words(self):
        self.shell.type(" COMP_WORDBREAKS=' '\r")
        self.check("dpartui train --split=ch", "--split=chunk")
        self.check("dpartui train --devices=cpu:0,cu", "--devices=cpu:0,cuda:0")


class Zsh(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        self.start_engine()
        self.shell = self.open_shell("zsh", "-f", "-i")

    def offers(self, line):
        return sorted({word for word in self.shell.offers(line) if word[0] != "|"})

    def check(self, line, *expected):
        with self.subTest(line=line):
            self.assertEqual(self.offers(line), sorted(expected))

    def check_run(self, line, *expected):
        with self.subTest(line=line):
            self.assertEqual(self.shell.arguments(line), list(expected))

    def test_commands_and_their_options(self):
        found = self.commands()
        self.check("dpartui ", *[name for name in found if name])
        for name, options in found.items():
            with self.subTest(name=name):
                self.assertEqual(self.offers(f"dpartui {name}{' ' if name else ''}--"),
                                 sorted(options))
        told = self.shell.offers("dpartui train --")
        self.assertTrue(any("global batch size" in line for line in told), told)

    def test_arguments(self):
        self.check("dpartui train --split ", "auto", "balanced", "chunk", "even", "weighted:")
        self.check("dpartui train --split=ch", "--split=chunk")
        self.check("dpartui train --sync-bn=", "--sync-bn=yes", "--sync-bn=no")
        self.check("dpartui show ", "3", "2", "1")
        self.check("dpartui stop --now ", "3", "2")
        self.check("dpartui stop -- ", "3", "2")
        self.check("dpartui show 1 2 ", "--help", "--host", "--json", "--profile", "--svg-step", "--version", "-h")
        self.check("dpartui --host gpu1 tra", "train")
        self.check("dpartui --host=gpu1 stop --no", "--now")
        self.check("dpartui show --host ", "local")
        self.check("dpartui show --profile=", "--profile=time", "--profile=order")
        told = self.shell.offers("dpartui show ")
        for run in RUNS.values():
            self.assertTrue(any(run in line for line in told), told)
        self.check("dpartui engine st", "start", "stop", "status")
        self.check("dpartui --charset a", "ascii", "auto")
        self.check("dpartui train --devices cuda:", "cuda:0")
        self.check("dpartui train --devices a", "all")
        self.check_run("dpartui train --devices cpu:0,cuda:", "train", "--devices", "cpu:0,cuda:0")
        self.check_run("dpartui train --split=wei", "train", "--split=weighted:")
        self.check_run("dpartui train --split=cent --sync cent", "train", "--split=cent", "--sync",
                       "central")

    def test_files(self):
        self.check("dpartui model --batch 64 re", "resnet18")
        self.check_run("dpartui model my\\ n", "model", "my net.conf")
        self.check_run("dpartui train --save=\"my n", "train", "--save=my net.conf")
        self.check_run("dpartui train --log it\\'", "train", "--log", "it's.log")
        self.check_run("dpartui train --data-dir my", "train", "--data-dir", "my folder")
        self.check_run("dpartui train --init st", "train", "--init", "start.safetensors")


class Fish(Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        self.start_engine()

    def offers(self, *lines):
        """For each line what is offered, as {word: description}."""
        # Not the script that may be installed.
        text = "set -g fish_complete_path\n"
        text += f"source {shlex.quote(SCRIPT['fish'])}\n"
        for line in lines:
            quoted = line.replace("\\", "\\\\").replace("'", "\\'")
            text += f"complete -C '{quoted}'; echo @\n"
        done = subprocess.run(["fish"], input=text, env=self.env, cwd=self.files,
                              check=False, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.stderr, "")
        parts = done.stdout.split("@\n")
        self.assertEqual(len(parts), len(lines) + 1, done.stdout)
        return [dict(line.partition("\t")[::2] for line in part.splitlines())
                for part in parts[:-1]]

    def check(self, cases):
        for (line, expected), offered in zip(cases.items(), self.offers(*cases)):
            with self.subTest(line=line):
                # A switch is offered with and without its "=".
                offered = {word.removesuffix("=") for word in offered}
                self.assertEqual(sorted(offered), sorted(expected))

    def test_commands_and_their_options(self):
        found = self.commands()
        cases = {f"dpartui {name}{' ' if name else ''}--": options
                 for name, options in found.items()}
        cases["dpartui "] = [name for name in found if name]
        self.check(cases)
        train = self.offers("dpartui train --")[0]
        self.assertEqual(train["--batch"], "global batch size, over all devices")
        self.assertTrue(all(train.values()), train)

    def test_arguments(self):
        self.check({
            "dpartui train --split ": ["auto", "balanced", "chunk", "even", "weighted:"],
            "dpartui train --split=ch": ["--split=chunk"],
            "dpartui train --sync-bn=": ["--sync-bn=yes", "--sync-bn=no"],
            "dpartui train --batch ": [],
            "dpartui train --devices cuda": ["cuda:0"],
            "dpartui train --devices a": ["all"],
            "dpartui train --devices=cpu:0,cuda:": ["--devices=cpu:0,cuda:0"],
            "dpartui train --devices cpu:0,al": [],
            "dpartui stop --now ": ["2", "3"],
            "dpartui --host gpu1 tra": ["train"],
            "dpartui --host gpu1 stop ": [],
            "dpartui show --host ": ["local"],
            "dpartui --host=gpu1 stop --no": ["--now"],
            "dpartui stop -- ": ["2", "3"],
            "dpartui show 1 2 ": [],
            "dpartui engine st": ["start", "stop", "status"],
            "dpartui --charset a": ["ascii", "auto"],
            "dpartui model --batch 64 re": ["resnet18"],
            "dpartui model my": ["my net.conf", "my folder/"],
            "dpartui train --save=my\\ n": ["--save=my net.conf"],
            "dpartui train --data-dir m": ["models/", "my folder/"],
            "dpartui train --init st": ["start.safetensors"],
        })
        self.assertEqual(self.offers("dpartui show ")[0], RUNS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
