# Tests of the documents and of the repository itself, run by pytest.
EXTRA_DIST += \
	%D%/test_man.py \
	%D%/test_repository.py
