# The select plugin. libtool would name it after its file, but its SONAME must differ from that of Slurm's own
# select_cons_tres.so, or the loader took it for its own dependency: so it is built as aegis_select.so and
# installed under the name Slurm looks for. Never sanitized: it lives in slurmctld.
aegisplugindir = $(pkglibdir)/slurm

aegis_plugin_sources = \
	lib/wire.h lib/wire.c \
	%D%/breaker.h %D%/breaker.c \
	%D%/calm.h %D%/calm.c \
	%D%/client.h %D%/client_state.h %D%/client.c %D%/client_thread.c \
	%D%/frames.h %D%/frames.c \
	%D%/job_facts.h %D%/job_facts.c \
	%D%/node_names.h %D%/node_names.c \
	%D%/peer.h %D%/peer.c \
	%D%/placement.h %D%/placement.c \
	%D%/select_shim.c \
	%D%/slurm_api.h %D%/slurm_api.c \
	%D%/steer.h %D%/steer.c \
	%D%/tally.h %D%/tally.c
aegis_plugin_cflags = -std=gnu11 $(AEGIS_WARNINGS) -fvisibility=hidden -pthread
# -rpath makes libtool build a shared object of a noinst library. Lazy binding, because clients load us, too, and
# have only a part of Slurm's symbols.
aegis_plugin_ldflags = -module -avoid-version -shared -rpath $(aegisplugindir) \
	-Wl,--version-script=$(srcdir)/%D%/select.map \
	-Wl,--enable-new-dtags,-rpath,$(slurm_plugindir) -L$(slurm_plugindir) \
	-Wl,--no-as-needed,-l:select_cons_tres.so,--as-needed -Wl,-z,lazy

noinst_LTLIBRARIES += %D%/aegis_select.la
%C%_aegis_select_la_SOURCES = $(aegis_plugin_sources)
%C%_aegis_select_la_CFLAGS = $(aegis_plugin_cflags)
%C%_aegis_select_la_LDFLAGS = $(aegis_plugin_ldflags)
EXTRA_%C%_aegis_select_la_DEPENDENCIES = %D%/select.map
EXTRA_DIST += %D%/select.map

# The same, built for Slurm 1.02: what slurmctld does with it is tested.
noinst_LTLIBRARIES += %D%/other_release.la
%C%_other_release_la_SOURCES = $(aegis_plugin_sources)
%C%_other_release_la_CPPFLAGS = $(AM_CPPFLAGS) -DAEGIS_BUILT_FOR_RELEASE=0x0102ffu
%C%_other_release_la_CFLAGS = $(aegis_plugin_cflags)
%C%_other_release_la_LDFLAGS = $(aegis_plugin_ldflags)
EXTRA_%C%_other_release_la_DEPENDENCIES = %D%/select.map

# Each in a folder of its own, ready to stand in PluginDir.
aegis_plugin_folders = %D%/slurm/select_cons_tres.so %D%/other_release/select_cons_tres.so
all-local: $(aegis_plugin_folders)
CLEANFILES += $(aegis_plugin_folders)
%D%/slurm/select_cons_tres.so: %D%/aegis_select.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp %D%/.libs/aegis_select.so $@
%D%/other_release/select_cons_tres.so: %D%/other_release.la
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp %D%/.libs/other_release.so $@

install-exec-local: install-select-plugin
install-select-plugin: %D%/slurm/select_cons_tres.so
	$(MKDIR_P) "$(DESTDIR)$(aegisplugindir)"
	$(INSTALL) -m 644 %D%/slurm/select_cons_tres.so "$(DESTDIR)$(aegisplugindir)/select_cons_tres.so"
uninstall-local: uninstall-select-plugin
uninstall-select-plugin:
	rm -f "$(DESTDIR)$(aegisplugindir)/select_cons_tres.so"
.PHONY: install-select-plugin uninstall-select-plugin

# The same code for the unit tests, with the sanitizers of the build.
noinst_LTLIBRARIES += %D%/libaegisplugin.la
%C%_libaegisplugin_la_SOURCES = \
	%D%/breaker.h %D%/breaker.c \
	%D%/calm.h %D%/calm.c \
	%D%/client.h %D%/client_state.h %D%/client.c %D%/client_thread.c \
	%D%/frames.h %D%/frames.c \
	%D%/job_facts.h %D%/job_facts.c \
	%D%/node_names.h %D%/node_names.c \
	%D%/peer.h %D%/peer.c \
	%D%/steer.h %D%/steer.c \
	%D%/tally.h %D%/tally.c
