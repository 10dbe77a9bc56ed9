/* Throw-away certificates for test servers (OpenSSL). */
#ifndef CERTIFICATE_H
#define CERTIFICATE_H

/*
 * Writes ca.crt, ca.key, server.crt, server.key, client.crt, client.key into
 * 'dir' (mode 0600 for keys), valid for localhost, 127.0.0.1, ::1 and 'host', a
 * name without commas.
 * Returns 0, or -1 and an error is reported.
 */
int certificate_make(const char *dir, const char *host);

#endif
