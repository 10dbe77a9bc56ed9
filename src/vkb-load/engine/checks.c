#include "checks.h"
#include "contents.h"
#include "mem.h"
#include "written.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT64_MAX
#define NAME_MOST 80 /* characters of a name in a message */

/* A request in the queue: this, and its values. */
struct request {
	uint32_t bytes; /* all of it */
	uint32_t values;
	bool writes;    /* them */
	uint64_t added; /* names that were written when it was sent */
};

/* A value: this, the key and the field. */
struct value {
	uint64_t id;
	uint32_t nkey, nfield;
	bool field; /* the value is stored in a field of a hash */
};

void
checks_free(struct checks_queue *q)
{
	if (!q)
		return;
	free(q->bytes);
	free(q);
}

static void
begin_value(struct checks_queue *q)
{
	q->done = 0;
	q->wrong = NONE;
}

static void
begin_reply(struct checks_queue *q)
{
	q->values = 0;
	q->next = sizeof(struct request);
	q->excused = false;
	begin_value(q);
}

void
checks_forget(struct checks_queue *q)
{
	q->at = q->end = 0;
	q->passed = 0;
	begin_reply(q);
}

/* Makes room for n bytes at the end, by those of requests that are over. */
static char *
add_bytes(struct checks_queue *q, size_t n)
{
	if (q->at > q->cap / 2) {
		memmove(q->bytes, q->bytes + q->at, q->end - q->at);
		q->last -= q->at;
		q->end -= q->at;
		q->at = 0;
	}
	if (q->end + n > q->cap) {
		q->cap = 2 * (q->end + n);
		q->bytes = mem_resize(q->bytes, q->cap, 1);
	}
	q->end += n;
	return q->bytes + q->end - n;
}

void
checks_add_request(struct checks_queue *q, bool writes)
{
	struct request r = {.bytes = sizeof r,
	    .writes = writes,
	    .added = q->written ? q->written->added : 0};

	if (q->at == q->end)
		begin_reply(q);
	memcpy(add_bytes(q, sizeof r), &r, sizeof r);
	q->last = q->end - sizeof r;
}

void
checks_add_value(struct checks_queue *q, const char *key, size_t nkey,
    const char *field, size_t nfield)
{
	struct value v = {.id = contents_id(key, nkey, field, nfield),
	    .nkey = (uint32_t)nkey,
	    .nfield = (uint32_t)nfield,
	    .field = field != NULL};
	size_t n = sizeof v + nkey + nfield;
	char *to = add_bytes(q, n);
	struct request r;

	memcpy(to, &v, sizeof v);
	memcpy(to + sizeof v, key, nkey);
	if (field)
		memcpy(to + sizeof v + nkey, field, nfield);
	memcpy(&r, q->bytes + q->last, sizeof r);
	r.bytes += (uint32_t)n;
	r.values++;
	memcpy(q->bytes + q->last, &r, sizeof r);
}

/* Reads the oldest request. Returns false if there is none. */
static bool
get_request(const struct checks_queue *q, struct request *r)
{
	if (q->at == q->end)
		return false;
	memcpy(r, q->bytes + q->at, sizeof *r);
	return true;
}

/* Writes a name in quotes, escaped for a terminal; cut if it is long. */
static void
add_name(char *to, size_t room, const char *s, size_t n)
{
	size_t at = strlen(to), cut = n < NAME_MOST ? n : NAME_MOST;
	const char *end = s + cut;

	at += (size_t)snprintf(to + at, room - at, "'");
	for (; s < end && at + 8 < room; s++)
		at += (size_t)snprintf(to + at, room - at,
		    *s < ' ' || *s > '~' || *s == '\\' || *s == '\'' ? "\\x%02x"
								     : "%c",
		    (unsigned)(unsigned char)*s);
	snprintf(to + at, room - at, "%s'", cut < n ? "..." : "");
}

/* Counts a value that is not what was written; the first ones are described:
 * 'why' is how they differ. */
static void
count_error(struct checks *k, const struct checks_queue *q, const char *why)
{
	struct engine_verified *f = &k->found;
	const char *p = q->bytes + q->at + q->next;
	struct value v;
	char *to;

	f->errors++;
	if (f->nfirst == ENGINE_MISMATCHES)
		return;
	to = f->first[f->nfirst++];
	memcpy(&v, p, sizeof v);
	snprintf(to, sizeof *f->first, v.field ? "field " : "key ");
	if (v.field) {
		add_name(to, sizeof *f->first, p + sizeof v + v.nkey, v.nfield);
		strncat(to, " of ", sizeof *f->first - strlen(to) - 1);
	}
	add_name(to, sizeof *f->first, p + sizeof v, v.nkey);
	snprintf(to + strlen(to), sizeof *f->first - strlen(to), ": %s", why);
}

static void
next_value(struct checks_queue *q, const struct value *v)
{
	q->values++;
	q->next += sizeof *v + v->nkey + v->nfield;
	begin_value(q);
}

static void
keep_written(
    struct checks *k, const struct checks_queue *q, const struct value *v)
{
	const char *key = q->bytes + q->at + q->next + sizeof *v;

	if (k->written)
		written_add(k->written, v->id, key, v->nkey,
		    v->field ? key + v->nkey : NULL, v->nfield);
}

/* Ends the oldest request: values that it asked for and that did not arrive are
 * errors. */
static void
pass_request(struct checks *k, struct checks_queue *q)
{
	struct request r;
	struct value v;

	if (!get_request(q, &r))
		return;
	for (; q->values < r.values && !q->excused; next_value(q, &v)) {
		memcpy(&v, q->bytes + q->at + q->next, sizeof v);
		if (r.writes) {
			keep_written(k, q, &v);
			continue;
		}
		k->found.checked++;
		count_error(k, q, "the reply has no string");
	}
	q->at += r.bytes;
	q->passed++;
	begin_reply(q);
}

static void
pass_until(struct checks *k, struct checks_queue *q, uint32_t nth)
{
	while (q->passed < nth && q->at < q->end)
		pass_request(k, q);
}

/* Finds the value that comes next. Returns false if none is to be checked. */
static bool
find_value(
    struct checks *k, struct checks_queue *q, uint32_t nth, struct value *v)
{
	struct request r;

	pass_until(k, q, nth);
	if (!get_request(q, &r) || r.writes || q->values >= r.values)
		return false;
	memcpy(v, q->bytes + q->at + q->next, sizeof *v);
	return true;
}

/* Describes how a whole value differs from the one that was written. */
static void
check_value(struct checks *k, struct checks_queue *q, const struct value *v)
{
	uint64_t want = contents_size(k->sizes, v->id);
	char why[128];
	int n;

	k->found.checked++;
	if (q->wrong == NONE && q->done == want)
		return;
	n = snprintf(why, sizeof why,
	    "%" PRIu64 " bytes were written, %" PRIu64 " read", want, q->done);
	if (q->wrong != NONE)
		snprintf(why + n, sizeof why - (size_t)n,
		    ", at offset %" PRIu64 " \\x%02x instead of \\x%02x",
		    q->wrong, q->got, contents_byte(v->id, q->wrong));
	count_error(k, q, why);
}

void
checks_take(struct checks *k, struct checks_queue *q, uint32_t nth,
    const char *p, size_t n, uint64_t left)
{
	struct value v;
	uint64_t want;
	size_t most, same;

	if (!find_value(k, q, nth, &v))
		return;
	want = contents_size(k->sizes, v.id);
	most = q->done >= want ? 0 : (size_t)(want - q->done);
	most = n < most ? n : most;
	if (q->wrong == NONE) {
		same = contents_compare(v.id, q->done, p, most);
		if (same < most) {
			q->wrong = q->done + same;
			q->got = (unsigned char)p[same];
		}
	}
	q->done += n;
	if (left)
		return;
	check_value(k, q, &v);
	next_value(q, &v);
}

/* Had the value been written when the oldest request was sent? */
static bool
was_written(const struct checks *k, const struct checks_queue *q, uint64_t id)
{
	struct request r;

	return k->kept && get_request(q, &r) &&
	    ((k->written && written_has(k->written, id, r.added)) ||
		(k->known && written_has(k->known, id, UINT64_MAX)));
}

void
checks_miss(struct checks *k, struct checks_queue *q, uint32_t nth)
{
	struct request r;
	struct value v;

	if (!find_value(k, q, nth, &v)) {
		q->excused |= get_request(q, &r) && r.writes;
		return;
	}
	if (k->required || was_written(k, q, v.id)) {
		k->found.checked++;
		count_error(k, q, "it was written, and is not there");
	} else {
		k->found.missing++;
	}
	next_value(q, &v);
}

void
checks_refuse(
    struct checks *k, struct checks_queue *q, uint32_t nth, const char *why)
{
	struct value v;

	if (!find_value(k, q, nth, &v))
		return;
	k->found.checked++;
	count_error(k, q, why);
	next_value(q, &v);
}

void
checks_excuse(struct checks *k, struct checks_queue *q, uint32_t nth)
{
	pass_until(k, q, nth);
	q->excused = true;
}

void
checks_end(struct checks *k, struct checks_queue *q, uint32_t n)
{
	pass_until(k, q, n);
	q->passed = 0;
}
