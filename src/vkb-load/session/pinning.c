#include "pinning.h"
#include "cpulist.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "placement.h"
#include "schedule.h"
#include "sysfile.h"
#include "vkb-load/case/extserver.h"
#include "vkb-load/case/roles.h"
#include "vkb-load/plan/builds.h"

#include <sched.h>
#include <stdlib.h>

/* Reads the CPUs of this machine. 0, or -1, not reported. */
static int
read_online_cpus(cpu_set_t *set)
{
	char *line = sysfile_line("", "/sys/devices/system/cpu/online");
	const char *why;
	int rc = line ? cpulist_parse(line, set, &why) : -1;

	free(line);
	return rc;
}

static int
check_cpus(const struct bench_case *c, const char *list, const cpu_set_t *all)
{
	cpu_set_t set, both;
	const char *why;

	if (!list)
		return 0;
	if (cpulist_parse(list, &set, &why) < 0)
		return err_fail(
		    "%s: \"%s\" is not a CPU list: %s", c->id, list, why);
	CPU_AND(&both, &set, all);
	if (!CPU_EQUAL(&both, &set))
		return err_fail("%s: this machine lacks some of the CPUs "
				"\"%s\"",
		    c->id, list);
	return 0;
}

static int
check_each(
    const struct bench_case *c, const struct json *lists, const cpu_set_t *all)
{
	int rc = 0;

	for (const struct json *j = json_first(lists); j && rc == 0;
	     j = json_next(j))
		rc = check_cpus(c, json_str(j), all);
	return rc;
}

/*
 * Checks that this machine has the CPUs that cases name. Those of servers are
 * checked unless a running server is used, which may be on another machine. 0,
 * or -1, error reported.
 */
static int
check_named(const struct schedule *a, bool servers)
{
	const struct bench_case *c;
	cpu_set_t all;

	if (read_online_cpus(&all) < 0)
		return 0;
	for (size_t i = 0; i < a->ncases; i++) {
		c = &a->cases[i];
		if (check_cpus(c, c->client_cpus, &all) < 0 ||
		    check_each(c, c->client_cpus_each, &all) < 0 ||
		    (servers && check_each(c, c->server_cpus, &all) < 0))
			return -1;
	}
	return 0;
}

/* Are the servers of this session's builds more than a server program? */
static bool
have_modules(const struct builds *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (json_get(b->v[i], "module"))
			return true;
	return false;
}

static size_t
count_threads(const struct engine_work *w)
{
	return (size_t)(w->threads < w->clients ? w->threads : w->clients);
}

static size_t
count_all_threads(const struct roles *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nworks; i++)
		n += count_threads(&r->works[i]);
	return n;
}

/* Returns a list for each stream: as many CPUs as it has threads. */
static struct json *
list_streams(const struct roles *r, const cpu_set_t *cpus)
{
	struct json *list = json_array();
	cpu_set_t own;
	int cpu = 0;
	char *text;

	for (size_t i = 0; i < r->nworks; i++) {
		CPU_ZERO(&own);
		for (size_t k = count_threads(&r->works[i]); k; cpu++)
			if (CPU_ISSET(cpu, cpus)) {
				CPU_SET(cpu, &own);
				k--;
			}
		text = cpulist_text(&own);
		json_push(list, json_string(text));
		free(text);
	}
	return list;
}

/* Gives a case, and those before it, the CPUs. */
static void
place_case(struct bench_case *c, const struct roles *r,
    const struct placement *p, size_t servers)
{
	char *text = cpulist_text(&p->clients);
	struct json *list = servers ? json_array() : NULL;

	c->placed = json_object();
	json_set_str(c->placed, "clients", text);
	free(text);
	if (r->nworks > 1 &&
	    count_all_threads(r) <= (size_t)CPU_COUNT(&p->clients))
		json_set(c->placed, "each", list_streams(r, &p->clients));
	for (size_t i = 0; i < servers; i++) {
		text = cpulist_text(&p->servers[i]);
		json_push(list, json_string(text));
		free(text);
	}
	json_set(c->placed, "servers", list);
	bench_case_place(c);
}

/* Says that there are not enough CPUs for the threads of a case. */
static void
say_few(const struct bench_case *c, const struct placement_demand *d,
    size_t cpus, enum placement_result r)
{
	size_t servers = d->servers * d->threads;

	err_say("%s: %zu server thread%s and %zu client thread%s for %zu CPUs: "
		"%s",
	    c->id, servers, num_plural((double)servers), d->clients,
	    num_plural((double)d->clients), cpus,
	    r == PLACEMENT_SHARED
		? "servers and clients are on different ones, but not each "
		  "thread has its own"
		: "they are not pinned");
}

/* Returns whether the CPUs on which the running servers may run are known. */
static bool
find_busy(const struct extserver *x, cpu_set_t *busy)
{
	const struct json *n =
	    json_first(json_get(extserver_record(x), "nodes"));
	cpu_set_t one;
	int pid;

	CPU_ZERO(busy);
	for (; n; n = json_next(n)) {
		pid = (int)json_get_num(n, "pid", 0);
		if (!pid || sched_getaffinity(pid, sizeof one, &one) < 0)
			return false;
		CPU_OR(busy, busy, &one);
	}
	return extserver_local(x);
}

static size_t
count_allowed(const struct topology *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].allowed;
	return n;
}

/* Places the cases of a scene, which use one server, as the one with the most
 * client threads. Returns whether it has been reported that CPUs are few. */
static bool
place_scene(struct schedule *a, const struct pinning_how *h,
    const struct scene *scene, const struct topology *t, const cpu_set_t *busy,
    bool reported)
{
	size_t clients = 1, n;
	struct placement_demand d;
	enum placement_result r;
	struct placement p;
	struct bench_case *c;

	for (size_t i = 0; i < scene->n; i++) {
		n = count_all_threads(&a->roles[scene->v[i]]);
		clients = n > clients ? n : clients;
	}
	for (size_t i = 0; i < scene->n; i++) {
		c = &a->cases[scene->v[i]];
		if (h->none || !placement_demand(&d, c->server) ||
		    c->client_cpus || c->client_cpus_each) {
			bench_case_place(c);
			continue;
		}
		if (h->elsewhere)
			continue;
		d.clients = clients;
		d.busy = h->external ? busy : NULL;
		d.servers = h->external ? 0 : d.servers;
		if (have_modules(a->builds))
			d.threads = 0;
		r = placement_choose(&p, t, &d);
		if (r == PLACEMENT_OWN || r == PLACEMENT_SHARED) {
			place_case(c, &a->roles[scene->v[i]], &p, d.servers);
			placement_free(&p);
		} else
			bench_case_place(c);
		if (!reported && !h->quiet &&
		    (r == PLACEMENT_SHARED || r == PLACEMENT_FEW)) {
			say_few(c, &d, count_allowed(t), r);
			reported = true;
		}
	}
	return reported;
}

int
pinning_choose(struct schedule *a, const struct pinning_how *h)
{
	struct topology t = {0};
	cpu_set_t own, busy;
	bool reported = false, none = h->none;
	struct pinning_how how = *h;

	if (check_named(a, !h->external && !h->elsewhere) < 0)
		return -1;
	if (sched_getaffinity(0, sizeof own, &own) < 0 ||
	    (h->external && !find_busy(h->external, &busy)))
		none = true;
	how.none = none;
	if (!none)
		placement_read_cpus(&t, "", &own);
	for (size_t i = 0; i < a->scenes.n; i++)
		reported =
		    place_scene(a, &how, &a->scenes.v[i], &t, &busy, reported);
	placement_free_cpus(&t);
	return 0;
}
