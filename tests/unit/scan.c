/* The reply scanner counts the same however the stream is cut. */
#include "tap.h"

#include "rng.h"
#include "vkb-load/engine/scan.h"

#include <stdlib.h>

struct errors {
	unsigned errors;
	uint32_t last; /* replies before the last error */
	char first[SCAN_LINE];
};

static void
error(void *arg, const char *line, uint32_t nth)
{
	struct errors *s = arg;

	s->last = nth;
	if (s->errors++ == 0)
		snprintf(s->first, sizeof s->first, "%s", line);
}

/* Scans pieces of 'step' bytes; returns -1 if the stream is refused. */
static long
feed(const char *p, size_t n, size_t step, bool zero, struct scan_counters *t,
    struct errors *seen)
{
	struct scan s = {.zero_miss = zero};
	size_t at = 0, k;
	ptrdiff_t used;
	char *copy;

	memset(t, 0, sizeof *t);
	memset(seen, 0, sizeof *seen);
	while (at < n) {
		k = n - at < step ? n - at : step;
		copy = malloc(
		    k); /* the sanitizer reports reads beyond the piece */
		memcpy(copy, p + at, k);
		used = scan_feed(&s, copy, k, 1000000, t, error, seen);
		free(copy);
		if (used < 0)
			return -1;
		at += (size_t)used;
	}
	return s.left == 0 ? (long)at : 0;
}

static void
counts(const char *text, unsigned replies, unsigned misses, unsigned errors,
    bool zero, const char *what)
{
	struct scan_counters t;
	struct errors seen;
	size_t step, n = strlen(text);
	bool same = true;

	for (step = 1; step <= n; step++)
		same &= feed(text, n, step, zero, &t, &seen) == (long)n &&
		    t.replies == replies && t.misses == misses &&
		    seen.errors == errors;
	tap_ok(same, "%s", what);
	if (!same)
		printf("# %u replies, %u misses, %u errors\n", t.replies,
		    t.misses, seen.errors);
}

static void
refused(const char *text, const char *what)
{
	struct scan_counters t;
	struct errors seen;
	size_t step, n = strlen(text);
	bool all = true;

	for (step = 1; step <= n; step++)
		all &= feed(text, n, step, false, &t, &seen) < 0;
	tap_ok(all, "refused: %s", what);
}

static void
replies(void)
{
	struct scan_counters t;
	struct errors seen;

	counts("+OK\r\n+OK\r\n+PONG\r\n+\r\n", 4, 0, 0, false, "texts");
	counts(":1\r\n:0\r\n:-5\r\n:9223372036854775807\r\n", 4, 0, 0, false,
	    "integers");
	counts(":1\r\n:0\r\n:-1\r\n", 3, 1, 0, true,
	    "0 is a miss if the caller says so");
	counts("$3\r\nabc\r\n$0\r\n\r\n$-1\r\n$4\r\n\r\n\r\n\r\n", 4, 1, 0,
	    false, "payloads: a text, an empty one, nil, line ends");
	counts("$3\r\nabc\r\n$3\r\n$3\r\r\n$3\r\n\r\n\r\r\n$3\r\nxyz\r\n"
	       "$4\r\nabcd\r\n$4\r\nefgh\r\n$3\r\nabc\r\n$-1\r\n",
	    8, 1, 0, false, "payloads of equal and of different lengths");
	counts("*2\r\n$1\r\na\r\n$-1\r\n*0\r\n*-1\r\n*1\r\n*0\r\n", 4, 3, 0,
	    false, "arrays");
	counts("*2\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n"
	       "*2\r\n$3\r\n1-2\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n+OK\r\n",
	    2, 0, 0, false, "nested arrays");
	counts("-ERR no\r\n+OK\r\n*2\r\n-MOVED 1 a:1\r\n:1\r\n", 3, 0, 2, false,
	    "errors");
	counts("_\r\n#t\r\n#f\r\n,1.5e3\r\n,inf\r\n(12345678901234567890\r\n"
	       "=7\r\ntxt:a\r\n\r\n",
	    7, 1, 0, false, "null, truth, reals, verbatim text");
	counts("%2\r\n+a\r\n:1\r\n+b\r\n~2\r\n+x\r\n_\r\n+OK\r\n"
	       "%0\r\n~0\r\n",
	    4, 3, 0, false, "maps and sets");
	counts("!5\r\nERR a\r\n+OK\r\n", 2, 0, 1, false, "a long error");
	counts(">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n+OK\r\n"
	       "|1\r\n+ttl\r\n:3\r\n$1\r\na\r\n*2\r\n|1\r\n+a\r\n+b\r\n"
	       ":1\r\n:2\r\n",
	    3, 0, 0, false,
	    "push messages and attributes do not count as replies");
	counts(">2\r\n+invalidate\r\n_\r\n>1\r\n-ERR\r\n>0\r\n:0\r\n"
	       ">3\r\n$-1\r\n*0\r\n:0\r\n",
	    1, 1, 0, true,
	    "push messages count neither as misses nor as errors");
	counts("*2\r\n$1\r\na\r\n>2\r\n+x\r\n*1\r\n_\r\n$1\r\nb\r\n"
	       "*1\r\n>1\r\n$4\r\n\r\n:1\r\n:2\r\n",
	    2, 0, 0, false, "a push message within a reply");
	feed("-OOM it is full\r\n", 17, 3, false, &t, &seen);
	tap_str(seen.first, "OOM it is full", "the text of an error");
	counts("$15\r\n+OK\r\n-ERR\r\n:0\r\n\r\n+OK\r\n", 2, 0, 0, false,
	    "the content of a payload is not scanned");
}

/* A stream of two replies and four push messages, scanned up to a number of
 * replies. */
static void
pushes(void)
{
	static const char text[] =
	    ">1\r\n+a\r\n+OK\r\n>2\r\n+b\r\n:1\r\n>1\r\n*1\r\n$1\r\nx\r\n"
	    "+OK\r\n>1\r\n+c\r\n";
	size_t step, at, k, n = sizeof text - 1;
	bool same = true;

	for (step = 1; step <= n; step++) {
		struct scan s = {0};
		struct scan_counters t = {0};
		struct errors seen = {0};

		for (at = 0; at < n; at += k) {
			k = n - at < step ? n - at : step;
			same &= scan_feed(&s, text + at, k, 2 - t.replies, &t,
				    error, &seen) == (ptrdiff_t)k;
		}
		same &= t.replies == 2 && t.pushes == 4 && s.left == 0;
	}
	tap_ok(
	    same, "push messages before and after the last reply are counted");
}

static void
too_long(const char *text, const char *why)
{
	struct scan_counters t = {0};
	struct scan s = {0};
	struct errors seen = {0};

	tap_ok(scan_feed(&s, text, strlen(text), 1, &t, error, &seen) < 0,
	    "refused: %.20s", why);
	tap_str(s.line, why, "the error has the announced length");
}

/* Appends the number of the reply and 'z' or 'm' for each missing element. */
static void
note_missed(void *arg, uint32_t nth, bool zero)
{
	char *to = arg;

	snprintf(to + strlen(to), 4, "%u%c", nth, zero ? 'z' : 'm');
}

static void
ignore_error(void *arg, const char *line, uint32_t nth)
{
	(void)arg;
	(void)line;
	(void)nth;
}

static void
missed(void)
{
	static const char text[] =
	    "$1\r\nx\r\n:0\r\n$-1\r\n:1\r\n*2\r\n$-1\r\n_\r\n"
	    "*0\r\n-E x\r\n*-1\r\n>1\r\n$-1\r\n:0\r\n";
	struct scan s = {.zero_miss = true, .missed = note_missed};
	struct scan_counters t = {0};
	char got[64] = "";
	bool same = true;

	scan_feed(&s, text, strlen(text), 99, &t, ignore_error, got);
	tap_str(got, "1z2m4m4m5m7m8z", "each reply has its missing elements");
	memset(got, 0, sizeof got);
	memset(&t, 0, sizeof t);
	for (size_t i = 0; i < strlen(text); i++) {
		uint32_t before = t.misses;
		size_t n = strlen(got);

		scan_feed(&s, text + i, 1, 99, &t, ignore_error, got);
		same &= (strlen(got) - n) / 2 == t.misses - before;
	}
	tap_ok(same && t.misses == 7, "the same is reported byte by byte");
}

static void
limits(void)
{
	struct scan_counters t = {0};
	struct scan s = {0};
	struct errors seen = {0};

	tap_ok(scan_feed(&s, "+OK\r\n+OK\r\n+OK\r\n", 15, 2, &t, error,
		   &seen) == 10 &&
		t.replies == 2,
	    "no more replies are read than the caller wants");
	memset(&s, 0, sizeof s);
	scan_feed(&s, "$1\r\nx\r\n$1\r\ny\r\n+OK\r\n-E x\r\n+OK\r\n", 31, 9, &t,
	    error, &seen);
	tap_ok(seen.last == 3, "the number of replies before an error");
	refused("x\r\n", "an unknown type");
	refused("$x\r\n", "a length that is not a number");
	refused("$\r\n", "a length without digits");
	refused("$-2\r\n", "a length below that of nil");
	refused("$3\r\nabcde", "a payload longer than its length");
	refused("$99999999999999999999\r\n",
	    "a length that is too large for a number");
	refused(
	    "$3\r\nabc\r\n$3\r\nabc\rx", "a payload that repeats, without LF");
	refused(
	    "$3\r\nabc\r\n$3\r\nabcx\n", "a payload that repeats, without CR");
	refused(":12x\r\n", "letters in an integer");
	refused(":-\r\n", "a sign without digits");
	refused("+OK\rx", "CR without LF");
	refused("+OK\n+OK\r\n", "LF without CR");
	refused("*1\r\n*1\r\n*1\r\n^1\r\n", "an unknown type");
	too_long("$1099511627776\r\n",
	    "it announces more than 1073741824 bytes in a string "
	    "('$1099511627...')");
	too_long("*2000000000\r\n",
	    "it announces more than 134217728 elements ('*200000000...')");
	too_long("*134217728\r\n*134217728\r\n*134217728\r\n",
	    "it announces more than 134217728 elements ('*134217728...')");
	refused("%-2\r\n", "a map with a negative length");
	refused(">-1\r\n", "a push message with a negative length");
}

/* Random bytes: scanned as a whole and byte by byte the results agree, and no
 * byte beyond the end is read. */
static void
noise(void)
{
	static const char *const parts[] = {"+", "-", ":", "$", "*", "\r\n",
	    "\r", "\n", "0", "1", "2", "3", "-1", "a", "+OK\r\n", "$1\r\nx\r\n",
	    "*1\r\n", ":0\r\n", "$-1\r\n", "*0\r\n", "-E x\r\n", "%1\r\n",
	    "_\r\n", "|1\r\n"};
	struct scan_counters a, b;
	struct errors sa, sb;
	char text[256];
	struct rng r;
	size_t n, k;
	long ra, rb;
	int i, differ = 0, good = 0;

	rng_seed(&r, 5, 0);
	for (i = 0; i < 20000; i++) {
		for (n = 0; n < 40;) {
			k = rng_below(&r, sizeof parts / sizeof parts[0]);
			if (i % 2) /* every other stream is mostly valid */
				k = 14 + k % 10;
			memcpy(text + n, parts[k], strlen(parts[k]));
			n += strlen(parts[k]);
		}
		ra = feed(text, n, n, true, &a, &sa);
		rb = feed(text, n, 1, true, &b, &sb);
		good += ra > 0;
		differ += ra != rb ||
		    (ra >= 0 &&
			(a.replies != b.replies || a.misses != b.misses ||
			    sa.errors != sb.errors));
	}
	tap_ok(!differ && good > 1000,
	    "random bytes: results as a whole and byte by byte agree");
}

int
main(void)
{
	replies();
	pushes();
	missed();
	limits();
	noise();
	return tap_done();
}
