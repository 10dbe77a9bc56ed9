/*
 * The named tests as texts of templates. Names, keys and values equal those of
 * valkey-benchmark; see the table in command.c.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/*
 * Splits a command line into words as a POSIX shell does, without expansions.
 */

/*
 * Words are separated by blanks; quotes '...' and "..." and backslashes as in
 * the shell. A ";" that ends a word is a word of its own, unless it is quoted.
 * Returns a list that ends with NULL, freed with mem_free_list; NULL
 * and *why (static) if a quote is open or a backslash is last.
 */
char **command_split(const char *text, size_t *n, const char **why);

/*
 * Finds a command in a list of n words that may have several, such as
 * "3 SET a b ; GET c": moves *from to its name, behind the number of times that
 * it is sent, which *times gets, or 1 ('times' may be NULL). Returns how many
 * words it has, 0 if none is left. The next one is behind these and a ";".
 */
size_t command_next(
    char *const *list, size_t n, size_t *from, unsigned long *times);

/*
 * Adds the next word to 'to' and moves *text behind it. Returns 1; 0 if none is
 * left; -1 with *why. 'bytes': in "..." also \xHH is a byte, as in valkey-cli.
 */
int command_next_word(
    const char **text, bool bytes, struct str *to, const char **why);

/*
 * Replaces each "__prefix__" by the prefix of our own keys, see engine_target;
 * NULL removes it. Caller frees.
 */
#define COMMAND_PREFIX "__prefix__"
char *command_expand_prefix(const char *text, const char *prefix);

/* Which data a command needs before it is measured. */
enum command_needs {
	NEEDS_NOTHING,
	NEEDS_KEYS, /* one for each number of the key space */
	NEEDS_SOME, /* 1000 elements in each collection */
	NEEDS_POPS  /* as many elements as will be popped */
};

/* Returns the names of the tests; NULL ends the list; static. */
const char *const *command_names(void);
bool command_known(const char *name);
bool command_reads(const char *name); /* it reads data that must be seeded */
enum command_needs command_needs(const char *name);
/* Do both need data, and the same? */
bool command_same_seed(const char *a, const char *b);
/* Are its keys, also those that are filled for it, of one size if values are?
 */
bool command_keys_alike(const char *name);

/*
 * Returns how many keys or elements of a command of 'words' words can be
 * missing in its reply, which shows by nil, an empty array or, if *zero_miss,
 * by 0. Returns 0 if that is not known. Named tests are counted in the same
 * way.
 */
unsigned command_items(const char *word, size_t words, bool *zero_miss);

/* What a configuration adds to the words of named tests. A member that is 0
 * adds nothing. */
struct command_options {
	long long ttl_low, ttl_high; /* EX, seconds */
};

/* Returns why the test cannot have the options, or NULL; caller frees. A
 * template has its own words, so it has no options. */
char *command_explain_options(const char *name, const struct command_options *);

/*
 * Return the words of a known test, or those of the command that fills the
 * server for it, as the text of a template: 'same' is the placeholder of a
 * number that in sequence equals the one before, and each key begins with
 * 'prefix', or is as in valkey-benchmark if NULL. *many is how many elements
 * each filling command should have; it is set to how many it has. The first
 * returns NULL for PING_INLINE, which is not RESP. Caller frees.
 */
struct command_style {
	bool cluster; /* with the {tag} of a slot */
	const char *prefix, *same;
	const struct command_options *options; /* of the first; or NULL */
};
char *command_text(const char *name, const struct command_style *);
char *command_seed_text(
    const char *name, unsigned *many, const struct command_style *);
char *command_value(size_t n); /* of n bytes; caller frees */

#endif
