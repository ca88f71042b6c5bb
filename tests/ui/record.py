#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the recordings that tests/test_views.c draws: tests/ui/record.py [FOLDER].

A recording is what passed between a viewer and an engine, one JSON object per line: requests (id
and method), answers (id) and notifications (method).
"""
import json
import os
import socket
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from fake_engine import FakeEngine  # noqa: E402


class Recorder:
    """A viewer that writes down everything it says and hears."""

    def __init__(self, **machine):
        self.folder = tempfile.TemporaryDirectory()
        self.engine = FakeEngine(self.folder.name, **machine)
        self.lines = []
        self.last = 0

    def history(self, *runs):
        for spec in runs:
            self.train(spec, spec['epochs'])
            self.engine.end()

    def train(self, spec, epochs):
        self.engine.submit(dict({'model': 'smallnet', 'data': 'fashion-mnist'}, **spec))
        self.engine.begin()
        for _ in range(epochs):
            self.engine.epoch()

    def ask(self, method, **params):
        self.last += 1
        request = {'jsonrpc': '2.0', 'id': self.last, 'method': method, 'params': params}
        self.lines.append(json.dumps(request))
        self.socket.sendall((self.lines[-1] + '\n').encode())
        while self.hear().get('id') != self.last:
            pass

    def hear(self):
        self.lines.append(self.file.readline().rstrip('\n'))
        return json.loads(self.lines[-1])

    def connect(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(self.engine.path)
        self.file = self.socket.makefile('r')
        self.ask('hello', version='0.1.0')
        self.ask('watch', interval=1.0)
        self.hear()
        self.ask('runs')

    def show_all(self):
        for run in self.engine.runs:
            self.ask('show', run=run['run'])

    def hear_until(self, text):
        while text not in self.lines[-1]:
            self.hear()

    def save(self, folder, name):
        with open(os.path.join(folder, name + '.jsonl'), 'w') as out:
            out.write('\n'.join(self.lines) + '\n')
        self.engine.close()
        self.file.close()
        self.socket.close()
        self.folder.cleanup()


ONE = {'devices': 'cpu:0', 'batch': 256, 'lr': 0.1, 'epochs': 10}
TWO = {'devices': 'cpu:0-1', 'batch': 512, 'lr': 0.2, 'epochs': 10}
EIGHT = {'devices': 'cuda:0-7', 'batch': 2048, 'lr': 0.8, 'epochs': 20, 'model': 'resnet18'}


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else HERE

    recorder = Recorder()
    recorder.connect()
    recorder.save(folder, 'idle')

    recorder = Recorder()
    recorder.train(ONE, 0)
    recorder.engine.step(118)
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'train-1')

    recorder = Recorder()
    recorder.history(ONE)
    recorder.train(TWO, 3)
    recorder.engine.step(118)
    recorder.connect()
    recorder.show_all()
    recorder.engine.step(20)
    recorder.hear_until('"epoch_step": 138')
    recorder.engine.epoch()
    recorder.hear_until('"event": "epoch"')
    recorder.hear()
    recorder.save(folder, 'train-2')

    recorder = Recorder(cpus=2, gpus=8)
    recorder.history(dict(EIGHT, devices='cuda:0', batch=256, lr=0.1),
                     dict(EIGHT, devices='cuda:0-3', batch=1024, lr=0.4))
    recorder.train(EIGHT, 7)
    recorder.engine.step(60)
    recorder.engine.submit(dict(EIGHT, devices='cuda:0-1'))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'train-8')

    recorder = Recorder()
    recorder.history(ONE, TWO, dict(TWO, sync='central'))
    recorder.train(dict(ONE, lr=50.0), 2)
    recorder.engine.end('failed', 'the loss is not a number since step 471: lower lr')
    recorder.train(ONE, 4)
    recorder.engine.end('stopped')
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'finished')

    recorder = Recorder()
    recorder.history(ONE, TWO, dict(ONE, lr=0.4), dict(TWO, sync='central'))
    recorder.train(TWO, 2)
    recorder.engine.step(118)
    recorder.engine.do_set_lr({'run': 5, 'lr': 0.05})
    recorder.engine.epoch()
    recorder.engine.do_pause({'run': 5})
    recorder.engine.do_resume({'run': 5})
    recorder.engine.step(90)
    recorder.connect()
    recorder.show_all()
    recorder.engine.step(20)
    recorder.hear_until('"epoch_step": 110')
    recorder.save(folder, 'curves')


if __name__ == '__main__':
    main()
