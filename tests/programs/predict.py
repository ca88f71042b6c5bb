#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a trained network takes pictures for, by 'dpartui predict': the same as evaluation counts and
as plain arithmetic says, for pictures of all kinds, broken ones among them."""

import array
import json
import math
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests
sys.path.insert(0, os.path.join(HERE, "harness"))
sys.path.insert(0, os.path.join(HERE, "engine/data/pictures"))
import plain_signals  # noqa: E402,F401
from png_file import GREY, RGB, png  # noqa: E402

BUILD = os.path.abspath(os.environ.get("top_builddir", "."))
PROGRAM = os.path.join(BUILD, "dpartui")
TOOL = os.path.join(BUILD, "tests/engine/data/pictures/picture_tool")
PATIENCE = 300.0
CLASSES = ["ca\u00f1\u00f3n", "dark side", "left\u202e"]
SIDE = 8
MEAN, STD = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)
MODEL = """name = "small";
default_input = [ 3, 8, 8 ];
default_classes = 3;
mean = [ 0.4, 0.5, 0.6 ];
std = [ 0.2, 0.25, 0.3 ];
layers = ( { type = "linear"; name = "fc"; outputs = "classes"; } );
"""


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def softmax(logits):
    most = max(logits)
    parts = [math.exp(x - most) for x in logits]
    return [x / sum(parts) for x in parts]


def made_picture(numbers, label, width, height):
    """Pixels of a class: noise around its brightness."""
    def sample(x, channel):
        mean = (170, 90, 170 if x < width // 2 else 90)[label] + 20 * channel
        return max(0, min(255, int(numbers.gauss(mean, 70))))
    return [[tuple(sample(x, c) for c in range(3)) for x in range(width)] for _ in range(height)]


def write_idx(path, dimensions, values):
    write(path, struct.pack(f">I{len(dimensions)}I", 0x800 + len(dimensions), *dimensions) +
          bytes(values))


def write_weights(path, weights, bias):
    """Of a linear network: a row of numbers for each class."""
    values = [x for row in weights for x in row]
    size, more = 4 * len(values), 4 * len(bias)
    header = json.dumps({
        "fc.weight": {"dtype": "F32", "shape": [len(bias), len(weights[0])],
                      "data_offsets": [0, size]},
        "fc.bias": {"dtype": "F32", "shape": [len(bias)],
                    "data_offsets": [size, size + more]}}).encode()
    header += b" " * (-len(header) % 8)
    return write(path, struct.pack("<Q", len(header)) + header +
                 struct.pack(f"<{len(values) + len(bias)}f", *values, *bias))


def read_weights(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    out = []
    for name in "fc.weight", "fc.bias":
        begin, end = header[name]["data_offsets"]
        out.append(array.array("f", data[8 + size + begin:8 + size + end]))
    return out


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
                        XDG_DATA_HOME=self.folder, XDG_CACHE_HOME=self.folder, LC_ALL="C.UTF-8")
        self.addCleanup(self.run_program, "engine", "stop", "--now")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=PATIENCE,
                              env=self.env, cwd=self.folder, check=False)

    def good(self, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def predict(self, *arguments):
        """An object for each file; nothing failed."""
        return [json.loads(line)
                for line in self.good("predict", *arguments, "--json").splitlines()]

    def refuse(self, status, words, *arguments):
        done = self.run_program("predict", *arguments)
        text = done.stderr.decode()
        self.assertEqual((done.returncode, done.stdout), (status, b""), text)
        self.assertIn(words, text)
        self.assertEqual(text.count("\n"), 1, text)


class Folder(Case):
    """A network that was trained on a folder of pictures."""

    def setUp(self):
        super().setUp()
        numbers = random.Random(17)
        for part, count in ("train", 40), ("test", 15):
            for label, name in enumerate(CLASSES):
                for i in range(count):
                    # Most have to be resized; the test's first are as the network wants them.
                    width, height = numbers.choice(((12, 12), (20, 15), (8, 11))) if i else (8, 8)
                    self.put(self.path("pics", part, name, f"{i}.png"), label, width, height,
                             numbers)
        write(self.path("small.conf"), MODEL.encode())
        self.good("train", "--model", "small.conf", "--data", "pics", "--image-size", str(SIDE),
                  "--batch", "30", "--lr", "0.02", "--epochs", "3", "--init", "default", "--save",
                  "w.safetensors")
        self.tests = [(name, os.path.join("pics/test", name, f"{i}.png"))
                      for name in CLASSES for i in range(15)]
        self.files = [path for _, path in self.tests]

    def put(self, path, label, width, height, numbers):
        pixels = made_picture(numbers, label, width, height)
        write(path, png(pixels, RGB))
        return pixels

    def test_evaluation_counts_the_same(self):
        """The checkpoint knows the size of pictures; how many go through at a time is no matter."""
        found = json.loads(self.good("eval", "--run", "1", "--confusion", "--json"))
        self.assertEqual(found["test_rows"], 45)
        self.assertGreater(found["test_acc"], 0.4)
        self.assertLess(found["test_acc"], 1)
        options = (), ("--batch", "7"), ("--batch", "1"), ("--devices", "cpu:0-1")
        for more in options:
            rows = self.predict("--run", "1", *more, *self.files)
            self.assertEqual([row["file"] for row in rows], self.files)
            counts = [[0] * 3 for _ in CLASSES]
            for (name, _), row in zip(self.tests, rows):
                counts[CLASSES.index(name)][row["label"]] += 1
                self.assertEqual(row["class"], CLASSES[row["label"]])
            self.assertEqual(counts, found["confusion"])
            right = sum(counts[k][k] for k in range(3))
            self.assertAlmostEqual(right / 45, found["test_acc"])
        # Neither a run nor an engine is left over.
        self.assertEqual(len(json.loads(self.good("runs", "--json"))), 1)
        self.good("engine", "stop")
        self.predict("--run", "1", "--best", self.files[0])
        self.assertFalse(json.loads(self.good("engine", "status", "--json"))["running"])

    def test_the_numbers_are_those_of_the_network(self):
        """Of pictures that need no resizing, by plain arithmetic."""
        weight, bias = read_weights(self.path("w.safetensors"))
        numbers, files, expected = random.Random(3), [], []
        for i in range(6):
            files.append(f"p{i}")
            pixels = self.put(self.path(files[-1]), i % 3, SIDE, SIDE, numbers)
            row = [(pixel[c] / 255 - MEAN[c]) / STD[c] for c in range(3)
                   for line in pixels for pixel in line]
            expected.append(softmax([bias[k] + sum(w * x for w, x in
                                                   zip(weight[k * len(row):], row))
                                     for k in range(3)]))
        arguments = ["w.safetensors", "--model", "small.conf", "--data", "pics", "--image-size",
                     str(SIDE), *files]
        for row, shares in zip(self.predict(*arguments, "--top", "200"), expected):
            order = sorted(range(3), key=lambda k: -shares[k])
            self.assertEqual([guess["label"] for guess in row["top"]], order)
            for guess in row["top"]:
                self.assertAlmostEqual(guess["probability"], shares[guess["label"]], delta=1e-5)
            self.assertEqual({key: row[key] for key in ("class", "label", "probability")},
                             row["top"][0])
        self.assertNotIn("top", self.predict(*arguments)[0])

    def test_normalization_by_the_data(self):
        """The weights carry it; without it nothing is guessed."""
        model = MODEL.replace("[ 0.4, 0.5, 0.6 ]", '"data"').replace("[ 0.2, 0.25, 0.3 ]", '"data"')
        write(self.path("data.conf"), model.encode())
        arguments = ["--model", "data.conf", "--data", "pics", "--image-size", str(SIDE)]
        self.good("train", *arguments, "--batch", "30", "--lr", "0.02", "--epochs", "3", "--save",
                  "d.safetensors")
        found = json.loads(self.good("eval", "--run", "2", "--confusion", "--json"))
        rows = self.predict("--run", "2", *self.files)
        for label, name in enumerate(CLASSES):
            of_class = [row["label"] for (own, _), row in zip(self.tests, rows) if own == name]
            self.assertEqual([of_class.count(k) for k in range(3)], found["confusion"][label])
        self.assertEqual(rows, self.predict("d.safetensors", *arguments, *self.files))
        write_weights(self.path("bare.safetensors"), [[0.0] * 192] * 3, [0.0] * 3)
        self.refuse(2, "no mean and std", "bare.safetensors", *arguments, self.files[0])

    def test_lines(self):
        shown = [name.replace("\u202e", "\\u202e") for name in CLASSES]
        rows = self.predict("--run", "1", "--top", "2", *self.files)
        text = self.good("predict", "--run", "1", "--top", "2", *self.files)
        lines = [row["file"].replace("\u202e", "\\u202e") + ": " +
                 ", ".join(f"{shown[guess['label']]} {guess['probability']:.4f}"
                           for guess in row["top"]) for row in rows]
        self.assertEqual(text.splitlines(), lines)
        best = self.good("predict", "--run", "1", self.files[3])
        self.assertEqual(best, lines[3].rpartition(", ")[0] + "\n")

    def test_jpeg_and_grey(self):
        """What a file is called does not matter; one plane is three alike."""
        numbers = random.Random(8)
        grey = [[(numbers.randrange(256),) for _ in range(SIDE)] for _ in range(SIDE)]
        write(self.path("grey.PNG"), png(grey, GREY))
        write(self.path("colour"), png([[pixel * 3 for pixel in row] for row in grey], RGB))
        rows = self.predict("--run", "1", "grey.PNG", "colour")
        self.assertEqual({**rows[0], "file": ""}, {**rows[1], "file": ""})
        bright = bytes([250]) * (3 * 32 * 32)
        done = subprocess.run([TOOL, "jpeg", "1", "0", "32", "32"], input=bright, check=True,
                              capture_output=True)
        write(self.path("a.jpg"), done.stdout)
        write(self.path("a.png"), png([[(250,) * 3] * SIDE] * SIDE, RGB))
        of_jpeg, of_png = self.predict("--run", "1", "a.jpg", "a.png")
        self.assertEqual(of_jpeg["label"], of_png["label"])
        self.assertAlmostEqual(of_jpeg["probability"], of_png["probability"], delta=0.02)

    def test_layers_for_a_folder(self):
        """What 'dpartui model' says of a network is for pictures of the size that was asked for."""
        model = ["model", "small.conf", "--data", "pics", "--json"]
        found = json.loads(self.good(*model, "--image-size", "4x6"))
        self.assertEqual((found["input"], found["classes"]), ([3, 6, 4], 3))
        done = self.run_program(*model)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"--image-size", done.stderr)
        write(self.path("pics/train", CLASSES[0], "cut.png"), b"\x89PNG\r\n\x1a\n")
        self.assertIn(b"cut.png", self.run_program(*model, "--image-size", "4").stderr)
        found = json.loads(self.good(*model, "--image-size", "4", "--skip-broken"))
        self.assertEqual(found["input"], [3, 4, 4])

    def test_what_cannot_be_read(self):
        """A line for each, and the others are predicted all the same."""
        good = self.files[0]
        with open(self.path(good), "rb") as file:
            whole = file.read()
        write(self.path("cut.png"), whole[:len(whole) // 2])
        write(self.path("empty.png"), b"")
        write(self.path("text.jpg"), b"<html>")
        write(self.path("huge.png"), png([[(0,)]], GREY, size=(60000, 60000)))
        write(self.path("jpeg.jpg"), b"\xff\xd8\xff\xe0" + bytes(500))
        write(self.path("esc\x1b[2J\n.png"), b"BM....")
        os.mkfifo(self.path("pipe.png"))
        bad = {"cut.png": "broken PNG", "empty.png": "is empty", "text.jpg": "holds text",
               "huge.png": "scale it down", "jpeg.jpg": "JPEG", "pics": "not a regular file",
               "pipe.png": "not a regular file", "missing.png": "No such file",
               "esc\x1b[2J\n.png": "holds BMP"}
        files = [file for name in bad for file in (good, name)] + [good]
        done = self.run_program("predict", "--run", "1", *files)
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), len(bad) + 1)
        self.assertEqual(set(lines), {lines[0]})
        errors = done.stderr.decode().splitlines()
        self.assertEqual(len(errors), len(bad), errors)
        for line, (name, words) in zip(errors, bad.items()):
            self.assertTrue(line.startswith("dpartui: "), line)
            self.assertIn(name.replace("\x1b", "\\x1b").replace("\n", "\\x0a") + ": ", line)
            self.assertIn(words, line)
        done = self.run_program("predict", "--run", "1", "--json", *files)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["file"] for row in rows], files)
        self.assertEqual(["error" in row for row in rows], [False, True] * len(bad) + [False])
        self.assertEqual(done.stderr.decode().splitlines(), errors)
        done = self.run_program("predict", "--run", "1", *bad)
        self.assertEqual((done.returncode, done.stdout), (1, b""))

    def test_names_that_are_no_text(self):
        name = b"caf\xe9.png"
        shutil.copy(self.path(self.files[0]).encode(), self.folder.encode() + b"/" + name)
        done = self.run_program("predict", "--run", "1", name, self.files[0])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        self.assertIn(b"caf\\xe9.png: the name is not UTF-8", done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        done = self.run_program("predict", "--run", "1", name)
        self.assertEqual((done.returncode, done.stdout), (1, b""))

    def test_many_files(self):
        """More than one request may name, some of them broken; in their order."""
        write(self.path("bad.png"), b"no picture")
        files = []
        for i in range(420):
            name = "bad.png" if i % 50 == 3 else self.files[i * 7 % 45]
            files.append("./" * 1900 + name)
        one = {row["file"]: row["label"] for row in self.predict("--run", "1", *self.files)}
        done = self.run_program("predict", "--run", "1", "--json", "--batch", "16", *files)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1)
        self.assertEqual([row["file"] for row in rows], files)
        for row in rows:
            name = row["file"].replace("./", "")
            self.assertEqual(row.get("label"), one.get(name), name)
        self.assertEqual(done.stderr.count(b"\n"), sum("bad.png" in name for name in files))

    def test_a_reader_that_leaves(self):
        with subprocess.Popen([PROGRAM, "predict", "--run", "1", "--batch", "1", *self.files * 50],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env,
                              cwd=self.folder) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(PATIENCE), 1)

    def test_a_reader_that_is_slow(self):
        """The engine waits until its answers have been read; then it continues by itself."""
        files = self.files * 400
        with subprocess.Popen([PROGRAM, "predict", "--run", "1", "--json", *files],
                              stdout=subprocess.PIPE, env=self.env, cwd=self.folder,
                              bufsize=0) as process:
            process.stdout.readline()
            time.sleep(1)
            try:
                out = process.communicate(timeout=PATIENCE)[0]
            finally:
                process.kill()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(out.count(b"\n"), len(files) - 1)

    def test_the_data_have_changed(self):
        os.mkdir(self.path("pics/train/more"))
        shutil.copy(self.path(self.files[0]), self.path("pics/train/more/1.png"))
        shutil.copytree(self.path("pics/train/more"), self.path("pics/test/more"))
        self.refuse(2, "fc.weight", "--run", "1", self.files[0])
        shutil.rmtree(self.path("pics/train"))
        shutil.rmtree(self.path("pics/test"))
        self.refuse(2, "pics", "--run", "1", "small.conf")


class Others(Case):
    def write_data(self, width, names):
        """A data set of as many classes as pixels, in one row."""
        if names:
            write(self.path("few/classes.txt"), "".join(f"{name}\n" for name in names).encode())
        for part in "train", "t10k":
            write_idx(self.path("few", part + "-images-idx3-ubyte"), (2, 1, width), [0] * 2 * width)
            write_idx(self.path("few", part + "-labels-idx1-ubyte"), (2,), [0, 1])
        write_weights(self.path("w.safetensors"),
                      [[4.0 * (i == k) for i in range(width)] for k in range(width)], [0.0] * width)

    def lit(self, name, at, width, colour=GREY):
        pixel = {GREY: (255,), RGB: (255, 255, 255)}[colour]
        dark = (0,) * len(pixel)
        write(self.path(name), png([[pixel if x == at else dark for x in range(width)]], colour))
        return name

    def test_grey_rows_with_names(self):
        names = ["cat", "dog", "two words", "ship"]
        self.write_data(4, names)
        arguments = ["w.safetensors", "--model", "linear", "--data", "few"]
        files = [self.lit(f"{k}{colour}.png", k, 4, colour) for k in range(4)
                 for colour in (GREY, RGB)]
        share = math.exp(4) / (math.exp(4) + 3)
        for i, row in enumerate(self.predict(*arguments, *files)):
            self.assertEqual((row["class"], row["label"]), (names[i // 2], i // 2))
            self.assertAlmostEqual(row["probability"], share, places=6)
        # Equal ones come in their order, the first of all where nothing is lit.
        write(self.path("dark.png"), png([[(0,)] * 4], GREY))
        row, = self.predict(*arguments, "--top", "3", "dark.png")
        self.assertEqual([guess["label"] for guess in row["top"]], [0, 1, 2])
        row, = self.predict(*arguments, "--top", "3", "2" + str(GREY) + ".png")
        self.assertEqual([guess["label"] for guess in row["top"]], [2, 0, 1])

    def test_classes_without_names(self):
        self.write_data(10, None)
        arguments = ["w.safetensors", "--model", "linear", "--data", "few", self.lit("7", 7, 10)]
        self.assertRegex(self.good("predict", *arguments), r"^7: 7 0\.\d{4}\n$")
        row, = self.predict(*arguments)
        self.assertEqual((row["class"], row["label"]), (None, 7))

    def test_a_network_that_is_broken(self):
        self.write_data(10, None)
        write_weights(self.path("w.safetensors"), [[math.nan] * 10 for _ in range(10)], [0.0] * 10)
        done = self.run_program("predict", "w.safetensors", "--model", "linear", "--data", "few",
                                self.lit("7", 7, 10))
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"no number", done.stderr)

    def test_data_that_are_no_pictures(self):
        write_weights(self.path("w.safetensors"), [[0.0] * 5] * 2, [0.0] * 2)
        picture = self.lit("p.png", 1, 4)
        self.refuse(2, "no pictures", "w.safetensors", "--model", "linear", "--data",
                    "random:100x5", picture)
        with zipfile.ZipFile(self.path("real.npz"), "w") as file:
            for name, kind, shape, data in (("x", "<f4", (2, 2, 2), bytes(32)),
                                            ("y", "|u1", (2,), bytes(2))):
                header = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
                header += b" " * (-(len(header) + 11) % 64) + b"\n"
                for part in "train", "test":
                    file.writestr(f"{name}_{part}.npy", b"\x93NUMPY\x01\x00" +
                                  struct.pack("<H", len(header)) + header + data)
        write_weights(self.path("w.safetensors"), [[0.0] * 4] * 2, [0.0] * 2)
        self.refuse(2, "not of bytes", "w.safetensors", "--model", "linear", "--data", "real.npz",
                    picture)

    def test_mistakes(self):
        self.write_data(4, ["a", "b", "c", "d"])
        picture = self.lit("p.png", 1, 4)
        data = ["--model", "linear", "--data", "few"]
        self.refuse(2, "predict needs pictures")
        self.refuse(2, "predict needs pictures", "w.safetensors")
        self.refuse(2, "predict needs pictures", "--run", "1")
        self.refuse(2, "--best is for --run", "w.safetensors", "--best", picture)
        self.refuse(2, "--run needs", "--run", "one", picture)
        self.refuse(1, "run 9 has no checkpoint", "--run", "9", picture)
        for top in "0", "257", "many":
            self.refuse(2, f"--top '{top}'", "w.safetensors", *data, picture, "--top", top)
        self.refuse(2, "missing.safetensors: No such file", "missing.safetensors", picture)
        self.refuse(1, "not a safetensors file", picture, *data, picture)
        self.refuse(2, "'0.weight' is missing", "w.safetensors", "--model", "smallnet", "--data",
                    "glyphs", picture)

    def test_requests(self):
        self.good("engine", "start")
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(PATIENCE)
            line.connect(self.path("dpartui/engine.sock"))
            answers = line.makefile()
            for params, words in (({}, "'files'"), ({"files": []}, "'files'"),
                                  ({"files": "x"}, "'files'"), ({"files": [3]}, "'files'"),
                                  ({"files": ["x.png"]}, "absolute"),
                                  ({"files": ["/x.png"], "top": 0}, "'top'"),
                                  ({"files": ["/x.png"], "top": 257}, "'top'"),
                                  ({"files": ["/x.png"]}, "'init'")):
                line.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "predict",
                                         "params": params}).encode() + b"\n")
                error = json.loads(answers.readline())["error"]
                self.assertEqual(error["code"], -32602)
                self.assertIn(words, error["message"])


if __name__ == "__main__":
    unittest.main()
