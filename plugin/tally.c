/* The counters of tally.h. */
#include "plugin/tally.h"

#include <stdbool.h>

static void add(uint64_t *counter, uint64_t value)
{
	__atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

static uint64_t read_now(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void tally_count(struct tally *tally, enum tally_counter counter)
{
	add(&tally->counters[counter], 1);
}

void tally_added(struct tally *tally, uint64_t us)
{
	uint64_t max = read_now(&tally->added_us_max);

	add(&tally->added_us_total, us);
	add(&tally->added_us[aegis_bucket_of(us)], 1);
	while (us > max && !__atomic_compare_exchange_n(&tally->added_us_max, &max, us, true, __ATOMIC_RELAXED,
							__ATOMIC_RELAXED))
		;
}

struct aegis_counters tally_snapshot(const struct tally *tally)
{
	struct aegis_counters out = {
		.job_tests = read_now(&tally->counters[TALLY_JOB_TESTS]),
		.asks = read_now(&tally->counters[TALLY_ASKS]),
		.kept_unasked = read_now(&tally->counters[TALLY_KEPT_UNASKED]),
		.advice_keep = read_now(&tally->counters[TALLY_ADVICE_KEEP]),
		.advice_plans = read_now(&tally->counters[TALLY_ADVICE_PLANS]),
		.plans_accepted = read_now(&tally->counters[TALLY_PLANS_ACCEPTED]),
		.plans_refused = read_now(&tally->counters[TALLY_PLANS_REFUSED]),
		.restored = read_now(&tally->counters[TALLY_RESTORED]),
		.losses = read_now(&tally->counters[TALLY_LOSSES]),
		.timeouts = read_now(&tally->counters[TALLY_TIMEOUTS]),
		.late_answers = read_now(&tally->counters[TALLY_LATE_ANSWERS]),
		.send_failures = read_now(&tally->counters[TALLY_SEND_FAILURES]),
		.malformed = read_now(&tally->counters[TALLY_MALFORMED]),
		.breaker_opened = read_now(&tally->counters[TALLY_BREAKER_OPENED]),
		.connects = read_now(&tally->counters[TALLY_CONNECTS]),
		.events_dropped = read_now(&tally->counters[TALLY_EVENTS_DROPPED]),
		.added_us_total = read_now(&tally->added_us_total),
		.added_us_max = read_now(&tally->added_us_max),
	};

	for (unsigned i = 0; i < AEGIS_BUCKETS; i++)
		out.added_us[i] = read_now(&tally->added_us[i]);
	return out;
}
