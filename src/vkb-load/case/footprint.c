#include "footprint.h"
#include "client.h"
#include "err.h"
#include "fdlimit.h"
#include "json.h"
#include "keyspace.h"
#include "target.h"
#include "vkb-load/engine/control.h"

#include <stdbool.h>

enum {
	FEW = 16, /* idle clients at the first reading */
	MANY = 48 /* and at the second */
};

/* Everything that the server does once, as for the first use of a command, is
 * done: what FLUSHALL frees is the keys and their tables. */
static int
measure_keys(const struct target *t, struct json *metrics)
{
	struct target_memory full, empty;

	if (target_read_memory(t, &full) < 0)
		return -1;
	if (!(full.keys >= TARGET_MANY_KEYS))
		return 0;
	if (keyspace_empty(t) < 0) {
		err_say("bytes_per_key is not counted, as the keys cannot be "
			"deleted");
		return 0;
	}
	if (target_read_memory(t, &empty) < 0)
		return -1;
	json_set_num(
	    metrics, "bytes_per_key", (full.used - empty.used) / full.keys);
	return 0;
}

/* Opens connections until there are 'to' of them. Each has sent a request and
 * has its reply. Returns false after reporting an error. */
static bool
open_clients(const struct target *t, struct client **v, size_t *n, size_t to)
{
	struct reply *r;
	bool ok = true;

	while (*n < to && ok) {
		v[*n] = target_client(t, 0);
		if (!v[*n])
			return false;
		r = CONTROL_ASK(v[(*n)++], control_ms(&t->e, 0), "PING");
		ok = r != NULL;
		reply_free(r);
	}
	return ok;
}

static int
measure_clients(const struct target *t, struct json *metrics)
{
	struct client *v[MANY];
	struct target_memory few, many;
	bool ok = fdlimit_raise(MANY, "idle connections") == 0;
	size_t n = 0;
	int rc = 0;

	ok = ok && open_clients(t, v, &n, FEW);
	if (ok)
		rc = target_read_memory(t, &few);
	ok = ok && rc == 0 && open_clients(t, v, &n, MANY);
	if (ok)
		rc = target_read_memory(t, &many);
	if (ok && rc == 0)
		json_set_num(metrics, "bytes_per_client",
		    (many.used - few.used) / (MANY - FEW));
	else if (rc == 0)
		err_say(
		    "bytes_per_client is not counted, as the server does not "
		    "take %d more connections",
		    MANY);
	while (n > 0)
		client_close(v[--n]);
	return rc;
}

int
footprint_measure(const struct target *t, struct json *metrics)
{
	return measure_keys(t, metrics) < 0 ? -1 : measure_clients(t, metrics);
}
