/* The servers of a load as the engine knows them, and how much data they
 * hold. */
#include "vkb-load/case/target.h"
#include "tap.h"

#include "err.h"
#include "json.h"
#include "vkb-load/case/room.h"
#include "vkb-load/plan/benchcase.h"

#include <stdlib.h>

static struct json *
parse(const char *s)
{
	return json_parse(s, strlen(s), NULL, NULL);
}

static void
nodes(void)
{
	struct json *j = parse(
	    "{\"cluster\":true,\"nodes\":[{\"host\":\"h\",\"port\":7,\"pid\":8,"
	    "\"role\":\"primary\",\"unixsocket\":\"/s\"},"
	    "{\"host\":\"r\",\"port\":9,\"role\":\"replica\"},"
	    "{\"port\":10,\"unixsocket\":\"/t\"}]}");
	struct target t;

	tap_ok(target_make(&t, j, false, NULL) == 0 && t.e.nnodes == 2 &&
		t.e.nodes == t.nodes && t.e.cluster && !t.e.tls,
	    "the primaries of a server are the nodes of its load");
	tap_ok(strcmp(t.nodes[0].host, "h") == 0 && t.nodes[0].port == 7 &&
		t.nodes[0].pid == 8 && !t.nodes[0].unixsocket,
	    "a node has its host, port and process");
	tap_ok(strcmp(t.nodes[1].host, "127.0.0.1") == 0 &&
		t.nodes[1].port == 10 && t.nodes[1].pid == 0,
	    "a node without a host is on this host");
	free(t.nodes);
	tap_ok(target_make(&t, j, true, NULL) == 0 &&
		strcmp(t.nodes[0].unixsocket, "/s") == 0 &&
		strcmp(t.nodes[1].unixsocket, "/t") == 0,
	    "a load over unix sockets uses those of the nodes");
	free(t.nodes);
	json_free(j);
	j = parse("{\"nodes\":[{\"port\":10}]}");
	tap_ok(target_make(&t, j, false, NULL) == 0 && !t.e.cluster,
	    "a server is not a cluster by default");
	free(t.nodes);
	tap_ok(target_make(&t, j, true, NULL) == -1,
	    "every node must have a socket");
	tap_str(err_last(), "the server has no unix socket",
	    "a missing socket is reported");
	free(t.nodes);
	json_free(j);
	j = parse("{\"nodes\":[{\"port\":10,\"role\":\"replica\"}]}");
	tap_ok(target_make(&t, j, false, NULL) == -1,
	    "replicas alone are refused");
	tap_str(err_last(), "the server record has no node",
	    "a missing node is reported");
	free(t.nodes);
	json_free(j);
	j = parse("{\"nodes\":[{\"port\":10}],\"tls\":{\"servername\":\"n\","
		  "\"cacert\":\"/no/ca\",\"cert\":\"/no/cert\","
		  "\"key\":\"/no/key\"}}");
	tap_ok(target_make(&t, j, false, NULL) == -1 && !t.e.tls &&
		strcmp(t.e.how.cacert, "/no/ca") == 0 &&
		strcmp(t.e.how.cert, "/no/cert") == 0 &&
		strcmp(t.e.how.key, "/no/key") == 0 &&
		strcmp(t.e.servername, "n") == 0,
	    "a certificate that does not exist is an error");
	free(t.nodes);
	json_free(j);
}

static void
keys(void)
{
	static const char info[] =
	    "db0:keys=10,expires=0,avg_ttl=0\r\n"
	    "# db9:keys=100,expires=0\r\n"
	    "db1:keys=4,expires=1\r\ndb2:keys=30,expires=0\r\n";
	double v[3] = {1, 0, 0};

	tap_near(target_count_keys(info, v, 2), 44, 0,
	    "keys are counted over all databases");
	tap_ok(v[0] == 11 && v[1] == 4 && v[2] == 0,
	    "keys are counted for each of the first databases");
	tap_near(target_count_keys("", NULL, 0), 0, 0,
	    "without databases there are 0 keys");
	tap_near(target_count_keys(
		     "# Keyspace\r\ndb7:keys=3,expires=0\r\n", NULL, 0),
	    3, 0, "the heading is ignored");
}

/* Checks the message that the values of a case need more memory than there
 * is. */
static void
values(const char *command, long long keyspacelen, long long requests,
    const char *want)
{
	struct bench_case c = {.load.command = command,
	    .load.work = {.keyspacelen = keyspacelen,
		.requests = requests,
		.data_size = 1000000000}};
	char *why = room_explain_case(&c, 3);

	if (why && strlen(why) > strlen(want))
		why[strlen(want)] = '\0';
	tap_str(why ? why : "", want, command);
	free(why);
}

static void
amounts(void)
{
	static const char want[] = "the values of 3 servers take ";
	char text[100];

	snprintf(text, sizeof text, "%s3000TB of memory, and ", want);
	values("SET", 1000000, 0, text);
	values("GET", 1000000, 10, text);
	values("SET x__rand_int__ __data__", 1000000, 0, text);
	snprintf(text, sizeof text, "%s6.00TB of memory, and ", want);
	values("SET", 1000000, 2000, text);
	values("SET x__rand_int__ __data__", 2000, 1000000, text);
	values("PING", 1000000, 0, "");
	values("SET x __data__", 1000000, 0, "");
	values("SET x__rand_int__ y", 1000000, 0, "");
	values("SET", 0, 0, "");
}

int
main(void)
{
	if (!freopen("/dev/null", "w", stderr)) /* messages about refusals */
		return 2;
	nodes();
	keys();
	amounts();
	return tap_done();
}
