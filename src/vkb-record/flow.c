#include "flow.h"
#include "mem.h"
#include "num.h"
#include "recorder.h"
#include "str.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define LINE_MOST 65536      /* of a line */
#define HELD_MOST 1024       /* segments that wait for an earlier one */
#define HELD_BYTES (4 << 20) /* the same, in bytes */

struct held {
	uint32_t seq;
	size_t n;
	char *data;
	uint64_t us;
};

struct flow {
	char *address;
	long conn; /* of the trace; -1: not yet */
	unsigned db;
	bool synced;       /* 'next' is known, and where commands begin */
	uint32_t next;     /* sequence number */
	struct held *held; /* in order */
	size_t nheld, held_cap, held_bytes;
	struct str bytes;  /* from the begin of a command on */
	size_t at;         /* of them, those that were parsed */
	size_t want, have; /* words of the command; want 0: it has not begun */
	struct tracefile_word *words;
	size_t *places; /* where the words are in 'bytes', which moves */
	size_t words_cap, places_cap;
};

struct flow *
flow_new(const char *address)
{
	struct flow *f = mem_new(sizeof *f);

	f->address = mem_str(address);
	f->conn = -1;
	return f;
}

/* Forgets the command that has begun. */
static void
drop_bytes(struct flow *f)
{
	str_clear(&f->bytes);
	f->at = f->want = f->have = 0;
}

static void
add_word(struct flow *f, size_t at, size_t n)
{
	f->words = mem_grow(f->words, f->have, &f->words_cap, sizeof *f->words);
	f->places =
	    mem_grow(f->places, f->have, &f->places_cap, sizeof *f->places);
	f->words[f->have].n = n;
	f->places[f->have++] = at;
}

/* Records the command whose words are complete, and drops its bytes. */
static int
end_command(struct flow *f, uint64_t us, struct recorder *r)
{
	size_t n = f->have, left = f->bytes.len - f->at;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		f->words[i].s = f->bytes.s + f->places[i];
	if (n && f->words[0].n) {
		if (f->conn < 0)
			f->conn = recorder_find_conn(
			    r, f->address, strlen(f->address), true);
		recorder_select(f->words, n, &f->db);
		rc = f->conn < 0
		    ? -1
		    : recorder_add(r, us, f->conn, f->db, false, f->words, n);
	}
	f->want = f->have = 0;
	if (left < f->at) { /* else it is dropped later, with more */
		memmove(f->bytes.s, f->bytes.s + f->at, left);
		f->bytes.len = left;
		f->at = 0;
	}
	return rc;
}

/* Reads "MARK number". Returns false if it is not one up to 'most'. */
static bool
read_number(const char *line, size_t n, char mark, long long most, size_t *to)
{
	char text[24];
	long long v;

	if (!n || *line != mark || n > sizeof text)
		return false;
	memcpy(text, line + 1, n - 1);
	text[n - 1] = '\0';
	if (num_int(text, &v) < 0 || v < 0 || v > most)
		return false;
	*to = (size_t)v;
	return true;
}

/* Takes the words of a command without lengths, as people type them. */
static bool
read_inline(struct flow *f, size_t at, size_t n)
{
	const char *s = f->bytes.s + at;
	size_t i = 0, from;

	for (; i < n; i++)
		if ((unsigned char)s[i] < ' ' || s[i] == '"' || s[i] == '\'' ||
		    (unsigned char)s[i] > 126)
			return false;
	for (i = 0; i < n;) {
		from = i;
		while (i < n && s[i] != ' ')
			i++;
		if (i > from)
			add_word(f, at + from, i - from);
		while (i < n && s[i] == ' ')
			i++;
	}
	return true;
}

/* Takes the line at f->at, of n bytes, with 'end' bytes more at its end.
 * Returns 1; 0 if bytes are missing; -1 if it is not a part of a command. */
static int
take_line(struct flow *f, size_t n, size_t end)
{
	const char *line = f->bytes.s + f->at;
	size_t word, at = f->at + n + end;

	if (!f->want) {
		if (*line != '*') {
			if (!read_inline(f, f->at, n))
				return -1;
			f->want = f->have;
		} else if (!read_number(
			       line, n, '*', TRACEFILE_WORDS_MOST, &f->want))
			return -1;
		f->at = at;
		return 1;
	}
	if (!read_number(line, n, '$', TRACEFILE_BYTES_MOST, &word) ||
	    at + word > TRACEFILE_COMMAND_MOST)
		return -1;
	if (f->bytes.len < at + word + 2)
		return 0;
	if (memcmp(f->bytes.s + at + word, "\r\n", 2) != 0)
		return -1;
	add_word(f, at, word);
	f->at = at + word + 2;
	return 1;
}

/* Records all complete commands. Returns 0; 1 if there is something else. */
static int
parse_bytes(struct flow *f, uint64_t us, struct recorder *r,
    struct flow_counts *counts, int *rc)
{
	const char *line, *lf;
	size_t left, n;
	int k;

	while (*rc == 0 && (left = f->bytes.len - f->at) > 0) {
		line = f->bytes.s + f->at;
		lf = memchr(line, '\n', left < LINE_MOST ? left : LINE_MOST);
		if (!lf)
			return left >= LINE_MOST;
		n = (size_t)(lf - line);
		k = n && lf[-1] == '\r' ? 2 : 1;
		k = take_line(f, n + 1 - (size_t)k, (size_t)k);
		if (k <= 0)
			return k < 0;
		if (f->have == f->want) {
			counts->commands += f->want > 0;
			*rc = end_command(f, us, r);
		}
	}
	return 0;
}

/* Commands begin anew behind what is missing or not understood. */
static void
lose_track(struct flow *f, size_t *count)
{
	++*count;
	f->synced = false;
	drop_bytes(f);
}

/* Takes the next data of the stream. */
static int
take_data(struct flow *f, const char *data, size_t n, uint64_t us,
    struct recorder *r, struct flow_counts *counts)
{
	int rc = 0;

	f->next += (uint32_t)n;
	str_addn(&f->bytes, data, n);
	if (parse_bytes(f, us, r, counts, &rc))
		lose_track(f, &counts->broken);
	return rc;
}

/* Keeps a segment that arrived before its predecessor, in order. */
static void
hold_segment(
    struct flow *f, uint32_t seq, const char *data, size_t n, uint64_t us)
{
	size_t i;

	f->held = mem_grow(f->held, f->nheld, &f->held_cap, sizeof *f->held);
	for (i = f->nheld; i && (int32_t)(f->held[i - 1].seq - seq) > 0; i--)
		f->held[i] = f->held[i - 1];
	f->held[i] = (struct held){seq, n, mem_strn(data, n), us};
	f->nheld++;
	f->held_bytes += n;
}

/* Takes a segment, if it is not too early; a part of it may be known. */
static int
take_segment(struct flow *f, uint32_t seq, const char *data, size_t n,
    uint64_t us, struct recorder *r, struct flow_counts *counts)
{
	size_t known;

	if (!f->synced && n > 1 && *data == '*' && data[1] >= '0' &&
	    data[1] <= '9') {
		f->synced = true;
		f->next = seq;
	}
	if (!f->synced)
		return 0;
	known = f->next - seq;
	return known < n ? take_data(f, data + known, n - known, us, r, counts)
			 : 0;
}

/* Takes the segments that waited for one that came at 'us'; 0: it will not, so
 * all of them are taken. */
static int
take_held(
    struct flow *f, uint64_t us, struct recorder *r, struct flow_counts *counts)
{
	struct held *h;
	size_t i = 0;
	int rc = 0;

	for (; i < f->nheld && rc == 0; i++) {
		h = &f->held[i];
		if (f->synced && (int32_t)(h->seq - f->next) > 0) {
			if (us)
				break;
			lose_track(f, &counts->gaps);
		}
		rc = take_segment(
		    f, h->seq, h->data, h->n, us ? us : h->us, r, counts);
		f->held_bytes -= h->n;
		free(h->data);
	}
	f->nheld -= i;
	if (f->nheld)
		memmove(f->held, f->held + i, f->nheld * sizeof *f->held);
	return rc;
}

int
flow_add(struct flow *f, const struct flow_segment *s, uint64_t us,
    struct recorder *r, struct flow_counts *counts)
{
	int rc = 0;

	if (s->begins) {
		if (f->synced && s->seq + 1 == f->next)
			return 0; /* it was sent again */
		rc = take_held(f, 0, r, counts);
		drop_bytes(f);
		f->conn = -1;
		f->db = 0;
		f->synced = true;
		f->next = s->seq + 1;
		return rc;
	}
	if (!s->n && !s->missing)
		return 0;
	if (f->synced && (int32_t)(s->seq - f->next) > 0) {
		hold_segment(f, s->seq, s->data, s->n, us);
		return f->nheld > HELD_MOST || f->held_bytes > HELD_BYTES
		    ? take_held(f, 0, r, counts)
		    : 0;
	}
	rc = take_segment(f, s->seq, s->data, s->n, us, r, counts);
	if (s->missing)
		lose_track(f, &counts->gaps);
	return rc < 0 || !f->nheld ? rc : take_held(f, us, r, counts);
}

int
flow_end(struct flow *f, struct recorder *r, struct flow_counts *counts)
{
	int rc = take_held(f, 0, r, counts);

	counts->cut += f->want || f->bytes.len > f->at;
	free(f->held);
	free(f->address);
	str_free(&f->bytes);
	free(f->words);
	free(f->places);
	free(f);
	return rc;
}

#define TCP 6

/* What is left of a packet. */
struct rest {
	const unsigned char *p;
	size_t n;       /* captured */
	size_t missing; /* bytes behind these, which were not captured */
};

static unsigned
read_u16(const unsigned char *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t
read_u32(const unsigned char *p)
{
	return (uint32_t)read_u16(p) << 16 | read_u16(p + 2);
}

static bool
skip_bytes(struct rest *r, size_t n)
{
	if (r->n < n)
		return false;
	r->p += n;
	r->n -= n;
	return true;
}

/* Leaves 'whole' bytes: what is behind them is padding. 0: all. */
static void
cut_rest(struct rest *r, size_t whole)
{
	if (!whole)
		return;
	r->missing = whole > r->n ? whole - r->n : 0;
	r->n = whole < r->n ? whole : r->n;
}

static bool
skip_ethernet(struct rest *r)
{
	unsigned type;

	if (!skip_bytes(r, 14))
		return false;
	type = read_u16(r->p - 2);
	while (type == 0x8100 || type == 0x88a8) { /* VLANs */
		if (!skip_bytes(r, 4))
			return false;
		type = read_u16(r->p - 2);
	}
	return type == 0x0800 || type == 0x86dd;
}

static bool
skip_link(struct rest *r, enum flow_link link)
{
	static const size_t sizes[] = {
	    [FLOW_LOOPBACK] = 4, [FLOW_COOKED] = 16, [FLOW_COOKED2] = 20};

	if (link == FLOW_ETHERNET)
		return skip_ethernet(r);
	return skip_bytes(r, link == FLOW_IP ? 0 : sizes[link]);
}

static bool
parse_ipv4(struct rest *r, struct flow_segment *s)
{
	const unsigned char *p = r->p;
	size_t head = (size_t)(*p & 15) * 4, whole;

	if (r->n < 20 || head < 20 || p[9] != TCP || read_u16(p + 6) & 0x3fff)
		return false;
	whole = read_u16(p + 2); /* 0: the kernel had not split it yet */
	if (whole && whole < head)
		return false;
	s->family = AF_INET;
	s->from = p + 12;
	s->to = p + 16;
	cut_rest(r, whole);
	return skip_bytes(r, head);
}

/* Passes over hop-by-hop options, routing and destination options. */
static bool
parse_ipv6(struct rest *r, struct flow_segment *s)
{
	const unsigned char *p = r->p;
	unsigned next;

	if (r->n < 40)
		return false;
	next = p[6];
	s->family = AF_INET6;
	s->from = p + 8;
	s->to = p + 24;
	cut_rest(r, read_u16(p + 4) ? 40 + read_u16(p + 4) : 0);
	skip_bytes(r, 40);
	while (next == 0 || next == 43 || next == 60) {
		if (r->n < 8)
			return false;
		next = r->p[0];
		if (!skip_bytes(r, ((size_t)r->p[1] + 1) * 8))
			return false;
	}
	return next == TCP;
}

bool
flow_parse(struct flow_segment *s, enum flow_link link,
    const unsigned char *bytes, size_t n)
{
	struct rest r = {bytes, n, 0};
	const unsigned char *p;
	size_t head;

	if (!skip_link(&r, link) || !r.n)
		return false;
	if (*r.p >> 4 == 4 ? !parse_ipv4(&r, s)
			   : *r.p >> 4 != 6 || !parse_ipv6(&r, s))
		return false;
	p = r.p;
	if (r.n < 20)
		return false;
	head = (size_t)(p[12] >> 4) * 4;
	if (head < 20 || !skip_bytes(&r, head))
		return false;
	s->from_port = read_u16(p);
	s->to_port = read_u16(p + 2);
	s->seq = read_u32(p + 4);
	s->begins = p[13] & 2;
	s->data = (const char *)r.p;
	s->n = r.n;
	s->missing = r.missing;
	return true;
}
