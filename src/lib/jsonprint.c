#include "jsonnode.h"
#include "str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
digits(char *end, uint64_t m)
{
	do
		*--end = (char)('0' + m % 10);
	while (m /= 10);
	return end;
}

/*
 * A number with few places, as %.15g has it: where m / 10^k is v and m has up
 * to 15 digits, they are what it prints. False: it has more.
 */
static bool
short_number(struct str *b, double v)
{
	static const double ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
	double a = fabs(v);
	char buf[24], *end = buf + sizeof buf, *s;

	if (!(a >= 1e-4 && a < 1e9))
		return false;
	for (size_t k = 1; k < sizeof ten / sizeof *ten; k++) {
		double m = nearbyint(a * ten[k]);

		if (m >= 1e15 || m / ten[k] != a)
			continue;
		/* The places, with a 1 before them that keeps their zeros. */
		s = digits(
		    end, (uint64_t)m % (uint64_t)ten[k] + (uint64_t)ten[k]);
		*s = '.';
		s = digits(s, (uint64_t)m / (uint64_t)ten[k]);
		if (v < 0)
			*--s = '-';
		str_addn(b, s, (size_t)(end - s));
		return true;
	}
	return false;
}

/* The shortest of two forms that reads back as the same number. */
void
json_append_num(struct str *b, double v)
{
	char buf[40], *end = buf + sizeof buf, *s;

	if (v == floor(v) && fabs(v) < 0x1p53) {
		s = digits(end, (uint64_t)fabs(v));
		if (v < 0) /* -0 is 0 */
			*--s = '-';
		str_addn(b, s, (size_t)(end - s));
		return;
	}
	if (short_number(b, v))
		return;
	snprintf(buf, sizeof buf, "%.15g", v);
	if (strtod(buf, NULL) != v)
		snprintf(buf, sizeof buf, "%.17g", v);
	str_add(b, buf);
}

static void
quoted(struct str *b, const char *s)
{
	static const char letters[] = "btn-fr"; /* of 8 to 13 */
	size_t plain;

	str_addc(b, '"');
	for (;; s++) {
		for (plain = 0; (unsigned char)s[plain] >= ' ' &&
		     s[plain] != '"' && s[plain] != '\\';
		     plain++)
			;
		str_addn(b, s, plain);
		s += plain;
		if (!*s)
			break;
		str_addc(b, '\\');
		if (*s == '"' || *s == '\\')
			str_addc(b, *s);
		else if (*s >= 8 && *s <= 13 && *s != 11)
			str_addc(b, letters[*s - 8]);
		else
			str_printf(b, "u%04x", (unsigned char)*s);
	}
	str_addc(b, '"');
}

static void add(struct str *, const struct json *, bool canonical);

static void
members(struct str *b, const struct json *j, bool canonical)
{
	const struct json *m = j->u.child;
	struct json **v = NULL;
	size_t n = 0;

	str_addc(b, '{');
	if (canonical)
		v = jsonnode_sorted(j, &n);
	for (size_t i = 0; v ? i < n : m != NULL; i++) {
		m = v ? v[i] : m;
		if (i)
			str_addc(b, ',');
		quoted(b, m->key);
		str_addc(b, ':');
		add(b, m, canonical);
		m = m->next;
	}
	free(v);
	str_addc(b, '}');
}

static void
elements(struct str *b, const struct json *j, bool canonical)
{
	str_addc(b, '[');
	if (j->packed)
		for (size_t i = 0; i < j->v.n; i++) {
			if (i)
				str_addc(b, ',');
			json_append_num(b, j->u.nums[i]);
		}
	else
		for (const struct json *m = j->u.child; m; m = m->next) {
			if (m != j->u.child)
				str_addc(b, ',');
			add(b, m, canonical);
		}
	str_addc(b, ']');
}

static void
add(struct str *b, const struct json *j, bool canonical)
{
	switch ((enum json_type)j->type) {
	case JSON_NUMBER:
		json_append_num(b, j->u.num);
		break;
	case JSON_STRING:
		quoted(b, j->u.str);
		break;
	case JSON_ARRAY:
		elements(b, j, canonical);
		break;
	case JSON_OBJECT:
		members(b, j, canonical);
		break;
	case JSON_BOOL:
		str_add(b, j->u.num != 0 ? "true" : "false");
		break;
	case JSON_NULL:
		str_add(b, "null");
	}
}

char *
json_print(const struct json *j)
{
	struct str b = {0};

	add(&b, j, false);
	return str_take(&b);
}

void
json_append(struct str *b, const struct json *j)
{
	add(b, j, false);
}

void
json_canonical(struct str *b, const struct json *j)
{
	add(b, j, true);
}
