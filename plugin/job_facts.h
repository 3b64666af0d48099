/*
 * Who a job is: its key and number from Slurm's "%pJ" text, and a few facts from the environment
 * Slurm prepares for prologs, as NAME=value lines for ASK. Pure: the caller brings text and time.
 */
#ifndef AEGIS_PLUGIN_JOB_FACTS_H
#define AEGIS_PLUGIN_JOB_FACTS_H

#include "lib/wire.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct job_name {
	char key[AEGIS_JOB_KEY_MAX + 1]; /* 7, 100_3, 9+1 */
	uint32_t job_id;
};

/* From "JobId=7", "JobId=100_3(103)", "JobId=9+1(10)". False for anything else, such as the meta
 * record of an array ("JobId=100_*") or a record Slurm calls invalid. */
bool job_name_parse(const char *text, struct job_name *name);

enum {
	FACT_VALUE_MAX = 1024, /* longer values are cut: a job name may be a megabyte */
	FACTS_KEPT = 32,
	FACTS_FRESH_MS = 60000 /* a pending job's comment may be edited */
};

/* Writes SLURM_JOB_{NAME,ACCOUNT,PARTITION,UID,USER,COMMENT,RESERVATION,QOS} and then SPANK_* of a
 * NULL-terminated environment, one line each, newline and backslash escaped. What does not fit is
 * left out as a whole line. Returns the length, at most `size`. */
uint32_t job_facts_write(char *const *environment, char *out, uint32_t size);

/* The part of a key that jobs with the same facts share: tasks of an array come from one submission. Writes
 * into `out`, of AEGIS_JOB_KEY_MAX + 1 bytes, and returns it. */
const char *facts_key(const char *job_key, char *out);

struct facts_cache { /* all zero: empty */
	struct {
		char key[AEGIS_JOB_KEY_MAX + 1];
		uint64_t written_us;
		uint32_t length;
		char text[AEGIS_FACTS_MAX];
	} kept[FACTS_KEPT];
	unsigned next;
};

/* The kept facts of a job, or data NULL. */
struct aegis_bytes facts_cache_find(const struct facts_cache *cache, const char *key, uint64_t now_us);

/* Keeps the facts of one job, forgetting those kept longest. */
struct aegis_bytes facts_cache_keep(struct facts_cache *cache, const char *key, char *const *environment,
				    uint64_t now_us);

#ifdef __cplusplus
}
#endif
#endif
