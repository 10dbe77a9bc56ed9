#include "probe.h"
#include "client.h"
#include "clock.h"
#include "err.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "roles.h"
#include "str.h"
#include "target.h"
#include "vkb-load/data/dataset.h"
#include "vkb-load/engine/chooser.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/keys.h"
#include "vkb-load/engine/rowset.h"
#include "vkb-load/engine/template.h"
#include "vkb-load/engine/command.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TRIES 20
#define QUERY_BYTES 65536
#define LOOK_MS 50
#define UNKNOWN "ERR unknown command"

static double
read_number(const struct reply *r)
{
	double v;

	if (reply_type(r) == REPLY_INTEGER)
		return (double)reply_integer(r);
	if (reply_text(r) && num_real(reply_text(r), &v) == 0)
		return v;
	return NAN;
}

/* Returns a field of a flat list of names and values; NAN if absent. */
static double
find_number(const struct reply *info, const char *name)
{
	const char *key;

	for (size_t i = 0; i + 1 < reply_len(info); i += 2) {
		key = reply_text(reply_at(info, i));
		if (key && strcmp(key, name) == 0)
			return read_number(reply_at(info, i + 1));
	}
	return NAN;
}

/*
 * Returns the answer to FT.INFO, or NULL. *known is false if the server has no
 * FT.INFO; else the error is reported. Caller frees with reply_free.
 */
static struct reply *
ask_index(const struct target *t, size_t node, const char *index, bool *known)
{
	struct client *c = target_client(t, node);
	struct reply *r;
	const char *error;

	*known = true;
	if (!c)
		return NULL;
	r = CLIENT_CALL(c, control_ms(&t->e, 0), "FT.INFO", index);
	error = !r                         ? client_error(c)
	    : reply_type(r) == REPLY_ERROR ? reply_text(r)
					   : NULL;
	if (error) {
		*known =
		    !r || strncasecmp(error, UNKNOWN, strlen(UNKNOWN)) != 0;
		if (*known)
			err_say("FT.INFO '%s': %s", index, error);
		reply_free(r);
		r = NULL;
	}
	client_close(c);
	return r;
}

/* Returns a number that changes while indexing makes progress; NAN: done. */
static double
measure_backlog(const struct reply *info)
{
	static const char *const busy[] = {
	    "indexing", "backfill_in_progress", "mutation_queue_size"};
	static const char *const parts[] = {
	    "percent_indexed", "backfill_complete_percent", "num_docs"};
	double sum = 0, v;
	bool yes = false;

	for (size_t i = 0; i < sizeof busy / sizeof *busy; i++) {
		v = find_number(info, busy[i]);
		yes = yes || v > 0;
		sum += isnan(v) ? 0 : v;
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		v = find_number(info, parts[i]);
		sum += isnan(v) ? 0 : v * (double)(i + 2);
	}
	return yes ? sum : NAN;
}

static int
wait_for_node(const struct target *t, size_t node, const char *index,
    const volatile int *stop)
{
	int64_t moved = clock_ns();
	double last = NAN, now;
	double most = control_ms(&t->e, 0) / 1e3;
	struct reply *info;
	bool known;

	while (!*stop) {
		info = ask_index(t, node, index, &known);
		if (!info)
			return known ? -1 : 0;
		now = measure_backlog(info);
		reply_free(info);
		if (isnan(now))
			return 0;
		if (!(now == last))
			moved = clock_ns();
		last = now;
		if ((double)(clock_ns() - moved) / 1e9 > most)
			return err_fail(
			    "index '%s' is not ready: indexing made "
			    "no progress for %g s",
			    index, most);
		poll(NULL, 0, LOOK_MS);
	}
	return -1;
}

/*
 * Waits until all nodes have finished indexing; a node without FT.INFO counts
 * as finished. Returns 0, or -1 after reporting that there is no such index, or
 * that it made no progress for the timeout of the target; or -1 silently when
 * *stop is set.
 */
static int
wait_for_index(
    const struct target *t, const char *index, const volatile int *stop)
{
	int rc = 0;

	for (size_t i = 0; i < t->e.nnodes && rc == 0; i++)
		rc = wait_for_node(t, i, index, stop);
	return rc;
}

/* Returns the sum of num_docs over all nodes, or -1 if no node has it. */
static double
count_documents(const struct target *t, const char *index)
{
	double sum = -1, v;
	struct reply *info;
	bool known;

	for (size_t i = 0; i < t->e.nnodes; i++) {
		info = ask_index(t, i, index, &known);
		v = info ? find_number(info, "num_docs") : NAN;
		reply_free(info);
		if (!isnan(v))
			sum = sum < 0 ? v : sum + v;
	}
	return sum;
}

/* Returns the index that a command of n words searches, borrowed, or NULL. */
static const char *
find_index(char *const *words, size_t n)
{
	return n > 2 &&
		(strcasecmp(words[0], "FT.SEARCH") == 0 ||
		    strcasecmp(words[0], "FT.AGGREGATE") == 0)
	    ? words[1]
	    : NULL;
}

static bool
is_search_only(char *const *words, size_t n)
{
	size_t k;

	for (size_t at = 0; (k = command_next(words, n, &at, NULL));
	     at += k + 1)
		if (!find_index(words + at, k))
			return false;
	return true;
}

/* Returns the number of hits of a search reply, or -1 if it has none. */
static long long
count_hits(const struct reply *r)
{
	if (!r || reply_type(r) != REPLY_ARRAY || !reply_len(r) ||
	    reply_type(reply_at(r, 0)) != REPLY_INTEGER)
		return -1;
	return reply_integer(reply_at(r, 0));
}

/* The most hits that a node found; -1 if all searches failed, see 'why'. */
struct finding {
	const struct target *t;
	long long most;
	char *why;
};

static void
ask_node(struct finding *f, size_t node, const char *bytes, size_t len)
{
	struct client *c = target_client(f->t, node);
	struct reply *r =
	    c ? client_send(c, control_ms(&f->t->e, 0), bytes, len) : NULL;
	long long n = count_hits(r);
	const char *text = !c ? err_last()
	    : !r              ? client_error(c)
			      : reply_text(r);

	if (n > f->most)
		f->most = n;
	if (n < 0 && !f->why)
		f->why =
		    mem_str(text ? text : "the reply has no number of hits");
	reply_free(r);
	client_close(c);
}

static void
ask_nodes(struct finding *f, const char *bytes, size_t len)
{
	for (size_t i = 0; i < f->t->e.nnodes && f->most <= 0; i++)
		ask_node(f, i, bytes, len);
}

/*
 * Gives a template the first rows of the dataset, which the caller frees.
 * Returns 0, or -1 after reporting an error.
 */
static int
bind_rows(struct template *t, const struct engine_work *w, struct rowset **rows)
{
	struct dataset_want want = *w->data;

	want.maxdocs = TRIES;
	want.fields = template_fields(t);
	if (!*want.fields)
		return 0;
	*rows = dataset_read(&want, NULL, NULL);
	if (!*rows)
		return -1;
	template_bind(t, *rows, 0);
	return 0;
}

/*
 * Sends some searches of the load. Returns 0, or -1 after reporting an error.
 */
static int
send_own_queries(
    struct finding *f, const struct engine_work *w, const volatile int *stop)
{
	uint64_t space = w->keyspacelen > 0 ? (uint64_t)w->keyspacelen : 1;
	struct keys keys = {.space = space, .count = space};
	const _Atomic uint64_t newest = space;
	const struct chooser *chooser = chooser_new(w, space, &newest);
	struct cursor cursor = {.chooser = chooser};
	const struct engine_target single = {.prefix = f->t->e.prefix};
	char *buf, *at, *why;
	struct template *t = template_new(&single, w, &why);
	struct rowset *rows = NULL;
	struct cmdsource *s;
	size_t len;
	int rc = -1;

	if (!t)
		err_say("'%s': %s", w->command, why);
	else
		rc = bind_rows(t, w, &rows);
	free(why);
	if (rc == 0) {
		s = template_source(t);
		buf = cmdsource_buffer(s, QUERY_BYTES);
		rng_seed(&cursor.rng, w->seed, 0);
		for (int i = 0; i < TRIES && f->most <= 0 && !*stop; i++) {
			at = cmdsource_place(s, &cursor, buf);
			s->ops->make(
			    s, &cursor, &keys, at, 1, QUERY_BYTES, &len);
			ask_nodes(f, at, len);
		}
		free(buf);
	}
	template_free(t);
	rowset_free(rows);
	chooser_free(chooser);
	return rc;
}

/* Asks for any document: the searches of a load need not find something. */
static void
find_any_document(struct finding *f, const char *index)
{
	struct str s = {0};

	client_format(&s,
	    (const char *const[]){
		"FT.SEARCH", index, "*", "LIMIT", "0", "1", NULL});
	ask_nodes(f, s.s, s.len);
	str_free(&s);
	if (f->most < 0 && count_documents(f->t, index) > 0)
		f->most = 1;
}

/*
 * Fails if an index finds nothing. 'w' makes the searches of the load; NULL:
 * its commands do more than search and must not be sent.
 */
static int
check_index(const struct target *t, const char *index,
    const struct engine_work *w, const volatile int *stop)
{
	struct finding f = {.t = t, .most = -1};
	int rc = w ? send_own_queries(&f, w, stop) : 0;

	if (rc == 0 && f.most <= 0 && !*stop)
		find_any_document(&f, index);
	if (*stop)
		rc = -1;
	else if (rc == 0 && f.most < 0)
		rc = err_fail("index '%s' cannot be searched: %s", index,
		    f.why ? f.why : "");
	else if (rc == 0 && f.most == 0)
		rc = err_fail("index '%s' finds nothing: it has indexed no "
			      "document",
		    index);
	free(f.why);
	return rc;
}

/* Checks each index that the commands of a text search. */
static int
probe_words(const struct target *t, char *const *words, size_t n,
    const struct engine_work *w, const volatile int *stop)
{
	const char *index;
	size_t k;
	int rc = 0;

	for (size_t at = 0; rc == 0 && (k = command_next(words, n, &at, NULL));
	     at += k + 1) {
		index = find_index(words + at, k);
		if (index && (rc = wait_for_index(t, index, stop)) == 0)
			rc = check_index(t, index, w, stop);
	}
	return rc;
}

int
probe(const struct target *t, const struct roles *r, bool after,
    const volatile int *stop)
{
	const char *command, *why;
	char **words, *text;
	bool alone;
	size_t n;
	int rc = 0;

	for (size_t i = 0; i < r->n && rc == 0; i++) {
		command = json_get_str(r->v[i].config, "command");
		text = command ? command_expand_prefix(command, t->e.prefix)
			       : NULL;
		words = text ? command_split(text, &n, &why) : NULL;
		free(text);
		if (!words)
			continue;
		alone = is_search_only(words, n);
		if ((r->n > 1 || !alone) == after)
			rc = probe_words(t, words, n,
			    alone && !r->v[i].load.mix
				? &r->works[r->v[i].first]
				: NULL,
			    stop);
		mem_free_list(words);
	}
	return rc;
}
