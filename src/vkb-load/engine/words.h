/*
 * Splits a command line into words as a POSIX shell does, without expansions.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/*
 * Words are separated by blanks; quotes '...' and "..." and backslashes as in
 * the shell. A ";" that ends a word is a word of its own, unless it is quoted.
 * Returns a list that ends with NULL, freed with mem_free_list; NULL
 * and *why (static) if a quote is open or a backslash is last.
 */
char **words_split(const char *text, size_t *n, const char **why);

/*
 * Finds a command in a list of n words that may have several, such as
 * "3 SET a b ; GET c": moves *from to its name, behind the number of times that
 * it is sent, which *times gets, or 1 ('times' may be NULL). Returns how many
 * words it has, 0 if none is left. The next one is behind these and a ";".
 */
size_t words_command(
    char *const *list, size_t n, size_t *from, unsigned long *times);

/*
 * Adds the next word to 'to' and moves *text behind it. Returns 1; 0 if none is
 * left; -1 with *why. 'bytes': in "..." also \xHH is a byte, as in valkey-cli.
 */
int words_next(const char **text, bool bytes, struct str *to, const char **why);

/*
 * Replaces each "__prefix__" by the prefix of our own keys, see engine_target;
 * NULL removes it. Caller frees.
 */
#define WORDS_PREFIX "__prefix__"
char *words_expand_prefix(const char *text, const char *prefix);

#endif
