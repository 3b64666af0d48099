/* The binding of placement.h. */
#include "plugin/placement.h"

#include "plugin/breaker.h"
#include "plugin/client.h"
#include "plugin/job_facts.h"
#include "plugin/node_names.h"
#include "plugin/steer.h"
#include "plugin/tally.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MODE_RUN_NOW = 0, /* SELECT_MODE_RUN_NOW without any flag: the job starts if this succeeds */
	FACTS_SLOW_US = 500,	 /* three times in a row: no facts for a while */
	FACTS_TOO_SLOW_US = 5000, /* once is enough */
	FACTS_PAUSE_US = 20000	  /* between two look-ups for jobs that nobody is asked about: each takes some 100 us */
};

struct placement {
	struct slurm_api api;
	struct tally tally;
	struct client *client;
	struct facts_cache facts;
	struct breaker facts_breaker; /* slow look-ups: no facts for a while */
	uint64_t facts_asked_us;      /* the last look-up */
	atomic_flag busy;

	/* the table offered last; stale when Slurm may have changed its own */
	bool table_stale;
	uint64_t table_hash;
	uint32_t table_count;

	/* the job test at work */
	const struct test_call *call;
	bitstr_t *original; /* the candidates as they came; kept between calls while the size stays */
	uint64_t first_test_us;
	uint64_t waited_us;
	struct advice advice;
	uint8_t candidates[AEGIS_NODES_MAX / 8], s1[AEGIS_NODES_MAX / 8], idle[AEGIS_NODES_MAX / 8];
	uint8_t frame[AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX];
};

int placement_inner_test(const struct slurm_api *api, const struct test_call *call, bool with_preemption)
{
	return api->inner_job_test(call->job, call->nodes, call->min_nodes, call->max_nodes, call->req_nodes,
				   call->mode, with_preemption ? call->preemptee_candidates : NULL,
				   with_preemption ? call->preemptees : NULL, call->exclusions
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
				   ,
				   call->will_run
#endif
	);
}

/* ---- what is sent ---- */

static uint64_t epoch_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool name_job(const struct placement *p, void *job, struct job_name *name)
{
	char *text = slurm_api_format(&p->api, "%pJ", job);
	const bool known = text != NULL && job_name_parse(text, name);

	slurm_api_free(&p->api, text);
	return known;
}

/* Asks Slurm once per job or array. This is the one step whose time is not ours to bound: Slurm looks up the
 * names of the job's user and group, perhaps in a directory service. So it has a breaker of its own. */
static struct aegis_bytes find_facts(struct placement *p, const char *job_key, bool may_go_without)
{
	const uint64_t begin_us = client_now_us();
	char shared[AEGIS_JOB_KEY_MAX + 1];
	const char *key = facts_key(job_key, shared);
	struct aegis_bytes facts = facts_cache_find(&p->facts, key, begin_us);
	uint64_t end_us;
	char **environment;
	void *memory;

	if (facts.data != NULL || (may_go_without && begin_us - p->facts_asked_us < FACTS_PAUSE_US) ||
	    !breaker_allow(&p->facts_breaker, begin_us))
		return facts;
	p->facts_asked_us = begin_us;
	environment = p->api.job_common_env_vars(p->call->job, false);
	end_us = client_now_us();
	if (end_us - begin_us > FACTS_TOO_SLOW_US)
		breaker_trip(&p->facts_breaker, end_us);
	else if (end_us - begin_us > FACTS_SLOW_US)
		breaker_miss(&p->facts_breaker, end_us);
	else
		breaker_hit(&p->facts_breaker);
	if (environment == NULL)
		return facts;
	facts = facts_cache_keep(&p->facts, key, environment, begin_us);
	for (char **line = environment; *line != NULL; line++)
		slurm_api_free(&p->api, *line);
	memory = environment;
	p->api.xfree(&memory);
	return facts;
}

static void tell_outcome(struct placement *p, const struct steer_outcome *outcome)
{
	struct aegis_outcome message = {.decision = p->advice.decision,
					.result = (uint8_t)outcome->result,
					.inner_calls = (uint8_t)outcome->inner_calls,
					.s1_rc = outcome->s1_rc,
					.final_rc = outcome->final_rc,
					.waited_us = (uint32_t)p->waited_us};
	int64_t length;

	if (message.decision == 0)
		return;
	if (outcome->final_rc == 0) {
		slurm_api_read_bits(&p->api, p->call->nodes, p->s1);
		message.chosen = (struct aegis_nodes){p->table_count, p->s1};
	}
	length = aegis_encode_outcome(p->frame, sizeof(p->frame), &message);
	if (length > 0)
		client_tell(p->client, p->frame, (size_t)length);
}

/* Tells aegisd of a job that it was not asked about, so that it is on record like any other. */
static void report_kept(struct placement *p, struct aegis_ask *ask, const char *job_key)
{
	int64_t length;

	ask->facts = find_facts(p, job_key, true);
	ask->flags |= AEGIS_ASK_KEPT;
	length = aegis_encode_ask(p->frame, sizeof(p->frame), 0, ask);
	tally_count(&p->tally, TALLY_KEPT_UNASKED);
	if (length > 0)
		client_tell(p->client, p->frame, (size_t)length);
}

/* ---- the ports of steer() ---- */

static int port_test(void *self, bool with_preemption)
{
	struct placement *p = self;
	const uint64_t begin_us = client_now_us();
	const int rc = placement_inner_test(&p->api, p->call, with_preemption);

	if (p->first_test_us == 0) /* Slurm's own work; all later tests are ours */
		p->first_test_us = client_now_us() - begin_us + 1;
	return rc;
}

static bool port_preempts(void *self)
{
	const struct placement *p = self;

	return p->call->preemptees != NULL && *p->call->preemptees != NULL;
}

static const struct advice *port_ask(void *self)
{
	struct placement *p = self;
	const struct slurm_api *api = &p->api;
	const uint64_t begin_us = client_now_us();
	const uint64_t deadline_us = begin_us + client_deadline_us(p->client);
	bitstr_t *idle = api->idle_node_bitmap != NULL ? *api->idle_node_bitmap : NULL;
	struct job_name name;
	struct aegis_ask ask = {.table_hash = p->table_hash,
				.min_nodes = p->call->min_nodes,
				.max_nodes = p->call->max_nodes,
				.req_nodes = p->call->req_nodes,
				.time_us = epoch_us(),
				.candidates = {p->table_count, p->candidates},
				.s1 = {p->table_count, p->s1}};
	bool advised;

	if (!name_job(p, p->call->job, &name))
		return NULL;
	ask.job_key = (struct aegis_bytes){name.key, (uint32_t)strlen(name.key)};
	ask.job_id = name.job_id;
	slurm_api_read_bits(api, p->original, p->candidates);
	slurm_api_read_bits(api, p->call->nodes, p->s1);
	if (idle != NULL && api->bit_size(idle) == (int64_t)p->table_count) {
		slurm_api_read_bits(api, idle, p->idle);
		ask.idle = (struct aegis_nodes){p->table_count, p->idle};
		ask.flags |= AEGIS_ASK_HAS_IDLE;
	}
	if (client_keeps(p->client, &ask)) {
		report_kept(p, &ask, name.key);
		return NULL;
	}
	ask.facts = find_facts(p, name.key, false);
	advised = client_ask(p->client, &ask, deadline_us, &p->advice);
	p->waited_us = client_now_us() - begin_us;
	return advised ? &p->advice : NULL;
}

static void port_restore(void *self)
{
	struct placement *p = self;

	p->api.bit_copybits(p->call->nodes, p->original);
}

/* Only ever takes candidates away: what Slurm did not offer is never added. */
static bool port_restrict_to(void *self, const uint8_t *plan)
{
	struct placement *p = self;
	uint32_t left = 0;

	for (uint32_t i = 0; i < (p->table_count + 7) / 8; i++)
		left += (uint32_t)__builtin_popcount(p->candidates[i] & plan[i]);
	if (left < p->call->min_nodes)
		return false;
	port_restore(p);
	for (uint32_t node = 0; node < p->table_count; node++)
		if ((p->candidates[node / 8] & ~plan[node / 8]) >> (node % 8) & 1)
			p->api.bit_clear(p->call->nodes, node);
	return true;
}

/* ---- the node table ---- */

static void offer_table(struct placement *p, int64_t size)
{
	const struct slurm_api *api = &p->api;
	struct node_names names = {0};
	struct node_table *table;
	bitstr_t *one;

	if (size < 1 || size > AEGIS_NODES_MAX)
		return;
	one = api->bit_alloc(size);
	for (int64_t i = 0; i < size; i++) {
		char *name;

		api->bit_set(one, i);
		name = api->bitmap2node_name(one);
		node_names_add(&names, name != NULL ? name : "");
		slurm_api_free(api, name);
		api->bit_clear(one, i);
	}
	if (p->original != NULL)
		api->bit_free(&p->original);
	p->original = one;
	p->table_count = 0;
	table = node_names_finish(&names);
	if (table == NULL)
		return;
	p->table_count = table->count;
	p->table_hash = table->hash;
	p->table_stale = false;
	client_offer_table(p->client, table);
}

void placement_reconfigured(struct placement *p)
{
	p->table_stale = true;
	offer_table(p, *p->api.node_record_count);
}

/* ---- what Slurm calls ---- */

/* Tests that do not start the job, jobs without nodes and running preemptions are Slurm's own. */
static bool may_steer(const struct test_call *call)
{
	return call->mode == MODE_RUN_NOW && call->min_nodes > 0 && call->nodes != NULL && call->job != NULL &&
	       (call->preemptees == NULL || *call->preemptees == NULL);
}

/* Is there anybody to ask, about the node table Slurm works on? */
static bool is_ready(struct placement *p, const struct test_call *call)
{
	const int64_t size = p->api.bit_size(call->nodes);

	if (p->table_stale || size != (int64_t)p->table_count || client_table_refused(p->client))
		offer_table(p, size);
	return size == (int64_t)p->table_count && client_wants_ask(p->client, p->table_hash);
}

static int test_and_ask(struct placement *p, const struct test_call *call)
{
	static const struct steer_ports ports = {.test = port_test,
						 .preempts = port_preempts,
						 .ask = port_ask,
						 .restrict_to = port_restrict_to,
						 .restore = port_restore};
	struct steer_outcome outcome;
	int rc;

	p->api.bit_copybits(p->original, call->nodes);
	rc = steer(&ports, p, &outcome);
	if (!outcome.advised)
		return rc;
	for (unsigned i = 0; i < outcome.plans_refused; i++)
		tally_count(&p->tally, TALLY_PLANS_REFUSED);
	if (outcome.result == AEGIS_RESULT_PLAN_1 || outcome.result == AEGIS_RESULT_PLAN_2)
		tally_count(&p->tally, TALLY_PLANS_ACCEPTED);
	if (outcome.result == AEGIS_RESULT_RESTORED || outcome.result == AEGIS_RESULT_LOST)
		tally_count(&p->tally, TALLY_RESTORED);
	if (outcome.result == AEGIS_RESULT_LOST)
		tally_count(&p->tally, TALLY_LOSSES);
	tell_outcome(p, &outcome);
	return rc;
}

int placement_job_test(struct placement *p, const struct test_call *call)
{
	uint64_t begin_us;
	int rc;

	if (call->mode == MODE_RUN_NOW)
		tally_count(&p->tally, TALLY_JOB_TESTS);
	if (!may_steer(call) || atomic_flag_test_and_set(&p->busy))
		return placement_inner_test(&p->api, call, true);
	begin_us = client_now_us();
	p->call = call;
	p->first_test_us = 0;
	p->waited_us = 0;
	if (is_ready(p, call))
		rc = test_and_ask(p, call);
	else
		rc = port_test(p, true);
	tally_added(&p->tally, client_now_us() - begin_us - (p->first_test_us - 1));
	p->call = NULL;
	atomic_flag_clear(&p->busy);
	return rc;
}

void placement_job_event(struct placement *p, enum aegis_type type, void *job)
{
	uint8_t frame[AEGIS_HEADER_BYTES + AEGIS_JOB_KEY_MAX + 16];
	struct aegis_job_event message = {0};
	struct job_name name;
	int64_t length;

	if (job == NULL || !name_job(p, job, &name))
		return;
	message.job_key = (struct aegis_bytes){name.key, (uint32_t)strlen(name.key)};
	message.job_id = name.job_id;
	message.time_us = epoch_us();
	length = aegis_encode_job_event(frame, sizeof(frame), type, &message);
	if (length > 0)
		client_tell(p->client, frame, (size_t)length);
}

struct placement *placement_create(const struct slurm_api *api)
{
	struct placement *p = calloc(1, sizeof(*p));
	const char *path = getenv("AEGIS_SOCKET");
	struct client_settings settings = {.socket_path = path != NULL ? path : AEGIS_RUNDIR "/select.sock",
					   .slurm_version = *api->plugin_version,
					   .info = api->info,
					   .error = api->error};

	if (p == NULL)
		return NULL;
	p->api = *api;
	p->table_stale = true;
	settings.tally = &p->tally;
	p->client = client_create(&settings);
	if (p->client == NULL) {
		free(p);
		return NULL;
	}
	return p;
}

void placement_destroy(struct placement *p)
{
	client_destroy(p->client);
	if (p->original != NULL)
		p->api.bit_free(&p->original);
	free(p);
}
