#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading PNG and JPEG files: every kind gives the pixels that the formats define, what is broken
is named in one line, and nothing that a file holds crashes the reader or makes it print.

Resizing, and JPEG, are compared with Pillow where it is installed."""

import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import png_file  # noqa: E402
from png_file import GREY, GREY_ALPHA, PALETTE, RGB, RGB_ALPHA, png  # noqa: E402

try:
    from PIL import Image, ImageOps
except ImportError:
    Image = None

TOOL = os.path.join(os.environ.get("top_builddir", "."), "tests/engine/data/pictures/picture_tool")
JPEG_KINDS = ("grey", "ycc", "rgb", "cmyk", "ycck")


def run_tool(*arguments, given=None):
    result = subprocess.run([TOOL, *map(str, arguments)], input=given, capture_output=True,
                            timeout=600, check=False)
    if result.returncode or result.stderr:
        raise AssertionError(f"status {result.returncode}: {result.stderr.decode()}")
    return result.stdout


def jpeg(pixels, width, height, kind="ycc", progressive=False):
    return run_tool("jpeg", JPEG_KINDS.index(kind), int(progressive), width, height, given=pixels)


def with_exif(file, orientation, order="<"):
    data = b"Exif\0\0" + png_file.exif(orientation, order)
    return file[:2] + b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data + file[2:]


def random_pixels(seed, width, height, samples, depth=8):
    numbers = random.Random(seed)
    return [[tuple(numbers.randrange(1 << depth) for _ in range(samples)) for _ in range(width)]
            for _ in range(height)]


def smooth(width, height, samples):
    """Waves that JPEG keeps well, as bytes."""
    return bytes(int(127 + 100 * math.sin(x / 7 + s) * math.cos(y / 9 - s))
                 for y in range(height) for x in range(width) for s in range(samples))


def to_byte(sample, depth):
    if depth == 16:
        return (sample * 255 + 32895) >> 16
    return sample * 255 // ((1 << depth) - 1)


def luma(r, g, b):
    return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16


def planes(pixels):
    """Rows of tuples to one plane after the other."""
    return bytes(pixel[c] for c in range(len(pixels[0][0])) for row in pixels for pixel in row)


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def tearDown(self):
        shutil.rmtree(self.folder)

    def put(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def read_all(self, paths, channels, height, width):
        lines = run_tool("read", channels, height, width, *paths).decode().splitlines()
        self.assertEqual(len(lines), len(paths))
        return [line if line.startswith("error: ") else bytes.fromhex(line) for line in lines]

    def read(self, data, channels, height, width, name="picture"):
        out = self.read_all([self.put(name, data)], channels, height, width)[0]
        self.assertIsInstance(out, bytes, out)
        return out

    def refuse(self, data, words, name="picture.png"):
        path = self.put(name, data)
        out = self.read_all([path], 3, 8, 8)[0]
        self.assertIsInstance(out, str, "was read")
        self.assertTrue(out.startswith(f"error: {path}: "), out)
        self.assertIn(words, out)

    def look(self, data):
        return run_tool("look", self.put("picture", data)).decode().strip()

    def test_every_kind_of_png_has_the_pixels_that_it_defines(self):
        kinds = [(GREY, d) for d in (1, 2, 4, 8, 16)] + [(RGB, 8), (RGB, 16), (GREY_ALPHA, 8),
                                                         (GREY_ALPHA, 16), (RGB_ALPHA, 8),
                                                         (RGB_ALPHA, 16)]
        for at, (colour, depth) in enumerate(kinds):
            for interlaced in (False, True):
                for width, height in ((13, 11), (1, 3)):
                    pixels = random_pixels(at, width, height, png_file.SAMPLES[colour], depth)
                    shown = [[tuple(to_byte(s, depth) for s in pixel) for pixel in row]
                             for row in pixels]
                    grey = colour in (GREY, GREY_ALPHA)
                    shown = [[p[:1] if grey else p[:3] for p in row] for row in shown]
                    file = png(pixels, colour, depth, interlaced=interlaced)
                    self.assertEqual(self.read(file, 1 if grey else 3, height, width),
                                     planes(shown), (colour, depth, interlaced))
                    self.assertEqual(self.look(file),
                                     f"{width}x{height} {'grey' if grey else 'colour'}")

    def test_every_filter_and_transparency_of_palettes(self):
        numbers = random.Random(5)
        for depth in (1, 2, 4, 8):
            palette = [tuple(numbers.randrange(256) for _ in range(3)) for _ in range(1 << depth)]
            pixels = random_pixels(depth, 9, 14, 1, depth)
            shown = planes([[palette[p[0]] for p in row] for row in pixels])
            for kind in range(5):
                self.assertEqual(self.read(png(pixels, PALETTE, depth, palette, kind=kind), 3, 14,
                                           9), shown)
            self.assertEqual(self.read(png(pixels, PALETTE, depth, palette, b"\0\x80"), 3, 14, 9),
                             shown)
        grey = [(v, v, v) for v in range(255, -1, -1)]
        pixels = random_pixels(7, 5, 4, 1)
        file = png(pixels, PALETTE, 8, grey)
        self.assertEqual(self.look(file), "5x4 grey")
        self.assertEqual(self.read(file, 1, 4, 5), bytes(255 - p[0] for row in pixels for p in row))

    def test_transparent_colours_keep_their_colour(self):
        pixels = random_pixels(2, 6, 6, 3)
        file = png(pixels, RGB, transparent=struct.pack(">HHH", *pixels[0][0]))
        self.assertEqual(self.read(file, 3, 6, 6), planes(pixels))

    def test_grey_and_colour_become_each_other(self):
        pixels = random_pixels(3, 8, 5, 3)
        self.assertEqual(self.read(png(pixels, RGB), 1, 5, 8),
                         bytes(luma(*p) for row in pixels for p in row))
        grey = random_pixels(4, 8, 5, 1)
        self.assertEqual(self.read(png(grey, GREY), 3, 5, 8), 3 * planes(grey))

    def test_the_name_does_not_matter(self):
        pixels = random_pixels(1, 8, 8, 3)
        self.assertEqual(self.read(png(pixels, RGB), 3, 8, 8, "a.jpg"), planes(pixels))
        file = jpeg(smooth(8, 8, 3), 8, 8)
        self.assertEqual(self.read(file, 3, 8, 8, "a.png"), self.read(file, 3, 8, 8, "a.jpg"))

    def test_of_an_animation_the_first_picture_is_read(self):
        pixels, other = random_pixels(1, 6, 4, 3), random_pixels(2, 6, 4, 3)
        control = struct.pack(">IIIIIHHBB", 0, 6, 4, 0, 0, 1, 10, 0, 0)
        later = png_file.chunk(b"fcTL", struct.pack(">I", 1) + control[4:]) + png_file.chunk(
            b"fdAT", struct.pack(">I", 2) + png_file.image_data(other, RGB, 8, False, 0))
        file = png(pixels, RGB, after=later, before=png_file.chunk(
            b"acTL", struct.pack(">II", 2, 0)) + png_file.chunk(b"fcTL", control))
        self.assertEqual(self.read(file, 3, 4, 6), planes(pixels))

    def test_orientations_turn_a_picture(self):
        pixels = random_pixels(8, 5, 3, 3)
        flip = [row[::-1] for row in pixels]
        turned = {1: pixels, 2: flip, 3: flip[::-1], 4: pixels[::-1],
                  5: list(zip(*pixels)), 6: list(zip(*pixels[::-1])),
                  7: list(zip(*flip[::-1])), 8: list(zip(*flip))}
        for orientation, shown in turned.items():
            for order in "<>":
                chunk = png_file.chunk(b"eXIf", png_file.exif(orientation, order))
                file = png(pixels, RGB, before=chunk)
                height, width = len(shown), len(shown[0])
                self.assertEqual(self.look(file), f"{width}x{height} colour")
                self.assertEqual(self.read(file, 3, height, width), planes(shown), orientation)
        plain = jpeg(smooth(24, 16, 3), 24, 16)
        for orientation in (0, 9, 70):
            self.assertEqual(self.read(with_exif(plain, orientation), 3, 16, 24),
                             self.read(plain, 3, 16, 24))
        self.assertEqual(self.look(with_exif(plain, 6)), "16x24 colour")
        # EXIF data that end too soon, or point anywhere.
        for length in range(27):
            data = b"Exif\0\0" + png_file.exif(6)[:length]
            head = plain[:2] + b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data
            self.read(head + plain[2:], 3, 16, 24)
        for at in range(26):
            data = bytearray(png_file.exif(6))
            data[at] = 0xff
            self.read(png(pixels, RGB, before=png_file.chunk(b"eXIf", bytes(data))), 3, 3, 5)

    def test_broken_files_are_named(self):
        pixels = random_pixels(1, 8, 8, 3)
        good = png(pixels, RGB)
        self.refuse(b"", "is empty")
        self.refuse(b"GIF89a" + bytes(20), "holds GIF, neither PNG nor JPEG")
        self.refuse(b"RIFF    WEBPVP8 ", "holds WebP")
        self.refuse(b"hello", "is neither PNG nor JPEG")
        self.refuse(good[:-1], "cut off")
        self.refuse(good[:60], "broken PNG")
        self.refuse(good[:-20] + b"\0" + good[-19:], "broken PNG")
        self.refuse(png(pixels, RGB, size=(8, 9)), "broken PNG")
        self.refuse(png(pixels, RGB, size=(0, 8)), "broken PNG")
        self.refuse(png(pixels, RGB, size=(60000, 60000)), "60000x60000 pixels, more than 67108864")
        self.refuse(png(pixels, RGB, size=(1 << 31, 1)), "broken PNG")
        self.refuse(b"\xff\xd8\xff", "broken JPEG")
        self.refuse(jpeg(smooth(8, 8, 3), 8, 8)[:-2], "broken JPEG", "a.jpg")
        self.refuse(good[:33] + png_file.chunk(b"IEND", b""), "broken PNG")
        for name in ("gone.png", ""):
            line = self.read_all([os.path.join(self.folder, name)], 3, 8, 8)[0]
            self.assertTrue(line.startswith("error: "), line)
        os.mkfifo(os.path.join(self.folder, "pipe.png"))
        self.assertIn("not a regular file",
                      self.read_all([os.path.join(self.folder, "pipe.png")], 3, 8, 8)[0])

    def test_text_that_would_unpack_to_gigabytes_does_not(self):
        bomb = zlib.compress(bytes(64 << 20), 9)
        text = png_file.chunk(b"zTXt", b"Comment\0\0" + bomb)
        profile = png_file.chunk(b"iCCP", b"x\0\0" + bomb)
        pixels = random_pixels(1, 8, 8, 3)
        for before in (text, profile, 300 * png_file.chunk(b"tEXt", b"a\0b")):
            self.assertEqual(self.read(png(pixels, RGB, before=before), 3, 8, 8), planes(pixels))

    def test_a_jpeg_of_endless_scans_is_refused(self):
        file = jpeg(smooth(64, 64, 1), 64, 64, "grey", progressive=True)
        first = file.index(b"\xff\xda")
        second = file.index(b"\xff\xc4", first)
        self.refuse(file[:second] + 600 * file[first:second] + file[second:],
                    "more than 500 scans", "a.jpg")

    def each_damage(self, file, name):
        """Every cut of it, and bits flipped here and there."""
        numbers = random.Random(9)
        paths = [self.put(f"{cut}-{name}", file[:cut]) for cut in range(0, len(file), 7)]
        cuts = len(paths)
        for turn in range(400):
            damaged = bytearray(file)
            for _ in range(1 + turn % 3):
                damaged[numbers.randrange(len(file))] ^= 1 << numbers.randrange(8)
            paths.append(self.put(f"{turn}.{name}", bytes(damaged)))
        lines = self.read_all(paths, 3, 16, 16)
        for path, line in zip(paths, lines):
            if isinstance(line, str):
                self.assertTrue(line.startswith(f"error: {path}: "), line)
        self.assertTrue(all(isinstance(line, str) for line in lines[:cuts]))
        return sum(isinstance(line, bytes) for line in lines[cuts:])

    def test_damage_is_named_and_does_no_harm(self):
        pixels = random_pixels(1, 24, 20, 3)
        # Each chunk has a checksum, and only what needs none survives.
        self.assertLess(self.each_damage(png(pixels, RGB, interlaced=True), "a.png"), 20)
        palette = [(i, 255 - i, 7) for i in range(256)]
        self.each_damage(png(random_pixels(3, 24, 20, 1), PALETTE, 8, palette, bytes(200)), "b.png")
        for kind in JPEG_KINDS:
            samples = {"grey": 1, "cmyk": 4, "ycck": 4}.get(kind, 3)
            for progressive in (False, True):
                file = with_exif(jpeg(smooth(40, 36, samples), 40, 36, kind, progressive), 6)
                self.each_damage(file, f"{kind}{int(progressive)}.jpg")

    @unittest.skipUnless(Image, "no Pillow")
    def test_jpegs_are_those_of_pillow(self):
        for kind in JPEG_KINDS:
            samples = {"grey": 1, "cmyk": 4, "ycck": 4}.get(kind, 3)
            for progressive in (False, True):
                file = jpeg(smooth(45, 37, samples), 45, 37, kind, progressive)
                with Image.open(self.put("a.jpg", file)) as picture:
                    mode = "L" if kind == "grey" else "RGB"
                    wanted = b"".join(band.tobytes() for band in picture.convert(mode).split())
                self.assertEqual(self.read(file, len(mode) if mode == "RGB" else 1, 37, 45), wanted,
                                 (kind, progressive))
        for orientation in range(1, 9):
            file = with_exif(jpeg(smooth(40, 24, 3), 40, 24), orientation, "<>"[orientation % 2])
            with Image.open(self.put("a.jpg", file)) as picture:
                upright = ImageOps.exif_transpose(picture)
                wanted = b"".join(band.tobytes() for band in upright.split())
                self.assertEqual(self.read(file, 3, upright.height, upright.width), wanted)

    def resized(self, picture, side):
        """torchvision's Resize(side) and CenterCrop(side) of a PIL picture."""
        width, height = picture.size
        if width <= height:
            size = side, int(side * height / width)
        else:
            size = int(side * width / height), side
        picture = picture.resize(size, Image.BILINEAR)
        left, top = round((size[0] - side) / 2), round((size[1] - side) / 2)
        return b"".join(band.tobytes() for band in
                        picture.crop((left, top, left + side, top + side)).split())

    @unittest.skipUnless(Image, "no Pillow")
    def test_resizing_is_that_of_torchvision(self):
        for width, height in ((32, 32), (33, 47), (64, 48), (100, 31), (31, 100), (7, 5), (300, 17),
                              (1, 1), (2, 90), (29, 28)):
            for samples, colour in ((1, GREY), (3, RGB)):
                pixels = random_pixels(width, width, height, samples)
                flat = bytes(s for row in pixels for pixel in row for s in pixel)
                picture = Image.frombytes("L" if samples == 1 else "RGB", (width, height), flat)
                path = self.put("a.png", png(pixels, colour, kind=0))
                for side in (1, 8, 28, 32, 33):
                    self.assertEqual(self.read_all([path], samples, side, side)[0],
                                     self.resized(picture, side), (width, height, side, samples))

    @unittest.skipUnless(Image, "no Pillow")
    def test_fewer_coefficients_make_nearly_the_same_picture(self):
        file = jpeg(smooth(640, 480, 3), 640, 480)
        with Image.open(self.put("a.jpg", file)) as picture:
            picture.load()
        for side in (28, 64, 100, 224):
            ours, theirs = self.read(file, 3, side, side), self.resized(picture, side)
            apart = [abs(a - b) for a, b in zip(ours, theirs)]
            self.assertLess(sum(apart) / len(apart), 2.0, side)
            self.assertLessEqual(max(apart), 8, side)

    def test_other_shapes_are_covered_and_cut(self):
        column = [[(y,)] * 10 for y in range(40)]
        self.assertEqual(self.read(png(column, GREY), 1, 20, 10),
                         bytes(y for y in range(10, 30) for _ in range(10)))
        row = [[(x,) for x in range(41)]] * 8
        self.assertEqual(self.read(png(row, GREY), 1, 8, 4), bytes(range(18, 22)) * 8)


if __name__ == "__main__":
    unittest.main()
