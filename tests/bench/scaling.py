# SPDX-License-Identifier: MIT
"""How a step's time grows, what its parts take, and what the machine could do.

All figures are those of `dpartui train --profile`, with the peak of this machine, measured in the
same rounds by tests/bench/peak.c.
"""

import os
import statistics
import tempfile

import measure
import report
import training

from measure import CORES

PHASES = ("input", "forward", "backward", "sync", "update", "rest")
# The least number of steps of a process (the first is not counted), and about how many rows in all.
STEPS, ROWS = 4, 512
SMALL_ROWS = 8192
BATCHES = (1, 4, 16, 64, 256, 1024)
DEVICES = (1, 2, 3, 4, 6, 8)
EPOCH_ROWS = (7500, 15000, 30000, 60000)
UNITS = {"resnet10": (1, 1, 1, 1), "resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3)}


def conv(width, kernel, stride):
    return (f'{{ type = "conv"; channels = {width}; kernel = {kernel}; stride = {stride}; '
            f"pad = {kernel // 2}; }}")


def residual(width, stride):
    shortcut = f"shortcut = ( {conv(width, 1, stride)} );" if stride > 1 else ""
    return (f'{{ type = "residual"; layers = ( {conv(width, 3, stride)}, "batchnorm", "relu", '
            f'{conv(width, 3, 1)}, "batchnorm" ); {shortcut} after = ( "relu" ); }}')


def resnet(units, width):
    """A model description like etc/models/resnet18.conf, of other depths and widths."""
    layers = [conv(width, 3, 1), '"batchnorm"', '"relu"']
    for block, count in enumerate(units):
        layers += [residual(width << block, 2 if block > 0 and unit == 0 else 1)
                   for unit in range(count)]
    layers += ['"global_avgpool"', '"flatten"', '{ type = "linear"; outputs = "classes"; }']
    return ('name = "resnet"; default_input = [ 1, 28, 28 ]; default_classes = 10;\n'
            "layers = (\n    " + ",\n    ".join(layers) + "\n);\n")


def steps_of(model, batch):
    rows = SMALL_ROWS if model in ("lenet", "smallnet") else ROWS
    return max(STEPS, min(64, rows // batch))


def phases(event):
    """{phase: its part of the steps' time}, of all devices."""
    devices = event["devices"]
    whole = event["seconds"] * len(devices)

    def part(*names):
        return sum(device[name + "_s"] for device in devices for name in names) / whole
    forward = sum(sum(operation["seconds"]) for operation in event["operations"]
                  if operation["direction"] == "forward") / whole
    return dict(zip(PHASES, (part("input"), forward + part("loss"), part("operations") - forward,
                             part("sync", "wait"), part("optimizer"),
                             part("split", "metrics", "rest"))))


def speeds(event):
    """(GFLOP/s of what multiplies, GB/s of the other operations), each while it ran."""
    out = []
    for what, multiplies in (("flops", True), ("bytes", False)):
        some = [operation for operation in event["operations"]
                if (operation["flops"] > 0) == multiplies]
        seconds = sum(sum(operation["seconds"]) for operation in some) / len(event["devices"])
        done = sum(operation[what] for operation in some)
        out.append(done / seconds / 1e9 if seconds > 0 else None)
    return out


def figures(event):
    """What a line of the tables needs of one run."""
    gflops, gigabytes = speeds(event)
    step = event["seconds"] / event["steps"]
    return {"ms": step * 1e3, "rate": sum(device["rows"] for device in event["devices"]) /
            event["seconds"], "gflops": gflops, "gigabytes": gigabytes, **phases(event)}


def outside(event):
    """Part of the steps' time in no operation, with the input and the loss counted as such."""
    of_operations = sum(device[name + "_s"] for device in event["devices"]
                        for name in ("operations", "input", "loss", "wait"))
    return 1 - of_operations / event["seconds"] / len(event["devices"])


def share(value, whole):
    return "-" if value is None or not whole else f"{100 * value / whole:.0f}"


def median(results, key):
    values = [result[key] for result in results if result[key] is not None]
    return statistics.median(values) if values else None


def shown(value, digits=0):
    return "-" if value is None else f"{value:.{digits}f}"


def line(results, peak):
    """Cells of a table's line, after its name; medians."""
    gflops, gigabytes = median(results, "gflops"), median(results, "gigabytes")
    return [report.spread([result["ms"] for result in results], 2),
            shown(median(results, "rate")), shown(gflops), share(gflops, peak["sgemm_gflops"]),
            shown(gigabytes, 1), share(gigabytes, peak["triad_gb_s"]),
            *(f"{100 * median(results, phase):.1f}" for phase in PHASES)]


HEAD = ["step, ms", "samples/s", "GFLOP/s", "of sgemm, %", "GB/s", "of triad, %",
        *(f"{phase}, %" for phase in PHASES)]


def profiled(args, model, batch, devices=1, threads=CORES):
    runner = measure.Program(args.data, f"cpu:0-{devices - 1}", threads)
    return figures(runner.profile(model, batch, steps_of(model, batch)))


def series(args, folder):
    """{table: {line: (what measures it, cores it uses)}}"""
    def at(model, batch, devices=1, threads=CORES):
        return (lambda: profiled(args, model, batch, devices, threads),
                min(devices * threads, CORES))

    def written(name, units, width):
        path = os.path.join(folder, f"{name}-{width}.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(resnet(units, width))
        return path
    models = {name: at(name, 64) for name in ("lenet", "smallnet")}
    for width in (16, 32, 64, 128):
        path = written("resnet18", UNITS["resnet18"], width)
        models[f"resnet18, {width} channels first"] = at(path, 64)
    for name in ("resnet10", "resnet34"):
        models[name] = at(written(name, UNITS[name], 64), 64)
    batches = {f"{model}, batch {batch}": at(model, batch)
               for model in ("resnet18", "lenet") for batch in BATCHES}
    devices = {f"{count} x 1 thread": at("resnet18", 256, count, 1) for count in DEVICES}
    return {f"network, batch 64, {CORES} threads": models,
            f"rows of a batch, {CORES} threads": batches,
            "devices, resnet18, batch 256": devices}


def epochs(args):
    """{(rows, ""): what measures the seconds of an epoch}"""
    runner = measure.Program(args.data, "cpu:0", CORES)
    most = 10000 if args.data_name == "glyphs" else 60000
    return {(f"{rows} rows", "smallnet"):
            lambda rows=rows: runner.epoch_seconds("smallnet", rows)
            for rows in EPOCH_ROWS if rows <= most}


def epoch_table(measured):
    rows = [[name, report.spread(values, 3),
             f"{1e6 * statistics.median(values) / int(name.split()[0]):.1f}"]
            for (name, _), values in measured.items()]
    return report.table(["smallnet, batch 256", "s/epoch", "us/row"], rows)


def measured(args):
    """The tables of all series."""
    args.say("scaling")
    peaks = {cores: [] for cores in range(1, CORES + 1)}
    with tempfile.TemporaryDirectory(prefix="dpb.") as folder:
        tables, results = series(args, folder), {}
        for i in range(args.few_rounds):
            for cores, found in peaks.items():
                found.append(measure.peak(cores))
            for table, lines in tables.items():
                for name, (take, _) in lines.items():
                    result = take()
                    results.setdefault((table, name), []).append(result)
                    args.say(f"  round {i + 1} of {args.few_rounds}, {name}: {result['ms']:.4g} ms")
    by_cores = {cores: {key: statistics.median(one[key] for one in found) for key in found[0]}
                for cores, found in peaks.items()}
    texts = [report.table(["at most", "sgemm, GFLOP/s", "triad, GB/s"],
                          [[f"{cores} thread" + "s" * (cores > 1),
                            report.spread([one["sgemm_gflops"] for one in found]),
                            report.spread([one["triad_gb_s"] for one in found], 1)]
                           for cores, found in peaks.items()])]
    for table, lines in tables.items():
        texts.append(report.table([table, *HEAD],
                                  [[name, *line(results[table, name], by_cores[cores])]
                                   for name, (_, cores) in lines.items()]))
    texts.append(epoch_table(training.rounds(args.few_rounds, epochs(args), args.say)))
    return "\n\n".join(texts)


def outside_operations(args):
    """(table, lines of the summary): what a step takes besides its operations."""
    steps = 4 if args.quick else 6
    part = training.Part(args, "time outside the operations, % of the step", 2, False)
    part.column("resnet18, batch 256", training.ours(args.data), {},
                lambda runner: 100 * outside(runner.profile("resnet18", 256, steps)))
    part.column("lenet, batch 256", training.ours(args.data), {},
                lambda runner: 100 * outside(runner.profile("lenet", 256, 20 * steps)))
    return part.table(), {"resnet18 training, batch 256, outside the operations, %":
                          part.figure("resnet18, batch 256")}
