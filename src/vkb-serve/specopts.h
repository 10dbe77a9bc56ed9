/* Makes a 'spec' record from a file and command-line options. */
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
 * Returns the 'spec' record of 'file' (or NULL) and the options, which
 * override it. Warns of unknown keys unless 'quiet'. Caller frees. Returns NULL
 * after reporting an error.
 */
struct json *specopts_make(
    const struct specopts *, const char *file, bool quiet);

#endif
