#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the first inputs of the fuzzers into tests/fuzz/corpus.

Files that a fuzzer found (found-*) and those of the shipped models and of the configuration stay
or are copied; the others are made here, always the same bytes.

    tests/fuzz/make_corpus.py SOURCE
"""
import base64
import gzip
import io
import json
import pathlib
import re
import sqlite3
import struct
import sys
import tarfile
import tempfile
import zipfile
import zlib

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
CORPUS = TOP / "tests" / "fuzz" / "corpus"


def put(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def packed(data):
    return gzip.compress(data, mtime=0)


def idx():
    images = bytes([0, 0, 8, 3]) + struct.pack(">III", 2, 2, 3) + b"abcdefghijkl"
    labels = bytes([0, 0, 8, 1]) + struct.pack(">I", 2) + b"\0\1"
    put("idx", "images", b"\0" + images)
    put("idx", "images.gz", b"\0" + packed(images))
    put("idx", "labels", b"\1" + labels)
    put("idx", "test-labels.gz", b"\3" + packed(labels))
    put("idx", "classes", b"\4coat\nshoe\nhat\n")
    put("idx", "huge", b"\0" + bytes([0, 0, 8, 3]) + b"\xff" * 12)
    put("idx", "no-rows", b"\0" + bytes([0, 0, 8, 3]) + bytes(12))


def cifar():
    record = b"\7" + bytes(range(256)) * 12
    put("cifar", "train", b"\0" + record)
    put("cifar", "test", b"\5" + record)
    put("cifar", "two", b"\5" + record * 2)
    put("cifar", "label", b"\1" + b"\12" + bytes(3072))


# Pictures of 8 x 8: grey; colour, progressive; four inks. Of libjpeg, which is not at hand here.
JPEGS = {name: base64.b64decode(text) for name, text in {
    "grey":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsL"
        "EBYQERMUFRUVDA8XGBYUGBIUFRT/wAALCAAIAAgBAREA/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QA"
        "tRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAkM2JyggkKFhcYGRolJicoKSo0"
        "NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKztLW2"
        "t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/9oACAEBAAA/AOWtfh38ObDSrWTwh8GfFGua"
        "kZlWS31v7NpsKxbWy4kja4JbcEG0oAQSdwwAf//Z",
    "progressive":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsL"
        "EBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
        "FBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAIAAgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUAQEA"
        "AAAAAAAAAAAAAAAAAAAD/9oADAMBAAIQAxAAAAGIUv/EABcQAAMBAAAAAAAAAAAAAAAAAAECAwT/2gAIAQEAAQUCeUco"
        "/8QAFREBAQAAAAAAAAAAAAAAAAAAABH/2gAIAQMBAT8Br//EABYRAQEBAAAAAAAAAAAAAAAAAAEAEf/aAAgBAgEBPwEM"
        "v//EAB0QAAIBBAMAAAAAAAAAAAAAAAIDAQAEEyExk8H/2gAIAQEABj8CCSWpAA6QHMkrYexej49r/8QAGRAAAwADAAAA"
        "AAAAAAAAAAAAAREhAEFR/9oACAEBAAE/Ie/NKbHs0iNDP//aAAwDAQACAAMAAAAQ9//EABcRAAMBAAAAAAAAAAAAAAAA"
        "AAABEUH/2gAIAQMBAT8QbOXD/8QAGhEAAQUBAAAAAAAAAAAAAAAAAQARMZGx8P/aAAgBAgEBPxCCD225X//EABcQAQEB"
        "AQAAAAAAAAAAAAAAAAERITH/2gAIAQEAAT8QZMQRSMsR8iZKY//Z",
    "inks":
        "/9j/7gAOQWRvYmUAZAAAAAAC/9sAQwADAgIDAgIDAwMDBAMDBAUIBQUEBAUKBwcGCAwKDAwLCgsLDQ4SEA0OEQ4LCxAW"
        "EBETFBUVFQwPFxgWFBgSFBUU/9sAQwEDBAQFBAUJBQUJFA0LDRQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
        "FBQUFBQUFBQUFBQUFBQUFBQU/8AAFAgACAAIBAEiAAIRAQMRAQQiAP/EAB8AAAEFAQEBAQEBAAAAAAAAAAABAgMEBQYH"
        "CAkKC//EALUQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCCNCscEVUtHwJDNicoIJChYXGBka"
        "JSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqio6Slpqeo"
        "qaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+v/EAB8BAAMBAQEBAQEBAQEAAAAA"
        "AAABAgMEBQYHCAkKC//EALURAAIBAgQEAwQHBQQEAAECdwABAgMRBAUhMQYSQVEHYXETIjKBCBRCkaGxwQkjM1LwFWJy"
        "0QoWJDThJfEXGBkaJicoKSo1Njc4OTpDREVGR0hJSlNUVVZXWFlaY2RlZmdoaWpzdHV2d3h5eoKDhIWGh4iJipKTlJWW"
        "l5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uLj5OXm5+jp6vLz9PX29/j5+v/aAA4EAQACEQMR"
        "BAAAPwBh8S6hp+sS/D344XDXul3TeTpfjPUMeZZvgKsV7IR88TY/4+GJZGJ8wlCXiKKK5Zzc3zS8ulttOn4vdvV6nTGK"
        "iuWOwyLwtqlpr0Hj/wCBlr9u0q633Gq+DrGRVksXCl2lsoyRvibaR9nTLq5URKyMEiKKK//Z",
}.items()}


def pictures():
    sys.path.insert(0, str(TOP / "tests/engine/data/pictures"))
    from png_file import GREY, PALETTE, RGB_ALPHA, chunk, exif, png
    turned = chunk(b"eXIf", exif(6))
    put("picture", "grey", b"\3" + png([[(x & 1,) for x in range(9)]] * 5, GREY, 1))
    put("picture", "palette", b"\4" + png([[(x & 3,) for x in range(7)]] * 6, PALETTE, 2,
                                          [(x, 9, 200) for x in range(4)], b"\0\x80",
                                          before=turned))
    put("picture", "interlaced", b"\1" + png([[(x, 2 * x, 3, 9) for x in range(11)]] * 10,
                                             RGB_ALPHA, 16, interlaced=True))
    put("picture", "huge", b"\2" + png([[(1,)]], GREY, size=(1 << 20, 1 << 20)))
    marker = b"Exif\0\0" + exif(8, ">")
    for name, file in JPEGS.items():
        put("picture", name + "-jpeg", b"\1" + file[:2] + b"\xff\xe1" +
            struct.pack(">H", len(marker) + 2) + marker + file[2:])


def npz():
    sys.path.insert(0, str(TOP / "tests/engine/data/pictures"))
    from npz import archive, arrays, npy
    put("npz", "stored", archive(arrays()))
    put("npz", "deflated", archive(arrays(x_train=npy(list(range(24)), (2, 3, 4), ">f2"),
                                          x_test=npy(list(range(12)), (1, 3, 4), "<f8")),
                                   zipfile.ZIP_DEFLATED, b"comment"))
    put("npz", "fortran", archive(arrays(x_train=npy(list(range(24)), (2, 3, 4), fortran=True),
                                         y_train=npy([0, 2], (2, 1), ">i8"))))


def tensors(entries, note=None):
    """A safetensors file of (name, shape, bytes, dtype)."""
    header, body = {}, b""
    if note is not None:
        header["__metadata__"] = {"format": "pt", "dpartui": note,
                                  "dpartui_normalization": '{"mean":[0.5],"std":[0.25]}'}
    for name, shape, data, dtype in entries:
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body


def with_checksums(file):
    """The same with the checksums of engine/weights/checksum.h."""
    length = struct.unpack("<Q", file[:8])[0]
    header, body = json.loads(file[8:8 + length]), file[8 + length:]
    sums = header.setdefault("__metadata__", {})
    for name, entry in header.items():
        if name != "__metadata__":
            sums["crc32:" + name] = "%08x" % zlib.crc32(body[slice(*entry["data_offsets"])])
    sums["crc32"] = "00000000"
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    own = b"%08x" % zlib.crc32(text)
    text = text.replace(b'"crc32":"00000000', b'"crc32":"' + own)
    return struct.pack("<Q", len(text)) + text + body


def floats(count):
    return struct.pack("<%df" % count, *(i / 8 for i in range(count)))


def safetensors():
    weights = [("0.weight", [2, 1, 1, 1], floats(2), "F32"),
               ("1.weight", [2], floats(2), "F32"), ("1.bias", [2], floats(2), "F32"),
               ("1.running_mean", [2], floats(2), "F32"),
               ("1.running_var", [2], floats(2), "F32"),
               ("1.num_batches_tracked", [], struct.pack("<q", 5), "I64"),
               ("2.weight", [2, 8], floats(16), "F32"), ("2.bias", [2], floats(2), "F32")]
    place = {"version": 1, "epochs": 1, "steps": 1, "rows": 8, "lr": 0.05,
             "epoch": {"steps": 0, "rows": 0, "correct": 0, "loss_sum": 0.0, "seconds": 0.0},
             "train_s": 1.0, "eval_s": 0.1, "test_loss": 2.0, "test_acc": 0.5, "best_acc": 0.5,
             "batch": 8, "train_rows": 8, "seed": 1}
    trained = [w for w in weights if "running" not in w[0] and "tracked" not in w[0]]
    put("safetensors", "weights", tensors(weights))
    put("safetensors", "module", tensors([("module." + w[0], *w[1:]) for w in weights]))
    put("safetensors", "checkpoint", tensors(weights, json.dumps(place)))
    put("safetensors", "checksums", with_checksums(tensors(weights, json.dumps(place))))
    put("safetensors", "momentum",
        tensors([(w[0] + ".momentum_buffer", *w[1:]) for w in trained]))
    put("safetensors", "half", tensors([("0.weight", [2, 1, 1, 1], b"abcd", "F16")]))
    put("safetensors", "no-header", struct.pack("<Q", 1 << 40) + b"{}")
    put("safetensors", "empty", tensors([]))
    put("safetensors", "deep", struct.pack("<Q", 4096) + b'{"a":' + b"[" * 4091)


def models():
    for path in sorted((TOP / "etc" / "models").glob("*.conf")):
        lines = [line for line in path.read_text().splitlines()
                 if line.strip() and not line.strip().startswith("#")]
        put("model", path.stem, "\n".join(lines) + "\n")
    put("model", "residual", """default_input = [1, 8, 8]; default_classes = 3;
mean = [0.5]; std = "data"; order = ["b", "a"];
layers = ({ type = "sequence"; name = "a"; repeat = 2; layers = (
  { type = "residual"; layers = ({ type = "conv"; channels = 4; kernel = [3, 3]; pad = 1; });
    shortcut = ({ type = "conv"; channels = 4; kernel = 1; }); after = ("relu"); }); },
  "global_avgpool", { type = "dropout"; p = 0.25; },
  { type = "linear"; name = "b"; outputs = "classes"; });
""")
    put("model", "huge", """input = [16, 4096, 4096]; classes = 10;
layers = ({ type = "sequence"; repeat = 1000; layers = (
  { type = "linear"; repeat = 1000; outputs = 1000000; }); });
""")
    put("model", "include", '@include "/etc/passwd"\n')


def settings():
    put("settings", "shipped", (TOP / "etc" / "dpartui.conf").read_bytes())
    text = (TOP / "etc" / "dpartui.conf").read_text()
    put("settings", "all", re.sub(r"^    # (?=[a-z_]+ = .*;$)", "    ", text, flags=re.M))
    put("settings", "train", """train: { model = "linear"; data = "glyphs"; batch = 64; lr = 0.1;
  devices = "cpu:0-1"; epochs = 3; split = "weighted:1,2"; deterministic = true; };
screen: { theme = "dark"; unicode = false; fps = 10; };
keys: { stop = ["s", "F9"]; quit = "q"; };
""")
    put("settings", "wrong", "train: { batch = \"many\"; lr = [1]; };\n@include \"x\"\n")


def request(method, params=None, **more):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method,
                       **({"params": params} if params is not None else {}), **more})


def protocol():
    spec = {"model": "linear", "data": "glyphs", "batch": 4, "epochs": 2, "train_rows": 40}
    requests = [
        ("hello", {"client": "x", "version": "1"}), ("status", None), ("devices", None),
        ("submit", spec), ("submit", {"model": "slow", "epochs": 3}),
        ("submit", {"model": "fail"}), ("submit", {"model": "mute", "note": "mine"}),
        ("stop", {"run": 1, "now": True}), ("stop", {"run": 1, "when": "epoch"}),
        ("set_lr", {"run": 1, "lr": 0.01}), ("set_epochs", {"run": 1, "epochs": 5}),
        ("pause", {"run": 1}), ("unpause", {"run": 1}), ("move", {"run": 2, "place": 0}),
        ("delete", {"run": 1}), ("note", {"run": 1, "text": "words"}),
        ("tag", {"run": 1, "add": ["a", "b"], "remove": ["a"]}), ("log", {"limit": 10}),
        ("runs", {"limit": 3}), ("show", {"run": 1}),
        ("model", {"model": "linear", "data": "glyphs"}), ("follow", {"run": 1, "steps": True}),
        ("watch", {"interval": 0.05}), ("fetch", {"data": "mnist", "from": "file:///nowhere"}),
        ("checkpoints", {"runs": [1, 2]}),
    ]
    for number, (method, params) in enumerate(requests):
        put("protocol", "%02d-%s" % (number, method), request(method, params) + "\n")
    put("protocol", "session", "\n".join(request(*r) for r in requests[:20]) + "\n")
    put("protocol", "shutdown", request("submit", spec) + "\n" + request("shutdown", {}) + "\n")
    put("protocol", "notifications", '{"jsonrpc":"2.0","method":"stop","params":{"run":1}}\n[]\n{}')


POINT = {"event": "point", "epoch": 0.5, "step": 5, "steps": 5, "rows": 20, "train_loss": 1.5,
         "train_acc": 0.5, "samples_per_s": 900.0, "lr": 0.05}
EVENTS = [
    {"event": "run", "run": 3, "params": 7850, "model": "linear", "data": "glyphs",
     "devices": ["cpu:0"], "train_rows": 40, "total_steps": 20, "epochs": 2},
    {"event": "epoch", "epoch": 1, "step": 10, "train_loss": 1.0, "train_acc": 0.5,
     "test_loss": 1.0, "test_acc": 0.5, "seconds": 0.5, "samples_per_s": 1000.0,
     "devices": [{"device": "cpu:0", "rows": 40}]},
    {"event": "retune", "epoch": 1, "step": 11, "what": "lr", "from": 0.05, "to": 0.01},
    {"event": "end", "status": "done", "epochs": 2, "steps": 20, "test_acc": 0.9,
     "s_per_epoch": 0.5, "samples_per_s": 1000.0, "seconds": 1.5}]
SPEC = {"model": "linear", "data": "glyphs", "devices": "cpu:0", "batch": 4, "lr": 0.05,
        "epochs": 2, "seed": 1}
OBJECT = {"run": 3, "status": "done", "model": "linear", "data": "glyphs", "params": 7850,
          "epochs": 2, "epochs_done": 2, "retunes": 1, "train_acc": 0.5, "test_acc": 0.9,
          "best_test_acc": 0.9, "s_per_epoch": 0.5, "samples_per_s": 1000.0,
          "submitted_at": 1.7e9, "started_at": 1.7e9, "ended_at": 1.7e9, "note": "mine",
          "tags": ["a", "b"], "warnings": ["small batches"]}


def record():
    whole = {"object": dict(OBJECT, spec=SPEC), "events": EVENTS, "points": [POINT]}
    put("record", "whole", json.dumps(whole))
    put("record", "bare", json.dumps({"object": {"run": 1, "spec": {}}}))
    wrong = {"object": dict(OBJECT, spec=SPEC, tags=[1, {}], warnings=[1, {}], note=7,
                            test_acc="x", status=[]),
             "events": [1, [], {}, {"event": 1}, {"event": "end"}],
             "points": [1, {}, {"rows": -1, "train_acc": 1e300, "train_loss": 1e300}]}
    put("record", "wrong", json.dumps(wrong))


def spec():
    put("spec", "object", json.dumps(dict(
        SPEC, split="weighted:1,2", devices="cpu:0-1", momentum=0.9, weight_decay=1e-4,
        sync="allreduce", sync_bn=True, dtype="f32", init="normal:0.02", order="shuffle",
        augment="flip", deterministic=True, train_rows=100, test_rows=10, max_steps=3,
        strategy="pipeline", micro_batches=4, stages="conv1,conv2",
        cpu_threads=2, lr_schedule="multistep:1,1.5:0.3", warmup=0.5, save="/tmp/x.safetensors", log="/tmp/x.jsonl")))
    put("spec", "wrong", json.dumps({"batch": 1e300, "lr": -1, "devices": ["cpu:0"], "seed": -1,
                                     "epochs": 1 << 62, "cpu_threads": [1, "2"]}))
    put("spec", "lines", "batch=64\nlr=1e-3\nepochs=3\ndevices=cpu:0-3\nsplit=weighted:1,2,3,4\n"
        "init=normal:0.5\ncpu-threads=1,1,2,2\nsync-bn=yes\nstrategy=pipeline\nmicro-batches=8\nstages=conv2\ndtype=bf16\nseed=18446744073709551615\n"
        "augment=crop\nlr-schedule=one-cycle:0.4\nwarmup=0.5\nmodel=linear\ndata=random:10x5\nsave=x.safetensors\ngpus=2\n")
    for number, text in enumerate(["cpu:0-7", "cuda:0,cuda:2-3", "2,3", "all", "default", "",
                                   "cpu:0,cpu:0", "cpu:0-99999999999", "cpu:5-2", "cuda:-1",
                                   "h1/cpu:0-1,h2/cuda:0", "-h/0,/1,h/", "h1/0,1"]):
        put("device_list", "list-%d" % number, text)


def archive():
    def tar(members, prefix=b"\0"):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as file:
            for name, kind, data in members:
                info = tarfile.TarInfo(name)
                info.type, info.size = kind, len(data)
                info.linkname = "/etc/passwd" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
                file.addfile(info, io.BytesIO(data))
        data = stream.getvalue().rstrip(b"\0")
        return prefix + data + bytes(-len(data) % 512) + bytes(512)

    plain, folder = tarfile.REGTYPE, tarfile.DIRTYPE
    good = [("box", folder, b""), ("box/a.bin", plain, b"a" * 700), ("box/b.bin", plain, b"b")]
    put("archive", "good", tar(good))
    put("archive", "good-corrected", tar(good, b"\1"))
    put("archive", "good.gz", b"\0" + packed(tar(good)[1:]))
    put("archive", "absolute", tar([("/box/a", plain, b"x")], b"\1"))
    put("archive", "upwards", tar([("box/../a", plain, b"x")], b"\1"))
    put("archive", "dots", tar([("box/..", plain, b"x")], b"\1"))
    put("archive", "link", tar([("box/a", tarfile.SYMTYPE, b"")], b"\1"))
    put("archive", "hard-link", tar([("box/a", tarfile.LNKTYPE, b"")], b"\1"))
    put("archive", "device", tar([("box/a", tarfile.CHRTYPE, b"")], b"\1"))
    put("archive", "fifo", tar([("box/a", tarfile.FIFOTYPE, b"")], b"\1"))
    put("archive", "twice", tar([("box/a", plain, b"1"), ("box/a", plain, b"2")], b"\1"))
    put("archive", "many", tar([("box/%d" % i, plain, b"") for i in range(70)], b"\1"))


def store():
    """A store of two runs as version 1 has it, by src/store/update.c, in pages of 512 bytes."""
    source = (TOP / "src" / "store" / "update.c").read_text()
    body = re.sub(r"/\*.*?\*/", "", source[source.index("steps[STORE_VERSION] = {"):], flags=re.S)
    sql = "".join(re.findall(r'"([^"]*)"', body[:body.index("},")]))
    header = (TOP / "src" / "store" / "database.h").read_text()
    number = re.search(r"#define STORE_APPLICATION_ID\s+(\w+)", header)
    sql += f"PRAGMA application_id = {int(number[1], 0)};"
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "runs.db"
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA page_size = 512")
        db.executescript(sql)
        for run in (3, 4):
            db.execute("INSERT INTO runs (number, status, model, data, devices, batch, lr, object,"
                       " spec, environment) VALUES (?,?,?,?,?,?,?,?,?,?)",
                       (run, "done" if run == 3 else "running", "linear", "glyphs", "cpu:0", 4,
                        0.05, json.dumps(dict(OBJECT, run=run)), json.dumps(SPEC), "{}"))
            for number, event in enumerate(EVENTS):
                db.execute("INSERT INTO events VALUES (?,?,?,?)",
                           (run, number, event["event"], json.dumps(event)))
            db.execute("INSERT INTO points VALUES (?,5,5,20,0.5,1.5,0.5,900.0,0.05)", (run,))
            db.execute("INSERT INTO tags VALUES (?,'a')", (run,))
        db.execute("VACUUM")
        db.close()
        whole = path.read_bytes()
        put("store", "whole", whole)
        put("store", "cut", whole[:len(whole) // 2])
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA user_version = 99")
        db.close()
        put("store", "newer", path.read_bytes())
        db = sqlite3.connect(path, isolation_level=None)
        db.executescript("PRAGMA user_version = 1; UPDATE runs SET object = '[]', spec = 7;"
                         "UPDATE events SET event = 'no JSON'; UPDATE points SET step = 'x'")
        db.close()
        put("store", "odd-rows", path.read_bytes())
        db = sqlite3.connect(path, isolation_level=None)
        db.executescript("DROP TABLE tags; DROP TABLE points")
        db.close()
        put("store", "no-tables", path.read_bytes())
    put("store", "text", "no database at all\n" * 10)
    put("store", "empty", b"")


def conv_choices():
    line = "91900\tNVIDIA H200\tconv 1 2 3\t62\t2=4,27=-8\t131\t0.000123456\n"
    put("conv_choices", "two", "# first\n" + line + line.replace("62", "1").replace("1 2 3", "4"))
    put("conv_choices", "no-knobs", line.replace("2=4,27=-8", "-"))
    put("conv_choices", "many-knobs",
        line.replace("2=4,27=-8", ",".join("%d=%d" % (i, i) for i in range(50))))


for make in (idx, cifar, pictures, npz, safetensors, models, settings, protocol, record, spec, archive,
             store, conv_choices):
    make()
