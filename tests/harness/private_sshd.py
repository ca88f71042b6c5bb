# SPDX-License-Identifier: MIT
"""A real sshd for one test: on a port of the loopback interface, with keys and configuration of its
own in a folder, for the user that runs the test. Its sessions have `home` as home and runtime
directory, and `program` in their PATH."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time

PATIENCE = 30.0
# The only place that sshd of root insists on, in a namespace where nobody else sees it.
UNDER_ROOT = "mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec \"$@\""


class Unavailable(Exception):
    """There can be no sshd here; the text says why."""


def find_sshd():
    path = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    for tool in ("ssh", "ssh-keygen"):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not installed")
    if not path:
        raise Unavailable("sshd is not installed")
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class PrivateSshd:
    def __init__(self, folder, home, program_folder):
        self.folder = folder
        self.sshd = find_sshd()
        self.port = free_port()
        self.config = os.path.join(folder, "ssh_config")
        self.known = os.path.join(folder, "known_hosts")
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)],
                           check=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        models = "DPARTUI_MODEL_PATH=" + os.environ.get("DPARTUI_MODEL_PATH", "/nowhere")
        self.write("sshd_config", f"""
            Port {self.port}
            ListenAddress 127.0.0.1
            HostKey {self.path('host_key')}
            PidFile none
            AuthorizedKeysFile {self.path('user_key.pub')}
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            PermitRootLogin prohibit-password
            PrintMotd no
            SetEnv HOME={home} XDG_RUNTIME_DIR={home} PATH={program_folder}:/usr/bin:/bin {models}
            """)
        self.write("ssh_config", f"""
            Host gpu1
            HostName 127.0.0.1
            Port {self.port}
            User {getpass.getuser()}
            IdentityFile {self.path('user_key')}
            IdentitiesOnly yes
            UserKnownHostsFile {self.known}
            GlobalKnownHostsFile none
            """)
        self.process = None
        self.start()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write("\n".join(line.strip() for line in text.strip().splitlines()) + "\n")

    def start(self):
        command = [self.sshd, "-D", "-e", "-f", self.path("sshd_config")]
        if os.geteuid() == 0 and not os.path.isdir("/run/sshd"):
            command = ["unshare", "--mount", "sh", "-c", UNDER_ROOT, "sh", *command]
        with open(self.path("sshd.log"), "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True)
        end = time.monotonic() + PATIENCE
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self.close()
                raise Unavailable("sshd does not run here: " + self.log().strip()[-300:])
            time.sleep(0.02)

    def answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                return probe.recv(4) == b"SSH-"
        except OSError:
            return False

    def log(self):
        with open(self.path("sshd.log"), encoding="utf8", errors="replace") as file:
            return file.read()

    def trust(self):
        """As if the user had seen the host's key before."""
        with open(self.path("host_key.pub"), encoding="ascii") as key, \
                open(self.known, "w", encoding="ascii") as known:
            known.write(f"[127.0.0.1]:{self.port} {key.read()}")

    def close(self):
        """The listener, and with its session all connections."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(PATIENCE)
