/*
 * Secrets in text that people or records get to see. Everything that may hold a
 * URL or the settings of a connection passes here before it is printed or kept:
 * all messages do (err.h).
 */
#ifndef REDACT_H
#define REDACT_H

/*
 * Replaces, in place and by at most three stars each, who logs in where
 * (the part between "://" and "@" of a URL) and the value behind a name that
 * ends in password, passwd, passphrase, token, secret, apikey, api_key,
 * requirepass, masterauth or primaryauth and "=". bin/vkb-sh-setup has the same
 * rules for the workflows.
 */
void redact_text(char *text);

/* A redacted copy; caller frees with free(). NULL for NULL. */
char *redact_copy(const char *text);

#endif
