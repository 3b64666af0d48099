/* The connection of peer.h. */
#include "config.h" /* first: it turns on the GNU extensions */

#include "plugin/peer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SEND_BUFFER_BYTES = 1 << 20 /* a HELLO or many events at once; the kernel may grant less */ };

static bool is_trusted(int fd, const char *path)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	char directory[sizeof(((struct sockaddr_un *)0)->sun_path)];
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return false;
	if (peer.uid == 0 || peer.uid == geteuid())
		return true;
	if (slash == NULL)
		return false;
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = '\0';
	return stat(directory, &status) == 0 && status.st_uid == peer.uid && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

int peer_connect(const char *path, const char **problem)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int send_buffer = SEND_BUFFER_BYTES;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		*problem = "the path is too long for a socket";
		return -1;
	}
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		*problem = strerror(errno);
		return -1;
	}
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		*problem = strerror(errno);
	else if (!is_trusted(fd, path))
		*problem = "the listener is neither root, nor slurmctld's user, nor the owner of the directory";
	else
		*problem = NULL;
	if (*problem != NULL) {
		close(fd);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
	return fd;
}
