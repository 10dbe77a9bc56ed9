#include "served.h"
#include "client.h"
#include "err.h"
#include "mem.h"
#include "num.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct served {
	struct client **v; /* of each primary */
	size_t n;
	int ms;
};

void
served_close(struct served *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		client_close(s->v[i]);
	free(s->v);
	free(s);
}

struct served *
served_open(const struct target *t)
{
	struct served *s = mem_new(sizeof *s);

	s->v = mem_array(t->e.nnodes, sizeof *s->v);
	s->ms = control_ms(&t->e, 0);
	for (; s->n < t->e.nnodes; s->n++) {
		s->v[s->n] = target_client(t, s->n);
		if (!s->v[s->n]) {
			served_close(s);
			return NULL;
		}
	}
	return s;
}

bool
served_is_load(const char *name, size_t n)
{
	static const char *const control[] = {"info", "auth", "hello", "select",
	    "client", "config", "cluster", "command", "replconf", "psync"};

	for (size_t i = 0; i < sizeof control / sizeof *control; i++)
		if (strlen(control[i]) == n &&
		    !strncasecmp(control[i], name, n))
			return false;
	return true;
}

/* "cmdstat_config|get:calls=2,usec=..." */
static double
count_calls(const char *info)
{
	double sum = 0, v;
	const char *p, *end;

	for (p = info; (p = strstr(p, "cmdstat_")); p = end) {
		p += strlen("cmdstat_");
		end = p + strcspn(p, "\r\n");
		if (served_is_load(p, strcspn(p, "|:\r\n")) &&
		    sscanf(p, "%*[^:\r\n]:calls=%lf", &v) == 1)
			sum += v;
	}
	return sum;
}

static double
read_field(const struct reply *info, const char *name)
{
	char *text = reply_info(info, name);
	double v;

	if (!text || num_real(text, &v) < 0)
		v = NAN;
	free(text);
	return v;
}

static struct reply *
ask_info(struct served *s, size_t i, const char *section)
{
	struct reply *r = CLIENT_CALL(s->v[i], s->ms, "INFO", section);
	const char *why;

	if (r && reply_type(r) == REPLY_TEXT)
		return r;
	why = r ? reply_text(r) : client_error(s->v[i]);
	err_say("INFO %s: %s", section, why ? why : "no text");
	reply_free(r);
	return NULL;
}

int
served_read(struct served *s, struct served_counts *sum)
{
	struct reply *commands, *stats;

	*sum = (struct served_counts){0};
	for (size_t i = 0; i < s->n; i++) {
		commands = ask_info(s, i, "commandstats");
		stats = commands ? ask_info(s, i, "stats") : NULL;
		if (!stats) {
			reply_free(commands);
			return -1;
		}
		sum->calls += count_calls(reply_text(commands));
		sum->errors += read_field(stats, "total_error_replies");
		sum->hits += read_field(stats, "keyspace_hits");
		sum->misses += read_field(stats, "keyspace_misses");
		reply_free(commands);
		reply_free(stats);
	}
	return 0;
}
