/* A command line in words, as a POSIX shell has them, nothing expanded. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct str;

/*
 * Words apart by blanks; quotes '...' and "..." and backslashes as in the
 * shell. NULL, and *why (static): a quote is open or a backslash is last. Else
 * words_free; the list ends with NULL.
 */
char **words_split(const char *text, size_t *n, const char **why);
void words_free(char **);

/*
 * The next word, added to 'to', and *text moved behind it: 1; 0: there is none;
 * -1, and *why. 'bytes': in "..." also \xHH, any byte, as valkey-cli has it.
 */
int words_next(const char **text, bool bytes, struct str *to, const char **why);

/*
 * The text with each "__prefix__" replaced: it stands where the prefix of our
 * own keys goes, see engine_target. NULL removes it. Caller frees.
 */
#define WORDS_PREFIX "__prefix__"
char *words_expand_prefix(const char *text, const char *prefix);

#endif
