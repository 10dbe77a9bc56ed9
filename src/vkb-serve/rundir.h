/*
 * The run directory: configuration files, sockets, logs and certificates of
 * the servers. Its mode is 0700; or 0711 with a user for servers (runas.h), who
 * has only the folders of the nodes and the key of the servers.
 */
#ifndef RUNDIR_H
#define RUNDIR_H

#include <stdbool.h>

struct rundir {
	char *path; /* absolute */
	bool keep;
	unsigned next; /* number of the last folder of rundir_make_folder */
	bool tls;      /* certificates are in PATH/tls */
	int lock;      /* descriptor that locks PATH while its owner runs */
};

/*
 * Makes the run directory. If 'dir' is NULL it is a new folder under TMPDIR,
 * removed at the end unless 'keep', by the reaper if this program is killed;
 * orphaned folders are removed first. Otherwise it is 'dir', made if missing,
 * and kept. Returns 0, or -1 after reporting an error.
 */
int rundir_make(struct rundir *, const char *dir, bool keep);
void rundir_close(struct rundir *);

/* Makes a new folder inside and returns its path (caller frees with free()), or
 * NULL after reporting an error. */
char *rundir_make_folder(struct rundir *);

/* Makes certificates in PATH/tls, once. Returns 0, or -1 after reporting an
 * error. */
int rundir_make_certificates(struct rundir *, const char *host);

#endif
