# what man/ builds and installs
dist_man_MANS += %D%/aegisd.8
dist_man_MANS += %D%/aegisctl.1 %D%/aegis-fabric.toml.5 %D%/aegis-plugin.8 %D%/aegis-protocol.7

# the section SETTINGS comes from the table that the parser uses
nodist_man_MANS = %D%/aegisd.toml.5
%D%/aegisd.toml.5: %D%/aegisd.toml.5.in etc/settings_text$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && etc/settings_text$(EXEEXT) manual <$(srcdir)/%D%/aegisd.toml.5.in >$@.new && mv $@.new $@
EXTRA_DIST += %D%/aegisd.toml.5.in
CLEANFILES += %D%/aegisd.toml.5
