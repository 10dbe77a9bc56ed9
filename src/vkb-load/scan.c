#include "scan.h"

#include <stdio.h>
#include <string.h>

/* START must be 0: a zeroed struct begins a reply. */
enum state { START, TEXT, ERROR, NUMBER, SIGN, NIL, LF, PAYLOAD };

#define LONGEST (UINT64_C(1) << 40) /* of a payload, an array */

static ptrdiff_t
bad(struct scan *s, const char *what, const char *p)
{
	snprintf(s->line, sizeof s->line, "%s '\\x%02x'", what,
	    (unsigned)(unsigned char)*p);
	return -1;
}

/*
 * The number after the type byte, where its whole line is at hand: the end of
 * the line, or NULL, which leaves the work to the careful path.
 */
static const char *
quick_number(const char *p, const char *end, uint64_t *v)
{
	const char *stop = end - p > 14 ? p + 14 : end;
	uint64_t n = 0;
	const char *start = ++p;

	for (; p < stop && (unsigned)(*p - '0') < 10; p++)
		n = n * 10 + (unsigned)(*p - '0');
	if (p == start || end - p < 2 || p[0] != '\r' || p[1] != '\n')
		return NULL;
	*v = n;
	return p + 2;
}

/*
 * One element that lies whole in p..end, of the common kinds: its end; or p
 * when the careful path has to look at it.
 */
static const char *
quick(struct scan *s, const char *p, const char *end, struct scan_tally *t)
{
	const char *q;
	uint64_t n;

	switch (*p) {
	case '+':
		if (end - p >= 5 && memcmp(p + 1, "OK\r\n", 4) == 0) {
			s->left--;
			return p + 5;
		}
		for (q = p + 1; q < end && *q != '\r' && *q != '\n'; q++)
			continue;
		if (end - q < 2 || q[0] != '\r' || q[1] != '\n')
			return p;
		s->left--;
		return q + 2;
	case '$':
		q = quick_number(p, end, &n);
		if (!q || n > LONGEST || (uint64_t)(end - q) < n + 2 ||
		    q[n] != '\r' || q[n + 1] != '\n')
			return p;
		s->left--;
		return q + n + 2;
	case ':':
		q = quick_number(p, end, &n);
		if (!q)
			return p;
		t->misses += n == 0 && s->zero_miss;
		s->left--;
		return q;
	case '*':
		q = quick_number(p, end, &n);
		if (!q || n == 0 || n > LONGEST || s->left > LONGEST)
			return p;
		s->left += n - 1;
		s->inside = true;
		return q;
	}
	return p;
}

/*
 * A run of replies that are alike, as reads of one size give: what follows a
 * bulk reply is compared with its first line, not parsed. The end of the run.
 */
static const char *
alike(const char *first, const char *p, const char *end, uint32_t want,
    struct scan_tally *t)
{
	size_t whole = (size_t)(p - first), head;
	const char *payload = memchr(first, '\n', whole);

	if (!payload || whole < 8)
		return p;
	head = (size_t)(payload + 1 - first);
	while ((size_t)(end - p) >= whole && t->replies < want &&
	    memcmp(p, first, head) == 0 && p[whole - 2] == '\r' &&
	    p[whole - 1] == '\n') {
		p += whole;
		t->replies++;
	}
	return p;
}

static int
type_byte(struct scan *s, char c)
{
	s->type = c;
	s->number = 0;
	s->nline = 0;
	switch (c) {
	case '+':
	case '_':
	case '#':
	case ',':
	case '(':
		s->state = TEXT;
		return 0;
	case '-':
		s->state = ERROR;
		return 0;
	case ':':
	case '$':
	case '*':
	case '=':
	case '!':
	case '%':
	case '~':
	case '>':
	case '|':
		s->state = SIGN;
		return 0;
	}
	return -1;
}

/* The line has ended. */
static int
line_end(struct scan *s, struct scan_tally *t, scan_error_fn *error, void *arg)
{
	bool nil = s->state == NIL;

	s->state = START;
	switch (s->type) {
	case '-':
		s->line[s->nline] = '\0';
		error(arg, s->line, t->replies);
		break;
	case ':':
		t->misses += !nil && s->number == 0 && s->zero_miss;
		break;
	case '_':
		t->misses++;
		break;
	case '!':
		error(arg, "ERR in a bulk string", t->replies);
		/* fall through */
	case '=':
	case '$':
		if (nil) {
			t->misses++;
			break;
		}
		s->skip = s->number + 2;
		s->state = PAYLOAD;
		return 0;
	case '>': /* what follows is no part of the reply, and */
	case '|': /* belongs to it: it is yet to come */
		if (nil)
			return -1;
		s->left += 1 + s->number * (s->type == '|' ? 2 : 1);
		if (s->left > LONGEST * 2)
			return -1;
		break;
	case '*':
	case '~':
	case '%':
		if (nil || (s->number == 0 && !s->inside))
			t->misses++;
		s->inside = true;
		if (nil)
			break;
		s->left += s->number * (s->type == '%' ? 2 : 1);
		if (s->left > LONGEST * 2)
			return -1;
		break;
	}
	s->left--;
	return 0;
}

static int
number_byte(struct scan *s, char c)
{
	if (s->state == SIGN && c == '-') {
		s->state = NIL; /* or a negative integer */
		return 0;
	}
	if (c == '\r' && s->state != SIGN && (s->state != NIL || s->number)) {
		if (s->state == NIL && s->type != ':' && s->number != 1)
			return -1;
		s->type = (char)(s->type | (s->state == NIL ? 0x80 : 0));
		s->state = LF;
		return 0;
	}
	if ((unsigned)(c - '0') >= 10)
		return -1;
	if (s->state == SIGN)
		s->state = NUMBER;
	if (s->type == ':') {
		s->number = s->number * 10 + (unsigned)(c - '0');
		if (++s->nline > 20)
			return -1;
		return 0;
	}
	s->number = s->number * 10 + (unsigned)(c - '0');
	return s->number > LONGEST ? -1 : 0;
}

static int
careful(struct scan *s, char c, struct scan_tally *t, scan_error_fn *error,
    void *arg)
{
	switch (s->state) {
	case START:
		return type_byte(s, c);
	case TEXT:
		if (c == '\r')
			s->state = LF;
		return c == '\n' ? -1 : 0;
	case ERROR:
		if (c == '\r')
			s->state = LF;
		else if (s->nline < sizeof s->line - 1)
			s->line[s->nline++] = c;
		return c == '\n' ? -1 : 0;
	case SIGN:
	case NUMBER:
	case NIL:
		return number_byte(s, c);
	case LF:
		if (c != '\n')
			return -1;
		if (s->type & 0x80) {
			s->type &= 0x7f;
			s->state = NIL;
		}
		return line_end(s, t, error, arg);
	case PAYLOAD: /* its CR, LF */
		if (c != (s->skip == 2 ? '\r' : '\n'))
			return -1;
		if (--s->skip == 0) {
			s->state = START;
			s->left--;
		}
		return 0;
	}
	return -1;
}

ptrdiff_t
scan_feed(struct scan *s, const char *p, size_t n, uint32_t want,
    struct scan_tally *tally, scan_error_fn *error, void *arg)
{
	const char *start = p, *end = p + n, *q;
	struct scan_tally t = {0};
	uint64_t jump;

	while (p < end && t.replies < want) {
		if (s->left == 0) {
			s->left = 1;
			s->inside = false;
		}
		if (s->state == START) {
			q = quick(s, p, end, &t);
			if (q != p && s->left == 0) {
				t.replies++;
				p = *p == '$' && !s->inside
				    ? alike(p, q, end, want, &t)
				    : q;
				continue;
			}
			if (q != p) {
				p = q;
				continue;
			}
		}
		if (s->state == PAYLOAD && s->skip > 2) {
			jump = s->skip - 2;
			if (jump > (uint64_t)(end - p))
				jump = (uint64_t)(end - p);
			s->skip -= jump;
			p += jump;
			continue;
		}
		if (careful(s, *p, &t, error, arg) < 0)
			return bad(s, "unexpected byte", p);
		p++;
		t.replies += s->left == 0;
	}
	tally->replies += t.replies;
	tally->misses += t.misses;
	return p - start;
}
