/* The buffers of frames.h. */
#include "config.h" /* first: it turns on the GNU extensions */

#include "plugin/frames.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_ROUNDS = 16 /* a peer that floods us does not keep us reading for ever */ };

const char frames_closed[] = "it closed the connection";
const char frames_other_version[] = "it speaks another version of the protocol";

void frames_begin(struct frames *f, int fd)
{
	f->fd = fd;
	f->in_end = f->out_at = f->out_end = 0;
}

bool frames_flush(struct frames *f, const char **problem)
{
	while (f->out_at < f->out_end) {
		const ssize_t sent =
			send(f->fd, f->out + f->out_at, f->out_end - f->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			if (errno != EAGAIN && errno != EWOULDBLOCK)
				*problem = strerror(errno);
			return false;
		}
		f->out_at += (size_t)sent;
	}
	f->out_at = f->out_end = 0;
	return true;
}

bool frames_send(struct frames *f, const uint8_t *frame, size_t length, const char **problem)
{
	if (length > sizeof(f->out) || !frames_flush(f, problem))
		return false;
	memcpy(f->out, frame, length);
	f->out_end = length;
	if (frames_flush(f, problem) || f->out_at > 0)
		return true;
	f->out_end = 0;
	return false;
}

bool frames_queue(struct frames *f, const uint8_t *frame, size_t length)
{
	if (f->out_at > 0) {
		memmove(f->out, f->out + f->out_at, f->out_end - f->out_at);
		f->out_end -= f->out_at;
		f->out_at = 0;
	}
	if (length > sizeof(f->out) - f->out_end)
		return false;
	memcpy(f->out + f->out_end, frame, length);
	f->out_end += length;
	return true;
}

static const char *hand_on(struct frames *f, frame_handler *handle, void *context)
{
	size_t at = 0;

	for (;;) {
		struct aegis_header header;
		const int64_t length = aegis_frame_length(f->in + at, f->in_end - at, &header);
		const char *problem;

		if (length == AEGIS_WIRE_VERSION_BAD)
			return frames_other_version;
		if (length < 0)
			return "it does not speak the protocol";
		/* by the header already: these may be larger than our buffer */
		if (header.type != 0 && header.type != AEGIS_WELCOME && header.type != AEGIS_ADVICE &&
		    header.type != AEGIS_PONG && header.type != AEGIS_CALM)
			return "it sent a frame that only plugins send";
		if (length == 0)
			break;
		problem = handle(context, &header, f->in + at + AEGIS_HEADER_BYTES);
		if (problem != NULL)
			return problem;
		at += (size_t)length;
	}
	memmove(f->in, f->in + at, f->in_end - at);
	f->in_end -= at;
	return NULL;
}

const char *frames_read(struct frames *f, frame_handler *handle, void *context)
{
	for (unsigned round = 0; round < READ_ROUNDS; round++) {
		const ssize_t got = recv(f->fd, f->in + f->in_end, sizeof(f->in) - f->in_end, MSG_DONTWAIT);
		const char *problem;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return NULL;
		if (got < 0 && errno != ECONNRESET)
			return strerror(errno);
		if (got <= 0)
			return frames_closed;
		f->in_end += (size_t)got;
		problem = hand_on(f, handle, context);
		if (problem != NULL)
			return problem;
	}
	return NULL;
}
