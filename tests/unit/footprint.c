/* What a load takes in the memory of a server: sizes of texts, numbers of keys.
 */
#include "tap.h"

#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/footprint.h"

#include <math.h>

static const struct engine_target target = {.nnodes = 1, .prefix = "vkb:1:"};

/* Returns the elements that a command writes, *bytes is what they take. */
static double
count(const char *command, const char *text, long long requests, double *bytes)
{
	struct engine_work w = {.command = command,
	    .data_size = 100,
	    .keyspacelen = 1000,
	    .requests = requests,
	    .clients = 2,
	    .pipeline = 1,
	    .threads = 1};
	double elements = 0;

	*bytes = footprint_command(&target, &w, command, text, &elements);
	return elements;
}

static void
takes(const char *command, const char *text, long long requests,
    double elements, double least)
{
	double bytes, n = count(command, text, requests, &bytes);

	tap_ok(n == elements, "%s, %lld requests: %g elements, wanted %g",
	    text ? text : command, requests, n, elements);
	tap_ok(bytes >= least && bytes <= 4 * least,
	    "they take %g bytes, at least %g", bytes, least);
}

int
main(void)
{
	struct engine_work w = {
	    .command = "GET", .clients = 50, .pipeline = 1, .data_size = 3};
	double few, many;

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
	takes("", "RPUSH x __data__", 0, INFINITY, 0);
	takes("", "XADD x:__seq__ * f v", 0, INFINITY, 0);
	few = footprint_connections(&w, 1);
	w.pipeline = 100;
	w.data_size = 1000;
	many = footprint_connections(&w, 1);
	tap_ok(few > 50 * 20000, "connections have buffers");
	tap_ok(many - few > 50 * 100 * 1000,
	    "those of a pipeline hold all of its replies");
	w.command = "LRANGE_600";
	tap_ok(footprint_connections(&w, 1) > 500 * (many - few),
	    "a reply has all of its elements");
	tap_ok(
	    footprint_connections(&w, 3) > 2.9 * footprint_connections(&w, 1),
	    "each node has all connections");
	return tap_done();
}
