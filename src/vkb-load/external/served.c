#include "served.h"
#include "client.h"
#include "err.h"
#include "mem.h"
#include "vkb-load/case/servercounts.h"
#include "vkb-load/case/target.h"
#include "vkb-load/case/errorcheck.h"
#include "vkb-load/engine/control.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "errorstat_MOVED:count=2" */
static void
add_kinds(struct served_counts *sum, const char *info)
{
	struct engine_error e = {0};
	const char *p;
	size_t i;

	for (p = info; (p = strstr(p, "errorstat_")); p++) {
		if (sscanf(p, "errorstat_%63[^:\r\n]:count=%" SCNu64, e.kind,
			&e.count) != 2)
			continue;
		for (i = 0; i < sum->nkinds; i++)
			if (strcmp(sum->kinds[i].kind, e.kind) == 0)
				break;
		if (i == ENGINE_ERRORS)
			continue;
		snprintf(e.text, sizeof e.text, "%s", e.kind);
		if (i == sum->nkinds)
			sum->kinds[sum->nkinds++] = e;
		else
			sum->kinds[i].count += e.count;
	}
}

/* Sets the errors of a result to those between two readings. */
static void
set_errors(struct engine_result *r, const struct served_counts *before,
    const struct served_counts *after)
{
	struct engine_error e;

	for (size_t i = 0; i < after->nkinds; i++) {
		e = after->kinds[i];
		for (size_t k = 0; k < before->nkinds; k++)
			if (strcmp(before->kinds[k].kind, e.kind) == 0)
				e.count -= before->kinds[k].count;
		if (e.count)
			r->errors[r->nerrors++] = e;
	}
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
	struct reply *commands, *stats, *kinds;

	*sum = (struct served_counts){0};
	for (size_t i = 0; i < s->target->e.nnodes; i++) {
		commands = ask_info(s->v[i], ms, "commandstats");
		stats = commands ? ask_info(s->v[i], ms, "stats") : NULL;
		kinds = stats ? ask_info(s->v[i], ms, "errorstats") : NULL;
		if (!kinds) {
			reply_free(commands);
			reply_free(stats);
			return -1;
		}
		add_kinds(sum, reply_text(kinds));
		reply_free(kinds);
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
    const struct json *cas, struct engine_result *r)
{
	double calls = after->calls - before->calls;
	double errors = after->errors - before->errors;
	double hits = after->hits - before->hits;
	double misses = after->misses - before->misses;

	r->errors_unknown = isnan(errors);
	if (!isnan(errors))
		r->errors_total = (uint64_t)fmax(0, errors);
	r->answered = (uint64_t)fmax(0, calls);
	r->nerrors = 0;
	set_errors(r, before, after);
	if (errors > 0 && !r->nerrors) {
		snprintf(r->errors->kind, sizeof r->errors->kind, "ERR");
		snprintf(r->errors->text, sizeof r->errors->text, "ERR");
		r->errors->count = r->errors_total;
		r->nerrors = 1;
	}
	if (hits + misses > 0)
		r->hit_rate_percent = 100 * hits / (hits + misses);
	if (calls < least) {
		err_say("the servers served only %.0f of %.0f requests", calls,
		    requests);
		return 1;
	}
	if (errorcheck_fails(cas, NULL, r))
		return 1;
	errorcheck_report(cas, r);
	return 0;
}
