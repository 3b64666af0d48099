# libaegis: pure code, no I/O. The wire code is plain C and goes into the plugin as well.
noinst_LTLIBRARIES += %D%/libaegiswire.la %D%/libaegis.la

%C%_libaegiswire_la_SOURCES = %D%/wire.h %D%/wire.c

%C%_libaegis_la_SOURCES = \
	%D%/mode.h %D%/mode.cpp \
	%D%/sample.h \
	%D%/sonic_clock.h %D%/sonic_clock.cpp \
	%D%/sonic_counters.h %D%/sonic_counters.cpp
