# Tests of the fabric map against the tools it is made from, run by pytest.
EXTRA_DIST += \
	%D%/aegisctl.py \
	%D%/conftest.py \
	%D%/test_import.py
