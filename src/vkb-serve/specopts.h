/* The spec of a server, from a file and the options of the command line. */
#ifndef SPECOPTS_H
#define SPECOPTS_H

#include "opt.h"

#include <stdbool.h>

struct json;

struct specopts {
	const char *server, *host, *config_file, *rdb;
	long long port, primaries, replicas, io_threads;
	bool unixsocket, tls, no_aslr;
	struct opt_list cpus, config, module;
};

/*
 * The 'spec' record that 'file' (NULL: none) and the options, which win, make.
 * Keys that are unknown are named unless 'quiet'. Secrets are hidden once they
 * are in it. Caller frees; NULL, and an error is reported.
 */
struct json *specopts_make(
    const struct specopts *, const char *file, bool quiet);

/*
 * Every user of the machine can read the arguments of a process: the values of
 * settings that are secrets are overwritten there.
 */
void specopts_hide_secrets(const struct specopts *);

#endif
