#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time training steps of PyTorch: the other side of the benchmark. Needs torch.

    torch_step.py --model resnet18 --batch 256 --steps 5 --threads 2 --channels-last

Prints one JSON object: {"version", "onednn", "threads", "seconds": [of each step], "loss"}. A step
takes its rows from memory, goes forward, back, updates (plain SGD) and reads the loss, as a step
of the program does. Rows are random: the time of a step does not depend on what they show.
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
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch_nets  # noqa: E402


def onednn_version():
    found = re.search(r"MKL-DNN v([0-9.]+)|oneDNN v([0-9.]+)", torch.__config__.show())
    return (found.group(1) or found.group(2)) if found else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="resnet18", choices=list(torch_nets.BUILD))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rows", type=int, default=0, help="in all; the last batch may be short")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--channels-last", action="store_true")
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    layout = torch.channels_last if args.channels_last else torch.contiguous_format
    shape = (3, 32, 32) if args.model == "cifar-cnn" else (1, 28, 28)
    rows = args.rows or args.batch * args.steps
    images = torch.rand(rows, *shape)
    labels = torch.randint(0, 10, (rows,))
    net = torch_nets.BUILD[args.model]().to(memory_format=layout)
    sgd = torch.optim.SGD(net.parameters(), lr=0.01)
    seconds, loss = [], 0.0
    for indices in torch.randperm(rows).split(args.batch):
        begin = time.monotonic()
        x = images[indices].contiguous(memory_format=layout)
        result = functional.cross_entropy(net(x), labels[indices])
        sgd.zero_grad()
        result.backward()
        sgd.step()
        loss = float(result)
        seconds.append(time.monotonic() - begin)
    print(json.dumps({"version": torch.__version__, "onednn": onednn_version(),
                      "threads": args.threads, "seconds": seconds, "loss": loss}))


if __name__ == "__main__":
    main()
