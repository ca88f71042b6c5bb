#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time training steps of PyTorch: the other side of the benchmark. Needs torch.

    torch_step.py --model resnet18 --batch 256 --steps 5 --threads 2 --channels-last

Prints one JSON object: {"version", "onednn", "threads", "seconds": [of each step], "last": what
the last one returned}. A step takes its rows from memory, goes forward, back, updates (plain SGD)
and reads the loss, as a step of the program does; with --evaluate it goes forward and reads loss
and rows right. With --bf16 the network computes in bfloat16 where PyTorch's autocast takes it for
safe; the loss, weights and their update stay in f32. Rows are random: the time of a step does not
depend on what they show.
"""

import argparse
import json
import os
import re
import sys
import time

import torch
from torch.nn import functional

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../harness"))

import torch_nets  # noqa: E402


def versions():
    found = re.search(r"(?:MKL-DNN|oneDNN) v([0-9.]+)", torch.__config__.show())
    return {"version": torch.__version__, "onednn": found.group(1) if found else None}


def forward(net, x, bf16):
    """The logits in f32."""
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        return net(x).float()


def training(net, sgd, x, y, bf16):
    """One step; the loss as a number."""
    result = functional.cross_entropy(forward(net, x, bf16), y)
    sgd.zero_grad()
    result.backward()
    sgd.step()
    return result.item()


def evaluating(net, x, y, bf16):
    """One batch of an evaluation: what the program makes of it, its loss and the rows right."""
    with torch.inference_mode():
        logits = forward(net, x, bf16)
        right = (logits.argmax(1) == y).sum().item()
        return functional.cross_entropy(logits, y).item(), right


def freeze(net, x):
    """BatchNorm and other constants folded into the weights, for evaluation only."""
    with torch.no_grad():
        return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(net, x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="resnet18", choices=list(torch_nets.BUILD))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rows", type=int, default=0, help="in all; the last batch may be short")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--evaluate", action="store_true", help="only forward, as in evaluation")
    parser.add_argument("--frozen", action="store_true", help="BatchNorm folded, by TorchScript")
    parser.add_argument("--bf16", action="store_true", help="by autocast")
    parser.add_argument("--versions", action="store_true", help="print version and oneDNN's only")
    args = parser.parse_args()
    if args.versions:
        print(json.dumps(versions()))
        return

    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    layout = torch.channels_last if args.channels_last else torch.contiguous_format
    shape = (3, 32, 32) if args.model == "cifar-cnn" else (1, 28, 28)
    rows = args.rows or args.batch * args.steps
    images = torch.rand(rows, *shape)
    labels = torch.randint(0, 10, (rows,))
    net = torch_nets.BUILD[args.model]().to(memory_format=layout)
    sgd = torch.optim.SGD(net.parameters(), lr=0.01)
    if args.evaluate:
        net.eval()
    if args.frozen:
        net = freeze(net, images[:args.batch].contiguous(memory_format=layout))
    seconds, result = [], None
    for indices in torch.randperm(rows).split(args.batch):
        begin = time.monotonic()
        x, y = images[indices].contiguous(memory_format=layout), labels[indices]
        result = (evaluating(net, x, y, args.bf16) if args.evaluate else
                  training(net, sgd, x, y, args.bf16))
        seconds.append(time.monotonic() - begin)
    print(json.dumps({**versions(), "threads": args.threads, "seconds": seconds, "last": result}))


if __name__ == "__main__":
    main()
