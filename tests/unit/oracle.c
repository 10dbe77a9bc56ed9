/*
 * The reply scanner against hiredis. In streams of random RESP2, and RESP3 with
 * push messages if hiredis knows it, both find the same replies, errors and
 * missing elements, whole and cut anywhere. In streams with one wrong byte both
 * find the same number of replies.
 */
#include "tap.h"

#include "rng.h"
#include "str.h"
#include "vkb-load/engine/scan.h"

#include <hiredis.h>
#include <stdlib.h>

#define STREAMS 3000
#define REPLIES 12 /* replies of a stream */
#define DEPTH 4

#ifdef REDIS_REPLY_MAP
static const bool resp3 = true;
#else
static const bool resp3 = false;
#define REDIS_REPLY_MAP (-1)
#define REDIS_REPLY_SET (-2)
#define REDIS_REPLY_PUSH (-3)
#endif

struct seen {
	uint32_t replies, misses, pushes, errors;
	unsigned long long lines; /* a hash of all error lines */
	bool wrong;
	bool inner; /* a push message is inside a reply */
};

static void
add_line(struct seen *s, const char *line, size_t n)
{
	s->errors++;
	s->lines = str_hash(s->lines ? s->lines : STR_HASH, line, n);
}

/* --- hiredis */

static void
count_element(const redisReply *r, bool top, struct seen *s)
{
	switch (r->type) {
	case REDIS_REPLY_ERROR:
		add_line(s, r->str, r->len);
		break;
	case REDIS_REPLY_NIL:
		s->misses++;
		break;
	case REDIS_REPLY_PUSH:
		s->inner |= !top;
		break;
	case REDIS_REPLY_ARRAY:
	case REDIS_REPLY_MAP:
	case REDIS_REPLY_SET:
		s->misses += top && r->elements == 0;
		for (size_t i = 0; i < r->elements; i++)
			count_element(r->element[i], false, s);
	}
}

static struct seen
read_by_hiredis(const struct str *text)
{
	redisReader *reader = redisReaderCreate();
	struct seen s = {0};
	void *p = NULL;
	redisReply *r;

	redisReaderFeed(reader, text->s, text->len);
	while (redisReaderGetReply(reader, &p) == REDIS_OK && p) {
		r = p;
		if (r->type == REDIS_REPLY_PUSH)
			s.pushes++;
		else
			s.replies++;
		count_element(r, true, &s);
		freeReplyObject(r);
	}
	s.wrong = reader->err != 0;
	redisReaderFree(reader);
	return s;
}

/* --- the scanner */

static void
take_error(void *arg, const char *line, uint32_t nth)
{
	(void)nth;
	add_line(arg, line, strlen(line));
}

/* Scans the text in pieces of at most 'most' bytes. */
static struct seen
read_by_scanner(const struct str *text, struct rng *rng, size_t most)
{
	struct scan scan = {0};
	struct scan_counters t = {0};
	struct seen s = {0};
	size_t at = 0, n;

	while (at < text->len && !s.wrong) {
		n = 1 + (size_t)rng_below(rng, most);
		n = n < text->len - at ? n : text->len - at;
		s.wrong = scan_feed(&scan, text->s + at, n, UINT32_MAX, &t,
			      take_error, &s) != (ptrdiff_t)n;
		at += n;
	}
	s.replies = t.replies;
	s.misses = t.misses;
	s.pushes = t.pushes;
	return s;
}

/* --- random replies */

static void
write_payload(struct str *to, struct rng *rng, const char *start)
{
	size_t n = (size_t)rng_below(rng, rng_below(rng, 4) ? 20 : 3000);

	str_printf(to, "%zu\r\n%s", strlen(start) + n, start);
	for (; n; n--)
		str_addc(to, "ab\r\n$*+-:0"[rng_below(rng, 10)]);
	str_add(to, "\r\n");
}

static void write_element(struct str *, struct rng *, int depth);

static void
write_elements(struct str *to, struct rng *rng, char type, int depth)
{
	uint64_t n = rng_below(rng, 5);

	str_printf(to, "%c%d\r\n", type, (int)n);
	for (n *= type == '%' ? 2 : 1; n; n--)
		write_element(to, rng, depth + 1);
}

static void
write_element(struct str *to, struct rng *rng, int depth)
{
	static const char *const plain[] = {"+OK\r\n", "+\r\n", "+a word\r\n",
	    "-ERR no\r\n", "-WRONGTYPE it is another\r\n", ":0\r\n", ":-17\r\n",
	    ":9223372036854775807\r\n", "$-1\r\n", "*-1\r\n", "$0\r\n\r\n",
	    "+QUEUED\r\n", /* and of RESP3 */ "_\r\n", "#t\r\n", "#f\r\n",
	    ",3.25\r\n", ",inf\r\n", ",-1e-7\r\n",
	    "(3492890328409238509324850943850\r\n"};
	size_t n = resp3 ? sizeof plain / sizeof *plain : 12;
	uint64_t kind = rng_below(rng, depth < DEPTH ? 9 : 5);

	if (!resp3 && (kind == 1 || kind > 6))
		kind = kind == 1 ? 0 : 6;
	switch (kind) {
	case 0:
		str_addc(to, '$');
		write_payload(to, rng, "");
		break;
	case 1:
		str_addc(to, '=');
		write_payload(to, rng, "txt:");
		break;
	case 5:
	case 6:
		write_elements(to, rng, '*', depth);
		break;
	case 7:
		write_elements(to, rng, '%', depth);
		break;
	case 8:
		write_elements(to, rng, '~', depth);
		break;
	default:
		str_add(to, plain[rng_below(rng, n)]);
	}
}

static void
write_stream(struct str *to, struct rng *rng)
{
	str_clear(to);
	for (int i = 0; i < REPLIES; i++) {
		if (resp3 && rng_below(rng, 6) == 0) {
			str_add(to, ">2\r\n$10\r\ninvalidate\r\n*1\r\n");
			write_element(to, rng, DEPTH);
		}
		write_element(to, rng, 0);
	}
}

static bool
is_equal(const struct seen *a, const struct seen *b)
{
	return a->replies == b->replies && a->misses == b->misses &&
	    a->pushes == b->pushes && a->errors == b->errors &&
	    a->lines == b->lines && a->wrong == b->wrong;
}

int
main(void)
{
	static const char bytes[] = "+-:$*_%~>#,(=0123456789\r\n\tx";
	uint32_t misses = 0, errors = 0, pushes = 0, both = 0, strict = 0;
	struct str text = {0}, odd = {0};
	struct seen by, ours;
	bool same = true, alike = true;
	struct rng rng;

	rng_seed(&rng, 29, 0);
	for (int i = 0; i < STREAMS; i++) {
		write_stream(&text, &rng);
		by = read_by_hiredis(&text);
		ours = read_by_scanner(&text, &rng,
		    i % 3 == 0       ? text.len
			: i % 3 == 1 ? 1
				     : 1 + text.len / 7);
		if (same && (!is_equal(&by, &ours) || by.replies != REPLIES)) {
			str_visible(&odd, text.s);
			printf("# hiredis: %u replies, %u missing, %u pushes, "
			       "%u errors%s; the scanner: %u, %u, %u, %u%s: "
			       "%s\n",
			    by.replies, by.misses, by.pushes, by.errors,
			    by.wrong ? ", wrong" : "", ours.replies,
			    ours.misses, ours.pushes, ours.errors,
			    ours.wrong ? ", wrong" : "", odd.s);
			same = false;
		}
		misses += by.misses;
		errors += by.errors;
		pushes += by.pushes;
	}
	tap_ok(same, "in %d streams the scanner finds what hiredis finds",
	    STREAMS);
	tap_ok(misses > 1000 && errors > 1000 && (!resp3 || pushes > 1000),
	    "%u missing elements, %u errors, %u push messages", misses, errors,
	    pushes);
	for (int i = 0; i < STREAMS; i++) {
		write_stream(&text, &rng);
		text.s[rng_below(&rng, text.len)] =
		    bytes[rng_below(&rng, sizeof bytes - 1)];
		by = read_by_hiredis(&text);
		ours = read_by_scanner(&text, &rng, text.len);
		strict += by.wrong && !ours.wrong;
		/* hiredis takes a push message inside a reply as an element. */
		if (by.wrong || ours.wrong || by.inner)
			continue;
		both++;
		if (alike &&
		    (by.replies != ours.replies || by.pushes != ours.pushes)) {
			str_clear(&odd);
			str_visible(&odd, text.s);
			printf("# hiredis: %u and %u, the scanner: %u and %u: "
			       "%s\n",
			    by.replies, by.pushes, ours.replies, ours.pushes,
			    odd.s);
			alike = false;
		}
	}
	printf("# a wrong byte in %d streams: both accept %u, the scanner "
	       "alone %u\n",
	    STREAMS, both, strict);
	tap_ok(alike && both > 500,
	    "with a wrong byte both find the same replies, if both accept the "
	    "stream");
	str_free(&text);
	str_free(&odd);
	return tap_done();
}
