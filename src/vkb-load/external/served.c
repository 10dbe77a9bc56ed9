#include "served.h"
#include "client.h"
#include "err.h"
#include "mem.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/case/target.h"
#include "vkb-load/engine/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED_PERCENT 1

/* "cmdstat_config|get:calls=2,usec=..." */
static double
count_calls(const char *info)
{
	double sum = 0, v;
	const char *p, *end;

	for (p = info; (p = strstr(p, "cmdstat_")); p = end) {
		p += strlen("cmdstat_");
		end = p + strcspn(p, "\r\n");
		if (servercounts_is_load(p, strcspn(p, "|:\r\n")) &&
		    sscanf(p, "%*[^:\r\n]:calls=%lf", &v) == 1)
			sum += v;
	}
	return sum;
}

static struct reply *
ask_info(struct client *c, int ms, const char *section)
{
	struct reply *r = CLIENT_CALL(c, ms, "INFO", section);
	const char *why;

	if (r && reply_type(r) == REPLY_TEXT)
		return r;
	why = r ? reply_text(r) : client_error(c);
	err_say("INFO %s: %s", section, why ? why : "no text");
	reply_free(r);
	return NULL;
}

struct served {
	const struct target *target;
	struct client *v[]; /* of each primary */
};

void
served_close(struct served *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->target->e.nnodes; i++)
		client_close(s->v[i]);
	free(s);
}

struct served *
served_open(const struct target *t)
{
	struct served *s =
	    mem_new(sizeof *s + t->e.nnodes * sizeof(struct client *));

	s->target = t;
	for (size_t i = 0; i < t->e.nnodes; i++) {
		s->v[i] = target_client(t, i);
		if (!s->v[i]) {
			served_close(s);
			return NULL;
		}
	}
	return s;
}

int
served_read(const struct served *s, struct served_counts *sum)
{
	int ms = control_ms(&s->target->e, 0);
	struct reply *commands, *stats;

	*sum = (struct served_counts){0};
	for (size_t i = 0; i < s->target->e.nnodes; i++) {
		commands = ask_info(s->v[i], ms, "commandstats");
		stats = commands ? ask_info(s->v[i], ms, "stats") : NULL;
		if (!stats) {
			reply_free(commands);
			return -1;
		}
		sum->calls += count_calls(reply_text(commands));
		sum->errors += reply_info_number(stats, "total_error_replies");
		sum->hits += reply_info_number(stats, "keyspace_hits");
		sum->misses += reply_info_number(stats, "keyspace_misses");
		reply_free(commands);
		reply_free(stats);
	}
	return 0;
}

int
served_check(const struct served_counts *before,
    const struct served_counts *after, double requests, double least,
    struct engine_result *r)
{
	double calls = after->calls - before->calls;
	double errors = after->errors - before->errors;
	double hits = after->hits - before->hits;
	double misses = after->misses - before->misses;

	r->errors_unknown = isnan(errors);
	if (!isnan(errors))
		r->errors_total = (uint64_t)fmax(0, errors);
	if (hits + misses > 0)
		r->hit_rate_percent = 100 * hits / (hits + misses);
	if (calls < least) {
		err_say("the servers served only %.0f of %.0f requests", calls,
		    requests);
		return 1;
	}
	if (errors * 100 > calls * REFUSED_PERCENT) {
		err_say("%.0f of %.0f requests were refused", errors, calls);
		return 1;
	}
	return 0;
}
