/*
 * Whom the plugin talks to: connecting to aegisd's socket and checking who listens there.
 */
#ifndef AEGIS_PLUGIN_PEER_H
#define AEGIS_PLUGIN_PEER_H

#ifdef __cplusplus
extern "C" {
#endif

/* A connected, non-blocking, close-on-exec socket, or -1 with *problem set to words for the log.
 *
 * The listener must be root, the user slurmctld runs as, or the owner of the directory that holds
 * the socket, provided nobody else may write there: who can put a socket into that directory is
 * trusted to advise, anybody else is not. */
int peer_connect(const char *path, const char **problem);

#ifdef __cplusplus
}
#endif
#endif
