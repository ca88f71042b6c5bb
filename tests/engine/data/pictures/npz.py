#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading NumPy's archives: every type, order and layout gives the numbers that were put in, and
what is broken is named in one line. Files are written by the format's definition, and by NumPy
where it is installed."""

import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import numpy
except ImportError:
    numpy = None

TOOL = os.path.join(os.environ.get("top_builddir", "."), "tests/engine/data/pictures/picture_tool")
CODES = {"u1": "B", "i1": "b", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
         "f2": "e", "f4": "f", "f8": "d", "b1": "?"}


def npy(values, shape, kind="|u1", fortran=False, version=1, text=None):
    """The bytes of an array whose numbers are given with the last index running fastest."""
    if fortran:
        apart = [1]
        for side in shape[:0:-1]:
            apart.insert(0, apart[0] * side)
        order = [0]
        for side, step in zip(reversed(shape), reversed(apart)):
            order = [i + k * step for i in order for k in range(side)]
        values = [values[i] for i in order]
    text = text or f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"
    prefix = 10 if version == 1 else 12
    text += " " * (-(prefix + len(text) + 1) % 64) + "\n"
    head = b"\x93NUMPY" + bytes((version, 0))
    head += struct.pack("<H" if version == 1 else "<I", len(text)) + text.encode()
    order = ">" if kind[0] == ">" else "<"
    return head + struct.pack(f"{order}{len(values)}{CODES[kind[1:]]}", *values)


def archive(arrays, method=zipfile.ZIP_STORED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        file.comment = comment
        for name, data in arrays.items():
            info = zipfile.ZipInfo(name + ".npy")  # of 1980, so that the bytes are always the same
            info.compress_type = method
            with file.open(info, "w", force_zip64=True) as entry:
                entry.write(data)
    return out.getvalue()


PIXELS = list(range(2 * 3 * 4))


def arrays(**others):
    out = {"x_train": npy(PIXELS, (2, 3, 4)), "y_train": npy([0, 2], (2,)),
           "x_test": npy(PIXELS[12:], (1, 3, 4)), "y_test": npy([1], (1,))}
    out.update(others)
    return {name: data for name, data in out.items() if data is not None}


class Archives(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def read_all(self, files):
        paths = []
        for i, data in enumerate(files):
            paths.append(os.path.join(self.folder, f"{i}.npz"))
            with open(paths[-1], "wb") as file:
                file.write(data)
        result = subprocess.run([TOOL, "data", *paths], capture_output=True, text=True,
                                timeout=600, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), len(paths))
        return lines

    def read(self, data):
        line = self.read_all([data])[0]
        self.assertFalse(line.startswith("error"), line)
        return json.loads(line)

    def refuse(self, data, words):
        line = self.read_all([data])[0]
        self.assertTrue(line.startswith("error: " + self.folder), line)
        self.assertIn(words, line)

    def check(self, got, pixels=True):
        self.assertEqual(got["bytes"], pixels)
        self.assertEqual(got["classes"], 3)
        self.assertEqual(got["train"], {"shape": [2, 1, 3, 4], "x": PIXELS, "y": [0, 2]})
        self.assertEqual(got["test"], {"shape": [1, 1, 3, 4], "x": PIXELS[12:], "y": [1]})

    def test_methods_versions_and_comments(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.check(self.read(archive(arrays(), method)))
            self.check(self.read(archive(arrays(), method, b"PK" * 1000)))
        for version in (2, 3):
            x = npy(PIXELS, (2, 3, 4), version=version)
            self.check(self.read(archive(arrays(x_train=x))))

    def test_types_of_numbers(self):
        for order in "<>":
            for kind in ("f2", "f4", "f8"):
                x = npy(PIXELS, (2, 3, 4), order + kind)
                test = npy(PIXELS[12:], (1, 3, 4), order + kind)
                self.check(self.read(archive(arrays(x_train=x, x_test=test))), False)
            for kind in ("u2", "i2", "u4", "i4", "u8", "i8"):
                self.check(self.read(archive(arrays(y_train=npy([0, 2], (2,), order + kind)))))
        self.check(self.read(archive(arrays(y_train=npy([0, 2], (2, 1), "|i1")))))
        halves = [0.0, -1.5, 65504.0, 6.103515625e-05, 5.960464477539063e-08, -0.25]
        x = npy(halves, (2, 3), "<f2")
        got = self.read(archive(arrays(x_train=x, x_test=npy(halves[:3], (1, 3), ">f2"))))
        self.assertEqual(got["train"]["shape"], [2, 3, 1, 1])
        for value, wanted in zip(got["train"]["x"], halves):
            self.assertAlmostEqual(value / (wanted or 1), 1 if wanted else 0, places=7)

    def test_orders_and_layouts(self):
        self.check(self.read(archive(arrays(x_train=npy(PIXELS, (2, 3, 4), fortran=True)))))
        last = [100 * c + i for i in range(12) for c in range(1, 3 + 1) for _ in (0,)]
        last = [v % 256 for v in last]
        first = [last[3 * i + c] for c in range(3) for i in range(12)]
        for fortran in (False, True):
            for x, shape in ((last, (1, 3, 4, 3)), (first, (1, 3, 3, 4))):
                one = npy(x, shape, fortran=fortran)
                got = self.read(archive(arrays(x_train=one, y_train=npy([2], (1,)), x_test=one)))
                self.assertEqual(got["train"]["shape"], [1, 3, 3, 4])
                # A shape that could be both has its channels last.
                if shape[3] == 3:
                    self.assertEqual(got["train"]["x"], first)
                else:
                    self.assertEqual(got["train"]["x"], x)

    def test_what_is_wrong_is_named(self):
        x = PIXELS
        for others, words in (
                ({"y_test": None}, "has no array y_test: x_train, y_train, x_test and y_test are"),
                ({"x_train": npy(x, (2, 3, 4), "<i4")}, "x_train.npy: holds neither bytes nor"),
                ({"x_train": npy(x, (24,))}, "x_train.npy: its shape is none of"),
                ({"x_train": npy(x, (2, 2, 3, 2))}, "x_train.npy: its shape is none of"),
                ({"x_train": npy(x, (1, 2, 3, 2, 2))}, "not one to four numbers"),
                ({"x_train": npy(x, (2, 4, 3))}, "rows of 1x4x3, x_test of 1x3x4"),
                ({"x_train": npy([float("nan")] * 24, (2, 3, 4), "<f4")}, "not finite"),
                ({"x_train": npy(x, (2, 3, 4), "<f4")}, "and another type"),
                ({"x_train": npy(x, (2, 3, 4), text="{}")}, "is no array of numbers"),
                ({"x_train": npy(x, (2, 3, 4), text="{'descr': [('a', '<f4')], 'shape': (2,)}")},
                 "is no array of numbers"),
                ({"x_train": npy(x, (2, 3, 5))}, "promises another number of bytes"),
                ({"x_train": npy(x, (1 << 40, 1 << 40))}, "too large"),
                ({"x_train": npy(x, (0, 3, 4))}, "empty"),
                ({"x_train": b"hello"}, "damaged"),
                ({"x_train": b"hello" * 10}, "no array in NumPy's format"),
                ({"y_train": npy([0, 1, 0, 1], (2, 2))}, "y_train.npy: is not one whole number"),
                ({"y_train": npy([0, 1], (2,), "<f4")}, "y_train.npy: is not one whole number"),
                ({"y_train": npy([0], (1,))}, "another number of rows than the pictures"),
                ({"y_train": npy([0, -1], (2,), "<i8")}, "label -1 in row 1, but labels are 0 to"),
                ({"y_train": npy([256, 0], (2,), "<u2")}, "label 256 in row 0")):
            for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                self.refuse(archive(arrays(**others), method), words)
        self.refuse(b"", "is no ZIP archive")
        self.refuse(b"hello, hello, hello, hello", "is no ZIP archive")
        self.refuse(archive(arrays(), zipfile.ZIP_LZMA), "is compressed by method 14")
        self.refuse(archive(arrays())[:-30], "is no ZIP archive, or cut off")

    def test_damage_is_named_and_does_no_harm(self):
        numbers = random.Random(3)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            good = archive(arrays(), method)
            files = [good[:cut] for cut in range(0, len(good), 11)]
            for turn in range(600):
                damaged = bytearray(good)
                for _ in range(1 + turn % 3):
                    damaged[numbers.randrange(len(good))] ^= 1 << numbers.randrange(8)
                files.append(bytes(damaged))
            for line in self.read_all(files):
                if not line.startswith("error: "):
                    json.loads(line)

    @unittest.skipUnless(numpy, "no NumPy")
    def test_what_numpy_writes_is_read(self):
        rng = numpy.random.default_rng(1)
        for save in (numpy.savez, numpy.savez_compressed):
            for x in (rng.integers(0, 256, (6, 5, 4)).astype("uint8"),
                      rng.integers(0, 256, (6, 5, 4, 3)).astype("uint8"),
                      numpy.asfortranarray(rng.normal(size=(6, 5, 4, 3))),
                      rng.normal(size=(6, 3, 5, 4)).astype("float32"),
                      rng.normal(size=(6, 7)).astype(">f4"), rng.normal(size=(6, 7)).astype("f2")):
                y = numpy.arange(6) % 4
                out = io.BytesIO()
                save(out, x_train=x, y_train=y, x_test=x[:2], y_test=y[:2].reshape(-1, 1))
                got = self.read(out.getvalue())
                rows = x[:, None] if x.ndim == 3 else x
                if x.ndim == 4 and x.shape[3] == 3:
                    rows = x.transpose(0, 3, 1, 2)
                rows = rows.astype("float32").ravel().tolist()
                self.assertEqual(len(got["train"]["x"]), len(rows))
                for a, b in zip(got["train"]["x"], rows):
                    self.assertAlmostEqual(a, b, places=6)
                self.assertEqual(got["train"]["y"], y.tolist())
                self.assertEqual(got["classes"], 4)


if __name__ == "__main__":
    unittest.main()
