/*
 * Removes secrets from text. All messages (err.h), and all text that may hold a
 * URL or connection settings, are redacted before they are printed or stored.
 */
#ifndef REDACT_H
#define REDACT_H

/*
 * Replaces in place, by at most three stars each: the login of a URL (between
 * "://" and "@"), the login before "@" in user:password@host:path, and the
 * value after "=" if the name before it ends in password, passwd, passphrase,
 * token, secret, apikey, api_key, requirepass, masterauth or primaryauth.
 * bin/vkb-sh-setup has the same rules.
 */
void redact_text(char *text);

/* Returns a redacted copy, or NULL for NULL. Caller frees with free(). */
char *redact_copy(const char *text);

#endif
