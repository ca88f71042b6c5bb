# SPDX-License-Identifier: MIT
"""The program's networks as PyTorch modules, and the passes over rows that the tests compare.

The names of a module's state_dict are those of the program's weight files. Needs torch.
"""

import torch
from torch import nn
from torch.nn import functional

MEAN_STD = {"cifar-cnn": (0.5, 0.5)}


class Residual(nn.Module):
    """The residual unit of Dive into Deep Learning: no BatchNorm on the shortcut."""

    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, padding=1, stride=stride)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        if before != width:
            self.conv3 = nn.Conv2d(before, width, 1, stride=stride)
        else:
            self.conv3 = None
        self.bn1 = nn.BatchNorm2d(width)
        self.bn2 = nn.BatchNorm2d(width)

    def forward(self, x):
        y = functional.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return functional.relu(y + (self.conv3(x) if self.conv3 else x))


def resnet18(channels=1, classes=10):
    net = nn.Sequential(nn.Conv2d(channels, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU())
    before = 64
    for block, width in enumerate((64, 128, 256, 512), start=1):
        units = [Residual(before, width, 1 if width == before else 2), Residual(width, width, 1)]
        net.add_module(f"resnet_block{block}", nn.Sequential(*units))
        before = width
    net.add_module("global_avg_pool", nn.AdaptiveAvgPool2d((1, 1)))
    net.add_module("fc", nn.Sequential(nn.Flatten(), nn.Linear(512, classes)))
    return net


class CifarCnn(nn.Module):
    def __init__(self, channels=3, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.fc1(x.flatten(1)))
        return self.fc3(functional.relu(self.fc2(x)))


def smallnet(channels=1, classes=10, side=28):
    return nn.Sequential(
        nn.Conv2d(channels, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * (side // 4) ** 2, classes))


def lenet(channels=1, classes=10):
    """For 28x28 pixels, as Dive into Deep Learning builds it."""
    return nn.Sequential(
        nn.Conv2d(channels, 6, 5, padding=2), nn.Sigmoid(), nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5), nn.Sigmoid(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.Sigmoid(), nn.Linear(120, 84), nn.Sigmoid(),
        nn.Linear(84, classes))


BUILD = {"resnet18": resnet18, "cifar-cnn": CifarCnn, "smallnet": smallnet, "lenet": lenet}


def load_entries(net, entries):
    """Fill `net` from (name, shape, array) entries; every name must be there and no other."""
    state = {}
    for name, shape, values in entries:
        dtype = torch.float32 if values.typecode == "f" else torch.int64
        state[name] = torch.frombuffer(values, dtype=dtype).reshape(shape)
    net.load_state_dict(state, strict=True)


def tensors(model, shape, labels, pixels, dtype=torch.float32):
    """(x, y) as `model` sees them: pixel / 255, then (x - mean) / std where the model has those."""
    x = torch.frombuffer(bytearray(pixels), dtype=torch.uint8).reshape(len(labels), *shape)
    x = x.to(dtype) / 255
    if model in MEAN_STD:
        mean, std = MEAN_STD[model]
        x = (x - mean) / std
    return x, torch.tensor(list(labels), dtype=torch.int64)


def evaluate(net, x, y):
    """(mean loss, rows right, logits) with running statistics."""
    net.eval()
    with torch.no_grad():
        logits = net(x)
        loss = functional.cross_entropy(logits, y)
    net.train()
    return float(loss), int((logits.argmax(1) == y).sum()), logits
