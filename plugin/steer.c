/* The algorithm of steer.h. */
#include "plugin/steer.h"

static int settled(struct steer_outcome *outcome, enum aegis_result result, int rc)
{
	outcome->advised = true;
	outcome->result = result;
	outcome->final_rc = rc;
	return rc;
}

int steer(const struct steer_ports *ports, void *self, struct steer_outcome *outcome)
{
	const struct advice *advice;
	int rc;

	*outcome = (struct steer_outcome){.inner_calls = 1};
	rc = ports->test(self, true);
	outcome->s1_rc = rc;
	/* The list of preemptees would be appended to by another test: never test again after that. */
	if (rc != 0 || ports->preempts(self))
		return rc;
	advice = ports->ask(self);
	if (advice == NULL)
		return rc;
	if (advice->plan_count == 0)
		return settled(outcome, AEGIS_RESULT_KEPT, rc);
	for (unsigned i = 0; i < advice->plan_count; i++) {
		if (ports->restrict_to(self, advice->plans[i])) {
			outcome->inner_calls++;
			if (ports->test(self, false) == 0)
				return settled(outcome, i == 0 ? AEGIS_RESULT_PLAN_1 : AEGIS_RESULT_PLAN_2, 0);
		}
		outcome->plans_refused++;
	}
	/* A failed test leaves the candidates and the job's resources undefined: begin anew. */
	ports->restore(self);
	outcome->inner_calls++;
	rc = ports->test(self, true);
	return settled(outcome, rc == 0 ? AEGIS_RESULT_RESTORED : AEGIS_RESULT_LOST, rc);
}
