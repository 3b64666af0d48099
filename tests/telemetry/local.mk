# Tests of telemetry sources against real peers, run by pytest; print_source runs one source for them, print_samples one decoder.
EXTRA_DIST += \
	%D%/conftest.py \
	%D%/daemon.py \
	%D%/faulty.py \
	%D%/otlp_client.cjs \
	%D%/peers.py \
	%D%/readers.py \
	%D%/test_aegisd.py \
	%D%/test_aegisd_sonic.py \
	%D%/test_faults.py \
	%D%/test_fixtures.py \
	%D%/test_latency.py \
	%D%/test_node_exporter.py \
	%D%/test_otlp.py \
	%D%/test_promql.py \
	%D%/test_sonic_redis.py
noinst_PROGRAMS += %D%/print_quantiles %D%/print_samples %D%/print_source
%C%_print_quantiles_SOURCES = %D%/print_quantiles.cpp %D%/printing.h
%C%_print_quantiles_LDADD = lib/libaegis.la $(FMT_LIBS)
%C%_print_samples_SOURCES = %D%/print_samples.cpp %D%/printing.h
%C%_print_samples_LDADD = lib/libaegis.la $(FMT_LIBS)
%C%_print_source_SOURCES = %D%/print_source.cpp %D%/printing.h
%C%_print_source_LDADD = aegisd/libsources.la aegisd/libaegisd.la aegisd/libaegissite.la lib/libaegis.la $(FMT_LIBS) $(BOOST_LIBS) -lpthread
