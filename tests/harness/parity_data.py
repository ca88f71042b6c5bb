# SPDX-License-Identifier: MIT
"""Initial weights and rows for the parity tests, made from formulas alone.

Nothing large is stored: the fixture maker (PyTorch) and the tests (this program) make the same
numbers again, bit for bit, from what is below. Standard library only.

Every sequence of numbers has a key, a short text. SHAKE-128 of the key, read as little-endian
16-bit words (or as bytes), is the sequence: integers, the same on every machine.

Weights: u = (2 * word - 65535) / 65536, which lies in (-1, 1) and is exact in f32. Each kind of
entry then is
    conv or linear weight   u * 2^floor(log2(sqrt(6 / fan_in)))
    conv or linear bias     u / 8
    BatchNorm weight        1 + u / 4
    BatchNorm bias          1/2 + u / 4
    running mean            u / 8
    running variance        1 + u / 2
    batches tracked         7
all exact in f32 as well (powers of two), and none of them a value a program might fill in by
itself when it forgets to read one. The positive BatchNorm biases keep most units away from the
corner of their ReLU, and the weights of resnet18's last layer are an eighth of the rule's: so
roundings grow slowly (PyTorch in f32 and in f64 agree to 1e-6 after 20 steps, where with biases
around 0 it was 1e-1) and the test can be strict.

Rows: each class has a coarse picture of 4x4 cells; a row is (3 * picture + noise) / 4 in integer
division, noise and labels from SHAKE-128 too. A network learns it, but not at once.
"""

import array
import functools
import gzip
import hashlib
import json
import math
import os
import struct
import sys

CLASSES = 10
BATCHES_TRACKED = 7
BN_PARTS = ("weight", "bias", "running_mean", "running_var")


def words(key, count):
    """`count` 16-bit words of the sequence `key`."""
    out = array.array("H", hashlib.shake_128(key.encode()).digest(2 * count))
    if sys.byteorder == "big":
        out.byteswap()
    return out


def noise(key, count):
    return hashlib.shake_128(key.encode()).digest(count)


@functools.lru_cache(maxsize=None)
def table_of(scale, centre):
    """The number of each word."""
    return [centre + (2 * word - 65535) / 65536 * scale for word in range(65536)]


def floats(key, count, scale, centre=0.0):
    """`count` numbers centre + u * scale as array('f')."""
    numbers = table_of(scale, centre)
    return array.array("f", [numbers[word] for word in words(key, count)])


# --- networks: (name, shape, kind, fan_in) of every entry, in the order of PyTorch's state_dict


def _layer(name, shape):
    fan_in = math.prod(shape[1:])
    return [(name + ".weight", shape, "weight", fan_in), (name + ".bias", shape[:1], "bias", fan_in)]


def _batchnorm(name, channels):
    parts = [(f"{name}.{part}", (channels,), "bn_" + part, 0) for part in BN_PARTS]
    return parts + [(name + ".num_batches_tracked", (), "tracked", 0)]


def resnet18_entries(channels=1):
    entries = _layer("0", (64, channels, 3, 3)) + _batchnorm("1", 64)
    before = 64
    for block, width in enumerate((64, 128, 256, 512), start=1):
        for unit in range(2):
            name = f"resnet_block{block}.{unit}"
            entries += _layer(name + ".conv1", (width, before, 3, 3))
            entries += _layer(name + ".conv2", (width, width, 3, 3))
            if before != width:
                entries += _layer(name + ".conv3", (width, before, 1, 1))
            entries += _batchnorm(name + ".bn1", width) + _batchnorm(name + ".bn2", width)
            before = width
    return entries + _layer("fc.1", (CLASSES, 512))


def cifar_cnn_entries():
    return (_layer("conv1", (6, 3, 5, 5)) + _layer("conv2", (16, 6, 5, 5))
            + _layer("fc1", (120, 400)) + _layer("fc2", (84, 120)) + _layer("fc3", (CLASSES, 84)))


def smallnet_entries():
    return (_layer("0", (16, 1, 3, 3)) + _batchnorm("1", 16) + _layer("4", (32, 16, 3, 3))
            + _batchnorm("5", 32) + _layer("9", (CLASSES, 32 * 7 * 7)))


def lenet_entries():
    return (_layer("0", (6, 1, 5, 5)) + _layer("3", (16, 6, 5, 5)) + _layer("7", (120, 400))
            + _layer("9", (84, 120)) + _layer("11", (CLASSES, 84)))


MODELS = {
    "resnet18": {"entries": resnet18_entries, "shape": (1, 28, 28), "head": 1 / 8},
    "cifar-cnn": {"entries": cifar_cnn_entries, "shape": (3, 32, 32)},
    "smallnet": {"entries": smallnet_entries, "shape": (1, 28, 28)},
    "lenet": {"entries": lenet_entries, "shape": (1, 28, 28)},
}

# --- what is run. The last batch of every epoch is short, and odd, so that two devices get unequal
# shards.

SMALL = {"model": "smallnet", "train_rows": 149, "test_rows": 67, "batch": 32, "epochs": 4}

CASES = {
    "resnet18": {"model": "resnet18", "train_rows": 149, "test_rows": 67, "batch": 32,
                 "epochs": 4, "lr": 0.002, "momentum": 0.9, "weight_decay": 0.0},
    "resnet18-decay": {"model": "resnet18", "train_rows": 85, "test_rows": 67, "batch": 32,
                       "epochs": 1, "lr": 0.005, "momentum": 0.9, "weight_decay": 5e-4},
    "cifar-cnn": {"model": "cifar-cnn", "train_rows": 305, "test_rows": 131, "batch": 64,
                  "epochs": 4, "lr": 0.02, "momentum": 0.9, "weight_decay": 0.0},
    "cifar-cnn-decay": {"model": "cifar-cnn", "train_rows": 305, "test_rows": 131, "batch": 64,
                        "epochs": 4, "lr": 0.015, "momentum": 0.9, "weight_decay": 5e-4},
    "sgd": {**SMALL, "lr": 0.005, "momentum": 0.9, "weight_decay": 0.01},
    "nesterov": {**SMALL, "optimizer": "nesterov", "lr": 0.005, "momentum": 0.9,
                 "weight_decay": 0.01},
    "adam": {**SMALL, "optimizer": "adam", "lr": 0.001, "momentum": 0.0, "weight_decay": 0.01},
    "adamw": {**SMALL, "optimizer": "adamw", "lr": 0.001, "momentum": 0.0, "weight_decay": 0.1,
              "beta1": 0.8, "beta2": 0.95, "eps": 1e-6},
    "rmsprop": {**SMALL, "optimizer": "rmsprop", "lr": 0.0005, "momentum": 0.5,
                "weight_decay": 0.01},
    "clip": {**SMALL, "lr": 0.005, "momentum": 0.9, "weight_decay": 0.01, "clip_norm": 10.0},
    "no-decay": {**SMALL, "lr": 0.005, "momentum": 0.9, "weight_decay": 0.05,
                 "no_decay": "norm-bias"},
    "ema": {**SMALL, "optimizer": "adam", "lr": 0.001, "momentum": 0.0, "weight_decay": 0.0,
            "ema": 0.9},
}
# One epoch at rate 0, so that all gradients are of the initial weights: 200 batches for the noise
# scale (tests/programs/noise.py), by each network's own shards of two devices.
NOISE = {model: {"model": model, "train_rows": 12800, "test_rows": 10, "batch": 64}
         for model in ("lenet", "smallnet")}
# What a case may say besides, as options of the program.
SETTINGS = ("optimizer", "beta1", "beta2", "eps", "clip_norm", "no_decay", "ema")


def initial_weights(model):
    """Yield (name, shape, array) for every entry of `model`; array('q') where PyTorch has I64."""
    for name, shape, kind, fan_in in MODELS[model]["entries"]():
        count = math.prod(shape)
        key = f"{model} {name}"
        if kind == "weight":
            scale = 2.0 ** math.floor(math.log2(math.sqrt(6 / fan_in)))
            scale *= MODELS[model]["head"] if name == "fc.1.weight" else 1
            yield name, shape, floats(key, count, scale)
        elif kind == "tracked":
            yield name, shape, array.array("q", [BATCHES_TRACKED])
        elif kind == "bn_bias":
            yield name, shape, floats(key, count, 1 / 4, 1 / 2)
        elif kind == "bn_weight":
            yield name, shape, floats(key, count, 1 / 4, 1.0)
        elif kind == "bn_running_var":
            yield name, shape, floats(key, count, 1 / 2, 1.0)
        else:
            yield name, shape, floats(key, count, 1 / 8)


def rows(model, part, count):
    """(labels, pixels): bytes, pixels rows x channels x height x width."""
    channels, height, width = MODELS[model]["shape"]
    cells_y, cells_x = height // 4, width // 4
    pictures = []
    for label in range(CLASSES):
        coarse = noise(f"{model} picture {label}", channels * cells_y * cells_x)
        pictures.append(bytes(
            coarse[(c * cells_y + y // 4) * cells_x + x // 4]
            for c in range(channels) for y in range(height) for x in range(width)))
    labels = bytes(word % CLASSES for word in words(f"{model} {part} labels", count))
    pixels = bytearray()
    for row, label in enumerate(labels):
        grain = noise(f"{model} {part} row {row}", channels * height * width)
        pixels += bytes([(3 * p + g) // 4 for p, g in zip(pictures[label], grain)])
    return labels, bytes(pixels)


# --- files


def write_idx(directory, prefix, labels, pixels, height, width):
    for name, data in (
            (f"{prefix}-images-idx3-ubyte.gz",
             struct.pack(">IIII", 0x803, len(labels), height, width) + pixels),
            (f"{prefix}-labels-idx1-ubyte.gz", struct.pack(">II", 0x801, len(labels)) + labels)):
        with gzip.open(os.path.join(directory, name), "wb", compresslevel=1) as file:
            file.write(data)


def write_cifar(directory, name, labels, pixels):
    size = len(pixels) // len(labels)
    with open(os.path.join(directory, name), "wb") as file:
        for row, label in enumerate(labels):
            file.write(bytes([label]) + pixels[row * size:(row + 1) * size])


def write_rows(case, directory):
    """The data folder of a case: IDX files for one channel, CIFAR-10 binary files for three."""
    os.makedirs(directory, exist_ok=True)
    model = case["model"]
    channels, height, width = MODELS[model]["shape"]
    train = rows(model, "train", case["train_rows"])
    test = rows(model, "test", case["test_rows"])
    if channels == 1:
        write_idx(directory, "train", *train, height, width)
        write_idx(directory, "t10k", *test, height, width)
        return
    labels, pixels = train
    share, size = len(labels) // 5, channels * height * width
    if share * 5 != len(labels):
        raise ValueError("CIFAR-10 has five training files of the same length")
    for i in range(5):
        write_cifar(directory, f"data_batch_{i + 1}.bin", labels[i * share:(i + 1) * share],
                    pixels[i * share * size:(i + 1) * share * size])
    write_cifar(directory, "test_batch.bin", *test)


def write_safetensors(path, entries):
    """`entries` yields (name, shape, array('f') or array('q')), laid out in that order."""
    header, blobs, offset = {}, [], 0
    for name, shape, values in entries:
        blob = values if sys.byteorder == "little" else array.array(values.typecode, values)
        if blob is not values:
            blob.byteswap()
        size = len(blob) * blob.itemsize
        header[name] = {"dtype": "F32" if values.typecode == "f" else "I64", "shape": list(shape),
                        "data_offsets": [offset, offset + size]}
        blobs.append(blob)
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for blob in blobs:
            blob.tofile(file)


def read_safetensors(path):
    """name -> (shape, array), in the header's order; ValueError on what the format forbids."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    body, expected, out = memoryview(data)[8 + length:], 0, {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = array.array({"F32": "f", "I64": "q"}[entry["dtype"]])
        if end - begin != math.prod(entry["shape"]) * values.itemsize or end > len(body):
            raise ValueError(f"{path}: {name}: bytes {begin} to {end} do not fit the entry")
        values.frombytes(body[begin:end])
        if sys.byteorder == "big":
            values.byteswap()
        out[name] = (tuple(entry["shape"]), values)
    for begin, end in sorted(entry["data_offsets"] for entry in header.values()):
        if begin != expected:
            raise ValueError(f"{path}: a hole or an overlap at byte {begin}")
        expected = end
    if expected != len(body):
        raise ValueError(f"{path}: {len(body) - expected} bytes after the last entry")
    return out
