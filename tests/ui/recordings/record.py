#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the recordings that tests/ui/test_views.c draws: tests/ui/recordings/record.py [FOLDER].

A recording is what passed between a viewer and an engine, one JSON object per line: requests (id
and method), answers (id) and notifications (method).
"""
import json
import os
import socket
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../harness"))
from fake_engine import FakeEngine, list_devices  # noqa: E402


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
        """From here on messages come, and have to be heard."""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
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
ALIKE = dict(ONE, cpu_threads=1)
TWO = {'devices': 'cpu:0-1', 'batch': 512, 'lr': 0.2, 'epochs': 10}
EIGHT = {'devices': 'cuda:0-7', 'batch': 2048, 'lr': 0.8, 'epochs': 20, 'model': 'resnet18'}


def spend_time(engine):
    """Say of the devices that train what their time goes into."""
    for i, device in enumerate(engine.machine):
        if device['device'] in engine.run(engine.live['run'])['devices']:
            device.update(compute_s=7.8 - 0.1 * (i % 8), sync_s=1.2, wait_s=1.0 + 0.1 * (i % 8))


def explain(run, slower=1.12):
    """What an engine knows of its epochs besides: where their time went."""
    devices = list_devices(run['spec']['devices'])
    for point in run['epoch_events']:
        seconds = point['seconds']
        figures = []
        for i, name in enumerate(devices):
            # The last device is the slowest: the others wait for it.
            compute = seconds * (0.93 if i == len(devices) - 1 else 0.93 / slower)
            reduce = seconds * (0.03 if len(devices) > 1 else 0)
            figures.append({'device': name, 'rows': 60000 // len(devices),
                            'samples_per_s': 60000 / len(devices) / compute,
                            'compute_s': compute, 'sync_s': reduce,
                            'wait_s': seconds - compute - reduce})
        point.setdefault('lr', run['lr'])
        point.update(eval_s=0.08 * seconds, devices=figures, rows=60000)


SHORT = {'batch': 256, 'lr': 0.1, 'epochs': 4, 'momentum': 0.9, 'weight_decay': 5e-4, 'seed': 1,
         'split': 'chunk', 'sync': 'allreduce', 'sync_bn': False, 'dtype': 'f32',
         'init': 'normal:0.01', 'order': 'shuffle', 'cpu_threads': 1, 'data_dir': None,
         'train_rows': 0, 'test_rows': 0, 'max_steps': 0, 'save': None, 'log': None}


def profile():
    """Where the steps of four devices spent their time."""
    operations = (('4', 'conv', 'weight gradient', 'oneDNN jit:avx512_core', 9.5, 1.2e12, 2e11),
                  ('4', 'conv', 'data gradient', 'oneDNN jit:avx512_core', 8.25, 1.2e12, 2e11),
                  ('4', 'conv', 'forward', 'oneDNN jit:avx512_core', 7.0, 1.2e12, 2e11),
                  ('0', 'conv', 'forward', 'oneDNN jit:avx512_core', 3.5, 1.5e11, 3e11),
                  ('1', 'batchnorm + relu', 'backward', '', 3.25, 0.0, 4e11),
                  ('1', 'batchnorm + relu', 'forward', '', 2.5, 0.0, 2.5e11),
                  ('9', 'linear', 'forward', '', 0.25, 2e9, 1e9))
    outside = {'input_s': 0.5, 'loss_s': 0.125, 'optimizer_s': 0.25, 'sync_s': 2.0, 'wait_s': 7.0,
               'split_s': 0.125, 'metrics_s': 0.25, 'rest_s': 15.5}
    return {'event': 'profile', 'epoch': 4, 'step': 120, 'steps': 119, 'left_out': 1,
            'seconds': 60.0,
            'devices': [dict(outside, device='cpu:%d' % i, rows=60000, passes_only=False,
                             operations_s=34.25) for i in range(4)],
            'operations': [{'layer': layer, 'kind': kind, 'direction': direction, 'method': method,
                            'calls': [119] * 4, 'seconds': [seconds] * 4, 'flops': flops,
                            'bytes': size}
                           for layer, kind, direction, method, seconds, flops, size in operations]}


def gpu_profile(devices):
    """Where the steps of GPUs spent their time, whose limits are known."""
    conv = ('resnet_block2.0.conv1', 'conv')
    norm = ('resnet_block2.0.bn1', 'batchnorm + relu')
    operations = ((*conv, 'weight gradient', 'cuDNN eng65', 0.25, 1.2e14, 4e11),
                  (*conv, 'forward', 'cuDNN eng7 + sums', 0.2, 1.2e14, 4e11),
                  (*norm, 'weight gradient', 'own kernel', 0.15, 0.0, 6e11),
                  (*norm, 'data gradient', 'own kernel', 0.125, 0.0, 6e11),
                  (*norm, 'forward', 'own kernel', 0.0625, 0.0, 3e10))
    outside = {'input_s': 0.01, 'loss_s': 0.005, 'optimizer_s': 0.01, 'sync_s': 0.05,
               'wait_s': 0.02, 'split_s': 0.01, 'metrics_s': 0.01, 'rest_s': 0.0975}
    return {'event': 'profile', 'epoch': 3, 'step': 120, 'steps': 115, 'left_out': 5,
            'seconds': 1.0, 'unprofiled_steps': 3, 'unprofiled_s': 0.024,
            'devices': [dict(outside, device='cuda:%d' % i, rows=14720, passes_only=False,
                             operations_s=0.7875, flops_limit=1.0705e15, bytes_limit=4.917e12)
                        for i in range(devices)],
            'operations': [{'layer': layer, 'kind': kind, 'direction': direction, 'method': method,
                            'calls': [115] * devices, 'seconds': [seconds] * devices,
                            'flops': flops, 'bytes': size}
                           for layer, kind, direction, method, seconds, flops, size in operations]}


def many_runs(recorder):
    """Twenty runs in every state, the newest ones waiting."""
    engine = recorder.engine
    for i in range(17):
        spec = dict(SHORT, devices='cpu:0-%d' % (i % 4) if i % 4 else 'cpu:0',
                    batch=256 << i % 4, lr=0.1 * 2 ** (i % 4), seed=i + 1,
                    model='resnet18' if i % 3 == 1 else 'smallnet',
                    sync='central' if i == 6 else 'allreduce')
        if i == 9:
            recorder.train(dict(spec, lr=50.0), 1)
            engine.end('failed', 'the loss is not a number since step 471 of epoch 2 (it was 2.31 '
                       'at step 1 and 8.1e+36 at step 470): start again with a lower learning rate,'
                       ' such as 0.1, or with --init default, which suits networks without BatchNorm')
        elif i == 12:
            recorder.train(spec, 2)
            engine.end('stopped')
        else:
            recorder.history(spec)
        explain(engine.run(i + 1))
        engine.run(i + 1)['note'] = {3: 'baseline for the four devices', 6: 'is central slower?',
                                     9: 'far too high on purpose'}.get(i)
    engine.run(4)['profile'] = profile()
    recorder.train(dict(SHORT, devices='cpu:0-1', batch=512, lr=0.2, epochs=10,
                        note='lr lowered by hand'), 3)
    explain(engine.run(18))
    engine.do_set_lr({'run': 18, 'lr': 0.05})
    engine.epoch()
    engine.step(60)
    engine.do_pause({'run': 18})
    engine.do_unpause({'run': 18})
    engine.do_set_epochs({'run': 18, 'epochs': 12})
    engine.epoch()
    engine.step(60)
    explain(engine.run(18))
    for devices in ('cpu:0', 'cpu:0-3'):
        engine.submit(dict(SHORT, devices=devices, model='resnet18', data='cifar10'))


def machine(count, gpus, epochs=3):
    """A machine of `count` devices, all of which train a run; earlier ones had fewer."""
    recorder = Recorder(cpus=count - gpus, gpus=gpus)
    engine = recorder.engine
    names = [device['device'] for device in engine.machine]
    spec = dict(SHORT, model='smallnet', data='fashion-mnist', epochs=epochs)
    for some in (names[:1], names[:max(count // 2, 2)]):
        recorder.history(dict(spec, devices=','.join(some or ['cpu:0']), seed=len(some) + 1,
                              note='with %d of them' % len(some) if some else None))
        explain(engine.runs[-1])
    if count == 0:
        recorder.connect()
        recorder.show_all()
        recorder.ask('log')
        recorder.save(FOLDER, 'machine-0')
        return
    recorder.train(dict(spec, devices=','.join(names), batch=256 * count, lr=0.1 * count,
                        epochs=2 * epochs), 1)
    engine.do_set_lr({'run': 3, 'lr': 0.05 * count})
    engine.epoch()
    explain(engine.runs[-1])
    spend_time(engine)
    engine.step(118)
    recorder.connect()
    recorder.show_all()
    recorder.ask('log')
    engine.submit(dict(spec, devices=names[-1], model='lenet'))
    engine.say('warning', 3, names[-1] + ' is slower than the others, which wait for it in every '
               'step: its clock is held back')
    for _ in range(4):
        engine.step(7)
    recorder.hear_until('"epoch_step": 146')
    recorder.save(FOLDER, 'machine-%d' % count)


def mixed():
    """Two GPUs and a CPU device in one run; a third GPU cannot be used."""
    recorder = Recorder(cpus=1, gpus=3)
    engine = recorder.engine
    engine.machine[2].update(available=False, load=None, memory_used=None,
                             reason='the driver reports: GPU is lost (Xid 79)')
    recorder.train(dict(SHORT, devices='cuda:0-1,cpu:0', batch=300, lr=0.2, dtype='bf16'), 0)
    engine.warn('cpu:0 gets as many rows as cuda:0 (NVIDIA H200), which has to wait for it: --split '
                'auto gives each what it can do')
    engine.epoch()
    explain(engine.runs[-1])
    spend_time(engine)
    engine.step(60)
    recorder.connect()
    recorder.show_all()
    recorder.ask('log')
    recorder.save(FOLDER, 'mixed')


def confusion(name, class_names=None):
    """What the network of a run takes for what."""
    recorder = Recorder()
    recorder.engine.class_names = class_names or recorder.engine.class_names
    recorder.history(dict(ONE, epochs=4))
    recorder.connect()
    recorder.show_all()
    recorder.ask('evaluate', run=1, best=False, confusion=True, background=True)
    recorder.save(FOLDER, name)


def training(**machine_):
    """A run that a viewer has been watching, on two devices; one before it, one behind it."""
    recorder = Recorder(**machine_)
    recorder.history(dict(SHORT, devices='cpu:0', model='smallnet', data='fashion-mnist'))
    recorder.train(dict(SHORT, devices='cpu:0-1', batch=512, lr=0.2, epochs=8), 2)
    for run in recorder.engine.runs:
        explain(run)
    recorder.engine.step(118)
    recorder.engine.submit(dict(SHORT, devices='cpu:0', seed=2, model='smallnet',
                                data='fashion-mnist'))
    recorder.connect()
    recorder.show_all()
    return recorder


def states():
    """What can become of a run and its engine while somebody watches."""
    recorder = training()
    recorder.lines.append(json.dumps({
        'connection': 'lost', 'advice': 'the engine is gone. If it ended, its runs are '
                                        'interrupted and can be resumed. Press e to start another'}))
    recorder.save(FOLDER, 'engine-lost')

    recorder = training()
    recorder.engine.end('failed', 'the loss is not a number at step 589: training has diverged; lr '
                        '0.2 is probably too high for batch 512: try a smaller one')
    recorder.ask('runs')
    recorder.show_all()
    recorder.save(FOLDER, 'diverged')

    recorder = training()
    recorder.engine.say('warning', 2, 'run 2: /home/user/run.jsonl: the log ends early, within a '
                        'line: No space left on device')
    recorder.engine.end('failed', '/home/user/net.safetensors: cannot write: No space left on '
                        'device')
    recorder.ask('runs')
    recorder.show_all()
    recorder.engine.refusal = ('--log /home/user/run.jsonl: cannot write there: No space left on '
                               'device')
    recorder.ask('submit', **dict(SHORT, devices='cpu:0'))
    recorder.save(FOLDER, 'disk-full')

    recorder = Recorder()
    recorder.history(dict(SHORT, devices='cpu:0', model='smallnet', data='fashion-mnist'))
    recorder.train(dict(SHORT, devices='cpu:0-1', batch=512, lr=0.2, epochs=8), 2)
    recorder.engine.submit(dict(SHORT, devices='cpu:0', model='smallnet', data='fashion-mnist'))
    for run in recorder.engine.runs:
        explain(run)
    recorder.engine.do_tag({'run': 1, 'add': ['thesis', 'baseline']})
    recorder.engine.interrupt()
    recorder.connect()
    recorder.show_all()
    recorder.ask('log')
    recorder.save(FOLDER, 'interrupted')

    recorder = training()
    recorder.engine.do_pause({'run': 2})
    recorder.hear_until('"status": "paused"')
    recorder.ask('runs')
    recorder.save(FOLDER, 'paused')

    recorder = training()
    recorder.engine.do_stop({'run': 2, 'when': 'epoch'})
    recorder.hear_until('"stop_after_epoch": true')
    recorder.ask('runs')
    recorder.save(FOLDER, 'stop-after-epoch')

    recorder = training(cpus=4)
    for devices in ('cpu:0-1', 'cpu:0-3', 'cpu:2-3'):
        recorder.engine.submit(dict(SHORT, devices=devices, seed=7, model='smallnet',
                                    data='fashion-mnist'))
        recorder.hear_until('"method": "state"')
    recorder.ask('runs')
    recorder.save(FOLDER, 'queue')


FOLDER = sys.argv[1] if len(sys.argv) > 1 else HERE


def main():
    folder = FOLDER
    for count, gpus in ((0, 0), (1, 0), (2, 0), (8, 8), (16, 8)):
        machine(count, gpus)
    states()
    mixed()
    confusion('confusion')
    confusion('confusion-100', ['kind %d' % i for i in range(99)] + ['nothing\u202e of this'])

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

    recorder = Recorder(cpus=0)
    recorder.connect()
    recorder.save(folder, 'devices-0')

    recorder = Recorder(cpus=16)
    recorder.train({'devices': 'cpu:0-15', 'batch': 1000, 'lr': 0.4, 'epochs': 10}, 2)
    spend_time(recorder.engine)
    recorder.engine.step(118)
    recorder.connect()
    recorder.show_all()
    for _ in range(12):
        recorder.engine.step()
        recorder.hear()
    recorder.save(folder, 'train-16')

    recorder = Recorder(cpus=2, gpus=64)
    recorder.train(dict(EIGHT, devices='cuda:0-63', batch=16384), 1)
    spend_time(recorder.engine)
    recorder.engine.step(60)
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'train-64')

    recorder = Recorder(cpus=1, gpus=2)
    recorder.train(dict(EIGHT, devices='cuda:0-1', batch=257), 2)
    spend_time(recorder.engine)
    recorder.engine.step(60)
    recorder.connect()
    recorder.show_all()
    for _ in range(20):
        recorder.engine.step(2)
        recorder.hear()
    recorder.engine.live.update(status='paused', stop_after_epoch=True)
    recorder.engine.say_state()
    recorder.hear()
    recorder.save(folder, 'sensors')

    # A machine that others use, too.
    recorder = Recorder(cpus=1, gpus=3)
    recorder.engine.use('cuda:1', (4711, 'kim', 61, 0.97, 'python train.py --data imagenet', None),
                        (815, None, None, None, None, "hidden here: another user's or container's"))
    recorder.engine.use('cuda:2', (4242, 'me', 2, 0.02, 'dpartui-engine', None))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'shared')

    recorder = Recorder(cpus=2, gpus=4)
    recorder.train(dict(EIGHT, devices='cuda:0-3', batch=1024), 7)
    recorder.engine.step(60)
    recorder.connect()
    recorder.show_all()
    recorder.engine.lose('cuda:2', 'the GPU has fallen off the bus (Xid 79): restart the machine')
    recorder.hear()
    recorder.save(folder, 'device-lost')

    recorder = Recorder()
    recorder.connect()
    recorder.engine.say('info', 1, 'resnet18 on fashion-mnist, 4 devices')
    recorder.engine.clock += 1000
    recorder.engine.say('warning', 1, 'cuda:1 is slower than the others: its clock is held back by '
                        'its power cap, 1755 of 1980 MHz; the other devices wait for it in every '
                        'step')
    recorder.engine.clock += 86400
    recorder.engine.say('error', 1, 'cuda:2: the GPU has fallen off the bus (Xid 79)')
    recorder.engine.say('info', None, 'ready for the next run')
    recorder.hear_until('ready for')
    recorder.save(folder, 'log')

    recorder = Recorder()
    recorder.history(ALIKE, dict(ALIKE, devices='cpu:0-1'),
                     dict(ALIKE, devices='cpu:0-1', batch=512, lr=0.2))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'compare-2')

    recorder = Recorder()
    for i in range(6):
        devices = ('cpu:0', 'cpu:0-1')[i % 2]
        recorder.history(dict(ALIKE, devices=devices, epochs=5, seed=1 + i // 2,
                              note='compare 1: %d device%s, seed %d (%d/6)' %
                              (1 + i % 2, 's' * (i % 2), 1 + i // 2, 1 + i)))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'seeds')

    recorder = Recorder(cpus=2, gpus=8)
    short = dict(EIGHT, epochs=3)
    for count in (1, 2, 4, 8):
        recorder.history(dict(short, devices='cuda:0-%d' % (count - 1), batch=256, lr=0.1))
    for count in (2, 4, 8):
        recorder.history(dict(short, devices='cuda:0-%d' % (count - 1), batch=256 * count,
                              lr=0.1 * count))
    recorder.engine.run(2)['profile'] = gpu_profile(2)
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'compare-8')

    recorder = Recorder(cpus=4)
    sweep = dict(ALIKE, note='sweep: strong scaling, batch 256 on 1-2-4 devices')
    recorder.history(sweep)
    recorder.train(dict(sweep, devices='cpu:0-1'), 3)
    recorder.engine.submit(dict(sweep, devices='cpu:0-3', model='smallnet', data='fashion-mnist'))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'sweep')

    recorder = Recorder()
    for i in range(12):
        spec = dict(SHORT, devices='cpu:0', batch=(128, 256)[i % 6 // 3],
                    lr=(0.05, 0.1, 0.2)[i % 3], seed=1 + i // 6)
        spec['note'] = ('compare w1: batch %d, lr %g, seed %d (%d/12)' %
                        (spec['batch'], spec['lr'], spec['seed'], 1 + i))
        if i < 9:
            recorder.history(spec)
        elif i == 9:
            recorder.train(spec, 2)
        else:
            recorder.engine.submit(dict(spec, model='smallnet', data='fashion-mnist'))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'grid')

    recorder = Recorder()
    recorder.history(ONE)
    kept = dict(SHORT, devices='cpu:0', epochs=20, validation=0.1, patience=1, save_best='best.st')
    recorder.train(kept, 7)
    recorder.engine.runs[-1]['reason'] = ('no better validation accuracy for 1 epoch: the best '
                                          'is 0.9105, of epoch 6')
    recorder.engine.end()
    recorder.train(kept, 2)
    for run in recorder.engine.runs:
        explain(run)
    recorder.engine.step(118)
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'validation')

    recorder = Recorder()
    for i, optimizer in enumerate(('sgd', 'nesterov', 'adam')):
        recorder.history(dict(SHORT, devices='cpu:0', optimizer=optimizer,
                              note='compare 1: optimizer %s, seed 1 (%d/3)' % (optimizer, 1 + i)))
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'grid-words')

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
    recorder.engine.do_unpause({'run': 5})
    recorder.engine.step(90)
    recorder.connect()
    recorder.show_all()
    recorder.engine.step(20)
    recorder.hear_until('"epoch_step": 110')
    recorder.save(folder, 'curves')

    recorder = Recorder()
    recorder.history(ONE)
    recorder.train(dict(ONE, lr=0.2, lr_schedule='cosine', warmup=1.0), 3)
    recorder.engine.step(118)
    recorder.connect()
    recorder.show_all()
    recorder.save(folder, 'schedule')

    # Its rest is scaled as much as the rate that was set.
    recorder = Recorder()
    recorder.train(dict(ONE, lr=0.2, lr_schedule='cosine', warmup=1.0), 3)
    recorder.engine.step(118)
    recorder.connect()
    recorder.show_all()
    recorder.engine.do_set_lr({'run': 1, 'lr': 0.3})
    recorder.engine.step(60)
    recorder.hear_until('"epoch_step": 178')
    recorder.save(folder, 'schedule-scaled')

    recorder = Recorder(cpus=4)
    many_runs(recorder)
    recorder.connect()
    for number in (4, 7, 10, 13, 18, 20):
        recorder.ask('show', run=number)
    recorder.save(folder, 'runs')


if __name__ == '__main__':
    main()
