# SPDX-License-Identifier: MIT
"""Other hosts without any: an `ssh` that runs the command here, with a home of its own per host.

    hosts = FakeSsh(folder)         # folder/NAME is the home and runtime directory of host NAME
    hosts.add("gpu1")
    hosts.configure(config_home)    # dpartui.conf with ssh = "..."
"""

import os
import signal
import stat
import time

SCRIPT = r"""#!/bin/sh
hosts=$(dirname "$0")/hosts
printf '%s\n' "$*" >>"$hosts.log"
while :; do
    case $1 in
    -o) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
name=${1#*@}
home=$hosts/$name
shift
if ! test -d "$home"; then
    echo "ssh: Could not resolve hostname $name: Name or service not known" >&2
    exit 255
elif test -e "$home/down"; then
    echo "ssh: connect to host $name port 22: No route to host" >&2
    exit 255
fi
echo $$ >>"$home/pids"
unset DPARTUI_HOST XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME NO_COLOR
export HOME="$home" XDG_RUNTIME_DIR="$home" PATH="$home/bin:/usr/bin:/bin"
cd "$home" && exec sh -c "exec $*"
"""


class FakeSsh:
    def __init__(self, folder, build):
        self.folder = folder
        self.hosts = os.path.join(folder, "hosts")
        self.script = os.path.join(folder, "fake-ssh")
        self.program = os.path.join(os.path.abspath(build), "dpartui")
        os.mkdir(self.hosts)
        with open(self.script, "w", encoding="ascii") as file:
            file.write(SCRIPT)
        os.chmod(self.script, stat.S_IRWXU)

    def add(self, name):
        """A host with dpartui on it; returns its home."""
        home = os.path.join(self.hosts, name)
        os.makedirs(os.path.join(home, "bin"), mode=0o700)
        os.chmod(home, 0o700)
        os.symlink(self.program, os.path.join(home, "bin", "dpartui"))
        return home

    def replace_program(self, name, text):
        """Another program is called dpartui over there; None: there is none."""
        path = os.path.join(self.hosts, name, "bin", "dpartui")
        os.unlink(path)
        if text is not None:
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, stat.S_IRWXU)

    def set_down(self, name, down=True):
        """The host is not reached any more, by connections from now on; or it is again."""
        path = os.path.join(self.hosts, name, "down")
        if down:
            with open(path, "w", encoding="ascii"):
                pass
        else:
            os.unlink(path)

    def kill(self, name, number=signal.SIGKILL):
        """End the newest connection to the host, as when its ssh is killed."""
        with open(os.path.join(self.hosts, name, "pids"), encoding="ascii") as file:
            os.kill(int(file.read().split()[-1]), number)

    def calls(self):
        """The arguments of every ssh so far, a line each."""
        try:
            with open(self.hosts + ".log", encoding="utf8") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def configure(self, config_home, hosts=()):
        os.makedirs(os.path.join(config_home, "dpartui"), exist_ok=True)
        with open(os.path.join(config_home, "dpartui", "dpartui.conf"), "w",
                  encoding="ascii") as file:
            file.write('ssh = "%s";\n' % self.script)
            file.write('hosts = ( %s );\n' % ", ".join('"%s"' % host for host in hosts))

    def wait_calls(self, count, patience):
        end = time.monotonic() + patience
        while len(self.calls()) < count:
            if time.monotonic() > end:
                raise AssertionError("%d calls of ssh, not %d" % (len(self.calls()), count))
            time.sleep(0.02)
