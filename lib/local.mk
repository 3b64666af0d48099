# libaegis: pure code, no I/O. The wire code is plain C and goes into the plugin as well.
noinst_LTLIBRARIES += %D%/libaegiswire.la %D%/libaegis.la

%C%_libaegiswire_la_SOURCES = %D%/wire.h %D%/wire.c

%C%_libaegis_la_SOURCES = \
	%D%/counters.h %D%/counters.cpp \
	%D%/fabric.h %D%/fabric.cpp %D%/topology.cpp \
	%D%/freshness.h %D%/freshness.cpp \
	%D%/hostlist.h %D%/hostlist.cpp \
	%D%/ids.h \
	%D%/mode.h %D%/mode.cpp \
	%D%/node_set.h \
	%D%/pressure.h %D%/pressure.cpp \
	%D%/pressure_view.h \
	%D%/prometheus_text.h %D%/prometheus_text.cpp \
	%D%/sample.h \
	%D%/sonic_clock.h %D%/sonic_clock.cpp \
	%D%/sonic_counters.h %D%/sonic_counters.cpp
