/* The breaker of breaker.h. */
#include "plugin/breaker.h"

bool breaker_is_open(const struct breaker *b)
{
	return b->wait_ms > 0;
}

bool breaker_would_allow(const struct breaker *b, uint64_t now_us)
{
	return !breaker_is_open(b) || (!b->probing && now_us >= b->until_us);
}

bool breaker_allow(struct breaker *b, uint64_t now_us)
{
	if (!breaker_would_allow(b, now_us))
		return false;
	b->probing = breaker_is_open(b);
	return true;
}

void breaker_hit(struct breaker *b)
{
	*b = (struct breaker){0};
}

bool breaker_miss(struct breaker *b, uint64_t now_us)
{
	if (!breaker_is_open(b)) {
		if (++b->misses < BREAKER_MISSES)
			return false;
		b->wait_ms = BREAKER_WAIT_MS;
	} else if (b->wait_ms < BREAKER_WAIT_MAX_MS / 2) {
		b->wait_ms *= 2;
	} else {
		b->wait_ms = BREAKER_WAIT_MAX_MS;
	}
	b->until_us = now_us + (uint64_t)b->wait_ms * 1000;
	b->probing = false;
	return true;
}

void breaker_trip(struct breaker *b, uint64_t now_us)
{
	while (!breaker_miss(b, now_us))
		;
}

void breaker_end_wait(struct breaker *b, uint64_t now_us)
{
	b->until_us = now_us;
}
