#include "servercounts.h"
#include "client.h"
#include "err.h"
#include "errorcheck.h"
#include "json.h"
#include "mem.h"
#include "target.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/meter/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MOST 48
#define NAME_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define COMMANDS_MOST 64 /* different ones in a load; more are left out */

/* The errors come last: the servers do not count them. */
static const char *const totals[SERVERCOUNTS_TOTALS] = {"keyspace_hits",
    "keyspace_misses", "evicted_keys", "expired_keys", "total_error_replies"};

/* In the order of the fields of commandstats that are read. */
enum { CALLS, USEC, REJECTED, FAILED, FIELDS };
static const char *const fields[] = {
    "calls=", "usec=", "rejected_calls=", "failed_calls="};

static const char *const percentiles[][2] = {
    {"p50=", "p50"}, {"p99=", "p99"}, {"p99.9=", "p999"}};

#define PERCENTILES (sizeof percentiles / sizeof *percentiles)

struct command {
	char name[NAME_MOST];
	double v[FIELDS]; /* sums */
	double us[PERCENTILES];
};

struct reading {
	bool known;
	struct servercounts_sums sums;
	struct command *commands;
	size_t n, cap;
};

/* The primaries, and the replicas if the load reads from them. */
enum { PRIMARIES, REPLICAS, GROUPS };

struct servercounts {
	const struct target *target;
	struct reading before[GROUPS], after[GROUPS];
	int most_ms;              /* of an INFO; 0: the timeout of the target */
	char why[CLIENT_WHY + 8]; /* nothing is known; empty: all answered */
	size_t failed;            /* the server of which 'why' is */
	size_t n;
	struct client *v[]; /* of each primary, then of each replica */
};

void
servercounts_close(struct servercounts *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		client_close(s->v[i]);
	for (size_t i = 0; i < GROUPS; i++) {
		free(s->before[i].commands);
		free(s->after[i].commands);
	}
	free(s);
}

struct servercounts *
servercounts_open(const struct target *t, int most_ms)
{
	size_t all = t->e.nnodes + t->e.nreplicas;
	struct servercounts *s =
	    mem_new(sizeof *s + all * sizeof(struct client *));

	s->target = t;
	s->most_ms = most_ms;
	for (; s->n < all; s->n++) {
		s->v[s->n] = control_open(
		    &t->e, s->n, control_ms(&t->e, SERVERCOUNTS_MS), s->why);
		if (!s->v[s->n]) {
			s->failed = s->n;
			break;
		}
		s->why[0] = '\0';
	}
	return s;
}

/* Finds a command, or adds it. Returns NULL if its name is too long. */
static struct command *
find_command(struct reading *r, const char *name, size_t n)
{
	struct command *c;

	for (size_t i = 0; i < r->n; i++)
		if (strncmp(r->commands[i].name, name, n) == 0 &&
		    !r->commands[i].name[n])
			return &r->commands[i];
	if (n >= NAME_MOST)
		return NULL;
	c = MEM_ADD(r->commands, r->n, r->cap);
	*c = (struct command){0};
	memcpy(c->name, name, n);
	for (size_t i = 0; i < PERCENTILES; i++)
		c->us[i] = NAN;
	return c;
}

/* Returns the number behind a name in a line, or NAN. */
static double
read_number(const char *line, const char *end, const char *name)
{
	const char *p = strstr(line, name);
	double v;

	/* "usec=" is also the end of no other name, as they come in order */
	return p && p < end && sscanf(p + strlen(name), "%lf", &v) == 1 &&
		isfinite(v)
	    ? v
	    : NAN;
}

/* Adds the lines "PREFIXname:values" of an answer to INFO: sums of counts, or
 * the highest percentiles. */
static void
read_lines(
    struct reading *r, const char *info, const char *prefix, bool highest)
{
	struct command *c;
	const char *p, *end, *colon;

	for (p = info; (p = strstr(p, prefix)); p = end) {
		p += strlen(prefix);
		end = p + strcspn(p, "\r\n");
		colon = p + strcspn(p, ":\r\n");
		c = *colon == ':' ? find_command(r, p, (size_t)(colon - p))
				  : NULL;
		for (size_t i = 0; c && !highest && i < FIELDS; i++)
			c->v[i] += read_number(colon, end, fields[i]);
		for (size_t i = 0; c && highest && i < PERCENTILES; i++)
			c->us[i] = fmax(c->us[i],
			    read_number(colon, end, percentiles[i][0]));
	}
}

/* Of names of any length. */
static void
add_calls(struct servercounts_sums *sums, const char *info)
{
	const char *p, *end;
	double v;

	for (p = info; (p = strstr(p, "cmdstat_")); p = end) {
		p += strlen("cmdstat_");
		end = p + strcspn(p, "\r\n");
		v = read_number(p, end, ":calls=");
		if (isfinite(v) && servercounts_is_load(p, strcspn(p, "|:")))
			sums->calls += v;
	}
}

/* "errorstat_MOVED:count=2", which servers before 6.2 do not have. */
static void
add_kinds(struct servercounts_sums *sums, const char *info)
{
	struct engine_error e = {0};
	size_t i;

	for (const char *p = info; (p = strstr(p, "errorstat_")); p++) {
		if (sscanf(p, "errorstat_%63[^:\r\n]:count=%" SCNu64, e.kind,
			&e.count) != 2)
			continue;
		for (i = 0; i < sums->nkinds; i++)
			if (strcmp(sums->kinds[i].kind, e.kind) == 0)
				break;
		if (i == ENGINE_ERRORS)
			continue; /* see add_other_errors */
		snprintf(e.text, sizeof e.text, "%s", e.kind);
		if (i == sums->nkinds)
			sums->kinds[sums->nkinds++] = e;
		else
			sums->kinds[i].count += e.count;
	}
}

static bool
is_load(const struct command *c)
{
	return servercounts_is_load(c->name, strcspn(c->name, "|"));
}

/* Asks the servers from the i-th on for all sections: old ones lack some. */
static void
read_counts(struct servercounts *s, struct reading *r, size_t i, size_t end)
{
	int ms = control_ms(&s->target->e, s->most_ms);
	const char *text;
	struct reply *info;

	for (r->known = !s->why[0]; i < end && r->known; i++) {
		info = CLIENT_CALL(s->v[i], ms, "INFO", "all");
		text = info ? reply_text(info) : client_error(s->v[i]);
		r->known = info && reply_type(info) == REPLY_TEXT;
		if (r->known) {
			read_lines(r, text, "cmdstat_", false);
			read_lines(r, text, "latency_percentiles_usec_", true);
			add_calls(&r->sums, text);
			add_kinds(&r->sums, text);
			for (size_t k = 0; k < SERVERCOUNTS_TOTALS; k++)
				r->sums.totals[k] +=
				    reply_info_number(info, totals[k]);
		} else {
			s->failed = i;
			snprintf(s->why, sizeof s->why, "INFO: %.*s",
			    CLIENT_WHY - 1, text ? text : "no text");
		}
		reply_free(info);
	}
}

static void
read_groups(struct servercounts *s, struct reading r[GROUPS])
{
	size_t nprimaries = s->target->e.nnodes;

	read_counts(s, &r[PRIMARIES], 0, nprimaries);
	read_counts(s, &r[REPLICAS], nprimaries, s->n);
}

void
servercounts_begin(struct servercounts *s)
{
	read_groups(s, s->before);
}

static void
merge_command(struct reading *r, const struct command *from)
{
	struct command *to = find_command(r, from->name, strlen(from->name));

	for (size_t i = 0; i < FIELDS; i++)
		to->v[i] += from->v[i];
	for (size_t i = 0; i < PERCENTILES; i++)
		to->us[i] = fmax(to->us[i], from->us[i]);
}

/*
 * Adds what replicas read to what primaries did, of commands that both know:
 * replicas repeat only what was written.
 */
static void
merge_reads(struct servercounts *s)
{
	struct reading *all = &s->after[PRIMARIES];
	struct reading *was = &s->before[REPLICAS];
	int ms = control_ms(&s->target->e, SERVERCOUNTS_MS);
	struct command *c;
	size_t primaries = all->n, i, k;

	for (k = 0; k < s->after[REPLICAS].n; k++) {
		c = &s->after[REPLICAS].commands[k];
		for (i = 0; i < primaries; i++)
			if (strcmp(all->commands[i].name, c->name) == 0)
				break;
		if (i == primaries || !control_only_reads(s->v[0], ms, c->name))
			continue;
		merge_command(all, c);
		for (i = 0; i < was->n; i++)
			if (strcmp(was->commands[i].name, c->name) == 0)
				merge_command(
				    &s->before[PRIMARIES], &was->commands[i]);
	}
}

void
servercounts_end(struct servercounts *s)
{
	if (!s)
		return;
	read_groups(s, s->after);
	merge_reads(s);
}

/* Returns the name of a metric of a command; the caller frees it. */
static char *
make_name(const char *command, const char *what)
{
	char *name = mem_printf("cmd_%s_%s", command, what);

	for (char *p = name; *p; p++) /* such as "object|encoding" */
		if (!strchr(NAME_CHARACTERS, *p))
			*p = '_';
	return name;
}

static void
set_metric(struct json *m, const char *command, const char *what, double v)
{
	char *name = make_name(command, what);

	json_set_num(m, name, v); /* not if it is NAN */
	free(name);
}

/* Adds what a command did between the readings. Returns false if nothing. */
static bool
report_command(
    const struct reading *was, const struct command *after, struct json *m)
{
	const struct command none = {0}, *before = &none;
	double d[FIELDS];

	for (size_t i = 0; i < was->n; i++)
		if (strcmp(was->commands[i].name, after->name) == 0)
			before = &was->commands[i];
	for (size_t i = 0; i < FIELDS; i++)
		d[i] = after->v[i] - before->v[i];
	if (!(d[CALLS] > 0 || d[REJECTED] > 0))
		return false;
	set_metric(m, after->name, "calls", d[CALLS]);
	if (d[CALLS] > 0)
		set_metric(m, after->name, "us_per_call", d[USEC] / d[CALLS]);
	set_metric(m, after->name, "rejected_calls", d[REJECTED]);
	set_metric(m, after->name, "failed_calls", d[FAILED]);
	for (size_t i = 0; i < PERCENTILES && before == &none; i++) {
		char *what = mem_printf("%s_us", percentiles[i][1]);

		set_metric(m, after->name, what, after->us[i]);
		free(what);
	}
	return true;
}

bool
servercounts_is_load(const char *name, size_t n)
{
	static const char *const control[] = {"info", "auth", "hello", "select",
	    "client", "config", "cluster", "command", "replconf", "psync",
	    "asking", "readonly"};

	for (size_t i = 0; i < sizeof control / sizeof *control; i++)
		if (strlen(control[i]) == n &&
		    !strncasecmp(control[i], name, n))
			return false;
	return true;
}

/* Is there a metric of a command? */
static bool
is_reported(const struct json *m, const struct command *c)
{
	char *name = make_name(c->name, "calls");
	bool yes = json_get(m, name) != NULL;

	free(name);
	return yes;
}

/*
 * Adds the commands of a group. Replicas repeat what their primaries write, and
 * answer their PING, so only those are added that primaries did not do; what
 * both read is with the primaries, see merge_reads.
 */
static void
report_commands(
    const struct servercounts *s, size_t group, struct json *m, size_t *n)
{
	const struct reading *after = &s->after[group];
	const struct command *c;

	for (size_t i = 0; i < after->n && *n < COMMANDS_MOST; i++) {
		c = &after->commands[i];
		if (is_load(c) &&
		    (group == PRIMARIES ||
			(strcmp(c->name, "ping") != 0 && !is_reported(m, c))))
			*n += report_command(&s->before[group], c, m);
	}
}

void
servercounts_report(const struct servercounts *s, struct watch_cost *cost)
{
	size_t n = 0, i, k;
	struct json *to;
	double v;

	if (!s)
		return;
	for (k = 0; k < GROUPS; k++)
		if (!s->before[k].known || !s->after[k].known)
			return;
	to = watch_cost_metrics(cost);
	for (i = 0; i < SERVERCOUNTS_ERRORS; i++) {
		for (v = 0, k = 0; k < GROUPS; k++)
			v += s->after[k].sums.totals[i] -
			    s->before[k].sums.totals[i];
		json_set_num(to, totals[i], v);
	}
	for (k = 0; k < GROUPS; k++)
		report_commands(s, k, to, &n);
}

int
servercounts_require(const struct servercounts *s)
{
	const struct engine_target *e = &s->target->e;
	const struct engine_node *node = s->failed < e->nnodes
	    ? &e->nodes[s->failed]
	    : &e->replicas[s->failed - e->nnodes];

	if (!s->why[0])
		return 0;
	if (node->unixsocket)
		return err_fail(
		    "cannot read what the server at '%s' counts: %s",
		    node->unixsocket, s->why);
	return err_fail("cannot read what the server at %s:%d counts: %s",
	    node->host, node->port, s->why);
}

double
servercounts_calls(struct servercounts *s)
{
	struct reading now = {0};

	read_counts(s, &now, 0, s->target->e.nnodes);
	free(now.commands);
	return now.sums.calls - s->before[PRIMARIES].sums.calls;
}

/* Sets the errors of a result to those between two readings; one row stays
 * free.
 */
static void
set_errors(struct engine_result *r, const struct servercounts_sums *before,
    const struct servercounts_sums *after)
{
	struct engine_error e;

	for (size_t i = 0; i < after->nkinds; i++) {
		e = after->kinds[i];
		for (size_t k = 0; k < before->nkinds; k++)
			if (strcmp(before->kinds[k].kind, e.kind) == 0)
				e.count -= before->kinds[k].count;
		if (e.count && r->nerrors < ENGINE_ERRORS - 1)
			r->errors[r->nerrors++] = e;
	}
}

/* Adds the errors of kinds that are not known, such as those of servers before
 * 6.2 or with too many kinds. */
static void
add_other_errors(struct engine_result *r)
{
	struct engine_error e = {.count = r->errors_total};
	const char *kind = r->nerrors ? "other" : "ERR";

	for (size_t i = 0; i < r->nerrors && e.count; i++)
		e.count -=
		    r->errors[i].count < e.count ? r->errors[i].count : e.count;
	if (!e.count)
		return;
	snprintf(e.kind, sizeof e.kind, "%s", kind);
	snprintf(e.text, sizeof e.text, "%s", kind);
	r->errors[r->nerrors++] = e;
}

int
servercounts_check(const struct servercounts_sums *before,
    const struct servercounts_sums *after, double requests, double least,
    const struct json *cas, struct engine_result *r)
{
	double calls = after->calls - before->calls, d[SERVERCOUNTS_TOTALS];
	double hits, misses, errors;

	for (size_t i = 0; i < SERVERCOUNTS_TOTALS; i++)
		d[i] = after->totals[i] - before->totals[i];
	hits = d[SERVERCOUNTS_HITS];
	misses = d[SERVERCOUNTS_MISSES];
	errors = d[SERVERCOUNTS_ERRORS];
	r->errors_unknown = isnan(errors);
	if (!isnan(errors))
		r->errors_total = (uint64_t)fmax(0, errors);
	r->answered = (uint64_t)fmax(0, calls);
	r->nerrors = 0;
	set_errors(r, before, after);
	add_other_errors(r);
	if (hits + misses > 0)
		r->hit_rate_percent = 100 * hits / (hits + misses);
	if (!(calls >= least)) {
		err_say("the servers served only %.0f of %.0f requests", calls,
		    requests);
		return 1;
	}
	if (errorcheck_fails(cas, NULL, r))
		return 1;
	errorcheck_report(cas, r);
	return 0;
}

const struct servercounts_sums *
servercounts_sums(const struct servercounts *s, bool after)
{
	return after ? &s->after[PRIMARIES].sums : &s->before[PRIMARIES].sums;
}
