#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time training steps of PyTorch on a GPU, at its best: the other side of tests/gpu/bench.

    torch_gpu.py --list                       the settings that can be tried, or why none
    torch_gpu.py --batch 1024 --dtype bf16 --setting NAME --steps 60 --warm 20

Prints one JSON object: {"version", "cuda", "cudnn", "gpu", "setting", "seconds_per_step", "loss"}.
Exit status 77: no PyTorch with CUDA here; the reason is printed.

resnet18 of tests/harness/torch_nets.py at 28x28. A step takes its rows by index from data that lie on the
GPU as uint8, scales them, goes forward, back and updates with fused SGD with momentum, as a step of
the program does; the loss is read at the end of the measurement alone, so that the GPU never waits
for Python. Time is taken over all steps after the warm ones, between two synchronisations. cuDNN
chooses its algorithms by measuring. The settings:

    eager                 no compilation
    compile               torch.compile
    reduce-overhead       torch.compile with CUDA graphs
    max-autotune          also Triton's kernels tried against cuDNN's and cuBLAS's
    ...-whole             the loss inside of what is compiled, too
    graph                 no compilation; the whole step captured by hand as a CUDA graph
"""

import argparse
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

SKIP = 77
ROWS = 60000
SETTINGS = ("eager", "graph", "compile", "reduce-overhead", "max-autotune", "compile-whole",
            "reduce-overhead-whole", "max-autotune-whole")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


try:
    import torch
except ImportError as missing:
    skip(f"no PyTorch: {missing}")

from torch.nn import functional  # noqa: E402

import torch_nets  # noqa: E402


class Steps:
    """Training steps in one setting."""

    def __init__(self, batch, dtype, setting):
        self.batch = batch
        self.amp = dtype == "bf16"
        self.device = torch.device("cuda:0")
        torch.backends.cudnn.benchmark = True
        allow = dtype != "f32"
        torch.backends.cudnn.allow_tf32 = allow
        torch.backends.cuda.matmul.allow_tf32 = allow
        torch.manual_seed(1)
        self.images = torch.randint(0, 256, (ROWS, 1, 28, 28), dtype=torch.uint8,
                                    device=self.device)
        self.labels = torch.randint(0, 10, (ROWS,), device=self.device)
        self.net = torch_nets.BUILD["resnet18"]().to(self.device)
        self.net = self.net.to(memory_format=torch.channels_last)
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=0.01, momentum=0.9, fused=True)
        self.graph = None
        self.index = torch.zeros(batch, dtype=torch.int64, device=self.device)
        self.loss = torch.zeros((), device=self.device)
        self.forward = self.compiled(setting)
        if setting == "graph":
            self.capture()

    def compiled(self, setting):
        whole = setting.endswith("-whole")
        mode = setting[:-len("-whole")] if whole else setting
        if mode in ("eager", "graph"):
            return self.loss_of
        options = {} if mode == "compile" else {"mode": mode}
        if whole:
            return torch.compile(self.loss_of, **options)
        self.net = torch.compile(self.net, **options)
        return self.loss_of

    def loss_of(self, images, labels, index):
        x = images[index].to(torch.float32) / 255
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.amp):
            logits = self.net(x)
        return functional.cross_entropy(logits.float(), labels[index])

    def once(self, index):
        loss = self.forward(self.images, self.labels, index)
        self.sgd.zero_grad(set_to_none=self.graph is None)
        loss.backward()
        self.sgd.step()
        return loss.detach()

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(5):
                self.once(self.index)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.sgd.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.loss = self.once(self.index)
        self.graph = graph

    def run(self, count):
        order = torch.randperm(ROWS, device=self.device)
        per_epoch = ROWS // self.batch
        for i in range(count):
            at = i % per_epoch * self.batch
            index = order[at:at + self.batch]
            if self.graph:
                self.index.copy_(index)
                self.graph.replay()
            else:
                if hasattr(torch, "compiler"):
                    torch.compiler.cudagraph_mark_step_begin()
                self.loss = self.once(index)
        torch.cuda.synchronize()
        return float(self.loss)


def available():
    if not torch.cuda.is_available():
        skip(f"PyTorch {torch.__version__} sees no GPU")
    names = list(SETTINGS)
    if not hasattr(torch, "compile"):
        names = [name for name in names if name in ("eager", "graph")]
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--dtype", choices=("f32", "tf32", "bf16"), default="bf16")
    parser.add_argument("--setting", choices=SETTINGS, default="max-autotune")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warm", type=int, default=20)
    args = parser.parse_args()
    names = available()
    if args.list:
        print("\n".join(names))
        return
    steps = Steps(args.batch, args.dtype, args.setting)
    steps.run(args.warm)
    begin = time.monotonic()
    loss = steps.run(args.steps)
    seconds = time.monotonic() - begin
    print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda,
                      "cudnn": torch.backends.cudnn.version(),
                      "gpu": torch.cuda.get_device_name(0), "setting": args.setting,
                      "seconds_per_step": seconds / args.steps, "loss": loss}))


if __name__ == "__main__":
    main()
