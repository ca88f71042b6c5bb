#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An engine that trains nothing: it speaks docs/protocol.md on the socket of XDG_RUNTIME_DIR and
makes up figures, the same ones every time.

Tests drive a FakeEngine step by step. Run by itself it trains in a loop, to look at the workbench:

    XDG_RUNTIME_DIR=$(mktemp -d) tests/harness/fake_engine.py --devices 2 &
"""
import argparse
import json
import math
import os
import socket
import threading
import time
import zlib

GIB = 1 << 30
# When the made-up history begins.
BEGIN = 1763650000.0
KILLED = 'the engine crashed or was killed, or the machine went down'
# Steps that a point of a curve sums up, and how many messages are kept.
STRIDE = 20
MESSAGES = 500


def accuracy(run, epoch, final=0.93):
    """A learning curve that rises and levels off, a little different for each run."""
    wobble = 0.006 * math.sin(3.1 * epoch + run)
    return final - 0.004 * run - 0.22 * math.exp(-0.45 * epoch) + wobble * math.exp(-0.1 * epoch)


def rate_share(spec, step, steps, total):
    """Of the learning rate, what the step after `step` others has: constant or cosine."""
    step = min(step, total - 1)
    warmup = round(spec.get('warmup', 0.0) * steps)
    if step < warmup:
        return (step + 1) / (warmup + 1)
    if spec.get('lr_schedule') != 'cosine':
        return 1.0
    return (1 + math.cos(math.pi * (step - warmup) / (total - warmup))) / 2


def list_devices(text):
    """'cpu:0-1,cuda:3' as a list of names."""
    names = []
    for item in text.split(','):
        kind, _, rest = item.rpartition(':')
        first, _, last = rest.partition('-')
        names += ['%s:%d' % (kind or 'cuda', i) for i in range(int(first), int(last or first) + 1)]
    return names

# What the engine fills in for what nobody gave.
DEFAULTS = {'model': None, 'data': None, 'data_dir': None, 'devices': 'default', 'cpu_threads': 0,
            'batch': 256, 'lr': 0.1, 'lr_schedule': 'constant', 'warmup': 0.0,
            'momentum': 0.0, 'weight_decay': 0.0,
            'epochs': 10, 'seed': 1,
            'split': 'chunk', 'sync': 'allreduce', 'sync_bn': False, 'dtype': 'default',
            'init': 'normal:0.01', 'recipe': 'auto', 'order': 'shuffle', 'augment': 'none',
            'deterministic': False, 'train_rows': 0, 'test_rows': 0, 'max_steps': 0,
            'checkpoint_every': '1', 'save': None, 'log': None, 'tensorboard': None,
            'profile': False}

# What comparisons look at by themselves, or what changes no step: see src/spec/likeness.c.
APART = ('model', 'data', 'data_dir', 'split', 'sync', 'devices', 'batch', 'lr', 'epochs', 'seed',
         'cpu_threads', 'micro_batches', 'replicas', 'stages', 'strategy', 'recipe')


def likeness(spec):
    """A number that is the same for runs that may be compared."""
    rest = {key: value for key, value in {**DEFAULTS, **spec}.items() if key not in APART}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode()) or 1



class FakeEngine:
    def __init__(self, runtime_dir, cpus=2, gpus=0, steps=235):
        self.lock = threading.RLock()
        self.clients = []
        self.requests = []          # (method, params), for tests to look at
        self.refusal = None         # why no run can be submitted
        self.no_gpus = None if gpus else 'no NVIDIA driver is loaded'
        self.stalled = threading.Event()
        self.class_names = ['t-shirt', 'trouser', 'pullover', 'dress', 'coat', 'sandal', 'shirt',
                            'sneaker', 'bag', 'ankle boot']
        self.runs = []
        self.live = None
        self.queue = []
        self.submitted = 0
        self.interrupted = []
        self.edits = None           # None: not told, as by an older engine
        self.messages = []
        self.clock = BEGIN
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

    def leave(self):
        """As when it is told to end."""
        with self.lock:
            self._send(self.clients, {'jsonrpc': '2.0', 'method': 'leaving', 'params': {}})
        self.close()

    @staticmethod
    def _device(name):
        gpu, number = name.startswith('cuda'), int(name.split(':')[1])
        no_link = 'a CPU device has no PCIe link'
        if gpu:
            sensors = {'temperature_c': 56.0 + number, 'power_w': 400.0, 'power_limit_w': 700.0,
                       'clock_mhz': 1755, 'clock_max_mhz': 1980,
                       'throttle': 'power cap' if number == 0 else '',
                       'pcie_rx': (3 + number) * 2 ** 20, 'pcie_tx': (1 + number) * 2 ** 20,
                       'tensor_load': 0.0, 'memory_load': 0.01, 'missing': {}}
        else:
            rapl = '/sys/class/powercap/intel-rapl:0'
            sensors = {'temperature_c': 48.0, 'power_w': None, 'power_limit_w': None,
                       'clock_mhz': 2250, 'clock_max_mhz': 3800, 'throttle': None,
                       'pcie_rx': None, 'pcie_tx': None,
                       'missing': {'power_w': rapl + '/energy_uj: only root may read it',
                                   'power_limit_w': rapl + ' has no long-term limit',
                                   'throttle': 'no /sys/devices/system/cpu/cpu*/thermal_throttle '
                                               '(only on Intel, not in virtual machines)',
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
            except LookupError as error:
                reply['error'] = {'code': -32001, 'message': error.args[0]}
            except RuntimeError as error:
                reply['error'] = {'code': -32000, 'message': str(error)}
            self._send([client], reply)
            if method == 'watch':
                self._send([client], self._state())
            # Last, so that a test that waits for the request also has its answer on the way.
            if method != 'check':   # which come with every change of the form
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
        told, self.interrupted = self.interrupted, []
        return {'interrupted': told} if told else {}

    def do_status(self, params):
        return {'running': True, 'pid': 4242, 'version': '0.1.0', 'run': None,
                'no_gpus': self.no_gpus}

    def do_devices(self, params):
        return self.machine

    @staticmethod
    def _run_object(run):
        """What 'runs' has of a run: its lists are only counted or left to 'show'."""
        return dict({k: v for k, v in run.items() if k not in ('epoch_events', 'points', 'spec', 'checkpoint', 'profile')},
                    retunes=len(run['retunes']))

    def do_runs(self, params):
        return [self._run_object(run) for run in self.runs]

    def do_show(self, params):
        run = self.run(params['run'])
        types = ['bf16' if name.startswith('cuda') else 'f32' for name in run['devices']]
        profile = {'profile': run['profile']} if 'profile' in run else {}
        return dict(self._run_object(run), spec=run['spec'], types=types, epochs=run['epoch_events'],
                    points=run['points'], retunes=run['retunes'], shares=[],
                    checkpoint=run['checkpoint'], **profile)

    def do_evaluate(self, params):
        """A thousand rows of each class, of which some are taken for others, mostly for the ones
        next to it."""
        run = self.run(params['run'])
        if not run['checkpoint']:
            raise RuntimeError('run %d has no checkpoint in /checkpoints' % run['run'])
        count = len(self.class_names)
        matrix = [[(5 * k + 11 * j * j + 7 * k * j) % 31 * 6 // (1 + abs(k - j)) // (1 + k % 3)
                   for j in range(count)] for k in range(count)]
        for k, row in enumerate(matrix):
            row[k] = 1000 - sum(row) + row[k]
        done = run['checkpoint']['steps']
        right = sum(matrix[k][k] for k in range(count))
        return {'file': '/checkpoints/%d/step-%08d.safetensors' % (run['run'], done),
                'model': run['model'], 'data': run['data'], 'devices': run['devices'],
                'classes': count, 'dtype': 'f32', 'test_rows': 1000 * count,
                'test_acc': right / 1000 / count, 'test_loss': 0.3, 'seconds': 1.25,
                'warnings': [], 'checkpoint': {'epochs': run['epochs_done'], 'steps': done},
                'class_names': self.class_names, 'confusion': matrix}

    def do_cancel(self, params):
        return {'cancelled': 0}

    def do_check(self, params):
        params = self._fill(params)
        model = params.get('model')
        if model not in (None, '', 'smallnet', 'resnet18', 'lenet', 'linear', 'cifar-cnn',
                         'alexnet', 'mobilenet-small'):
            raise ValueError('no model \'%s\'' % model)
        gpu = any(device['device'].startswith('cuda') for device in self.machine)
        return dict(params, model=model or ('resnet18' if gpu else 'smallnet'),
                    data=params.get('data') or 'glyphs', train_rows=60000)

    @staticmethod
    def _fill(params):
        """With what nobody gave."""
        given = {name: 'given' for name in params if name in DEFAULTS}
        return dict(DEFAULTS, **params, origins=given)

    def do_submit(self, params):
        if 'resume' in params:
            return {'run': self._resume_run(**params)}
        params = self._fill(params)
        if params['batch'] == 13:
            raise ValueError('batch 13 is unlucky: use another one')
        if self.refusal:
            raise RuntimeError(self.refusal)
        return {'run': self.submit(params)}

    def _resume_run(self, resume, epochs=None, devices=None):
        run = self.run(resume)
        if run['status'] in ('queued', 'running'):
            raise RuntimeError('run %d has not ended' % resume)
        if run['checkpoint'] is None:
            raise RuntimeError('run %d left no checkpoint to resume from' % resume)
        run.update(status='queued', error=None, ended_at=None, epochs=epochs or run['epochs'],
                   devices=list_devices(devices) if devices else run['devices'])
        self.queue.append(resume)
        self.say_state()
        return resume

    def do_tag(self, params):
        run = self.run(params['run'])
        run['tags'] = sorted((set(run['tags']) | set(params.get('add', [])))
                             - set(params.get('remove', [])))
        self.edited()
        return {}

    def interrupt(self):
        """As if the engine had been killed and another one been started."""
        with self.lock:
            self.live = None
            self.queue = []
            for run in self.runs:
                if run['status'] in ('queued', 'running', 'paused'):
                    run.update(status='interrupted', error=KILLED)
                    self.interrupted.append(run['run'])
                    self.say('warning', run['run'], 'run %d was interrupted: the engine before '
                             'this one crashed or was killed' % run['run'])

    def do_stop(self, params):
        """Of the running run only what concerns its epoch: tests end it when they want."""
        run, when = self.run(params['run']), params.get('when', 'step')
        if when not in ('step', 'epoch', 'now', 'never'):
            raise ValueError("'when' must be step, epoch, now or never")
        if run['status'] == 'queued' and when != 'never':
            self.queue.remove(run['run'])
            self._finish(run, 'cancelled', None)
        elif self._is_running(run):
            if when in ('epoch', 'never') and (when == 'epoch') != run['stop_after_epoch']:
                run['stop_after_epoch'] = self.live['stop_after_epoch'] = when == 'epoch'
                self._retune('stop_after_epoch' if when == 'epoch' else 'go_on')
        elif run['status'] != 'queued':
            raise RuntimeError('run %d has ended already' % run['run'])
        self.say_state()
        return {}

    def _change(self, params, key):
        """lr or epochs of a waiting run or of the running one."""
        run = self.run(params['run'])
        before, run[key] = run[key], params[key]
        if self._is_running(run):
            values = {'from': before, 'to': params[key]}
            if key == 'lr' and self.live.get('lr_schedule'):
                values.update({'from': self.live['lr'], 'scale': params['lr'] / self.live['lr']})
                run['lr'] = params['lr'] / self._share(self.live['step'])
            self.highest_lr = run['lr']
            self.live[key] = params[key]
            self.live['total_steps'] = self.steps * run['epochs']
            self._retune(key, values)
        elif run['status'] != 'queued':
            run[key] = before
            raise RuntimeError('run %d has ended already' % run['run'])
        else:
            run['spec'] = dict(run['spec'], **{key: params[key]})
        self.say_state()
        return {}

    def do_set_lr(self, params):
        return self._change(params, 'lr')

    def do_set_epochs(self, params):
        run = self.run(params['run'])
        if params['epochs'] < 1:
            raise ValueError("'epochs' must be a whole number from 1 to 1000000")
        if self._is_running(run) and params['epochs'] < self.live['epoch']:
            raise RuntimeError('run %d is in epoch %d: it cannot have fewer than %d'
                               % (run['run'], self.live['epoch'], self.live['epoch']))
        return self._change(params, 'epochs')

    def _set_paused(self, params, paused):
        run = self.run(params['run'])
        if not self._is_running(run):
            raise RuntimeError('run %d is %s: only a running run can be paused'
                               % (run['run'], run['status']))
        if paused != (run['status'] == 'paused'):
            run['status'] = self.live['status'] = 'paused' if paused else 'running'
            self._retune('pause' if paused else 'resume')
            self.say_state()
        return {}

    def do_pause(self, params):
        return self._set_paused(params, True)

    def do_unpause(self, params):
        return self._set_paused(params, False)

    def do_move(self, params):
        run = self.run(params['run'])
        if run['status'] != 'queued':
            raise RuntimeError('run %d is %s: only a queued run has a place in the queue'
                               % (run['run'], run['status']))
        self.queue.remove(run['run'])
        self.queue.insert(params['place'], run['run'])
        self.say_state()
        return {}

    def do_delete(self, params):
        run = self.run(params['run'])
        if run['status'] == 'queued' or self._is_running(run):
            raise RuntimeError('run %d is %s: only a run that has ended can be deleted; stop it '
                               'first' % (run['run'], run['status']))
        self.runs.remove(run)
        self.say('info', run['run'], 'run %d is deleted' % run['run'])
        self.edited()
        return {}

    def do_checkpoints(self, params):
        runs = [run for run in self.runs if run['run'] in params['runs'] and run['checkpoint']]
        return {'runs': params['runs'], 'count': 2 * len(runs), 'bytes': 21600000 * len(runs)}

    def do_note(self, params):
        text = params['text']
        if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text):
            raise ValueError("'text' must be one line without control characters")
        self.run(params['run'])['note'] = text or None
        self.edited()
        return {}

    def do_log(self, params):
        return self.messages[-params.get('limit', MESSAGES):]

    # --- what happens

    def submit(self, spec):
        spec = {'batch': 256, 'lr': 0.1, 'epochs': 10, **spec}
        note = spec.pop('note', None)
        choice = spec.get('devices') or 'default'
        devices = list_devices(choice) if ':' in choice else [self._first()]
        self.submitted += 1
        number = self.submitted
        self.runs.append({
            'run': number, 'status': 'queued', 'model': spec.get('model') or 'smallnet',
            'data': spec.get('data') or 'glyphs', 'devices': devices, 'batch': spec['batch'],
            'lr': spec['lr'], 'epochs': spec['epochs'], 'epochs_done': 0, 'test_acc': None,
            'best_test_acc': None, 'train_acc': None, 's_per_epoch': None, 'samples_per_s': None,
            'error': None, 'split': spec.get('split', 'chunk'), 'sync': spec.get('sync', 'allreduce'),
            'seed': spec.get('seed', 1), 'params': 12345, 'note': note or None,
            'strategy': spec.get('strategy', 'data'), 'likeness': likeness(spec),
            'threads': spec['cpu_threads'] if isinstance(spec.get('cpu_threads'), int) else 0,
            'stop_after_epoch': False, 'submitted_at': self.clock, 'started_at': None,
            'ended_at': None, 'warnings': [], 'tags': [],
            'checkpoint': None, 'epoch_events': [], 'points': [], 'retunes': [], 'spec': spec})
        self.queue.append(number)
        self.say('info', number, 'run %d is submitted: batch %d, lr %g, %d epochs'
                 % (number, spec['batch'], spec['lr'], spec['epochs']))
        self.say_state()
        return number

    def _first(self):
        return self.machine[0]['device'] if self.machine else 'cpu:0'

    def run(self, number):
        for run in self.runs:
            if run['run'] == number:
                return run
        raise LookupError('there is no run %s' % number)

    def _is_running(self, run):
        return self.live is not None and self.live['run'] == run['run']

    def say(self, level, run, text, time=None):
        """A message of the engine."""
        message = {'number': len(self.messages), 'time': self.clock if time is None else time, 'level': level, 'run': run,
                   'text': text}
        self.messages.append(message)
        self._send(self.clients, {'jsonrpc': '2.0', 'method': 'log', 'params': message})

    def warn(self, text):
        """The preflight check of the running run has found something."""
        run = self.run(self.live['run'])
        run['warnings'].append(text)
        self._event({'run': run['run'], 'event': 'warning', 'text': text})
        self.say('warning', run['run'], 'run %d: %s' % (run['run'], text))

    def lose(self, name, reason):
        """A device is not there any more."""
        with self.lock:
            for device in self.machine:
                if device['device'] == name:
                    device.update(available=False, reason=reason, load=None, memory_used=None)
            self.say_state()

    def use(self, name, *processes):
        """Processes are on a GPU: of (pid, user, GiB, load, command, reason); the engine's is 4242."""
        names = ('pid', 'user', 'memory', 'load', 'command', 'reason')
        listed = [dict(zip(names, process), own=process[0] == 4242) for process in processes]
        for process in listed:
            process['memory'] = process['memory'] and process['memory'] * GIB
        with self.lock:
            for device in self.machine:
                if device['device'] == name:
                    device.update(processes=listed, process_count=len(listed))
                    device['memory_used'] += sum(process['memory'] or 0 for process in listed)
                    device['load'] = max(process['load'] or 0 for process in listed)

    def _retune(self, what, values=None):
        """A change of the running run takes effect."""
        run = self.run(self.live['run'])
        event = {'event': 'retune', 'epoch': self.live['epoch'], 'step': self.live['step'],
                 'total_steps': self.live['total_steps'], 'what': what, **(values or {})}
        run['retunes'].append(event)
        self.live['retunes'] = len(run['retunes'])
        self._event(dict(event, run=run['run']))
        self.say('info', run['run'], 'run %d: %s after step %d'
                 % (run['run'], '%s %g -> %g' % (what, values['from'], values['to'])
                    if values else what, self.live['step']))

    def begin(self):
        """Start the first queued run."""
        with self.lock:
            number = self.queue.pop(0)
            run = self.run(number)
            run['status'] = 'running'
            run['started_at'] = self.clock
            self.live = {'run': number, 'status': 'running', 'phase': 'train',
                         'model': run['model'], 'data': run['data'], 'batch': run['batch'],
                         'epoch': 1, 'epochs': run['epochs'], 'step': 0,
                         'total_steps': self.steps * run['epochs'], 'epoch_step': 0,
                         'steps_per_epoch': self.steps, 'lr': None, 'train_loss': None,
                         'train_acc': None, 'samples_per_s': None, 'elapsed_s': 0.0, 'eta_s': None,
                         'stop_after_epoch': False, 'retunes': 0}
            self.highest_lr = run['lr']
            if run['spec'].get('lr_schedule', 'constant') != 'constant':
                self.live.update(lr_schedule=run['spec']['lr_schedule'],
                                 warmup=run['spec'].get('warmup', 0.0))
            self.live['lr'] = self.highest_lr * self._share(0)
            self._event({'run': number, 'event': 'run', 'model': run['model']})
            self.say('info', number, 'run %d begins: %s on %s' % (number, run['model'],
                                                                  run['data']))
            self.say_state()

    def _share(self, step):
        spec = self.run(self.live['run'])['spec']
        return rate_share(spec, step, self.steps, self.live['total_steps'])

    def speed(self, run):
        return 2300.0 * len(run['devices']) ** 0.9

    def step(self, count=1, tell=True):
        with self.lock:
            live = self.live
            run = self.run(live['run'])
            before = live['step']
            live['step'] = min(live['step'] + count, live['total_steps'])
            self.clock += (live['step'] - before) * run['batch'] / self.speed(run)
            live['epoch'] = min((live['step'] + self.steps - 1) // self.steps, live['epochs'])
            live['epoch_step'] = live['step'] - (live['epoch'] - 1) * self.steps
            live['samples_per_s'] = self.speed(run) * (1 + 0.02 * math.sin(live['step']))
            live['lr'] = self.highest_lr * self._share(live['step'])
            live['train_loss'] = 2.3 * math.exp(-live['step'] / 400)
            live['elapsed_s'] = live['step'] * run['batch'] / self.speed(run)
            live['eta_s'] = (live['total_steps'] - live['step']) * run['batch'] / self.speed(run)
            for step in range(before // STRIDE + 1, live['step'] // STRIDE + 1):
                self._point(run, step * STRIDE)
            if tell:
                self.say_state()

    def _point(self, run, step):
        """Of the STRIDE steps that end with `step`."""
        epoch = step / self.steps
        value = accuracy(run['run'], epoch)
        point = {'event': 'point', 'epoch': epoch, 'step': step, 'steps': STRIDE,
                 'train_loss': 2.0 * (1 - value) + 0.1, 'train_acc': min(value + 0.01, 0.999),
                 'samples_per_s': self.speed(run) * (1 + 0.02 * math.sin(step)),
                 'lr': self.highest_lr * self._share(step - 1)}
        run['points'].append(point)
        self._event(dict(point, run=run['run']))

    def epoch(self):
        """Finish the running epoch."""
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
            # What the devices lose to ideal scaling goes into all-reduce.
            lost = 1 - len(run['devices']) ** -0.1
            point.update(compute_s=seconds * (0.98 - lost), sync_s=seconds * lost,
                         wait_s=seconds * 0.02)
            validates = 'validation' in run['spec']
            if validates:   # the test rows are for the end
                point.update(val_loss=point['test_loss'], val_acc=value, test_loss=None,
                             test_acc=None)
                run.update(val_acc=value, best_val_acc=max(value, run.get('best_val_acc') or 0))
            run['epoch_events'].append(point)
            run['checkpoint'] = {'steps': self.live['step'], 'time': self.clock}
            if not validates:
                run.update(test_acc=value, best_test_acc=max(value, run['best_test_acc'] or 0))
            run.update(epochs_done=epoch, train_acc=point['train_acc'],
                       s_per_epoch=seconds, samples_per_s=self.speed(run))
            self._event(dict(point, run=number))
            self.say_state()

    def end(self, status='done', error=None):
        with self.lock:
            run = self.run(self.live['run'])
            self.live = None
            self._finish(run, status, error)
            self.say_state()

    def _finish(self, run, status, error):
        run.update(status=status, error=error, stop_after_epoch=False, ended_at=self.clock)
        if 'val_acc' in run and status == 'done':
            run['test_acc'] = run['val_acc'] - 0.0125
        event = {'run': run['run'], 'event': 'end', 'status': status,
                 'epochs': run['epochs_done'], 'test_acc': run['test_acc']}
        if error:
            event['error'] = error
        self._event(event)
        self.say('error' if error else 'info', run['run'],
                 'run %d failed: %s' % (run['run'], error) if error else
                 'run %d is %s' % (run['run'], status))

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
                if device['device'].startswith('cuda'):
                    device.update(tensor_load=0.44 + 0.02 * i, memory_load=0.31 + 0.02 * i)
        return {'jsonrpc': '2.0', 'method': 'state',
                'params': {'pid': 4242, 'version': '0.1.0', 'host': 'testhost',
                           'queue': self.queue, 'run': self.live, 'no_gpus': self.no_gpus,
                           'devices': devices,
                           **({} if self.edits is None else {'edits': self.edits})}}

    def edited(self):
        """The list has something new that no event tells."""
        if self.edits is not None:
            self.edits += 1
        self.say_state()

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
    engine.submit({'devices': ','.join(device['device'] for device in engine.machine) or 'default',
                   'batch': 256, 'lr': 0.1, 'epochs': 10})
    while True:
        if engine.live is None and engine.queue:
            engine.begin()
        elif engine.live is not None and engine.live['status'] == 'paused':
            engine.say_state()
        elif engine.live is not None:
            if engine.live['step'] % engine.steps + options.steps >= engine.steps:
                engine.epoch()
                if engine.live['epoch'] >= engine.live['epochs']:
                    engine.end()
                elif engine.live['stop_after_epoch']:
                    engine.end('stopped')
            else:
                engine.step(options.steps)
        else:
            engine.say_state()
        time.sleep(options.wait)


if __name__ == '__main__':
    main()
