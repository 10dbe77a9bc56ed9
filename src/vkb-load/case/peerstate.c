#include "peerstate.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#ifndef VKB_VERSION
#define VKB_VERSION "0"
#endif

struct json *
peerstate_new(const struct peers_opts *o)
{
	struct json *s = json_object();
	unsigned long long token = 0;
	char text[32], host[256] = "";

	if (getrandom(&token, sizeof token, 0) != sizeof token)
		err_die("cannot get random numbers");
	gethostname(host, sizeof host - 1);
	json_set_num(s, "i", o->part);
	json_set_num(s, "n", o->parts);
	snprintf(text, sizeof text, "%016llx", token);
	json_set_str(s, "token", text);
	json_set_str(s, "version", VKB_VERSION);
	snprintf(text, sizeof text, "%016llx", o->plan);
	json_set_str(s, "plan", text);
	json_set_str(s, "host", host);
	json_set_str(s, "session", o->session);
	json_set_num(s, "seed", (double)o->seed);
	json_set_str(s, "prefix", o->prefix);
	return s;
}

char *
peerstate_explain(const struct json *ours, const struct json *its)
{
	double i = json_get_num(its, "i", 0), n = json_get_num(its, "n", 0);
	const char *version = json_get_str(its, "version");
	char name[64];

	snprintf(name, sizeof name, "part %g of %g", i, n);
	if (n != json_get_num(ours, "n", 0))
		return mem_printf("a load of %g parts is being made on this "
				  "server, not one of %g",
		    n, json_get_num(ours, "n", 0));
	if (!json_get_str(its, "token") || i > n)
		return mem_printf("%s is not a part of this load", name);
	if (i == json_get_num(ours, "i", 0) &&
	    !json_equal(json_get(its, "token"), json_get(ours, "token")))
		return mem_printf("there are two of %s: give each part another "
				  "'--client', and make one load at a time",
		    name);
	if (!json_equal(json_get(its, "version"), json_get(ours, "version")))
		return mem_printf("%s is vkb-load %s, and this is " VKB_VERSION,
		    name, version ? version : "of another version");
	if (!json_equal(json_get(its, "plan"), json_get(ours, "plan")))
		return mem_printf("%s has other cases or options: give all "
				  "parts the same, but for '--client' and "
				  "'--output'",
		    name);
	return NULL;
}
