/*
 * A program valkey-benchmark of any version: what it can do, by its own output,
 * its command lines, the cases that it cannot run, and its results.
 */
#ifndef VBTOOL_H
#define VBTOOL_H

#include <stdbool.h>

struct engine_target;
struct engine_work;
struct json;
struct str;

struct vbtool {
	char *path;
	char *version; /* its --version; NULL: unknown */
	char *sha256;  /* of the program; NULL: it cannot be read */
	char *help;    /* its --help */
};

/*
 * Returns 0, or -1 after reporting that the program cannot be run or is not
 * valkey-benchmark. The caller calls vbtool_free in any case.
 */
int vbtool_read(struct vbtool *, const char *path);
void vbtool_free(struct vbtool *);

/* Returns its version, or its path if unknown. */
const char *vbtool_name(const struct vbtool *);

/* Returns true if the program has the option, such as "--duration". */
bool vbtool_has(const struct vbtool *, const char *option);

/* Returns the environment variable for a password, or NULL. */
const char *vbtool_password(const struct vbtool *);

/*
 * Returns why the program cannot run the case, or would run it differently, or
 * NULL; caller frees. 'login': the server needs a password that is not part of
 * the case.
 */
char *vbtool_refuse(const struct vbtool *, const struct json *cas, bool login);

/* The length of one process of the program. */
struct vbtool_length {
	long long requests; /* 0: by duration */
	double duration_s, warmup_s;
};

/* Returns the argument list; NULL ends it. Free with mem_free_list. */
char **vbtool_argv(const struct vbtool *, const struct engine_target *,
    const struct engine_work *, const struct vbtool_length *);

/* Returns the command line, quoted for a shell; caller frees. */
char *vbtool_text(char *const *argv);

/*
 * Returns the words of the command, or NULL if the program has that test. Free
 * with mem_free_list.
 */
char **vbtool_words(
    const struct vbtool *, const struct engine_work *, bool cluster);

/*
 * Returns the metrics of the only result in its output, freed by the caller: of
 * the test 'command', or if 'words' is not NULL of that command. Returns NULL
 * after adding the reason to 'why'; *quick: the run took less than a
 * millisecond, the resolution of such a program.
 */
struct json *vbtool_result(const char *out, const char *command,
    char *const *words, bool *quick, struct str *why);

#endif
