/* The URI of a server from foreign bytes: written again it is the same. */
#include "mem.h"
#include "str.h"
#include "uri.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
add_encoded(struct str *s, const char *text)
{
	for (; *text; text++)
		str_printf(s, "%%%02x", (unsigned)(unsigned char)*text);
}

static char *
write_uri(const struct uri *u)
{
	struct str s = {0};

	str_add(&s,
	    u->unixsocket ? "unix://"
		: u->tls  ? "rediss://"
			  : "redis://");
	if (u->user) {
		add_encoded(&s, u->user);
		str_addc(&s, '@');
	}
	if (u->unixsocket)
		str_addc(&s, '/');
	add_encoded(&s, u->unixsocket ? u->unixsocket + 1 : u->host);
	if (u->port)
		str_printf(&s, ":%d", u->port);
	if (u->db >= 0)
		str_printf(&s, u->unixsocket ? "?db=%d" : "/%d", u->db);
	return str_take(&s);
}

static void
check_same(const char *a, const char *b)
{
	if (a ? !b || strcmp(a, b) != 0 : b != NULL)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_strn((const char *)data, size), *again;
	struct uri u, v;

	if (!uri_parse(text, &u)) {
		if (!u.host == !u.unixsocket || u.port < 0 || u.port > 65535 ||
		    u.db < -1 || (u.host && !*u.host))
			abort();
		again = write_uri(&u);
		if (uri_parse(again, &v))
			abort();
		check_same(u.user, v.user);
		check_same(u.host, v.host);
		check_same(u.unixsocket, v.unixsocket);
		if (u.port != v.port || u.db != v.db || u.tls != v.tls)
			abort();
		uri_free(&v);
		free(again);
	}
	uri_free(&u);
	free(text);
	return 0;
}
