/* The protocol and the scheduling threads' half of client.h. */
#include "config.h" /* first: it turns on the GNU extensions */

#include "plugin/client_state.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	DEADLINE_MIN_US = 200,
	DEADLINE_MAX_US = 10000,
	DEADLINE_DEFAULT_US = 2000, /* until the first WELCOME */
	LEASE_MIN_MS = 2000,	    /* two PINGs */
	LEASE_MAX_MS = 60000,
	RETRY_REFUSED_US = 10000000, /* another version or table: only an upgrade or a reload helps */
	LOCK_US = 100,		     /* what a scheduling thread waits for the lock when it does not ask */
	LOCK_NAP_US = 20,
	LINGER_US = 20000, /* how long a report waits for company */
	SPIN_US = 150,	   /* most answers come sooner; to be woken up takes about 50 us more */
	POLL_SLACK_US = 60 /* the kernel's default timer slack of 50 us and a wake-up */
};

uint64_t client_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void client_wake(struct client *c)
{
	const uint64_t one = 1;

	/* a full counter wakes as well; nothing else can fail here */
	(void)!write(c->wake_fd, &one, sizeof(one));
}

uint64_t client_since(uint64_t event_us, uint64_t now_us)
{
	return now_us > event_us ? now_us - event_us : 0;
}

/* ---- the protocol, under the lock ---- */

void client_break_off(struct client *c, const char *problem)
{
	if (c->state == BROKEN || c->state == DOWN)
		return;
	c->problem = problem;
	c->retry_us = 0;
	c->state = BROKEN;
	client_wake(c);
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : value;
}

static const char refused_table[] = "it refused the node table";

static const char *take_welcome(struct client *c, const uint8_t *payload, size_t size, uint64_t now_us)
{
	struct aegis_welcome welcome;

	if (aegis_decode_welcome(payload, size, &welcome) != 0)
		return "it sent a malformed WELCOME";
	if (welcome.status == AEGIS_REFUSED_VERSION)
		return frames_other_version;
	if (welcome.table_hash != c->greeted_hash)
		return NULL; /* for a table that we replaced meanwhile */
	if (welcome.status == AEGIS_REFUSED_NODE_TABLE) {
		c->table_refused = true;
		return refused_table;
	}
	c->mode = welcome.mode;
	c->deadline_us = clamp(welcome.deadline_us, DEADLINE_MIN_US, DEADLINE_MAX_US);
	c->lease_ms = clamp(welcome.lease_ms, LEASE_MIN_MS, LEASE_MAX_MS);
	c->alive_us = now_us;
	if (c->state == GREETING) {
		breaker_end_wait(&c->breaker, now_us);
		c->state = READY;
	}
	return NULL;
}

static const char *take_advice(struct client *c, uint64_t request, const uint8_t *payload, size_t size)
{
	struct aegis_advice advice;

	if (request == 0 || request > c->last_request)
		return "it answered what nobody asked";
	if (aegis_decode_advice(payload, size, &advice) != 0)
		return "it sent malformed advice";
	if (request != c->pending) {
		tally_count(c->tally, TALLY_LATE_ANSWERS);
		return NULL;
	}
	if (advice.plan_count > 0 && advice.plans[0].count != c->greeted_nodes)
		return "it sent a plan for another number of nodes";
	c->answer->decision = advice.decision;
	c->answer->plan_count = advice.plan_count;
	for (unsigned i = 0; i < advice.plan_count; i++)
		memcpy(c->answer->plans[i], advice.plans[i].bytes, (advice.plans[i].count + 7) / 8);
	c->pending = 0;
	return NULL;
}

static const char *take_calm(struct client *c, const uint8_t *payload, size_t size, uint64_t now_us)
{
	struct aegis_calm message;

	if (aegis_decode_calm(payload, size, &message) != 0)
		return "it sent a malformed CALM";
	if (message.table_hash != c->greeted_hash)
		return NULL; /* for a table that we replaced meanwhile */
	if (message.calm.count != c->greeted_nodes)
		return "it sent a CALM for another number of nodes";
	calm_take(&c->calm, &message, now_us);
	return NULL;
}

static const char *take_frame(void *context, const struct aegis_header *header, const uint8_t *payload)
{
	struct client *c = context;

	switch (header->type) {
	case AEGIS_WELCOME:
		return take_welcome(c, payload, header->length, client_now_us());
	case AEGIS_ADVICE:
		return take_advice(c, header->request, payload, header->length);
	case AEGIS_CALM:
		return take_calm(c, payload, header->length, client_now_us());
	default: /* frames_read() lets nothing else pass but PONG */
		if (aegis_decode_pong(payload, header->length) != 0)
			return "it sent a malformed PONG";
		c->alive_us = client_now_us();
		return NULL;
	}
}

void client_drain(struct client *c)
{
	const char *problem;

	if (c->state != READY && c->state != GREETING)
		return;
	problem = frames_read(&c->frames, take_frame, c);
	if (problem == NULL)
		return;
	client_break_off(c, problem);
	if (problem == frames_other_version || problem == refused_table)
		c->retry_us = RETRY_REFUSED_US;
	else if (problem != frames_closed)
		tally_count(c->tally, TALLY_MALFORMED);
	else if (c->pending != 0)
		tally_count(c->tally, TALLY_SEND_FAILURES);
}

bool client_flush(struct client *c)
{
	const char *problem = NULL;
	const bool flushed = frames_flush(&c->frames, &problem);

	if (problem != NULL)
		client_break_off(c, problem);
	return flushed;
}

bool client_send(struct client *c, const uint8_t *frame, size_t length)
{
	const char *problem = NULL;
	const bool sent = frames_send(&c->frames, frame, length, &problem);

	if (problem != NULL)
		client_break_off(c, problem);
	return sent && problem == NULL;
}

void client_send_reports(struct client *c, uint64_t now_us)
{
	c->flush_us = client_flush(c) ? 0 : now_us + LINGER_US;
}

static bool usable(const struct client *c, uint64_t table_hash, uint64_t now_us)
{
	return c->state == READY && c->mode != AEGIS_MODE_OFF && c->greeted_hash == table_hash &&
	       client_since(c->alive_us, now_us) < (uint64_t)c->lease_ms * 1000;
}

/* ---- the scheduling threads ---- */

static bool lock_until(struct client *c, uint64_t deadline_us)
{
	const struct timespec nap = {.tv_nsec = LOCK_NAP_US * 1000};

	while (pthread_mutex_trylock(&c->lock) != 0) {
		if (client_now_us() >= deadline_us)
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

bool client_table_refused(struct client *c)
{
	return atomic_exchange(&c->table_refused, false);
}

uint64_t client_deadline_us(struct client *c)
{
	return c->deadline_us;
}

bool client_wants_ask(struct client *c, uint64_t table_hash)
{
	const uint64_t now_us = client_now_us();
	bool wants;

	if (c->state != READY || !lock_until(c, now_us + LOCK_US))
		return false;
	client_drain(c);
	wants = usable(c, table_hash, now_us) && breaker_would_allow(&c->breaker, now_us);
	pthread_mutex_unlock(&c->lock);
	return wants;
}

bool client_keeps(struct client *c, const struct aegis_ask *ask)
{
	const uint64_t now_us = client_now_us();
	bool keeps;

	if (c->state != READY || !lock_until(c, now_us + LOCK_US))
		return false;
	keeps = usable(c, ask->table_hash, now_us) && calm_keeps(&c->calm, ask, now_us);
	pthread_mutex_unlock(&c->lock);
	return keeps;
}

/* Takes an answer that comes at once without going to sleep for it. */
static void spin(struct client *c, uint64_t until_us)
{
	while (c->pending != 0 && c->state == READY && client_now_us() < until_us)
		client_drain(c);
}

/* Waits for the answer to c->pending; true if it came. */
static bool await(struct client *c, uint64_t deadline_us)
{
	const uint64_t spin_us = client_now_us() + SPIN_US, limit_us = deadline_us - POLL_SLACK_US;

	spin(c, spin_us < limit_us ? spin_us : limit_us);
	while (c->pending != 0 && c->state == READY) {
		const uint64_t now_us = client_now_us();
		struct pollfd poll_fd = {.fd = c->frames.fd, .events = POLLIN};
		struct timespec left = {0};

		if (now_us + POLL_SLACK_US >= deadline_us) {
			tally_count(c->tally, TALLY_TIMEOUTS);
			return false;
		}
		if (c->frames.out_end > 0)
			poll_fd.events |= POLLOUT;
		left.tv_nsec = (long)(deadline_us - now_us - POLL_SLACK_US) * 1000; /* below a second */
		if (ppoll(&poll_fd, 1, &left, NULL) > 0) {
			client_flush(c);
			client_drain(c);
		}
	}
	return c->pending == 0;
}

static bool exchange(struct client *c, const struct aegis_ask *ask, uint64_t deadline_us, struct advice *advice)
{
	const int64_t length = aegis_encode_ask(c->frame, sizeof(c->frame), c->last_request + 1, ask);
	bool answered = false;

	/* preparing the ask may have used up its time, which is not aegisd's fault */
	if (length < 0 || client_now_us() + POLL_SLACK_US >= deadline_us ||
	    !breaker_allow(&c->breaker, client_now_us()))
		return false;
	c->pending = ++c->last_request;
	c->answer = advice;
	tally_count(c->tally, TALLY_ASKS);
	if (client_send(c, c->frame, (size_t)length))
		answered = await(c, deadline_us);
	else
		tally_count(c->tally, TALLY_SEND_FAILURES);
	c->pending = 0;
	c->answer = NULL;
	return answered;
}

bool client_ask(struct client *c, const struct aegis_ask *ask, uint64_t deadline_us, struct advice *advice)
{
	bool asked, answered = false, was_open, opened = false;
	uint32_t wait_ms;
	uint64_t before;

	if (c->state != READY || !lock_until(c, deadline_us))
		return false;
	client_drain(c);
	was_open = breaker_is_open(&c->breaker);
	before = c->last_request;
	if (usable(c, ask->table_hash, client_now_us()) && ask->candidates.count == c->greeted_nodes)
		answered = exchange(c, ask, deadline_us, advice);
	asked = c->last_request != before;
	if (answered)
		breaker_hit(&c->breaker);
	else if (asked)
		opened = breaker_miss(&c->breaker, client_now_us());
	wait_ms = c->breaker.wait_ms;
	pthread_mutex_unlock(&c->lock);

	if (answered)
		tally_count(c->tally, advice->plan_count > 0 ? TALLY_ADVICE_PLANS : TALLY_ADVICE_KEEP);
	if (opened) {
		tally_count(c->tally, TALLY_BREAKER_OPENED);
		c->info("aegis: no advice in time, not asking for %u s; Slurm alone places jobs", wait_ms / 1000);
	}
	if (answered && was_open)
		c->info("aegis: advice comes in time again");
	return answered;
}

void client_tell(struct client *c, const uint8_t *frame, size_t length)
{
	const uint64_t now_us = client_now_us();
	bool told = false, first = false;

	if (c->state != READY)
		return; /* nobody is there to be told */
	if (lock_until(c, now_us + LOCK_US)) {
		told = c->state == READY &&
		       (frames_queue(&c->frames, frame, length) ||
			(client_flush(c) && c->state == READY && frames_queue(&c->frames, frame, length)));
		first = told && c->flush_us == 0;
		if (first)
			c->flush_us = now_us + LINGER_US;
		pthread_mutex_unlock(&c->lock);
	}
	if (first)
		client_wake(c);
	if (!told)
		tally_count(c->tally, TALLY_EVENTS_DROPPED);
}

/* ---- life ---- */

struct client *client_create(const struct client_settings *settings)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->socket_path = strdup(settings->socket_path);
	c->slurm_version = settings->slurm_version;
	c->tally = settings->tally;
	c->info = settings->info;
	c->error = settings->error;
	c->deadline_us = DEADLINE_DEFAULT_US;
	c->frames.fd = -1;
	c->said_mode = -1;
	pthread_mutex_init(&c->lock, NULL);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->socket_path == NULL || c->wake_fd < 0) {
		client_destroy(c);
		return NULL;
	}
	return c;
}

void client_offer_table(struct client *c, struct node_table *table)
{
	node_table_free(atomic_exchange(&c->offered, table));
	if (!c->has_thread)
		client_start_thread(c);
	client_wake(c);
}

void client_destroy(struct client *c)
{
	c->stopping = true;
	if (c->has_thread) {
		client_wake(c);
		pthread_join(c->thread, NULL);
	}
	if (c->state == READY)
		client_send_reports(c, client_now_us());
	if (c->frames.fd >= 0)
		close(c->frames.fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	node_table_free(c->offered);
	node_table_free(c->table);
	free(c->hello);
	pthread_mutex_destroy(&c->lock);
	free(c->socket_path);
	free(c);
}
