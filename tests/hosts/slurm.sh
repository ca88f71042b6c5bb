#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A Slurm cluster on this machine: slurm.sh [--hosts N] COMMAND...
#
# Runs COMMAND on the first of N hosts (2) of namespaces.sh, with Slurm's own munged, slurmctld and a
# slurmd on each of them: srun, salloc, sbatch and scancel work. Their files are in /run/slurm, which
# COMMAND alone sees and which ends with it. Exit status 77, with the reason, where this is not
# possible.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "skipped: $1"
    exit 77
}

hosts=2
if test "${1-}" = --hosts; then
    hosts=$2
    shift 2
fi
if test -z "${ON_HOST-}"; then
    for tool in munged slurmctld slurmd srun; do
        command -v $tool >/dev/null || test -x "/usr/sbin/$tool" || skip "no $tool (Debian: \
slurmctld, slurmd, slurm-client, slurm-wlm-basic-plugins, munge)"
    done
    exec "$here/namespaces.sh" --hosts "$hosts" "$here/slurm.sh" --hosts "$hosts" "$@"
fi
PATH=$PATH:/usr/sbin
S=/run/slurm
SLURM_CONF=$S/slurm.conf
export SLURM_CONF
mkdir "$S" "$S/control"

# Root runs all of it, as Slurm of distributions does not: so none of its folders is needed.
(umask 077 && head -c 1024 /dev/urandom >"$S/munge.key")
munged --force --key-file "$S/munge.key" --socket "$S/munge.socket" --pid-file "$S/munge.pid" \
    --log-file "$S/munge.log" --seed-file "$S/munge.seed"

# A host that is slow to answer on a busy machine must not count as down: it would get no steps.
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=h1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$S/munge.socket
StateSaveLocation=$S/control
SlurmdSpoolDir=$S/%n
TmpFS=/run/tmp
SlurmctldPidFile=$S/control.pid
SlurmdPidFile=$S/%n.pid
SlurmctldLogFile=$S/control.log
SlurmdLogFile=$S/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
KillWait=10
MessageTimeout=100
SlurmdTimeout=0
SlurmdParameters=config_overrides
NodeName=h[1-$hosts] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=h[1-$hosts] Default=YES MaxTime=INFINITE State=UP
END
slurmctld -c
for i in $(seq "$hosts"); do
    "$ON_HOST" "h$i" "mkdir -p $S/h$i && SLURM_CONF=$SLURM_CONF slurmd -N h$i"
done
end=$(($(date +%s) + 60))
until test "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = "$hosts"; do
    if test "$(date +%s)" -gt "$end"; then
        tail -n 20 "$S"/*.log >&2
        skip 'the hosts of Slurm have not become ready within a minute'
    fi
    sleep 0.2
done
exec "$@"
