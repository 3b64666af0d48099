# Fuzz targets; scripts/fuzz builds them with clang, by the Makefile here.
EXTRA_DIST += \
	%D%/Makefile \
	%D%/config.cpp \
	%D%/discovery.cpp \
	%D%/otlp.cpp \
	%D%/prometheus_text.cpp \
	%D%/promql.cpp \
	%D%/sonic.cpp \
	%D%/wire.cpp \
	%D%/seeds
