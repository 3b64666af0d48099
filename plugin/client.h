/*
 * The plugin's end of the socket to aegisd.
 *
 * Two kinds of threads meet here. The background thread connects, greets, pings and closes.
 * Slurm's scheduling threads (one at a time, Slurm's locks see to that) ask and tell.
 *
 * One lock guards the connection and is only ever held over non-blocking calls, except by a
 * scheduling thread that waits for its answer until its deadline: then the background thread waits.
 * Whoever holds it reads all there is, so frames are neither lost nor read twice. A scheduling thread
 * takes it with a deadline, uses the socket only while the state is READY, and never closes it; the
 * background thread polls the socket without the lock only in other states.
 *
 * Nothing here blocks a scheduling thread beyond the given deadline, allocates on its path, or turns
 * a failure into anything but "no opinion".
 */
#ifndef AEGIS_PLUGIN_CLIENT_H
#define AEGIS_PLUGIN_CLIENT_H

#include "plugin/node_names.h"
#include "plugin/steer.h"
#include "plugin/tally.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct client;

struct client_settings {
	const char *socket_path; /* copied */
	uint32_t slurm_version;	 /* of the running slurmctld */
	struct tally *tally;	 /* outlives the client */
	void (*info)(const char *format, ...);
	void (*error)(const char *format, ...);
};

/* NULL without memory or an event descriptor. No thread runs before the first table is offered. */
struct client *client_create(const struct client_settings *settings);

/* Ends the background thread, waits for it, and frees everything. */
void client_destroy(struct client *client);

/* The node table to greet with from now on; takes it over. Until aegisd has welcomed it nobody asks. */
void client_offer_table(struct client *client, struct node_table *table);

/* Did aegisd refuse our table? Then it must be built and offered again. True once per refusal. */
bool client_table_refused(struct client *client);

/* Is it worth preparing an ask: welcomed with this table, mode not off, lease valid, breaker letting
 * one through? Reads what has arrived, so that a change of mode takes effect at once. */
bool client_wants_ask(struct client *client, uint64_t table_hash);

/* How long an ask may take in all, as welcomed and clamped. */
uint64_t client_deadline_us(struct client *client);

/* Asks and waits until `deadline_us` of CLOCK_MONOTONIC. True with *advice filled. */
bool client_ask(struct client *client, const struct aegis_ask *ask, uint64_t deadline_us, struct advice *advice);

/* True if the last CALM says that aegisd would surely keep S1: then asking is not worth its time. */
bool client_keeps(struct client *client, const struct aegis_ask *ask);

/* Reports OUTCOME, JOB_BEGIN, JOB_END or a kept ASK. It goes out within 20 ms, together with others: a report a
 * system call each would cost the scheduling thread more than all else. Where the buffer is full it is counted and dropped. */
void client_tell(struct client *client, const uint8_t *frame, size_t length);

/* Microseconds of CLOCK_MONOTONIC. */
uint64_t client_now_us(void);

#ifdef __cplusplus
}
#endif
#endif
