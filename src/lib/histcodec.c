#include "histcodec.h"
#include "base64.h"
#include "hist.h"
#include "mem.h"
#include "str.h"

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define COOKIE 0x1c849313u /* 0x10: the word size, as other tools write it */
#define COOKIE_DEFLATED 0x1c849314u
#define COOKIE_MASK 0xffffff0fu
#define V1_COOKIE 0x1c849301u /* plus the bytes of a count, 2, 4 or 8, << 4 */
#define V1_COOKIE_DEFLATED 0x1c849302u
#define HEADER 40
#define OUTER 8 /* cookie, length of the deflated part */

static void
put_u32(struct str *s, uint32_t v)
{
	v = htobe32(v);
	str_addn(s, &v, sizeof v);
}

static void
put_u64(struct str *s, uint64_t v)
{
	v = htobe64(v);
	str_addn(s, &v, sizeof v);
}

static uint32_t
get_u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return be32toh(v);
}

static int64_t
get_u64(const unsigned char *p)
{
	return (int64_t)((uint64_t)get_u32(p) << 32 | get_u32(p + 4));
}

/* Appends ZigZag LEB128 of at most nine bytes; the ninth has eight bits. */
static void
put_number(struct str *s, int64_t v)
{
	uint64_t u = (uint64_t)v << 1 ^ (uint64_t)(v < 0 ? -1 : 0);
	int i;

	for (i = 0; i < 8 && u > 0x7f; i++, u >>= 7)
		str_addc(s, (char)(u | 0x80));
	str_addc(s, (char)u);
}

/* Reads a number. Returns where it ends, or NULL. */
static const unsigned char *
get_number(const unsigned char *p, const unsigned char *end, int64_t *v)
{
	uint64_t u = 0;
	int i;

	for (i = 0; i < 9; i++) {
		if (p == end)
			return NULL;
		if (i == 8 || !(*p & 0x80)) {
			u |= (uint64_t)*p++ << (7 * i);
			*v = (int64_t)(u >> 1 ^ (u & 1 ? UINT64_MAX : 0));
			return p;
		}
		u |= (uint64_t)(*p++ & 0x7f) << (7 * i);
	}
	return NULL;
}

/* Appends a count. *at is the cell after the last one appended. */
static void
put_count(struct str *s, size_t *at, size_t cell, uint64_t c)
{
	if (cell > *at)
		put_number(s, -(int64_t)(cell - *at));
	put_number(s, c > INT64_MAX ? INT64_MAX : (int64_t)c);
	*at = cell + 1;
}

static void
put_cells(struct str *s, const struct hist *h)
{
	size_t i = 0, at = 0, last = hist_cells(h) - 1;
	int64_t low, high;
	uint64_t c;

	while (hist_cell(h, &i, &low, &high, &c) && i <= last)
		put_count(s, &at, i - 1, c);
	c = hist_get(h, last) + hist_over(h);
	if (c)
		put_count(s, &at, last, c);
}

void
histcodec_encode(struct str *out, const struct hist *h)
{
	struct str cells = {0}, plain = {0}, packed = {0};
	unsigned char *deflated;
	uLongf n;

	put_cells(&cells, h);
	put_u32(&plain, COOKIE);
	put_u32(&plain, (uint32_t)cells.len);
	put_u32(&plain, 0); /* normalizing index offset */
	put_u32(&plain, (uint32_t)hist_digits(h));
	put_u64(&plain, (uint64_t)hist_lowest(h));
	put_u64(&plain, (uint64_t)hist_highest(h));
	put_u64(
	    &plain, UINT64_C(0x3ff0000000000000)); /* conversion ratio 1.0 */
	str_addn(&plain, cells.s ? cells.s : "", cells.len);

	n = compressBound(plain.len);
	deflated = mem_new(n);
	if (compress2(deflated, &n, (unsigned char *)plain.s, plain.len,
		Z_BEST_COMPRESSION) != Z_OK)
		err_die("out of memory");
	put_u32(&packed, COOKIE_DEFLATED);
	put_u32(&packed, (uint32_t)n);
	str_addn(&packed, deflated, n);
	base64_encode(out, packed.s, packed.len);
	free(deflated);
	str_free(&cells);
	str_free(&plain);
	str_free(&packed);
}

/* Cells to be added to a histogram. */
struct filling {
	struct hist *h;
	uint64_t room; /* what the sum of all counts may still grow by */
	struct hist_tally v[256];
	size_t n;
};

static void
flush_tallies(struct filling *f)
{
	hist_put(f->h, f->v, f->n);
	f->n = 0;
}

static int
add_tally(struct filling *f, size_t cell, uint64_t count)
{
	if (count > f->room)
		return -1;
	f->room -= count;
	f->v[f->n++] = (struct hist_tally){cell, count};
	if (f->n == sizeof f->v / sizeof *f->v)
		flush_tallies(f);
	return 0;
}

static int
get_cells(struct filling *f, const unsigned char *p, const unsigned char *end)
{
	size_t cell = 0, n = hist_cells(f->h);
	int64_t v;

	while (p < end) {
		p = get_number(p, end, &v);
		if (!p)
			return -1;
		if (v <= 0) {
			if (v == 0)
				v = -1;
			if (v < -(int64_t)(n - cell))
				return -1;
			cell += (size_t)-v;
			continue;
		}
		if (cell >= n || add_tally(f, cell++, (uint64_t)v) < 0)
			return -1;
	}
	return 0;
}

static int
inflate_bytes(z_stream *z, unsigned char *p, size_t n)
{
	int rc = Z_OK;

	z->next_out = p;
	z->avail_out = (uInt)n;
	while (z->avail_out && rc == Z_OK)
		rc = inflate(z, Z_NO_FLUSH);
	return z->avail_out || (rc != Z_OK && rc != Z_STREAM_END) ? -1 : 0;
}

/* Reads the counts of V1: each, zeros as well, has 'word' bytes. */
static int
get_words(struct filling *f, const unsigned char *p, size_t n, size_t word)
{
	uint64_t v;

	if (n % word)
		return -1;
	for (size_t cell = 0; cell < n / word; cell++) {
		v = 0;
		for (size_t i = 0; i < word; i++)
			v = v << 8 | *p++;
		if (v && add_tally(f, cell, v) < 0)
			return -1;
	}
	return 0;
}

/*
 * Returns an empty histogram. Sets *length and *word to the bytes of all counts
 * and of one count; *word is 0 in V2.
 */
static struct hist *
parse_hist_header(
    const unsigned char *p, size_t *length, size_t *word, const char **why)
{
	int64_t low = get_u64(p + 16), high = get_u64(p + 24);
	uint32_t digits = get_u32(p + 12), cookie = get_u32(p) & COOKIE_MASK;
	struct hist *h;

	*why = "its version is neither V1 nor V2";
	*word = cookie == V1_COOKIE ? get_u32(p) >> 4 & 0xe : 0;
	if (cookie != (COOKIE & COOKIE_MASK) && *word != 2 && *word != 4 &&
	    *word != 8)
		return NULL;
	*why = "its range is invalid";
	if (digits < 1 || digits > 5 || low < 1 || low > INT64_C(1) << 40 ||
	    high / 2 < low || get_u32(p + 8) != 0)
		return NULL;
	h = hist_new(low, high, (int)digits);
	*length = get_u32(p + 4);
	*why = "it has too many counts";
	if (*length <= hist_cells(h) * (*word ? *word : 9))
		return h;
	hist_free(h);
	return NULL;
}

static struct hist *
inflate_hist(z_stream *z, const char **why)
{
	struct filling f = {.room = INT64_MAX};
	unsigned char head[HEADER], *p;
	struct hist *h;
	size_t n, word;

	*why = "its deflated part is broken";
	if (inflate_bytes(z, head, sizeof head) < 0)
		return NULL;
	h = parse_hist_header(head, &n, &word, why);
	if (!h || n == 0)
		return h;
	p = mem_new(n);
	*why = "its deflated part is broken";
	if (inflate_bytes(z, p, n) < 0)
		goto out;
	*why = "its counts are broken";
	f.h = h;
	if ((word ? get_words(&f, p, n, word) : get_cells(&f, p, p + n)) < 0)
		goto out;
	flush_tallies(&f);
	free(p);
	return h;
out:
	free(p);
	hist_free(h);
	return NULL;
}

struct hist *
histcodec_decode(const char *text, size_t n, const char **why)
{
	unsigned char *p = mem_new(n / 4 * 3 + 1);
	struct hist *h = NULL;
	z_stream z = {0};
	long len;

	*why = "it is not base64";
	len = base64_decode(text, n, p);
	if (len < 0)
		goto out;
	*why = "it is not a deflated HdrHistogram V1 or V2";
	if (len < OUTER ||
	    ((get_u32(p) & COOKIE_MASK) != (COOKIE_DEFLATED & COOKIE_MASK) &&
		(get_u32(p) & COOKIE_MASK) != V1_COOKIE_DEFLATED))
		goto out;
	*why = "it is cut short";
	if (get_u32(p + 4) > (uint64_t)len - OUTER)
		goto out;
	if (inflateInit(&z) != Z_OK)
		err_die("out of memory");
	z.next_in = p + OUTER;
	z.avail_in = get_u32(p + 4);
	h = inflate_hist(&z, why);
	inflateEnd(&z);
out:
	free(p);
	return h;
}
