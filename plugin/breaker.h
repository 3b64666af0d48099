/*
 * Circuit breaker of the asks: after three misses in a row nobody asks for a while.
 *
 * closed --3 misses--> open for 5 s --time--> one probe: a hit closes it, a miss opens it again for
 * twice as long, at most 60 s. A miss is anything but a usable answer before the deadline.
 *
 * Pure: time is an argument, in microseconds of a clock that never goes back. Not thread-safe;
 * the client's lock guards it.
 */
#ifndef AEGIS_PLUGIN_BREAKER_H
#define AEGIS_PLUGIN_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	BREAKER_MISSES = 3, /* one may be a page fault, two a busy moment */
	BREAKER_WAIT_MS = 5000,
	BREAKER_WAIT_MAX_MS = 60000
};

struct breaker { /* all zero: closed */
	unsigned misses;     /* in a row, while closed */
	uint32_t wait_ms;    /* how long it stays open this time; 0 while closed */
	uint64_t until_us;   /* when the probe may go out */
	bool probing;	     /* the probe is out */
};

bool breaker_is_open(const struct breaker *b);

/* Would an ask be let through now? */
bool breaker_would_allow(const struct breaker *b, uint64_t now_us);

/* May this ask go out? If the breaker is open and its time is over, this ask is the probe, and its
 * caller owes a hit or a miss. */
bool breaker_allow(struct breaker *b, uint64_t now_us);

void breaker_hit(struct breaker *b);

/* True if this miss opened it, for the first time or again. */
bool breaker_miss(struct breaker *b, uint64_t now_us);

/* So bad that one was enough: opens it. */
void breaker_trip(struct breaker *b, uint64_t now_us);

/* A new aegisd is there: the next ask may be the probe, however long the wait still was. */
void breaker_end_wait(struct breaker *b, uint64_t now_us);

#ifdef __cplusplus
}
#endif
#endif
