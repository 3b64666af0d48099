/*
 * Everything the plugin uses of Slurm, found by dlsym: the functions slurmctld and libslurmfull
 * export under the same name and prototype in all releases from 22.05 to 26.05, and Slurm's own
 * select plugin behind ours. Slurm's structures stay opaque; bitmaps go through slurm_bit_*.
 *
 * Nothing of Slurm is linked: a missing symbol is a reason to refuse in init(), never a crash.
 */
#ifndef AEGIS_PLUGIN_SLURM_API_H
#define AEGIS_PLUGIN_SLURM_API_H

#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 5, 0) || SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 6, 0)
#error "Aegis knows select_p_job_test of Slurm 22.05 to 26.05 only"
#endif

struct slurm_api {
	/* Slurm's own select plugin */
	int (*inner_init)(void);
	void (*inner_fini)(void); /* returns int up to 25.05; nobody looks at it */
	int (*inner_reconfigure)(void);
	int (*inner_job_begin)(void *job);
	int (*inner_job_fini)(void *job);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
	int (*inner_job_test)(void *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,
			      uint16_t mode, void *preemptee_candidates, void **preemptees, void *exclusions,
			      void *will_run);
#else
	int (*inner_job_test)(void *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,
			      uint16_t mode, void *preemptee_candidates, void **preemptees, void *exclusions);
#endif
	const uint32_t *plugin_version;

	/* libslurmfull */
	bitstr_t *(*bit_alloc)(int64_t size);
	bitstr_t *(*bit_copy)(bitstr_t *from);
	void (*bit_copybits)(bitstr_t *to, bitstr_t *from);
	void (*bit_free)(bitstr_t **bits);
	void (*bit_set)(bitstr_t *bits, int64_t bit);
	void (*bit_clear)(bitstr_t *bits, int64_t bit);
	int (*bit_test)(bitstr_t *bits, int64_t bit);
	int64_t (*bit_size)(bitstr_t *bits);
	int64_t (*bit_ffs)(bitstr_t *bits);
	int64_t (*bit_fls)(bitstr_t *bits);
	char *(*bitmap2node_name)(bitstr_t *bits);
	char *(*vxstrfmt)(const char *format, va_list arguments);
	void (*xfree)(void **memory);
	void (*info)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	void (*error)(const char *format, ...) __attribute__((format(printf, 1, 2)));

	/* slurmctld */
	char **(*job_common_env_vars)(void *job, bool is_complete);
	bitstr_t **idle_node_bitmap; /* may be missing or point to nothing */
	const int *node_record_count;
};

bool slurm_api_in_slurmctld(void);

/* Slurm's own plugin only: enough to forward init() and fini() anywhere. */
void slurm_api_find_inner(struct slurm_api *api);

/* The whole table. NULL, or the name of the first symbol that is missing. */
const char *slurm_api_find_all(struct slurm_api *api);

/* An xmalloc'ed string, to be freed by slurm_api_free(). */
char *slurm_api_format(const struct slurm_api *api, const char *format, ...);
void slurm_api_free(const struct slurm_api *api, char *text);

/* Bits of a Slurm bitmap as bytes of the wire: (size + 7) / 8 of them. */
void slurm_api_read_bits(const struct slurm_api *api, bitstr_t *bits, uint8_t *out);

#endif
