# what bench/ builds and installs
EXTRA_DIST += \
	%D%/advice_bench.py \
	%D%/ingest_bench.py \
	%D%/results.py \
	%D%/slurm_bench.py \
	%D%/store_bench.py

# built by scripts/bench when it is needed
EXTRA_PROGRAMS += %D%/advice_rtt
%C%_advice_rtt_SOURCES = %D%/advice_rtt.c
%C%_advice_rtt_LDADD = plugin/libaegisplugin.la lib/libaegiswire.la

EXTRA_PROGRAMS += %D%/ingest_bench
%C%_ingest_bench_SOURCES = %D%/ingest_bench.cpp
%C%_ingest_bench_LDADD = aegisd/libaegisd.la aegisd/libsources.la aegisd/libaegissite.la aegisd/libaegisstore.la lib/libaegis.la $(FMT_LIBS)

if HAVE_BENCHMARK
EXTRA_PROGRAMS += %D%/store_bench
%C%_store_bench_SOURCES = %D%/store_bench.cpp
%C%_store_bench_LDADD = aegisd/libaegisstore.la lib/libaegis.la $(FMT_LIBS) -lbenchmark -lpthread
endif
