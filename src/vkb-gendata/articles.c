#include "articles.h"
#include "err.h"
#include "mem.h"
#include "str.h"
#include "tarball.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Reads the XML of a wiki dump, plain or compressed. Several threads decompress
 * a bzip2 file of many streams, such as Wikipedia's "multistream" dumps; one
 * thread decompresses a file of one stream.
 */

struct dump;
static void dump_close(struct dump *d);

#define SERIAL (1 << 20)         /* decompressed bytes per read */
#define SEGMENT (512 << 10)      /* least compressed bytes of a segment */
#define PROBE (4 << 20)          /* bytes in which a second stream must begin */
#define SEGMENT_MOST (1LL << 30) /* most decompressed bytes of a segment */
#define AHEAD 2                  /* slots for each thread */

struct slot {
	bool ready; /* decompressed, and not delivered */
	bool failed;
	struct str text;
};

struct dump {
	char *name;
	struct tarball *serial; /* for one thread; NULL: slots are used */
	char *map;
	size_t size;

	size_t threads, started;
	pthread_t *thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t next;     /* offset in 'map' of the next segment */
	uint64_t taken;  /* segments that threads have taken */
	uint64_t wanted; /* segment that dump_read_segment delivers next */
	struct slot *slots;
	size_t nslots;
	bool stop;
};

/* Returns the offset of the next bzip2 stream at or after 'from', n if none. */
static size_t
find_stream(const char *s, size_t n, size_t from, size_t most)
{
	static const char magic[] = "1AY&SY"; /* starts the first block */
	size_t end = n - from > most ? from + most : n;

	while (from + 10 <= end) {
		const char *p = memmem(s + from + 4, end - from - 4, magic, 6);
		size_t at = p ? (size_t)(p - s) - 4 : n;

		if (!p)
			return n;
		if (memcmp(s + at, "BZh", 3) == 0 && s[at + 3] >= '1' &&
		    s[at + 3] <= '9')
			return at;
		from = at + 1;
	}
	return n;
}

/* Takes the next segment when a slot is free. Returns the slot, or NULL. */
static struct slot *
take_segment(struct dump *d, size_t *from, size_t *to)
{
	struct slot *s = NULL;

	pthread_mutex_lock(&d->lock);
	while (
	    !d->stop && d->next < d->size && d->taken - d->wanted >= d->nslots)
		pthread_cond_wait(&d->changed, &d->lock);
	if (!d->stop && d->next < d->size) {
		s = &d->slots[d->taken++ % d->nslots];
		*from = d->next;
		*to = d->size - d->next > SEGMENT
		    ? find_stream(d->map, d->size, d->next + SEGMENT, d->size)
		    : d->size;
		d->next = *to;
	}
	pthread_mutex_unlock(&d->lock);
	return s;
}

static int
decompress_segment(const char *data, size_t n, const char *name, struct str *to)
{
	struct tarball *t = tarball_plain_memory(data, n, name);
	char *buf;
	long k = -1;

	if (!t)
		return -1;
	buf = mem_resize(NULL, SERIAL, 1);
	while ((k = tarball_read(t, buf, SERIAL)) > 0) {
		str_addn(to, buf, (size_t)k);
		if (to->len > SEGMENT_MOST) {
			k = err_fail(
			    "'%s': a stream is larger than 1 GiB", name);
			break;
		}
	}
	free(buf);
	tarball_close(t);
	return k < 0 ? -1 : 0;
}

static void *
decompress_segments(void *arg)
{
	struct dump *d = arg;
	struct slot *s;
	size_t from, to;

	while ((s = take_segment(d, &from, &to))) {
		int rc;

		str_clear(&s->text);
		rc = decompress_segment(
		    d->map + from, to - from, d->name, &s->text);
		pthread_mutex_lock(&d->lock);
		s->failed = rc < 0;
		s->ready = true;
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
	}
	return NULL;
}

/* Starts the threads. Returns 0, or -1 (error reported). */
static int
start_threads(struct dump *d)
{
	d->nslots = AHEAD * d->threads;
	d->slots = mem_array(d->nslots, sizeof *d->slots);
	d->thread = mem_array(d->threads, sizeof *d->thread);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	for (; d->started < d->threads; d->started++)
		if (pthread_create(&d->thread[d->started], NULL,
			decompress_segments, d) != 0)
			break; /* continue with fewer threads */
	return d->started ? 0 : err_fail("cannot start a thread");
}

/* Maps a regular file, if possible. Returns 0, or -1 (error reported). */
static int
map_dump(struct dump *d)
{
	int fd = open(d->name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0) {
		if (fd >= 0)
			close(fd);
		return err_fail_sys("cannot read '%s'", d->name);
	}
	p = S_ISREG(st.st_mode) && st.st_size > 0
	    ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
	    : MAP_FAILED;
	close(fd);
	if (p == MAP_FAILED)
		return 0; /* it is read with 'serial' */
	d->map = p;
	d->size = (size_t)st.st_size;
	return 0;
}

/* Returns NULL (error reported). */
static struct dump *
dump_open(const char *file, size_t threads)
{
	struct dump *d = mem_new(sizeof *d);
	bool many;

	d->name = mem_str(file);
	d->threads = threads;
	if (map_dump(d) < 0)
		goto bad;
	many = d->map && find_stream(d->map, d->size, 0, 16) == 0 &&
	    find_stream(d->map, d->size, 1, PROBE) < d->size;
	if (many && start_threads(d) < 0)
		goto bad;
	if (!many && !(d->serial = tarball_plain(file)))
		goto bad;
	return d;
bad:
	dump_close(d);
	return NULL;
}

static void
dump_close(struct dump *d)
{
	if (!d)
		return;
	if (d->slots) {
		pthread_mutex_lock(&d->lock);
		d->stop = true;
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
		while (d->started)
			pthread_join(d->thread[--d->started], NULL);
		pthread_mutex_destroy(&d->lock);
		pthread_cond_destroy(&d->changed);
	}
	for (size_t i = 0; i < d->nslots; i++)
		str_free(&d->slots[i].text);
	if (d->map)
		munmap(d->map, d->size);
	tarball_close(d->serial);
	free(d->slots);
	free(d->thread);
	free(d->name);
	free(d);
}

static int
read_serial(struct dump *d, struct str *to)
{
	char *buf = mem_resize(NULL, SERIAL, 1);
	long k = tarball_read(d->serial, buf, SERIAL);

	if (k > 0)
		str_addn(to, buf, (size_t)k);
	free(buf);
	return k < 0 ? -1 : k > 0;
}

/* Appends up to 1 GiB. Returns 1, 0 at the end, or -1 (error reported). */
static int
dump_read_segment(struct dump *d, struct str *to)
{
	struct slot *s;
	int rc = 0;

	if (d->serial)
		return read_serial(d, to);
	pthread_mutex_lock(&d->lock);
	s = &d->slots[d->wanted % d->nslots];
	while (d->wanted == d->taken ? d->next < d->size : !s->ready)
		pthread_cond_wait(&d->changed, &d->lock);
	if (d->wanted != d->taken) {
		str_addn(to, s->text.s, s->text.len);
		rc = s->failed ? -1 : 1;
		s->ready = false;
		d->wanted++;
		pthread_cond_broadcast(&d->changed);
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
}

#define PAGE_MOST (256 << 20) /* bytes; a longer page is an error */

struct articles {
	struct dump *dump;
	char *name;
	struct str window; /* decompressed bytes */
	size_t from;       /* offset of the first unused byte in 'window' */
	bool end;          /* the dump has no more bytes */
	bool any;          /* a page was found */
};

struct span {
	const char *s;
	size_t n;
};

struct articles *
articles_open(const char *file, size_t threads)
{
	struct articles *a = mem_new(sizeof *a);

	a->name = mem_str(file);
	a->dump = dump_open(file, threads);
	if (a->dump)
		return a;
	articles_close(a);
	return NULL;
}

void
articles_close(struct articles *a)
{
	if (!a)
		return;
	dump_close(a->dump);
	str_free(&a->window);
	free(a->name);
	free(a);
}

void
article_free(struct article *a)
{
	str_free(&a->text);
}

/* Refills the window. Returns 1, 0 at the end, or -1 (error reported). */
static int
read_more(struct articles *a)
{
	int rc;

	if (a->end)
		return 0;
	if (a->from) {
		memmove(a->window.s, a->window.s + a->from,
		    a->window.len - a->from);
		a->window.len -= a->from;
		a->from = 0;
	}
	if (a->window.len > PAGE_MOST)
		return err_fail("'%s' has a page of more than %d MiB", a->name,
		    PAGE_MOST >> 20);
	rc = dump_read_segment(a->dump, &a->window);
	a->end = rc == 0;
	return rc;
}

/* Finds 'what' at or after 'from', reading as needed. Returns as read_more. */
static int
find_text(struct articles *a, const char *what, size_t from, size_t *at)
{
	size_t n = strlen(what), looked = from;

	for (;;) {
		size_t have = a->window.len - a->from;
		const char *p = have > looked
		    ? memmem(a->window.s + a->from + looked, have - looked,
			  what, n)
		    : NULL;
		int rc;

		if (p) {
			*at = (size_t)(p - a->window.s) - a->from;
			return 1;
		}
		looked = have > looked + n ? have - n : looked;
		rc = read_more(a);
		if (rc <= 0)
			return rc;
	}
}

/* Sets *p to the next <page> up to its </page>. Returns as read_more. */
static int
find_page(struct articles *a, struct span *p)
{
	size_t begin, end;
	int rc = find_text(a, "<page>", 0, &begin);

	if (rc <= 0)
		return rc;
	a->from += begin;
	rc = find_text(a, "</page>", 0, &end);
	if (rc == 0)
		return err_fail(
		    "'%s' ends within a page: it is truncated", a->name);
	if (rc < 0)
		return -1;
	*p = (struct span){a->window.s + a->from, end};
	a->from += end;
	a->any = true;
	return 1;
}

/* Sets *to to the content of the next <text> of the page; false if there is
 * none. */
static bool
find_next_text(struct span *p, struct span *to)
{
	const char *end = p->s + p->n, *b, *e;

	do {
		b = memmem(p->s, p->n, "<text", 5);
		if (!b)
			return false;
		b += 5;
		*p = (struct span){b, (size_t)(end - b)};
	} while (p->n && !strchr(" \t\r\n/>", *b));
	e = memchr(b, '>', p->n);
	if (!e)
		return false;
	*to = (struct span){e + 1, 0};
	if (e[-1] == '/')
		return true;
	b = e + 1;
	e = memmem(b, (size_t)(end - b), "</text>", 7);
	to->n = (size_t)((e ? e : b) - b);
	return true;
}

/* Sets *text to the first text of the page that is not empty. Returns whether
 * the page is an article. */
static bool
parse_article(struct span p, struct span *text)
{
	do
		if (!find_next_text(&p, text))
			return false;
	while (!text->n);
	return text->n < 9 || memcmp(text->s, "#REDIRECT", 9) != 0;
}

int
articles_read_next(struct articles *a, struct article *to)
{
	struct span p = {0}, text;
	int rc;

	while ((rc = find_page(a, &p)) > 0) {
		if (!parse_article(p, &text))
			continue;
		str_clear(&to->text);
		str_addn(&to->text, text.s, text.n);
		return 1;
	}
	if (rc == 0 && !a->any)
		return err_fail(
		    "'%s' has no pages: it is not a wiki dump", a->name);
	return rc;
}

/* Appends the character of the entity at s. Returns its length, 0 if it is
 * none. */
static size_t
decode_entity(struct str *out, const char *s, size_t n)
{
	static const struct {
		const char *text;
		char c;
	} names[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'},
	    {"&quot;", '"'}, {"&apos;", '\''}};
	unsigned long u = 0;
	bool hex = n > 2 && s[2] == 'x';
	size_t i = hex ? 3 : 2, begin = i;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (n >= strlen(names[k].text) &&
		    memcmp(s, names[k].text, strlen(names[k].text)) == 0) {
			str_addc(out, names[k].c);
			return strlen(names[k].text);
		}
	if (n < 4 || s[1] != '#')
		return 0;
	for (; i < n && u <= 0x10ffff && isxdigit((unsigned char)s[i]) &&
	     (hex || s[i] <= '9');
	     i++)
		u = u * (hex ? 16 : 10) +
		    (unsigned long)(s[i] <= '9' ? s[i] - '0'
						: (s[i] | 32) - 'a' + 10);
	if (i == n || i == begin || s[i] != ';' || !u || u > 0x10ffff ||
	    (u >= 0xd800 && u < 0xe000))
		return 0;
	str_addu(out, (unsigned)u);
	return i + 1;
}

void
article_decode(const struct article *a, struct str *out)
{
	const char *s = a->text.s, *end = s + a->text.len;
	size_t n;

	str_clear(out);
	for (; s < end; s += n) {
		n = 0;
		while (s + n < end && s[n] != '&' && s[n] != '\r')
			n++;
		str_addn(out, s, n);
		if (n)
			continue;
		if (*s == '&') {
			n = decode_entity(out, s, (size_t)(end - s));
			if (!n)
				str_addc(out, '&');
		} else /* XML reads each kind of line end as a newline */
			str_addc(out, '\n');
		n = n ? n : *s == '\r' && s + 1 < end && s[1] == '\n' ? 2 : 1;
	}
}
