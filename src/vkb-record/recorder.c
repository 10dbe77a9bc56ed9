#include "recorder.h"
#include "clock.h"
#include "cmdargs.h"
#include "err.h"
#include "intern.h"
#include "json.h"
#include "mem.h"
#include "num.h"
#include "privacy.h"
#include "str.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT "script" /* the connection of commands that a script sent */

struct recorder {
	struct tracefile_writer *writer;
	const char *source;
	unsigned hash;
	struct privacy *privacy;
	struct intern *addresses;
	long *conns; /* the connection of each address */
	size_t conns_cap;
	bool begun;
	uint64_t start_us;
	enum cmdargs_role *roles;
	struct tracefile_word *words;
	size_t cap;
	struct str bytes;
};

struct recorder *
recorder_new(int fd, const char *source, unsigned hash)
{
	struct recorder *r = mem_new(sizeof *r);

	r->writer = tracefile_writer_new(fd, "stdout");
	r->source = source;
	r->hash = hash;
	if (hash)
		r->privacy = privacy_new(NULL);
	r->addresses = intern_new();
	return r;
}

/* Writes the first line, if it was not yet. Returns 0 or -1. */
static int
begin_trace(struct recorder *r, uint64_t us)
{
	static const char *const hashes[] = {"none", "keys", "values", "all"};
	struct json *head;
	char iso[CLOCK_ISO];
	int rc;

	if (r->begun)
		return 0;
	r->begun = true;
	r->start_us = us;
	head = json_object();
	json_set_str(head, "source", r->source);
	json_set_str(head, "hash", hashes[r->hash]);
	if (us) {
		json_set_str(
		    head, "started", clock_iso_of(iso, (double)us / 1e6));
		json_set_num(head, "start_us", (double)us);
	}
	rc = tracefile_writer_begin(r->writer, head);
	json_free(head);
	return rc;
}

long
recorder_find_conn(
    struct recorder *r, const char *address, size_t n, bool fresh)
{
	size_t id = intern_idn(r->addresses, address, n);
	bool new = id + 1 == intern_count(r->addresses);
	uint32_t number;

	while (r->conns_cap <= id) {
		size_t was = r->conns_cap;

		r->conns =
		    mem_grow(r->conns, was, &r->conns_cap, sizeof *r->conns);
		for (size_t i = was; i < r->conns_cap; i++)
			r->conns[i] = -1;
	}
	if (!fresh && !(new && r->conns[id] < 0) && r->conns[id] >= 0)
		return r->conns[id];
	if (tracefile_writer_connect(
		r->writer, intern_text(r->addresses, id), &number) < 0)
		return -1;
	r->conns[id] = number;
	return r->conns[id];
}

/* Hides the words that are not to be seen. They are in r->words. */
static void
hide_words(struct recorder *r, size_t n)
{
	size_t at;

	cmdargs_roles(r->words, n, r->roles);
	str_clear(&r->bytes);
	for (size_t i = 0; i < n; i++) {
		enum cmdargs_role role = r->roles[i];
		struct tracefile_word *w = &r->words[i];
		bool key = role == CMDARGS_KEY;

		at = r->bytes.len;
		if (role == CMDARGS_SYNTAX ||
		    (key && !(r->hash & RECORDER_KEYS)) ||
		    (role == CMDARGS_VALUE && !(r->hash & RECORDER_VALUES)))
			str_addn(&r->bytes, w->s, w->n);
		else if (key)
			privacy_add_key(r->privacy, w->s, w->n, &r->bytes);
		else
			privacy_add_value(r->privacy, w->s, w->n, &r->bytes);
		w->n = r->bytes.len - at;
	}
	at = 0;
	for (size_t i = 0; i < n; i++) {
		r->words[i].s = (r->bytes.s ? r->bytes.s : "") + at;
		at += r->words[i].n;
	}
}

/* Makes one or two words of a name. Returns how many. */
static size_t
split_name(const char *name, struct tracefile_word w[2])
{
	const char *blank = strchr(name, ' ');

	w[0].s = name;
	w[0].n = strcspn(name, " ");
	if (!blank)
		return 1;
	w[1].s = blank + 1;
	w[1].n = strlen(blank + 1);
	return 2;
}

int
recorder_add(struct recorder *r, uint64_t us, long conn, unsigned db,
    bool script, const struct tracefile_word *words, size_t n)
{
	struct tracefile_command c = {
	    .conn = (uint32_t)conn, .db = db, .words = words, .n = n};
	char name[CMDARGS_NAME];
	struct tracefile_word only[2];

	if (begin_trace(r, us) < 0)
		return -1;
	c.at_us = us > r->start_us ? us - r->start_us : 0;
	if (script || cmdargs_refuse(words, n) ||
	    (r->hash && cmdargs_is_sealed(words))) {
		cmdargs_name(words, n, name);
		c.omitted = true;
		c.words = only;
		c.n = split_name(script ? SCRIPT : name, only);
	} else if (r->hash) {
		if (r->cap < n) {
			r->cap = n;
			r->words = mem_resize(r->words, n, sizeof *r->words);
			r->roles = mem_resize(r->roles, n, sizeof *r->roles);
		}
		memcpy(r->words, words, n * sizeof *words);
		hide_words(r, n);
		c.words = r->words;
	}
	return tracefile_writer_add(r->writer, &c);
}

void
recorder_select(const struct tracefile_word *w, size_t n, unsigned *db)
{
	char *text;
	long long v;

	if (n != 2 || !cmdargs_is(w, "SELECT"))
		return;
	text = mem_strn(w[1].s, w[1].n);
	if (num_int(text, &v) == 0 && v >= 0 && v <= INT32_MAX)
		*db = (unsigned)v;
	free(text);
}

int
recorder_flush(struct recorder *r)
{
	return r->begun ? tracefile_writer_flush(r->writer) : 0;
}

int
recorder_end(struct recorder *r, bool quiet)
{
	struct tracefile_totals t;
	int rc = begin_trace(r, 0);

	if (rc == 0)
		rc = tracefile_writer_end(r->writer, &t);
	if (rc == 0 && !quiet)
		err_say("%" PRIu64 " command%s of %" PRIu64
			" connection%s in %.3g s",
		    t.commands, num_plural((size_t)t.commands), t.conns,
		    num_plural((size_t)t.conns), t.seconds);
	tracefile_writer_free(r->writer);
	privacy_free(r->privacy);
	intern_free(r->addresses);
	str_free(&r->bytes);
	free(r->conns);
	free(r->roles);
	free(r->words);
	free(r);
	return rc;
}
