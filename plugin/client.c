/* The two halves of client.h: the connection under its lock, and the background thread. */
#include "config.h" /* first: it turns on the GNU extensions */

#include "plugin/client.h"

#include "plugin/breaker.h"
#include "plugin/peer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	DEADLINE_MIN_US = 200,
	DEADLINE_MAX_US = 10000,
	DEADLINE_DEFAULT_US = 2000, /* until the first WELCOME */
	LEASE_MIN_MS = 2000,	    /* two PINGs */
	LEASE_MAX_MS = 60000,
	PING_US = 1000000,
	GREETING_US = 10000000, /* a HELLO without WELCOME for so long was lost on aegisd */
	SILENCE_US = 30000000,	/* likewise for a connection that went quiet */
	RETRY_MIN_US = 250000,
	RETRY_MAX_US = 2000000,
	RETRY_REFUSED_US = 10000000, /* another protocol version: only an upgrade helps */
	LOCK_US = 100,		     /* what a scheduling thread waits for the lock when it does not ask */
	LOCK_NAP_US = 20,
	POLL_SLACK_US = 60, /* the kernel's default timer slack of 50 us and a wake-up */
	DRAIN_ROUNDS = 16   /* a peer that floods us does not keep us reading for ever */
};

enum state {
	DOWN,	  /* no socket */
	GREETING, /* HELLO is on its way, no WELCOME yet */
	READY,	  /* welcomed */
	BROKEN	  /* unusable; the background thread is to close it */
};

struct client {
	char *socket_path;
	uint32_t slurm_version;
	struct tally *tally;
	void (*info)(const char *format, ...);
	void (*error)(const char *format, ...);

	int wake_fd;
	pthread_t thread;
	bool has_thread; /* of the threads that offer tables: serialised by Slurm's locks */
	_Atomic bool stopping;
	_Atomic bool table_refused;
	_Atomic(struct node_table *) offered; /* taken by the background thread */
	_Atomic int state;		      /* enum state; written under the lock */
	_Atomic uint32_t deadline_us;

	pthread_mutex_t lock; /* guards everything down to the next blank line */
	int fd;
	const char *problem; /* why the state is BROKEN */
	uint64_t retry_us;   /* how long to wait after it */
	struct breaker breaker;
	uint8_t mode;
	uint32_t lease_ms;
	uint64_t alive_us;     /* the last PONG or WELCOME */
	uint64_t greeted_hash; /* of the table in the last HELLO */
	uint32_t greeted_nodes;
	uint64_t last_request;
	uint64_t pending; /* the ask somebody waits for, or 0 */
	struct advice *answer;
	uint8_t frame[AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX];
	uint8_t out[AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX]; /* rest of a frame that went out in part */
	size_t out_at, out_end;
	uint8_t in[AEGIS_HEADER_BYTES + AEGIS_ADVICE_PAYLOAD_MAX];
	size_t in_end;

	/* the background thread's own */
	struct node_table *table;
	uint8_t *hello;
	size_t hello_at, hello_end;
	uint64_t next_ping_us, next_try_us, greeting_until_us, retry_backoff_us;
	bool said_down;	 /* the log knows that aegisd is away */
	int said_mode;	 /* the mode the log knows, or -1 */
};

uint64_t client_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void wake(struct client *c)
{
	const uint64_t one = 1;

	/* a full counter wakes as well; nothing else can fail here */
	(void)!write(c->wake_fd, &one, sizeof(one));
}

/* ---- the connection, under the lock ---- */

/* Time since an event that another thread may have noted after `now_us` was taken. */
static uint64_t since(uint64_t event_us, uint64_t now_us)
{
	return now_us > event_us ? now_us - event_us : 0;
}

static void break_off(struct client *c, const char *problem)
{
	if (c->state == BROKEN || c->state == DOWN)
		return;
	c->problem = problem;
	c->retry_us = 0;
	c->state = BROKEN;
	wake(c);
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : value;
}

static const char *take_welcome(struct client *c, const uint8_t *payload, size_t size, uint64_t now_us)
{
	struct aegis_welcome welcome;

	if (aegis_decode_welcome(payload, size, &welcome) != 0)
		return "a malformed WELCOME";
	if (welcome.status == AEGIS_REFUSED_VERSION) {
		c->retry_us = RETRY_REFUSED_US;
		return "it speaks another protocol version";
	}
	if (welcome.table_hash != c->greeted_hash)
		return NULL; /* for a table that we replaced meanwhile */
	if (welcome.status == AEGIS_REFUSED_NODE_TABLE) {
		c->table_refused = true;
		c->retry_us = RETRY_MAX_US;
		return "it refused the node table";
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
		return "an answer to nothing";
	if (aegis_decode_advice(payload, size, &advice) != 0)
		return "malformed advice";
	if (request != c->pending) {
		tally_count(c->tally, TALLY_LATE_ANSWERS);
		return NULL;
	}
	if (advice.plan_count > 0 && advice.plans[0].count != c->greeted_nodes)
		return "a plan for another number of nodes";
	c->answer->decision = advice.decision;
	c->answer->plan_count = advice.plan_count;
	for (unsigned i = 0; i < advice.plan_count; i++)
		memcpy(c->answer->plans[i], advice.plans[i].bytes, (advice.plans[i].count + 7) / 8);
	c->pending = 0;
	return NULL;
}

/* NULL, or what is wrong with the frame. */
static const char *take_frame(struct client *c, const struct aegis_header *header, const uint8_t *payload,
			      uint64_t now_us)
{
	switch (header->type) {
	case AEGIS_WELCOME:
		return take_welcome(c, payload, header->length, now_us);
	case AEGIS_ADVICE:
		return take_advice(c, header->request, payload, header->length);
	default: /* PONG: parse() lets nothing else pass */
		if (aegis_decode_pong(payload, header->length) != 0)
			return "a malformed PONG";
		c->alive_us = now_us;
		return NULL;
	}
}

static const char *parse(struct client *c, uint64_t now_us)
{
	size_t at = 0;

	for (;;) {
		struct aegis_header header;
		const int64_t length = aegis_frame_length(c->in + at, c->in_end - at, &header);
		const char *problem;

		if (length == AEGIS_WIRE_VERSION_BAD) {
			c->retry_us = RETRY_REFUSED_US;
			return "it speaks another protocol version";
		}
		if (length < 0)
			return "not a frame of the protocol";
		if (header.type != 0 && header.type != AEGIS_WELCOME && header.type != AEGIS_ADVICE &&
		    header.type != AEGIS_PONG)
			return "a frame only plugins send";
		if (length == 0)
			break;
		problem = take_frame(c, &header, c->in + at + AEGIS_HEADER_BYTES, now_us);
		if (problem != NULL)
			return problem;
		at += (size_t)length;
	}
	memmove(c->in, c->in + at, c->in_end - at);
	c->in_end -= at;
	return NULL;
}

/* Reads and handles all that has arrived. */
static void drain(struct client *c, uint64_t now_us)
{
	for (unsigned round = 0; round < DRAIN_ROUNDS; round++) {
		ssize_t got;
		const char *problem;

		if (c->state != READY && c->state != GREETING)
			return;
		got = recv(c->fd, c->in + c->in_end, sizeof(c->in) - c->in_end, MSG_DONTWAIT);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (got <= 0) {
			if (c->pending != 0)
				tally_count(c->tally, TALLY_SEND_FAILURES);
			break_off(c, got == 0 ? "it closed the connection" : strerror(errno));
			return;
		}
		c->in_end += (size_t)got;
		problem = parse(c, now_us);
		if (problem != NULL) {
			const uint64_t retry_us = c->retry_us;

			if (retry_us == 0)
				tally_count(c->tally, TALLY_MALFORMED);
			break_off(c, problem);
			c->retry_us = retry_us;
		}
	}
}

/* True when all left over from a partial send is out. */
static bool flush(struct client *c)
{
	while (c->out_at < c->out_end) {
		const ssize_t sent =
			send(c->fd, c->out + c->out_at, c->out_end - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				break_off(c, strerror(errno));
			return false;
		}
		c->out_at += (size_t)sent;
	}
	c->out_at = c->out_end = 0;
	return true;
}

/* Sends a whole frame, or none of it. What the socket takes in part is finished later by flush(). */
static bool send_frame(struct client *c, const uint8_t *frame, size_t length)
{
	if (length > sizeof(c->out) || !flush(c))
		return false;
	memcpy(c->out, frame, length);
	c->out_end = length;
	flush(c);
	if (c->out_at > 0 || c->out_end == 0)
		return true;
	c->out_end = 0;
	return false;
}

static bool usable(const struct client *c, uint64_t table_hash, uint64_t now_us)
{
	return c->state == READY && c->mode != AEGIS_MODE_OFF && c->greeted_hash == table_hash &&
	       since(c->alive_us, now_us) < (uint64_t)c->lease_ms * 1000;
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
	drain(c, now_us);
	wants = usable(c, table_hash, now_us) && breaker_would_allow(&c->breaker, now_us);
	pthread_mutex_unlock(&c->lock);
	return wants;
}

/* Waits for the answer to c->pending; true if it came. */
static bool await(struct client *c, uint64_t deadline_us)
{
	while (c->pending != 0 && c->state == READY) {
		const uint64_t now_us = client_now_us();
		struct pollfd poll_fd = {.fd = c->fd, .events = POLLIN};
		struct timespec left = {0};

		if (now_us + POLL_SLACK_US >= deadline_us) {
			tally_count(c->tally, TALLY_TIMEOUTS);
			return false;
		}
		if (c->out_end > 0)
			poll_fd.events |= POLLOUT;
		left.tv_nsec = (long)(deadline_us - now_us - POLL_SLACK_US) * 1000; /* below a second */
		if (ppoll(&poll_fd, 1, &left, NULL) > 0) {
			flush(c);
			drain(c, client_now_us());
		}
	}
	return c->pending == 0;
}

static bool exchange(struct client *c, const struct aegis_ask *ask, uint64_t deadline_us, struct advice *advice)
{
	const int64_t length = aegis_encode_ask(c->frame, sizeof(c->frame), c->last_request + 1, ask);
	bool answered = false;

	if (length < 0 || !breaker_allow(&c->breaker, client_now_us()))
		return false;
	c->pending = ++c->last_request;
	c->answer = advice;
	tally_count(c->tally, TALLY_ASKS);
	if (send_frame(c, c->frame, (size_t)length))
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
	drain(c, client_now_us());
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
	bool told = false;

	if (c->state != READY)
		return; /* nobody is there to be told */
	if (lock_until(c, client_now_us() + LOCK_US)) {
		told = c->state == READY && send_frame(c, frame, length);
		pthread_mutex_unlock(&c->lock);
	}
	if (!told)
		tally_count(c->tally, TALLY_EVENTS_DROPPED);
}

/* ---- the background thread ---- */

/* Takes an offered table and prepares its HELLO; false without one to greet with. */
static bool prepare_hello(struct client *c)
{
	struct node_table *table = atomic_exchange(&c->offered, NULL);
	struct aegis_hello message = {.slurm_version = c->slurm_version, .pid = (uint32_t)getpid()};
	int64_t length;
	size_t size;

	if (table != NULL) {
		node_table_free(c->table);
		c->table = table;
	}
	free(c->hello);
	c->hello = NULL;
	c->hello_at = c->hello_end = 0;
	if (c->table == NULL)
		return false;
	message.table_hash = c->table->hash;
	message.node_count = c->table->count;
	message.release = (struct aegis_bytes){PACKAGE_VERSION, sizeof(PACKAGE_VERSION) - 1};
	message.node_table = (struct aegis_bytes){c->table->text, c->table->length};
	size = AEGIS_HEADER_BYTES + 4096 + (size_t)c->table->length;
	c->hello = malloc(size);
	if (c->hello == NULL)
		return false;
	length = aegis_encode_hello(c->hello, size, &message);
	if (length < 0)
		return false;
	c->hello_end = (size_t)length;
	return true;
}

static void say_down(struct client *c, const char *problem)
{
	if (!c->said_down)
		c->info("aegis: no aegisd at %s (%s); Slurm alone places jobs, trying again quietly", c->socket_path,
			problem);
	c->said_down = true;
	c->said_mode = -1;
}

static void retry_later(struct client *c, uint64_t now_us, uint64_t least_us)
{
	uint64_t wait_us = c->retry_backoff_us > RETRY_MIN_US ? c->retry_backoff_us : RETRY_MIN_US;

	c->retry_backoff_us = wait_us * 2 < RETRY_MAX_US ? wait_us * 2 : RETRY_MAX_US;
	c->next_try_us = now_us + (wait_us > least_us ? wait_us : least_us);
}

/* HELLO goes out next, on a new connection or on the present one. */
static void begin_greeting(struct client *c, int fd, uint64_t now_us)
{
	pthread_mutex_lock(&c->lock);
	if (c->fd != fd) {
		c->fd = fd;
		c->in_end = c->out_at = c->out_end = 0;
	}
	c->greeted_hash = c->table->hash;
	c->greeted_nodes = c->table->count;
	c->state = GREETING;
	pthread_mutex_unlock(&c->lock);
	c->greeting_until_us = now_us + GREETING_US;
}

static void run_down(struct client *c, uint64_t now_us)
{
	const char *problem;
	int fd;

	if (now_us < c->next_try_us || !prepare_hello(c))
		return;
	fd = peer_connect(c->socket_path, &problem);
	if (fd < 0) {
		say_down(c, problem);
		retry_later(c, now_us, 0);
		return;
	}
	begin_greeting(c, fd, now_us);
}

static void run_greeting(struct client *c, uint64_t now_us)
{
	pthread_mutex_lock(&c->lock);
	while (c->state == GREETING && flush(c) && c->hello_at < c->hello_end) {
		const ssize_t sent =
			send(c->fd, c->hello + c->hello_at, c->hello_end - c->hello_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (sent < 0 && errno != EINTR)
			break_off(c, strerror(errno));
		else if (sent > 0)
			c->hello_at += (size_t)sent;
	}
	drain(c, now_us);
	if (c->state == GREETING && now_us >= c->greeting_until_us)
		break_off(c, "no WELCOME");
	if (c->state == READY) {
		tally_count(c->tally, TALLY_CONNECTS);
		c->next_ping_us = now_us;
		c->retry_backoff_us = 0;
		c->said_down = false;
	}
	pthread_mutex_unlock(&c->lock);
}

static void run_ready(struct client *c, uint64_t now_us)
{
	static const char *const names[] = {"off", "observe", "steer"};
	int mode;

	if (atomic_load(&c->offered) != NULL && prepare_hello(c)) {
		begin_greeting(c, c->fd, now_us);
		return;
	}
	pthread_mutex_lock(&c->lock);
	drain(c, now_us);
	if (c->state == READY && now_us >= c->next_ping_us) {
		struct aegis_counters counters = tally_snapshot(c->tally);
		int64_t length;

		counters.breaker_open = breaker_is_open(&c->breaker);
		counters.breaker_wait_ms = c->breaker.wait_ms;
		length = aegis_encode_ping(c->frame, sizeof(c->frame), ++c->last_request, &counters);
		send_frame(c, c->frame, (size_t)length); /* if it does not fit, the next one may */
		c->next_ping_us = now_us + PING_US;
	}
	if (c->state == READY && since(c->alive_us, now_us) >= SILENCE_US)
		break_off(c, "not a word for 30 s");
	mode = c->mode;
	pthread_mutex_unlock(&c->lock);
	if (mode != c->said_mode)
		c->info("aegis: aegisd at %s, mode %s", c->socket_path, names[mode]);
	c->said_mode = mode;
}

static void run_broken(struct client *c, uint64_t now_us)
{
	const char *problem;
	uint64_t retry_us;

	pthread_mutex_lock(&c->lock);
	close(c->fd);
	c->fd = -1;
	c->state = DOWN;
	problem = c->problem;
	retry_us = c->retry_us;
	pthread_mutex_unlock(&c->lock);
	say_down(c, problem);
	retry_later(c, now_us, retry_us);
}

/* Sleeps until something is to be done: somebody wakes us, the socket moves, or it is time. */
static void rest(struct client *c)
{
	struct pollfd fds[2] = {{.fd = c->wake_fd, .events = POLLIN}, {.fd = -1}};
	const uint64_t now_us = client_now_us();
	uint64_t until_us = now_us + PING_US, seen;
	const int state = c->state;

	if (state == BROKEN)
		return;
	if (state == GREETING) {
		fds[1].fd = c->fd;
		fds[1].events = c->hello_at < c->hello_end ? POLLIN | POLLOUT : POLLIN;
	}
	if (state == READY)
		until_us = c->next_ping_us;
	else if (state == DOWN && c->next_try_us > now_us && c->next_try_us < until_us)
		until_us = c->next_try_us;
	poll(fds, 2, until_us > now_us ? (int)((until_us - now_us + 999) / 1000) : 0);
	(void)!read(c->wake_fd, &seen, sizeof(seen)); /* EAGAIN when nobody woke us */
}

static void *run(void *argument)
{
	struct client *c = argument;

	while (!c->stopping) {
		const uint64_t now_us = client_now_us();

		switch ((enum state)c->state) {
		case DOWN:
			run_down(c, now_us);
			break;
		case GREETING:
			run_greeting(c, now_us);
			break;
		case READY:
			run_ready(c, now_us);
			break;
		case BROKEN:
			run_broken(c, now_us);
			break;
		}
		if (!c->stopping)
			rest(c);
	}
	return NULL;
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
	c->fd = -1;
	c->said_mode = -1;
	pthread_mutex_init(&c->lock, NULL);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->socket_path == NULL || c->wake_fd < 0) {
		client_destroy(c);
		return NULL;
	}
	return c;
}

/* All signals are slurmctld's: the thread is born with every one of them blocked. */
static void start_thread(struct client *c)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&c->thread, NULL, run, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	c->has_thread = rc == 0;
	if (c->has_thread)
		pthread_setname_np(c->thread, "aegis");
	else
		c->error("aegis: no thread (%s); Slurm alone places jobs", strerror(rc));
}

void client_offer_table(struct client *c, struct node_table *table)
{
	node_table_free(atomic_exchange(&c->offered, table));
	if (!c->has_thread)
		start_thread(c);
	wake(c);
}

void client_destroy(struct client *c)
{
	c->stopping = true;
	if (c->has_thread) {
		wake(c);
		pthread_join(c->thread, NULL);
	}
	if (c->fd >= 0)
		close(c->fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	node_table_free(c->offered);
	node_table_free(c->table);
	free(c->hello);
	pthread_mutex_destroy(&c->lock);
	free(c->socket_path);
	free(c);
}
