/* What a load takes in the memory of a server: sizes of texts, numbers of keys.
 */
#include "tap.h"

#include "vkb-load/engine/demand.h"
#include "vkb-load/engine/engine.h"

#include <math.h>

static const struct engine_target target = {.nnodes = 1, .prefix = "vkb:1:"};

/* Returns what a named test or a text takes. */
static struct demand
count(const char *command, const char *text, long long requests)
{
	struct engine_work w = {.command = command,
	    .data_size = 100,
	    .keyspacelen = 1000,
	    .requests = requests,
	    .clients = 2,
	    .pipeline = 1,
	    .threads = 1};
	struct demand d = {.keys = 1000,
	    .size = 100,
	    .requests = requests ? (double)requests : INFINITY};

	if (text)
		demand_add_text(&d, text, true);
	else
		demand_add_test(&d, &target, &w, command);
	return d;
}

static void
takes(const char *command, const char *text, long long requests,
    double elements, double least)
{
	struct demand d = count(command, text, requests);

	tap_ok(d.elements == elements, "%s, %lld requests: %g elements, not %g",
	    text ? text : command, requests, elements, d.elements);
	tap_ok(d.bytes >= least && d.bytes <= 4 * least,
	    "they take %g bytes, at least %g", d.bytes, least);
}

static void
waits(const char *text, double least)
{
	struct demand d = count("", text, 0);

	tap_ok(d.waiting >= least && d.waiting <= 2 * least,
	    "%s: %g bytes wait, at least %g", text, d.waiting, least);
}

int
main(void)
{
	struct demand d;

	takes("PING", NULL, 0, 0, 0);
	takes("SET", NULL, 0, 1000, 1000 * 150);
	takes("SET", NULL, 10, 10, 10 * 150);
	takes("GET", NULL, 10, 1000, 1000 * 150);
	takes("MSET", NULL, 0, 1000, 1000 * 150);
	takes("INCR", NULL, 0, 1000, 1000 * 60);
	takes("LPUSH", NULL, 500, 500, 500 * 100);
	takes("LRANGE_100", NULL, 5, 1000, 1000 * 100);
	takes("SPOP", NULL, 300, 300, 300 * 60);
	takes("SPOP", NULL, 0, 1000, 1000 * 60);
	takes("", "SET x __data__", 0, 1, 150);
	takes("", "SET x:__rand_int__ __data__", 0, 1000, 1000 * 150);
	takes("", "MSET a{key} __data__ b{key} __data__", 0, 2000, 2000 * 150);
	takes("", "HSET h __rand_int__ __data__", 0, 1000, 1000 * 150);
	takes("", "HSET h __seq__ __data__", 500, 500, 500 * 150);
	takes("", "RPUSH x __data__", 0, INFINITY, 0);
	takes("", "XADD x:__seq__ * f v", 0, INFINITY, 0);
	takes("", "XADD x MAXLEN ~ 100 * f __data__", 5000, 1200, 1200 * 120);
	takes("", "SETRANGE x:{key} 1000 y", 0, 1000, 1000 * 1000);
	takes("", "3 SET a __data__ ; SET b __data__", 0, 2, 2 * 150);
	d = count("", "SETRANGE x 1__data__ y", 0);
	tap_ok(d.unbounded && d.bytes == 0,
	    "an offset that is not a number has no bound");
	waits("PING", 60);
	waits("SET x:{key} __data__", 100);
	d = count("LRANGE_600", NULL, 0);
	tap_ok(d.waiting > 600 * 100, "a reply has all of its elements: %g",
	    d.waiting);
	d.flight = 50;
	tap_ok(demand_bytes(&d) == d.bytes + 50 * d.waiting,
	    "requests and replies in flight take memory, too");
	return tap_done();
}
