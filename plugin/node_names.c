/* The folding of node_names.h. */
#include "plugin/node_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 18 /* so that the number fits 64 bits */ };

static void append(struct node_names *names, const char *text, size_t length)
{
	if (names->failed || length == 0)
		return;
	if (names->space - names->length < length) {
		size_t space = (names->length + length) * 2 + 4096;
		char *grown = names->length + length <= AEGIS_NODE_TABLE_MAX ? realloc(names->text, space) : NULL;

		if (grown == NULL) {
			names->failed = true;
			return;
		}
		names->text = grown;
		names->space = space;
	}
	memcpy(names->text + names->length, text, length);
	names->length += length;
}

static void append_item(struct node_names *names, const char *text, size_t length)
{
	if (names->length > 0)
		append(names, ",", 1);
	append(names, text, length);
}

static void end_run(struct node_names *names)
{
	char span[64];
	int length;

	if (names->run == NULL)
		return;
	if (names->run_high == names->run_low) {
		append_item(names, names->run, strlen(names->run));
	} else {
		append_item(names, names->run, names->run_prefix);
		length = snprintf(span, sizeof(span), "[%0*" PRIu64 "-%0*" PRIu64 "]", (int)names->run_digits,
				  names->run_low, (int)names->run_digits, names->run_high);
		append(names, span, (size_t)length);
	}
	free(names->run);
	names->run = NULL;
}

static size_t count_digits(const char *name, size_t length)
{
	size_t digits = 0;

	while (digits < length && digits < DIGITS_MAX && name[length - digits - 1] >= '0' &&
	       name[length - digits - 1] <= '9')
		digits++;
	return digits;
}

/* Is `name` what prefix[low-number] would expand to next? A number keeps the width of the run's
 * first one, padded with zeros: n8, n9, n10 is one run, n08, n9 is none. */
static bool continues(const struct node_names *names, const char *name)
{
	char expected[32];

	if (names->run == NULL || names->run_digits == 0 ||
	    strncmp(names->run, name, names->run_prefix) != 0)
		return false;
	snprintf(expected, sizeof(expected), "%0*" PRIu64, (int)names->run_digits, names->run_high + 1);
	return strcmp(name + names->run_prefix, expected) == 0;
}

void node_names_add(struct node_names *names, const char *name)
{
	size_t length = strlen(name);

	names->count++;
	if (names->failed)
		return;
	if (length == 0) {
		end_run(names);
		append_item(names, "-", 1);
		return;
	}
	if (continues(names, name)) {
		names->run_high++;
		return;
	}
	end_run(names);
	names->run = strdup(name);
	names->failed = names->failed || names->run == NULL;
	names->run_digits = count_digits(name, length);
	names->run_prefix = length - names->run_digits;
	names->run_low = names->run_high = strtoull(name + names->run_prefix, NULL, 10);
}

struct node_table *node_names_finish(struct node_names *names)
{
	struct node_table *table = NULL;

	end_run(names);
	if (!names->failed && names->length <= AEGIS_NODE_TABLE_MAX && names->count <= AEGIS_NODES_MAX)
		table = malloc(sizeof(*table));
	if (table != NULL) {
		*table = (struct node_table){.count = names->count,
					     .length = (uint32_t)names->length,
					     .text = names->text,
					     .hash = aegis_table_hash(names->text, names->length, names->count)};
		names->text = NULL;
	}
	free(names->text);
	free(names->run);
	*names = (struct node_names){0};
	return table;
}

void node_table_free(struct node_table *table)
{
	if (table == NULL)
		return;
	free(table->text);
	free(table);
}
