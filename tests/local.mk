# Unit tests: Catch2 and RapidCheck in one program. scripts/test counts its test cases.
EXTRA_DIST += tests/README.md
include tests/daemon/local.mk
include tests/docs/local.mk
include tests/fabric/local.mk
include tests/fuzz/local.mk
include tests/slurm/local.mk
if HAVE_TESTS
TESTS += %D%/unit/unit_tests
check_PROGRAMS += %D%/unit/unit_tests
%C%_unit_unit_tests_SOURCES = %D%/unit/main.cpp \
	%D%/unit/aegisctl_client_test.cpp \
	%D%/unit/aegisctl_text_test.cpp \
	%D%/unit/breaker_test.cpp \
	%D%/unit/calm_test.cpp \
	%D%/unit/client_test.cpp \
	%D%/unit/config_errors_test.cpp \
	%D%/unit/config_preset_test.cpp \
	%D%/unit/config_test.cpp \
	%D%/unit/counters_test.cpp \
	%D%/unit/decision_cluster.h %D%/unit/decision_test.cpp \
	%D%/unit/decision_json_test.cpp \
	%D%/unit/discovery_test.cpp \
	%D%/unit/fabric_check_test.cpp \
	%D%/unit/fabric_import_fixtures_test.cpp \
	%D%/unit/fabric_input_test.cpp \
	%D%/unit/fabric_map_test.cpp \
	%D%/unit/fabric_rules_test.cpp \
	%D%/unit/fabric_test.cpp \
	%D%/unit/fabric_text_test.cpp \
	%D%/unit/features_test.cpp \
	%D%/unit/freeze_watch_test.cpp \
	%D%/unit/freshness_test.cpp \
	%D%/unit/histogram_test.cpp \
	%D%/unit/history_json_test.cpp \
	%D%/unit/hostlist_test.cpp \
	%D%/unit/ibnetdiscover_test.cpp \
	%D%/unit/job_facts_test.cpp \
	%D%/unit/lateness_test.cpp \
	%D%/unit/lldp_json_test.cpp \
	%D%/unit/known_lines_test.cpp \
	%D%/unit/metric_mapper_test.cpp \
	%D%/unit/mode_test.cpp \
	%D%/unit/natural_order_test.cpp \
	%D%/unit/netq_json_test.cpp \
	%D%/unit/node_names_test.cpp \
	%D%/unit/node_table_test.cpp \
	%D%/unit/openmetrics_test.cpp \
	%D%/unit/one_node_test.cpp \
	%D%/unit/otlp_test.cpp \
	%D%/unit/parse_job_facts_test.cpp \
	%D%/unit/plan_test.cpp \
	%D%/unit/policy_test.cpp \
	%D%/unit/port_changes_test.cpp \
	%D%/unit/port_table_check_test.cpp \
	%D%/unit/presets_test.cpp \
	%D%/unit/pressure_path_test.cpp \
	%D%/unit/pressure_test.cpp \
	%D%/unit/prometheus_text_test.cpp \
	%D%/unit/promql_response_test.cpp \
	%D%/unit/protobuf_reader_test.cpp \
	%D%/unit/quantity_test.cpp \
	%D%/unit/roll_up_test.cpp \
	%D%/unit/second_bins_test.cpp \
	%D%/unit/settings_test.cpp \
	%D%/unit/slurm_topology_test.cpp \
	%D%/unit/sonic_clock_test.cpp \
	%D%/unit/sonic_counters_test.cpp \
	%D%/unit/steer_test.cpp \
	%D%/unit/store_test.cpp \
	%D%/unit/telemetry_store_test.cpp \
	%D%/unit/telemetry_test.cpp \
	%D%/unit/temporary_directory.h \
	%D%/unit/topology_yaml_test.cpp \
	%D%/unit/wire_messages_test.cpp \
	%D%/unit/wire_test.cpp
%C%_unit_unit_tests_LDADD = aegisctl/libaegisctl.la aegisd/libaegisd.la aegisd/libsources.la aegisd/libaegissite.la aegisd/libaegisstore.la plugin/libaegisplugin.la \
	lib/libaegisimport.la lib/libaegis.la lib/libaegiswire.la $(FMT_LIBS) -lrapidcheck
endif
include tests/telemetry/local.mk
