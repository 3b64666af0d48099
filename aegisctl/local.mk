# aegisctl: all but main is a convenience library, so that the unit tests link the same code.
noinst_LTLIBRARIES += %D%/libaegisctl.la
bin_PROGRAMS += %D%/aegisctl

%C%_libaegisctl_la_SOURCES = \
	%D%/client.h %D%/client.cpp \
	%D%/commands.h \
	%D%/config.cpp \
	%D%/decisions.cpp \
	%D%/explain.cpp \
	%D%/fabric.cpp \
	%D%/fabric_check.cpp \
	%D%/fabric_history.cpp \
	%D%/fabric_import.cpp \
	%D%/fabric_inputs.h %D%/fabric_inputs.cpp \
	%D%/fabric_presets.cpp \
	%D%/fabric_top.cpp \
	%D%/mode.cpp \
	%D%/options.h %D%/options.cpp \
	%D%/output.h %D%/output.cpp \
	%D%/policy.cpp \
	%D%/report.cpp \
	%D%/status.cpp \
	%D%/words.h %D%/words.cpp
%C%_libaegisctl_la_CPPFLAGS = $(AM_CPPFLAGS) -DAEGIS_VERSION='"$(PACKAGE_VERSION)"'
%C%_libaegisctl_la_LIBADD = $(BOOST_LIBS) $(FMT_LIBS)

%C%_aegisctl_SOURCES = %D%/main.cpp
%C%_aegisctl_LDADD = %D%/libaegisctl.la aegisd/libaegissite.la lib/libaegisimport.la lib/libaegis.la
