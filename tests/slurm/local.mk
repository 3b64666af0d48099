# Tests on a real Slurm, run by pytest. cluster.py, aegis.py and exporter.py also serve scripts/demo and scripts/bench.
EXTRA_DIST += \
	%D%/clients.py \
	%D%/cluster.py \
	%D%/conftest.py \
	%D%/hostlist.py \
	%D%/munge.py \
	%D%/ports.py \
	%D%/process.py \
	%D%/slurm_conf.py \
	%D%/test_harness.py \
	%D%/waiting.py \
	%D%/wire.py
