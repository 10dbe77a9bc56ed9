#include "address.h"
#include "err.h"
#include "mem.h"
#include "num.h"
#include "opt.h"

#include <string.h>

#define HOST "127.0.0.1"

bool
address_is_given(const struct address *a)
{
	return a->host || a->port || a->unixsocket || a->tls;
}

const char *
address_find_conflict(const struct address *a)
{
	const char *colon = a->host ? strchr(a->host, ':') : NULL;

	if (colon && !strchr(colon + 1, ':')) /* not of IPv6 */
		return "'--host' has no port: write '-h HOST -p PORT'";
	if (a->unixsocket && (a->host || a->port || a->tls))
		return "'--unixsocket' excludes '--host', '--port' and "
		       "'--tls'; '-h HOST' is a host";
	if (!a->tls && (a->cacert || a->cert || a->key))
		return "'--cacert', '--cert' and '--key' need '--tls'";
	if (!a->tls && a->insecure)
		return "'--insecure' needs '--tls'";
	if (a->insecure && a->cacert)
		return "'--insecure' does not verify the server: '--cacert' "
		       "cannot be combined with it";
	if (!a->cert != !a->key)
		return "'--cert' and '--key' go together";
	return NULL;
}

/* Sets a text that is not given to that of a variable. */
static void
set_text(const char **text, const char *variable)
{
	if (!*text)
		*text = opt_variable(variable);
}

static int
set_port(struct address *a)
{
	const char *text = opt_variable("VKB_PORT");

	if (a->port)
		return 0;
	a->port = ADDRESS_PORT;
	if (!text)
		return 0;
	if (num_int(text, &a->port) < 0 || a->port < 1 || a->port > 65535)
		return err_fail(
		    "the variable VKB_PORT is '%s', not a port from 1 to 65535",
		    text);
	if (opt_variable("VKB_TLS_CACERT"))
		a->tls = true;
	return 0;
}

int
address_complete(struct address *a)
{
	set_text(&a->user, "VKB_USER");
	if (!a->unixsocket) {
		set_text(&a->host, "VKB_HOST");
		if (set_port(a) < 0)
			return -1;
	}
	if (!a->host)
		a->host = HOST;
	if (!a->tls)
		return 0;
	if (!a->insecure)
		set_text(&a->cacert, "VKB_TLS_CACERT");
	if (!a->cert && !a->key) {
		set_text(&a->cert, "VKB_TLS_CERT");
		set_text(&a->key, "VKB_TLS_KEY");
	}
	return 0;
}

char *
address_format(const char *host, long long port, const char *unixsocket)
{
	if (unixsocket)
		return mem_printf("'%s'", unixsocket);
	return strchr(host, ':') ? mem_printf("[%s]:%lld", host, port)
				 : mem_printf("%s:%lld", host, port);
}
