#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Hosts on this machine: namespaces.sh [--hosts N] [--rate RATE] [--own-cpus] COMMAND...
#
# Runs COMMAND on the first of N hosts (2), h1 ... hN. Each has a network, a name and temporary files
# of its own (namespaces of Linux), and a line of RATE, such as 1gbit (without it: as fast as it is),
# to a bridge that nothing else is joined to, and with --own-cpus as many CPUs as the others, which
# are not theirs; files are shared. For COMMAND mpirun is set up so that
# it reaches them without sshd, and
#     $ON_HOST hN 'SHELL COMMAND'
# runs something there. Processes have numbers of their own and end with COMMAND; nothing is left.
# Exit status 77, with the reason, where this is not possible: it needs root.
set -eu

skip() {
    echo "skipped: $1"
    exit 77
}

hosts=2 rate='' cpus=''
while :; do
    case ${1-} in
    --hosts) hosts=$2 && shift 2 ;;
    --rate) rate=$2 && shift 2 ;;
    --own-cpus) cpus=--own-cpus && shift ;;
    *) break ;;
    esac
done

if test "${HOSTS_INSIDE-}" != "$$"; then
    test "$(id -u)" = 0 || skip 'hosts are made by root alone'
    test -z "$cpus" || test "$(nproc)" -ge "$hosts" || skip 'there are fewer CPUs than hosts'
    for tool in ip tc taskset unshare nsenter setpriv mount; do
        command -v $tool >/dev/null || skip "no $tool (Debian: iproute2, util-linux)"
    done
    command -v mpirun >/dev/null || skip 'no mpirun (Debian: openmpi-bin)'
    try='ip link add name v type veth && ip link add name b type bridge && mount -t tmpfs none /run'
    # Only to see whether it is possible, whatever the reason.
    unshare --net --uts --ipc --mount --pid --fork --mount-proc sh -c "$try" 2>/dev/null ||
        skip 'namespaces, bridges or mounts are not permitted here'
    exec 3<&0 # in the background standard input would be empty
    # The first process of the namespace has number 1. unshare takes no signal but SIGKILL, which
    # ends all that is in it.
    # shellcheck disable=SC2086 # one word or none
    HOSTS_INSIDE=1 setpriv --pdeathsig KILL unshare --net --uts --ipc --mount --pid --fork \
        --kill-child --mount-proc "$0" --hosts "$hosts" --rate "$rate" $cpus "$@" <&3 3<&- &
    child=$!
    trap 'kill -KILL "$child"' HUP INT TERM
    status=0
    wait "$child" || status=$?
    exit "$status"
fi
unset HOSTS_INSIDE

# What is written here ends with the namespaces. Of temporary files each host has its own.
mount -t tmpfs none /run
mkdir -p /run/tmp "/run/user/$(id -u)"
{
    grep -v '\bh[0-9]*$' /etc/hosts || :
    for i in $(seq "$hosts"); do
        echo "10.5.0.$i h$i"
    done
} >/run/hosts
mount --bind /run/hosts /etc/hosts
cat >/run/on-host <<'END'
#!/bin/sh
host=$1
shift
test -e "/run/host.$host" || {
    echo "ssh: Could not resolve hostname $host: Name or service not known" >&2
    exit 255
}
exec taskset -c "$(cat "/run/cpus.$host")" \
    nsenter -t "$(cat "/run/host.$host")" -n -u -i -m sh -c "$*"
END
chmod +x /run/on-host
ON_HOST=/run/on-host

# The end of a host's line at the bridge is called as the host, that at the host net0.
join() {
    ip link add name "$1" type veth peer name net0 netns "$2"
    ip link set "$1" master bridge up
    "$ON_HOST" "$1" "ip link set lo up; ip addr add 10.5.0.${1#h}/24 dev net0; ip link set net0 up"
    if test -n "$rate"; then
        limit="root tbf rate $rate burst 128k latency 50ms"
        # shellcheck disable=SC2086 # words
        tc qdisc add dev "$1" $limit
        "$ON_HOST" "$1" "tc qdisc add dev net0 $limit"
    fi
}

all=$(taskset -pc $$ | sed 's/.*: //')
share=$(($(nproc) / hosts))
for i in $(seq "$hosts"); do
    own=$all
    test -z "$cpus" || own=$(((i - 1) * share))-$((i * share - 1))
    echo "$own" >"/run/cpus.h$i"
done

# The bridge is on no host: it has this process's network, in which COMMAND does not run.
ip link add name bridge type bridge
ip link set bridge up
mkfifo /run/ready
for i in $(seq "$hosts"); do
    # shellcheck disable=SC2016 # for the host's shell
    unshare --net --uts --ipc --mount sh -c '
        mount -t tmpfs none /run/tmp
        mount -t tmpfs none /dev/shm
        hostname "$1"
        echo $$ >"/run/host.$1"
        echo ready >/run/ready
        exec sleep infinity' sh "h$i" &
    read -r _ </run/ready
    join "h$i" "$(cat "/run/host.h$i")"
done

# What every mpirun that COMMAND starts reads.
export ON_HOST TMPDIR=/run/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_plm_rsh_agent="$ON_HOST" OMPI_MCA_btl=tcp,self OMPI_MCA_pml=ob1 \
    OMPI_MCA_btl_tcp_if_include=net0 OMPI_MCA_oob_tcp_if_include=net0
test -d "${XDG_RUNTIME_DIR-}" || XDG_RUNTIME_DIR=/run/user/$(id -u)
export XDG_RUNTIME_DIR
status=0
# shellcheck disable=SC2016 # for the host's shell
taskset -c "$(cat /run/cpus.h1)" nsenter -t "$(cat /run/host.h1)" -n -u -i -m \
    sh -c 'cd "$0" && exec "$@"' "$PWD" "$@" || status=$?
# This process is the first of its namespace: all others end with it.
exit "$status"
