# what aegisd/ builds and installs

# The store stands alone: benchmarks and tests link it without the daemon.
noinst_LTLIBRARIES += %D%/libaegisstore.la
%C%_libaegisstore_la_SOURCES = \
	%D%/schema.h %D%/schema.cpp \
	%D%/sqlite.h %D%/sqlite.cpp \
	%D%/store.h %D%/store.cpp
%C%_libaegisstore_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
%C%_libaegisstore_la_LIBADD = $(SQLITE_LIBS) $(FMT_LIBS)
