/* How it is built: variables for make, the compiler, the libraries. */
#ifndef FLAGS_H
#define FLAGS_H

#include <stdbool.h>
#include <stddef.h>

struct json;
struct opt_list;

struct flags {
	char **make; /* NAME=VALUE, and NULL at the end */
	size_t n;
	const char *allocator; /* that was asked for, or NULL */
	char *compiler;        /* first line of what it says of itself */
	char *identity;        /* all of this and the libraries, as a text */
};

struct flags_wanted {
	bool tls, debug_symbols, frame_pointers;
	const char *cflags, *allocator;   /* or NULL */
	const struct opt_list *make_args; /* NAME=VALUE */
};

/* 0, or -1 and said; flags_free in either case. */
int flags_init(struct flags *, const struct flags_wanted *);
void flags_free(struct flags *);

/* What a subject says of it; caller frees. */
struct json *flags_json(const struct flags *);

#define FLAGS_KEY 65
/* The SHA-256 of the texts, NULL ends them. 0, or -1 and said. */
int flags_key(char key[FLAGS_KEY], const char *const *texts);

#endif
