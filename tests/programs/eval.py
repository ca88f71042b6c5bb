#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Testing saved weights with 'dpartui eval', and resuming a run whose engine was killed."""

import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))
import plain_signals  # noqa: E402,F401
import program  # noqa: E402

BUILD = os.environ.get("top_builddir", ".")
PROGRAM = os.path.abspath(os.path.join(BUILD, "dpartui"))
PATIENCE = 120.0
LINEAR = ["--model", "linear", "--data", "glyphs", "--train-rows", "400", "--test-rows", "300",
          "--batch", "50", "--seed", "7"]


def write_idx(path, dimensions, values):
    with open(path, "wb") as file:
        file.write(struct.pack(">I", 0x800 + len(dimensions)))
        file.write(struct.pack(f">{len(dimensions)}I", *dimensions) + bytes(values))


def write_data(folder, names, pairs):
    """A data set of len(names) classes, whose pictures have a pixel for each. Each of the pairs
    (label, pixel) is a row with this one pixel lit; None: it is all black."""
    os.mkdir(folder)
    with open(os.path.join(folder, "classes.txt"), "w", encoding="utf8") as file:
        file.write("".join(name + "\n" for name in names))
    for part in "train", "t10k":
        pixels = [255 * (pixel == k) for _, pixel in pairs for k in range(len(names))]
        write_idx(os.path.join(folder, part + "-images-idx3-ubyte"), (len(pairs), 1, len(names)),
                  pixels)
        write_idx(os.path.join(folder, part + "-labels-idx1-ubyte"), (len(pairs),),
                  [label for label, _ in pairs])


def write_identity(path, classes):
    """Weights of the model `linear` with which a row is of the class of its lit pixel."""
    weights = [3.0 * (i == j) for i in range(classes) for j in range(classes)]
    size = 4 * len(weights)
    header = json.dumps({
        "fc.weight": {"dtype": "F32", "shape": [classes, classes], "data_offsets": [0, size]},
        "fc.bias": {"dtype": "F32", "shape": [classes],
                    "data_offsets": [size, size + 4 * classes]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.write(struct.pack(f"<{len(weights) + classes}f", *weights, *([0.0] * classes)))


class Eval(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=self.folder, LC_ALL="C")

    def tearDown(self):
        self.run_program("engine", "stop", "--now")
        shutil.rmtree(self.folder)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, env=self.env, cwd=self.folder, check=False)

    def good(self, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def good_json(self, *arguments):
        return json.loads(self.good(*arguments, "--json"))

    def refuse(self, status, words, *arguments):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def show(self, run):
        return self.good_json("show", str(run))

    def is_up(self):
        """Also while a killed engine's connections are being closed."""
        result = self.run_program("engine", "status", "--json")
        return result.returncode != 0 or json.loads(result.stdout)["running"]

    def checkpoints(self, run):
        folder = os.path.join(self.folder, "dpartui", "checkpoints", str(run))
        return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                      if "momentum" not in name)

    def test_a_checkpoint_knows_what_it_is_of(self):
        self.good("train", *LINEAR, "--epochs", "3", "--save", "w.safetensors")
        run = self.show(1)
        self.assertEqual(run["checkpoint"]["steps"], 24)
        newest = self.checkpoints(1)[-1]
        for arguments in (["--run", "1"], [newest], ["w.safetensors"],
                          ["w.safetensors", *LINEAR[:4], *LINEAR[6:8], "--seed", "7"]):
            found = self.good_json("eval", *arguments)
            self.assertEqual(found["test_acc"], run["test_acc"])
            self.assertAlmostEqual(found["test_loss"], run["epochs"][-1]["test_loss"], places=6)
            self.assertEqual(found["test_rows"], 300)
            self.assertEqual((found["model"], found["data"]), ("linear", "glyphs"))
        self.assertRegex(self.good("eval", newest, "--test-rows", "100", "--devices", "cpu:0-1"),
                         r"^test acc 0\.\d{4}, loss \d\.\d{4}, 100 rows in \S+ s on "
                         r"\[cpu:0, cpu:1\]: linear on glyphs\n$")
        # It leaves no run, and needs no engine in the background.
        self.assertEqual(len(self.good_json("runs")), 1)
        self.good("engine", "stop")
        self.good("eval", "--run", "1")
        self.assertFalse(self.good_json("engine", "status")["running"])

    def test_saved_weights_say_how_they_were_trained(self):
        self.good("train", *LINEAR, "--epochs", "2", "--lr", "0.05", "--save", "w.safetensors",
                  "--save-best", "best.safetensors")
        for name in "w.safetensors", "best.safetensors":
            with open(os.path.join(self.folder, name), "rb") as file:
                header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            note = json.loads(header["__metadata__"]["dpartui"])
            self.assertEqual((note["model"], note["data"], note["seed"], note["test_rows"]),
                             ("linear", "glyphs", 7, 300))
            recipe = note["recipe"]
            self.assertEqual((recipe["epochs"], recipe["batch"], recipe["lr"],
                              recipe["optimizer"]), (2, 50, 0.05, "sgd"))
        # A run that begins with them is of the same network and data, unless others are named.
        self.good("train", "--init", "w.safetensors", "--epochs", "1", "--max-steps", "2")
        run = self.show(2)
        self.assertEqual((run["model"], run["data"]), ("linear", "glyphs"))
        self.assertIn("weights of linear, trained on glyphs, do not fit the network 'smallnet'",
                      self.run_program("train", "--init", "w.safetensors", "--model",
                                       "smallnet").stderr)

    def test_the_best(self):
        # A rate at which the first epoch is not the best and the last one neither, whatever it is.
        self.good("train", *LINEAR, "--epochs", "12", "--lr", "1.5")
        run = self.show(1)
        best = max(run["epochs"], key=lambda epoch: (epoch["test_acc"], -epoch["epoch"]))
        found = self.good_json("eval", "--run", "1", "--best")
        self.assertEqual(found["test_acc"], best["test_acc"])
        self.assertTrue(found["file"].endswith("step-%08d.safetensors" % best["step"]), found)

    def test_what_is_taken_for_what(self):
        names = ["cat", "dog", "ca\u00f1\u00f3n", "ship\u202e"]
        pairs = [(0, 0)] * 7 + [(1, 0)] * 3 + [(1, 1)] * 2 + [(2, None)] * 3 + [(3, 2)] + [(3, 0)]
        write_data(os.path.join(self.folder, "few"), names, pairs)
        write_identity(os.path.join(self.folder, "w.safetensors"), 4)
        arguments = ["w.safetensors", "--model", "linear", "--data", "few"]
        counts = [[7, 0, 0, 0], [3, 2, 0, 0], [3, 0, 0, 0], [1, 0, 1, 0]]
        for devices in "cpu:0", "cpu:0-2":
            # Three of a batch of five have none: an equal answer is the first.
            found = self.good_json("eval", *arguments, "--confusion", "--batch", "5", "--devices",
                                   devices)
            self.assertEqual(found["confusion"], counts)
            self.assertEqual(found["class_names"], names)
            self.assertAlmostEqual(found["test_acc"] * 17, 9)
        self.assertNotIn("confusion", self.good_json("eval", *arguments))
        self.env["LC_ALL"] = "C.UTF-8"
        text = self.good("eval", *arguments, "--confusion")
        self.assertEqual(text.split("\n", 1)[1], """
most often mistaken:
  dog taken for cat: 3 of 5
  ca\u00f1\u00f3n taken for cat: 3 of 3
  ship\\u202e taken for cat: 1 of 2
  ship\\u202e taken for ca\u00f1\u00f3n: 1 of 2

class       rows  accuracy  precision
cat            7    1.0000     0.5000
dog            5    0.4000     1.0000
ca\u00f1\u00f3n          3    0.0000     0.0000
ship\\u202e     2    0.0000          -

rows of a class, by the class that they were taken for:
              0  1  2  3
0 cat         7  .  .  .
1 dog         3  2  .  .
2 ca\u00f1\u00f3n       3  .  .  .
3 ship\\u202e  1  .  1  .
""")

    def test_many_classes(self):
        names = [f"number {k}" for k in range(60)]
        pairs = [(k, k if k < 5 else k - 5) for k in range(60) for _ in range(k + 1)]
        write_data(os.path.join(self.folder, "many"), names, pairs)
        write_identity(os.path.join(self.folder, "w.safetensors"), 60)
        arguments = ["eval", "w.safetensors", "--model", "linear", "--data", "many"]
        text = self.good(*arguments, "--confusion")
        self.assertIn("\n  number 59 taken for number 54: 60 of 60\n", text)
        self.assertIn(f"\n  and {sum(range(6, 51))} rows of 45 other pairs\n", text)
        self.assertTrue(text.endswith("\nthe matrix of 60 classes is wider than the terminal: "
                                      "--matrix prints it\n"), text)
        lines = self.good(*arguments, "--matrix").splitlines()
        self.assertEqual(lines[-1].split(), ["59", "number", "59"] + ["."] * 54 + ["60"] +
                         ["."] * 5)

    def ask(self, method, **params):
        """Of the engine that runs; its answer."""
        return program.ask(os.path.join(self.folder, "dpartui"), method, params, PATIENCE)

    def test_the_engine_evaluates_a_run(self):
        """Its newest checkpoint or its best, while another run trains."""
        self.good("train", *LINEAR, "--epochs", "12", "--lr", "1.5", "--tensorboard", "board")
        run = self.show(1)
        board = os.listdir(os.path.join(self.folder, "board"))
        self.good("train", *LINEAR, "--epochs", "1000000", "--detach")
        for best, key in (False, "test_acc"), (True, "best_test_acc"):
            answer = self.ask("evaluate", run=1, best=best, confusion=True, background=True)
            result = answer["result"]
            self.assertEqual(result["test_acc"], run[key])
            self.assertEqual(result["checkpoint"]["test_acc"], run[key])
            self.assertEqual(sum(map(sum, result["confusion"])), 300)
            right = sum(result["confusion"][k][k] for k in range(10))
            self.assertAlmostEqual(right / 300, run[key])
            self.assertEqual(result["class_names"], list("AEFHKNTXYZ"))
        # Of the run that trains, whose checkpoints come and go.
        self.await_checkpoint(2)
        for _ in range(5):
            self.assertIn("result", self.ask("evaluate", run=2, confusion=True))
        self.assertEqual(os.listdir(os.path.join(self.folder, "board")), board)
        self.assertEqual(len(self.good_json("runs")), 2)
        self.assertIn("run 7", self.ask("evaluate", run=7)["error"]["message"])

    def await_checkpoint(self, run):
        self.assertTrue(program.wait_until(lambda: self.show(run)["checkpoint"], PATIENCE))

    def test_the_learning_rate_of_a_run_that_goes_on(self):
        """As it was at the checkpoint, unless another one is given."""
        self.good("train", *LINEAR, "--epochs", "2", "--lr", "0.1")
        self.good("train", "--resume", "1", "--epochs", "3", "--lr", "0.05")
        self.good("train", "--resume", "1", "--epochs", "4")
        run = self.show(1)
        self.assertEqual([epoch["lr"] for epoch in run["epochs"]], [0.1, 0.1, 0.05, 0.05])
        self.assertEqual(run["lr"], 0.05)

    def test_mistakes(self):
        self.good("train", *LINEAR, "--epochs", "1", "--save", "w.safetensors")
        with open(os.path.join(self.folder, "text"), "w", encoding="utf8") as file:
            file.write("these are no weights at all")
        self.refuse(2, "eval needs a file", "eval")
        self.refuse(2, "eval needs a file", "eval", "w.safetensors", "--run", "1")
        self.refuse(2, "--best", "eval", "w.safetensors", "--best")
        self.refuse(2, "--run needs", "eval", "--run", "one")
        self.refuse(2, "missing.safetensors: No such file", "eval", "missing.safetensors")
        self.refuse(1, "run 9 has no checkpoint", "eval", "--run", "9")
        self.refuse(1, "not a safetensors file", "eval", "text")
        self.refuse(2, "w.safetensors: weights of linear, trained on glyphs, do not fit the network "
                    "'smallnet' for these data: '0.weight' is missing", "eval", "w.safetensors",
                    "--model", "smallnet")
        write_identity(os.path.join(self.folder, "theirs.safetensors"), 3)
        self.refuse(2, "theirs.safetensors: does not say which model its weights are of: --model "
                    "names it", "eval", "theirs.safetensors")
        self.refuse(2, "theirs.safetensors: 'fc.weight' has shape", "eval", "theirs.safetensors",
                    "--model", "linear", "--data", "glyphs")
        self.refuse(2, "or another with its folder, as ./NAME", "train", *LINEAR, "--init",
                    "w.weights")

    def test_any_name_will_do(self):
        name = "w" * 250 + ".abc"
        said = self.good("train", *LINEAR, "--epochs", "1", "--train-rows", "30", "--save", name)
        accuracy = re.search("test acc ([0-9.]+)", said)[1]
        result = self.run_program("eval", name)
        self.assertIn(f"test acc {accuracy}", result.stdout)
        self.assertEqual(result.stderr, "")
        self.good("train", *LINEAR, "--epochs", "1", "--init", "./" + name)

    def test_weights_that_are_no_numbers(self):
        self.good("train", *LINEAR, "--epochs", "1", "--train-rows", "30", "--save", "w.safetensors")
        with open(os.path.join(self.folder, "w.safetensors"), "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            values = file.read()
        del header["__metadata__"]
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(self.folder, "nan.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + values[:8] +
                       struct.pack("<f", math.nan) + values[12:])
        self.refuse(1, "the test loss of these weights is not finite", "eval", "nan.safetensors",
                    "--model", "linear", "--data", "glyphs")

    def test_an_interrupted_run_goes_on(self):
        self.good("train", *LINEAR, "--epochs", "1000000", "--detach")
        self.await_checkpoint(1)
        os.kill(self.good_json("engine", "status")["pid"], signal.SIGKILL)
        self.assertTrue(program.wait_until(lambda: not self.is_up(), PATIENCE))
        self.good("engine", "start")
        run = self.show(1)
        self.assertEqual(run["status"], "interrupted")
        self.assertIn("crashed or was killed", run["error"])
        # It may have trained on after the checkpoint.
        epochs = str(max(run["epochs_done"], run["checkpoint"]["steps"] // 8) + 2)
        self.good("eval", "--run", "1")
        self.good("train", "--resume", "1", "--epochs", epochs)
        run = self.show(1)
        self.assertEqual((run["status"], run["epochs_done"], run["error"]),
                         ("done", int(epochs), None))


if __name__ == "__main__":
    unittest.main()
