/* Servers as URIs. */
#include "tap.h"

#include "uri.h"

#include <stdlib.h>

/* Checks the parts of a URI; user, host and socket are NULL if absent. */
static void
is_uri(const char *text, const char *user, const char *host, int port, int db,
    const char *unixsocket, bool tls)
{
	struct uri u;
	const char *why = uri_parse(text, &u);

	tap_ok(!why, "%s is a valid URI", text);
	tap_str(u.user, user, "its user");
	tap_str(u.host, host, "its host");
	tap_str(u.unixsocket, unixsocket, "its socket");
	tap_ok(u.port == port && u.db == db && u.tls == tls,
	    "its port, database and TLS: %d %d %d", u.port, u.db, u.tls);
	uri_free(&u);
}

static void
is_wrong(const char *text, const char *part)
{
	struct uri u;
	const char *why = uri_parse(text, &u);

	tap_ok(why && strstr(why, part), "%s: %s", text, why ? why : "good");
	tap_ok(!why || !strstr(why, "s3cret"), "the message shows no secret");
	uri_free(&u);
}

int
main(void)
{
	is_uri("valkey://h", NULL, "h", 0, -1, NULL, false);
	is_uri("redis://h/", NULL, "h", 0, -1, NULL, false);
	is_uri("valkeys://h:1/0", NULL, "h", 1, 0, NULL, true);
	is_uri("rediss://me@h:65535/1000000", "me", "h", 65535, 1000000, NULL,
	    true);
	is_uri("valkey://[::1]:7/2", NULL, "::1", 7, 2, NULL, false);
	is_uri("valkey://[::1]", NULL, "::1", 0, -1, NULL, false);
	is_uri("valkey://a%40b%3aC@h", "a@b:C", "h", 0, -1, NULL, false);
	is_uri("valkey://a@b@h", "a@b", "h", 0, -1, NULL, false);
	is_uri("unix:///run/v%20k.sock", NULL, NULL, 0, -1, "/run/v k.sock",
	    false);
	is_uri("unix://me@/s?db=4", "me", NULL, 0, 4, "/s", false);
	is_uri("unix:///a@b:c", NULL, NULL, 0, -1, "/a@b:c", false);

	is_wrong("", "it begins with");
	is_wrong("http://h", "it begins with");
	is_wrong("valkey:h", "it begins with");
	is_wrong("valkey://", "it has no host");
	is_wrong("valkey://:1", "it has no host");
	is_wrong("valkey://me:s3cret@h", "VKB_PASSWORD");
	is_wrong("valkey://:s3cret@h", "VKB_PASSWORD");
	is_wrong("valkey://me:@h", "VKB_PASSWORD");
	is_wrong("valkey://me:s3cret/x@h", "VKB_PASSWORD");
	is_wrong("valkey://me:s3cret@@h", "VKB_PASSWORD");
	is_wrong("unix://me:s3cret@/s", "VKB_PASSWORD");
	is_wrong("valkey://@h", "the name of the user");
	is_wrong("valkey://a%4@h", "the user has a '%'");
	is_wrong("valkey://a%zz@h", "the user has a '%'");
	is_wrong("valkey://a%00@h", "the user has a '%'");
	is_wrong("valkey://%", "the host has a '%'");
	is_wrong("valkey://h:", "the port is");
	is_wrong("valkey://h:0", "the port is");
	is_wrong("valkey://h:65536", "the port is");
	is_wrong("valkey://h:1x", "the port is");
	is_wrong("valkey://[::1]7", "after ']'");
	is_wrong("valkey://h/x", "the database is");
	is_wrong("valkey://h/-1", "the database is");
	is_wrong("valkey://h/1000001", "the database is");
	is_wrong("valkey://h/1/2", "the database is");
	is_wrong("valkey://h?db=1", "after the host");
	is_wrong("unix://s", "a unix socket has a path");
	is_wrong("unix:///", "a unix socket has a path");
	is_wrong("unix:///a%", "the path has a '%'");
	is_wrong("unix:///a?x=1", "?db=");
	is_wrong("unix:///a?db=", "the database is");
	return tap_done();
}
