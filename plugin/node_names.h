/*
 * The node table as HELLO carries it: names in index order, runs of consecutive numbers folded to
 * prefix[low-high], "-" for an index without a node. Pure text work; the names come one by one.
 */
#ifndef AEGIS_PLUGIN_NODE_NAMES_H
#define AEGIS_PLUGIN_NODE_NAMES_H

#include "lib/wire.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once made; owned by one party at a time. */
struct node_table {
	uint64_t hash; /* aegis_table_hash() of text and count */
	uint32_t count;
	uint32_t length;
	char *text;
};

/* Collects names. A failed allocation or a text over AEGIS_NODE_TABLE_MAX is remembered until
 * node_names_finish(), so that the loop over the nodes stays plain. */
struct node_names {
	char *text;
	size_t length, space;
	uint32_t count;
	bool failed;
	char *run; /* first name of the run that may still grow */
	size_t run_prefix, run_digits;
	uint64_t run_low, run_high;
};

/* Adds the next index; an empty name is an index without a node. Start from a zeroed struct. */
void node_names_add(struct node_names *names, const char *name);

/* The table, or NULL; frees what was collected either way. */
struct node_table *node_names_finish(struct node_names *names);

void node_table_free(struct node_table *table);

#ifdef __cplusplus
}
#endif
#endif
