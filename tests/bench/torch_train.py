#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Train a network in PyTorch on Fashion-MNIST: the other side of the accuracy. Needs torch.

    torch_train.py --model lenet --init xavier --seed 1 --write-initial FILE
    torch_train.py --model lenet --init xavier --seed 1 --data DIR --epochs 10 --batch 256 --lr 0.9

The first writes the weights that the second begins with, as safetensors. DIR holds the four files
of the data set, gzipped or not. Prints one JSON object: {"version", "onednn", "epochs":
[{"train_loss", "test_loss", "test_acc"}, ...]}. The recipe is the program's: pixels from 0 to 1,
plain SGD, another order of the rows in every epoch, the short last batch included, every test row
counted once. --orders DIR takes those of the files 1, 2, ... there, which tests/bench/order wrote.
"""

import argparse
import array
import gzip
import json
import os
import struct

import torch
from torch import nn
from torch.nn import functional

import torch_step
import parity_data  # noqa: E402  (torch_step put tests/harness on the path)
import torch_nets  # noqa: E402

TEST_BATCH = 1000


def read_idx(folder, name):
    """The numbers of one file as a uint8 tensor."""
    path = os.path.join(folder, name)
    opened = open(path, "rb") if os.path.exists(path) else gzip.open(path + ".gz", "rb")
    with opened as file:
        content = file.read()
    zero, kind, dimensions = struct.unpack(">HBB", content[:4])
    if zero != 0 or kind != 8:
        raise ValueError(f"{path} does not hold bytes as IDX has them")
    sizes = struct.unpack(f">{dimensions}I", content[4:4 + 4 * dimensions])
    values = torch.frombuffer(bytearray(content[4 + 4 * dimensions:]), dtype=torch.uint8)
    return values.reshape(sizes)


def rows_of(folder, part):
    """(images, labels); images are N x 1 x 28 x 28, from 0 to 1."""
    images = read_idx(folder, part + "-images-idx3-ubyte").to(torch.float32).unsqueeze(1) / 255
    return images, read_idx(folder, part + "-labels-idx1-ubyte").to(torch.int64)


def initialise(net, rule):
    """Weights from N(0, STD) by "normal:STD", or by X. Glorot, Y. Bengio, "Understanding the
    difficulty of training deep feedforward neural networks", 2010, by "xavier". Biases are as
    PyTorch makes them, so for the program's --init."""
    kind, _, deviation = rule.partition(":")
    for module in net.modules():
        if not isinstance(module, (nn.Conv2d, nn.Linear)):
            continue
        if kind == "normal":
            nn.init.normal_(module.weight, std=float(deviation))
        elif kind == "xavier":
            nn.init.xavier_uniform_(module.weight)
        else:
            raise ValueError(f"no such rule: {rule}")


def entries(net):
    for name, tensor in net.state_dict().items():
        kind = "f" if tensor.dtype == torch.float32 else "q"
        yield name, list(tensor.shape), array.array(kind, tensor.flatten().tolist())


def order_of(folder, epoch, rows):
    """Row numbers: of the file, or drawn where there is no folder."""
    if not folder:
        return torch.randperm(rows)
    numbers = array.array("I")
    with open(os.path.join(folder, str(epoch)), "rb") as file:
        numbers.fromfile(file, rows)
    return torch.tensor(numbers.tolist())


def train_epoch(net, sgd, images, labels, order, layout):
    """The mean loss of the rows, each before the step that it is in; `order`: of the batches."""
    net.train()
    total = 0.0
    for indices in order:
        x = images[indices].contiguous(memory_format=layout)
        loss = functional.cross_entropy(net(x), labels[indices])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        total += loss.item() * len(indices)
    return total / len(labels)


def evaluate(net, images, labels, layout):
    net.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for x, y in zip(images.split(TEST_BATCH), labels.split(TEST_BATCH)):
            logits = net(x.contiguous(memory_format=layout))
            total += functional.cross_entropy(logits, y, reduction="sum").item()
            right += int((logits.argmax(1) == y).sum())
    return total / len(labels), right / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True, choices=list(torch_nets.BUILD))
    parser.add_argument("--init", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--write-initial", metavar="FILE")
    parser.add_argument("--data")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--orders", metavar="DIR")
    parser.add_argument("--train-rows", type=int, default=0, help="use the first rows only; 0: all")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--channels-last", action="store_true")
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    layout = torch.channels_last if args.channels_last else torch.contiguous_format
    net = torch_nets.BUILD[args.model]()
    initialise(net, args.init)
    if args.write_initial:
        parity_data.write_safetensors(args.write_initial, entries(net))
        return
    images, labels = rows_of(args.data, "train")
    if args.train_rows:
        images, labels = images[:args.train_rows], labels[:args.train_rows]
    test = rows_of(args.data, "t10k")
    net = net.to(memory_format=layout)
    sgd = torch.optim.SGD(net.parameters(), lr=args.lr)
    epochs = []
    for epoch in range(args.epochs):
        order = order_of(args.orders, 1 + epoch, len(labels)).split(args.batch)
        train_loss = train_epoch(net, sgd, images, labels, order, layout)
        test_loss, test_acc = evaluate(net, *test, layout)
        epochs.append({"train_loss": train_loss, "test_loss": test_loss, "test_acc": test_acc})
    print(json.dumps({**torch_step.versions(), "epochs": epochs}))


if __name__ == "__main__":
    main()
