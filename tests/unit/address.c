/* Where a running server is: what is given, variables, defaults. */
#include "tap.h"

#include "address.h"
#include "err.h"

#include <stdlib.h>

static void
clear(void)
{
	static const char *const names[] = {"VKB_HOST", "VKB_PORT", "VKB_USER",
	    "VKB_TLS_CACERT", "VKB_TLS_CERT", "VKB_TLS_KEY"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

/* Checks the host, port and TLS of an address that is completed. */
static void
becomes(struct address a, const char *host, long long port, bool tls,
    const char *what)
{
	bool ok = address_complete(&a) == 0;

	tap_ok(ok && a.port == port && a.tls == tls, "%s: port %lld, TLS %d",
	    what, a.port, a.tls);
	tap_str(a.host, host, what);
}

static void
variables(void)
{
	struct address a = {.tls = true, .cacert = "mine"};

	clear();
	becomes((struct address){0}, "127.0.0.1", 6379, false, "the defaults");
	setenv("VKB_HOST", "db1", 1);
	setenv("VKB_PORT", "7000", 1);
	becomes((struct address){0}, "db1", 7000, false, "variables");
	becomes((struct address){.host = "db2"}, "db2", 7000, false,
	    "a host that is given");
	becomes((struct address){.port = 1}, "db1", 1, false,
	    "a port that is given");
	becomes((struct address){.unixsocket = "/s"}, "127.0.0.1", 0, false,
	    "a socket");
	setenv("VKB_TLS_CACERT", "ca", 1);
	setenv("VKB_TLS_CERT", "cert", 1);
	setenv("VKB_TLS_KEY", "key", 1);
	becomes((struct address){0}, "db1", 7000, true, "a port with TLS");
	becomes((struct address){.port = 1}, "db1", 1, false,
	    "a port that is given has TLS only if that is given");
	tap_ok(address_complete(&a) == 0, "TLS");
	tap_str(a.cacert, "mine", "an authority that is given");
	tap_str(a.cert, "cert", "the certificate of the variable");
	tap_str(a.key, "key", "its key");
	a = (struct address){.tls = true, .insecure = true};
	tap_ok(address_complete(&a) == 0 && !a.cacert,
	    "without a check there is no authority");
	for (const char *const *s =
		 (const char *const[]){"x", "0", "65536", "-1", "7 000", NULL};
	     *s; s++) {
		setenv("VKB_PORT", *s, 1);
		a = (struct address){0};
		tap_ok(address_complete(&a) < 0, "'%s' is not a port", *s);
	}
	setenv("VKB_PORT", "", 1);
	becomes((struct address){0}, "db1", 6379, false, "an empty variable");
	clear();
}

static void
texts(const char *host, const char *unixsocket, const char *want)
{
	char *text = address_format(host, 6390, unixsocket);

	tap_str(text, want, "the address as a text");
	free(text);
}

int
main(void)
{
	if (!freopen("/dev/null", "w", stderr)) /* messages about ports */
		return 2;
	variables();
	texts("db1", NULL, "db1:6390");
	texts("::1", NULL, "[::1]:6390");
	texts("db1", "/tmp/s", "'/tmp/s'");
	tap_ok(address_find_conflict(
		   &(struct address){.unixsocket = "/s", .port = 1}) != NULL,
	    "a socket excludes a port");
	tap_ok(
	    !address_find_conflict(&(struct address){.host = "h", .port = 1}),
	    "a host goes with a port");
	return tap_done();
}
