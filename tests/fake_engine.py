#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An engine that trains nothing: it speaks docs/protocol.md on the socket of XDG_RUNTIME_DIR and
makes up figures, the same ones every time.

Tests drive a FakeEngine step by step. Run by itself it trains in a loop, to look at the workbench:

    XDG_RUNTIME_DIR=$(mktemp -d) tests/fake_engine.py --devices 2 &
"""
import argparse
import json
import math
import os
import socket
import threading
import time

GIB = 1 << 30


def accuracy(run, epoch, final=0.93):
    """A learning curve that rises and levels off, a little different for each run."""
    wobble = 0.006 * math.sin(3.1 * epoch + run)
    return final - 0.004 * run - 0.22 * math.exp(-0.45 * epoch) + wobble * math.exp(-0.1 * epoch)


# What a run keeps that is not part of a run object.
INSIDE = ('points', 'fine', 'spec')


def list_devices(text):
    """'cpu:0-1,cuda:3' as a list of names."""
    names = []
    for item in text.split(','):
        kind, _, rest = item.rpartition(':')
        first, _, last = rest.partition('-')
        names += ['%s:%d' % (kind or 'cuda', i) for i in range(int(first), int(last or first) + 1)]
    return names


class FakeEngine:
    def __init__(self, runtime_dir, cpus=2, gpus=0, steps=235):
        self.lock = threading.RLock()
        self.clients = []
        self.requests = []          # (method, params), for tests to look at
        self.stalled = threading.Event()
        self.runs = []
        self.live = None
        self.queue = []
        self.steps = steps
        self.machine = [self._device('cuda:%d' % i) for i in range(gpus)]
        self.machine += [self._device('cpu:%d' % i) for i in range(cpus)]
        self.folder = os.path.join(runtime_dir, 'dpartui')
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(self.folder, 'engine.sock')
        self.listen()

    def listen(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.bind(self.path)
        self.server.listen(8)
        threading.Thread(target=self._accept, args=(self.server,), daemon=True).start()

    def close(self):
        """As when the engine dies: no more answers, every connection ends."""
        os.unlink(self.path)
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        with self.lock:
            for client in self.clients:
                client.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _device(name):
        gpu, number = name.startswith('cuda'), int(name.split(':')[1])
        no_link = 'a CPU device has no PCIe link'
        if gpu:
            sensors = {'temperature_c': 56.0 + number, 'power_w': 400.0, 'power_limit_w': 700.0,
                       'clock_mhz': 1755, 'clock_max_mhz': 1980,
                       'throttle': 'power cap' if number == 0 else '',
                       'pcie_rx': (3 + number) * 2 ** 20, 'pcie_tx': (1 + number) * 2 ** 20,
                       'missing': {}}
        else:
            rapl = '/sys/class/powercap/intel-rapl:0'
            sensors = {'temperature_c': 48.0, 'power_w': None, 'power_limit_w': None,
                       'clock_mhz': 2250, 'clock_max_mhz': 3800, 'throttle': None,
                       'pcie_rx': None, 'pcie_tx': None,
                       'missing': {'power_w': rapl + '/energy_uj: only root may read it',
                                   'power_limit_w': rapl + ' has no long-term limit',
                                   'throttle': 'no /sys/devices/system/cpu/cpu*/thermal_throttle, '
                                               'which only Intel CPUs have',
                                   'pcie_rx': no_link, 'pcie_tx': no_link}}
        return {**sensors, 'device': name,
                'name': 'NVIDIA H200' if gpu else 'AMD EPYC 9454, 1 core of AVX-512',
                'cores': 132 if gpu else 1, 'available': True, 'reason': None, 'load': 0.02,
                'memory_used': 2 * GIB, 'memory_total': (139 if gpu else 24) * GIB, 'rows': None,
                'samples_per_s': None, 'state': 'idle', 'compute_s': None, 'sync_s': None,
                'wait_s': None}

    # --- the connection

    def _accept(self, server):
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with self.lock:
                self.clients.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        pending = b''
        while True:
            try:
                got = client.recv(65536)
            except OSError:
                got = b''
            if not got:
                break
            while self.stalled.is_set():
                time.sleep(0.01)
            pending += got
            *lines, pending = pending.split(b'\n')
            for line in lines:
                self._answer(client, json.loads(line))
        with self.lock:
            if client in self.clients:
                self.clients.remove(client)
            client.close()

    def _answer(self, client, request):
        method, params = request['method'], request.get('params') or {}
        reply = {'jsonrpc': '2.0', 'id': request['id']}
        with self.lock:
            try:
                reply['result'] = getattr(self, 'do_' + method)(params)
            except ValueError as error:
                reply['error'] = {'code': -32602, 'message': str(error)}
            self._send([client], reply)
            if method == 'watch':
                self._send([client], self._state())
            # Last, so that a test that waits for the request also has its answer on the way.
            self.requests.append((method, params))

    def _send(self, clients, message):
        data = (json.dumps(message) + '\n').encode()
        for client in clients:
            try:
                client.sendall(data)
            except OSError:
                pass

    # --- requests

    def do_hello(self, params):
        return {'version': '0.1.0', 'pid': 4242, 'protocol': 1}

    def do_watch(self, params):
        return {}

    def do_devices(self, params):
        return self.machine

    def do_runs(self, params):
        return [{k: v for k, v in run.items() if k not in INSIDE} for run in self.runs]

    def do_show(self, params):
        for run in self.runs:
            if run['run'] == params['run']:
                return dict({k: v for k, v in run.items() if k not in INSIDE},
                            spec=run['spec'], epochs=run['points'], points=run['fine'],
                            devices=run['devices'])
        raise ValueError('there is no run %s' % params['run'])

    def do_submit(self, params):
        if params['batch'] == 13:
            raise ValueError('batch 13 is unlucky: use another one')
        return {'run': self.submit(params)}

    def do_stop(self, params):
        return {}

    def do_set_lr(self, params):
        self.retune('lr', params['lr'])
        return {}

    # --- what happens

    def submit(self, spec):
        choice = spec.get('devices') or 'default'
        devices = list_devices(choice) if ':' in choice else [self.machine[0]['device']]
        number = len(self.runs) + 1
        self.runs.append({
            'run': number, 'status': 'queued', 'model': spec.get('model') or 'smallnet',
            'data': spec.get('data') or 'glyphs', 'devices': devices, 'batch': spec['batch'],
            'lr': spec['lr'], 'epochs': spec['epochs'], 'epochs_done': 0, 'test_acc': None,
            'best_test_acc': None, 'train_acc': None, 's_per_epoch': None, 'samples_per_s': None,
            'error': None, 'split': spec.get('split', 'chunk'), 'sync': spec.get('sync', 'allreduce'),
            'seed': spec.get('seed', 1), 'params': 12345, 'points': [], 'fine': [],
            'spec': spec})
        self.queue.append(number)
        self.say_state()
        return number

    def run(self, number):
        return self.runs[number - 1]

    def begin(self):
        """Start the first queued run."""
        with self.lock:
            number = self.queue.pop(0)
            run = self.run(number)
            run['status'] = 'running'
            self.live = {'run': number, 'status': 'running', 'phase': 'train',
                         'model': run['model'], 'data': run['data'], 'batch': run['batch'],
                         'epoch': 1, 'epochs': run['epochs'], 'step': 0,
                         'total_steps': self.steps * run['epochs'], 'epoch_step': 0,
                         'steps_per_epoch': self.steps, 'lr': run['lr'], 'train_loss': None,
                         'train_acc': None, 'samples_per_s': None, 'elapsed_s': 0.0, 'eta_s': None}
            self._event({'run': number, 'event': 'run', 'model': run['model']})
            self.say_state()

    def speed(self, run):
        return 2300.0 * len(run['devices']) ** 0.9

    def step(self, count=1, tell=True):
        with self.lock:
            live = self.live
            run = self.run(live['run'])
            before = live['step']
            live['step'] = min(live['step'] + count, live['total_steps'])
            live['epoch'] = min((live['step'] + self.steps - 1) // self.steps, live['epochs'])
            live['epoch_step'] = live['step'] - (live['epoch'] - 1) * self.steps
            live['samples_per_s'] = self.speed(run) * (1 + 0.02 * math.sin(live['step']))
            live['train_loss'] = 2.3 * math.exp(-live['step'] / 400)
            live['elapsed_s'] = live['step'] * run['batch'] / self.speed(run)
            live['eta_s'] = (live['total_steps'] - live['step']) * run['batch'] / self.speed(run)
            self._points(run, before)
            if tell:
                self.say_state()

    def _points(self, run, before):
        """The points between epochs of the steps since `before`."""
        live = self.live
        stride = max(1, -(-live['total_steps'] // 256))
        for step in range(before // stride * stride + stride, live['step'] + 1, stride):
            epoch = step / self.steps
            noise = 0.012 * math.sin(2.4 * step / stride) + 0.008 * math.sin(0.9 * step / stride)
            value = accuracy(run['run'], epoch) + noise
            point = {'event': 'point', 'epoch': epoch, 'step': step, 'steps': stride,
                     'train_loss': 2.0 * (1 - value) + 0.1 + 1.8 * math.exp(-4 * epoch),
                     'train_acc': min(max(value + 0.01 - 0.7 * math.exp(-4 * epoch), 0), 0.999),
                     'samples_per_s': self.speed(run) * (1 + noise), 'lr': live['lr']}
            run['fine'].append(point)
            self._event(dict(point, run=run['run']))

    def retune(self, what, to=None):
        """A change to the run that goes on: "lr", "epochs", "pause", ..."""
        with self.lock:
            live = self.live
            event = {'event': 'retune', 'epoch': live['epoch'], 'step': live['step'], 'what': what}
            if to is not None:
                event.update({'from': live[what], 'to': to})
                live[what] = to
            self.run(live['run']).setdefault('retunes', []).append(event)
            self._event(dict(event, run=live['run']))

    def epoch(self):
        """Finish the epoch that goes on."""
        with self.lock:
            live = self.live
            run = self.run(live['run'])
            self.step(self.steps - live['step'] % self.steps, tell=False)
            number, epoch = run['run'], live['epoch']
            value = accuracy(number, epoch)
            seconds = self.steps * run['batch'] / self.speed(run)
            point = {'event': 'epoch', 'epoch': epoch, 'step': live['step'],
                     'train_loss': 2.0 * (1 - value) + 0.1, 'train_acc': min(value + 0.01, 0.999),
                     'test_loss': 2.2 * (1 - value) + 0.12, 'test_acc': value,
                     'seconds': seconds, 'samples_per_s': self.speed(run)}
            run['points'].append(point)
            run.update(epochs_done=epoch, test_acc=value, train_acc=point['train_acc'],
                       best_test_acc=max(value, run['best_test_acc'] or 0),
                       s_per_epoch=seconds, samples_per_s=self.speed(run))
            self._event(dict(point, run=number))
            self.say_state()

    def end(self, status='done', error=None):
        with self.lock:
            run = self.run(self.live['run'])
            run['status'], run['error'] = status, error
            self.live = None
            event = {'run': run['run'], 'event': 'end', 'status': status,
                     'epochs': run['epochs_done'], 'test_acc': run['test_acc']}
            if error:
                event['error'] = error
            self._event(event)
            self.say_state()

    def _event(self, params):
        self._send(self.clients, {'jsonrpc': '2.0', 'method': 'event', 'params': params})

    def _state(self):
        devices = [dict(device) for device in self.machine]
        if self.live:
            run = self.run(self.live['run'])
            for name in run['devices']:
                if name not in [device['device'] for device in devices]:
                    devices.append(self._device(name))
            share = -(-run['batch'] // len(run['devices']))
            for i, device in enumerate(d for d in devices if d['device'] in run['devices']):
                device.update(load=0.9 + 0.07 * math.sin(self.live['step'] + i),
                              memory_used=(3 + i) * GIB, state=self.live['phase'],
                              rows=max(min(share, run['batch'] - i * share), 0),
                              samples_per_s=self.speed(run) / len(run['devices'])
                              * (1 + 0.02 * math.sin(self.live['step'] + i)))
        return {'jsonrpc': '2.0', 'method': 'state',
                'params': {'pid': 4242, 'version': '0.1.0', 'host': 'testhost',
                           'queue': self.queue, 'run': self.live, 'devices': devices}}

    def say_state(self):
        with self.lock:
            self._send(self.clients, self._state())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--devices', type=int, default=2)
    parser.add_argument('--gpus', type=int, default=0)
    parser.add_argument('--history', type=int, default=2, help='finished runs at the start')
    parser.add_argument('--wait', type=float, default=0.5, help='seconds between states')
    parser.add_argument('--steps', type=int, default=20, help='steps between states')
    options = parser.parse_args()
    engine = FakeEngine(os.environ['XDG_RUNTIME_DIR'], options.devices, options.gpus)
    for i in range(options.history):
        engine.submit({'devices': 'cpu:0-%d' % i, 'batch': 256 << i, 'lr': 0.1 * 2 ** i,
                       'epochs': 10})
        engine.begin()
        for _ in range(10):
            engine.epoch()
        engine.end()
    engine.submit({'devices': 'cpu:0-%d' % (options.devices - 1), 'batch': 256, 'lr': 0.1,
                   'epochs': 10})
    while True:
        if engine.live is None and engine.queue:
            engine.begin()
        elif engine.live is not None:
            if engine.live['step'] % engine.steps + options.steps >= engine.steps:
                engine.epoch()
                if engine.live['epoch'] >= engine.live['epochs']:
                    engine.end()
            else:
                engine.step(options.steps)
        else:
            engine.say_state()
        time.sleep(options.wait)


if __name__ == '__main__':
    main()
