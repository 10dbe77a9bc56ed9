#include "room.h"
#include "address.h"
#include "cgroup.h"
#include "client.h"
#include "engines.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "roles.h"
#include "str.h"
#include "sysfile.h"
#include "target.h"
#include "vkb-load/engine/command.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/demand.h"
#include "vkb-load/engine/engine.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/plan/benchcase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTION 36864 /* bytes of its buffers for a query and a reply */
#define BATCHES 1048576  /* bytes in flight while the server is filled */

/* Returns the bytes that servers which have 'used' so far can still get. */
static double
get_available(double used)
{
	double kb = sysfile_value_num("", "/proc/meminfo", "MemAvailable");
	struct cgroup group;
	double left;

	cgroup_read(&group, "");
	left = group.memory_bytes - used;
	cgroup_free(&group);
	return fmin(kb * 1024, left); /* the other one if one is NAN */
}

static char *
explain_figures(const char *what, double need, double available)
{
	char a[NUM_BUF], b[NUM_BUF];

	if (!(need > available))
		return NULL;
	return mem_printf("%s %sB of memory, and %sB are available", what,
	    num_human(a, need), num_human(b, available));
}

/* Does a text write values under many keys? */
static bool
is_large(const char *text)
{
	return text && strstr(text, "__data__") && strstr(text, "__rand");
}

/* Returns how many keys with values of their own a load has, at most. */
static double
count_values(const struct bench_load *l)
{
	struct command_style style = {.same = ""};
	double n = (double)l->work.keyspacelen;
	unsigned many = 1;
	char *text, *seed = NULL;

	if (l->mix) /* it may write or fill in all */
		return n;
	if (!command_known(l->command))
		text = mem_str(l->command);
	else
		text = command_text(l->command, &style);
	if (command_known(l->command) && command_reads(l->command))
		seed = command_seed_text(l->command, &many, &style);
	if (!is_large(seed))
		n = !is_large(text)        ? 0
		    : l->work.requests > 0 ? fmin(n, (double)l->work.requests)
					   : n;
	free(text);
	free(seed);
	return n;
}

char *
room_explain_case(const struct bench_case *cas, size_t n)
{
	double bytes =
	    count_values(&cas->load) * (double)cas->load.work.data_size;
	char *what = mem_printf("the values of %zu servers take", n), *why;

	why = explain_figures(what, bytes * (double)n, get_available(0));
	free(what);
	return why;
}

char *
room_explain_requests(const struct engine_work *w, size_t nodes)
{
	double buffers = (double)w->clients * (double)nodes + w->threads;

	return explain_figures("the values of its requests take",
	    buffers * (double)valuespec_longest(&w->values), get_available(0));
}

static double
get_used(const struct engine_job *job)
{
	struct target_memory m;

	return target_read_memory(job->target, &m) < 0 ? NAN : m.used;
}

char *
room_explain_servers(const struct engine_job *jobs, size_t n)
{
	double first = get_used(&jobs[0]), used = first, need = 0, own;
	char *what, *why;

	for (size_t i = 1; i < n; i++) {
		own = get_used(&jobs[i]);
		used += own;
		need += fmax(0, first - own);
	}
	what =
	    mem_printf("the servers of %zu further builds need another", n - 1);
	why = explain_figures(what, need, get_available(used));
	free(what);
	return why;
}

/* Adds a command of a work. */
static void
add_command(struct demand *d, const struct engine_work *w, const char *command,
    const struct target *t, struct client *c)
{
	if (command_known(command))
		demand_add_test(d, &t->e, w, command);
	else
		demand_add_text(d, command,
		    !control_text_only_reads(c, control_ms(&t->e, 0), command));
}

/* Adds the commands that are sent before the load. */
static void
add_preparation(struct demand *d, const struct bench_case *cas,
    const struct engine_work *w, const struct target *t, struct client *c)
{
	struct demand one = *d; /* a command is sent once, or for each key */
	struct engine_work fill = *w;
	const char *with = cas->populate_with;
	const struct json *j = json_first(cas->setup_commands);
	char *name = with ? str_upper(with) : NULL;

	one.flight = 0;
	one.requests = one.keys;
	fill.requests = 0;
	if (with)
		add_command(
		    &one, &fill, command_known(name) ? name : with, t, c);
	one.requests = 1;
	for (; j; j = json_next(j))
		demand_add_text(&one, json_str(j), true);
	free(name);
	d->bytes = one.bytes;
	d->elements = one.elements;
	d->largest = one.largest;
}

/* Returns what a work takes, and its connections. */
static double
measure_work(const struct bench_case *cas, const struct engine_work *w,
    bool first, const struct target *t, struct client *c, double *elements)
{
	double connections = (double)w->clients * (double)t->e.nnodes;
	struct demand d = {.keys = fmax(1, (double)w->keyspacelen),
	    .size = (double)w->data_size,
	    .requests = w->requests > 0 ? (double)w->requests : INFINITY,
	    .flight = connections * (double)w->pipeline};

	if (first)
		add_preparation(&d, cas, w, t, c);
	for (size_t k = 0; k < engine_count_commands(w) && !w->replay; k++)
		add_command(&d, w, engine_command(w, k), t, c);
	*elements += d.elements;
	return demand_bytes(&d) + connections * CONNECTION + BATCHES;
}

/*
 * Returns about how much memory the servers of a case need for its keys and
 * connections, and those of the cases before it; sets *elements to the number
 * of keys and elements. The server is asked which commands only read.
 */
static double
estimate_need(const struct bench_case *cas, const struct target *t,
    struct client *c, double *elements)
{
	double bytes = (double)cas->load.idle_clients * CONNECTION, some;
	struct roles roles;

	*elements = 0;
	roles_make(&roles, cas, 0, 0);
	for (size_t i = 0; i < roles.nworks; i++)
		bytes += measure_work(cas, &roles.works[i], !i, t, c, elements);
	roles_free(&roles);
	for (size_t i = 0; i < cas->nbefore; i++) {
		bytes += estimate_need(&cas->before[i], t, c, &some);
		*elements += some;
	}
	return bytes;
}

#define REPLICA_MS 2000 /* until a replica has to answer */

/* What a node says of its memory. Bytes; NAN: not known. */
struct state {
	double left;             /* of the smallest limit */
	double limit;            /* that one */
	bool host;               /* it is the memory of the host */
	char policy[32];         /* what happens at maxmemory */
	double evicted, refused; /* keys and clients; writes */
};

struct node {
	struct client *c;
	struct state first, last;
	double share; /* of the keys */
};

struct room {
	struct target t; /* a copy, which includes the replicas */
	struct node *v;
	size_t n;
	bool local;
	bool beside; /* the data that they hold stays */
	double bytes;
	char *why;
};

static void
set_limit(struct state *s, double limit, double used, bool host)
{
	double left = fmax(0, limit - used);

	if (!(limit > 0) || isnan(used) || left > s->left)
		return;
	s->left = left;
	s->limit = limit;
	s->host = host;
}

/* Returns "errorstat_OOM:count=12", or 0 if there is none. */
static double
read_refused(const struct reply *info)
{
	char *text = reply_info(info, "errorstat_OOM");
	double n = 0;

	if (text && sscanf(text, "count=%lf", &n) != 1)
		n = 0;
	free(text);
	return n;
}

static double
or_zero(double v)
{
	return isnan(v) ? 0 : v;
}

/* What a server that is emptied first uses now will be free. */
static void
read_state(struct state *s, const struct reply *info, const struct room *r)
{
	char *policy = reply_info(info, "maxmemory_policy");
	double used = reply_info_number(info, "used_memory");
	double resident = reply_info_number(info, "used_memory_rss");
	double available =
	    sysfile_value_num("", "/proc/meminfo", "MemAvailable");

	*s = (struct state){.left = INFINITY};
	snprintf(s->policy, sizeof s->policy, "%s", policy ? policy : "?");
	used -= or_zero(reply_info_number(info, "mem_not_counted_for_evict"));
	if (r->beside)
		set_limit(s, reply_info_number(info, "maxmemory"), used, false);
	set_limit(s, reply_info_number(info, "total_system_memory"),
	    r->beside ? resident : 0, true);
	if (r->local)
		set_limit(s, available * 1024, r->beside ? 0 : -resident, true);
	s->evicted = or_zero(reply_info_number(info, "evicted_keys")) +
	    or_zero(reply_info_number(info, "evicted_clients"));
	s->refused = read_refused(info);
	free(policy);
}

/* Asks a node. Returns 0; or -1, and the connection is closed. */
static int
ask_node(struct room *r, size_t i, int ms, char *why)
{
	struct node *n = &r->v[i];
	struct reply *info;
	bool ok;

	*why = '\0';
	if (!n->c)
		n->c = control_open(&r->t.e, i, ms, why);
	if (!n->c)
		return -1;
	info = CLIENT_CALL(n->c, ms, "INFO");
	ok = info && reply_type(info) == REPLY_TEXT;
	if (ok) {
		read_state(&n->last, info, r);
	} else {
		snprintf(why, CLIENT_WHY, "INFO: %s",
		    info && reply_text(info) ? reply_text(info)
					     : client_error(n->c));
		client_close(n->c);
		n->c = NULL;
	}
	reply_free(info);
	return ok ? 0 : -1;
}

/* Returns the address of a node. Caller frees. */
static char *
format_node(const struct room *r, size_t i)
{
	const struct engine_node *n = &r->t.nodes[i];

	return address_format(n->host, n->port, n->unixsocket);
}

static bool
is_node(const struct engine_node *n, const char *host, int port)
{
	return n->port == port && strcmp(n->host, host) == 0;
}

/* Has a node the keys of a range, as its primary or as a replica of that? */
static bool
has_range(const struct engine_node *n, const struct control_range *r,
    const char *asked)
{
	const char *host;
	int port;

	if (is_node(n, r->host, r->port))
		return true;
	for (size_t i = 0; i < r->nreplicas; i++)
		if (control_replica(r, i, asked, &host, &port) &&
		    is_node(n, host, port))
			return true;
	return false;
}

/* Sets which share of the keys each node of a cluster gets. A replica that is
 * not among those of the slots may get all. */
static int
set_shares(struct room *r)
{
	const char *asked = r->t.nodes[0].host, *wrong;
	struct control_slots s;
	struct node *n;

	wrong = control_slots(&s, r->v[0].c, control_ms(&r->t.e, 0), asked);
	for (size_t i = 0; i < r->n && !wrong; i++) {
		n = &r->v[i];
		n->share = 0;
		for (size_t k = 0; k < s.n; k++)
			if (has_range(&r->t.nodes[i], &s.v[k], asked))
				n->share +=
				    (double)(s.v[k].last - s.v[k].first + 1) /
				    KEYS_SLOTS;
		if (i >= r->t.e.nnodes && !(n->share > 0))
			n->share = 1;
	}
	if (wrong)
		err_say("CLUSTER SLOTS: %s", wrong);
	control_slots_free(&s);
	return wrong ? -1 : 0;
}

/* Asks a node, again if its connection has ended meanwhile. Returns 0 or -1,
 * error reported. */
static int
require_node(struct room *r, size_t i)
{
	int ms = control_ms(&r->t.e, i < r->t.e.nnodes ? 0 : REPLICA_MS);
	char why[CLIENT_WHY], *where;

	for (int tries = 0; tries < 2; tries++)
		if (ask_node(r, i, ms, why) == 0)
			return 0;
	where = format_node(r, i);
	err_say("cannot ask the server at %s for its memory: %s", where, why);
	free(where);
	return -1;
}

struct room *
room_open(const struct target *t, bool local, bool beside)
{
	struct room *r = mem_new(sizeof *r);
	char why[CLIENT_WHY];
	int rc = 0;

	*r = (struct room){.t = *t, .local = local, .beside = beside};
	target_use_replicas(&r->t);
	r->v = mem_array(t->e.nnodes + t->nreplicas + 1, sizeof *r->v);
	for (; r->n < t->e.nnodes && rc == 0; r->n++) {
		r->v[r->n].share = 1;
		rc = require_node(r, r->n);
	}
	/* If one replica cannot be reached, the others may not be, too. */
	for (size_t k = 0; k < t->nreplicas && rc == 0; k++) {
		if (ask_node(r, r->n, control_ms(&t->e, REPLICA_MS), why) < 0)
			break;
		r->v[r->n++].share = 1;
	}
	if (rc == 0 && t->e.cluster)
		rc = set_shares(r);
	if (rc == 0)
		return r;
	room_close(r);
	return NULL;
}

void
room_close(struct room *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		client_close(r->v[i].c);
	free(r->v);
	free(r->why);
	free(r);
}

/* "19.1MB of its maxmemory of 20.0MB", "1.2GB of the memory of its host" */
static char *
format_left(const struct state *s)
{
	char left[NUM_BUF], limit[NUM_BUF];

	num_human(left, s->left);
	if (s->host)
		return mem_printf("%sB of the memory of its host", left);
	return mem_printf("%s%s of its maxmemory of %sB",
	    s->left > 0 ? left : "nothing", s->left > 0 ? "B" : "",
	    num_human(limit, s->limit));
}

/* Says that a case does not fit on a node. Returns -1. */
static int
refuse_case(
    const struct room *r, size_t i, const struct bench_case *cas, double need)
{
	const struct state *s = &r->v[i].last;
	char *where = format_node(r, i), *left = format_left(s);
	char text[NUM_BUF];

	err_fail(
	    "%s: not run: its keys and connections need about %sB, and the "
	    "server at %s has %s left%s%s%s: use fewer keys, smaller "
	    "values or fewer connections",
	    cas->id, num_human(text, need), where, left,
	    s->host ? "" : " (maxmemory-policy ", s->host ? "" : s->policy,
	    s->host ? "" : ")");
	free(where);
	free(left);
	return -1;
}

int
room_check(struct room *r, const struct bench_case *cas, double *bytes,
    double *elements)
{
	double need;

	for (size_t i = 0; i < r->n; i++)
		if (require_node(r, i) < 0)
			return -1;
	*bytes = estimate_need(cas, &r->t, r->v[0].c, elements);
	for (size_t i = 0; i < r->n; i++) {
		need = *bytes * r->v[i].share;
		if (need > r->v[i].last.left)
			return refuse_case(r, i, cas, need);
	}
	return 0;
}

int
room_begin(struct room *r, double bytes)
{
	r->bytes = bytes;
	for (size_t i = 0; i < r->n; i++) {
		if (require_node(r, i) < 0)
			return -1;
		r->v[i].first = r->v[i].last;
	}
	return 0;
}

/* Returns why the load has to stop because of a node, or NULL. Caller frees. */
static char *
explain_stop(const struct room *r, size_t i, const struct state *before)
{
	const struct node *n = &r->v[i];
	double evicted = n->last.evicted - n->first.evicted;
	double refused = n->last.refused - n->first.refused;
	double grown = n->first.left - n->last.left;
	double step = before->left - n->last.left;
	char *where, *left, *why = NULL;

	if (!(evicted > 0) && !(refused > 0) &&
	    !(grown > r->bytes * n->share && n->last.left < 2 * step))
		return NULL;
	where = format_node(r, i);
	left = format_left(&n->last);
	if (evicted > 0)
		why =
		    mem_printf("the server at %s has evicted %.0f key%s or "
			       "clients during the load, and has %s left: the "
			       "load was stopped",
			where, evicted, num_plural(evicted), left);
	else if (refused > 0)
		why = mem_printf("the server at %s has refused %.0f write%s "
				 "during the load because its memory is used "
				 "up (OOM): the load was stopped",
		    where, refused, num_plural(refused));
	else
		why = mem_printf("the server at %s has only %s left, and the "
				 "load goes on to fill it: it was stopped "
				 "before keys of others are evicted or writes "
				 "refused",
		    where, left);
	free(where);
	free(left);
	return why;
}

const char *
room_look(struct room *r)
{
	char why[CLIENT_WHY];
	struct state before;
	struct node *n;

	for (size_t i = 0; i < r->n && !r->why; i++) {
		n = &r->v[i];
		before = n->last;
		/* One that does not answer is asked again at the next look. */
		if (ask_node(r, i, control_ms(&r->t.e, REPLICA_MS), why) < 0)
			continue;
		if (n->last.evicted < n->first.evicted ||
		    n->last.refused < n->first.refused) /* it was restarted */
			n->first = before = n->last;
		r->why = explain_stop(r, i, &before);
	}
	return r->why;
}
