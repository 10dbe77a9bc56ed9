#include "coltype.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits before and behind the point of what json_append_num wrote. */
static void
digits(const char *text, int *whole, int *decimals, bool *exponent)
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
coltype_see(struct coltype_seen *s, enum coltype_value value, const char *text,
    double v)
{
	size_t n = strlen(text);
	int whole, decimals;
	bool exponent;

	s->values |= value;
	if (n > s->longest)
		s->longest = n;
	if (value == COLTYPE_STRING && !s->untimely)
		s->untimely = !coltype_is_time(text);
	if (value != COLTYPE_NUMBER)
		return;
	digits(text, &whole, &decimals, &exponent);
	if (whole > s->whole)
		s->whole = whole;
	if (decimals > s->decimals)
		s->decimals = decimals;
	if (fabs(v) > s->largest)
		s->largest = fabs(v);
	s->exponent |= exponent;
	s->finer |= (double)(float)v != v;
}

static const struct {
	enum coltype_kind kind;
	const char *ours, *theirs;
} names[] = {{COLTYPE_BOOLEAN, "BOOLEAN", "boolean"},
    {COLTYPE_SMALLINT, "SMALLINT", "smallint"},
    {COLTYPE_INTEGER, "INTEGER", "integer"},
    {COLTYPE_BIGINT, "BIGINT", "bigint"},
    {COLTYPE_NUMERIC, "NUMERIC", "numeric"}, {COLTYPE_REAL, "REAL", "real"},
    {COLTYPE_DOUBLE, "DOUBLE PRECISION", "double precision"},
    {COLTYPE_VARCHAR, "VARCHAR", "character varying"},
    {COLTYPE_TEXT, "TEXT", "text"},
    {COLTYPE_TIMESTAMPTZ, "TIMESTAMPTZ", "timestamp with time zone"},
    {COLTYPE_JSONB, "JSONB", "jsonb"}, {COLTYPE_JSON, "JSON", "json"}};
#define NAMES (sizeof names / sizeof *names)

struct coltype
coltype_parse(const char *name)
{
	struct coltype t = {.kind = COLTYPE_OTHER};
	size_t n = strcspn(name, "(");

	for (size_t i = 0; i < NAMES; i++) {
		if (strlen(names[i].theirs) != n ||
		    strncmp(names[i].theirs, name, n) != 0)
			continue;
		t.kind = names[i].kind;
		if (name[n] && sscanf(name + n, "(%d,%d)", &t.a, &t.b) < 1)
			t.kind = COLTYPE_OTHER;
	}
	return t;
}

void
coltype_print(struct str *s, struct coltype t)
{
	for (size_t i = 0; i < NAMES; i++)
		if (names[i].kind == t.kind)
			str_add(s, names[i].ours);
	if (t.kind == COLTYPE_NUMERIC && t.a)
		str_printf(s, "(%d,%d)", t.a, t.b);
	if (t.kind == COLTYPE_VARCHAR && t.a)
		str_printf(s, "(%d)", t.a);
}

bool
coltype_same(struct coltype x, struct coltype y)
{
	return x.kind == y.kind && x.a == y.a && x.b == y.b;
}

static struct coltype
of_text(size_t longest)
{
	if (longest <= 50)
		return (struct coltype){COLTYPE_VARCHAR, 50, 0};
	if (longest <= 255)
		return (struct coltype){COLTYPE_VARCHAR, 255, 0};
	return (struct coltype){COLTYPE_TEXT, 0, 0};
}

static struct coltype
of_numbers(struct coltype t, const struct coltype_seen *s)
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
coltype_fresh(const struct coltype_seen *s)
{
	struct coltype t = {.kind = COLTYPE_INTEGER};

	switch (s->values) {
	case COLTYPE_BOOL:
		return (struct coltype){.kind = COLTYPE_BOOLEAN};
	case COLTYPE_NUMBER:
		if (s->decimals)
			t = (struct coltype){COLTYPE_NUMERIC, 15, 6};
		return of_numbers(t, s);
	case COLTYPE_STRING:
		return of_text(s->longest);
	default:
		t.kind =
		    s->values & COLTYPE_NESTED ? COLTYPE_JSONB : COLTYPE_TEXT;
		return t;
	}
}

struct coltype
coltype_widen(struct coltype t, const struct coltype_seen *s)
{
	switch (t.kind) {
	case COLTYPE_SMALLINT:
	case COLTYPE_INTEGER:
	case COLTYPE_BIGINT:
	case COLTYPE_NUMERIC:
		return s->values & COLTYPE_NUMBER ? of_numbers(t, s) : t;
	case COLTYPE_REAL:
		t.kind = s->finer ? COLTYPE_DOUBLE : COLTYPE_REAL;
		return t;
	case COLTYPE_VARCHAR:
		return t.a && s->longest > (size_t)t.a ? of_text(s->longest)
						       : t;
	default:
		return t;
	}
}

static int
number(const char **s, int n)
{
	int v = 0;

	for (; n > 0; n--, (*s)++) {
		if (**s < '0' || **s > '9')
			return -1;
		v = v * 10 + **s - '0';
	}
	return v;
}

/* The zone: nothing, Z, +HH, +HHMM or +HH:MM. */
static bool
is_zone(const char *s)
{
	int hours, minutes = 0;

	if (!*s || strcmp(s, "Z") == 0)
		return true;
	if (*s != '+' && *s != '-')
		return false;
	s++;
	hours = number(&s, 2);
	if (hours < 0 || hours > 14)
		return false;
	if (*s == ':')
		s++;
	if (*s)
		minutes = number(&s, 2);
	return minutes >= 0 && minutes < 60 && !*s;
}

bool
coltype_is_time(const char *s)
{
	static const int days[] = {
	    31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = number(&s, 4), month, day, hour, minute, second;

	if (year < 1 || *s++ != '-')
		return false;
	month = number(&s, 2);
	if (month < 1 || month > 12 || *s++ != '-')
		return false;
	day = number(&s, 2);
	if (day < 1 || day > days[month - 1] ||
	    (month == 2 && day == 29 &&
		(year % 4 || (year % 100 == 0 && year % 400))))
		return false;
	if (!*s)
		return true;
	if (*s != 'T' && *s != ' ')
		return false;
	s++;
	hour = number(&s, 2);
	if (hour < 0 || hour > 23 || *s++ != ':')
		return false;
	minute = number(&s, 2);
	if (minute < 0 || minute > 59)
		return false;
	if (*s == ':') {
		s++;
		second = number(&s, 2);
		if (second < 0 || second > 59)
			return false;
		if (*s == '.')
			s += 1 + strspn(s + 1, "0123456789");
	}
	return is_zone(s);
}

const char *
coltype_wants(struct coltype t, enum coltype_value value, const char *text)
{
	switch (t.kind) {
	case COLTYPE_BOOLEAN:
		return value == COLTYPE_BOOL ? NULL : "true or false";
	case COLTYPE_SMALLINT:
	case COLTYPE_INTEGER:
	case COLTYPE_BIGINT:
	case COLTYPE_NUMERIC:
	case COLTYPE_REAL:
	case COLTYPE_DOUBLE:
		return value == COLTYPE_NUMBER ? NULL : "a number";
	case COLTYPE_TIMESTAMPTZ:
		if (value == COLTYPE_STRING && coltype_is_time(text))
			return NULL;
		return "a time like 2026-03-02T08:00:00Z";
	default:
		return NULL;
	}
}

bool
coltype_fits(struct coltype t, const struct coltype_seen *s)
{
	static const enum coltype_value all[] = {
	    COLTYPE_BOOL, COLTYPE_NUMBER, COLTYPE_STRING, COLTYPE_NESTED};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (s->values & all[i] &&
		    coltype_wants(t, all[i], s->untimely ? "" : "2026-01-01"))
			return false;
	return true;
}
