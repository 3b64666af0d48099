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
	%D%/fingerprint.h %D%/fingerprint.cpp \
	%D%/footprint.h %D%/footprint.cpp \
	%D%/freeze_watch.h %D%/freeze_watch.cpp \
	%D%/freshness.h %D%/freshness.cpp \
	%D%/histogram.h %D%/histogram.cpp \
	%D%/hostlist.h %D%/hostlist.cpp \
	%D%/ids.h \
	%D%/known_lines.h %D%/known_lines.cpp \
	%D%/lateness.h %D%/lateness.cpp \
	%D%/mode.h %D%/mode.cpp \
	%D%/node_set.h \
	%D%/node_table.h %D%/node_table.cpp \
	%D%/one_node.h %D%/one_node.cpp \
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
	%D%/roll_up.h %D%/roll_up.cpp \
	%D%/sample.h \
	%D%/score.h %D%/score.cpp \
	%D%/second_bins.h %D%/second_bins.cpp \
	%D%/settings.h %D%/settings.cpp %D%/settings_table.cpp \
	%D%/settings_text.h %D%/settings_text.cpp \
	%D%/signal_names.h %D%/signal_names.cpp \
	%D%/slurm_words.h %D%/slurm_words.cpp \
	%D%/sonic_clock.h %D%/sonic_clock.cpp \
	%D%/sonic_counters.h %D%/sonic_counters.cpp \
	%D%/text_lines.h \
	%D%/toml_library.h
%C%_libaegis_la_LIBADD = $(FMT_LIBS) -lboost_url -lboost_json

# The fabric map from discovery tools: what aegisctl fabric import and check are made of. Apart from libaegis, because aegisd
# needs neither YAML nor regular expressions.
noinst_LTLIBRARIES += %D%/libaegisimport.la
%C%_libaegisimport_la_SOURCES = \
	%D%/discovery.h %D%/discovery.cpp \
	%D%/fabric_check.h %D%/fabric_check.cpp \
	%D%/fabric_input.h %D%/fabric_input.cpp \
	%D%/fabric_map.h %D%/fabric_map.cpp \
	%D%/fabric_rules.h %D%/fabric_rules.cpp \
	%D%/fabric_rules_toml.cpp \
	%D%/fabric_text.h %D%/fabric_text.cpp \
	%D%/finding.h %D%/finding.cpp \
	%D%/ibnetdiscover.h %D%/ibnetdiscover.cpp \
	%D%/infiniband_cable.h %D%/infiniband_cable.cpp \
	%D%/infiniband_name.h %D%/infiniband_name.cpp \
	%D%/json_text.h %D%/json_text.cpp \
	%D%/lldp_json.h %D%/lldp_json.cpp \
	%D%/name_groups.h %D%/name_groups.cpp \
	%D%/natural_order.h %D%/natural_order.cpp \
	%D%/netq_json.h %D%/netq_json.cpp \
	%D%/port_changes.h %D%/port_changes.cpp \
	%D%/port_table_check.h %D%/port_table_check.cpp \
	%D%/slurm_topology.h %D%/slurm_topology.cpp \
	%D%/slurm_tree.h %D%/slurm_tree.cpp \
	%D%/topology_yaml.h %D%/topology_yaml.cpp \
	%D%/tree_check.h %D%/tree_check.cpp
%C%_libaegisimport_la_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS) $(RE2_CFLAGS)
%C%_libaegisimport_la_LIBADD = $(FMT_LIBS) $(YAML_LIBS) $(RE2_LIBS) -lboost_json
