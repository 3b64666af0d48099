# Tests of the fabric map against the tools it is made from, run by pytest.
EXTRA_DIST += \
	%D%/aegisctl.py \
	%D%/conftest.py \
	%D%/ibsim.py \
	%D%/lldp.py \
	%D%/test_import.py \
	%D%/test_infiniband.py \
	%D%/test_lldp.py \
	%D%/test_slurm_topology.py
