/*
 * What the words of the server's commands are: keys, values or syntax; and
 * which commands a recorded load cannot send again.
 */
#ifndef CMDARGS_H
#define CMDARGS_H

#include "tracefile.h"

#include <stdbool.h>
#include <stddef.h>

enum cmdargs_role {
	CMDARGS_SYNTAX, /* the name, numbers, options */
	CMDARGS_KEY,
	CMDARGS_VALUE, /* members, fields, messages, ... */
	CMDARGS_OTHER  /* any of them, or a pattern of keys */
};

/* Makes the words of a list of n texts, which they borrow. Caller frees. */
struct tracefile_word *cmdargs_words(char *const *list, size_t n);

/*
 * Sets the role of each of the n >= 1 words. Returns false if the command is
 * not in the table: then all words but the first are CMDARGS_OTHER.
 */
bool cmdargs_roles(
    const struct tracefile_word *, size_t n, enum cmdargs_role *roles);

/*
 * As cmdargs_roles, but knows commands of modules too; of one without any known
 * keys the word behind the name is one. Returns false if a key is missing.
 */
bool cmdargs_keys(
    const struct tracefile_word *, size_t n, enum cmdargs_role *roles);

/*
 * Returns why a command is not sent again, or NULL; static: "it blocks",
 * "it subscribes", ... Commands that are not in the table are sent only if
 * their name has a dot, as those of modules have.
 */
const char *cmdargs_refuse(const struct tracefile_word *, size_t n);

/* Returns 1 if the command needs words behind its name, 0 if it needs none, or
 * -1 if it is not in the table, or is not sent again. */
int cmdargs_needs_words(const char *name);

/* Does the command carry a script, or a value that cannot be changed? */
bool cmdargs_is_sealed(const struct tracefile_word *);

/*
 * Does a command that cmdargs_refuse lets pass only read or write keys, or
 * frame such commands? The server puts none of these into the categories
 * @dangerous and @scripting of its access control lists.
 */
bool cmdargs_is_data(const struct tracefile_word *);

/*
 * Writes the name in capitals, with the subcommand of a command that has some
 * ("CONFIG SET") and "XREAD BLOCK", so that cmdargs_refuse gives the same
 * answer for the words of the name; cut to CMDARGS_NAME; characters that are
 * not letters, digits or one of "._-|" become "?".
 */
#define CMDARGS_NAME 40
void cmdargs_name(
    const struct tracefile_word *, size_t n, char name[CMDARGS_NAME]);

/* Is the word this one, whatever its case? 'upper' is in capitals. */
bool cmdargs_is(const struct tracefile_word *, const char *upper);

#endif
