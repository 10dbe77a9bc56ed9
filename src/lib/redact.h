/*
 * Secrets in text. Whatever leaves a program for a file, a log, a page, a
 * database or the list of processes passes this module: messages (err.h),
 * records (sink.h), reports (output.h), values of a database (pg.h) and
 * arguments (opt.h). One table in redact.c says which keys, settings, options
 * and variables have a secret.
 */
#ifndef REDACT_H
#define REDACT_H

#include <stdbool.h>
#include <stddef.h>

struct str;

#define REDACT_STARS "***"

/*
 * Is the value of this key, setting of a server, option or environment
 * variable a secret? Its rules make "user" one, see redact_add.
 */
bool redact_is_secret(const char *name);

/* Is word i of a command line a secret, for what stands before it: an option
 * "--key", or -a of a client such as valkey-cli? */
bool redact_is_argument(const char *const *words, size_t i);

/*
 * Appends n bytes of text with REDACT_STARS in place of each secret:
 *
 *	the value of a secret key in key=value, in a line "key value" or
 *	"key: value", in JSON (of any type, also in a text in JSON), in an
 *	option "--key value", and in a list of words ["--key","value"]
 *	the password of AUTH, HELLO, MIGRATE and CONFIG SET
 *	the value of -a in a line with valkey-cli or such a program
 *	the passwords and hashes of the rules of a user: >password, #hash
 *	the login of a URL, and of user:password@host:path
 *
 * A message about a secret stays: "auth: ok", "'/run/token': is a directory".
 * An object {"env":"NAME"} names a variable and stays, and so does $NAME if a
 * variable of that name has a secret. JSON stays JSON. A second pass changes
 * nothing, except in bytes that are none of these forms.
 */
void redact_add(struct str *, const char *text, size_t n);

/* Are stars all that is left of a secret in this text? */
bool redact_is_hidden(const char *text);

/* Returns such a copy, or NULL for NULL. Caller frees with free(). */
char *redact_copy(const char *text);

/* Replaces the secrets in place; the text does not become longer, so a secret
 * of one byte gets one star. Allocates nothing. */
void redact_text(char *text);

#endif
