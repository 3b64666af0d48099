/*
 * Frames over a non-blocking socket: whole ones in, whole ones out. No thread, no lock, no clock.
 * The buffers hold the largest frame that goes each way; the outgoing one holds two, so that reports
 * may wait in it for company.
 */
#ifndef AEGIS_PLUGIN_FRAMES_H
#define AEGIS_PLUGIN_FRAMES_H

#include "lib/wire.h"

#include <stdbool.h>
#include <stddef.h>

struct frames {
	int fd;
	size_t out_at, out_end, in_end;
	uint8_t out[2 * (AEGIS_HEADER_BYTES + AEGIS_ASK_PAYLOAD_MAX)]; /* what waits, and the rest of what went out in part */
	uint8_t in[AEGIS_HEADER_BYTES + AEGIS_CALM_PAYLOAD_MAX];
};

/* Handles one frame of aegisd's. NULL, or what is wrong with it. */
typedef const char *frame_handler(void *context, const struct aegis_header *header, const uint8_t *payload);

void frames_begin(struct frames *frames, int fd);

/* Sends what is left of earlier frames. True when nothing is left; an error of the socket goes to *problem. */
bool frames_flush(struct frames *frames, const char **problem);

/* Sends a whole frame, or none of it and false. What the socket takes in part waits for the next flush. */
bool frames_send(struct frames *frames, const uint8_t *frame, size_t length, const char **problem);

/* Puts a whole frame behind what waits, or false: only a flush makes room. */
bool frames_queue(struct frames *frames, const uint8_t *frame, size_t length);

/* Reads all that has arrived and hands it on, frame by frame. NULL, or why the connection is of no more use. */
const char *frames_read(struct frames *frames, frame_handler *handle, void *context);

/* What frames_read() returns for the two ends that are nobody's mistake. */
extern const char frames_closed[];
extern const char frames_other_version[];

#endif
