# Unit tests: Catch2 and RapidCheck in one program. scripts/test counts its test cases.
EXTRA_DIST += tests/README.md
include tests/slurm/local.mk
if HAVE_TESTS
TESTS += %D%/unit/unit_tests
check_PROGRAMS += %D%/unit/unit_tests
%C%_unit_unit_tests_SOURCES = %D%/unit/main.cpp \
	%D%/unit/freshness_test.cpp \
	%D%/unit/histogram_test.cpp \
	%D%/unit/hostlist_test.cpp \
	%D%/unit/mode_test.cpp \
	%D%/unit/otlp_test.cpp \
	%D%/unit/protobuf_reader_test.cpp \
	%D%/unit/sonic_clock_test.cpp \
	%D%/unit/sonic_counters_test.cpp \
	%D%/unit/wire_test.cpp
%C%_unit_unit_tests_LDADD = lib/libaegis.la lib/libaegiswire.la $(FMT_LIBS) $(BOOST_LIBS) -lrapidcheck

# runs one telemetry source for the tests in telemetry/
check_PROGRAMS += %D%/telemetry/print_source
%C%_telemetry_print_source_SOURCES = %D%/telemetry/print_source.cpp
%C%_telemetry_print_source_LDADD = aegisd/libsources.la lib/libaegis.la $(FMT_LIBS) $(BOOST_LIBS) -lpthread
endif
