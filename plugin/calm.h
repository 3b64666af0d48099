/*
 * What the last CALM allows: to keep S1 of a one-node job without asking aegisd (lib/wire.h). Pure:
 * the caller brings the time. Whatever is missing, old or of another node table means "ask".
 */
#ifndef AEGIS_PLUGIN_CALM_H
#define AEGIS_PLUGIN_CALM_H

#include "lib/wire.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CALM_VALID_MAX_MS = 5000 };

struct calm { /* all zero: nothing known */
	uint64_t table_hash;
	uint64_t until_us;
	uint32_t count;
	uint8_t calm[AEGIS_NODES_MAX / 8], inviting[AEGIS_NODES_MAX / 8];
};

/* Replaces what was known, by a message that aegis_decode_calm() took. */
void calm_take(struct calm *calm, const struct aegis_calm *message, uint64_t now_us);

void calm_forget(struct calm *calm);

/* Would aegisd surely answer "keep" to this ask? */
bool calm_keeps(const struct calm *calm, const struct aegis_ask *ask, uint64_t now_us);

#ifdef __cplusplus
}
#endif
#endif
