# libaegis: pure code, no I/O. The wire code is plain C and goes into the plugin as well.
noinst_LTLIBRARIES += %D%/libaegiswire.la %D%/libaegis.la

%C%_libaegiswire_la_SOURCES = %D%/wire.h %D%/wire.c

%C%_libaegis_la_SOURCES = \
	%D%/config.h %D%/config.cpp \
	%D%/config_error.h %D%/config_error.cpp \
	%D%/counters.h %D%/counters.cpp \
	%D%/decision.h %D%/decision.cpp \
	%D%/fabric.h %D%/fabric.cpp %D%/topology.cpp \
	%D%/features.h %D%/features.cpp \
	%D%/footprint.h %D%/footprint.cpp \
	%D%/freeze_watch.h %D%/freeze_watch.cpp \
	%D%/freshness.h %D%/freshness.cpp \
	%D%/histogram.h %D%/histogram.cpp \
	%D%/hostlist.h %D%/hostlist.cpp \
	%D%/ids.h \
	%D%/mode.h %D%/mode.cpp \
	%D%/node_set.h \
	%D%/node_table.h %D%/node_table.cpp \
	%D%/otlp.h %D%/otlp_json.cpp %D%/otlp_point.h %D%/otlp_point.cpp %D%/otlp_protobuf.cpp \
	%D%/plan.h %D%/plan.cpp \
	%D%/policy.h %D%/policy.cpp \
	%D%/presets.h %D%/presets.cpp \
	%D%/pressure.h %D%/pressure.cpp \
	%D%/pressure_view.h \
	%D%/prometheus_text.h %D%/prometheus_text.cpp \
	%D%/promql_response.h %D%/promql_response.cpp \
	%D%/protobuf_reader.h %D%/protobuf_reader.cpp \
	%D%/quantity.h %D%/quantity.cpp \
	%D%/sample.h \
	%D%/score.h %D%/score.cpp \
	%D%/settings.h %D%/settings.cpp %D%/settings_table.cpp \
	%D%/sonic_clock.h %D%/sonic_clock.cpp \
	%D%/sonic_counters.h %D%/sonic_counters.cpp
%C%_libaegis_la_LIBADD = $(FMT_LIBS) -lboost_url -lboost_json
