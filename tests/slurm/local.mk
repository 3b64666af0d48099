# Tests on a real Slurm, run by pytest. cluster.py, aegis.py, exporter.py and steered.py also serve scripts/demo and scripts/bench.
EXTRA_DIST += \
	%D%/aegis.py \
	%D%/clients.py \
	%D%/cluster.py \
	%D%/conftest.py \
	%D%/exporter.py \
	%D%/fake_aegisd.py \
	%D%/hostlist.py \
	%D%/munge.py \
	%D%/placement_log.py \
	%D%/ports.py \
	%D%/process.py \
	%D%/random_jobs.py \
	%D%/slurm_conf.py \
	%D%/steered.py \
	%D%/test_harness.py \
	%D%/test_hostile_peer.py \
	%D%/test_matrix_lifecycle.py \
	%D%/test_matrix_preemption.py \
	%D%/test_matrix_requests.py \
	%D%/test_matrix_running.py \
	%D%/test_neutrality.py \
	%D%/test_never_worse.py \
	%D%/waiting.py \
	%D%/wire.py
