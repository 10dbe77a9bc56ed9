#include "verify.h"
#include "checks.h"
#include "cmdsource.h"
#include "command.h"
#include "contents.h"
#include "digits.h"
#include "engine.h"
#include "mem.h"
#include "template.h"
#include "values.h"
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
make_text(const char *command)
{
	struct command_style style = {.same = TEMPLATE_SAME};

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
verify_explain(const char *command)
{
	char *text = make_text(command), *why = NULL, **words;
	const struct verb *v;
	const char *bad;
	size_t n, at = 0, k;

	words = words_split(text ? text : command, &n, &bad);
	for (; words && !why && (k = words_command(words, n, &at, NULL));
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
		why = verify_explain(engine_command(w, i));
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
text_removes(const char *command)
{
	char *text = make_text(command), **words;
	const struct verb *v;
	bool removes = false;
	const char *bad;
	size_t n, at = 0, k;

	words = words_split(text ? text : command, &n, &bad);
	for (; words && (k = words_command(words, n, &at, NULL)); at += k + 1) {
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
	bool removes = w->ttl_low > 0;

	for (size_t i = 0; i < engine_count_commands(w); i++)
		removes |= text_removes(engine_command(w, i));
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
	uint64_t id = contents_id(x->key, x->nkey, x->field, x->nfield);
	size_t n = contents_size(w->v->sizes, id);

	w->to = copy_bytes(w->to, w->from, x->at);
	w->to += digits_line(w->to, '$', n);
	w->to = contents_write(id, w->to, n);
	memcpy(w->to, "\r\n", 2);
	w->to += 2;
	w->from = x->at + strlen(EMPTY);
}

static void
await_value(void *arg, const struct visit *x)
{
	checks_add_value(arg, x->key, x->nkey, x->field, x->nfield);
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
verify_await(struct checks_queue *q, const char *command, size_t n)
{
	checks_add_request(q, is_kind(command, WRITES));
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
count_values(const char *command)
{
	char *text = make_text(command);
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
		k = count_values(engine_command(w, i));
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
