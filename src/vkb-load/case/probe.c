#include "probe.h"
#include "client.h"
#include "err.h"
#include "indexinfo.h"
#include "json.h"
#include "mem.h"
#include "roles.h"
#include "samplequery.h"
#include "str.h"
#include "target.h"
#include "vkb-load/engine/control.h"
#include "vkb-load/engine/words.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TRIES 20

static size_t
find_command_end(char *const *words, size_t n, size_t i)
{
	while (i < n && strcmp(words[i], ";") != 0)
		i++;
	return i;
}

/* Returns the index that a command of n words searches, borrowed, or NULL. */
static const char *
find_index(char *const *words, size_t n)
{
	/* A number before the command is a repeat count. */
	if (n && !words[0][strspn(words[0], "0123456789")]) {
		words++;
		n--;
	}
	return n > 2 &&
		(strcasecmp(words[0], "FT.SEARCH") == 0 ||
		    strcasecmp(words[0], "FT.AGGREGATE") == 0)
	    ? words[1]
	    : NULL;
}

static bool
is_search_only(char *const *words, size_t n)
{
	size_t i, end;

	for (i = 0; i < n; i = end + 1) {
		end = find_command_end(words, n, i);
		if (!find_index(words + i, end - i))
			return false;
	}
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

/* The most hits that a node found; -1: none answered a search, see 'why'. */
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
 * Sends some searches of the load. Returns 0, or -1 after reporting an error.
 */
static int
send_own_queries(
    struct finding *f, const struct engine_work *w, const volatile int *stop)
{
	struct samplequery *q = samplequery_open(w, f->t->e.prefix, TRIES);
	const char *bytes;
	size_t len;

	if (!q)
		return -1;
	for (int i = 0; i < TRIES && f->most <= 0 && !*stop; i++) {
		bytes = samplequery_next(q, &len);
		ask_nodes(f, bytes, len);
	}
	samplequery_close(q);
	return 0;
}

/* Asks for any document: the searches of a load need not find something. */
static void
find_any_document(struct finding *f, const char *index)
{
	struct str s = {0};

	str_printf(&s,
	    "*6\r\n$9\r\nFT.SEARCH\r\n$%zu\r\n%s\r\n$1\r\n*\r\n"
	    "$5\r\nLIMIT\r\n$1\r\n0\r\n$1\r\n1\r\n",
	    strlen(index), index);
	ask_nodes(f, s.s, s.len);
	str_free(&s);
	if (f->most < 0 && indexinfo_documents(f->t, index) > 0)
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
	size_t i, end;
	int rc = 0;

	for (i = 0; i < n && rc == 0; i = end + 1) {
		end = find_command_end(words, n, i);
		index = find_index(words + i, end - i);
		if (index && (rc = indexinfo_wait(t, index, stop)) == 0)
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
		text =
		    command ? words_expand_prefix(command, t->e.prefix) : NULL;
		words = text ? words_split(text, &n, &why) : NULL;
		free(text);
		if (!words)
			continue;
		alone = is_search_only(words, n);
		if ((r->n > 1 || !alone) == after)
			rc = probe_words(t, words, n,
			    alone ? &r->works[r->v[i].first] : NULL, stop);
		words_free(words);
	}
	return rc;
}
