/*
 * The protocol between the plugin in slurmctld and aegisd, version 2. This header is the contract;
 * aegis-protocol(7) explains it.
 *
 * A Unix stream socket carries frames. A frame is a header of AEGIS_HEADER_BYTES and a payload of
 * at most AEGIS_PAYLOAD_MAX bytes; all integers are little-endian, nothing is padded.
 *
 *     offset 0   u32  magic       "AEGS"
 *            4   u16  version     AEGIS_WIRE_VERSION; both sides must speak the same one
 *            6   u16  type        enum aegis_type
 *            8   u32  length      payload bytes
 *           12   u64  request     ties ADVICE to its ASK and PONG to its PING; 0 elsewhere
 *
 * Nodes are named by their index in slurmctld's node table. HELLO carries that table; its hash
 * goes with every ASK, so a decision is never made on the wrong table.
 *
 * Version rule: a change to any existing message increments AEGIS_WIRE_VERSION. A peer with
 * another version is answered with WELCOME/AEGIS_REFUSED_VERSION (its header layout never changes) and closed.
 *
 * Version 2 brought CALM, AEGIS_ASK_KEPT, the time of an ask and the counter kept_unasked.
 *
 * Plain C11, no allocation: encoders write into the caller's buffer, decoders point into it.
 * Every decoder checks every length, refuses trailing bytes, and leaves nothing half-decoded:
 * on failure the message is zeroed. Encoders refuse what decoders would refuse. Failure is a
 * negative enum aegis_wire_error.
 *
 * A message's fields stand in the payload in the order of its struct. aegis_bytes is a u32 length
 * and the bytes, aegis_nodes a u32 count and the bytes, an array its elements.
 */
#ifndef AEGIS_WIRE_H
#define AEGIS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AEGIS_WIRE_MAGIC 0x53474541u /* "AEGS" read as a little-endian u32 */
#define AEGIS_WIRE_VERSION 2u

enum {
	AEGIS_HEADER_BYTES = 20,
	AEGIS_NODES_MAX = 131072,	   /* 100,000 nodes is the largest cluster we aim at */
	AEGIS_NODE_TABLE_MAX = 4194304,	   /* hostlist text: 131,072 unfoldable names of 31 bytes */
	AEGIS_JOB_KEY_MAX = 63,		   /* "4294967295_4294967295" and "…+…" fit */
	AEGIS_FACTS_MAX = 8192,		   /* NAME=value lines about the job */
	AEGIS_PLANS_MAX = 2,		   /* plus S1 and the restoring call: four inner calls */
	AEGIS_RELEASE_MAX = 31,
	AEGIS_PAYLOAD_MAX = AEGIS_NODE_TABLE_MAX + 4096,
	AEGIS_NODES_BYTES_MAX = 4 + AEGIS_NODES_MAX / 8,			   /* one encoded set of nodes */
	AEGIS_ADVICE_PAYLOAD_MAX = 10 + AEGIS_PLANS_MAX * AEGIS_NODES_BYTES_MAX,
	AEGIS_CALM_PAYLOAD_MAX = 12 + 2 * AEGIS_NODES_BYTES_MAX, /* the largest aegisd sends */
	AEGIS_ASK_PAYLOAD_MAX = 44 + AEGIS_JOB_KEY_MAX + AEGIS_FACTS_MAX + 3 * AEGIS_NODES_BYTES_MAX,
	AEGIS_OUTCOME_PAYLOAD_MAX = 22 + AEGIS_NODES_BYTES_MAX,
	AEGIS_BUCKETS = 16		   /* added-time histogram, see aegis_bucket_of() */
};

enum aegis_type {
	AEGIS_HELLO = 1,     /* plugin: who I am and what my node table is */
	AEGIS_WELCOME = 2,   /* aegisd: answer to HELLO, and again whenever the mode changes */
	AEGIS_ASK = 3,	     /* plugin: this job is about to start on S1; any better leaves? */
	AEGIS_ADVICE = 4,    /* aegisd: keep, or up to AEGIS_PLANS_MAX plans */
	AEGIS_OUTCOME = 5,   /* plugin: what became of a decision */
	AEGIS_JOB_BEGIN = 6, /* plugin: the job has its nodes */
	AEGIS_JOB_END = 7,   /* plugin: the job has given its nodes back */
	AEGIS_PING = 8,	     /* plugin: once a second, with its counters */
	AEGIS_PONG = 9,	     /* aegisd: still here */
	AEGIS_CALM = 10	     /* aegisd: once a second, which one-node jobs need no ASK */
};

enum aegis_mode { AEGIS_MODE_OFF = 0, AEGIS_MODE_OBSERVE = 1, AEGIS_MODE_STEER = 2 };

enum aegis_welcome_status {
	AEGIS_ACCEPTED = 0,
	AEGIS_REFUSED_VERSION = 1,
	AEGIS_REFUSED_NODE_TABLE = 2 /* the hash does not match the hostlist: greet again */
};

enum aegis_verdict { AEGIS_KEEP = 0, AEGIS_PLANS = 1 };

enum aegis_result {
	AEGIS_RESULT_KEPT = 0,	    /* advice was keep; S1 stands */
	AEGIS_RESULT_PLAN_1 = 1,    /* the first plan was accepted by Slurm */
	AEGIS_RESULT_PLAN_2 = 2,    /* the second one */
	AEGIS_RESULT_RESTORED = 3,  /* no plan worked; Slurm chose again from all candidates */
	AEGIS_RESULT_LOST = 4	    /* as RESTORED, but that last choice failed: must never happen */
};

enum aegis_wire_error {
	AEGIS_WIRE_SHORT = -1,	   /* more bytes are needed */
	AEGIS_WIRE_MAGIC_BAD = -2,
	AEGIS_WIRE_VERSION_BAD = -3,
	AEGIS_WIRE_TYPE_BAD = -4,
	AEGIS_WIRE_LENGTH_BAD = -5, /* a length over its bound, or not matching the payload */
	AEGIS_WIRE_VALUE_BAD = -6,  /* a field outside its enum, or two fields that contradict */
	AEGIS_WIRE_NO_SPACE = -7    /* the caller's buffer is too small */
};

struct aegis_header {
	uint16_t version;
	uint16_t type;
	uint32_t length;
	uint64_t request;
};

/* Bytes that are not NUL-terminated and belong to somebody else's buffer. */
struct aegis_bytes {
	const char *data;
	uint32_t length;
};

/* A set of nodes: bit i%8 of byte i/8 is node i. `bytes` is (count + 7) / 8 long; spare bits are 0. */
struct aegis_nodes {
	uint32_t count;
	const uint8_t *bytes;
};

struct aegis_hello {
	uint32_t slurm_version;	       /* SLURM_VERSION_NUMBER of the running slurmctld */
	uint32_t pid;
	uint64_t table_hash;	       /* aegis_table_hash() of `node_table` */
	uint32_t node_count;
	struct aegis_bytes release;    /* version of Aegis, at most AEGIS_RELEASE_MAX */
	struct aegis_bytes node_table; /* hostlist in index order; "-" stands for an index without a node */
};

struct aegis_welcome {
	uint8_t status;	      /* enum aegis_welcome_status */
	uint8_t mode;	      /* enum aegis_mode; in AEGIS_MODE_OFF the plugin does not ask */
	uint32_t deadline_us; /* how long the plugin may wait for advice; it clamps this to 200..10000 */
	uint32_t lease_ms;    /* without a PONG or WELCOME for this long the plugin stops asking; it
				 clamps this to 2000..60000, since PINGs are a second apart */
	uint64_t table_hash;  /* the table this welcome is for */
};

enum {
	AEGIS_ASK_BACKFILL = 1, /* reserved for callers that can tell */
	AEGIS_ASK_HAS_IDLE = 2, /* `idle` is present */
	AEGIS_ASK_KEPT = 4	/* a report, not a question: S1 was kept by CALM; no ADVICE, no OUTCOME */
};

struct aegis_ask {
	uint64_t table_hash;
	uint32_t min_nodes, max_nodes, req_nodes; /* as Slurm passed them */
	uint32_t flags;
	struct aegis_bytes job_key;    /* "%pJ" without "JobId=" and the bracketed id: 7, 100_3, 9+1 */
	uint32_t job_id;	       /* the bracketed id where there is one, else the key's number */
	uint64_t time_us;	       /* of the job test, since the epoch */
	struct aegis_bytes facts;      /* NAME=value lines, see aegis-protocol(7); may be empty */
	struct aegis_nodes candidates; /* what Slurm would choose from */
	struct aegis_nodes s1;	       /* what Slurm chose */
	struct aegis_nodes idle;       /* nodes without any job, if AEGIS_ASK_HAS_IDLE, else count 0 */
};

struct aegis_advice {
	uint64_t decision; /* 0: nothing was recorded, send no OUTCOME */
	uint8_t verdict;   /* enum aegis_verdict */
	uint8_t plan_count;
	struct aegis_nodes plans[AEGIS_PLANS_MAX]; /* allowed nodes, best first */
};

/*
 * What lets a plugin keep S1 of a one-node job without asking: aegisd would have answered "keep".
 * That is so when S1 stands in `calm`, or when none of the candidates that are idle stands in
 * `inviting`. Forgotten after valid_ms, and with the node table it is for.
 */
struct aegis_calm {
	uint64_t table_hash;
	uint32_t valid_ms;	     /* the plugin clamps it to 0..5000 */
	struct aegis_nodes calm;     /* no leaf is calmer than theirs by the margin, or they are on none */
	struct aegis_nodes inviting; /* their leaf is calmer than some other leaf by the margin */
};

struct aegis_outcome {
	uint64_t decision;
	uint8_t result;	     /* enum aegis_result */
	uint8_t inner_calls; /* how often Slurm's own test ran, 1..4 */
	int32_t s1_rc, final_rc;
	uint32_t waited_us;  /* how long the scheduling thread waited for the advice */
	struct aegis_nodes chosen;
};

struct aegis_job_event {
	struct aegis_bytes job_key;
	uint32_t job_id;
	uint64_t time_us; /* since the epoch */
};

/* The plugin's own account of itself; all but the last two only grow while slurmctld lives. */
struct aegis_counters {
	uint64_t job_tests;	   /* calls of select_p_job_test in RUN_NOW mode */
	uint64_t asks;
	uint64_t kept_unasked;	   /* one-node jobs that CALM let start without an ask */
	uint64_t advice_keep;
	uint64_t advice_plans;
	uint64_t plans_accepted;
	uint64_t plans_refused;	   /* inner test failed on a plan */
	uint64_t restored;
	uint64_t losses;	   /* S1 succeeded and the final result failed: must stay 0 */
	uint64_t timeouts;
	uint64_t late_answers;
	uint64_t send_failures;
	uint64_t malformed;
	uint64_t breaker_opened;
	uint64_t connects;
	uint64_t events_dropped;   /* OUTCOME, JOB_BEGIN or JOB_END that did not fit the buffer */
	uint64_t added_us_total;   /* time this plugin added to job_test calls: all but the first inner call */
	uint64_t added_us_max;
	uint64_t added_us[AEGIS_BUCKETS];
	uint32_t breaker_open;	   /* 0 or 1 now */
	uint32_t breaker_wait_ms;  /* how long the breaker stays open this time */
};

/* Bucket k holds values below 2^(k+2) us (4, 8, 16 … 65,536 us); the last one is unbounded. */
unsigned aegis_bucket_of(uint64_t us);

/* FNV-1a of the node table text and its count. */
uint64_t aegis_table_hash(const char *table, size_t length, uint32_t node_count);

/* Bytes of a complete frame in buffer[0..size): 0 until the header and payload are there, else its
 * length; negative for a frame that can never become good. Fills *header once the header is there,
 * also when it is refused, and zeroes it before. A wrong magic is seen at its first byte, a length
 * over the bound of its own type at the header: no peer makes the other side hoard bytes. */
int64_t aegis_frame_length(const uint8_t *buffer, size_t size, struct aegis_header *header);

/* Each encoder writes a whole frame and returns its length, or a negative error. */
int64_t aegis_encode_hello(uint8_t *out, size_t size, const struct aegis_hello *message);
int64_t aegis_encode_welcome(uint8_t *out, size_t size, const struct aegis_welcome *message);
int64_t aegis_encode_ask(uint8_t *out, size_t size, uint64_t request, const struct aegis_ask *message);
int64_t aegis_encode_advice(uint8_t *out, size_t size, uint64_t request, const struct aegis_advice *message);
int64_t aegis_encode_calm(uint8_t *out, size_t size, const struct aegis_calm *message);
int64_t aegis_encode_outcome(uint8_t *out, size_t size, const struct aegis_outcome *message);
int64_t aegis_encode_job_event(uint8_t *out, size_t size, enum aegis_type type, const struct aegis_job_event *message);
int64_t aegis_encode_ping(uint8_t *out, size_t size, uint64_t request, const struct aegis_counters *message);
int64_t aegis_encode_pong(uint8_t *out, size_t size, uint64_t request);

/* Each decoder takes the payload of a frame of its type; 0, or a negative error. */
int aegis_decode_hello(const uint8_t *payload, size_t size, struct aegis_hello *message);
int aegis_decode_welcome(const uint8_t *payload, size_t size, struct aegis_welcome *message);
int aegis_decode_ask(const uint8_t *payload, size_t size, struct aegis_ask *message);
int aegis_decode_advice(const uint8_t *payload, size_t size, struct aegis_advice *message);
int aegis_decode_calm(const uint8_t *payload, size_t size, struct aegis_calm *message);
int aegis_decode_outcome(const uint8_t *payload, size_t size, struct aegis_outcome *message);
int aegis_decode_job_event(const uint8_t *payload, size_t size, struct aegis_job_event *message);
int aegis_decode_ping(const uint8_t *payload, size_t size, struct aegis_counters *message);
int aegis_decode_pong(const uint8_t *payload, size_t size);

#ifdef __cplusplus
}
#endif
#endif
