# aegisd: the daemon. All but main are convenience libraries, so that the unit tests link the same code.
# The store stands alone: benchmarks and tests link it without the daemon. So does the site: aegisctl checks files with it.
noinst_LTLIBRARIES += %D%/libaegisstore.la %D%/libaegissite.la %D%/libaegisd.la
sbin_PROGRAMS += %D%/aegisd

%C%_libaegisstore_la_SOURCES = \
	%D%/database_file.h %D%/database_file.cpp \
	%D%/schema.h %D%/schema.cpp \
	%D%/sqlite.h %D%/sqlite.cpp \
	%D%/store.h %D%/store.cpp \
	%D%/telemetry_store.h %D%/telemetry_store.cpp
%C%_libaegisstore_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
%C%_libaegisstore_la_LIBADD = $(SQLITE_LIBS) $(FMT_LIBS)

%C%_libaegissite_la_SOURCES = %D%/site.h %D%/site.cpp \
	%D%/text_file.h %D%/text_file.cpp
%C%_libaegissite_la_LIBADD = $(FMT_LIBS)

%C%_libaegisd_la_SOURCES = \
	%D%/clock.h \
	%D%/collector.h %D%/collector.cpp \
	%D%/control_commands.h %D%/control_commands.cpp \
	%D%/control_json.h %D%/control_json.cpp \
	%D%/control_server.h %D%/control_server.cpp \
	%D%/daemon.h %D%/daemon.cpp \
	%D%/decision_json.h %D%/decision_json.cpp \
	%D%/directory_lock.h %D%/directory_lock.cpp \
	%D%/engine.h %D%/engine.cpp \
	%D%/history.h %D%/history.cpp \
	%D%/history_json.h %D%/history_json.cpp \
	%D%/history_writer.h %D%/history_writer.cpp \
	%D%/job_facts.h %D%/job_facts.cpp \
	%D%/log.h %D%/log.cpp \
	%D%/make_source.cpp \
	%D%/metric_mapper.h %D%/metric_mapper.cpp \
	%D%/options.h %D%/options.cpp \
	%D%/select_connection.h %D%/select_connection.cpp \
	%D%/select_server.h %D%/select_server.cpp \
	%D%/service_manager.h %D%/service_manager.cpp \
	%D%/snapshot.h \
	%D%/source.h %D%/source_prometheus.cpp \
	%D%/store_sync.h %D%/store_sync.cpp \
	%D%/telemetry.h %D%/telemetry.cpp \
	%D%/unix_socket.h %D%/unix_socket.cpp \
	%D%/wire_messages.h %D%/wire_messages.cpp
%C%_libaegisd_la_CPPFLAGS = $(AM_CPPFLAGS) $(SPDLOG_CFLAGS) $(SYSTEMD_CFLAGS) \
	-DAEGIS_VERSION='"$(PACKAGE_VERSION)"'
%C%_libaegisd_la_LIBADD = $(SPDLOG_LIBS) $(FMT_LIBS) $(SYSTEMD_LIBS) $(BOOST_LIBS)

%C%_aegisd_SOURCES = %D%/main.cpp

%C%_aegisd_LDADD = %D%/libaegisd.la %D%/libsources.la %D%/libaegissite.la %D%/libaegisstore.la lib/libaegis.la lib/libaegiswire.la

# Sources that need more libraries than the daemon does. After libaegisd in a link: its make_source names them.
noinst_LTLIBRARIES += %D%/libsources.la
%C%_libsources_la_SOURCES = \
	%D%/gzip.h %D%/gzip.cpp \
	%D%/http_client.h %D%/http_client.cpp \
	%D%/resp_reader.h %D%/resp_reader.cpp \
	%D%/source_otlp.h %D%/source_otlp.cpp \
	%D%/source_promql.h %D%/source_promql.cpp \
	%D%/source_sonic_redis.h %D%/source_sonic_redis.cpp
%C%_libsources_la_CPPFLAGS = $(AM_CPPFLAGS) $(HIREDIS_CFLAGS) $(ZLIB_CFLAGS) -DAEGIS_VERSION='"$(PACKAGE_VERSION)"'
%C%_libsources_la_LIBADD = $(HIREDIS_LIBS) $(ZLIB_LIBS)
