#include "summary.h"
#include "group.h"
#include "groupout.h"
#include "json.h"
#include "jsonhash.h"
#include "jsonl.h"
#include "mem.h"
#include "places.h"
#include "record.h"
#include "runline.h"
#include "scratch.h"
#include "seen.h"
#include "sink.h"
#include "stats.h"
#include "str.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Subject and config as a run line has them, and what they mean. */
struct memo {
	uint64_t hash;  /* of their texts */
	uint64_t rooms; /* what they add to the hash of the record */
	struct group *group;
	char *text;
	size_t nsubject, nconfig;
};

struct summary {
	struct group **groups;
	size_t n, cap;
	size_t *table; /* open addressing: index + 1 */
	size_t slots;
	struct memo *memos; /* open addressing */
	size_t nmemos, memoslots;
	struct runlines *lines;
	struct str session; /* of the last run line */
	struct places *places;
	double precision; /* wanted; 0: nobody asked */
	bool no_hists;
	bool sorted;
	struct seen *seen;
	uint32_t *rank; /* of the sessions, by name */
	struct stats_rule rule;
	struct scratch *scratch;
	size_t bytes, most; /* of groups in memory; 0: as many as there are */
};

struct summary *
summary_new(void)
{
	struct summary *s = mem_new(sizeof *s);

	s->seen = seen_new();
	s->places = places_new();
	s->lines = runlines_new();
	return s;
}

void
summary_want(struct summary *s, double precision)
{
	s->precision = precision;
}

void
summary_no_hists(struct summary *s)
{
	s->no_hists = true;
}

static void
forget(struct summary *s)
{
	for (size_t i = 0; i < s->memoslots; i++)
		free(s->memos[i].text);
	free(s->memos);
	s->memos = NULL;
	s->nmemos = s->memoslots = 0;
}

void
summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		group_free(s->groups[i]);
	forget(s);
	str_free(&s->session);
	runlines_free(s->lines);
	places_free(s->places);
	free(s->groups);
	free(s->table);
	free(s->rank);
	seen_free(s->seen);
	scratch_free(s->scratch);
	free(s);
}

void
summary_spill(struct summary *s, const char *dir, size_t most)
{
	s->scratch = scratch_new(dir);
	s->most = most;
}

static void
rehash(struct summary *s)
{
	s->slots = s->slots ? 2 * s->slots : 64;
	free(s->table);
	s->table = mem_array(s->slots, sizeof *s->table);
	for (size_t i = 0; i < s->n; i++) {
		size_t at = s->groups[i]->hash % s->slots;

		while (s->table[at])
			at = (at + 1) % s->slots;
		s->table[at] = i + 1;
	}
}

/* NULL: there is none yet. */
static struct group *
find_group(struct summary *s, unsigned long long h, const struct json *subject,
    const struct json *config)
{
	struct group *g;
	size_t at;

	if (2 * (s->n + 1) > s->slots)
		rehash(s);
	for (at = h % s->slots; s->table[at]; at = (at + 1) % s->slots) {
		g = s->groups[s->table[at] - 1];
		if (g->hash == h && json_equal(g->config, config) &&
		    json_equal(g->subject, subject))
			return g;
	}
	return NULL;
}

/* What was not found; subject and config are taken. */
static struct group *
new_group(struct summary *s, unsigned long long h, struct json *subject,
    struct json *config)
{
	struct group *g = mem_new(sizeof *g);
	size_t at = h % s->slots;

	g->hash = h;
	g->subject = subject;
	g->config = config;
	g->no_hists = s->no_hists;
	s->groups = mem_grow(s->groups, s->n, &s->cap, sizeof(struct group *));
	s->groups[s->n++] = g;
	while (s->table[at])
		at = (at + 1) % s->slots;
	s->table[at] = s->n;
	s->sorted = false;
	return g;
}

/* Of a record and of what its group is known by; the order of keys is
 * nothing. */
static unsigned long long
hash(const struct json *rec, unsigned long long *group)
{
	unsigned long long all = 0, of[2] = {0};
	static const char *const rooms[] = {"subject", "config"};

	for (const struct json *j = json_first(rec); j; j = json_next(j)) {
		const char *key = json_key(j);
		unsigned long long h = json_hash(j);

		for (size_t i = 0; i < 2; i++)
			if (strcmp(key, rooms[i]) == 0)
				of[i] = h;
		all += jsonhash_member(key, strlen(key), h);
	}
	*group = of[0] * 31 + of[1];
	return all;
}

/* What every group can do without goes to the file. */
static int
spill(struct summary *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (group_spill(s->groups[i], s->scratch) < 0) {
			s->most = 0; /* then all of it stays in memory */
			return -1;
		}
	s->bytes = 0;
	return 0;
}

/* After a run of the group. */
static int
added(struct summary *s, struct group *g, size_t before, int rc)
{
	s->bytes += group_bytes(g) - before;
	if (s->most && s->bytes > s->most && spill(s) < 0)
		return -1;
	return rc;
}

/* The run is to be counted. Without a session two may be alike. */
static bool
new_run(struct summary *s, struct group *g, uint32_t session, uint64_t hash)
{
	if (session != PLACES_UNKNOWN && seen_add(s->seen, hash)) {
		g->doubled++;
		return false;
	}
	return true;
}

int
summary_add(struct summary *s, const struct json *rec, const char *where)
{
	const struct json *subject = json_get(rec, "subject");
	const struct json *config = json_get(rec, "config");
	uint32_t session =
	    places_add(s->places, json_get_str(json_get(rec, "run"), "session"),
		json_get_str(json_get(rec, "env"), "host"));
	unsigned long long of, h = hash(rec, &of);
	struct group *g = find_group(s, of, subject, config);
	size_t before;

	if (!g)
		g = new_group(s, of, json_dup(subject), json_dup(config));
	before = group_bytes(g);
	if (!new_run(s, g, session, h))
		return 0;
	return added(s, g, before, group_add(g, rec, session, where));
}

static bool
same_rooms(const struct memo *m, const struct runline *r)
{
	return m->nsubject == r->subject.n && m->nconfig == r->config.n &&
	    memcmp(m->text, r->subject.s, m->nsubject) == 0 &&
	    memcmp(m->text + m->nsubject, r->config.s, m->nconfig) == 0;
}

/* The slot of the texts, or the empty one where they belong. */
static struct memo *
slot_of(const struct summary *s, uint64_t hash, const struct runline *r)
{
	size_t at = hash & (s->memoslots - 1);

	while (s->memos[at].text &&
	    (s->memos[at].hash != hash || !same_rooms(&s->memos[at], r)))
		at = (at + 1) & (s->memoslots - 1);
	return &s->memos[at];
}

/* Twice the room; or none of it, where one group has many texts. */
static void
more_memos(struct summary *s)
{
	struct memo *was = s->memos, *to;
	size_t n = s->memoslots;

	if (n > 4096 && s->nmemos > 4 * s->n) {
		forget(s);
		was = NULL;
		n = 0;
	}
	s->memoslots = n ? 2 * n : 64;
	s->memos = mem_array(s->memoslots, sizeof *s->memos);
	for (size_t i = 0; i < n; i++) {
		if (!was[i].text)
			continue;
		to = &s->memos[was[i].hash & (s->memoslots - 1)];
		while (to->text)
			to = to + 1 < s->memos + s->memoslots ? to + 1
							      : s->memos;
		*to = was[i];
	}
	free(was);
}

/* The memo of the run's texts, or the empty one where it belongs. */
static struct memo *
memo(struct summary *s, const struct runline *r)
{
	uint64_t h =
	    jsonhash_bytes(jsonhash_bytes(0, r->subject.s, r->subject.n),
		r->config.s, r->config.n);
	struct memo *m;

	if (2 * (s->nmemos + 1) > s->memoslots)
		more_memos(s);
	m = slot_of(s, h, r);
	m->hash = h;
	return m;
}

static void
remember(struct summary *s, struct memo *m, const struct runline *r)
{
	struct json *subject, *config;
	uint64_t a, b;

	subject = json_parse(r->subject.s, r->subject.n, NULL, NULL);
	config = json_parse(r->config.s, r->config.n, NULL, NULL);
	a = json_hash(subject);
	b = json_hash(config);
	m->rooms =
	    jsonhash_member("subject", 7, a) + jsonhash_member("config", 6, b);
	m->group = find_group(s, a * 31 + b, subject, config);
	if (!m->group) {
		m->group = new_group(s, a * 31 + b, subject, config);
		subject = config = NULL;
	}
	m->nsubject = r->subject.n;
	m->nconfig = r->config.n;
	m->text = mem_resize(NULL, m->nsubject + m->nconfig, 1);
	memcpy(m->text, r->subject.s, m->nsubject);
	memcpy(m->text + m->nsubject, r->config.s, m->nconfig);
	s->nmemos++;
	json_free(subject);
	json_free(config);
}

static int
add_line(struct summary *s, struct memo *m, const struct runline *r,
    const char *where)
{
	struct group *g;
	uint32_t session;
	size_t before;

	if (!m->text)
		remember(s, m, r);
	g = m->group;
	before = group_bytes(g);
	str_clear(&s->session);
	str_addn(&s->session, r->session.s ? r->session.s : "", r->session.n);
	group_env(g, r->env.s ? r->env.s : "", r->env.n);
	session =
	    places_add(s->places, r->session.s ? s->session.s : NULL, g->host);
	if (!new_run(s, g, session, r->hash + m->rooms + g->env_hash))
		return 0;
	return added(s, g, before, group_add_line(g, r, session, where));
}

int
summary_line(struct summary *s, struct jsonl *in, const char **text, size_t *n)
{
	struct runline r;
	struct memo *m;
	bool known;
	int rc;

	while ((rc = jsonl_text(in, text, n)) > 0) {
		if (!runline_read(s->lines, &r, *text, *n))
			return 1;
		m = memo(s, &r);
		known = m->text && group_knows(m->group, r.env.s, r.env.n);
		if (!known && !runline_rooms(&r, *text, *n))
			return 1;
		if (add_line(s, m, &r, jsonl_where(in)) < 0)
			return -1;
	}
	return rc;
}

int
summary_next(struct summary *s, struct jsonl *in, struct json **rec)
{
	const char *text;
	size_t n;
	int rc = summary_line(s, in, &text, &n);

	*rec = NULL;
	return rc > 0 ? record_tree(in, rec) : rc;
}

static int
by_key(const void *a, const void *b)
{
	const struct group *const *x = a, *const *y = b;
	const char *s = (*x)->key.s, *t = (*y)->key.s;
	size_t i = 0;
	int c;

	/* Keys are long and alike; from the number on they differ in. */
	while (s[i] && s[i] == t[i])
		i++;
	while (i && isdigit((unsigned char)s[i - 1]))
		i--;
	c = strverscmp(s + i, t + i); /* 64 before 4096 */
	return c ? c : strcmp(s + i, t + i);
}

size_t
summary_count(const struct summary *s)
{
	return s->n;
}

const struct json *
summary_subject(const struct summary *s, size_t i)
{
	return s->groups[i]->subject;
}

static void
sort_groups(struct summary *s)
{
	if (s->sorted)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct group *g = s->groups[i];

		group_settle(g);
		str_clear(&g->key);
		record_room(&g->key, g->config);
		str_addc(&g->key, '\n');
		record_room(&g->key, g->subject);
	}
	if (s->n)
		qsort(s->groups, s->n, sizeof *s->groups, by_key);
	free(s->table);
	s->table = NULL;
	s->slots = 0;
	free(s->rank);
	s->rank = places_order(s->places);
	seen_free(s->seen);
	s->seen = NULL;
	s->sorted = true;
}

const char *
summary_key(struct summary *s, size_t i)
{
	sort_groups(s);
	return s->groups[i]->key.s;
}

static int
put(struct sink *o, struct summary *s, size_t i, bool brief)
{
	const struct groupout out = {
	    s->places, s->rank, s->scratch, &s->rule, s->precision, brief};

	return groupout_put(o, &out, s->groups[i]);
}

int
summary_write(struct summary *s, size_t i, int fd)
{
	struct sink o = {.fd = fd};
	int rc;

	sort_groups(s);
	rc = put(&o, s, i, false);
	if (rc == 0)
		str_addc(&o.s, '}');
	else
		str_clear(&o.s); /* a line that is begun is cut short */
	if (rc == 0 || o.begun)
		str_addc(&o.s, '\n');
	return sink_close(&o) < 0 ? -1 : rc;
}

static char *
text(struct summary *s, size_t i, bool brief, size_t *n)
{
	struct sink o = {.fd = -1};

	sort_groups(s);
	if (put(&o, s, i, brief) < 0) {
		sink_close(&o);
		return NULL;
	}
	str_addc(&o.s, '}');
	*n = o.s.len;
	return str_take(&o.s);
}

char *
summary_text(struct summary *s, size_t i, size_t *n)
{
	return text(s, i, false, n);
}

static struct json *
record(struct summary *s, size_t i, bool brief)
{
	size_t n;
	char *line = text(s, i, brief, &n);
	struct json *rec = line ? json_parse(line, n, NULL, NULL) : NULL;

	free(line);
	return rec;
}

struct json *
summary_record(struct summary *s, size_t i)
{
	return record(s, i, false);
}

struct json *
summary_brief(struct summary *s, size_t i)
{
	return record(s, i, true);
}
