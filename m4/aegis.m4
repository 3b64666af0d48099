# AX_AEGIS_CXX23: g++ 12 has std::expected under -std=c++23; nothing older does.
AC_DEFUN([AX_AEGIS_CXX23], [
  AC_LANG_PUSH([C++])
  CXX="$CXX -std=c++23"
  AC_MSG_CHECKING([whether $CXX has std::expected])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <expected>]],
    [[std::expected<int, int> e{1}; return e.value();]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([a C++23 compiler with std::expected is needed, g++ 12 or newer])])
  AC_LANG_POP([C++])
])

# AX_AEGIS_SLURM: public headers and the directory of Slurm's own plugins.
# Without options Debian's layout and the usual prefixes are tried.
AC_DEFUN([AX_AEGIS_SLURM], [
  AC_ARG_WITH([slurm],
    [AS_HELP_STRING([--with-slurm=PREFIX], [where Slurm is installed: headers in PREFIX/include])],
    [], [with_slurm=])
  AC_ARG_WITH([slurm-plugindir],
    [AS_HELP_STRING([--with-slurm-plugindir=DIR], [the directory that holds Slurm's select_cons_tres.so])],
    [], [with_slurm_plugindir=])
  AS_IF([test -n "$with_slurm"],
    [aegis_slurm_includedir="$with_slurm/include"
     aegis_plugindirs="$with_slurm/lib/slurm $with_slurm/lib64/slurm $with_slurm/lib/slurm-wlm"],
    [aegis_slurm_includedir=/usr/include
     multiarch=`$CC -print-multiarch 2>/dev/null`
     aegis_plugindirs="/usr/lib/$multiarch/slurm-wlm /usr/lib64/slurm /usr/lib/slurm /usr/lib/$multiarch/slurm /usr/local/lib/slurm"])
  slurm_plugindir="$with_slurm_plugindir"
  AS_IF([test -z "$slurm_plugindir"],
    [for dir in $aegis_plugindirs; do
       AS_IF([test -f "$dir/select_cons_tres.so"], [slurm_plugindir="$dir"; break])
     done])
  AS_IF([test ! -f "$aegis_slurm_includedir/slurm/slurm_version.h"],
    [AC_MSG_ERROR([no slurm/slurm_version.h in $aegis_slurm_includedir: install Slurm's development package or give --with-slurm=PREFIX])])
  AS_IF([test ! -f "$slurm_plugindir/select_cons_tres.so"],
    [AC_MSG_ERROR([no select_cons_tres.so in '$slurm_plugindir': install slurmctld or give --with-slurm-plugindir=DIR])])
  SLURM_CPPFLAGS=
  AS_IF([test "$aegis_slurm_includedir" != /usr/include], [SLURM_CPPFLAGS="-I$aegis_slurm_includedir"])
  AC_MSG_CHECKING([Slurm's release])
  aegis_slurm_release=`$SED -n 's/.*SLURM_VERSION_STRING "\(@<:@^"@:>@*\)".*/\1/p' "$aegis_slurm_includedir/slurm/slurm_version.h"`
  AC_MSG_RESULT([$aegis_slurm_release])
  AC_SUBST([SLURM_CPPFLAGS])
  AC_SUBST([slurm_plugindir])
])

# AX_AEGIS_BOOST: 1.81 or newer, for Asio coroutines with g++ 12, Boost.JSON and Boost.URL.
AC_DEFUN([AX_AEGIS_BOOST], [
  AC_LANG_PUSH([C++])
  AC_MSG_CHECKING([for Boost 1.81 or newer])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <boost/version.hpp>
    #if BOOST_VERSION < 108100
    #error too old
    #endif]], [])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([Boost 1.81 or newer is needed (Debian: libboost1.81-dev)])])
  AC_CHECK_HEADERS([boost/json.hpp boost/url.hpp], [],
    [AC_MSG_ERROR([Boost.JSON and Boost.URL are needed (Debian: libboost-json1.81-dev, libboost-url1.81-dev)])])
  BOOST_LIBS="-lboost_json -lboost_url"
  AC_SUBST([BOOST_LIBS])
  AC_LANG_POP([C++])
])

# AX_AEGIS_HEADER_LIBRARIES: header-only libraries; those for tests and benchmarks are optional.
AC_DEFUN([AX_AEGIS_HEADER_LIBRARIES], [
  AC_LANG_PUSH([C++])
  AC_CHECK_HEADERS([toml++/toml.h CLI/CLI.hpp], [],
    [AC_MSG_ERROR([toml++ and CLI11 are needed (Debian: libtomlplusplus-dev, libcli11-dev)])])
  have_tests=yes
  AC_CHECK_HEADERS([catch2/catch.hpp rapidcheck.h], [], [have_tests=no])
  AS_IF([test "$have_tests" = no],
    [AC_MSG_WARN([unit tests are left out: they need Catch2 2.13 and RapidCheck (Debian: catch2, librapidcheck-dev)])])
  AM_CONDITIONAL([HAVE_TESTS], [test "$have_tests" = yes])
  have_benchmark=yes
  AC_CHECK_HEADERS([benchmark/benchmark.h], [], [have_benchmark=no])
  AM_CONDITIONAL([HAVE_BENCHMARK], [test "$have_benchmark" = yes])
  AC_LANG_POP([C++])
])
