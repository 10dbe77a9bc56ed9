#include "scan.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

/*
 * START must be 0: a zeroed struct begins a reply. APART is the same inside a
 * push message, and where values are reported: nothing is then skipped.
 */
enum state { START, TEXT, ERROR, NUMBER, SIGN, NIL, LF, PAYLOAD, APART };

enum { TOO_LONG = -2 };

static bool
is_string(const struct scan *s)
{
	return s->type == '$' || s->type == '=' || s->type == '!';
}

/* Returns the state in which an element begins. */
static uint8_t
get_start(const struct scan *s)
{
	return s->pushed || s->value ? APART : START;
}

void
scan_tell_values(struct scan *s, scan_value_fn *value)
{
	s->value = value;
	s->state = get_start(s);
}

/* Is it a string that is reported, neither an error nor in a push message? */
static bool
is_told(const struct scan *s)
{
	return s->value && !s->pushed && s->type == '$';
}

static ptrdiff_t
explain_error(struct scan *s, int wrong, const char *p)
{
	if (wrong == TOO_LONG)
		snprintf(s->line, sizeof s->line,
		    "it announces more than %llu %s ('%c%llu...')",
		    (unsigned long long)(is_string(s) ? SCAN_BYTES_MOST
						      : SCAN_ELEMENTS_MOST),
		    is_string(s) ? "bytes in a string" : "elements", s->type,
		    (unsigned long long)s->number);
	else
		snprintf(s->line, sizeof s->line, "unexpected byte '\\x%02x'",
		    (unsigned)(unsigned char)*p);
	return -1;
}

/*
 * Reads the number after the type byte if its whole line is at hand. Returns
 * the end of the line, or NULL if scan_byte has to read it.
 */
static const char *
scan_number(const char *p, const char *end, uint64_t *v)
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

static void
add_miss(struct scan *s, struct scan_counters *t, bool zero, void *arg)
{
	t->misses++;
	if (s->missed)
		s->missed(arg, t->replies, zero);
}

/*
 * Scans an element of a common kind that is whole in p..end. Returns its end,
 * or p if scan_byte has to read it.
 */
static const char *
scan_element(struct scan *s, const char *p, const char *end,
    struct scan_counters *t, void *arg)
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
		q = scan_number(p, end, &n);
		if (!q || n > SCAN_BYTES_MOST || (uint64_t)(end - q) < n + 2 ||
		    q[n] != '\r' || q[n + 1] != '\n')
			return p;
		s->left--;
		return q + n + 2;
	case ':':
		q = scan_number(p, end, &n);
		if (!q)
			return p;
		if (n == 0 && s->zero_miss)
			add_miss(s, t, true, arg);
		s->left--;
		return q;
	case '*':
		q = scan_number(p, end, &n);
		if (!q || n == 0 || n > SCAN_ELEMENTS_MOST ||
		    s->left > SCAN_ELEMENTS_MOST)
			return p;
		s->left += n - 1;
		s->inside = true;
		return q;
	}
	return p;
}

/* A complete bulk reply of eight bytes or more, with which others are compared.
 */
struct model {
	const char *first;
	size_t whole, head;   /* bytes of it, and of its first line */
	uint64_t start, mask; /* the line, or its first eight bytes */
};

static inline uint64_t
load_start(const char *p, uint64_t mask)
{
	uint64_t x;

	memcpy(&x, p, sizeof x);
	return le64toh(x) & mask;
}

/* Does a complete reply begin at p whose first line equals that of the model?
 */
static inline bool
is_alike(const struct model *m, const char *p, const char *end)
{
	return (size_t)(end - p) >= m->whole &&
	    load_start(p, m->mask) == m->start &&
	    (m->head <= 8 || memcmp(p, m->first, m->head) == 0) &&
	    p[m->whole - 2] == '\r' && p[m->whole - 1] == '\n';
}

/*
 * Skips bulk replies like the model, and +OK between them. Returns the end of
 * the last. Apart from skip_same_bulks, whose loop is faster alone.
 */
__attribute__((noinline)) static const char *
skip_bulks_and_oks(struct model m, const char *p, const char *end,
    uint32_t want, struct scan_counters *t)
{
	for (; t->replies < want; t->replies++)
		if (is_alike(&m, p, end))
			p += m.whole;
		else if (end - p >= 5 && memcmp(p, "+OK\r\n", 5) == 0)
			p += 5;
		else
			break;
	return p;
}

/*
 * Skips bulk replies like the one before, comparing their first line instead of
 * parsing it. Returns the end of the last.
 */
static const char *
skip_same_bulks(const char *first, const char *p, const char *end,
    uint32_t want, struct scan_counters *t)
{
	struct model m = {.first = first, .whole = (size_t)(p - first)};
	const char *payload = memchr(first, '\n', m.whole);

	if (!payload || m.whole < 8)
		return p;
	m.head = (size_t)(payload + 1 - first);
	m.mask = m.head < 8 ? ((uint64_t)1 << 8 * m.head) - 1 : UINT64_MAX;
	m.start = load_start(first, m.mask);
	for (; t->replies < want && is_alike(&m, p, end); t->replies++)
		p += m.whole;
	return p < end && *p == '+' ? skip_bulks_and_oks(m, p, end, want, t)
				    : p;
}

/* Skips +OK replies. Returns the end of the last. */
static const char *
skip_oks(const char *p, const char *end, uint32_t want, struct scan_counters *t)
{
	while (
	    end - p >= 5 && t->replies < want && memcmp(p, "+OK\r\n", 5) == 0) {
		p += 5;
		t->replies++;
	}
	return p;
}

static int
scan_type(struct scan *s, char c)
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

static int
add_elements(struct scan *s, uint64_t n)
{
	s->left += n;
	return s->left > SCAN_ELEMENTS_MOST * 2 ? TOO_LONG : 0;
}

/* Begins a push message; saves the state of the reply that it interrupts. */
static void
begin_push(struct scan *s)
{
	s->outer = s->left == 1 && !s->inside ? 0 : s->left;
	s->left = s->number;
	s->pushed = true;
	s->state = APART;
}

/* Begins an array, map, set, attribute or push message. */
static int
begin_aggregate(struct scan *s, bool nil, struct scan_counters *t, void *arg)
{
	switch (s->type) {
	case '>':
		if (nil || s->pushed)
			return -1;
		begin_push(s);
		return 0;
	case '|': /* the reply that it belongs to follows */
		return nil ? -1 : add_elements(s, s->number * 2);
	}
	if (!s->pushed) {
		if (nil || (s->number == 0 && !s->inside))
			add_miss(s, t, false, arg);
		s->inside = true;
	}
	s->left--;
	return nil ? 0 : add_elements(s, s->number << (s->type == '%'));
}

/* Is the nil that was just read a whole reply that is to be reported? */
static bool
is_whole_nil(const struct scan *s)
{
	return s->tell_nil && !s->pushed && s->left == 1 && !s->inside;
}

/* Handles the end of a line. */
static int
end_line(
    struct scan *s, struct scan_counters *t, scan_error_fn *error, void *arg)
{
	bool nil = s->state == NIL;

	s->state = get_start(s);
	switch (s->type) {
	case '-':
		s->line[s->nline] = '\0';
		if (!s->pushed)
			error(arg, s->line, t->replies);
		break;
	case ':':
		if (!nil && s->number == 0 && s->zero_miss && !s->pushed)
			add_miss(s, t, true, arg);
		break;
	case '_':
		if (!s->pushed)
			add_miss(s, t, false, arg);
		if (is_whole_nil(s))
			error(arg, SCAN_NIL, t->replies);
		break;
	case '!':
		if (!s->pushed)
			error(arg, "ERR in a bulk string", t->replies);
		/* fall through */
	case '=':
	case '$':
		if (nil && !s->pushed)
			add_miss(s, t, false, arg);
		if (nil)
			break;
		s->skip = s->number + 2;
		s->state = PAYLOAD;
		if (!s->number && is_told(s))
			s->value(arg, t->replies, "", 0, 0);
		return 0;
	case '>':
	case '|':
	case '*':
	case '~':
	case '%':
		if (nil && is_whole_nil(s))
			error(arg, SCAN_NIL, t->replies);
		return begin_aggregate(s, nil, t, arg);
	}
	s->left--;
	return 0;
}

static int
scan_digit(struct scan *s, char c)
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
	if (s->number > (is_string(s) ? SCAN_BYTES_MOST : SCAN_ELEMENTS_MOST))
		return TOO_LONG;
	return 0;
}

static int
scan_byte(struct scan *s, char c, struct scan_counters *t, scan_error_fn *error,
    void *arg)
{
	switch (s->state) {
	case START:
	case APART:
		return scan_type(s, c);
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
		return scan_digit(s, c);
	case LF:
		if (c != '\n')
			return -1;
		if (s->type & 0x80) {
			s->type &= 0x7f;
			s->state = NIL;
		}
		return end_line(s, t, error, arg);
	case PAYLOAD: /* its CR, LF */
		if (c != (s->skip == 2 ? '\r' : '\n'))
			return -1;
		if (--s->skip == 0) {
			s->state = get_start(s);
			s->left--;
		}
		return 0;
	}
	return -1;
}

/* Ends a reply or a push message when no element of it is left. */
static void
end_reply(
    struct scan *s, struct scan_counters *t, struct scan_counters *counters)
{
	if (!s->pushed) {
		t->replies++;
		return;
	}
	counters->pushes++;
	s->pushed = false;
	s->state = get_start(s);
	s->left = s->outer;
}

ptrdiff_t
scan_feed(struct scan *s, const char *p, size_t n, uint32_t want,
    struct scan_counters *counters, scan_error_fn *error, void *arg)
{
	const char *start = p, *end = p + n, *q;
	struct scan_counters t = {0};
	uint64_t jump;
	int wrong;

	while (p < end && (t.replies < want || s->left || *p == '>')) {
		if (s->left == 0) {
			s->left = 1;
			s->inside = false;
		}
		if (s->state == START) {
			q = scan_element(s, p, end, &t, arg);
			if (q != p && s->left == 0) {
				t.replies++;
				if (*p == '+')
					p = skip_oks(q, end, want, &t);
				else if (*p == '$' && !s->inside)
					p = skip_same_bulks(
					    p, q, end, want, &t);
				else
					p = q;
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
			if (is_told(s))
				s->value(arg, t.replies, p, jump, s->skip - 2);
			p += jump;
			continue;
		}
		wrong = scan_byte(s, *p, &t, error, arg);
		if (wrong < 0)
			return explain_error(s, wrong, p);
		p++;
		if (s->left == 0)
			end_reply(s, &t, counters);
	}
	counters->replies += t.replies;
	counters->misses += t.misses;
	return p - start;
}
