# Runs over several hosts, which are namespaces of this machine, or a Slurm cluster of such. Skipped
# without MPI, Slurm or the right to make namespaces. Failures and Slurm are matters of seconds, which
# a busy machine does not keep: their programs are run by hand, on one that is idle.
dist_check_SCRIPTS += %D%/training.py
EXTRA_DIST += %D%/failures.py %D%/namespaces.sh %D%/slurm.py %D%/slurm.sh
