/*
 * One job_test from Slurm's side to aegisd's: binds steer() to Slurm's bitmaps, the client and the
 * counters, and owns all of them. This is the plugin's one handle.
 *
 * Slurm's job and node write locks serialise job tests that start jobs; should two ever meet, the
 * second one is passed through to Slurm.
 */
#ifndef AEGIS_PLUGIN_PLACEMENT_H
#define AEGIS_PLUGIN_PLACEMENT_H

#include "lib/wire.h"
#include "plugin/slurm_api.h"

/* The arguments of select_p_job_test, as Slurm passed them. */
struct test_call {
	void *job;
	bitstr_t *nodes; /* in: candidates; out, on success: the nodes chosen */
	uint32_t min_nodes, max_nodes, req_nodes;
	uint16_t mode;
	void *preemptee_candidates;
	void **preemptees;
	void *exclusions;
	void *will_run; /* from 24.11 */
};

struct placement;

/* NULL without memory. `api` is copied. */
struct placement *placement_create(const struct slurm_api *api);
void placement_destroy(struct placement *placement);

/* What select_p_job_test is to return. */
int placement_job_test(struct placement *placement, const struct test_call *call);

/* The node table may have changed; called under the locks that changed it. */
void placement_reconfigured(struct placement *placement);

/* AEGIS_JOB_BEGIN or AEGIS_JOB_END. */
void placement_job_event(struct placement *placement, enum aegis_type type, void *job);

/* Slurm's own test with the arguments of `call`. */
int placement_inner_test(const struct slurm_api *api, const struct test_call *call, bool with_preemption);

#endif
