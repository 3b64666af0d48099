/*
 * How long a scheduling thread waits for advice: the plugin's own client against a running aegisd.
 *
 *     advice_rtt SOCKET NODES ASKS [PAUSE_US]
 *
 * Greets with nodes n00... as the tests name them, then asks for two-node jobs whose S1 walks over the
 * cluster while all nodes are candidates, and tells the outcome of each as the plugin does. Between asks it pauses
 * as slurmctld does between jobs (1,000 us by default), so caches are as cold as they are there.
 *
 * Prints one line an ask: microseconds, or "missed" where no answer came in time. While the client's circuit breaker is open
 * nothing is asked. Exit status 1 if aegisd does not welcome us, or the breaker stays open for too long.
 */
#include "plugin/client.h"

#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PATIENCE_SECONDS = 70, S1_NODES = 2 }; /* the breaker opens for 60 s at most */

static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

static void rest_us(unsigned long us)
{
	const struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

static struct node_table *make_table(uint32_t nodes)
{
	struct node_names names = {0};
	char name[16];
	int digits = snprintf(name, sizeof(name), "%u", nodes - 1);

	if (digits < 2)
		digits = 2;
	for (uint32_t i = 0; i < nodes; i++) {
		snprintf(name, sizeof(name), "n%0*u", digits, i);
		node_names_add(&names, name);
	}
	return node_names_finish(&names);
}

static void tell_kept(struct client *client, const struct aegis_nodes *chosen, uint64_t decision, uint64_t waited_us)
{
	static uint8_t frame[AEGIS_HEADER_BYTES + AEGIS_NODES_MAX / 8 + 256];
	const struct aegis_outcome outcome = {.decision = decision,
					      .result = AEGIS_RESULT_KEPT,
					      .inner_calls = 1,
					      .waited_us = (uint32_t)waited_us,
					      .chosen = *chosen};
	const int64_t length = aegis_encode_outcome(frame, sizeof(frame), &outcome);

	if (length > 0)
		client_tell(client, frame, (size_t)length);
}

static void ask_once(struct client *client, uint64_t hash, uint32_t nodes, uint32_t job)
{
	static const char facts[] = "SLURM_JOB_NAME=bench\nSLURM_JOB_PARTITION=main\nSLURM_JOB_UID=0\n";
	static uint8_t all[AEGIS_NODES_MAX / 8], s1[AEGIS_NODES_MAX / 8];
	static struct advice advice;
	const uint32_t first = job * S1_NODES % (nodes - S1_NODES + 1);
	struct aegis_ask ask = {.table_hash = hash,
				.min_nodes = S1_NODES,
				.max_nodes = S1_NODES,
				.req_nodes = S1_NODES,
				.flags = AEGIS_ASK_HAS_IDLE,
				.job_id = job,
				.facts = {facts, sizeof(facts) - 1},
				.candidates = {nodes, all},
				.s1 = {nodes, s1},
				.idle = {nodes, all}};
	char key[16];
	uint64_t begin_us, waited_us;

	memset(all, 0, sizeof(all));
	memset(s1, 0, sizeof(s1));
	for (uint32_t i = 0; i < nodes; i++)
		all[i / 8] |= (uint8_t)(1u << (i % 8));
	for (uint32_t i = first; i < first + S1_NODES; i++)
		s1[i / 8] |= (uint8_t)(1u << (i % 8));
	ask.job_key.data = key;
	ask.job_key.length = (uint32_t)snprintf(key, sizeof(key), "%u", job);

	begin_us = client_now_us();
	if (!client_ask(client, &ask, begin_us + client_deadline_us(client), &advice)) {
		puts("missed");
		return;
	}
	waited_us = client_now_us() - begin_us;
	printf("%llu\n", (unsigned long long)waited_us);
	if (advice.decision != 0)
		tell_kept(client, &ask.s1, advice.decision, waited_us);
}

static bool wait_until_wanted(struct client *client, uint64_t hash)
{
	const uint64_t give_up_us = client_now_us() + PATIENCE_SECONDS * 1000000ull;

	while (!client_wants_ask(client, hash)) {
		if (client_now_us() > give_up_us)
			return false;
		rest_us(10000);
	}
	return true;
}

int main(int argc, char **argv)
{
	struct tally tally = {0};
	const struct client_settings settings = {.socket_path = argc > 1 ? argv[1] : "",
						 .slurm_version = SLURM_VERSION_NUMBER,
						 .tally = &tally,
						 .info = say,
						 .error = say};
	const unsigned long nodes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	const unsigned long asks = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	const unsigned long pause_us = argc > 4 ? strtoul(argv[4], NULL, 10) : 1000;
	struct node_table *table;
	struct client *client;
	uint64_t hash;

	if (nodes < S1_NODES || nodes > AEGIS_NODES_MAX || asks == 0) {
		fprintf(stderr, "usage: advice_rtt SOCKET NODES ASKS [PAUSE_US]\n");
		return 2;
	}
	table = make_table((uint32_t)nodes);
	client = client_create(&settings);
	if (table == NULL || client == NULL) {
		fprintf(stderr, "advice_rtt: no memory\n");
		return 1;
	}
	hash = table->hash;
	client_offer_table(client, table);
	for (uint32_t job = 1; job <= asks; job++) {
		if (!wait_until_wanted(client, hash)) {
			fprintf(stderr, "advice_rtt: nobody to ask at %s\n", argv[1]);
			return 1;
		}
		ask_once(client, hash, (uint32_t)nodes, job);
		rest_us(pause_us);
	}
	client_destroy(client);
	return 0;
}
