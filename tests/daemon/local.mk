# Tests against a real aegisd, run by pytest.
EXTRA_DIST += \
	%D%/conftest.py \
	%D%/harness.py \
	%D%/test_aegisctl.py \
	%D%/test_decisions.py \
	%D%/test_frames.py \
	%D%/test_history.py \
	%D%/test_lifecycle.py \
	%D%/test_sources.py
