/* Encoders and decoders of lib/wire.h. */
#include "lib/wire.h"

unsigned aegis_bucket_of(uint64_t us)
{
	unsigned bucket = 0;

	while (bucket + 1 < AEGIS_BUCKETS && us >= (UINT64_C(4) << bucket))
		bucket++;
	return bucket;
}

uint64_t aegis_table_hash(const char *table, size_t length, uint32_t node_count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)table[i]) * UINT64_C(0x100000001b3);
	for (unsigned shift = 0; shift < 32; shift += 8)
		hash = (hash ^ ((node_count >> shift) & 0xff)) * UINT64_C(0x100000001b3);
	return hash;
}
