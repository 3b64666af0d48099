# Telemetry sources of aegisd, as a convenience library that their tests link as well.
noinst_LTLIBRARIES += %D%/libsources.la

%C%_libsources_la_SOURCES = \
	%D%/clock.h \
	%D%/gzip.h %D%/gzip.cpp \
	%D%/http_client.h %D%/http_client.cpp \
	%D%/metric_mapper.h %D%/metric_mapper.cpp \
	%D%/resp_reader.h %D%/resp_reader.cpp \
	%D%/source.h \
	%D%/source_otlp.h %D%/source_otlp.cpp \
	%D%/source_promql.h %D%/source_promql.cpp \
	%D%/source_sonic_redis.h %D%/source_sonic_redis.cpp
%C%_libsources_la_CPPFLAGS = $(AM_CPPFLAGS) $(HIREDIS_CFLAGS) $(ZLIB_CFLAGS) -DAEGIS_VERSION='"$(PACKAGE_VERSION)"'
%C%_libsources_la_LIBADD = $(HIREDIS_LIBS) $(ZLIB_LIBS)
