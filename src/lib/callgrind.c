#include "callgrind.h"
#include "err.h"
#include "intern.h"
#include "mem.h"
#include "str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_TEXT SIZE_MAX

/* Names of one kind, by the texts of their numbers: "(12)". */
struct names {
	struct intern *numbers;
	size_t *texts; /* in the profile; NO_TEXT: not known yet */
	size_t n, cap;
};

struct reading {
	struct callgrind *to;
	const char *name;
	size_t line;
	struct names objects, functions;
	struct intern *keys;  /* of functions: object and name */
	struct intern *pairs; /* of calls: two functions */
	size_t fcap, ccap;
	size_t object, function;    /* current texts */
	size_t other_object, other; /* of the call that is being read */
	size_t positions;           /* numbers before the costs */
	uint64_t count;             /* of that call; 0: no call */
	bool is_call, has_cost;
	bool has_totals; /* callgrind itself wrote it, and so 'totals:' */
	bool is_open;    /* costs whose 'totals:' has not come yet */
};

static int
fail_line(const struct reading *r, const char *why)
{
	return err_fail(
	    "%s:%zu: not a callgrind profile: %s", r->name, r->line, why);
}

/* "(3) name" says what 3 means, "(3)" repeats it, "name" is itself. */
static int
read_name(struct reading *r, struct names *v, const char *s, size_t *text)
{
	size_t n = strcspn(s, ")"), id;

	if (*s != '(' || s[n] != ')' || strspn(s + 1, "0123456789") != n - 1) {
		*text = intern_id(r->to->texts, *s ? s : "???");
		return 0;
	}
	id = intern_idn(v->numbers, s, n + 1);
	if (id == v->n)
		*MEM_ADD(v->texts, v->n, v->cap) = NO_TEXT;
	s += n + 1;
	s += strspn(s, " \t");
	if (*s)
		v->texts[id] = intern_id(r->to->texts, s);
	*text = v->texts[id];
	return *text == NO_TEXT ? fail_line(r, "a number has no name yet") : 0;
}

/* Returns the function of two texts. */
static size_t
find_function(struct reading *r, size_t object, size_t name)
{
	struct callgrind *to = r->to;
	struct callgrind_function *f;
	size_t id = intern_pair(r->keys, object, name);

	if (id < to->nfunctions)
		return id;
	f = MEM_ADD(to->functions, to->nfunctions, r->fcap);
	*f = (struct callgrind_function){.name = intern_text(to->texts, name),
	    .object = intern_text(to->texts, object)};
	return id;
}

static struct callgrind_call *
find_call(struct reading *r, size_t from, size_t to)
{
	struct callgrind *g = r->to;
	size_t id = intern_pair(r->pairs, from, to);

	if (id == g->ncalls) {
		*MEM_ADD(g->calls, g->ncalls, r->ccap) =
		    (struct callgrind_call){.from = from, .to = to};
	}
	return &g->calls[id];
}

/* Reads a decimal number; *s moves behind it and the blanks after it. */
static int
read_number(struct reading *r, const char **s, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return fail_line(r, "a number is expected");
	errno = 0;
	*v = strtoull(*s, &end, 10);
	if (errno)
		return fail_line(r, "a number is too large");
	if (*end && !isspace((unsigned char)*end))
		return fail_line(r, "a number is expected");
	*s = end + strspn(end, " \t");
	return 0;
}

static int
add_number(struct reading *r, uint64_t *to, uint64_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		return fail_line(r, "the sum is too large");
	return 0;
}

/* Adds the call that is being read. Returns its costs, or NULL, reported. */
static uint64_t *
add_call(struct reading *r, size_t from)
{
	size_t to = find_function(r, r->other_object, r->other);
	struct callgrind_call *c = find_call(r, from, to);

	r->is_call = false;
	r->other_object = r->other = NO_TEXT;
	if (add_number(r, &c->count, r->count) < 0 ||
	    add_number(r, &r->to->functions[to].calls, r->count) < 0)
		return NULL;
	return c->cost;
}

/* "+3 12 4": a position, and what was counted there, or by the call. */
static int
read_costs(struct reading *r, const char *s)
{
	struct callgrind *g = r->to;
	bool is_call = r->is_call;
	uint64_t v, *to;
	size_t at;

	if (!g->nevents)
		return fail_line(r, "costs come before 'events:'");
	if (r->function == NO_TEXT)
		return fail_line(r, "costs come before 'fn='");
	for (size_t i = 0; i < r->positions; i++) {
		s += strcspn(s, " \t");
		s += strspn(s, " \t");
	}
	at = find_function(r, r->object, r->function);
	to = is_call ? add_call(r, at) : g->functions[at].self;
	if (!to)
		return -1;
	for (size_t i = 0; *s; i++) {
		if (i == g->nevents)
			return fail_line(r, "there are more costs than events");
		if (read_number(r, &s, &v) < 0 || add_number(r, &to[i], v) < 0)
			return -1;
		if (!is_call && add_number(r, &g->total[i], v) < 0)
			return -1;
	}
	r->has_cost = r->is_open = true;
	return 0;
}

static int
begin_call(struct reading *r, const char *s)
{
	if (r->function == NO_TEXT || r->other == NO_TEXT)
		return fail_line(r, "'calls=' lacks its functions");
	if (r->other_object == NO_TEXT)
		r->other_object = r->object;
	r->is_call = true;
	return read_number(r, &s, &r->count);
}

static int
read_events(struct reading *r, char *s)
{
	struct callgrind *g = r->to;
	size_t n = 0;

	for (char *word; (word = strsep(&s, " \t"));) {
		if (!*word)
			continue;
		if (n == CALLGRIND_EVENTS)
			return fail_line(r, "there are too many events");
		if (n < g->nevents && strcmp(word, g->events[n]) != 0)
			return fail_line(r, "its parts have other events");
		if (n == g->nevents && r->has_cost)
			return fail_line(r, "its parts have other events");
		if (n == g->nevents)
			g->events[g->nevents++] = mem_str(word);
		n++;
	}
	if (!n || n < g->nevents)
		return fail_line(r, "an event is missing");
	return 0;
}

static size_t
count_words(const char *s)
{
	size_t n = 0;

	for (s += strspn(s, " \t"); *s; s += strspn(s, " \t")) {
		s += strcspn(s, " \t");
		n++;
	}
	return n;
}

/* "KEY: VALUE" of the head or the end; other keys are ignored. */
static int
read_head(struct reading *r, const char *key, size_t n, char *value)
{
	if (n == 7 && strncmp(key, "creator", n) == 0)
		r->has_totals =
		    str_starts(value + strspn(value, " \t"), "callgrind-");
	if (n == 6 && strncmp(key, "totals", n) == 0)
		r->is_open = false;
	if (n == 6 && strncmp(key, "events", n) == 0)
		return read_events(r, value);
	if (n == 9 && strncmp(key, "positions", n) == 0) {
		r->positions = count_words(value);
		if (!r->positions)
			return fail_line(r, "'positions:' is empty");
	}
	return 0;
}

/* "KEY=VALUE"; files (fl, fi, fe, cfi, cfl) and jumps are ignored. */
static int
read_assignment(struct reading *r, const char *key, size_t n, const char *value)
{
	size_t *text = NULL;
	struct names *names = &r->objects;

	if (n == 2 && strncmp(key, "ob", n) == 0)
		text = &r->object;
	else if (n == 3 && strncmp(key, "cob", n) == 0)
		text = &r->other_object;
	else if (n == 5 && strncmp(key, "calls", n) == 0)
		return begin_call(r, value);
	else {
		names = &r->functions;
		if (n == 2 && strncmp(key, "fn", n) == 0)
			text = &r->function;
		else if (n == 3 && strncmp(key, "cfn", n) == 0)
			text = &r->other;
	}
	return text ? read_name(r, names, value, text) : 0;
}

static int
read_line(struct reading *r, char *s)
{
	size_t n;

	s[strcspn(s, "\r\n")] = '\0';
	s += strspn(s, " \t");
	if (!*s || *s == '#')
		return 0;
	if (isdigit((unsigned char)*s) || strchr("+-*", *s))
		return read_costs(r, s);
	if (r->is_call)
		return fail_line(r, "the costs of a call are missing");
	n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");
	if (n && s[n] == '=')
		return read_assignment(r, s, n, s + n + 1);
	if (n && s[n] == ':')
		return read_head(r, s, n, s + n + 1);
	return fail_line(r, "this line is unknown");
}

/* A call of a function by itself adds nothing to what it includes. */
static int
add_inclusive(struct reading *r)
{
	struct callgrind *g = r->to;
	const struct callgrind_call *c;

	for (size_t i = 0; i < g->nfunctions; i++)
		g->functions[i].inclusive = g->functions[i].self[0];
	for (size_t i = 0; i < g->ncalls; i++) {
		c = &g->calls[i];
		if (c->from != c->to &&
		    add_number(
			r, &g->functions[c->from].inclusive, c->cost[0]) < 0)
			return -1;
	}
	return 0;
}

static int
finish_reading(struct reading *r)
{
	if (r->is_call)
		return fail_line(r, "it ends within a call");
	if (r->has_totals && r->is_open)
		return fail_line(r, "it is cut off: 'totals:' is missing");
	if (!r->to->nevents)
		return err_fail("%s: not a callgrind profile: it has no "
				"'events:'",
		    r->name);
	if (!r->has_cost)
		return err_fail("%s: callgrind counted nothing", r->name);
	return add_inclusive(r);
}

static void
free_names(struct names *v)
{
	intern_free(v->numbers);
	free(v->texts);
}

int
callgrind_read(struct callgrind *g, FILE *in, const char *name, size_t line)
{
	struct reading r = {.to = g,
	    .name = name,
	    .line = line,
	    .positions = 1,
	    .function = NO_TEXT,
	    .other = NO_TEXT,
	    .other_object = NO_TEXT};
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	*g = (struct callgrind){.texts = intern_new()};
	r.objects.numbers = intern_new();
	r.functions.numbers = intern_new();
	r.keys = intern_new();
	r.pairs = intern_new();
	r.object = intern_id(g->texts, "???");
	while (rc == 0 && (n = getline(&text, &cap, in)) > 0) {
		r.line++;
		if (strlen(text) != (size_t)n)
			rc = fail_line(&r, "it has a NUL byte");
		else if (text[n - 1] != '\n')
			rc = fail_line(&r, "it is cut off within this line");
		else
			rc = read_line(&r, text);
	}
	if (rc == 0 && ferror(in))
		rc = err_fail_sys("cannot read '%s'", name);
	if (rc == 0)
		rc = finish_reading(&r);
	free(text);
	free_names(&r.objects);
	free_names(&r.functions);
	intern_free(r.keys);
	intern_free(r.pairs);
	return rc;
}

int
callgrind_open(struct callgrind *g, const char *path)
{
	FILE *in = fopen(path, "re");
	int rc;

	*g = (struct callgrind){0};
	if (!in)
		return err_fail_sys("cannot read '%s'", path);
	rc = callgrind_read(g, in, path, 0);
	fclose(in);
	return rc;
}

void
callgrind_free(struct callgrind *g)
{
	for (size_t i = 0; i < g->nevents; i++)
		free(g->events[i]);
	free(g->functions);
	free(g->calls);
	intern_free(g->texts);
	*g = (struct callgrind){0};
}
