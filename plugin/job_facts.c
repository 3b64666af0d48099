/* The facts of job_facts.h. */
#include "plugin/job_facts.h"

#include <stdio.h>
#include <string.h>

static const char *read_number(const char *at, uint32_t *number)
{
	uint64_t value = 0;

	if (*at < '0' || *at > '9')
		return NULL;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (uint64_t)(*at - '0');
		if (value > UINT32_MAX)
			return NULL;
	}
	*number = (uint32_t)value;
	return at;
}

bool job_name_parse(const char *text, struct job_name *name)
{
	static const char prefix[] = "JobId=";
	const char *key = text + sizeof(prefix) - 1, *at;
	uint32_t part;
	size_t length;

	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0)
		return false;
	at = read_number(key, &name->job_id);
	if (at != NULL && (*at == '_' || *at == '+'))
		at = read_number(at + 1, &part);
	if (at == NULL)
		return false;
	length = (size_t)(at - key);
	if (*at == '(') {
		at = read_number(at + 1, &name->job_id);
		if (at == NULL || *at++ != ')')
			return false;
	}
	if (*at != '\0' || length > AEGIS_JOB_KEY_MAX)
		return false;
	memcpy(name->key, key, length);
	name->key[length] = '\0';
	return true;
}

static bool is_job_fact(const char *line)
{
	static const char *const names[] = {"NAME=",	"ACCOUNT=", "PARTITION=",   "UID=",
					    "USER=",	"COMMENT=", "RESERVATION=", "QOS="};
	static const char prefix[] = "SLURM_JOB_";

	if (strncmp(line, prefix, sizeof(prefix) - 1) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(line + sizeof(prefix) - 1, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool is_spank_fact(const char *line)
{
	return strncmp(line, "SPANK_", 6) == 0 && strchr(line, '=') != NULL;
}

/* Appends one escaped line, or nothing: the new length. */
static uint32_t append(const char *line, char *out, uint32_t used, uint32_t size)
{
	const char *value = strchr(line, '=') + 1;
	const size_t length = (size_t)(value - line) + strnlen(value, FACT_VALUE_MAX);
	uint32_t at = used;

	if (strcmp(value, "(null)") == 0) /* how Slurm prints what is not set */
		return used;
	for (size_t i = 0; i < length; i++) {
		const bool escaped = line[i] == '\n' || line[i] == '\\';

		if (size - at < (escaped ? 2u : 1u))
			return used;
		if (escaped)
			out[at++] = '\\';
		out[at++] = line[i] == '\n' ? 'n' : line[i];
	}
	if (at == size)
		return used;
	out[at++] = '\n';
	return at;
}

uint32_t job_facts_write(char *const *environment, char *out, uint32_t size)
{
	uint32_t used = 0;

	for (char *const *line = environment; *line != NULL; line++)
		if (is_job_fact(*line))
			used = append(*line, out, used, size);
	for (char *const *line = environment; *line != NULL; line++)
		if (is_spank_fact(*line))
			used = append(*line, out, used, size);
	return used;
}

const char *facts_key(const char *job_key, char *out)
{
	snprintf(out, AEGIS_JOB_KEY_MAX + 1, "%s", job_key);
	out[strcspn(out, "_")] = '\0';
	return out;
}

struct aegis_bytes facts_cache_find(const struct facts_cache *cache, const char *key, uint64_t now_us)
{
	for (unsigned i = 0; i < FACTS_KEPT; i++)
		if (strcmp(cache->kept[i].key, key) == 0 &&
		    now_us - cache->kept[i].written_us < UINT64_C(1000) * FACTS_FRESH_MS)
			return (struct aegis_bytes){cache->kept[i].text, cache->kept[i].length};
	return (struct aegis_bytes){NULL, 0};
}

struct aegis_bytes facts_cache_keep(struct facts_cache *cache, const char *key, char *const *environment,
				    uint64_t now_us)
{
	unsigned slot = cache->next++ % FACTS_KEPT;

	/* facts grown old are replaced where they are, so that no key is kept twice */
	for (unsigned i = 0; i < FACTS_KEPT; i++)
		if (strcmp(cache->kept[i].key, key) == 0)
			slot = i;
	snprintf(cache->kept[slot].key, sizeof(cache->kept[slot].key), "%s", key);
	cache->kept[slot].written_us = now_us;
	cache->kept[slot].length = job_facts_write(environment, cache->kept[slot].text, AEGIS_FACTS_MAX);
	return (struct aegis_bytes){cache->kept[slot].text, cache->kept[slot].length};
}
