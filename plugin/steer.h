/*
 * The algorithm of select_p_job_test for a job that is about to start (DESIGN 4.3), without Slurm.
 *
 * What it needs from Slurm and from aegisd comes as a table of functions, so that every path is
 * tested with fakes. Promises:
 *  - at most four inner tests; the first one sees exactly what Slurm passed in
 *  - after the last successful inner test nothing touches the candidates
 *  - if the first inner test succeeds, either a plan succeeds or the last inner test is the same
 *    call as the first one; should that fail it is reported as AEGIS_RESULT_LOST
 */
#ifndef AEGIS_PLUGIN_STEER_H
#define AEGIS_PLUGIN_STEER_H

#include "lib/wire.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Advice copied out of the socket buffer; bits as in struct aegis_nodes. */
struct advice {
	uint64_t decision; /* 0: nothing was recorded */
	unsigned plan_count;
	uint8_t plans[AEGIS_PLANS_MAX][AEGIS_NODES_MAX / 8];
};

struct steer_ports {
	/* Slurm's own test on the current candidates: 0 or its error. Without preemption it gets no
	 * list of jobs it may preempt. */
	int (*test)(void *self, bool with_preemption);
	/* Did the test choose jobs to preempt? */
	bool (*preempts)(void *self);
	/* Ask aegisd about the set that now stands in the candidates. NULL: no opinion. */
	const struct advice *(*ask)(void *self);
	/* Candidates := original candidates on this plan's nodes. False if too few are left. */
	bool (*restrict_to)(void *self, const uint8_t *plan);
	/* Candidates := original candidates. */
	void (*restore)(void *self);
};

struct steer_outcome {
	bool advised;		  /* the fields below are filled */
	enum aegis_result result;
	unsigned inner_calls;
	unsigned plans_refused;
	int s1_rc, final_rc;
};

/* Returns what select_p_job_test is to return. */
int steer(const struct steer_ports *ports, void *self, struct steer_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
