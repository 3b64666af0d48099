# Example configuration (generated from the table of settings), systemd unit, its user, and completion for bash.
noinst_PROGRAMS += %D%/settings_text
%C%_settings_text_SOURCES = %D%/settings_text.cpp
%C%_settings_text_LDADD = lib/libaegis.la $(FMT_LIBS)

exampledir = $(docdir)/examples
nodist_example_DATA = %D%/aegisd.toml
%D%/aegisd.toml: %D%/settings_text$(EXEEXT)
	$(AM_V_GEN)%D%/settings_text$(EXEEXT) example >$@.new && mv $@.new $@

systemdunitdir = $(prefix)/lib/systemd/system
nodist_systemdunit_DATA = %D%/aegisd.service
%D%/aegisd.service: %D%/aegisd.service.in Makefile
	$(AM_V_GEN)$(SED) -e 's|[@]sbindir@|$(sbindir)|g' -e 's|[@]sysconfdir@|$(sysconfdir)|g' $(srcdir)/%D%/aegisd.service.in >$@.new && mv $@.new $@

sysusersdir = $(prefix)/lib/sysusers.d
dist_sysusers_DATA = %D%/sysusers/aegis.conf

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/completions/aegisctl

EXTRA_DIST += %D%/aegisd.service.in
CLEANFILES += %D%/aegisd.toml %D%/aegisd.service
