/*
 * Encoders and decoders of lib/wire.h.
 *
 * Both work on a cursor that remembers its first error and does nothing from then on, so a message
 * is a straight list of its fields. What the fields may hold is decided once, in check_*(), which
 * both directions call: what we would refuse we do not send.
 */
#include "lib/wire.h"

#include <stdbool.h>
#include <string.h>

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

/* ---- what a message may hold ---- */

static size_t nodes_bytes(uint32_t count)
{
	return ((size_t)count + 7) / 8;
}

static int check_nodes(const struct aegis_nodes *nodes)
{
	if (nodes->count > AEGIS_NODES_MAX)
		return AEGIS_WIRE_LENGTH_BAD;
	if (nodes->count % 8 != 0 && nodes->bytes[nodes->count / 8] >> (nodes->count % 8) != 0)
		return AEGIS_WIRE_VALUE_BAD;
	return 0;
}

static int check_text(const struct aegis_bytes *text, uint32_t longest)
{
	if (text->length > longest)
		return AEGIS_WIRE_LENGTH_BAD;
	if (text->length > 0 && memchr(text->data, '\0', text->length) != NULL)
		return AEGIS_WIRE_VALUE_BAD;
	return 0;
}

/* A job key goes into log lines and SQL parameters: visible ASCII, at least one character. */
static int check_job_key(const struct aegis_bytes *key)
{
	if (key->length == 0 || key->length > AEGIS_JOB_KEY_MAX)
		return AEGIS_WIRE_LENGTH_BAD;
	for (uint32_t i = 0; i < key->length; i++)
		if (key->data[i] <= ' ' || key->data[i] > '~')
			return AEGIS_WIRE_VALUE_BAD;
	return 0;
}

static int check_hello(const struct aegis_hello *message)
{
	int rc = check_text(&message->release, AEGIS_RELEASE_MAX);

	if (rc == 0)
		rc = check_text(&message->node_table, AEGIS_NODE_TABLE_MAX);
	if (rc == 0 && message->node_count > AEGIS_NODES_MAX)
		rc = AEGIS_WIRE_LENGTH_BAD;
	return rc;
}

static int check_welcome(const struct aegis_welcome *message)
{
	if (message->status > AEGIS_REFUSED_NODE_TABLE || message->mode > AEGIS_MODE_STEER)
		return AEGIS_WIRE_VALUE_BAD;
	return 0;
}

static bool subset(const struct aegis_nodes *part, const struct aegis_nodes *whole)
{
	for (size_t i = 0; i < nodes_bytes(whole->count); i++)
		if ((part->bytes[i] & ~whole->bytes[i]) != 0)
			return false;
	return true;
}

static int check_ask(const struct aegis_ask *message)
{
	const bool has_idle = message->flags & AEGIS_ASK_HAS_IDLE;
	int rc = check_job_key(&message->job_key);

	if (rc == 0)
		rc = check_text(&message->facts, AEGIS_FACTS_MAX);
	if (rc == 0)
		rc = check_nodes(&message->candidates);
	if (rc == 0)
		rc = check_nodes(&message->s1);
	if (rc == 0)
		rc = check_nodes(&message->idle);
	if (rc != 0)
		return rc;
	if (message->flags & ~(uint32_t)(AEGIS_ASK_BACKFILL | AEGIS_ASK_HAS_IDLE | AEGIS_ASK_KEPT))
		return AEGIS_WIRE_VALUE_BAD;
	if (message->candidates.count == 0 || message->s1.count != message->candidates.count ||
	    message->idle.count != (has_idle ? message->candidates.count : 0))
		return AEGIS_WIRE_VALUE_BAD;
	return subset(&message->s1, &message->candidates) ? 0 : AEGIS_WIRE_VALUE_BAD;
}

static int check_advice(const struct aegis_advice *message)
{
	if (message->plan_count > AEGIS_PLANS_MAX)
		return AEGIS_WIRE_LENGTH_BAD;
	if (message->verdict > AEGIS_PLANS || (message->verdict == AEGIS_PLANS) != (message->plan_count > 0))
		return AEGIS_WIRE_VALUE_BAD;
	for (unsigned i = 0; i < message->plan_count; i++) {
		int rc = check_nodes(&message->plans[i]);

		if (rc != 0)
			return rc;
		if (message->plans[i].count == 0 || message->plans[i].count != message->plans[0].count)
			return AEGIS_WIRE_VALUE_BAD;
	}
	return 0;
}

static int check_calm(const struct aegis_calm *message)
{
	int rc = check_nodes(&message->calm);

	if (rc == 0)
		rc = check_nodes(&message->inviting);
	if (rc == 0 && (message->calm.count == 0 || message->inviting.count != message->calm.count))
		rc = AEGIS_WIRE_VALUE_BAD;
	return rc;
}

static int check_outcome(const struct aegis_outcome *message)
{
	if (message->decision == 0 || message->result > AEGIS_RESULT_LOST || message->inner_calls < 1 ||
	    message->inner_calls > AEGIS_PLANS_MAX + 2)
		return AEGIS_WIRE_VALUE_BAD;
	return check_nodes(&message->chosen);
}

static int check_counters(const struct aegis_counters *message)
{
	return message->breaker_open > 1 ? AEGIS_WIRE_VALUE_BAD : 0;
}

/* ---- the header ---- */

static uint64_t load(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

/* Payload bounds of a type. The exact ones come from decoding; these stop hoarding. */
static uint32_t payload_max(uint16_t type)
{
	switch (type) {
	case AEGIS_HELLO:
		return AEGIS_PAYLOAD_MAX;
	case AEGIS_ASK:
		return AEGIS_ASK_PAYLOAD_MAX;
	case AEGIS_ADVICE:
		return AEGIS_ADVICE_PAYLOAD_MAX;
	case AEGIS_OUTCOME:
		return AEGIS_OUTCOME_PAYLOAD_MAX;
	case AEGIS_CALM:
		return AEGIS_CALM_PAYLOAD_MAX;
	default:
		return 512; /* WELCOME 18, job events at most 79, PING 280, PONG 0 */
	}
}

int64_t aegis_frame_length(const uint8_t *buffer, size_t size, struct aegis_header *header)
{
	static const uint8_t magic[4] = {'A', 'E', 'G', 'S'};

	memset(header, 0, sizeof(*header));
	if (size > 0 && memcmp(buffer, magic, size < sizeof(magic) ? size : sizeof(magic)) != 0)
		return AEGIS_WIRE_MAGIC_BAD;
	if (size < AEGIS_HEADER_BYTES)
		return 0;
	header->version = (uint16_t)load(buffer + 4, 2);
	header->type = (uint16_t)load(buffer + 6, 2);
	header->length = (uint32_t)load(buffer + 8, 4);
	header->request = load(buffer + 12, 8);
	if (header->version != AEGIS_WIRE_VERSION)
		return AEGIS_WIRE_VERSION_BAD;
	if (header->type < AEGIS_HELLO || header->type > AEGIS_CALM)
		return AEGIS_WIRE_TYPE_BAD;
	if (header->length > payload_max(header->type))
		return AEGIS_WIRE_LENGTH_BAD;
	if (size - AEGIS_HEADER_BYTES < header->length)
		return 0;
	return AEGIS_HEADER_BYTES + (int64_t)header->length;
}

/* ---- encoding ---- */

struct writer {
	uint8_t *start;
	size_t size, used;
	int error;
};

static uint8_t *claim(struct writer *w, size_t bytes)
{
	uint8_t *at = w->start + w->used;

	if (w->error != 0)
		return NULL;
	if (w->size - w->used < bytes) {
		w->error = AEGIS_WIRE_NO_SPACE;
		return NULL;
	}
	w->used += bytes;
	return at;
}

static void put(struct writer *w, uint64_t value, unsigned bytes)
{
	uint8_t *at = claim(w, bytes);

	for (unsigned i = 0; at != NULL && i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static void put_bytes(struct writer *w, const void *data, size_t length)
{
	uint8_t *at = claim(w, length);

	if (at != NULL && length > 0)
		memcpy(at, data, length);
}

static void put_text(struct writer *w, const struct aegis_bytes *text)
{
	put(w, text->length, 4);
	put_bytes(w, text->data, text->length);
}

static void put_nodes(struct writer *w, const struct aegis_nodes *nodes)
{
	put(w, nodes->count, 4);
	put_bytes(w, nodes->bytes, nodes_bytes(nodes->count));
}

static struct writer begin(uint8_t *out, size_t size, enum aegis_type type, uint64_t request, int error)
{
	struct writer w = {.start = out, .size = size, .error = error};

	put(&w, AEGIS_WIRE_MAGIC, 4);
	put(&w, AEGIS_WIRE_VERSION, 2);
	put(&w, type, 2);
	put(&w, 0, 4); /* the length, known in finish() */
	put(&w, request, 8);
	return w;
}

static int64_t finish(const struct writer *w)
{
	struct writer length = {.start = w->start + 8, .size = 4};

	if (w->error != 0)
		return w->error;
	put(&length, w->used - AEGIS_HEADER_BYTES, 4);
	return (int64_t)w->used;
}

int64_t aegis_encode_hello(uint8_t *out, size_t size, const struct aegis_hello *message)
{
	struct writer w = begin(out, size, AEGIS_HELLO, 0, check_hello(message));

	put(&w, message->slurm_version, 4);
	put(&w, message->pid, 4);
	put(&w, message->table_hash, 8);
	put(&w, message->node_count, 4);
	put_text(&w, &message->release);
	put_text(&w, &message->node_table);
	return finish(&w);
}

int64_t aegis_encode_welcome(uint8_t *out, size_t size, const struct aegis_welcome *message)
{
	struct writer w = begin(out, size, AEGIS_WELCOME, 0, check_welcome(message));

	put(&w, message->status, 1);
	put(&w, message->mode, 1);
	put(&w, message->deadline_us, 4);
	put(&w, message->lease_ms, 4);
	put(&w, message->table_hash, 8);
	return finish(&w);
}

int64_t aegis_encode_ask(uint8_t *out, size_t size, uint64_t request, const struct aegis_ask *message)
{
	struct writer w = begin(out, size, AEGIS_ASK, request, check_ask(message));

	put(&w, message->table_hash, 8);
	put(&w, message->min_nodes, 4);
	put(&w, message->max_nodes, 4);
	put(&w, message->req_nodes, 4);
	put(&w, message->flags, 4);
	put_text(&w, &message->job_key);
	put(&w, message->job_id, 4);
	put(&w, message->time_us, 8);
	put_text(&w, &message->facts);
	put_nodes(&w, &message->candidates);
	put_nodes(&w, &message->s1);
	put_nodes(&w, &message->idle);
	return finish(&w);
}

int64_t aegis_encode_advice(uint8_t *out, size_t size, uint64_t request, const struct aegis_advice *message)
{
	struct writer w = begin(out, size, AEGIS_ADVICE, request, check_advice(message));

	put(&w, message->decision, 8);
	put(&w, message->verdict, 1);
	put(&w, message->plan_count, 1);
	for (unsigned i = 0; w.error == 0 && i < message->plan_count; i++)
		put_nodes(&w, &message->plans[i]);
	return finish(&w);
}

int64_t aegis_encode_calm(uint8_t *out, size_t size, const struct aegis_calm *message)
{
	struct writer w = begin(out, size, AEGIS_CALM, 0, check_calm(message));

	put(&w, message->table_hash, 8);
	put(&w, message->valid_ms, 4);
	put_nodes(&w, &message->calm);
	put_nodes(&w, &message->inviting);
	return finish(&w);
}

int64_t aegis_encode_outcome(uint8_t *out, size_t size, const struct aegis_outcome *message)
{
	struct writer w = begin(out, size, AEGIS_OUTCOME, 0, check_outcome(message));

	put(&w, message->decision, 8);
	put(&w, message->result, 1);
	put(&w, message->inner_calls, 1);
	put(&w, (uint32_t)message->s1_rc, 4);
	put(&w, (uint32_t)message->final_rc, 4);
	put(&w, message->waited_us, 4);
	put_nodes(&w, &message->chosen);
	return finish(&w);
}

int64_t aegis_encode_job_event(uint8_t *out, size_t size, enum aegis_type type, const struct aegis_job_event *message)
{
	const bool is_event = type == AEGIS_JOB_BEGIN || type == AEGIS_JOB_END;
	struct writer w =
		begin(out, size, type, 0, is_event ? check_job_key(&message->job_key) : AEGIS_WIRE_TYPE_BAD);

	put_text(&w, &message->job_key);
	put(&w, message->job_id, 4);
	put(&w, message->time_us, 8);
	return finish(&w);
}

/* The u64 counters in wire order, but the histogram: one list for both directions. */
static uint64_t *counter(struct aegis_counters *c, unsigned index)
{
	uint64_t *const counters[] = {
		&c->job_tests,	    &c->asks,		&c->kept_unasked, &c->advice_keep,    &c->advice_plans,
		&c->plans_accepted, &c->plans_refused,	&c->restored,	  &c->losses,	      &c->timeouts,
		&c->late_answers,   &c->send_failures,	&c->malformed,	  &c->breaker_opened, &c->connects,
		&c->events_dropped, &c->added_us_total, &c->added_us_max};

	if (index < sizeof(counters) / sizeof(counters[0]))
		return counters[index];
	index -= sizeof(counters) / sizeof(counters[0]);
	return index < AEGIS_BUCKETS ? &c->added_us[index] : NULL;
}

int64_t aegis_encode_ping(uint8_t *out, size_t size, uint64_t request, const struct aegis_counters *message)
{
	struct writer w = begin(out, size, AEGIS_PING, request, check_counters(message));
	struct aegis_counters copy = *message;
	uint64_t *value;

	for (unsigned i = 0; (value = counter(&copy, i)) != NULL; i++)
		put(&w, *value, 8);
	put(&w, message->breaker_open, 4);
	put(&w, message->breaker_wait_ms, 4);
	return finish(&w);
}

int64_t aegis_encode_pong(uint8_t *out, size_t size, uint64_t request)
{
	struct writer w = begin(out, size, AEGIS_PONG, request, 0);

	return finish(&w);
}

/* ---- decoding ---- */

struct reader {
	const uint8_t *at;
	size_t left;
	int error;
};

static const uint8_t *take(struct reader *r, size_t bytes)
{
	const uint8_t *at = r->at;

	if (r->error != 0)
		return NULL;
	if (r->left < bytes) {
		r->error = AEGIS_WIRE_SHORT;
		return NULL;
	}
	r->at += bytes;
	r->left -= bytes;
	return at;
}

static uint64_t get(struct reader *r, unsigned bytes)
{
	const uint8_t *at = take(r, bytes);

	return at != NULL ? load(at, bytes) : 0;
}

static struct aegis_bytes get_text(struct reader *r, uint32_t longest)
{
	struct aegis_bytes text = {.length = (uint32_t)get(r, 4)};

	if (r->error == 0 && text.length > longest)
		r->error = AEGIS_WIRE_LENGTH_BAD;
	text.data = (const char *)take(r, text.length);
	return text;
}

static struct aegis_nodes get_nodes(struct reader *r)
{
	struct aegis_nodes nodes = {.count = (uint32_t)get(r, 4)};

	if (r->error == 0 && nodes.count > AEGIS_NODES_MAX)
		r->error = AEGIS_WIRE_LENGTH_BAD;
	nodes.bytes = take(r, nodes_bytes(nodes.count));
	return nodes;
}

/* 0 when the payload was consumed exactly; the fields may only be looked at then. */
static int end(const struct reader *r)
{
	if (r->error == 0 && r->left != 0)
		return AEGIS_WIRE_LENGTH_BAD;
	return r->error;
}

/* Ends a decoder: the message is zeroed unless it was whole and its fields are allowed. */
static int settle(int rc, void *message, size_t size)
{
	if (rc != 0)
		memset(message, 0, size);
	return rc;
}

int aegis_decode_hello(const uint8_t *payload, size_t size, struct aegis_hello *message)
{
	struct reader r = {.at = payload, .left = size};

	message->slurm_version = (uint32_t)get(&r, 4);
	message->pid = (uint32_t)get(&r, 4);
	message->table_hash = get(&r, 8);
	message->node_count = (uint32_t)get(&r, 4);
	message->release = get_text(&r, AEGIS_RELEASE_MAX);
	message->node_table = get_text(&r, AEGIS_NODE_TABLE_MAX);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_hello(message), message, sizeof(*message));
}

int aegis_decode_welcome(const uint8_t *payload, size_t size, struct aegis_welcome *message)
{
	struct reader r = {.at = payload, .left = size};

	message->status = (uint8_t)get(&r, 1);
	message->mode = (uint8_t)get(&r, 1);
	message->deadline_us = (uint32_t)get(&r, 4);
	message->lease_ms = (uint32_t)get(&r, 4);
	message->table_hash = get(&r, 8);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_welcome(message), message, sizeof(*message));
}

int aegis_decode_ask(const uint8_t *payload, size_t size, struct aegis_ask *message)
{
	struct reader r = {.at = payload, .left = size};

	message->table_hash = get(&r, 8);
	message->min_nodes = (uint32_t)get(&r, 4);
	message->max_nodes = (uint32_t)get(&r, 4);
	message->req_nodes = (uint32_t)get(&r, 4);
	message->flags = (uint32_t)get(&r, 4);
	message->job_key = get_text(&r, AEGIS_JOB_KEY_MAX);
	message->job_id = (uint32_t)get(&r, 4);
	message->time_us = get(&r, 8);
	message->facts = get_text(&r, AEGIS_FACTS_MAX);
	message->candidates = get_nodes(&r);
	message->s1 = get_nodes(&r);
	message->idle = get_nodes(&r);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_ask(message), message, sizeof(*message));
}

int aegis_decode_advice(const uint8_t *payload, size_t size, struct aegis_advice *message)
{
	struct reader r = {.at = payload, .left = size};

	memset(message, 0, sizeof(*message));
	message->decision = get(&r, 8);
	message->verdict = (uint8_t)get(&r, 1);
	message->plan_count = (uint8_t)get(&r, 1);
	if (r.error == 0 && message->plan_count > AEGIS_PLANS_MAX)
		r.error = AEGIS_WIRE_LENGTH_BAD;
	for (unsigned i = 0; r.error == 0 && i < message->plan_count; i++)
		message->plans[i] = get_nodes(&r);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_advice(message), message, sizeof(*message));
}

int aegis_decode_calm(const uint8_t *payload, size_t size, struct aegis_calm *message)
{
	struct reader r = {.at = payload, .left = size};

	message->table_hash = get(&r, 8);
	message->valid_ms = (uint32_t)get(&r, 4);
	message->calm = get_nodes(&r);
	message->inviting = get_nodes(&r);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_calm(message), message, sizeof(*message));
}

int aegis_decode_outcome(const uint8_t *payload, size_t size, struct aegis_outcome *message)
{
	struct reader r = {.at = payload, .left = size};

	message->decision = get(&r, 8);
	message->result = (uint8_t)get(&r, 1);
	message->inner_calls = (uint8_t)get(&r, 1);
	message->s1_rc = (int32_t)(uint32_t)get(&r, 4);
	message->final_rc = (int32_t)(uint32_t)get(&r, 4);
	message->waited_us = (uint32_t)get(&r, 4);
	message->chosen = get_nodes(&r);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_outcome(message), message, sizeof(*message));
}

static int check_job_event(const struct aegis_job_event *message)
{
	return check_job_key(&message->job_key);
}

int aegis_decode_job_event(const uint8_t *payload, size_t size, struct aegis_job_event *message)
{
	struct reader r = {.at = payload, .left = size};

	message->job_key = get_text(&r, AEGIS_JOB_KEY_MAX);
	message->job_id = (uint32_t)get(&r, 4);
	message->time_us = get(&r, 8);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_job_event(message), message, sizeof(*message));
}

int aegis_decode_ping(const uint8_t *payload, size_t size, struct aegis_counters *message)
{
	struct reader r = {.at = payload, .left = size};
	uint64_t *value;

	for (unsigned i = 0; (value = counter(message, i)) != NULL; i++)
		*value = get(&r, 8);
	message->breaker_open = (uint32_t)get(&r, 4);
	message->breaker_wait_ms = (uint32_t)get(&r, 4);
	if (end(&r) != 0)
		return settle(end(&r), message, sizeof(*message));
	return settle(check_counters(message), message, sizeof(*message));
}

int aegis_decode_pong(const uint8_t *payload, size_t size)
{
	(void)payload;
	return size == 0 ? 0 : AEGIS_WIRE_LENGTH_BAD;
}
