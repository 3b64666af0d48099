/*
 * What the plugin counts about itself, for PING. The scheduling threads and the background thread
 * add; nobody takes away. Relaxed atomics: each number is right, a snapshot is not one instant.
 */
#ifndef AEGIS_PLUGIN_TALLY_H
#define AEGIS_PLUGIN_TALLY_H

#include "lib/wire.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names as in struct aegis_counters. */
enum tally_counter {
	TALLY_JOB_TESTS,
	TALLY_ASKS,
	TALLY_KEPT_UNASKED,
	TALLY_ADVICE_KEEP,
	TALLY_ADVICE_PLANS,
	TALLY_PLANS_ACCEPTED,
	TALLY_PLANS_REFUSED,
	TALLY_RESTORED,
	TALLY_LOSSES,
	TALLY_TIMEOUTS,
	TALLY_LATE_ANSWERS,
	TALLY_SEND_FAILURES,
	TALLY_MALFORMED,
	TALLY_BREAKER_OPENED,
	TALLY_CONNECTS,
	TALLY_EVENTS_DROPPED,
	TALLY_COUNTERS
};

struct tally { /* only touched by tally.c's atomic operations */
	uint64_t counters[TALLY_COUNTERS];
	uint64_t added_us_total, added_us_max;
	uint64_t added_us[AEGIS_BUCKETS];
};

void tally_count(struct tally *tally, enum tally_counter counter);

/* Time added to one job_test, in microseconds. */
void tally_added(struct tally *tally, uint64_t us);

/* Everything but the two breaker fields, which are left 0. */
struct aegis_counters tally_snapshot(const struct tally *tally);

#ifdef __cplusplus
}
#endif
#endif
