# SPDX-License-Identifier: MIT
"""PNG files of every kind, written by the definition (ISO/IEC 15948). Standard library only."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
SAMPLES = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGB_ALPHA: 4}
# x and y of the first pixel, and the distance of pixels, of the seven passes.
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
         (0, 1, 1, 2))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def pack_row(samples, depth):
    """Samples of `depth` bits to bytes, the last one filled with zeros."""
    if depth == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    bits = 0
    for sample in samples:
        bits = bits << depth | sample
    count = len(samples) * depth
    return (bits << -count % 8).to_bytes((count + 7) // 8, "big")


def filtered(rows, pixel_bytes, kind):
    """The rows after filter `kind` of the five, or each in turn for kind 5."""
    out, above = b"", None
    for y, row in enumerate(rows):
        rule = y % 5 if kind == 5 else kind
        above = above or bytes(len(row))
        left = bytes(pixel_bytes) + row[:-pixel_bytes] if len(row) > pixel_bytes else bytes(len(row))
        corner = bytes(pixel_bytes) + above[:-pixel_bytes] if len(row) > pixel_bytes \
            else bytes(len(row))
        line = bytearray([rule])
        for x, a, b, c in zip(row, left, above, corner):
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line.append((x - (0, a, b, (a + b) // 2, paeth)[rule]) & 255)
        out += line
        above = row
    return out


def image_data(pixels, colour, depth, interlaced, kind):
    """`pixels`: rows of tuples of samples."""
    pixel_bytes = max(1, SAMPLES[colour] * depth // 8)
    height, width = len(pixels), len(pixels[0])
    parts = ADAM7 if interlaced else ((0, 0, 1, 1),)
    out = b""
    for left, top, across, down in parts:
        rows = [pack_row([s for x in range(left, width, across) for s in pixels[y][x]], depth)
                for y in range(top, height, down)]
        if rows and rows[0]:
            out += filtered(rows, pixel_bytes, kind)
    return zlib.compress(out)


def png(pixels, colour, depth=8, palette=None, transparent=None, interlaced=False, kind=5,
        before=b"", after=b"", size=None):
    """The bytes of a file. `palette`: a list of three bytes each; `before` and `after`: chunks
    around the image data; `size`: what the header says instead of the truth."""
    width, height = size or (len(pixels[0]), len(pixels))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    out = SIGNATURE + chunk(b"IHDR", header)
    if palette:
        out += chunk(b"PLTE", b"".join(bytes(entry) for entry in palette))
    if transparent is not None:
        out += chunk(b"tRNS", transparent)
    return out + before + chunk(b"IDAT", image_data(pixels, colour, depth, interlaced, kind)) + \
        after + chunk(b"IEND", b"")


def exif(orientation, order="<"):
    """EXIF data that hold an orientation alone, as in PNG's eXIf; JPEG has "Exif" before it."""
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "IHHHIHHI", 8, 1, 0x0112, 3, 1, orientation, 0, 0)
