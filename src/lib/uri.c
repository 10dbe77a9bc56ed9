#include "uri.h"
#include "mem.h"
#include "num.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>

#define DB_MOST 1000000

static int
read_hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at =
	    c ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Returns a copy of n bytes with %XX decoded; NULL if one is not valid, or NUL.
 */
static char *
decode_text(const char *s, size_t n)
{
	struct str out = {0};
	int high, low;

	for (size_t i = 0; i < n; i++) {
		if (s[i] != '%') {
			str_addc(&out, s[i]);
			continue;
		}
		high = i + 2 < n ? read_hex(s[i + 1]) : -1;
		low = i + 2 < n ? read_hex(s[i + 2]) : -1;
		if (high < 0 || low < 0 || high + low == 0) {
			str_free(&out);
			return NULL;
		}
		str_addc(&out, (char)(high * 16 + low));
		i += 2;
	}
	return str_take(&out);
}

/* Reads a whole number of n bytes, from 'least' to 'most'. Returns 0 or -1. */
static int
read_number(const char *s, size_t n, long long least, long long most, int *to)
{
	char *text = mem_strn(s, n);
	long long v = -1;
	int rc = num_int(text, &v);

	free(text);
	if (rc < 0 || v < least || v > most)
		return -1;
	*to = (int)v;
	return 0;
}

/* Reads "HOST", "HOST:PORT", "[::1]:PORT" of n bytes. */
static const char *
read_host(const char *s, size_t n, struct uri *u)
{
	const char *end = s + n, *colon = memchr(s, ':', n);
	const char *close = n && *s == '[' ? memchr(s, ']', n) : NULL;

	if (close) {
		s++;
		colon = close + 1 < end ? close + 1 : NULL;
		u->host = decode_text(s, (size_t)(close - s));
		if (colon && *colon != ':')
			return "after ']' comes a colon and the port";
	} else {
		u->host = decode_text(s, (size_t)((colon ? colon : end) - s));
	}
	if (!u->host)
		return "the host has a '%' without two hexadecimal digits";
	if (!*u->host)
		return "it has no host";
	if (colon &&
	    read_number(
		colon + 1, (size_t)(end - colon - 1), 1, 65535, &u->port) < 0)
		return "the port is a number from 1 to 65535";
	return NULL;
}

/* Reads "USER@" of n bytes. */
static const char *
read_user(const char *s, size_t n, struct uri *u)
{
	if (memchr(s, ':', n))
		return "a password on the command line can be read by all "
		       "users of this host: set VKB_PASSWORD instead, and "
		       "leave out the colon and what follows it";
	u->user = decode_text(s, n);
	if (!u->user)
		return "the user has a '%' without two hexadecimal digits";
	return *u->user ? NULL : "before '@' comes the name of the user";
}

static const char *
read_db(const char *s, struct uri *u)
{
	return read_number(s, strlen(s), 0, DB_MOST, &u->db) < 0
	    ? "the database is a number from 0 to 1000000"
	    : NULL;
}

/* Reads "/PATH[?db=DB]". */
static const char *
read_socket(const char *s, struct uri *u)
{
	size_t n = strcspn(s, "?");

	if (*s != '/' || n < 2)
		return "a unix socket has a path that begins with '/', as in "
		       "unix:///run/valkey.sock";
	u->unixsocket = decode_text(s, n);
	if (!u->unixsocket)
		return "the path has a '%' without two hexadecimal digits";
	if (!s[n])
		return NULL;
	if (!str_starts(s + n, "?db="))
		return "after the path may come ?db= and a number, and "
		       "nothing else";
	return read_db(s + n + 4, u);
}

/* Reads the part after the scheme. */
static const char *
read_rest(const char *s, bool is_socket, struct uri *u)
{
	/* A password may have an '@', too, or a slash. */
	const char *at =
	    is_socket ? memrchr(s, '@', strcspn(s, "/")) : strrchr(s, '@');
	const char *why = at ? read_user(s, (size_t)(at - s), u) : NULL;
	size_t n;

	if (why)
		return why;
	if (at)
		s = at + 1;
	if (is_socket)
		return read_socket(s, u);
	n = strcspn(s, "/?#");
	why = read_host(s, n, u);
	if (why || !s[n] || strcmp(s + n, "/") == 0)
		return why;
	if (s[n] != '/')
		return "after the host may come a slash and the number of the "
		       "database, and nothing else";
	return read_db(s + n + 1, u);
}

const char *
uri_parse(const char *text, struct uri *u)
{
	static const struct {
		const char *scheme;
		bool tls, is_socket;
	} v[] = {{"valkey://", false, false}, {"redis://", false, false},
	    {"valkeys://", true, false}, {"rediss://", true, false},
	    {"unix://", false, true}};

	*u = (struct uri){.db = -1};
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		if (!str_starts(text, v[i].scheme))
			continue;
		u->tls = v[i].tls;
		return read_rest(text + strlen(v[i].scheme), v[i].is_socket, u);
	}
	return "it begins with valkey://, valkeys://, redis://, rediss:// or "
	       "unix://";
}

void
uri_free(struct uri *u)
{
	free(u->user);
	free(u->host);
	free(u->unixsocket);
	*u = (struct uri){.db = -1};
}
