/* The background thread of client.h: connects, greets, pings, closes. */
#include "config.h" /* first: it turns on the GNU extensions */

#include "plugin/client_state.h"
#include "plugin/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PING_US = 1000000,
	GREETING_US = 10000000, /* a HELLO without WELCOME for so long was lost on aegisd */
	SILENCE_US = 30000000,	/* likewise for a connection that went quiet */
	RETRY_MIN_US = 250000,
	RETRY_MAX_US = 2000000
};

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
	uint64_t wait_us = c->backoff_us > RETRY_MIN_US ? c->backoff_us : RETRY_MIN_US;

	c->backoff_us = wait_us * 2 < RETRY_MAX_US ? wait_us * 2 : RETRY_MAX_US;
	c->next_try_us = now_us + (wait_us > least_us ? wait_us : least_us);
}

/* HELLO goes out next, on a new connection or on the present one. */
static void begin_greeting(struct client *c, int fd, uint64_t now_us)
{
	pthread_mutex_lock(&c->lock);
	if (c->frames.fd != fd)
		frames_begin(&c->frames, fd);
	c->greeted_hash = c->table->hash;
	c->greeted_nodes = c->table->count;
	calm_forget(&c->calm);
	c->flush_us = 0;
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
	c->fresh = true;
	begin_greeting(c, fd, now_us);
}

static void run_greeting(struct client *c, uint64_t now_us)
{
	pthread_mutex_lock(&c->lock);
	while (c->state == GREETING && client_flush(c) && c->hello_at < c->hello_end) {
		const ssize_t sent =
			send(c->frames.fd, c->hello + c->hello_at, c->hello_end - c->hello_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (sent < 0 && errno != EINTR)
			client_break_off(c, strerror(errno));
		else if (sent > 0)
			c->hello_at += (size_t)sent;
	}
	client_drain(c);
	if (c->state == GREETING && now_us >= c->greeting_until_us)
		client_break_off(c, "no WELCOME");
	if (c->state == READY) {
		if (c->fresh)
			tally_count(c->tally, TALLY_CONNECTS);
		c->fresh = false;
		c->next_ping_us = now_us;
		c->backoff_us = 0;
		c->said_down = false;
	}
	pthread_mutex_unlock(&c->lock);
}

static void run_ready(struct client *c, uint64_t now_us)
{
	static const char *const names[] = {"off", "observe", "steer"};
	const bool greet = atomic_load(&c->offered) != NULL, prepared = greet && prepare_hello(c);
	int mode;

	if (prepared) {
		begin_greeting(c, c->frames.fd, now_us);
		return;
	}
	pthread_mutex_lock(&c->lock);
	if (greet)
		client_break_off(c, "no memory for a HELLO");
	client_drain(c);
	if (c->state == READY && c->flush_us != 0 && now_us >= c->flush_us)
		client_send_reports(c, now_us);
	if (c->state == READY && now_us >= c->next_ping_us) {
		struct aegis_counters counters = tally_snapshot(c->tally);
		int64_t length;

		counters.breaker_open = breaker_is_open(&c->breaker);
		counters.breaker_wait_ms = c->breaker.wait_ms;
		length = aegis_encode_ping(c->frame, sizeof(c->frame), ++c->last_request, &counters);
		client_send(c, c->frame, (size_t)length); /* if it does not fit, the next one may */
		c->next_ping_us = now_us + PING_US;
	}
	if (c->state == READY && client_since(c->alive_us, now_us) >= SILENCE_US)
		client_break_off(c, "not a word for 30 s");
	mode = c->mode;
	c->next_flush_us = c->flush_us;
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
	close(c->frames.fd);
	c->frames.fd = -1;
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
		fds[1].fd = c->frames.fd;
		fds[1].events = c->hello_at < c->hello_end ? POLLIN | POLLOUT : POLLIN;
	}
	if (state == READY)
		until_us = c->next_flush_us != 0 && c->next_flush_us < c->next_ping_us ? c->next_flush_us : c->next_ping_us;
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

void client_start_thread(struct client *c)
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
