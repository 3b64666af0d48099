/* The rule of calm.h. */
#include "plugin/calm.h"

#include <string.h>

void calm_take(struct calm *calm, const struct aegis_calm *message, uint64_t now_us)
{
	const uint32_t valid_ms = message->valid_ms < CALM_VALID_MAX_MS ? message->valid_ms : CALM_VALID_MAX_MS;
	const size_t size = ((size_t)message->calm.count + 7) / 8;

	calm->table_hash = message->table_hash;
	calm->until_us = now_us + UINT64_C(1000) * valid_ms;
	calm->count = message->calm.count;
	memcpy(calm->calm, message->calm.bytes, size);
	memcpy(calm->inviting, message->inviting.bytes, size);
}

void calm_forget(struct calm *calm)
{
	calm->count = 0;
}

bool calm_keeps(const struct calm *calm, const struct aegis_ask *ask, uint64_t now_us)
{
	/* who does not know which nodes are idle counts all candidates, as aegisd does */
	const uint8_t *idle = ask->flags & AEGIS_ASK_HAS_IDLE ? ask->idle.bytes : ask->candidates.bytes;
	unsigned s1_nodes = 0, s1_elsewhere = 0, invited = 0;

	if (calm->count == 0 || calm->table_hash != ask->table_hash || calm->count != ask->s1.count ||
	    now_us >= calm->until_us)
		return false;
	for (uint32_t i = 0; i < (calm->count + 7) / 8; i++) {
		s1_nodes += (unsigned)__builtin_popcount(ask->s1.bytes[i]);
		s1_elsewhere |= ask->s1.bytes[i] & (unsigned)~calm->calm[i];
		invited |= ask->candidates.bytes[i] & idle[i] & calm->inviting[i];
	}
	return s1_nodes == 1 && (s1_elsewhere == 0 || invited == 0);
}
