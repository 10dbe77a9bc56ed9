#include "coltype.h"
#include "clock.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses what the server takes for a time: it has no year 0. */
static bool
parse_time(const char *s, struct clock_parts *p)
{
	return clock_parse(p, s) == 0 && !str_starts(s, "0000") &&
	    p->second < 60 && labs(p->offset) < 15L * 60 * 60;
}

bool
coltype_is_time(const char *s)
{
	struct clock_parts p;

	return parse_time(s, &p);
}

static void
note_text(struct coltype_summary *s, const char *text, size_t n)
{
	struct clock_parts p;

	s->blank_end |= n && text[n - 1] == ' ';
	if (!parse_time(text, &p)) {
		s->not_time = true;
		return;
	}
	s->with_clock |= p.precision != CLOCK_DAY;
	s->offset |= p.offset != 0;
	while (p.npart && strchr(".0", p.part[p.npart - 1]))
		p.npart--;
	if (p.npart > (size_t)s->fraction + 1)
		s->fraction = (int)p.npart - 1;
}

/* Counts digits before and after the decimal point of a JSON number. */
static void
count_digits(const char *text, int *whole, int *decimals, bool *exponent)
{
	const char *e = strchr(text, 'e'), *dot = strchr(text, '.');
	const char *end = e ? e : text + strlen(text);
	const char *start = text + (*text == '-');
	int power = e ? atoi(e + 1) : 0;

	*exponent = e != NULL;
	*whole = (int)((dot ? dot : end) - start) + power;
	*decimals = (dot ? (int)(end - dot - 1) : 0) - power;
	if (*whole < 1)
		*whole = 1;
	if (*decimals < 0)
		*decimals = 0;
}

void
coltype_note_value(struct coltype_summary *s, enum coltype_value value,
    const char *text, double v)
{
	size_t n = strlen(text);
	int whole, decimals;
	bool exponent;

	s->values |= value;
	if (n > s->longest)
		s->longest = n;
	if (value == COLTYPE_STRING)
		note_text(s, text, n);
	if (value != COLTYPE_NUMBER)
		return;
	count_digits(text, &whole, &decimals, &exponent);
	if (whole > s->whole)
		s->whole = whole;
	if (decimals > s->decimals)
		s->decimals = decimals;
	if (fabs(v) > s->largest)
		s->largest = fabs(v);
	s->exponent |= exponent;
	s->not_float |= (double)(float)v != v;
}

/* What a type takes: values of a kind (a string: a time), or all. */
enum {
	ANY,
	BOOL = COLTYPE_BOOL,
	NUMBER = COLTYPE_NUMBER,
	TIME = COLTYPE_STRING
};

/* 'bytes': the most in a row, including alignment; 0: see coltype_bytes. */
static const struct type {
	enum coltype_kind kind;
	const char *ours, *theirs;
	int takes;
	size_t bytes;
} types[] = {{COLTYPE_BOOLEAN, "BOOLEAN", "boolean", BOOL, 1},
    {COLTYPE_SMALLINT, "SMALLINT", "smallint", NUMBER, 4 + 3},
    {COLTYPE_INTEGER, "INTEGER", "integer", NUMBER, 4 + 3},
    {COLTYPE_BIGINT, "BIGINT", "bigint", NUMBER, 8 + 7},
    {COLTYPE_NUMERIC, "NUMERIC", "numeric", NUMBER, 0},
    {COLTYPE_REAL, "REAL", "real", NUMBER, 4 + 3},
    {COLTYPE_DOUBLE, "DOUBLE PRECISION", "double precision", NUMBER, 8 + 7},
    {COLTYPE_MONEY, "MONEY", "money", NUMBER, 8 + 7},
    {COLTYPE_VARCHAR, "VARCHAR", "character varying", ANY, 0},
    {COLTYPE_CHAR, "CHAR", "character", ANY, COLTYPE_BYTES},
    {COLTYPE_NAME, "NAME", "name", ANY, COLTYPE_NAME_MAX + 1},
    {COLTYPE_TEXT, "TEXT", "text", ANY, 0},
    {COLTYPE_DATE, "DATE", "date", TIME, 4 + 3},
    {COLTYPE_TIMESTAMP, "TIMESTAMP", "timestamp without time zone", TIME,
	8 + 7},
    {COLTYPE_TIMESTAMPTZ, "TIMESTAMPTZ", "timestamp with time zone", TIME,
	8 + 7},
    {COLTYPE_JSONB, "JSONB", "jsonb", ANY, COLTYPE_BYTES},
    {COLTYPE_JSON, "JSON", "json", ANY, COLTYPE_BYTES},
    {COLTYPE_EXACT, "UUID", "uuid", ANY, 4 + 3},
    {COLTYPE_EXACT, "INET", "inet", ANY, 4 + 3},
    {COLTYPE_EXACT, "CITEXT", "citext", ANY, 4 + 3},
    {COLTYPE_STRANGE, "", "", ANY, COLTYPE_BYTES}};

/* Returns the first type of that kind. */
static const struct type *
find_type(enum coltype_kind kind)
{
	const struct type *x = types;

	while (x->kind != kind)
		x++;
	return x;
}

static bool
is_timestamp(enum coltype_kind kind)
{
	return kind == COLTYPE_TIMESTAMP || kind == COLTYPE_TIMESTAMPTZ;
}

/* In "timestamp(3) with time zone" the numbers are in the middle. */
struct coltype
coltype_parse(const char *name)
{
	struct coltype t = {.kind = COLTYPE_STRANGE};
	size_t n = strcspn(name, "("), skip = strcspn(name + n, ")");
	const char *rest = name + n + skip + (name[n + skip] == ')');
	int a = 0, b = 0;

	if (name[n] && sscanf(name + n, "(%d,%d)", &a, &b) < 1)
		return t;
	for (const struct type *x = types; x->kind != COLTYPE_STRANGE; x++) {
		if (strncmp(x->theirs, name, n) != 0 ||
		    strcmp(x->theirs + n, rest) != 0)
			continue;
		t = (struct coltype){x->kind, a, b};
		if (is_timestamp(t.kind) && !name[n])
			t.a = COLTYPE_SECOND;
	}
	return t;
}

void
coltype_print(struct str *s, struct coltype t)
{
	str_add(s, find_type(t.kind)->ours);
	if (t.kind == COLTYPE_NUMERIC && t.a)
		str_printf(s, "(%d,%d)", t.a, t.b);
	if ((t.kind == COLTYPE_VARCHAR && t.a) || t.kind == COLTYPE_CHAR ||
	    (is_timestamp(t.kind) && t.a != COLTYPE_SECOND))
		str_printf(s, "(%d)", t.a);
}

bool
coltype_equal(struct coltype x, struct coltype y)
{
	return x.kind == y.kind && x.a == y.a && x.b == y.b;
}

static struct coltype
choose_text_type(size_t longest)
{
	if (longest <= 50)
		return (struct coltype){COLTYPE_VARCHAR, 50, 0};
	if (longest <= 255)
		return (struct coltype){COLTYPE_VARCHAR, 255, 0};
	return (struct coltype){COLTYPE_TEXT, 0, 0};
}

static struct coltype
widen_number_type(struct coltype t, const struct coltype_summary *s)
{
	static const double most[] = {[COLTYPE_SMALLINT] = 32767,
	    [COLTYPE_INTEGER] = 2147483647,
	    [COLTYPE_BIGINT] = 9.2e18};

	if (t.kind == COLTYPE_NUMERIC) {
		if (t.a && (s->whole > t.a - t.b || s->decimals > t.b))
			t.a = t.b = 0;
		return t;
	}
	if (s->decimals || s->exponent)
		return (struct coltype){.kind = COLTYPE_NUMERIC};
	while (t.kind < COLTYPE_NUMERIC && s->largest > most[t.kind])
		t.kind++;
	return t;
}

struct coltype
coltype_choose(const struct coltype_summary *s)
{
	struct coltype t = {.kind = COLTYPE_INTEGER};

	switch (s->values) {
	case COLTYPE_BOOL:
		return (struct coltype){.kind = COLTYPE_BOOLEAN};
	case COLTYPE_NUMBER:
		if (s->decimals)
			t = (struct coltype){COLTYPE_NUMERIC, 15, 6};
		return widen_number_type(t, s);
	case COLTYPE_STRING:
		return choose_text_type(s->longest);
	default:
		t.kind =
		    s->values & COLTYPE_NESTED ? COLTYPE_JSONB : COLTYPE_TEXT;
		return t;
	}
}

static struct coltype
widen_time_type(struct coltype t, const struct coltype_summary *s)
{
	if (t.kind == COLTYPE_DATE && !s->with_clock)
		return t;
	if (t.kind == COLTYPE_DATE ||
	    (t.kind == COLTYPE_TIMESTAMP && s->offset))
		return (struct coltype){COLTYPE_TIMESTAMPTZ, COLTYPE_SECOND, 0};
	if (s->fraction > t.a)
		t.a = COLTYPE_SECOND;
	return t;
}

struct coltype
coltype_widen(struct coltype t, const struct coltype_summary *s)
{
	switch (t.kind) {
	case COLTYPE_SMALLINT:
	case COLTYPE_INTEGER:
	case COLTYPE_BIGINT:
	case COLTYPE_NUMERIC:
		return s->values & COLTYPE_NUMBER ? widen_number_type(t, s) : t;
	case COLTYPE_REAL:
		t.kind = s->not_float ? COLTYPE_DOUBLE : COLTYPE_REAL;
		return t;
	case COLTYPE_MONEY:
		t.kind = s->values & COLTYPE_NUMBER ? COLTYPE_NUMERIC : t.kind;
		return t;
	case COLTYPE_VARCHAR:
		return t.a && s->longest > (size_t)t.a
		    ? choose_text_type(s->longest)
		    : t;
	case COLTYPE_CHAR:
		if (s->longest > (size_t)t.a)
			return choose_text_type(s->longest);
		return s->blank_end ? choose_text_type((size_t)t.a) : t;
	case COLTYPE_NAME:
		return s->longest > COLTYPE_NAME_MAX
		    ? choose_text_type(s->longest)
		    : t;
	case COLTYPE_DATE:
	case COLTYPE_TIMESTAMP:
	case COLTYPE_TIMESTAMPTZ:
		return widen_time_type(t, s);
	default:
		return t;
	}
}

const char *
coltype_find_need(struct coltype t, enum coltype_value value, const char *text)
{
	int takes = find_type(t.kind)->takes;

	if (t.kind == COLTYPE_STRANGE)
		return "a value that runs do not have: its type is not "
		       "supported";
	if (takes == ANY ||
	    ((int)value == takes && (takes != TIME || coltype_is_time(text))))
		return NULL;
	return takes == BOOL  ? "true or false"
	    : takes == NUMBER ? "a number"
			      : "a time like 2026-03-02T08:00:00Z";
}

/* A numeric has two bytes for every four digits. */
size_t
coltype_bytes(struct coltype t, size_t len)
{
	size_t n = find_type(t.kind)->bytes;

	if (n)
		return n;
	n = t.kind == COLTYPE_NUMERIC ? 3 + 2 * ((len + 3) / 4 + 1) : len + 4;
	return n < COLTYPE_BYTES ? n : COLTYPE_BYTES;
}

bool
coltype_fits(struct coltype t, const struct coltype_summary *s)
{
	static const enum coltype_value all[] = {
	    COLTYPE_BOOL, COLTYPE_NUMBER, COLTYPE_STRING, COLTYPE_NESTED};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (s->values & all[i] &&
		    coltype_find_need(
			t, all[i], s->not_time ? "" : "2026-01-01"))
			return false;
	return true;
}

bool
coltype_rounds(struct coltype t, const struct coltype_summary *s)
{
	return is_timestamp(t.kind) && s->fraction > COLTYPE_SECOND;
}
