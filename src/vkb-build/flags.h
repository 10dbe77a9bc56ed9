/* How to build: make variables, compiler, libraries. */
#ifndef FLAGS_H
#define FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "opt.h"

struct json;

struct flags {
	char **make; /* NAME=VALUE, NULL-terminated */
	size_t n;
	const char *allocator; /* requested, or NULL */
	char *compiler;        /* first line of its --version */
	char *identity;        /* all of this and the libraries, as text */
};

struct flags_wanted {
	bool tls, debug_symbols, frame_pointers;
	const char *cflags, *allocator; /* or NULL */
	struct opt_list make_args;      /* NAME=VALUE */
};

/* Returns 0, or -1 after reporting the error; then, too, call flags_free. */
int flags_init(struct flags *, const struct flags_wanted *);
void flags_free(struct flags *);

/* Returns the build section of a subject; the caller frees it. */
struct json *flags_describe(const struct flags *);

#define FLAGS_KEY 65
/* Writes the SHA-256 of texts, up to NULL. */
void flags_hash(char key[FLAGS_KEY], const char *const *texts);

#endif
