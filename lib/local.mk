# libaegis: pure code, no I/O. The wire code is plain C and goes into the plugin as well.
noinst_LTLIBRARIES += %D%/libaegiswire.la %D%/libaegis.la

%C%_libaegiswire_la_SOURCES = %D%/wire.h %D%/wire.c

%C%_libaegis_la_SOURCES = \
	%D%/mode.h %D%/mode.cpp
