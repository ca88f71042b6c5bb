# Runs over several hosts, which are namespaces of this machine, or a Slurm cluster of such. Skipped
# without MPI, Slurm or the right to make namespaces.
dist_check_SCRIPTS += %D%/failures.py %D%/slurm.py %D%/training.py
EXTRA_DIST += %D%/namespaces.sh %D%/slurm.sh
