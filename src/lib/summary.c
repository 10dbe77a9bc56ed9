#include "summary.h"
#include "caseset.h"
#include "group.h"
#include "groupout.h"
#include "hashset.h"
#include "intern.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "sessions.h"
#include "runrecord.h"
#include "scratch.h"
#include "sink.h"
#include "str.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPILL_LEAST 16384 /* bytes; smaller groups stay in memory */

struct summary {
	struct group **groups;
	size_t n, cap;
	struct intern *pairs; /* of subject and config, for each group */
	struct groupout common;
	struct intern *names; /* of metrics */
	char **hosts;         /* of each environment; an entry may be NULL */
	size_t nhosts, hostcap;
	struct run_record_reader *reader;
	struct hashset *seen;
	bool no_hists;
	bool sorted;
	size_t bytes, most; /* of groups in memory; most 0: no limit */
	struct sink out;    /* its memory serves for all records */
};

struct summary *
summary_new(void)
{
	struct summary *s = mem_new(sizeof *s);

	s->seen = hashset_new();
	s->common.sessions = sessions_new();
	s->common.subjects = caseset_new();
	s->common.configs = caseset_new();
	s->common.envs = caseset_new();
	s->names = intern_new();
	s->pairs = intern_new();
	s->reader = run_record_reader_new();
	return s;
}

void
summary_set_precision(struct summary *s, double precision)
{
	s->common.precision = precision;
}

void
summary_ignore_hists(struct summary *s)
{
	s->no_hists = true;
}

void
summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		group_free(s->groups[i]);
	caseset_free(s->common.subjects);
	caseset_free(s->common.configs);
	caseset_free(s->common.envs);
	intern_free(s->names);
	intern_free(s->pairs);
	for (size_t i = 0; i < s->nhosts; i++)
		free(s->hosts[i]);
	free(s->hosts);
	run_record_reader_free(s->reader);
	sessions_free(s->common.sessions);
	free(s->groups);
	free(s->common.rank);
	hashset_free(s->seen);
	scratch_free(s->common.scratch);
	str_free(&s->out.s);
	free(s);
}

void
summary_spill(struct summary *s, const char *dir, size_t most)
{
	s->common.scratch = scratch_new(dir);
	s->most = most;
}

static struct group *
find_group(struct summary *s, size_t subject, size_t config)
{
	size_t id = intern_pair(s->pairs, subject, config);
	struct group *g;

	if (id < s->n)
		return s->groups[id];
	g = mem_new(sizeof *g);
	g->subject = subject;
	g->config = config;
	g->no_hists = s->no_hists;
	s->groups = mem_grow(s->groups, s->n, &s->cap, sizeof(struct group *));
	s->groups[s->n++] = g;
	return g;
}

/* Moves large groups to the file; reading many small pieces would be slow. */
static int
spill_groups(struct summary *s)
{
	s->bytes = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (group_bytes(s->groups[i]) >= SPILL_LEAST &&
		    group_spill(s->groups[i], s->common.scratch) < 0) {
			s->most = 0; /* keep all in memory from now on */
			return -1;
		}
		s->bytes += group_bytes(s->groups[i]);
	}
	if (2 * s->bytes > s->most)
		s->most = 2 * s->bytes;
	return 0;
}

/* Updates the memory count after a run was added; spills if necessary. */
static int
account_group(struct summary *s, struct group *g, size_t before, int rc)
{
	s->bytes += group_bytes(g) - before;
	if (s->most && s->bytes > s->most && spill_groups(s) < 0)
		return -1;
	return rc;
}

/* Is the run to be counted? Equal runs without a session are not duplicates. */
static bool
count_as_new(
    struct summary *s, struct group *g, uint32_t session, uint64_t hash)
{
	if (session != SESSIONS_UNKNOWN && hashset_add(s->seen, hash)) {
		g->doubled++;
		return false;
	}
	return true;
}

static size_t
find_env(struct summary *s, const struct jsonscan_text *t)
{
	size_t id =
	    t->s ? caseset_add(s->common.envs, t->s, t->n) : GROUP_NO_ENV;
	struct json *env;

	if (t->s && id == s->nhosts) {
		s->hosts =
		    mem_grow(s->hosts, s->nhosts, &s->hostcap, sizeof(char *));
		env = caseset_value(s->common.envs, id);
		s->hosts[s->nhosts++] = mem_str(json_get_str(env, "host"));
		json_free(env);
	}
	return id;
}

static int
add_record(struct summary *s, const struct run_record *r, const char *where)
{
	size_t subject =
	    caseset_add(s->common.subjects, r->subject.s, r->subject.n);
	size_t config =
	    caseset_add(s->common.configs, r->config.s, r->config.n);
	size_t env = find_env(s, &r->env);
	uint32_t session = sessions_add(s->common.sessions, r->session.s,
	    r->session.n, env == GROUP_NO_ENV ? NULL : s->hosts[env]);
	struct group *g = find_group(s, subject, config);
	size_t before = group_bytes(g);
	uint64_t hash = r->hash +
	    caseset_member_hash(s->common.subjects, subject, "subject") +
	    caseset_member_hash(s->common.configs, config, "config") +
	    (env == GROUP_NO_ENV
		    ? 0
		    : caseset_member_hash(s->common.envs, env, "env"));

	if (!count_as_new(s, g, session, hash))
		return 0;
	return account_group(s, g, before,
	    group_add(g, r, s->names, session, (uint32_t)env, where));
}

int
summary_add(struct summary *s, const struct json *rec, const char *where)
{
	struct run_record r;

	return run_record_convert(s->reader, &r, rec, where) < 0
	    ? -1
	    : add_record(s, &r, where);
}

int
summary_line(struct summary *s, struct jsonl *in, const char **text, size_t *n)
{
	struct run_record r;
	int rc;

	while ((rc = jsonl_text(in, text, n)) > 0) {
		if (!run_record_read(s->reader, &r, *text, *n))
			return 1;
		if (add_record(s, &r, jsonl_where(in)) < 0)
			return -1;
	}
	return rc;
}

int
summary_next(struct summary *s, struct jsonl *in, struct json **rec)
{
	struct run_record r;
	int rc;

	while ((rc = run_record_next(s->reader, in, &r, rec)) > 0 && !*rec)
		if (add_record(s, &r, jsonl_where(in)) < 0)
			return -1;
	return rc;
}

/* Compares by version from the first number that differs: 64 comes before 4096.
 * Skipping the common part saves time on long texts. */
static int
compare_texts(const char *s, const char *t)
{
	size_t i = 0;

	while (s[i] && s[i] == t[i])
		i++;
	while (i && isdigit((unsigned char)s[i - 1]))
		i--;
	return strverscmp(s + i, t + i);
}

static int
compare_groups(const void *a, const void *b, void *arg)
{
	const struct group *const *x = a, *const *y = b;
	const struct summary *s = arg;

	return (*x)->config != (*y)->config
	    ? compare_texts(caseset_text(s->common.configs, (*x)->config),
		  caseset_text(s->common.configs, (*y)->config))
	    : compare_texts(caseset_text(s->common.subjects, (*x)->subject),
		  caseset_text(s->common.subjects, (*y)->subject));
}

size_t
summary_count(const struct summary *s)
{
	return s->n;
}

size_t
summary_subjects(const struct summary *s)
{
	return caseset_count(s->common.subjects);
}

const char *
summary_subject(const struct summary *s, size_t i)
{
	return caseset_text(s->common.subjects, i);
}

static void
sort_groups(struct summary *s)
{
	if (s->sorted)
		return;
	if (s->n)
		qsort_r(s->groups, s->n, sizeof *s->groups, compare_groups, s);
	s->common.rank = sessions_order(s->common.sessions);
	hashset_free(s->seen);
	s->seen = NULL;
	s->sorted = true;
}

char *
summary_key(struct summary *s, size_t i)
{
	sort_groups(s);
	return mem_printf("%s\n%s",
	    caseset_text(s->common.configs, s->groups[i]->config),
	    caseset_text(s->common.subjects, s->groups[i]->subject));
}

int
summary_write(struct summary *s, size_t i, int fd)
{
	struct sink *o = &s->out;
	int rc;

	o->fd = fd;
	o->begun = false;
	sort_groups(s);
	rc = groupout_write(o, &s->common, s->groups[i], false);
	if (rc < 0)
		str_clear(&o->s); /* a line that was begun is left incomplete */
	if (rc == 0 || o->begun)
		str_addc(&o->s, '\n');
	return sink_flush(o) < 0 ? -1 : rc;
}

char *
summary_text(struct summary *s, size_t i, bool brief, size_t *n)
{
	struct sink o = {.fd = -1};

	sort_groups(s);
	if (groupout_write(&o, &s->common, s->groups[i], brief) < 0) {
		str_free(&o.s);
		return NULL;
	}
	*n = o.s.len;
	return str_take(&o.s);
}

struct json *
summary_record(struct summary *s, size_t i, bool brief)
{
	size_t n;
	char *line = summary_text(s, i, brief, &n);
	struct json *rec = line ? json_parse(line, n, NULL, NULL) : NULL;

	free(line);
	return rec;
}
