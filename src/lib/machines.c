#include "machines.h"
#include "hashset.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "str.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum host {
	HOST_OWN,  /* with enough points */
	HOST_SOME, /* with fewer */
	HOST_UNKNOWN
};

struct kind {
	char *text; /* name, arch, model and cpus as one text, to sort by */
	char *name; /* of the host; NULL: not known */
	char *arch, *model;
	double cpus;
	enum host host;
	size_t known; /* of arch, model and cpus */
	bool seen;    /* it measured a point */
	size_t machine;
};

struct machine {
	char *name, *processor;
	const struct kind *like; /* its first kind */
	char *arch, *model;      /* of its kinds, as far as known */
	double cpus;
	size_t points;
	size_t was; /* index before sorting */
};

struct observation {
	size_t kind, point;
};

struct machines {
	struct intern *texts; /* of kinds */
	struct kind *v;
	size_t n, cap;
	struct hashset *seen; /* observations */
	struct observation *observations;
	size_t nobservations, observations_cap;
	struct machine *machines;
	size_t count;
};

struct machines *
machines_new(void)
{
	struct machines *m = mem_new(sizeof *m);

	m->texts = intern_new();
	m->seen = hashset_new();
	return m;
}

void
machines_free(struct machines *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].text);
		free(m->v[i].name);
		free(m->v[i].arch);
		free(m->v[i].model);
	}
	for (size_t i = 0; i < m->count; i++) {
		free(m->machines[i].name);
		free(m->machines[i].processor);
		free(m->machines[i].arch);
		free(m->machines[i].model);
	}
	free(m->v);
	free(m->machines);
	free(m->observations);
	hashset_free(m->seen);
	intern_free(m->texts);
	free(m);
}

/* Returns a copy of a text of the environment; NULL if it is empty, "unknown"
 * or absent. Caller frees. */
static char *
copy_text(const struct json *env, const char *key)
{
	const char *s = json_get_str(env, key);

	return s && *s && strcmp(s, "unknown") != 0 ? mem_str(s) : NULL;
}

size_t
machines_add(struct machines *m, const struct json *env)
{
	struct kind k = {.name = copy_text(env, "host"),
	    .arch = copy_text(env, "arch"),
	    .model = copy_text(env, "cpu_model"),
	    .cpus = json_get_num(env, "cpus", NAN)};
	struct json *all = json_array();
	size_t id;

	k.known = (k.arch != NULL) + (k.model != NULL) + !isnan(k.cpus);
	json_push(all, json_string(k.name ? k.name : ""));
	json_push(all, json_string(k.arch ? k.arch : ""));
	json_push(all, json_string(k.model ? k.model : ""));
	json_push_num(all, isnan(k.cpus) ? -1 : k.cpus);
	k.text = json_print(all);
	json_free(all);
	id = intern_id(m->texts, k.text);
	if (id < m->n) {
		free(k.text);
		free(k.name);
		free(k.arch);
		free(k.model);
		return id;
	}
	*MEM_ADD(m->v, m->n, m->cap) = k;
	return id;
}

/* Returns a number for two, spread over 64 bits. */
static unsigned long long
hash_pair(size_t a, size_t b)
{
	return ((unsigned long long)a << 32 | b) * 0x9e3779b97f4a7c15;
}

void
machines_saw(struct machines *m, size_t kind, size_t point)
{
	m->v[kind].seen = true;
	if (hashset_add(m->seen, hash_pair(kind, point)))
		return;
	*MEM_ADD(m->observations, m->nobservations, m->observations_cap) =
	    (struct observation){kind, point};
}

/* Counts the different points of each owner; 'owner' is by kind. Caller frees.
 */
static size_t *
count_points(const struct machines *m, const size_t *owner, size_t n)
{
	struct hashset *seen = hashset_new();
	size_t *count = mem_array(n + 1, sizeof *count);

	for (size_t i = 0; i < m->nobservations; i++) {
		size_t who = owner[m->observations[i].kind];

		count[who] += !hashset_add(
		    seen, hash_pair(who, m->observations[i].point));
	}
	hashset_free(seen);
	return count;
}

static void
classify_hosts(struct machines *m, size_t least)
{
	struct intern *names = intern_new();
	size_t *owner = mem_array(m->n + 1, sizeof *owner), *count;

	for (size_t i = 0; i < m->n; i++)
		owner[i] = intern_id(names, m->v[i].name ? m->v[i].name : "");
	count = count_points(m, owner, intern_count(names));
	for (size_t i = 0; i < m->n; i++)
		m->v[i].host = !m->v[i].name  ? HOST_UNKNOWN
		    : count[owner[i]] < least ? HOST_SOME
					      : HOST_OWN;
	free(count);
	free(owner);
	intern_free(names);
}

/* Kinds with the most known values come first. */
static int
compare_kinds(const void *a, const void *b)
{
	const struct kind *x = *(struct kind *const *)a;
	const struct kind *y = *(struct kind *const *)b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->known != y->known)
		return x->known > y->known ? -1 : 1;
	return strcmp(x->text, y->text);
}

static bool
is_same_text(const char *a, const char *b)
{
	return !a || !b || strcmp(a, b) == 0;
}

/* Can the kind belong to the machine? Values that are not known agree with any.
 */
static bool
may_be_of(const struct kind *k, const struct machine *to)
{
	if (k->host == HOST_OWN)
		return to->like->host == HOST_OWN &&
		    strcmp(k->name, to->like->name) == 0;
	if (k->host == HOST_SOME && to->like->host != HOST_SOME)
		return false;
	return is_same_text(k->arch, to->arch) &&
	    is_same_text(k->model, to->model) &&
	    (isnan(k->cpus) || isnan(to->cpus) || k->cpus == to->cpus);
}

/* Returns the index of the machine to which the kind belongs, or the number of
 * machines if there is none. */
static size_t
find_machine(const struct machines *m, const struct kind *k)
{
	size_t fits = 0, unnamed = 0, last = m->count, last_unnamed = last;

	for (size_t i = 0; i < m->count; i++) {
		if (!may_be_of(k, &m->machines[i]))
			continue;
		fits++;
		last = i;
		if (m->machines[i].like->host == HOST_UNKNOWN) {
			unnamed++;
			last_unnamed = i;
		}
	}
	return fits == 1 ? last : unnamed == 1 ? last_unnamed : m->count;
}

static void
add_kind(struct machines *m, struct kind *k)
{
	size_t i = find_machine(m, k);
	struct machine *to = &m->machines[i];

	if (i == m->count) {
		*to = (struct machine){.like = k, .cpus = NAN, .was = i};
		m->count++;
	}
	k->machine = i;
	if (!to->arch)
		to->arch = mem_str(k->arch);
	if (!to->model)
		to->model = mem_str(k->model);
	if (isnan(to->cpus))
		to->cpus = k->cpus;
}

static void
set_name(struct machine *m)
{
	struct str s = {0};

	if (m->model || m->arch)
		str_add(&s, m->model ? m->model : m->arch);
	if (!isnan(m->cpus))
		str_printf(&s, "%s%.0f CPU%s", s.len ? ", " : "", m->cpus,
		    m->cpus == 1 ? "" : "s");
	m->processor = str_take(&s);
	if (m->like->host == HOST_OWN) {
		m->name = mem_str(m->like->name);
		return;
	}
	m->name = !*m->processor ? mem_str(MACHINES_UNKNOWN)
	    : m->like->host == HOST_SOME
	    ? mem_printf("other hosts with %s", m->processor)
	    : mem_printf("a host with %s", m->processor);
	*m->processor = '\0';
}

static int
compare_machines(const void *a, const void *b)
{
	const struct machine *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->was > y->was) - (x->was < y->was);
}

void
machines_make(struct machines *m, size_t least)
{
	struct kind **order = mem_array(m->n + 1, sizeof(struct kind *));
	size_t *now = mem_array(m->n + 1, sizeof *now), *count;

	classify_hosts(m, least);
	for (size_t i = 0; i < m->n; i++)
		order[i] = &m->v[i];
	mem_sort(order, m->n, sizeof(struct kind *), compare_kinds);
	m->machines = mem_array(m->n + 1, sizeof *m->machines);
	for (size_t i = 0; i < m->n; i++)
		if (order[i]->seen)
			add_kind(m, order[i]);
	for (size_t i = 0; i < m->count; i++)
		set_name(&m->machines[i]);
	mem_sort(m->machines, m->count, sizeof *m->machines, compare_machines);
	for (size_t i = 0; i < m->count; i++)
		now[m->machines[i].was] = i;
	for (size_t i = 0; i < m->n && m->count; i++)
		m->v[i].machine = now[m->v[i].machine];
	for (size_t i = 0; i < m->n; i++)
		now[i] = m->v[i].machine;
	count = count_points(m, now, m->count);
	for (size_t i = 0; i < m->count; i++)
		m->machines[i].points = count[i];
	free(count);
	free(now);
	free(order);
}

size_t
machines_count(const struct machines *m)
{
	return m->count ? m->count : 1;
}

size_t
machines_find(const struct machines *m, size_t kind)
{
	return m->v[kind].machine;
}

const char *
machines_name(const struct machines *m, size_t machine)
{
	return m->count ? m->machines[machine].name : "";
}

bool
machines_is_host(const struct machines *m, size_t machine)
{
	return m->count && m->machines[machine].like->host == HOST_OWN;
}

const char *
machines_processor(const struct machines *m, size_t machine)
{
	return m->count ? m->machines[machine].processor : "";
}

size_t
machines_points(const struct machines *m, size_t machine)
{
	return m->count ? m->machines[machine].points : 0;
}
