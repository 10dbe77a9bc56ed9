/*
 * The engine valkey-benchmark: an external program, of any version, makes the
 * load. Its version and options are read once. A missing option is emulated if
 * the result stays comparable, and named in env.emulated; else the case is
 * refused:
 *
 * duration: as many requests as take that long, by a trial on a server of its
 * own; the same number for all runs of the case.
 *
 * warm-up: a process before the measured one, whose result is dropped.
 *
 * The native engine fills the servers, with the same keys. The program cannot
 * outlive ours. A run is valid only if the servers' counters confirm it.
 */
#ifndef VBENCH_H
#define VBENCH_H

#include "str.h"
#include "vkb-load/case/engines.h"

#include <stdbool.h>

#define VBENCH "valkey-benchmark"

struct builds;
struct engine_target;
struct engine_work;
struct json;
struct servercounts;
struct vbench;
struct watch;

/*
 * Uses 'path', or valkey-benchmark in PATH, or that of the first build that has
 * one: the same program for all builds, so that differences are not due to it.
 * 'login': an external server needs a password. Returns NULL after reporting an
 * error.
 */
struct vbench *vbench_open(const char *path, const struct builds *, bool login);
void vbench_close(struct vbench *); /* NULL does nothing */
struct engine vbench_engine(struct vbench *);

/* The program. */
struct vbtool {
	char *path;
	char *version; /* its --version; NULL: unknown */
	char *sha256;  /* of the program; NULL: it cannot be read */
	char *help;    /* its --help */
};

/* The length of one process of the program. */
struct vbtool_length {
	long long requests; /* 0: by duration */
	double duration_s, warmup_s;
};

/*
 * Returns why the program cannot run the case, or would run it differently, or
 * NULL; caller frees. 'login': the server needs a password that is not part of
 * the case.
 */
char *vbench_refuse(const struct vbtool *, const struct json *cas, bool login);

/* Returns the argument list; NULL ends it. Free with mem_free_list. */
char **vbench_argv(const struct vbtool *, const struct engine_target *,
    const struct engine_work *, const struct vbtool_length *);

/* Returns the command line, quoted for a shell; caller frees. */
char *vbench_text(char *const *argv);

/*
 * Returns the metrics of the only result in its output, freed by the caller: of
 * the test 'command', or if 'words' is not NULL of that command. Returns NULL
 * after adding the reason to 'why'; *quick: the run took less than a
 * millisecond, the resolution of such a program.
 */
struct json *vbench_result(const char *out, const char *command,
    char *const *words, bool *quick, struct str *why);

/* A process of the program. */
struct child {
	struct str out, err;
	int status;          /* as from waitpid */
	struct watch *watch; /* of its whole life */
	/* Of it, read to the end if it succeeded. */
	struct servercounts *counts;
};

void vbench_free_child(struct child *);

/* Returns how it ended and its last output, in one line; caller frees. */
char *vbench_describe_end(const struct child *, const char *name);

#endif
