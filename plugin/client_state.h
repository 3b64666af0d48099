/*
 * What client.c (the protocol and the scheduling threads) and client_thread.c (the background
 * thread) share. The rules of the lock stand in client.h.
 */
#ifndef AEGIS_PLUGIN_CLIENT_STATE_H
#define AEGIS_PLUGIN_CLIENT_STATE_H

#include "plugin/breaker.h"
#include "plugin/calm.h"
#include "plugin/client.h"
#include "plugin/frames.h"

#include <pthread.h>

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

	int wake_fd; /* ends the background thread's sleep */
	pthread_t thread;
	bool has_thread; /* of the threads that offer tables: serialised by Slurm's locks */
	_Atomic bool stopping;
	_Atomic bool table_refused;
	_Atomic(struct node_table *) offered; /* taken by the background thread */
	_Atomic int state;		      /* enum state; written under the lock */
	_Atomic uint32_t deadline_us;

	pthread_mutex_t lock; /* guards everything down to the next blank line */
	struct frames frames;
	const char *problem; /* why the state is BROKEN */
	uint64_t retry_us;   /* at least so long to wait before the next attempt */
	struct breaker breaker;
	struct calm calm;
	uint8_t mode;
	uint32_t lease_ms;
	uint64_t alive_us;     /* the last PONG or WELCOME */
	uint64_t greeted_hash; /* of the table in the last HELLO */
	uint32_t greeted_nodes;
	uint64_t last_request;
	uint64_t pending; /* the ask somebody waits for, or 0 */
	struct advice *answer;
	uint64_t flush_us; /* when reports that wait for company are to go, or 0 */
	uint8_t frame[AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX];

	/* the background thread's own */
	struct node_table *table;
	uint8_t *hello;
	size_t hello_at, hello_end;
	uint64_t next_ping_us, next_flush_us, next_try_us, greeting_until_us, backoff_us;
	bool fresh;	/* this connection was never welcomed */
	bool said_down; /* the log knows that aegisd is away */
	int said_mode;	/* the mode the log knows, or -1 */
};

void client_wake(struct client *client);

/* ---- under the lock, in the states GREETING and READY; any of them may end in BROKEN ---- */

void client_break_off(struct client *client, const char *problem);

/* Reads and handles all that has arrived. */
void client_drain(struct client *client);

/* True when nothing is left of earlier frames. */
bool client_flush(struct client *client);

/* A whole frame, or none of it. */
bool client_send(struct client *client, const uint8_t *frame, size_t length);

/* Sends the reports that wait; what the socket does not take now is tried again soon. */
void client_send_reports(struct client *client, uint64_t now_us);

/* Time since an event that another thread may have noted after `now_us` was taken. */
uint64_t client_since(uint64_t event_us, uint64_t now_us);

/* ---- client_thread.c ---- */

/* All signals are slurmctld's: the thread is born with every one of them blocked. */
void client_start_thread(struct client *client);

#endif
