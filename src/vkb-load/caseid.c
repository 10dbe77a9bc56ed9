#include "json.h"
#include "num.h"
#include "plan.h"
#include "str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Only what a shell, a file name and a report can bear. */
static void
plain(struct str *s, const char *text)
{
	for (; *text; text++)
		str_addc(s,
		    isalnum((unsigned char)*text) || strchr("._+:=", *text)
			? *text
			: '_');
}

static void
number(struct str *s, const char *letter, const struct json *v)
{
	if (v)
		str_printf(s, "-%s%.15g", letter, json_num(v, 0));
}

/* search.reader-threads 8 becomes reader-threads8, as in the Python tool. */
static void
settings(struct str *s, const struct json *set)
{
	const char *name, *dot;
	char sep = '-';

	for (const struct json *m = json_first(set); m; m = json_next(m)) {
		name = json_key(m);
		dot = strrchr(name, '.');
		str_addc(s, sep);
		plain(s, dot ? dot + 1 : name);
		if (json_str(m))
			plain(s, json_str(m));
		else
			str_printf(s, "%.15g", json_num(m, 0));
		sep = '_';
	}
}

static void
start(struct str *s, const struct json *c)
{
	const char *test = json_get_str(c, "test_id");

	if (test) {
		plain(s, test);
		number(s, "i", json_get(c, "iteration"));
		return;
	}
	plain(s, json_get_str(c, "command") ? json_get_str(c, "command") : "");
	number(s, "d", json_get(c, "data_size"));
	number(s, "P", json_get(c, "pipeline"));
	number(s, "c", json_get(c, "clients"));
	number(s, "k", json_get(c, "keyspacelen"));
}

void
plan_id(struct str *s, const struct json *c, bool more)
{
	const char *latency = json_get_str(c, "latency");

	start(s, c);
	if (json_get_bool(c, "cluster_mode", false)) {
		str_add(s, "-cluster");
		if (json_get_num(c, "cluster_nodes", 1) > 1)
			str_printf(
			    s, "%.15g", json_get_num(c, "cluster_nodes", 1));
		number(s, "r", json_get(c, "cluster_replicas"));
	}
	if (json_get_bool(c, "tls_mode", false))
		str_add(s, "-tls");
	if (json_get_num(c, "io_threads", 1) > 1)
		number(s, "io", json_get(c, "io_threads"));
	number(s, "rate", json_get(c, "rate"));
	if (json_get_bool(c, "unixsocket", false))
		str_add(s, "-unix");
	if (latency)
		str_add(s, "-bfb");
	settings(s, json_get(c, "config_set"));
	if (json_get(c, "profiling"))
		str_add(s, "-profiled");
	if (!more)
		return;
	number(s, "n", json_get(c, "requests"));
	number(s, "t", json_get(c, "duration_s"));
	number(s, "w", json_get(c, "warmup_s"));
	number(s, "T", json_get(c, "benchmark_threads"));
	if (json_get_bool(c, "sequential", false))
		str_add(s, "-seq");
}
