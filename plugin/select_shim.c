/*
 * The ABI of Slurm's select plugins: unpack, call, return.
 *
 * This file is loaded as select_cons_tres.so in place of Slurm's own, which is its ELF dependency:
 * dlsym() on our handle finds the own one's plugin_type, plugin_version and every select_p_* that is not
 * defined here. Only what is listed in select.map is visible.
 *
 * Outside slurmctld (clients of releases before 25.05 load select plugins, too) nothing but init()
 * and fini() is ever called, and they only forward.
 */
#include "plugin/placement.h"

#include <slurm/slurm_errno.h>

#ifndef AEGIS_BUILT_FOR_RELEASE
#define AEGIS_BUILT_FOR_RELEASE SLURM_VERSION_NUMBER
#endif

#pragma GCC visibility push(default)
int init(void);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
void fini(void);
#else
int fini(void);
#endif
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
int select_p_job_test(void *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,
		      uint16_t mode, void *preemptee_candidates, void **preemptees, void *exclusions, void *will_run);
#else
int select_p_job_test(void *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,
		      uint16_t mode, void *preemptee_candidates, void **preemptees, void *exclusions);
#endif
int select_p_job_begin(void *job);
int select_p_job_fini(void *job);
int select_p_reconfigure(void);
#pragma GCC visibility pop

/* The handle. File scope, because Slurm's callbacks carry no context. NULL outside slurmctld. */
static struct placement *placement;
static struct slurm_api api;

/* May we load here? If not, the log says why. */
static bool is_welcome_here(void)
{
	const char *missing = slurm_api_find_all(&api);
	const uint32_t built_for = AEGIS_BUILT_FOR_RELEASE;

	if (missing != NULL) {
		if (api.error != NULL)
			api.error("aegis: this Slurm has no %s; not loading, Slurm's own select/cons_tres takes over",
				  missing);
		return false;
	}
	if (*api.plugin_version >> 8 != built_for >> 8) {
		api.error("aegis: built for Slurm %u.%02u, this is %u.%02u.%u; not loading, Slurm's own "
			  "select/cons_tres takes over",
			  built_for >> 16, built_for >> 8 & 0xff, *api.plugin_version >> 16,
			  *api.plugin_version >> 8 & 0xff, *api.plugin_version & 0xff);
		return false;
	}
	return true;
}

int init(void)
{
	if (!slurm_api_in_slurmctld()) {
		slurm_api_find_inner(&api);
	} else if (placement == NULL) {
		if (!is_welcome_here())
			return SLURM_ERROR;
		placement = placement_create(&api);
		if (placement == NULL) {
			api.error("aegis: out of memory or descriptors; not loading, Slurm's own select/cons_tres takes over");
			return SLURM_ERROR;
		}
	}
	return api.inner_init != NULL ? api.inner_init() : SLURM_SUCCESS;
}

static void end(void)
{
	if (placement != NULL)
		placement_destroy(placement);
	placement = NULL;
	if (api.inner_fini != NULL)
		api.inner_fini();
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
void fini(void)
{
	end();
}
#else
int fini(void)
{
	end();
	return SLURM_SUCCESS;
}
#endif

static int job_test(const struct test_call *call)
{
	if (placement == NULL)
		return placement_inner_test(&api, call, true);
	return placement_job_test(placement, call);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
int select_p_job_test(void *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,
		      uint16_t mode, void *preemptee_candidates, void **preemptees, void *exclusions, void *will_run)
{
	return job_test(&(struct test_call){job, nodes, min_nodes, max_nodes, req_nodes, mode, preemptee_candidates,
					    preemptees, exclusions, will_run});
}
#else
int select_p_job_test(void *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes, uint32_t req_nodes,
		      uint16_t mode, void *preemptee_candidates, void **preemptees, void *exclusions)
{
	return job_test(&(struct test_call){job, nodes, min_nodes, max_nodes, req_nodes, mode, preemptee_candidates,
					    preemptees, exclusions, NULL});
}
#endif

int select_p_job_begin(void *job)
{
	const int rc = api.inner_job_begin(job);

	if (placement != NULL && rc == SLURM_SUCCESS)
		placement_job_event(placement, AEGIS_JOB_BEGIN, job);
	return rc;
}

int select_p_job_fini(void *job)
{
	const int rc = api.inner_job_fini(job);

	if (placement != NULL)
		placement_job_event(placement, AEGIS_JOB_END, job);
	return rc;
}

/* Called at start, on scontrol reconfigure and when nodes or partitions change. */
int select_p_reconfigure(void)
{
	const int rc = api.inner_reconfigure();

	if (placement != NULL)
		placement_reconfigured(placement);
	return rc;
}
