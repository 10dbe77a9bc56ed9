#include "verify.h"
#include "client.h"
#include "clock.h"
#include "cmdsource.h"
#include "command.h"
#include "control.h"
#include "digits.h"
#include "err.h"
#include "hashset.h"
#include "slotmap.h"
#include "keys.h"
#include "mem.h"
#include "rng.h"
#include "str.h"
#include "template.h"
#include "values.h"

#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HASHES UINT64_C(0x7772697474656e) /* stream of random numbers */

struct verify_written *
verify_written_new(size_t most)
{
	struct verify_written *w = mem_new(sizeof *w);

	w->most = most ? most : 1;
	w->limit = UINT64_MAX;
	w->ids = hashset_new();
	return w;
}

static void
free_names(struct verify_written *w)
{
	hashset_free(w->ids);
	free(w->names);
	free(w->bytes);
}

void
verify_written_free(struct verify_written *w)
{
	if (!w)
		return;
	free_names(w);
	free(w);
}

static uint64_t
hash_id(uint64_t id)
{
	struct rng rng;

	rng_seed(&rng, id, HASHES);
	return rng_next(&rng);
}

static void
append_bytes(struct verify_written *w, const char *p, size_t n)
{
	if (w->nbytes + n > w->bytes_cap) {
		w->bytes_cap = 2 * (w->nbytes + n);
		w->bytes = mem_resize(w->bytes, w->bytes_cap, 1);
	}
	memcpy(w->bytes + w->nbytes, p, n);
	w->nbytes += n;
}

/* Leaves out every other name. */
static void
halve_names(struct verify_written *w)
{
	struct verify_written old = *w;

	*w = (struct verify_written){.most = old.most,
	    .limit = old.limit / 2,
	    .added = old.added,
	    .ids = hashset_new()};
	verify_written_merge(w, &old);
	free_names(&old);
}

void
verify_written_add(struct verify_written *w, uint64_t id, const char *key,
    size_t nkey, const char *field, size_t nfield)
{
	if (hash_id(id) > w->limit || hashset_add(w->ids, id))
		return;
	*MEM_ADD(w->names, w->n, w->cap) = (struct verify_name){.id = id,
	    .at = w->nbytes,
	    .nkey = (uint32_t)nkey,
	    .nfield = (uint32_t)nfield,
	    .field = field != NULL,
	    .nth = w->added++};
	append_bytes(w, key, nkey);
	if (field)
		append_bytes(w, field, nfield);
	if (w->n > w->most)
		halve_names(w);
}

bool
verify_written_has(const struct verify_written *w, uint64_t id, uint64_t added)
{
	/* Only the names that were added since then are looked at: they are few
	 * where a server has lost all, and every request asks. */
	for (size_t i = w->n; i && w->names[i - 1].nth >= added; i--)
		if (w->names[i - 1].id == id)
			return false;
	return hashset_has(w->ids, id);
}

void
verify_written_merge(
    struct verify_written *to, const struct verify_written *from)
{
	const struct verify_name *x;
	const char *key;

	if (from->limit < to->limit)
		to->limit = from->limit;
	for (size_t i = 0; i < from->n; i++) {
		x = &from->names[i];
		key = from->bytes + x->at;
		verify_written_add(to, x->id, key, x->nkey,
		    x->field ? key + x->nkey : NULL, x->nfield);
	}
}

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
verify_free(struct verify_queue *q)
{
	if (!q)
		return;
	free(q->bytes);
	free(q);
}

void
engine_verified_add(
    struct engine_verified *to, const struct engine_verified *from)
{
	to->on |= from->on;
	to->checked += from->checked;
	to->errors += from->errors;
	to->missing += from->missing;
	for (size_t i = 0; i < from->nfirst && to->nfirst < ENGINE_MISMATCHES;
	     i++)
		memcpy(
		    to->first[to->nfirst++], from->first[i], sizeof *to->first);
}

static void
begin_value(struct verify_queue *q)
{
	q->done = 0;
	q->wrong = NONE;
}

static void
begin_reply(struct verify_queue *q)
{
	q->values = 0;
	q->next = sizeof(struct request);
	q->excused = false;
	begin_value(q);
}

void
verify_forget(struct verify_queue *q)
{
	q->at = q->end = 0;
	q->passed = 0;
	begin_reply(q);
}

/* Makes room for n bytes at the end, by those of requests that are over. */
static char *
add_bytes(struct verify_queue *q, size_t n)
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
verify_add_request(struct verify_queue *q, bool writes)
{
	struct request r = {.bytes = sizeof r,
	    .writes = writes,
	    .added = q->written ? q->written->added : 0};

	if (q->at == q->end)
		begin_reply(q);
	memcpy(add_bytes(q, sizeof r), &r, sizeof r);
	q->last = q->end - sizeof r;
}

static void
add_value(struct verify_queue *q, const char *key, size_t nkey,
    const char *field, size_t nfield)
{
	struct value v = {.id = values_id(key, nkey, field, nfield),
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
get_request(const struct verify_queue *q, struct request *r)
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
count_error(
    struct verify_checks *k, const struct verify_queue *q, const char *why)
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
next_value(struct verify_queue *q, const struct value *v)
{
	q->values++;
	q->next += sizeof *v + v->nkey + v->nfield;
	begin_value(q);
}

static void
keep_written(struct verify_checks *k, const struct verify_queue *q,
    const struct value *v)
{
	const char *key = q->bytes + q->at + q->next + sizeof *v;

	if (k->written)
		verify_written_add(k->written, v->id, key, v->nkey,
		    v->field ? key + v->nkey : NULL, v->nfield);
}

/* Ends the oldest request: values that it asked for and that did not arrive are
 * errors. */
static void
pass_request(struct verify_checks *k, struct verify_queue *q)
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
pass_until(struct verify_checks *k, struct verify_queue *q, uint32_t nth)
{
	while (q->passed < nth && q->at < q->end)
		pass_request(k, q);
}

/* Finds the value that comes next. Returns false if none is to be checked. */
static bool
find_value(struct verify_checks *k, struct verify_queue *q, uint32_t nth,
    struct value *v)
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
check_value(
    struct verify_checks *k, struct verify_queue *q, const struct value *v)
{
	uint64_t want = values_size(k->sizes, v->id);
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
		    q->wrong, q->got, values_byte(v->id, q->wrong));
	count_error(k, q, why);
}

void
verify_take(struct verify_checks *k, struct verify_queue *q, uint32_t nth,
    const char *p, size_t n, uint64_t left)
{
	struct value v;
	uint64_t want;
	size_t most, same;

	if (!find_value(k, q, nth, &v))
		return;
	want = values_size(k->sizes, v.id);
	most = q->done >= want ? 0 : (size_t)(want - q->done);
	most = n < most ? n : most;
	if (q->wrong == NONE) {
		same = values_compare(v.id, q->done, p, most);
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
was_written(
    const struct verify_checks *k, const struct verify_queue *q, uint64_t id)
{
	struct request r;

	return k->kept && get_request(q, &r) &&
	    ((k->written && verify_written_has(k->written, id, r.added)) ||
		(k->known && verify_written_has(k->known, id, UINT64_MAX)));
}

void
verify_miss(struct verify_checks *k, struct verify_queue *q, uint32_t nth)
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

/* The value cannot be read, which counts as an error: 'why' says how. */
static void
refuse_value(struct verify_checks *k, struct verify_queue *q, uint32_t nth,
    const char *why)
{
	struct value v;

	if (!find_value(k, q, nth, &v))
		return;
	k->found.checked++;
	count_error(k, q, why);
	next_value(q, &v);
}

void
verify_excuse(struct verify_checks *k, struct verify_queue *q, uint32_t nth)
{
	pass_until(k, q, nth);
	q->excused = true;
}

void
verify_end(struct verify_checks *k, struct verify_queue *q, uint32_t n)
{
	pass_until(k, q, n);
	q->passed = 0;
}

#define DATA "__data__"
#define COMMANDS                                                          \
	"GET, GETEX, GETDEL, MGET, HGET and HMGET of what SET, MSET and " \
	"HSET wrote"

enum kind { WRITES, READS, REMOVES, NEITHER };

/*
 * The commands: which words are values that are written, or names of values
 * that are read; 'first' and each 'step'th behind it, or only the first if 0.
 * The name of a value is the word before it. Of a field, word 1 is the key.
 */
struct verb {
	const char *name;
	enum kind kind;
	bool fields;
	unsigned first, step;
};

static const struct verb verbs[] = {{"SET", WRITES, false, 2, 0},
    {"MSET", WRITES, false, 2, 2}, {"HSET", WRITES, true, 3, 2},
    {"GET", READS, false, 1, 0}, {"GETEX", READS, false, 1, 0},
    {"GETDEL", READS, false, 1, 0}, {"MGET", READS, false, 1, 1},
    {"HGET", READS, true, 2, 0}, {"HMGET", READS, true, 2, 1},
    {"DEL", REMOVES, false, 0, 0}, {"UNLINK", REMOVES, false, 0, 0},
    {"HDEL", REMOVES, false, 0, 0}, {"EXPIRE", REMOVES, false, 0, 0},
    {"EXISTS", NEITHER, false, 0, 0}, {"PERSIST", NEITHER, false, 0, 0},
    {"PING", NEITHER, false, 0, 0}};

static const struct verb *
find_verb(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strlen(verbs[i].name) == n &&
		    strncasecmp(verbs[i].name, name, n) == 0)
			return &verbs[i];
	return NULL;
}

static bool
is_chosen(const struct verb *v, size_t word)
{
	return v->kind < REMOVES &&
	    (v->step ? word >= v->first && (word - v->first) % v->step == 0
		     : word == v->first);
}

/* Returns the text of a named test, as in a single server, or of a template;
 * NULL for PING_INLINE. Caller frees. */
static char *
make_text(const char *command, const struct command_options *options)
{
	struct command_style style = {
	    .same = TEMPLATE_SAME, .options = options};

	return command_known(command) ? command_text(command, &style)
				      : mem_str(command);
}

/* Returns what is wrong with a word of a command, or NULL. */
static char *
explain_word(const struct verb *v, size_t at, const char *word)
{
	bool value = v->kind == WRITES && is_chosen(v, at);

	if (value && strcmp(word, DATA) != 0)
		return mem_printf("'verify' makes the values, so word %zu of "
				  "%s must be " DATA ", not '%s'",
		    at, v->name, word);
	if (!value && strstr(word, DATA))
		return mem_printf("'verify' needs names that can be read "
				  "again, so word %zu of %s cannot have " DATA,
		    at, v->name);
	return NULL;
}

char *
verify_explain(const char *command, const struct command_options *options)
{
	char *text = make_text(command, options), *why = NULL, **words;
	const struct verb *v;
	const char *bad;
	size_t n, at = 0, k;

	words = command_split(text ? text : command, &n, &bad);
	for (; words && !why && (k = command_next(words, n, &at, NULL));
	     at += k + 1) {
		if (k == 1 && !words[at][strspn(words[at], "0123456789")])
			continue; /* a count, which the template refuses */
		v = find_verb(words[at], strlen(words[at]));
		if (!v)
			why = mem_printf(
			    "'verify' cannot check '%s': it checks " COMMANDS,
			    words[at]);
		for (size_t i = 1; i < k && !why; i++)
			why = explain_word(v, i, words[at + i]);
	}
	mem_free_list(words);
	free(text);
	return why;
}

char *
verify_explain_work(const struct engine_work *w)
{
	char *why = NULL;

	if (w->replay)
		return mem_str("'verify' makes the values, but those of a "
			       "trace were recorded");
	if (w->values.random && w->values.ratio > 1)
		return mem_str("'verify' makes values of random bytes, which "
			       "cannot be compressed");
	for (size_t i = 0; i < engine_count_commands(w) && !why; i++)
		why = verify_explain(engine_command(w, i), &w->options);
	return why;
}

/* Does a word of a command say that it removes a key, or lets it expire? */
static bool
is_removing(const struct verb *v, size_t at, const char *word)
{
	static const char *const words[] = {
	    "GETDEL", "GETEX", "EX", "PX", "EXAT", "PXAT"};
	bool option = at == 0 || (strcmp(v->name, "SET") == 0 && at > 2);

	for (size_t i = 0; i < sizeof words / sizeof *words && option; i++)
		if (strcasecmp(word, words[i]) == 0)
			return true;
	return v->kind == REMOVES;
}

static bool
text_removes(const char *command, const struct command_options *options)
{
	char *text = make_text(command, options), **words;
	const struct verb *v;
	bool removes = false;
	const char *bad;
	size_t n, at = 0, k;

	words = command_split(text ? text : command, &n, &bad);
	for (; words && (k = command_next(words, n, &at, NULL)); at += k + 1) {
		v = find_verb(words[at], strlen(words[at]));
		for (size_t i = 0; i < k && v; i++)
			removes |= is_removing(v, i, words[at + i]);
	}
	mem_free_list(words);
	free(text);
	return removes;
}

bool
verify_removes(const struct engine_work *w)
{
	bool removes = false;

	for (size_t i = 0; i < engine_count_commands(w); i++)
		removes |= text_removes(engine_command(w, i), &w->options);
	return removes;
}

bool
verify_is_filled(const struct engine_work *w)
{
	bool all = w->filled;

	for (size_t i = 0; i < engine_count_commands(w); i++)
		all = all && command_known(engine_command(w, i));
	return all;
}

struct engine_work
verify_inner_work(const struct engine_work *w)
{
	struct engine_work inner = *w;

	inner.verify = false;
	inner.values = (struct valuespec){0};
	inner.data_size = 0;
	return inner;
}

struct verified {
	struct cmdsource source;
	struct values *sizes;
	size_t most; /* bytes of the values of a command */
};

/* Returns the n bytes of the next word of a command, and moves *p behind it. */
static const char *
read_word(const char **p, size_t *n)
{
	const char *word;

	*n = 0;
	for (++*p; **p != '\r'; ++*p)
		*n = *n * 10 + (size_t)(**p - '0');
	word = *p + 2;
	*p = word + *n + 2;
	return word;
}

/* Calls 'fn' for each value that a command writes or reads, with its place in
 * the command and its name; returns the verb, or NULL. */
struct visit {
	const char *key, *field; /* field NULL: of the key itself */
	size_t nkey, nfield;
	const char *at; /* the word itself, with its length line */
};
typedef void visit_fn(void *arg, const struct visit *);

static const struct verb *
visit_values(const char *p, const char *end, visit_fn *fn, void *arg)
{
	struct visit v = {0};
	const char *word, *last = NULL;
	size_t n, nlast = 0;
	const struct verb *verb;

	p = strchr(p, '\n') + 1; /* behind "*N" */
	word = read_word(&p, &n);
	verb = find_verb(word, n);
	for (size_t i = 1; p < end && verb; i++, last = word, nlast = n) {
		v.at = p;
		word = read_word(&p, &n);
		if (i == 1 && verb->fields) {
			v.key = word;
			v.nkey = n;
		}
		if (!is_chosen(verb, i))
			continue;
		if (verb->kind == READS) {
			last = word;
			nlast = n;
		}
		if (verb->fields) {
			v.field = last;
			v.nfield = nlast;
		} else {
			v.key = last;
			v.nkey = nlast;
		}
		fn(arg, &v);
	}
	return verb;
}

/* A command with values, being written. */
struct writing {
	const struct verified *v;
	const char *from; /* what is not copied yet */
	char *to;
};

static char *
copy_bytes(char *to, const char *from, const char *end)
{
	memcpy(to, from, (size_t)(end - from));
	return to + (end - from);
}

#define EMPTY "$0\r\n\r\n"

/* Puts the contents of a key in place of an empty word. */
static void
write_value(void *arg, const struct visit *x)
{
	struct writing *w = arg;
	uint64_t id = values_id(x->key, x->nkey, x->field, x->nfield);
	size_t n = values_size(w->v->sizes, id);

	w->to = copy_bytes(w->to, w->from, x->at);
	w->to += digits_line(w->to, '$', n);
	w->to = values_fill(id, w->to, n);
	memcpy(w->to, "\r\n", 2);
	w->to += 2;
	w->from = x->at + strlen(EMPTY);
}

static void
await_value(void *arg, const struct visit *x)
{
	add_value(arg, x->key, x->nkey, x->field, x->nfield);
}

static bool
is_kind(const char *command, enum kind kind)
{
	const char *p = strchr(command, '\n') + 1, *word;
	const struct verb *v;
	size_t n;

	word = read_word(&p, &n);
	v = find_verb(word, n);
	return v && v->kind == kind;
}

void
verify_await(struct verify_queue *q, const char *command, size_t n)
{
	verify_add_request(q, is_kind(command, WRITES));
	visit_values(command, command + n, await_value, q);
}

/* Returns the room for commands, without that for one of the inner source. */
static size_t
get_outer_room(const struct verified *v, size_t bytes)
{
	return bytes + v->source.inner->ops->room(v->source.inner, 0) + v->most;
}

static size_t
get_room(const struct cmdsource *source, size_t bytes)
{
	const struct verified *v = (const struct verified *)source;

	return get_outer_room(v, bytes) +
	    v->source.inner->ops->room(v->source.inner, 1);
}

/* 'full' is what room was asked for. */
static uint32_t
make_commands(const struct cmdsource *source, struct cursor *c,
    const struct keys *keys, char *buf, uint32_t n, size_t full, size_t *len)
{
	const struct verified *v = (const struct verified *)source;
	char *plain = buf + get_outer_room(v, full);
	struct writing w = {.v = v, .to = buf};
	size_t used;
	uint32_t i;

	for (i = 0; i < n && (size_t)(w.to - buf) < full; i++) {
		*plain = 0;
		v->source.inner->ops->make(
		    v->source.inner, c, keys, plain, 1, 1, &used);
		w.from = plain;
		if (is_kind(plain, WRITES))
			visit_values(plain, plain + used, write_value, &w);
		w.to = copy_bytes(w.to, w.from, plain + used);
		if (c->expected)
			verify_await(c->expected, plain, used);
	}
	*len = (size_t)(w.to - buf);
	return i;
}

static void
free_source(struct cmdsource *source)
{
	struct verified *v = (struct verified *)source;

	v->source.inner->ops->free(v->source.inner);
	values_free(v->sizes);
	free(v);
}

static const struct cmdsource_ops ops = {
    get_room, make_commands, cmdsource_count_inner, free_source};

/* Returns how many values the commands of a text have together. */
static unsigned
count_values(const char *command, const struct command_options *options)
{
	char *text = make_text(command, options);
	const char *p = text;
	unsigned n = 0;

	for (; p && (p = strstr(p, DATA)); p += strlen(DATA))
		n++;
	free(text);
	return n;
}

static unsigned
count_work_values(const struct engine_work *w)
{
	unsigned n = 0, k;

	for (size_t i = 0; i < engine_count_commands(w); i++) {
		k = count_values(engine_command(w, i), &w->options);
		n = k > n ? k : n;
	}
	return n;
}

struct cmdsource *
verify_open(
    struct cmdsource *inner, const struct engine_work *w, unsigned values)
{
	struct verified *v = mem_new(sizeof *v);
	struct cmdsource *o = &v->source;

	if (!values)
		values = count_work_values(w);
	v->sizes = values_new(w);
	v->most = values * (values_longest(v->sizes) + DIGITS_MOST);
	cmdsource_wrap(o, inner, &ops);
	o->len += values * values_mean(v->sizes); /* at most, of a mix */
	o->constant = o->len;
	return o;
}

const struct values *
verify_sizes(const struct cmdsource *source)
{
	return ((const struct verified *)source)->sizes;
}

#define BATCH 200           /* requests */
#define BATCH_BYTES 1000000 /* of their replies */
#define AGAIN_MS 100        /* before what was not answered is asked again */
#define REPORT_NS 250000000 /* between two reports of progress */

struct readback {
	const struct engine_target *target;
	const volatile int *stop;
	engine_progress_fn *progress;
	void *arg;
	int64_t reported_ns;
	struct slotmap *map;
	/* Of the stream. */
	const struct verify_written *written;
	struct engine_result *result;
	struct verify_checks checks;
	struct verify_queue awaited;
	uint32_t *left; /* numbers of the names not read yet */
	size_t nleft;
};

static const struct verify_name *
get_name(const struct readback *x, size_t i)
{
	return &x->written->names[i];
}

static struct client *
open_client(const struct readback *x, const char *host, int port,
    const char *unixsocket, char why[CLIENT_WHY])
{
	struct engine_node node = {host, port, unixsocket, 0};
	struct engine_target t = *x->target;

	t.nodes = &node;
	t.nnodes = 1;
	return control_open(&t, 0, control_ms(&t, 0), why);
}

/* Does the server evict keys when its memory is full? */
static bool
may_evict(const struct readback *x, struct client *c)
{
	struct reply *r =
	    CLIENT_CALL(c, control_ms(x->target, 0), "INFO", "memory");
	char *policy = r ? reply_info(r, "maxmemory_policy") : NULL;
	bool yes = policy && strcmp(policy, "noeviction") != 0 &&
	    reply_info_number(r, "maxmemory") > 0;

	free(policy);
	reply_free(r);
	return yes;
}

/* Appends the command that reads a value. */
static void
add_command(struct readback *x, const struct verify_name *v, struct str *s)
{
	const char *key = x->written->bytes + v->at;

	client_format_head(s, v->field ? 3 : 2);
	client_format_word(s, v->field ? "HGET" : "GET", v->field ? 4 : 3);
	client_format_word(s, key, v->nkey);
	if (v->field)
		client_format_word(s, key + v->nkey, v->nfield);
}

/* Compares a reply with what was written. */
static void
check_reply(
    struct readback *x, const struct verify_name *v, const struct reply *r)
{
	const char *key = x->written->bytes + v->at;
	struct verify_checks *k = &x->checks;
	struct verify_queue *q = &x->awaited;
	char why[256];

	verify_add_request(q, false);
	add_value(q, key, v->nkey, v->field ? key + v->nkey : NULL, v->nfield);
	switch (reply_type(r)) {
	case REPLY_TEXT:
		verify_take(k, q, 0, reply_text(r), reply_size(r), 0);
		break;
	case REPLY_NIL:
		verify_miss(k, q, 0);
		break;
	case REPLY_ERROR:
		snprintf(why, sizeof why,
		    "it was written, and cannot be read: %s", reply_text(r));
		refuse_value(k, q, 0, why);
		break;
	default:
		break;
	}
	verify_end(k, q, 1);
}

/* Reads a value from the node to which its keys are being moved. Returns false
 * if that does not answer. */
static bool
read_asking(struct readback *x, const struct verify_name *v,
    const struct slotmap_hint *to)
{
	char why[CLIENT_WHY];
	struct client *c = open_client(x, to->host, to->port, NULL, why);
	int ms = control_ms(x->target, 0);
	struct reply *r = c ? CLIENT_CALL(c, ms, "ASKING") : NULL;
	struct str s = {0};
	bool done;

	add_command(x, v, &s);
	reply_free(r);
	r = r ? client_send(c, ms, s.s, s.len) : NULL;
	done = r && reply_type(r) != REPLY_ERROR;
	if (done)
		check_reply(x, v, r);
	reply_free(r);
	client_close(c);
	str_free(&s);
	return done;
}

/* Takes the reply to a value. Returns false if it is to be asked for again. */
static bool
take_reply(struct readback *x, const struct slotmap_node *node, size_t i,
    const struct reply *r)
{
	const char *line = reply_type(r) == REPLY_ERROR ? reply_text(r) : NULL;
	struct slotmap_hint to;

	if (line && slotmap_read_passing(&to, line, node))
		return false;
	if (line && x->target->cluster &&
	    slotmap_read_moved(&to, line, node->host))
		return to.asking && read_asking(x, get_name(x, i), &to);
	check_reply(x, get_name(x, i), r);
	return true;
}

/* Returns the node that has a value. */
static const struct slotmap_node *
find_node(const struct readback *x, const struct verify_name *v)
{
	const char *key = x->written->bytes + v->at;

	return x->target->cluster
	    ? &x->map->nodes[x->map->owners[keys_hash_slot(key, v->nkey)]]
	    : x->map->nodes;
}

/* Asks for the next values of a node, beginning with number *at of those that
 * are left. Returns how many were asked for; 'asked' has their places in
 * 'left'. */
static size_t
make_batch(struct readback *x, const struct slotmap_node *node, size_t *at,
    size_t *asked, struct str *s)
{
	const struct verify_name *v;
	size_t n = 0, bytes = 0;

	for (; *at < x->nleft && n < BATCH && bytes < BATCH_BYTES; ++*at) {
		v = get_name(x, x->left[*at]);
		if (find_node(x, v) != node)
			continue;
		add_command(x, v, s);
		bytes += values_size(x->checks.sizes, v->id);
		asked[n++] = *at;
	}
	return n;
}

#define READ UINT32_MAX

/* Reports how many values were read; in a load of several parts, also publishes
 * that this part still runs. */
static void
report_progress(struct readback *x, size_t nread)
{
	struct engine_progress p = {
	    .done = (double)nread / (double)x->written->n,
	    .rps = NAN,
	    .p99_ms = NAN,
	    .reading = true};
	int64_t now = clock_ns();

	if (!x->progress || now - x->reported_ns < REPORT_NS)
		return;
	x->reported_ns = now;
	x->progress(x->arg, &p);
}

/* Reads the values that are on a node. Returns why that failed, or NULL. */
static const char *
read_node(struct readback *x, const struct slotmap_node *node, struct client *c,
    char why[CLIENT_WHY])
{
	int ms = control_ms(x->target, 0);
	size_t at = 0, n, i, nread = x->written->n - x->nleft, asked[BATCH];
	struct str s = {0};
	struct reply *r;

	while ((n = make_batch(x, node, &at, asked, &s)) && !*x->stop) {
		report_progress(x, nread);
		for (i = 0; i < n; i++) {
			r = i ? client_next(c, ms)
			      : client_send(c, ms, s.s, s.len);
			if (!r)
				break;
			if (take_reply(x, node, x->left[asked[i]], r))
				x->left[asked[i]] = READ;
			reply_free(r);
		}
		if (i < n) {
			snprintf(why, CLIENT_WHY, "%s",
			    *client_error(c) ? client_error(c) : "no reply");
			break;
		}
		nread += n;
		str_clear(&s);
	}
	str_free(&s);
	return n && !*x->stop ? why : NULL;
}

/* Leaves out of the list what was read. */
static void
drop_read(struct readback *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->nleft; i++)
		if (x->left[i] != READ)
			x->left[n++] = x->left[i];
	x->nleft = n;
}

/* Asks each node once for the remaining keys. Returns an error, or NULL. */
static const char *
read_nodes(struct readback *x, char why[CLIENT_WHY])
{
	const struct slotmap_node *n = x->map->nodes;
	const char *failed = NULL;
	struct client *c;

	for (; n < x->map->nodes + x->map->n && !*x->stop; n++) {
		c = open_client(x, n->host, n->port, n->unixsocket, why);
		if (!c || read_node(x, n, c, why))
			failed = why;
		client_close(c);
		drop_read(x);
	}
	return failed;
}

/*
 * Reads all remaining keys. In a cluster slots may move, and a primary may be
 * replaced: the slots are read and the rest is asked for again, until nothing
 * more comes within the timeout.
 */
static int
read_all(struct readback *x)
{
	int64_t patience = control_ms(x->target, 0) * INT64_C(1000000);
	int64_t until = clock_ns() + patience;
	const char *failed;
	char why[CLIENT_WHY];
	size_t before;

	for (;;) {
		before = x->nleft;
		failed = read_nodes(x, why);
		if (*x->stop || !x->nleft)
			return *x->stop ? -1 : 0;
		if (x->nleft < before)
			until = clock_ns() + patience;
		if (clock_ns() > until || (failed && !x->target->cluster))
			return err_fail("cannot read back %zu of %zu values "
					"that were written: %s",
			    x->nleft, x->written->n,
			    failed ? failed : "no node has their slots");
		report_progress(x, x->written->n - x->nleft);
		poll(NULL, 0, AGAIN_MS);
		x->map = slotmap_refresh(x->map, x->target, KEYS_SLOTS, NULL);
	}
}

static int
read_stream(struct readback *x, const struct engine_work *w)
{
	struct values *sizes = values_new(w);
	int rc;

	x->nleft = x->written->n;
	x->left = mem_array(x->nleft, sizeof *x->left);
	for (size_t i = 0; i < x->nleft; i++)
		x->left[i] = (uint32_t)i;
	x->checks = (struct verify_checks){
	    .sizes = sizes, .required = x->written->kept};
	rc = read_all(x);
	engine_verified_add(&x->result->verified, &x->checks.found);
	free(x->left);
	values_free(sizes);
	return rc;
}

/* Finds the servers. Returns 0 or -1. */
static int
open_map(struct readback *x)
{
	if (x->map)
		return 0;
	x->map = slotmap_new(x->target, KEYS_SLOTS, NULL, false);
	return x->map ? 0 : -1;
}

int
verify_read_back(const struct engine_target *t, const struct engine_work *works,
    size_t n, const volatile int *stop, engine_progress_fn *progress, void *arg,
    struct engine_result *results)
{
	static const volatile int never;
	struct readback x = {.target = t,
	    .stop = stop ? stop : &never,
	    .progress = progress,
	    .arg = arg};
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		x.written = results[i].written;
		x.result = &results[i];
		if (!x.written || !x.written->n)
			continue;
		rc = open_map(&x);
		if (rc == 0)
			rc = read_stream(&x, &works[i]);
	}
	slotmap_free(x.map);
	free(x.awaited.bytes);
	return rc;
}

bool
verify_keeps(
    const struct engine_target *t, const struct engine_work *works, size_t n)
{
	struct readback x = {.target = t};
	char why[CLIENT_WHY];
	struct client *c;
	bool kept = true, any = false;

	for (size_t i = 0; i < n; i++) {
		any |= works[i].verify;
		kept = kept && !verify_removes(&works[i]);
	}
	if (!any || !kept)
		return false;
	kept = open_map(&x) == 0;
	for (size_t i = 0; kept && i < x.map->n; i++) {
		c = open_client(&x, x.map->nodes[i].host, x.map->nodes[i].port,
		    x.map->nodes[i].unixsocket, why);
		kept = c && !may_evict(&x, c);
		client_close(c);
	}
	slotmap_free(x.map);
	return kept;
}
